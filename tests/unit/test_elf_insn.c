// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <elf.h>
#include <errno.h>

#include "elf/elf.h"
#include "elf/insn.h"

DEFINE_CLEANUP_PTR(elf_close, struct elf_file *)

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static void expect_class(enum insn_class class, uint8_t length, const uint8_t *bytes, size_t len)
{
	struct insn in;

	insn_decode(EM_X86_64, bytes, len, &in);
	if (in.class != class || in.length != length)
		fail_msg("%02x %02x ...: %s, %u bytes (%s); wanted %s, %u bytes", bytes[0],
			 len > 1 ? bytes[1] : 0, insn_class_name(in.class), in.length, in.text,
			 insn_class_name(class), length);
}

struct class_row {
	enum insn_class class;
	uint8_t length;
	const uint8_t *bytes;
	size_t len;
};

static void check_classes(const struct class_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_class(rows[i].class, rows[i].length, rows[i].bytes, rows[i].len);
}

#define expect_classes(...) check_classes(ROWS(struct class_row, __VA_ARGS__))

static void test_emulated(void **state)
{
	expect_classes({ INSN_EMULATED, 1, BYTES(0x50) }, { INSN_EMULATED, 1, BYTES(0x55) },
		       { INSN_EMULATED, 2, BYTES(0x41, 0x55) }, { INSN_EMULATED, 1, BYTES(0x90) },
		       { INSN_EMULATED, 2, BYTES(0x66, 0x90) },
		       { INSN_EMULATED, 2, BYTES(0xeb, 0x10) },
		       { INSN_EMULATED, 5, BYTES(0xe9, 1, 0, 0, 0) },
		       { INSN_EMULATED, 5, BYTES(0xe8, 1, 0, 0, 0) },
		       { INSN_EMULATED, 2, BYTES(0x74, 0x10) },
		       { INSN_EMULATED, 6, BYTES(0x0f, 0x85, 1, 0, 0, 0) });
}

static void test_stepped(void **state)
{
	expect_classes({ INSN_STEPPED, 3, BYTES(0x48, 0x89, 0xe5) },
		       { INSN_STEPPED, 4, BYTES(0x48, 0x83, 0xec, 0x08) },
		       { INSN_STEPPED, 7, BYTES(0x48, 0x8b, 0x05, 1, 2, 3, 4) },
		       { INSN_STEPPED, 1, BYTES(0xc3) }, { INSN_STEPPED, 2, BYTES(0xf3, 0xc3) },
		       { INSN_STEPPED, 2, BYTES(0x0f, 0x05) },
		       { INSN_STEPPED, 2, BYTES(0xff, 0xe0) }, /* jmp *%rax */
		       { INSN_STEPPED, 2, BYTES(0xff, 0x30) }, /* push (%rax) */
		       { INSN_STEPPED, 2, BYTES(0x48, 0x55) }, /* push with a REX that is not 41 */
		       { INSN_STEPPED, 2, BYTES(0x6a, 0x01) }, /* push $1 */
		       { INSN_STEPPED, 5, BYTES(0xc5, 0xf8, 0x10, 0x47, 0x10) }); /* vmovups */
	/* Nops that are not the five-byte nop. */
	expect_classes({ INSN_STEPPED, 4, BYTES(0x0f, 0x1f, 0x40, 0x00) },
		       { INSN_STEPPED, 6, BYTES(0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00) },
		       { INSN_STEPPED, 5, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x01) });
}

static void test_special(void **state)
{
	expect_classes({ INSN_ENDBR, 4, BYTES(0xf3, 0x0f, 0x1e, 0xfa) },
		       { INSN_NOP5, 5, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00) });
}

static void test_refused(void **state)
{
	expect_classes({ INSN_REFUSED, 1, BYTES(0xcc) }, { INSN_REFUSED, 1, BYTES(0xf4) },
		       { INSN_REFUSED, 1, BYTES(0xfa) }, { INSN_REFUSED, 2, BYTES(0xcd, 0x80) },
		       { INSN_REFUSED, 1, BYTES(0xec) }, { INSN_REFUSED, 2, BYTES(0x0f, 0x0b) },
		       { INSN_REFUSED, 2, BYTES(0x0f, 0x30) },
		       { INSN_REFUSED, 4, BYTES(0xf0, 0x0f, 0xb1, 0x17) },
		       /* branch with a 0x66 prefix */
		       { INSN_REFUSED, 3, BYTES(0x66, 0x74, 0x10) });
	/* A nop with a segment prefix, which assemblers use as padding. */
	expect_classes({ INSN_REFUSED, 10,
			 BYTES(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00) },
		       { INSN_REFUSED, 3, BYTES(0x3e, 0xff, 0xe0) }, /* notrack jmp */
		       { INSN_REFUSED, 2, BYTES(0x41, 0x90) }); /* xchg %r8, %rax: no nop */
}

