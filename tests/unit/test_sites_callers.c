// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the rules for finding callers, on assembled code and on this program's own stack. */
#include "test_sites_fixture.h"

#include <elf.h>

#include "sites/callers.h"
#include "elf/elf.h"

DEFINE_CLEANUP_PTR(address_spaces_free, struct address_spaces *)
DEFINE_CLEANUP_PTR(callers_free, struct callers *)
DEFINE_CLEANUP_PTR(modules_free, struct modules *)
DEFINE_CLEANUP_PTR(symbol_server_free, struct symbol_server *)

#if defined(__x86_64__)

static const char rules_source[] = "	.text\n"
				   ".macro function name\n"
				   "	.globl \\name\n"
				   "	.type \\name, @function\n"
				   "\\name:\n"
				   "	.cfi_startproc\n"
				   ".endm\n"
				   ".macro finish name\n"
				   "	call *%rax\n"
				   "	nop\n"
				   "	.cfi_endproc\n"
				   "	.size \\name, . - \\name\n"
				   ".endm\n"
				   "	function by_sp\n"
				   "	sub $40, %rsp\n"
				   "	.cfi_adjust_cfa_offset 40\n"
				   "	finish by_sp\n"
				   "	function by_fp\n"
				   "	push %rbp\n"
				   "	.cfi_adjust_cfa_offset 8\n"
				   "	.cfi_offset %rbp, -16\n"
				   "	mov %rsp, %rbp\n"
				   "	.cfi_def_cfa_register %rbp\n"
				   "	finish by_fp\n"
				   "	function outermost\n"
				   "	.cfi_undefined %rip\n"
				   "	finish outermost\n"
				   /* DW_CFA_def_cfa_expression, which no frame rule can express */
				   "	function expression\n"
				   "	.cfi_escape 0x0f, 3, 0x77, 16, 0x06\n"
				   "	finish expression\n"
				   "	function by_bx\n"
				   "	.cfi_def_cfa %rbx, 16\n"
				   "	finish by_bx\n"
				   "	.globl nothing\n"
				   "	.type nothing, @function\n"
				   "nothing:	call *%rax\n"
				   "	nop\n"
				   "	.size nothing, . - nothing\n"
				   "	.section .note.GNU-stack,\"\"\n";

/* Get the rule after the second-to-last instruction of the function, which is its call. */
static bool rule_of(const struct fixture *f, struct symbol_server *server, const char *name,
		    struct sbt_frame_rule *rule)
{
	struct elf_symbol symbol;
	struct elf_file *elf;
	char path[128];
	bool known;
	int fd;

	snprintf(path, sizeof(path), "%s/rules.so", f->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_int_equal(elf_find_function(elf, name, &symbol, 1), 1);
	memset(rule, 0xff, sizeof(*rule));
	known = symbol_frame_rule(server, fd, path, symbol.vaddr + symbol.size - 2, rule, NULL);
	elf_close(elf);
	close(fd);
	return known;
}

static void test_rules(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	struct sbt_frame_rule rule;

	fixture_write(f, "rules.s", rules_source);
	fixture_run(f, "gcc -shared -nostdlib -o rules.so rules.s");
	assert_int_equal(symbol_server_new(NULL, &server), 0);
	assert_true(rule_of(f, server, "by_sp", &rule));
	assert_fields(&rule, IS(cfa, 48), IS(ret, -8), IS(flags, 0));
	assert_true(rule_of(f, server, "by_fp", &rule));
	assert_fields(&rule, IS(cfa, 16), IS(ret, -8), IS(fp, -16),
		      IS(flags, SBT_FRAME_BY_FP | SBT_FRAME_SAVES_FP));
	assert_true(rule_of(f, server, "outermost", &rule));
	assert_true(rule.flags & SBT_FRAME_LAST);
	assert_false(rule_of(f, server, "expression", &rule));
	assert_false(rule_of(f, server, "by_bx", &rule));
	assert_false(rule_of(f, server, "nothing", &rule));
}

#endif

/* --- this program's own stack ---------------------------------------------------------------- */

static struct sbt_callers sample;
static uint64_t expected[3];
static volatile int sink;

__attribute__((noinline, no_sanitize("address", "undefined"))) static void take_sample(void)
{
	const uint64_t *frame = __builtin_frame_address(0);
	const volatile uint8_t *from = (const volatile uint8_t *)(frame + 2);

	sample.head.ip = (uint64_t)(uintptr_t)__builtin_return_address(0);
	sample.sp = (uint64_t)(uintptr_t)from;
	sample.fp = frame[0];
	sample.len = SBT_CALLERS_DEEP;
	for (unsigned i = 0; i < SBT_CALLERS_DEEP; i++)
		sample.bytes[i] = from[i];
	expected[0] = sample.head.ip;
}

__attribute__((noinline)) static int inner(int x)
{
	expected[1] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	take_sample();
	return sink + x;
}

__attribute__((noinline)) static int outer(int x)
{
	volatile char room[100];

	room[x] = 1;
	expected[2] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	return inner(x) + room[x];
}

struct reported {
	uint32_t n;
	uint64_t ip[CALLERS_MAX];
};

static void note_reported(void *ctx, const struct sbt_callers *s, uint64_t ip,
			  const struct sbt_frame_rule *rule)
{
	struct reported *reported = ctx;

	assert_ptr_equal(s, &sample);
	assert_non_null(rule);
	reported->ip[reported->n++] = ip;
}

static void test_own_stack(void **state)
{
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	const struct caller_code *code;
	uint64_t ips[CALLERS_MAX];
	struct modules *modules CLEANUP_PTR(modules_free);
	struct callers *callers CLEANUP_PTR(callers_free);
	struct address_spaces *spaces CLEANUP_PTR(address_spaces_free);
	struct reported reported = { 0 };
	struct address_space *space;

	assert_int_equal(symbol_server_new(NULL, &server), 0);
	assert_int_equal(modules_new(NULL, server, &modules), 0);
	assert_int_equal(address_spaces_new(modules, server, &spaces), 0);
	assert_int_equal(callers_new(spaces, &callers), 0);
	space = address_space_get(spaces, (uint32_t)getpid(), 1);
	assert_non_null(space);
	sink += outer(3);

	sample.head.wanted = 2;
	assert_int_equal(callers_follow(callers, space, &sample, ips, note_reported, &reported), 3);
	assert_memory_equal(ips, expected, sizeof(expected));
	assert_int_equal(reported.n, 2);
	assert_memory_equal(reported.ip, expected, 2 * sizeof(expected[0]));
	assert_null(callers_no_call(callers, space, ips[1]));
	assert_non_null(callers_no_call(callers, space, ips[1] + 1));
	assert_non_null(callers_no_call(callers, space, 4096));
	code = callers_code(callers, space, ips[1]);
	assert_fields(code, TEXT(name, "outer"), IS(outer, false));
	/* The sample contains only 8 bytes of the stack. Missing frames are not guessed. */
	sample.len = 8;
	assert_int_equal(callers_follow(callers, space, &sample, ips, note_reported, &reported), 1);
	/* No caller is found if the address is in no file. */
	sample.len = SBT_CALLERS_DEEP;
	sample.head.ip = 4096;
	assert_int_equal(callers_follow(callers, space, &sample, ips, note_reported, &reported), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test_setup_teardown(test_rules, fixture_setup, fixture_teardown),
#endif
		cmocka_unit_test(test_own_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
