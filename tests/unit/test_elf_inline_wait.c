// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <string.h>

#include <elf.h>

#include "test_check.h"
#include "elf/inline_wait.h"

/* A wait until the byte at (%r15) differs from %r13b. */
static const uint8_t barrier[] = {
	0x90, /* 00: nop */
	0xf0, 0x41, 0x83, 0x04, 0x24, 0x01, /* 01: lock addl $1,(%r12) */
	0x41, 0x8b, 0x0e, /* 07: mov (%r14),%ecx */
	0x41, 0x0f, 0xb6, 0x07, /* 0a: movzbl (%r15),%eax */
	0x41, 0x38, 0xc5, /* 0e: cmp %al,%r13b */
	0x75, 0x04, /* 11: jne 17 */
	0xf3, 0x90, /* 13: pause */
	0xeb, 0xf3, /* 15: jmp 0a */
	0xf0, 0x41, 0x83, 0x2c, 0x24, 0x01, /* 17: lock subl $1,(%r12) */
	0xff, 0xc3, /* 1d: inc %ebx */
	0xc3, /* 1f: ret */
};

/* A wait until the number at (%rbx) is 0. A jump leads to the addition before the wait. */
static const uint8_t latch[] = {
	0x74, 0x00, /* 00: je 02 */
	0xf0, 0x83, 0x45, 0x00, 0x01, /* 02: lock addl $1,0(%rbp) */
	0x48, 0x89, 0xda, /* 07: mov %rbx,%rdx */
	0x8b, 0x02, /* 0a: mov (%rdx),%eax */
	0x85, 0xc0, /* 0c: test %eax,%eax */
	0x74, 0x04, /* 0e: je 14 */
	0xf3, 0x90, /* 10: pause */
	0xeb, 0xf6, /* 12: jmp 0a */
	0xf0, 0x83, 0x6d, 0x00, 0x01, /* 14: lock subl $1,0(%rbp) */
	0xc3, /* 19: ret */
};

#define R13 (8 * 2) /* offset in the kernel's struct pt_regs */
#define R15 (8 * 0)
#define RBX (8 * 5)

static void finds_barrier(void **state)
{
	struct inline_wait w;

	assert_int_equal(inline_waits_find(EM_X86_64, barrier, sizeof(barrier), &w, 1), 1);
	assert_fields(&w, IS(kind, INLINE_WAIT_BARRIER), IS(enter, 0x00), IS(nleaves, 1),
		      IS(leaves[0], 0x1d), IS(object.how, SBT_ARG_REG), IS(object.reg, R15),
		      IS(old.reg, R13), IS(old.size, 1));
	assert_int_equal(inline_wait_hint(barrier, sizeof(barrier), 0), 1);
}

static void finds_latch(void **state)
{
	struct inline_wait w;

	assert_int_equal(inline_waits_find(EM_X86_64, latch, sizeof(latch), &w, 1), 1);
	assert_int_equal(w.kind, INLINE_WAIT_LATCH);
	/* A jump leads to the addition, so the probe is placed after the addition. */
	assert_fields(&w, IS(enter, 0x07), IS(leaves[0], 0x19), IS(object.reg, RBX));
}

/* A latch waits until a number is 0. A wait until a number is not 0 does not belong to a latch. */
static void number_is_no_latch(void **state)
{
	struct inline_wait w;
	uint8_t other[sizeof(latch)];

	memcpy(other, latch, sizeof(latch));
	other[0x0e] = 0x75;
	assert_int_equal(inline_waits_find(EM_X86_64, other, sizeof(other), &w, 1), 1);
	assert_int_equal(w.kind, INLINE_WAIT_OTHER);
}

/* An addition without the spin, or without the subtraction, does not begin a wait. */
static void needs_all(void **state)
{
	struct inline_wait w;
	uint8_t other[sizeof(barrier)];

	memcpy(other, barrier, sizeof(barrier));
	other[0x13] = 0x90;
	assert_int_equal(inline_waits_find(EM_X86_64, other, sizeof(other), &w, 1), 0);
	memcpy(other, barrier, sizeof(barrier));
	other[0x17] = 0x3e;
	assert_int_equal(inline_waits_find(EM_X86_64, other, sizeof(other), &w, 1), 0);
	assert_true(inline_waits_find(EM_AARCH64, barrier, sizeof(barrier), &w, 1) < 0);
	assert_true(inline_waits_find(EM_X86_64, barrier, 0, &w, 1) < 0);
}

/*
 * If the instruction before the addition moves the stack pointer, a probe there could not recognise
 * the departure. So the probe is placed after the addition.
 */
static void stack_moves_before(void **state)
{
	uint8_t other[sizeof(barrier) + 3] = { 0x48, 0x83, 0xec, 0x08 }; /* sub $8,%rsp */
	struct inline_wait w;

	memcpy(other + 4, barrier + 1, sizeof(barrier) - 1);
	assert_int_equal(inline_waits_find(EM_X86_64, other, sizeof(other), &w, 1), 1);
	assert_fields(&w, IS(kind, INLINE_WAIT_BARRIER), IS(enter, 0x0a));
}

static void any_bytes(void **state)
{
	uint8_t bytes[256];
	struct inline_wait w[4];
	uint32_t seed = 1;
	int n;

	for (uint32_t round = 0; round < 2000; round++) {
		for (uint32_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		/* Add parts of a wait to the random bytes. */
		memcpy(bytes + (seed >> 8) % 200, barrier, (seed >> 16) % sizeof(barrier));
		n = inline_waits_find(EM_X86_64, bytes, sizeof(bytes), w, 4);
		for (uint32_t i = 0; n > 0 && i < (uint32_t)n; i++) {
			assert_true(w[i].enter < sizeof(bytes));
			for (uint32_t k = 0; k < w[i].nleaves; k++)
				assert_true(w[i].leaves[k] < sizeof(bytes));
		}
		assert_true(inline_wait_hint(bytes, sizeof(bytes), 0) <= sizeof(bytes));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_barrier),      cmocka_unit_test(finds_latch),
		cmocka_unit_test(number_is_no_latch), cmocka_unit_test(needs_all),
		cmocka_unit_test(stack_moves_before), cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