static void test_undecodable(void **state)
{
	struct insn in;

	expect_classes({ INSN_UNKNOWN, 0, BYTES(0x06) },
		       { INSN_UNKNOWN, 0, BYTES(0xe9, 1, 0) }); /* cut off */
	insn_decode(EM_X86_64, NULL, 0, &in);
	assert_int_equal(in.class, INSN_UNKNOWN);
	insn_decode(EM_PPC64, (const uint8_t *)"\x90", 1, &in);
	assert_int_equal(in.class, INSN_UNKNOWN);
}

static void test_text(void **state)
{
	struct insn in;

	insn_decode(EM_X86_64, BYTES(0x41, 0x55), &in);
	assert_string_equal(in.text, "push %r13");
	insn_decode(EM_X86_64, BYTES(0xc3), &in);
	assert_string_equal(in.text, "ret");
}

static void expect_entry(int want, uint32_t skip, enum insn_class class, const uint8_t *bytes,
			 size_t len)
{
	struct insn_entry e;
	int err = insn_choose_entry(EM_X86_64, bytes, len, &e);

	if (err != want || e.skip != skip || (!err && e.insn.class != class))
		fail_msg("%d, +%u, %s: %s", err, e.skip, insn_class_name(e.insn.class), e.why);
	assert_true(e.why[0]);
}

static void test_entry(void **state)
{
	/* glibc's pthread_barrier_wait: push %r13. */
	expect_entry(0, 0, INSN_EMULATED, BYTES(0x41, 0x55, 0x41, 0x54));
	/* endbr64; push %rbp. */
	expect_entry(0, 4, INSN_EMULATED, BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5));
	/* endbr64; mov: no better position exists. */
	expect_entry(0, 0, INSN_ENDBR, BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xe5, 0xc3));
	/* endbr64; nop5; push: the probe is placed after both. */
	expect_entry(0, 9, INSN_EMULATED,
		     BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0xc3));
	/*
	 * endbr64; nop5; mov: the probe is placed at the endbr64, because a probe at the mov would
	 * be no cheaper.
	 */
	expect_entry(0, 0, INSN_ENDBR,
		     BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x48, 0x89, 0xe5));
	/* nop5; push, and nop5; mov: the probe is always placed after the nop5. */
	expect_entry(0, 5, INSN_EMULATED, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0xc3));
	expect_entry(0, 5, INSN_STEPPED, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00, 0x48, 0x89, 0xe5));
	/* The function has only nop5 and ret. */
	expect_entry(0, 5, INSN_STEPPED, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3));
	/* The function begins with two nop5. */
	expect_entry(0, 10, INSN_EMULATED,
		     BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55));
	/* Another kind of nop, then push. */
	expect_entry(0, 4, INSN_EMULATED, BYTES(0x0f, 0x1f, 0x40, 0x00, 0x55, 0xc3));
}

static void expect_late(uint32_t skip, enum insn_class class, const uint8_t *bytes, size_t len)
{
	struct insn_entry e;

	assert_int_equal(insn_choose_late(EM_X86_64, bytes, len, &e), 0);
	if (e.skip != skip || e.insn.class != class)
		fail_msg("+%u, %s: %s", e.skip, insn_class_name(e.insn.class), e.why);
	assert_true(e.why[0]);
}

