// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_elf_assembled.h"

#include <elf.h>
#include <stdlib.h>

#include "sites/outlined.h"

DEFINE_CLEANUP_PTR(elf_close, struct elf_file *)

#define FUNCTION(name) "begin " name "\n nop\n ret\nend " name "\n"

/*
 * The source is like GCC's output: the address of a function is loaded, and then passed in a call.
 */
static const char source[] = ASSEMBLED_MACROS FUNCTION("task_near") FUNCTION("task_kept")
	FUNCTION("task_by_word") FUNCTION("loop_body") FUNCTION("region") FUNCTION("region_last")
		FUNCTION("of_both") FUNCTION("of_neither") FUNCTION("for_device")
	/* In "kept", the load is far from the call, as with -O2 if the call is in a loop. */
	"begin near\n lea task_near(%rip), %rdi\n call GOMP_task@PLT\n ret\nend near\n"
	"begin kept\n push %rbx\n lea task_kept(%rip), %r13\n nop\n mov %r13, %rdi\n"
	" call GOMP_task@PLT\n pop %rbx\n ret\nend kept\n"
	/* The same call as in "near", compiled with -fno-plt. */
	"begin by_word\n lea task_by_word(%rip), %rax\n mov %rax, %rdi\n"
	" call *GOMP_task@GOTPCREL(%rip)\n ret\nend by_word\n"
	"begin loop\n lea loop_body(%rip), %rdi\n call GOMP_taskloop_ull@PLT\n ret\nend loop\n"
	"begin begins\n lea region(%rip), %rdi\n call GOMP_parallel@PLT\n ret\nend begins\n"
	/* A region is the last action of a function. */
	"begin last\n lea task_near(%rip), %rdi\n lea region_last(%rip), %rdi\n"
	" jmp GOMP_parallel_loop_dynamic@PLT\nend last\n"
	"begin both\n lea of_both(%rip), %rdi\n call GOMP_task@PLT\n lea region(%rip), %rdi\n"
	" call GOMP_parallel@PLT\n ret\nend both\n"
	"begin neither\n lea of_neither(%rip), %rdi\n call other@PLT\n ret\nend neither\n"
	"begin device\n lea for_device(%rip), %rsi\n call GOMP_target_ext@PLT\n"
	" call GOMP_task@PLT\n ret\nend device\n"
	".section .note.GNU-stack,\"\",@progbits\n";

/* A source with only two outlined functions: one of a task, one of a region. */
static const char source_of_tasks[] = ASSEMBLED_MACROS FUNCTION("task_near") FUNCTION(
	"region") "begin near\n endbr64\n lea task_near(%rip), %rdi\n call GOMP_task@PLT\n "
		  "ret\nend near\n"
		  "begin begins\n lea region(%rip), %rdi\n jmp GOMP_parallel@PLT\nend begins\n"
		  ".section .note.GNU-stack,\"\",@progbits\n";

static void check(const struct fixture *fixture, uint16_t machine, const char *const *names)
{
	struct outlined found;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	uint32_t i, j;
	int fd;

	fd = fixture_open(fixture, "library.so");
	assert_int_equal(fixture_elf(fd, &elf), 0);
	close(fd);
	assert_int_equal(outlined_of_tasks(elf, machine, &found), 0);
	for (i = 0; names[i]; i++) {
		for (j = 0; j < found.n &&
			    found.functions[j].vaddr != fixture_nm(fixture, "library.so", names[i]);
		     j++)
			;
		if (j == found.n)
			fail_msg("%s is not among the %u functions", names[i], found.n);
	}
	assert_int_equal(found.n, i);
	free(found.functions);
}

#define CHECK(fixture, ...) check(fixture, EM_X86_64, (const char *const[]){ __VA_ARGS__, NULL })

/* Code that may also belong to a region is not a task. */
static void test_tasks_alone(void **state)
{
	const struct fixture *f = *state;

	fixture_write(f, "source.s", source);
	fixture_run(f, "cc -shared -o library.so source.s");
	CHECK(f, "task_kept", "task_by_word", "loop_body");
	check(f, EM_AARCH64, (const char *const[]){ NULL });
}

/* The result is the same for every kind of linkage table. */
static void test_linkage(void **state)
{
	static const char *const flags[] = { "-Wl,-z,lazy", "-Wl,-z,now", "-Wl,-z,ibtplt" };
	const struct fixture *f = *state;

	fixture_write(f, "source.s", source_of_tasks);
	for (size_t i = 0; i < 3; i++) {
		fixture_run(f, "cc -shared %s -o library.so source.s", flags[i]);
		CHECK(f, "task_near");
	}
	/* The function is in the program itself, so no linkage table is needed. */
	fixture_write(f, "static.c",
		      "void GOMP_task(void) {}\nvoid GOMP_parallel(void) {}\n"
		      "int main(void) { return 0; }\n");
	fixture_run(f, "cc -O1 -fno-pie -no-pie -o library.so static.c source.s");
	CHECK(f, "task_near");
}

/* Without an unwind table it is unknown where functions begin. */
static void test_nothing_known(void **state)
{
	const struct fixture *f = *state;

	fixture_write(f, "source.s", source_of_tasks);
	fixture_run(f, "cc -shared -o whole.so source.s");
	fixture_run(f, "objcopy -R .eh_frame -R .eh_frame_hdr whole.so library.so");
	check(f, EM_X86_64, (const char *const[]){ NULL });
	fixture_run(f, "objcopy -R .rela.plt whole.so library.so");
	check(f, EM_X86_64, (const char *const[]){ NULL });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks_alone, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_linkage, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_nothing_known, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
