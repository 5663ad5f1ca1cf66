// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_elf_assembled.h"

#include <elf.h>

#include "elf/exits.h"

DEFINE_CLEANUP_PTR(elf_close, struct elf_file *)

/*
 * Exits of each function are labels in the function itself or in another function. The symbol table
 * gives their expected addresses.
 */
static const char source[] = ASSEMBLED_MACROS
	/* A function with two rets. */
	"begin plain\n test %edi, %edi\n je 1f\nplain_1: ret\n1: nop\nplain_2: ret\nend plain\n"
	/* A separate part of the function jumps back, and has its own ret. */
	"begin part\n nop\n jmp whole_back\npart_1: ret\nend part\n"
	"begin whole\n test %edi, %edi\n je part\nwhole_back: nop\nwhole_1: ret\nend whole\n"
	/* This function ends with a jump into another function. */
	"begin tail\n test %edi, %edi\n je 1f\ntail_1: ret\n1: jmp plain\nend tail\n"
	/*
	 * One path of this function ends with an unconditional jump to another library, and the
	 * next function does nothing else.
	 */
	"begin leaves\n test %edi, %edi\n je 1f\nleaves_1: ret\n1: nop\nleaves_2: jmp "
	"puts@plt\nend leaves\n"
	/* A function that ends with a jump to a function that returns at once. */
	"begin gives_back\n test %edi, %edi\n je 1f\ngives_back_1: jmp sem_post@plt\n1: "
	"nop\ngives_back_2: jmp pthread_mutex_unlock@plt\nend gives_back\n"
	"begin only\n nop\n jmp puts@plt\nend only\n"
	/* A function that ends with a jump through a register, to an unknown target. */
	"begin anywhere\n jmp *%rdi\n ret\nend anywhere\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static struct assembled lib;

/*
 * Check that the exits are exactly those labels. If the list is NULL, check that they are unknown.
 */
static void check(const char *function, enum exits_follow follow, const char *const *labels)
{
	struct elf_symbol symbol;
	struct exits exits;

	assert_int_equal(elf_find_function(lib.elf, function, &symbol, 1), 1);
	exits_find(lib.elf, EM_X86_64, &symbol, follow, &exits);
	if (!labels) {
		assert_fields(&exits, IS(n, 0), IS(why[0] != 0, true));
		return;
	}
	assembled_check(&lib, function, labels, exits.at, exits.n);
}

#define CHECK(function, follow, ...) \
	check(function, follow, (const char *const[]){ __VA_ARGS__, NULL })

static void test_follow(void **state)
{
	CHECK("plain", EXITS_FOLLOW_NONE, "plain_1", "plain_2");
	check("whole", EXITS_FOLLOW_NONE, NULL);
	CHECK("whole", EXITS_FOLLOW_COLD, "whole_1", "part_1");
	check("tail", EXITS_FOLLOW_NONE, NULL);
	check("tail", EXITS_FOLLOW_COLD, NULL);
	CHECK("tail", EXITS_FOLLOW_ALL, "tail_1", "plain_1", "plain_2");
}

static void test_returns_at_once(void **state)
{
	CHECK("gives_back", EXITS_FOLLOW_ALL, "gives_back_1", "gives_back_2");
	check("gives_back", EXITS_FOLLOW_COLD, NULL);
	check("leaves", EXITS_FOLLOW_ALL, NULL);
}

static void test_other_library(void **state)
{
	check("leaves", EXITS_FOLLOW_ALL, NULL);
	CHECK("leaves", EXITS_FOLLOW_OUTSIDE, "leaves_1", "leaves_2");
	/*
	 * The function only jumps to another function, which waits. An exit at this jump would
	 * measure no wait.
	 */
	check("only", EXITS_FOLLOW_OUTSIDE, NULL);
}

static void test_registers(void **state)
{
	check("anywhere", EXITS_FOLLOW_OUTSIDE, NULL);
}

/* If the symbol lacks the function's size, the unwind table gives it. */
static void test_no_size(void **state)
{
	struct elf_symbol symbol, around;
	struct exits exits;

	assert_int_equal(elf_find_function(lib.elf, "plain", &symbol, 1), 1);
	assert_true(exits_function_around(lib.elf, symbol.vaddr + 2, &around));
	assert_fields(&around, IS(vaddr, symbol.vaddr), IS(size, symbol.size));
	symbol.size = 0;
	exits_find(lib.elf, EM_X86_64, &symbol, EXITS_FOLLOW_NONE, &exits);
	assert_int_equal(exits.n, 2);
	assert_false(exits_function_around(lib.elf, 1, &around));
}

/*
 * Functions like those of libgomp on arm64: one path jumps to another library, the other path jumps
 * into a part.
 */
static const char arm_source[] =
	ASSEMBLED_MACROS "begin part\n nop\npart_1: ret\nend part\n"
			 "begin leaves\n cbz x0, 1f\nleaves_1: b puts\n1: b part\nend leaves\n"
			 "begin only\n nop\n b puts\nend only\n"
			 /*
			  * This function begins like a stub that jumps to another file, but it does
			  * not jump.
			  */
			 "begin far\n adrp x16, part\n add x16, x16, :lo12:part\n ret\nend far\n"
			 "begin tail\n cbz x0, 1f\n b far\n1: ret\nend tail\n"
			 ".section .note.GNU-stack,\"\",@progbits\n";

static uint32_t arm_exits(const struct elf_file *elf, const char *function, struct exits *out)
{
	struct elf_symbol symbol;

	assert_int_equal(elf_find_function(elf, function, &symbol, 1), 1);
	exits_find(elf, EM_AARCH64, &symbol, EXITS_FOLLOW_OUTSIDE, out);
	return out->n;
}

static void test_arm64(void **state)
{
	const struct fixture *f = *state;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	struct exits exits;
	int fd;

	if (!fixture_has(f, "aarch64-linux-gnu-gcc"))
		skip();
	fixture_write(f, "arm.s", arm_source);
	fixture_run(f, "aarch64-linux-gnu-gcc -shared -nostdlib -o arm.so arm.s");
	fd = fixture_open(f, "arm.so");
	assert_int_equal(fixture_elf(fd, &elf), 0);
	close(fd);
	assert_int_equal(arm_exits(elf, "leaves", &exits), 2);
	assert_fields(&exits, IS(at[0], fixture_nm(f, "arm.so", "leaves_1")),
		      IS(at[1], fixture_nm(f, "arm.so", "part_1")));
	assert_int_equal(arm_exits(elf, "only", &exits), 0);
	assert_int_equal(arm_exits(elf, "tail", &exits), 2);
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
		cmocka_unit_test(test_follow),	      cmocka_unit_test(test_returns_at_once),
		cmocka_unit_test(test_other_library), cmocka_unit_test(test_registers),
		cmocka_unit_test(test_no_size),	      cmocka_unit_test(test_arm64),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