/* Functions with unused arguments. */
static void test_entry_late(void **state)
{
	/*
	 * GOMP_barrier: endbr64; mov rip; mov %fs:; test; je +0x20; sub; jmp; nop; ret. The probe
	 * is placed on the je, which every path reaches.
	 */
	expect_late(0x13, INSN_EMULATED,
		    BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x05, 0xbd, 0x9d, 0x03, 0x00, 0x64,
			  0x48, 0x8b, 0x78, 0x10, 0x48, 0x85, 0xff, 0x74, 0x0b, 0x48, 0x83, 0xef,
			  0x80, 0xe9, 0x22, 0x27, 0x01, 0x00, 0x66, 0x90, 0xc3));
	/*
	 * mov %rsi,%rax; jmp out of the function. The second case has sub $8,%rdi instead of the
	 * mov.
	 */
	expect_late(3, INSN_EMULATED, BYTES(0x48, 0x89, 0xf0, 0xe9, 0x00, 0x10, 0x00, 0x00));
	expect_late(4, INSN_EMULATED, BYTES(0x48, 0x83, 0xef, 0x08, 0xe9, 0x00, 0x10, 0x00, 0x00));
	/* The position that insn_choose_entry() returns is good enough. */
	expect_late(4, INSN_EMULATED, BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3));
	/*
	 * No later position is safe: the stack pointer moves, memory is written, a ret or a pop
	 * comes first, or a loop jumps back.
	 */
	expect_late(0, INSN_STEPPED, BYTES(0x48, 0x83, 0xec, 0x08, 0x55, 0xc3));
	expect_late(0, INSN_STEPPED, BYTES(0x48, 0x89, 0xfc, 0x55, 0xc3));
	expect_late(0, INSN_STEPPED, BYTES(0x48, 0x89, 0x07, 0x55, 0xc3));
	expect_late(0, INSN_STEPPED, BYTES(0x83, 0x2f, 0x01, 0x55, 0xc3));
	expect_late(0, INSN_STEPPED, BYTES(0x48, 0x87, 0xfc, 0x55, 0xc3));
	expect_late(0, INSN_STEPPED, BYTES(0xc3, 0x55));
	expect_late(0, INSN_STEPPED, BYTES(0x58, 0x55, 0xc3));
	expect_late(0, INSN_STEPPED, BYTES(0x48, 0x89, 0xf0, 0x48, 0x89, 0xf8, 0x75, 0xfb, 0xc3));
}

static void test_entry_refused(void **state)
{
	struct insn_entry e;

	expect_entry(-ENOTSUP, 0, 0, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00));
	expect_entry(-ENOTSUP, 0, 0, BYTES(0xcc, 0xc3));
	expect_entry(-ENOTSUP, 0, 0, BYTES(0x06));
	expect_entry(-ENOTSUP, 0, 0, BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00, 0xcc));
	assert_int_equal(insn_choose_entry(EM_X86_64, NULL, 0, &e), -EINVAL);
	assert_int_equal(insn_choose_entry(EM_PPC64, BYTES(0x55), &e), -ENOTSUP);
}

/* A probe at a loop head after the nop would be counted in every iteration. */
static void test_entry_loop(void **state)
{
	/* endbr64; 4: call; jmp 4 */
	expect_entry(0, 0, INSN_ENDBR,
		     BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0xe8, 0x00, 0x01, 0x00, 0x00, 0xeb, 0xf9));
	/* nop5; 5: dec %edi; jne 5; ret */
	expect_entry(-ENOTSUP, 0, 0,
		     BYTES(0x0f, 0x1f, 0x44, 0x00, 0x00, 0xff, 0xcf, 0x75, 0xfc, 0xc3));
}

static int exits_of(const uint8_t *bytes, size_t len, uint32_t *out, int max)
{
	char why[128];
	int n = insn_find_ends(EM_X86_64, bytes, len, out, max, NULL, NULL, why, sizeof(why));

	assert_int_equal(n < 0, why[0] != 0);
	return n;
}

static void test_exits(void **state)
{
	uint32_t out[4];

	assert_int_equal(exits_of(BYTES(0xc3), out, 4), 1);
	assert_int_equal(out[0], 0);
	/* test; je 6; xor; ret; 6: ret */
	assert_int_equal(exits_of(BYTES(0x85, 0xff, 0x74, 0x03, 0x31, 0xc0, 0xc3, 0xc3), out, 4),
			 2);
	assert_int_equal(out[0], 6);
	assert_int_equal(out[1], 7);
	/* Exits that do not fit in the array are counted. */
	assert_int_equal(exits_of(BYTES(0x74, 0x02, 0x74, 0x01, 0xc3, 0xc3), out, 1), 2);
	/* ret $8, rep ret */
	assert_int_equal(exits_of(BYTES(0x74, 0x03, 0xc2, 0x08, 0x00, 0xf3, 0xc3), out, 4), 2);
	assert_int_equal(out[1], 5);
	/* je over a lock prefix, an old idiom. */
	assert_int_equal(exits_of(BYTES(0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x17, 0xc3), out, 4), 1);
	/* Padding after the ret. */
	assert_int_equal(exits_of(BYTES(0xc3, 0x0f, 0x1f, 0x40, 0x00), out, 4), 1);
}

