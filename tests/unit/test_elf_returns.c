// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_elf_assembled.h"

#include <elf.h>

#include "elf/returns.h"

/* A small runtime: labels are the return addresses of the calls that the test checks. */
static const char source[] = ASSEMBLED_MACROS
	/*
	 * A function that begins a region: it passes its argument to workers, and then calls the
	 * argument itself.
	 */
	"begin region\n push %rbx\n mov %rdi, %rbx\n call start\n call *%rbx\n"
	"region_1: pop %rbx\n jmp finish\nend region\n"
	"begin start\n lea worker(%rip), %rdx\n lea data(%rip), %rdi\n call *%rax\n"
	"start_1: ret\nend start\n"
	/* A worker calls a region at two positions: one for nested teams, one for other teams. */
	"begin worker\n test %edi, %edi\n je 1f\n call *(%rsi)\nworker_1: mov %rax, %rdi\n jmp 2f\n"
	"1: call *%rax\nworker_2: nop\n2: ret\nend worker\n"
	/* A function that runs tasks, which are not regions. */
	"begin finish\n call *%rdi\nfinish_1: ret\nend finish\n"
	/* A function that passes nothing to other threads. */
	"begin alone\n push %rbx\n call *%rbx\nalone_1: pop %rbx\n ret\nend alone\n"
	/* A function in which no probe can be attached after the call. */
	"begin nowhere\n push %rbx\n call start\n call *%rbx\n"
	".byte 0x0f, 0x1f, 0x44, 0, 0\n ret\nend nowhere\n"
	/* A function that ends in a call that does not return. */
	"begin never\n call start\n call *%rbx\nnever_1: nop\n call *%rax\nend never\n"
	".byte 0\n"
	"begin garbage\n call start\n call *%rbx\n .byte 6\n ret\nend garbage\n"
	".data\ndata: .quad 0\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static struct assembled lib;

/*
 * Check that the returns are exactly those labels. If the list is NULL, check that they are
 * unknown.
 */
static void check(const char *region, const char *invoke, const char *const *labels)
{
	uint64_t begin = region ? assembled_vaddr(&lib, region) : 0;
	struct returns found;

	returns_find(lib.elf, EM_X86_64, &begin, !!region,
		     invoke ? assembled_vaddr(&lib, invoke) : 0, &found);
	assembled_check(&lib, region ? region : invoke, labels, found.at, found.n);
}

#define CHECK(region, invoke, ...) check(region, invoke, (const char *const[]){ __VA_ARGS__, NULL })
#define CHECK_NONE(region, invoke) check(region, invoke, (const char *const[]){ NULL })

static void test_both_sides(void **state)
{
	CHECK("region", NULL, "region_1", "worker_1", "worker_2");
	CHECK("never", NULL, "never_1", "worker_1", "worker_2");
	CHECK(NULL, "alone", "alone_1");
}

static void test_not_known(void **state)
{
	uint64_t begin = assembled_vaddr(&lib, "region"), middle = begin + 1;
	struct returns found;

	/*
	 * If the return address is known only for the master or only for the workers, none is used:
	 * some members would never be seen to leave.
	 */
	CHECK_NONE("alone", NULL);
	CHECK_NONE("finish", NULL);
	CHECK_NONE("nowhere", NULL);
	CHECK_NONE("garbage", NULL);
	CHECK_NONE(NULL, "data");
	returns_find(lib.elf, EM_X86_64, &middle, 1, 0, &found);
	assert_int_equal(found.n, 0);
	returns_find(lib.elf, EM_X86_64, &begin, 0, 0, &found);
	assert_int_equal(found.n, 0);
}

static const char arm_source[] = ASSEMBLED_MACROS
	"begin region\n stp x29, x30, [sp, #-32]!\n mov x19, x0\n bl start\n blr x19\n"
	"region_1: ldp x29, x30, [sp], #32\n b finish\nend region\n"
	/*
	 * The address is made in two steps, with other instructions between. Another address is
	 * made in one step.
	 */
	"begin start\n adrp x2, worker\n adrp x1, data\n cbz x0, 1f\n add x2, x2, :lo12:worker\n"
	"1: add x1, x1, :lo12:data\n adr x3, other\n ret\nend start\n"
	".p2align 13\n"
	"begin worker\n ldr x1, [x0]\n blr x1\nworker_1: nop\n ret\nend worker\n"
	"begin other\n blr x1\nother_1: nop\n ret\nend other\n"
	"begin finish\n blr x0\nfinish_1: ret\nend finish\n"
	"begin alone\n blr x0\nalone_1: ret\nend alone\n"
	/* A function in which no probe can be attached after the call. */
	"begin nowhere\n bl start\n blr x0\n brk #1\n ret\nend nowhere\n"
	".data\ndata: .quad 0\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static void arm_check(const struct assembled *arm, const char *region, const char *const *labels)
{
	uint64_t begin = fixture_nm(arm->fixture, "library.so", region);
	struct returns found;

	returns_find(arm->elf, EM_AARCH64, &begin, 1, 0, &found);
	assembled_check(arm, region, labels, found.at, found.n);
}

static void test_arm64(void **state)
{
	struct assembled arm = { .fixture = *state };
	int fd;

	if (!fixture_has(arm.fixture, "aarch64-linux-gnu-gcc"))
		skip();
	fixture_write(arm.fixture, "arm.s", arm_source);
	fixture_run(arm.fixture, "aarch64-linux-gnu-gcc -shared -nostdlib -o library.so arm.s");
	fd = fixture_open(arm.fixture, "library.so");
	assert_int_equal(fixture_elf(fd, &arm.elf), 0);
	close(fd);
	arm_check(&arm, "region", (const char *const[]){ "region_1", "worker_1", "other_1", NULL });
	arm_check(&arm, "alone", (const char *const[]){ NULL });
	arm_check(&arm, "nowhere", (const char *const[]){ NULL });
	elf_close(arm.elf);
}

static int setup(void **state)
{
	return assembled_setup(&lib, state, source);
}

static int teardown(void **state)
{
	return assembled_teardown(&lib, state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_sides),
		cmocka_unit_test(test_not_known),
		cmocka_unit_test(test_arm64),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
