// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <string.h>

#include <elf.h>

#include "test_check.h"
#include "elf/held_args.h"

static const uint8_t code[] = {
	0x41, 0x54, /* 00: push %r12 */
	0x53, /* 02: push %rbx */
	0x48, 0x83, 0xec, 0x18, /* 03: sub $0x18,%rsp */
	0x41, 0x89, 0xcc, /* 07: mov %ecx,%r12d */
	0x4c, 0x89, 0x4c, 0x24, 0x08, /* 0a: mov %r9,0x8(%rsp) */
	0x48, 0x89, 0xfb, /* 0f: mov %rdi,%rbx */
	0x85, 0xc0, /* 12: test %eax,%eax */
	0x74, 0x05, /* 14: je 1b */
	0xbb, 0x07, 0x00, 0x00, 0x00, /* 16: mov $7,%ebx */
	0xe8, 0xe0, 0xff, 0xff, 0xff, /* 1b: call 0 */
	0x41, 0x89, 0xf4, /* 20: mov %esi,%r12d */
	0xe8, 0xd8, 0xff, 0xff, 0xff, /* 23: call 0 */
	0x48, 0x83, 0xc4, 0x18, /* 28: add $0x18,%rsp */
	0x5b, /* 2c: pop %rbx */
	0x41, 0x5c, /* 2d: pop %r12 */
	0xc3, /* 2f: ret */
};

#define R12 12

static void first_call(void **state)
{
	struct held_arg held[HELD_ARGS_MAX];

	assert_int_equal(held_args_find(EM_X86_64, code, sizeof(code), 0x20, held), 0);
	assert_fields(&held[3], IS(how, HELD_IN_REGISTER), IS(reg, R12));
	/*
	 * Three pushes, including the return address, and 0x18 bytes place the stack pointer 0x30
	 * below the CFA.
	 */
	assert_fields(&held[5], IS(how, HELD_ON_STACK), IS(offset, -0x30 + 8), IS(size, 8));
	/* The argument is not found, because rbx has another value on one of two paths. */
	assert_int_equal(held[0].how, HELD_NOWHERE);
	/*
	 * At the first call, the first two arguments are still in the argument registers. So the
	 * called function gets them as its own first two arguments.
	 */
	assert_int_equal(held[0].passed, 0);
	assert_int_equal(held[1].passed, 1);
	/* The seventh argument is on the caller's stack, above the return address. */
	assert_fields(&held[6], IS(how, HELD_ON_STACK), IS(offset, 0));
}

/*
 * The register was overwritten after the first call, and the argument registers no longer hold the
 * arguments.
 */
static void second_call(void **state)
{
	struct held_arg held[HELD_ARGS_MAX];

	assert_int_equal(held_args_find(EM_X86_64, code, sizeof(code), 0x28, held), 0);
	assert_int_equal(held[3].how, HELD_NOWHERE);
	assert_int_equal(held[1].passed, -1);
	assert_int_equal(held[5].how, HELD_ON_STACK);
}

static void no_call(void **state)
{
	struct held_arg held[HELD_ARGS_MAX];

	assert_true(held_args_find(EM_X86_64, code, sizeof(code), 0x07, held) < 0);
	assert_true(held_args_find(EM_X86_64, code, 0, 0, held) < 0);
	assert_true(held_args_find(EM_AARCH64, code, sizeof(code), 0x20, held) < 0);
}

/* The search ends for any bytes, and reads nothing after them. */
static void any_bytes(void **state)
{
	struct held_arg held[HELD_ARGS_MAX];
	uint32_t seed = 1, after;
	uint8_t bytes[96];

	for (uint32_t round = 0; round < 2000; round++) {
		memcpy(bytes, code, sizeof(code));
		for (size_t i = round % 2 ? sizeof(code) : 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		after = seed >> 8 & 0x7f;
		held_args_find(EM_X86_64, bytes, 1 + (seed >> 16) % sizeof(bytes), after, held);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_call),
		cmocka_unit_test(second_call),
		cmocka_unit_test(no_call),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