static void test_exits_unknown(void **state)
{
	uint32_t out[4];

	/*
	 * The function is left by a tail jump in four ways: at its end, to before its start,
	 * conditionally, and through a register.
	 */
	assert_int_equal(exits_of(BYTES(0x31, 0xff, 0xe9, 0x00, 0x10, 0x00, 0x00), out, 4),
			 -ENOTSUP);
	assert_int_equal(exits_of(BYTES(0xe9, 0xf0, 0xff, 0xff, 0xff, 0xc3), out, 4), -ENOTSUP);
	assert_int_equal(exits_of(BYTES(0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xc3), out, 4),
			 -ENOTSUP);
	assert_int_equal(exits_of(BYTES(0xff, 0xe0, 0xc3), out, 4), -ENOTSUP);
	/* A jump to the byte after the end. */
	assert_int_equal(exits_of(BYTES(0x74, 0x01, 0xc3), out, 4), -ENOTSUP);
	/* Some bytes cannot be decoded, or an instruction is cut off. */
	assert_int_equal(exits_of(BYTES(0xc3, 0x06), out, 4), -ENOTSUP);
	assert_int_equal(exits_of(BYTES(0xc3, 0xe8, 0x00), out, 4), -ENOTSUP);
	/* A jump into the middle of an instruction. */
	assert_int_equal(exits_of(BYTES(0x74, 0x01, 0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3), out, 4),
			 -ENOTSUP);
	/* Execution continues after the end. */
	assert_int_equal(exits_of(BYTES(0x74, 0x01, 0xc3, 0x31, 0xc0), out, 4), -ENOTSUP);
	/* An endless loop; a call that does not return. */
	assert_int_equal(exits_of(BYTES(0xeb, 0xfe), out, 4), -ENOENT);
	assert_int_equal(exits_of(BYTES(0xe8, 0x00, 0x10, 0x00, 0x00), out, 4), -ENOENT);
	assert_int_equal(exits_of(NULL, 0, out, 4), -ENOTSUP);
}

static void test_arm64(void **state)
{
	/* The code, as little-endian words: cbz x0, +8; ret; nop; ret. */
	static const uint32_t body[] = { 0xb4000040, 0xd65f03c0, 0xd503201f, 0xd65f03c0 };
	static const uint32_t tail[] = { 0xd503201f, 0x14001000 };
	static const uint32_t stp = 0xa9bf7bfd, brk = 0xd4200000;
	struct insn_entry e;
	struct insn in;
	uint32_t out[4];
	char why[128];

	assert_int_equal(insn_find_ends(EM_AARCH64, (const uint8_t *)body, sizeof(body), out, 4,
					NULL, NULL, why, sizeof(why)),
			 2);
	assert_int_equal(out[0], 4);
	assert_int_equal(out[1], 12);
	assert_int_equal(insn_find_ends(EM_AARCH64, (const uint8_t *)tail, sizeof(tail), out, 4,
					NULL, NULL, why, sizeof(why)),
			 -ENOTSUP);
	insn_decode(EM_AARCH64, (const uint8_t *)&stp, 4, &in);
	assert_fields(&in, IS(class, INSN_STEPPED), IS(length, 4));
	insn_decode(EM_AARCH64, (const uint8_t *)&brk, 4, &in);
	assert_int_equal(in.class, INSN_REFUSED);
	insn_decode(EM_AARCH64, (const uint8_t *)&stp, 3, &in);
	assert_int_equal(in.class, INSN_UNKNOWN);
	assert_int_equal(insn_choose_entry(EM_AARCH64, (const uint8_t *)&stp, 4, &e), 0);
	assert_int_equal(e.skip, 0);
}

/* --- against objdump -------------------------------------------------------------------------- */

