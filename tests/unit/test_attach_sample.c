// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "test_check.h"
#include "attach/sample.h"

#if defined(__aarch64__)
#define NREGS 33
#define SP_AT 31
#define PC_AT 32
#else
#define NREGS 17
#define SP_AT 7
#define PC_AT 8
#endif
#define STACK 64

struct record {
	struct perf_event_header header;
	uint64_t abi;
	uint64_t regs[NREGS];
	uint64_t bytes;
	uint8_t stack[STACK];
	uint64_t given;
};

static struct record make(void)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(r) },
			    .abi = PERF_SAMPLE_REGS_ABI_64,
			    .bytes = STACK,
			    .given = 40 };
	unsigned int i;

	for (i = 0; i < NREGS; i++)
		r.regs[i] = 1000 + i;
	for (i = 0; i < STACK; i++)
		r.stack[i] = (uint8_t)i;
	return r;
}

static void test_whole(void **unused)
{
	struct record r = make();
	struct sample s = { 0 };

	assert_true(sample_parse(&r, sizeof(r), &s));
	assert_fields(&s, IS(taken, true), IS(regs.value[STACK_SP], 1000 + SP_AT),
		      IS(regs.value[STACK_PC], 1000 + PC_AT));
#if !defined(__aarch64__)
	/*
	 * The kernel numbers registers in the order rax, rbx, rcx, rdx; DWARF in the order rax,
	 * rdx, rcx, rbx.
	 */
	assert_fields(&s.regs, IS(value[3], 1001), IS(value[1], 1003), IS(value[15], 1016));
#endif
	assert_fields(&s, IS(regs.exact, 1), IS(sp, 1000 + SP_AT), IS(len, 40));
	assert_memory_equal(s.bytes, r.stack, 40);
	sample_release(&s, 1);
	assert_null(s.bytes);
}

static void test_refused(void **unused)
{
	struct record r = make();
	struct sample s = { 0 };

	assert_false(sample_parse(&r, 0, &s));
	assert_false(sample_parse(&r, sizeof(r.header), &s));
	assert_false(sample_parse(&r, offsetof(struct record, bytes) - 1, &s));
	r.abi = PERF_SAMPLE_REGS_ABI_NONE; /* a kernel thread, or the registers are not available */
	assert_false(sample_parse(&r, sizeof(r), &s));
	r.abi = PERF_SAMPLE_REGS_ABI_32;
	assert_false(sample_parse(&r, sizeof(r), &s));
	r = make();
	r.header.type = PERF_RECORD_LOST;
	assert_false(sample_parse(&r, sizeof(r), &s));
	assert_false(s.taken);
}

/* The sizes of the stack are wrong, but the registers are still valid. */
static void test_no_stack(void **unused)
{
	static const uint64_t sizes[] = { 0,	    STACK + 1,	STACK + 8,
					  1u << 20, UINT64_MAX, UINT64_MAX - 8 };
	struct sample s = { 0 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct record r = make();

		r.bytes = sizes[i];
		assert_true(sample_parse(&r, sizeof(r), &s));
		assert_fields(&s, IS(bytes, NULL), IS(len, 0));
	}
}

static void test_more_given_than_room(void **unused)
{
	struct record r = make();
	struct sample s = { 0 };

	r.given = UINT64_MAX;
	assert_true(sample_parse(&r, sizeof(r), &s));
	assert_int_equal(s.len, STACK);
	sample_release(&s, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_stack),
		cmocka_unit_test(test_more_given_than_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
