// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_elf_assembled.h"

#include <elf.h>
#include <errno.h>

#include "elf/team_size.h"

/* Functions like omp_get_num_threads(), and functions that are different in one respect each. */
static const char source[] = ASSEMBLED_MACROS
	/* libgomp as a shared library, as GCC 12 compiles it. */
	"begin shared\n endbr64\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n"
	" mov $1, %eax\n test %rdx, %rdx\n je 1f\n mov (%rdx), %eax\n1: ret\nend shared\n"
	/* In a static program, the offset is a constant. */
	"begin static\n mov %fs:0xffffffffffffff40, %rdx\n mov $1, %eax\n test %rdx, %rdx\n"
	" je 1f\n mov 8(%rdx), %eax\n1: ret\nend static\n"
	"begin constant\n mov $-192, %rcx\n mov %fs:16(%rcx), %rdx\n test %rdx, %rdx\n je 1f\n"
	" mov 4(%rdx), %eax\n ret\n1: mov $1, %eax\n ret\nend constant\n"
	/* The team is copied to another register, and the number is loaded before the test ends. */
	"begin copied\n mov slot(%rip), %rsi\n mov %fs:24(%rsi), %rcx\n mov %rcx, %rdx\n"
	" test %rcx, %rcx\n je 1f\n mov 12(%rdx), %eax\n ret\n1: mov $1, %eax\n ret\nend copied\n"
	"begin moved\n mov $-64, %rcx\n mov %rcx, %rsi\n mov %fs:16(%rsi), %rdx\n"
	" mov (%rdx), %eax\n ret\nend moved\n"
	/* Another word is loaded after the one that counts. */
	"begin another\n mov slot(%rip), %rax\n mov other(%rip), %rcx\n mov %fs:0x10(%rax), %rdx\n"
	" mov (%rdx), %eax\n ret\nend another\n"
	/* Not like this. */
	"begin calls\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rdx), %eax\n"
	" call shared\n ret\nend calls\n"
	"begin writes\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rdx), %eax\n"
	" mov %eax, (%rdx)\n ret\nend writes\n"
	"begin adds\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rdx), %eax\n"
	" add $1, %eax\n ret\nend adds\n"
	"begin twice\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rdx), %eax\n"
	" mov 4(%rdx), %eax\n ret\nend twice\n"
	"begin wide\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rdx), %rax\n"
	" ret\nend wide\n"
	"begin indexed\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n"
	" mov (%rdx,%rcx,4), %eax\n ret\nend indexed\n"
	"begin elsewhere\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rsi), %eax\n"
	" ret\nend elsewhere\n"
	/* The sums of these constants are no offsets of 32 bits. */
	"begin far\n mov $0xbbbbbbbb, %ebx\n mov %fs:-16(%rbx), %rdx\n mov (%rdx), %eax\n"
	" ret\nend far\n"
	"begin overflow\n movabs $0x7fffffffffffffff, %rbx\n mov %fs:1(%rbx), %rdx\n"
	" mov (%rdx), %eax\n ret\nend overflow\n"
	"begin constant_only\n mov $1, %eax\n ret\nend constant_only\n"
	"begin long\n mov slot(%rip), %rax\n mov %fs:0x10(%rax), %rdx\n mov (%rdx), %eax\n"
	" .skip 100, 0x90\n ret\nend long\n"
	".data\nslot: .quad 0\nother: .quad 0\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static struct assembled lib;

static int find(const char *name, struct team_size *out)
{
	struct elf_symbol symbol;
	const uint8_t *bytes;
	size_t len;

	assert_int_equal(elf_find_function(lib.elf, name, &symbol, 1), 1);
	len = elf_bytes(lib.elf, symbol.offset, symbol.size, &bytes);
	assert_true(len);
	return team_size_find(EM_X86_64, bytes, len, symbol.vaddr, out);
}

static void check(const char *name, bool has_slot, int32_t team, int32_t count)
{
	struct team_size found;

	assert_int_equal(find(name, &found), 0);
	assert_int_equal(found.slot_vaddr, has_slot ? assembled_vaddr(&lib, "slot") : 0);
	assert_int_equal(found.team, team);
	assert_int_equal(found.count, count);
}

static void test_found(void **state)
{
	check("shared", true, 0x10, 0);
	check("static", false, -192, 8);
	check("constant", false, -192 + 16, 4);
	check("copied", true, 24, 12);
	check("moved", false, -64 + 16, 0);
	check("another", true, 0x10, 0);
}

static void test_not_found(void **state)
{
	static const char *const names[] = { "calls", "writes",	  "adds",      "twice",
					     "wide",  "indexed",  "elsewhere", "constant_only",
					     "far",   "overflow", "long" };
	struct team_size found;
	uint32_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (find(names[i], &found) != -ENOENT)
			fail_msg("%s: found", names[i]);
	assert_int_equal(team_size_find(EM_AARCH64, NULL, 0, 0, &found), -ENOTSUP);
	assert_int_equal(team_size_find(EM_X86_64, (const uint8_t *)"", 0, 0, &found), -ENOENT);
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
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_not_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