struct listing {
	uint64_t rets[256];
	int nrets;
	/* a jump to another function or through a register, or code that the parser cannot read */
	bool leaves;
};

/* Read objdump's listing of [start, start + size). */
static void listing_read(const struct fixture *f, const char *file, uint64_t start, uint64_t size,
			 struct listing *l)
{
	char command[512], line[512], *op;
	uint64_t at, to;
	FILE *pipe;

	memset(l, 0, sizeof(*l));
	snprintf(command, sizeof(command),
		 "cd %s && objdump -d --no-show-raw-insn --start-address=%#llx "
		 "--stop-address=%#llx %s",
		 f->dir, (unsigned long long)start, (unsigned long long)(start + size), file);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		op = strchr(line, '\t');
		if (!op || sscanf(line, " %lx:", &at) != 1)
			continue;
		op++;
		if (!strncmp(op, "bnd ", 4) || !strncmp(op, "rep ", 4))
			op += 4;
		else if (!strncmp(op, "repz ", 5))
			op += 5;
		if (!strncmp(op, "ret", 3) && l->nrets < 256) {
			l->rets[l->nrets++] = at;
		} else if (op[0] == 'j' || !strncmp(op, "notrack jmp", 11)) {
			op += strcspn(op, " \t");
			if (strchr(op, '*') || sscanf(op, " %lx", &to) != 1 || to < start ||
			    to >= start + size)
				l->leaves = true;
		} else if (strstr(op, "(bad)")) {
			l->leaves = true;
		}
	}
	pclose(pipe);
}

/* Check that the product and objdump agree about one function. Return 1 if its exits are known. */
static int compare_exits(const struct fixture *f, const struct elf_file *elf, const char *file,
			 const char *name)
{
	struct elf_symbol sym;
	const uint8_t *bytes;
	uint32_t out[256];
	struct listing l;
	char why[128];
	size_t len;
	int n;

	if (elf_find_function(elf, name, &sym, 1) != 1 || !sym.size)
		return 0;
	len = elf_bytes(elf, sym.offset, sym.size, &bytes);
	assert_int_equal(len, sym.size);
	n = insn_find_ends(EM_X86_64, bytes, len, out, 256, NULL, NULL, why, sizeof(why));
	listing_read(f, file, sym.vaddr, sym.size, &l);
	if (n == -ENOTSUP) {
		if (!l.leaves && !strstr(why, "past its end"))
			fail_msg("%s: %s, and objdump sees nothing of it", name, why);
		return 0;
	}
	if (l.leaves)
		fail_msg("%s: objdump sees it left by a jump", name);
	if (n == -ENOENT)
		n = 0;
	if (n != l.nrets)
		fail_msg("%s: %d exits, objdump has %d", name, n, l.nrets);
	for (int i = 0; i < n; i++)
		assert_int_equal(sym.vaddr + out[i], l.rets[i]);
	return 1;
}

static const char exits_source[] =
	"#include <stdlib.h>\n#include <string.h>\n"
	"extern int other(int);\n"
	"int one(int x) { return x * 3; }\n"
	"int many(int x) { if (x == 1) return other(1) + 1; if (x == 2) return other(2) * 7;\n"
	"  while (x > 9) { x -= other(x); if (x == 77) return 4; } return other(x) - 1; }\n"
	"int tail(int x) { return other(x + 1); }\n"
	"void never(void) { for (;;) other(0); }\n"
	"void dies(int x) { other(x); abort(); }\n"
	"int sw(int x, int y) { switch (x) { case 0: return y; case 1: return y * 3; case 2: "
	"return y / 5;\n"
	"  case 3: return other(y) + 1; case 4: return y ^ 99; case 5: return y - 7; } return 0; "
	"}\n"
	"int leaf(const char *s) { int n = 0; while (*s) n += *s++; return n; }\n";

static void test_exits_compiled(void **state)
{
	static const char *const names[] = { "one", "many", "tail", "never", "dies", "sw", "leaf" };
	static const char *const flags[] = { "-O0", "-O2", "-O2 -fcf-protection=full", "-O3" };
	const struct fixture *f = *state;
	struct elf_file *elf;
	int known = 0, fd;

	fixture_write(f, "exits.c", exits_source);
	for (size_t k = 0; k < 4; k++) {
		fixture_run(f, "cc %s -shared -fPIC -o exits.so exits.c", flags[k]);
		fd = fixture_open(f, "exits.so");
		assert_int_equal(fixture_elf(fd, &elf), 0);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			known += compare_exits(f, elf, "exits.so", names[i]);
		elf_close(elf);
		close(fd);
	}
	/* All exits are known except those of the tail call and, in some builds, of the switch. */
	assert_true(known >= 20);
}

static void test_exits_libc(void **state)
{
	static const char *const names[] = { "pthread_barrier_wait",
					     "pthread_mutex_lock",
					     "malloc",
					     "free",
					     "printf",
					     "abort",
					     "qsort",
					     "getenv",
					     "fopen",
					     "pthread_create",
					     "sem_wait" };
	const char *libc = "/lib/x86_64-linux-gnu/libc.so.6";
	const struct fixture *f = *state;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	int known = 0, fd CLEANUP_PTR(close);

	if (access(libc, R_OK))
		skip();
	fd = fixture_open(f, libc);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		known += compare_exits(f, elf, libc, names[i]);
	assert_true(known >= 3);
}

/*
 * An assembler is the independent reference for lengths: each instruction begins where its
 * predecessor ended.
 */
static void test_lengths_compiled(void **state)
{
	const struct fixture *f = *state;
	uint64_t at, next = 0;
	struct elf_symbol sym;
	const uint8_t *bytes;
	struct elf_file *elf;
	char line[512];
	struct insn in;
	FILE *pipe;
	int fd, seen = 0;

	fixture_write(f, "len.c", exits_source);
	fixture_run(f, "cc -O2 -shared -fPIC -o len.so len.c");
	fd = fixture_open(f, "len.so");
	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_int_equal(elf_find_function(elf, "many", &sym, 1), 1);
	assert_true(elf_bytes(elf, sym.offset, sym.size, &bytes) == sym.size);
	snprintf(line, sizeof(line),
		 "cd %s && objdump -d --no-show-raw-insn --disassemble=many len.so", f->dir);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (!strchr(line, '\t') || sscanf(line, " %lx:", &at) != 1 || at < sym.vaddr ||
		    at >= sym.vaddr + sym.size)
			continue;
		if (seen++)
			assert_int_equal(at, next);
		insn_decode(EM_X86_64, bytes + (at - sym.vaddr), sym.size - (at - sym.vaddr), &in);
		assert_true(in.length);
		next = at + in.length;
	}
	pclose(pipe);
	assert_true(seen > 20);
	elf_close(elf);
	close(fd);
}

/* For any bytes there is no crash, and no access outside of the bytes. */
static void test_any_bytes(void **state)
{
	uint8_t bytes[48];
	struct insn_entry e;
	uint32_t out[4];
	char why[64];
	unsigned int seed = 1;
	size_t len;
	int n;

	for (unsigned i = 0; i < 20000; i++) {
		for (unsigned k = 0; k < sizeof(bytes); k++) {
			seed = seed * 1103515245 + 12345;
			bytes[k] = (uint8_t)(seed >> 16);
		}
		len = 1 + seed % sizeof(bytes);
		n = insn_choose_entry(i % 8 ? EM_X86_64 : EM_AARCH64, bytes, len, &e);
		assert_true(n || e.skip + e.insn.length <= len);
		n = insn_choose_late(i % 8 ? EM_X86_64 : EM_AARCH64, bytes, len, &e);
		assert_true(n || e.skip + e.insn.length <= len);
		insn_find_ends(i % 8 ? EM_X86_64 : EM_AARCH64, bytes, len, out, 4, NULL, NULL, why,
			       sizeof(why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emulated),      cmocka_unit_test(test_stepped),
		cmocka_unit_test(test_special),	      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_undecodable),   cmocka_unit_test(test_text),
		cmocka_unit_test(test_entry),	      cmocka_unit_test(test_entry_late),
		cmocka_unit_test(test_entry_refused), cmocka_unit_test(test_entry_loop),
		cmocka_unit_test(test_exits),	      cmocka_unit_test(test_exits_unknown),
		cmocka_unit_test(test_arm64),	      cmocka_unit_test(test_exits_compiled),
		cmocka_unit_test(test_exits_libc),    cmocka_unit_test(test_lengths_compiled),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
