// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <elf.h>
#include <errno.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "elf/sdt.h"

DEFINE_CLEANUP_PTR(elf_close, struct elf_file *)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct elf_file *open_elf(const struct fixture *f, const char *name)
{
	struct elf_file *elf;
	int fd = fixture_open(f, name);

	assert_int_equal(fixture_elf(fd, &elf), 0);
	close(fd);
	return elf;
}

/* --- compilers ----------------------------------------------------------------------------- */

/*
 * The program of E. Novillo's thesis (University of Alberta, 2002) is built with every installed
 * compiler.
 */
static const char *const compilers[] = {
	"gcc -std=gnu11 -O0",
	"gcc -std=gnu11 -O2",
	"gcc -std=gnu99 -O3 -flto",
	"gcc -std=c11 -D_POSIX_C_SOURCE=200809L -Os -no-pie",
	"gcc -std=gnu11 -O2 -masm=intel",
	"gcc -std=gnu11 -O1 -static",
	"g++ -std=c++11 -O0 -x c++",
	"g++ -std=gnu++20 -O2 -x c++",
	"clang -std=gnu11 -O0",
	"clang -std=c99 -D_XOPEN_SOURCE=700 -O2",
	"clang++ -std=c++11 -O0 -x c++",
	"clang++ -std=gnu++20 -O2 -x c++",
	"musl-gcc -std=gnu11 -O2",
	"aarch64-linux-gnu-gcc -std=gnu11 -O0",
	"aarch64-linux-gnu-gcc -std=gnu11 -O2",
};

static bool compiler_is_here(const struct fixture *f, const char *command)
{
	char name[64];

	assert_int_equal(sscanf(command, "%63s", name), 1);
	return fixture_has(f, name);
}

/*
 * Compile @from, which is in the fixture's directory, or in the source tree if it begins with
 * "$SOURCE/".
 */
static void compile(const struct fixture *f, const char *command, const char *more,
		    const char *from, const char *to)
{
	/* Two statements in the thesis's figures have no effect, so -Wno-unused-value is needed. */
	fixture_run(f,
		    "%s %s -pedantic -Wall -Wextra -Werror -Wno-unused-value -pthread "
		    "-I$SOURCE/include/sbt %s -o %s",
		    command, more, from, to);
}

/*
 * Check the sizes of a marker's arguments. In @sizes, a negative size stands for a signed argument.
 * The compiler chooses the locations of the arguments.
 */
static void expect_args(const struct sdt_note *note, const int8_t *sizes, uint32_t n)
{
	assert_int_equal(note->n_args, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_fields(note, IS(args[i].size, abs(sizes[i])),
			      IS(args[i].is_signed, sizes[i] < 0));
		assert_int_not_equal(note->args[i].kind, SDT_UNKNOWN);
	}
}

static void expect_marker(const struct sdt_note *note)
{
	static const int8_t enter[] = { 8, -4, 8, -4, 8, -4, -4 };
	static const int8_t leave[] = { 8 };
	static const int8_t init[] = { -4, 8, 8, -4 };

	assert_fields(note, TEXT(provider, "sbt"), IS(semaphore, 0));
	if (!strcmp(note->name, "enter")) {
		expect_args(note, enter, ARRAY_SIZE(enter));
		assert_int_equal(note->args[6].kind, SDT_MEM);
	} else if (!strcmp(note->name, "leave")) {
		expect_args(note, leave, ARRAY_SIZE(leave));
	} else if (!strcmp(note->name, "init")) {
		expect_args(note, init, ARRAY_SIZE(init));
	} else {
		assert_fields(note, TEXT(name, "finalize"), IS(n_args, 0));
	}
}

static void expect_nop(struct elf_file *elf, const struct sdt_note *note)
{
	static const uint8_t x86[] = { 0x90 }, arm[] = { 0x1f, 0x20, 0x03, 0xd5 };
	bool is_x86 = elf_machine(elf) == EM_X86_64;
	size_t len = is_x86 ? sizeof(x86) : sizeof(arm);
	const uint8_t *bytes;

	assert_int_equal(elf_bytes(elf, note->offset, len, &bytes), len);
	assert_memory_equal(bytes, is_x86 ? x86 : arm, len);
}

/* Compare the list with the output of readelf, one line "NAME LOCATION ARGUMENTS" each. */
static void expect_as_readelf(const struct fixture *f, const char *name,
			      const struct sdt_list *list)
{
	char theirs[8192], ours[8192];
	size_t n = 0;

	fixture_output(f, theirs, sizeof(theirs),
		       "readelf -nW %s | awk '$1 == \"Name:\" { name = $2 } $1 == \"Location:\" { "
		       "gsub(\",\", \"\"); at = $2 } $1 == \"Arguments:\" { sub(\".*Arguments: "
		       "*\", \"\"); print name, at, $0 }'",
		       name);
	for (size_t i = 0; i < list->n; i++)
		n += (size_t)snprintf(ours + n, sizeof(ours) - n, "%s 0x%016llx %s\n",
				      list->notes[i].name, (unsigned long long)list->notes[i].vaddr,
				      list->notes[i].text);
	assert_true(n > 0 && n < sizeof(ours));
	assert_string_equal(ours, theirs);
}

static size_t count(const struct sdt_list *list, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += !strcmp(list->notes[i].name, name);
	return n;
}

static void expect_thesis(const struct fixture *f, const char *name)
{
	struct elf_file *elf CLEANUP_PTR(elf_close) = open_elf(f, name);
	struct sdt_list list CLEANUP(sdt_free);

	assert_int_equal(sdt_read(elf, "sbt", &list), 0);
	assert_int_equal(list.malformed + list.elsewhere + list.beyond, 0);
	expect_as_readelf(f, name, &list);
	for (size_t i = 0; i < list.n; i++) {
		expect_marker(&list.notes[i]);
		expect_nop(elf, &list.notes[i]);
	}
	assert_int_equal(count(&list, "enter"), 1);
	assert_int_equal(count(&list, "leave"), 1);
	assert_true(count(&list, "init") > 0 && count(&list, "finalize") > 0);
}

static void test_compiled(void **state)
{
	const struct fixture *f = *state;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		if (!compiler_is_here(f, compilers[i]))
			continue;
		compile(f, compilers[i], "", "$SOURCE/tests/workloads/thesis/pmm.c", "pmm");
		expect_thesis(f, "pmm");
		n++;
	}
	assert_true(n > 0);
}

/* With markers switched off, no marker remains in the program. Only the barrier itself runs. */
static void test_off(void **state)
{
	const struct fixture *f = *state;
	struct sdt_list list;
	struct elf_file *elf;

	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		if (!compiler_is_here(f, compilers[i]))
			continue;
		compile(f, compilers[i], "-DSBT_OFF", "$SOURCE/tests/workloads/thesis/pmm.c",
			"off");
		elf = open_elf(f, "off");
		assert_int_equal(sdt_read(elf, "sbt", &list), 0);
		assert_int_equal(list.n + list.malformed + list.elsewhere, 0);
		sdt_free(&list);
		elf_close(elf);
	}
}

/* --- the state when a marker is hit ----------------------------------------------------------- */

#ifdef __x86_64__

static const char run_source[] =
	"#define SBT_BARRIER b\n#define SBT_THREADID 5\n#include <pthread.h>\n#include \"sbt.h\"\n"
	"sbt_barrier_t *SBT_BARRIER;\n"
	"int main(int argc, char **argv) {\n"
	"  SBT_BARRIER = sbt_init(1, argc, argv);\n"
	"  SBT_THREAD(-7); SBT_PHASE(\"read\");\n"
	"  sbt_barrier(SBT_BARRIER, SBT_THREADID, \"f.c\", 77, \"late\", 1);\n"
	"  SBT_PHASE_BEGIN(\"solve\"); sbt_barrier(SBT_BARRIER, -1, \"g.c\", 78, NULL, 0);\n"
	"  SBT_PHASE_END(\"solve\"); sbt_finalize(); return argc; }\n";

/* The program's markers, in order. %d is argc, strings are text, and "-" stands for no string. */
static const char run_expected[] = "init argc=3 [SBT_WATCH] count=1\n"
				   "thread -7\n"
				   "phase read kind=0\n"
				   "enter thread=5 f.c:77 late loop=1 count=1 same\n"
				   "leave same\n"
				   "phase solve kind=1\n"
				   "enter thread=-1 g.c:78 - loop=0 count=1 same\n"
				   "leave same\n"
				   "phase solve kind=2\n"
				   "finalize\n";

struct run {
	pid_t pid;
	uint64_t moved; /* load bias: the offset from linked addresses */
	const struct sdt_note *note; /* the note of the marker that was hit */
	struct user_regs_struct regs;
	uint64_t object;
	size_t n;
	char log[4096];
};

static uint64_t peek(const struct run *r, uint64_t address)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, r->pid, (void *)address, NULL);
	assert_int_equal(errno, 0);
	return (uint64_t)word;
}

static void poke(const struct run *r, uint64_t address, uint8_t byte)
{
	uint64_t word = (peek(r, address) & ~(uint64_t)0xff) | byte;

	assert_int_equal(ptrace(PTRACE_POKETEXT, r->pid, (void *)address, (void *)word), 0);
}

/* The first words of ptrace's registers are laid out like the kernel's struct pt_regs. */
static uint64_t reg(const struct run *r, int16_t offset)
{
	uint64_t value = 0;

	assert_true(offset < (int)(21 * sizeof(value)));
	if (offset >= 0)
		memcpy(&value, (const char *)&r->regs + offset, sizeof(value));
	return value;
}

static int register_of(uint16_t offset)
{
	return offset == SBT_ARG_NO_REG ? -1 : offset;
}

static int64_t value_of(const struct run *r, uint32_t i)
{
	struct sbt_arg o;
	uint64_t value;
	int unused;

	assert_int_equal(sdt_probe_arg(EM_X86_64, r->note, i, &o), 0);
	value = o.how == SBT_ARG_CONST ? 0 : reg(r, register_of(o.reg));
	if (o.how == SBT_ARG_MEM)
		value = peek(r, value + reg(r, register_of(o.index)) * o.scale + (uint64_t)o.disp);
	else
		value += (uint64_t)o.disp;
	unused = 64 - 8 * o.size;
	value <<= unused;
	return (o.flags & SBT_ARG_SIGNED) ? (int64_t)value >> unused : (int64_t)(value >> unused);
}

static const char *string_at(const struct run *r, uint64_t address, char *buf, size_t size)
{
	size_t i;

	if (!address)
		return "-";
	for (i = 0; i < size - 1; i++) {
		buf[i] = (char)peek(r, address + i);
		if (!buf[i])
			break;
	}
	buf[i] = 0;
	return buf;
}

#define string_of(r, i, buf) string_at(r, (uint64_t)value_of(r, i), buf, sizeof(buf))
#define say(r, ...) \
	((r)->n += (size_t)snprintf((r)->log + (r)->n, sizeof((r)->log) - (r)->n, __VA_ARGS__))

static void say_enter(struct run *r)
{
	char file[32], name[32];

	say(r, "enter thread=%d %s:%d %s loop=%d count=%d %s\n", (int)value_of(r, 1),
	    string_of(r, 2, file), (int)value_of(r, 3), string_of(r, 4, name), (int)value_of(r, 5),
	    (int)value_of(r, 6), (uint64_t)value_of(r, 0) == r->object ? "same" : "other");
}

static void say_hit(struct run *r)
{
	const char *name = r->note->name;
	char buf[32];

	if (!strcmp(name, "enter")) {
		say_enter(r);
	} else if (!strcmp(name, "leave")) {
		say(r, "leave %s\n", (uint64_t)value_of(r, 0) == r->object ? "same" : "other");
	} else if (!strcmp(name, "init")) {
		r->object = (uint64_t)value_of(r, 2);
		say(r, "init argc=%d [%s] count=%d\n", (int)value_of(r, 0),
		    string_at(r, peek(r, (uint64_t)value_of(r, 1) + 8), buf, sizeof(buf)),
		    (int)value_of(r, 3));
	} else if (!strcmp(name, "phase")) {
		say(r, "phase %s kind=%d\n", string_of(r, 0, buf), (int)value_of(r, 3));
		assert_says(string_of(r, 1, buf), ".c");
		assert_in_range(value_of(r, 2), 8, 11);
	} else if (!strcmp(name, "thread")) {
		say(r, "thread %d\n", (int)value_of(r, 0));
	} else {
		say(r, "%s\n", name);
	}
}

static pid_t start(const struct fixture *f)
{
	char path[256];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/run", f->dir);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (personality(ADDR_NO_RANDOMIZE) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(99);
		execl(path, path, "SBT_WATCH", "me", (char *)NULL);
		_exit(98);
	}
	return pid;
}

/* Return the load bias: the address of the entry point in memory, less its address in the file. */
static uint64_t moved_by(pid_t pid, const struct fixture *f)
{
	char path[64];
	uint64_t aux[2], entry = 0;
	Elf64_Ehdr ehdr;
	FILE *file;
	int fd = fixture_open(f, "run");

	assert_int_equal(pread(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fread(aux, sizeof(aux), 1, file) == 1)
		if (aux[0] == AT_ENTRY)
			entry = aux[1];
	fclose(file);
	assert_true(entry);
	return entry - ehdr.e_entry;
}

static const struct sdt_note *note_at(const struct sdt_list *list, uint64_t vaddr)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->notes[i].vaddr == vaddr)
			return &list->notes[i];
	return NULL;
}

/*
 * Run with breakpoints in place of the nops, which need not be restored to continue. Return the
 * exit status.
 */
static int run_through(struct run *r, const struct sdt_list *list)
{
	int status;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_CONT, r->pid, NULL, NULL), 0);
		assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		assert_int_equal(ptrace(PTRACE_GETREGS, r->pid, NULL, &r->regs), 0);
		/* A uprobe sees the address of its own instruction, not of the next. */
		r->regs.rip--;
		r->note = note_at(list, r->regs.rip - r->moved);
		assert_non_null(r->note);
		say_hit(r);
	}
}

static void run_traced(const struct fixture *f)
{
	struct elf_file *elf CLEANUP_PTR(elf_close) = open_elf(f, "run");
	struct run *r CLEANUP_PTR(free) = calloc(1, sizeof(*r));
	struct sdt_list list CLEANUP(sdt_free);
	int status;

	assert_non_null(r);
	assert_int_equal(sdt_read(elf, "sbt", &list), 0);
	r->pid = start(f);
	assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
	assert_true(WIFSTOPPED(status));
	r->moved = moved_by(r->pid, f);
	for (size_t i = 0; i < list.n; i++)
		poke(r, list.notes[i].vaddr + r->moved, 0xcc);
	assert_int_equal(run_through(r, &list), 3);
	assert_string_equal(r->log, run_expected);
}

static void test_run(void **state)
{
	const struct fixture *f = *state;

	fixture_write(f, "run.c", run_source);
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		if (!compiler_is_here(f, compilers[i]) || !strncmp(compilers[i], "aarch64", 7))
			continue;
		compile(f, compilers[i], "", "run.c", "run");
		run_traced(f);
	}
}

#else

static void test_run(void **state)
{
	skip();
}

#endif

/* --- arguments as text ------------------------------------------------------------------------ */

struct text_case {
	const char *text;
	struct sdt_arg arg; /* size 0: the argument is unknown */
};

#define NONE SDT_NO_REG

static const struct text_case x86_cases[] = {
	{ "-4@%edi", { SDT_REG, 4, true, 5, NONE, 1, 0 } },
	{ "8@%rax", { SDT_REG, 8, false, 0, NONE, 1, 0 } },
	{ "-1@%r15b", { SDT_REG, 1, true, 15, NONE, 1, 0 } },
	{ "2@%bp", { SDT_REG, 2, false, 6, NONE, 1, 0 } },
	{ "8@rsp", { SDT_REG, 8, false, 7, NONE, 1, 0 } },
	{ "%rdx", { SDT_REG, 8, false, 1, NONE, 1, 0 } },
	{ "8@-16(%rbp)", { SDT_MEM, 8, false, 6, NONE, 1, -16 } },
	{ "-4@32(rdi)", { SDT_MEM, 4, true, 5, NONE, 1, 32 } },
	{ "8@(%rsp)", { SDT_MEM, 8, false, 7, NONE, 1, 0 } },
	{ "8@8(%rax,%rcx,8)", { SDT_MEM, 8, false, 0, 2, 8, 8 } },
	{ "1@(,%rbx,4)", { SDT_MEM, 1, false, NONE, 3, 4, 0 } },
	{ "1@(%rbx,%r9)", { SDT_MEM, 1, false, 3, 9, 1, 0 } },
	{ "4@$3", { SDT_CONST, 4, false, NONE, NONE, 1, 3 } },
	{ "4@$-1", { SDT_CONST, 4, false, NONE, NONE, 1, 0xffffffff } },
	{ "-4@$-1", { SDT_CONST, 4, true, NONE, NONE, 1, -1 } },
	{ "-4@$4294967295", { SDT_CONST, 4, true, NONE, NONE, 1, -1 } },
	{ "8@$0x10", { SDT_CONST, 8, false, NONE, NONE, 1, 16 } },
	{ "-8@$-9223372036854775808", { SDT_CONST, 8, true, NONE, NONE, 1, INT64_MIN } },
	{ "-4@77", { SDT_CONST, 4, true, NONE, NONE, 1, 77 } },
	{ "4@known(%rip)", { SDT_STATIC, 4, false, NONE, NONE, 1, 0x4000 } },
	{ "4@known+8(%rip)", { SDT_STATIC, 4, false, NONE, NONE, 1, 0x4008 } },
	{ "4@16+known-4(%rip)", { SDT_STATIC, 4, false, NONE, NONE, 1, 0x400c } },
	{ "4@known", { SDT_STATIC, 4, false, NONE, NONE, 1, 0x4000 } },
	{ "4@stranger(%rip)", { 0 } },
	{ "4@known+known(%rip)", { 0 } },
	{ "4@known@GOTPCREL(%rip)", { 0 } },
	{ "8@%fs:16", { 0 } },
	{ "8f@%xmm0", { 0 } },
	{ "8@%xmm0", { 0 } },
	{ "1@%ah", { 0 } },
	{ "3@%eax", { 0 } },
	{ "16@%rax", { 0 } },
	{ "8@", { 0 } },
	{ "@", { 0 } },
	{ "-", { 0 } },
	{ "8@-", { 0 } },
	{ "8@$", { 0 } },
	{ "8@$5x", { 0 } },
	{ "8@$99999999999999999999", { 0 } },
	{ "8@$--1", { 0 } },
	{ "8@(%rax", { 0 } },
	{ "8@(%eax)", { 0 } },
	{ "8@(%rax,%rcx,3)", { 0 } },
	{ "8@(%rax)(%rcx)", { 0 } },
	{ "8@(%rax)x", { 0 } },
	{ "8@*%rax", { 0 } },
	{ "8@[rbp-8]", { 0 } },
};

static const struct text_case arm_cases[] = {
	{ "8@x0", { SDT_REG, 8, false, 0, NONE, 1, 0 } },
	{ "-4@w30", { SDT_REG, 4, true, 30, NONE, 1, 0 } },
	{ "8@sp", { SDT_REG, 8, false, 31, NONE, 1, 0 } },
	{ "-4@wzr", { SDT_CONST, 4, true, NONE, NONE, 1, 0 } },
	{ "8@[sp, 16]", { SDT_MEM, 8, false, 31, NONE, 1, 16 } },
	{ "8@[sp,#-16]", { SDT_MEM, 8, false, 31, NONE, 1, -16 } },
	{ "8@[x29]", { SDT_MEM, 8, false, 29, NONE, 1, 0 } },
	{ "8@[x1, x2]", { SDT_MEM, 8, false, 1, 2, 1, 0 } },
	{ "8@[x1, x2, lsl 3]", { SDT_MEM, 8, false, 1, 2, 8, 0 } },
	{ "-4@-5", { SDT_CONST, 4, true, NONE, NONE, 1, -5 } },
	{ "-4@#2", { SDT_CONST, 4, true, NONE, NONE, 1, 2 } },
	{ "8@x31", { 0 } },
	{ "8@x1x", { 0 } },
	{ "8@d0", { 0 } },
	{ "8@[w1]", { 0 } },
	{ "8@[x1, w2]", { 0 } },
	{ "8@[x1, xzr]", { 0 } },
	{ "8@[x1, sp]", { 0 } },
	{ "8@[x1, x2, lsl 9]", { 0 } },
	{ "8@[x1, x2, sxtw 2]", { 0 } },
	{ "8@[x1", { 0 } },
	{ "8@[x1]!", { 0 } },
	{ "8@[]", { 0 } },
	{ "8@$3", { 0 } },
};

static int resolve_known(const char *name, uint64_t *vaddr, void *ctx)
{
	if (strcmp(name, "known") != 0)
		return -ENOENT;
	*vaddr = 0x4000;
	return 0;
}

static void expect_arg(const struct sdt_arg *got, const struct sdt_arg *want, const char *text)
{
	if (got->kind != want->kind)
		print_error("%s: kind %d\n", text, got->kind);
	assert_int_equal(got->kind, want->kind);
	if (want->kind == SDT_UNKNOWN)
		return;
	assert_fields(got, IS(size, want->size), IS(is_signed, want->is_signed), IS(reg, want->reg),
		      IS(index, want->index), IS(scale, want->scale), IS(value, want->value));
}

static void expect_texts(uint16_t machine, const struct text_case *cases, size_t n)
{
	struct sdt_arg arg;

	for (size_t i = 0; i < n; i++) {
		if (sdt_parse_args(machine, cases[i].text, resolve_known, NULL, &arg, 1) != 1)
			fail_msg("%s: not one argument", cases[i].text);
		expect_arg(&arg, &cases[i].arg, cases[i].text);
	}
}

static void test_texts(void **state)
{
	struct sdt_arg arg;

	expect_texts(EM_X86_64, x86_cases, ARRAY_SIZE(x86_cases));
	expect_texts(EM_AARCH64, arm_cases, ARRAY_SIZE(arm_cases));
	/* Parse without a symbol resolver, and for unknown machines. */
	assert_int_equal(sdt_parse_args(EM_X86_64, "4@known(%rip)", NULL, NULL, &arg, 1), 1);
	assert_int_equal(arg.kind, SDT_UNKNOWN);
	assert_int_equal(sdt_parse_args(EM_RISCV, "8@a0", NULL, NULL, &arg, 1), 1);
	assert_int_equal(arg.kind, SDT_UNKNOWN);
}

/* Parse every register by each of its names, in the order of DWARF in the ABI. */
static void test_registers(void **state)
{
	static const char *const names[16][4] = {
		{ "rax", "eax", "ax", "al" },	   { "rdx", "edx", "dx", "dl" },
		{ "rcx", "ecx", "cx", "cl" },	   { "rbx", "ebx", "bx", "bl" },
		{ "rsi", "esi", "si", "sil" },	   { "rdi", "edi", "di", "dil" },
		{ "rbp", "ebp", "bp", "bpl" },	   { "rsp", "esp", "sp", "spl" },
		{ "r8", "r8d", "r8w", "r8b" },	   { "r9", "r9d", "r9w", "r9b" },
		{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
		{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
		{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
	};
	struct sdt_arg arg;
	char text[32];

	for (int i = 0; i < 16; i++) {
		for (int j = 0; j < 4; j++) {
			snprintf(text, sizeof(text), "%d@%%%s", 8 >> j, names[i][j]);
			assert_int_equal(sdt_parse_args(EM_X86_64, text, NULL, NULL, &arg, 1), 1);
			assert_fields(&arg, IS(kind, SDT_REG), IS(reg, i), IS(size, 8 >> j));
		}
	}
	for (int i = 0; i < 31; i++) {
		snprintf(text, sizeof(text), "8@[x%d]", i);
		assert_int_equal(sdt_parse_args(EM_AARCH64, text, NULL, NULL, &arg, 1), 1);
		assert_fields(&arg, IS(kind, SDT_MEM), IS(reg, i));
	}
}

#ifdef __x86_64__
static void test_offsets(void **state)
{
#define AT(r) ((int)offsetof(struct user_regs_struct, r))
	static const int at[16] = { AT(rax), AT(rdx), AT(rcx), AT(rbx), AT(rsi), AT(rdi),
				    AT(rbp), AT(rsp), AT(r8),  AT(r9),	AT(r10), AT(r11),
				    AT(r12), AT(r13), AT(r14), AT(r15) };
#undef AT

	for (int i = 0; i < 16; i++)
		assert_int_equal(sdt_regs_offset(EM_X86_64, i), at[i]);
	assert_int_equal(sdt_regs_offset(EM_X86_64, 16), -1);
	assert_int_equal(sdt_regs_offset(EM_X86_64, SDT_NO_REG), -1);
	assert_int_equal(sdt_regs_offset(EM_AARCH64, 31), 248);
	assert_int_equal(sdt_regs_offset(EM_AARCH64, 32), -1);
	assert_int_equal(sdt_regs_offset(EM_RISCV, 0), -1);
}
#endif

static void test_several(void **state)
{
	struct sdt_arg args[3];
	char *many CLEANUP_PTR(free) = malloc(200001);

	assert_int_equal(sdt_parse_args(EM_X86_64, "", NULL, NULL, args, 3), 0);
	assert_int_equal(sdt_parse_args(EM_X86_64, "  ", NULL, NULL, args, 3), 0);
	assert_int_equal(sdt_parse_args(EM_X86_64, " 8@%rdi\t-4@$5  junk ", NULL, NULL, args, 3),
			 3);
	assert_int_equal(args[0].kind, SDT_REG);
	assert_int_equal(args[1].kind, SDT_CONST);
	assert_int_equal(args[2].kind, SDT_UNKNOWN);
	assert_int_equal(sdt_parse_args(EM_AARCH64, "8@[x1, 8] -4@w2", NULL, NULL, args, 3), 2);
	assert_int_equal(args[1].reg, 2);
	/* Arguments that do not fit are counted. Arguments that are too long are unknown. */
	assert_non_null(many);
	for (size_t i = 0; i < 100000; i++)
		memcpy(many + 2 * i, "x ", 2);
	many[200000] = 0;
	assert_int_equal(sdt_parse_args(EM_X86_64, many, NULL, NULL, args, 3), 100000);
	memset(many, '(', 200000);
	assert_int_equal(sdt_parse_args(EM_X86_64, many, NULL, NULL, args, 3), 1);
	assert_int_equal(args[0].kind, SDT_UNKNOWN);
}

static void test_operand(void **state)
{
	struct sdt_note note = { .vaddr = 0x5000, .n_args = 40 };
	struct sbt_arg o;

	assert_int_equal(sizeof(o), 16);
	note.args[0] = (struct sdt_arg){ SDT_MEM, 4, true, 7, 15, 2, -8 };
	assert_int_equal(sdt_probe_arg(EM_X86_64, &note, 0, &o), 0);
	assert_fields(&o, IS(how, SBT_ARG_MEM), IS(size, 4), IS(flags, SBT_ARG_SIGNED),
		      IS(scale, 2), IS(reg, 8 * 19), IS(index, 0), IS(disp, -8));
	/*
	 * A variable has the same distance from the probe as in the file, wherever the file is
	 * mapped.
	 */
	note.args[0] = (struct sdt_arg){ SDT_STATIC, 8, false, NONE, NONE, 1, 0x4000 };
	assert_int_equal(sdt_probe_arg(EM_X86_64, &note, 0, &o), 0);
	assert_fields(&o, IS(how, SBT_ARG_MEM), IS(reg, 8 * 16), IS(index, SBT_ARG_NO_REG),
		      IS(disp, -0x1000));
	note.args[0] = (struct sdt_arg){ SDT_REG, 8, false, 31, NONE, 1, 0 };
	assert_int_equal(sdt_probe_arg(EM_AARCH64, &note, 0, &o), 0);
	assert_int_equal(o.reg, 31 * 8);
	/*
	 * The conversion fails if the register or the argument does not exist, if a value has no
	 * room, or if nothing is known.
	 */
	assert_int_equal(sdt_probe_arg(EM_X86_64, &note, 0, &o), -ENOENT);
	assert_int_equal(o.how, SBT_ARG_NONE);
	assert_int_equal(sdt_probe_arg(EM_X86_64, &note, 1, &o), -ENOENT);
	assert_int_equal(sdt_probe_arg(EM_X86_64, &note, 39, &o), -ENOENT);
	assert_int_equal(sdt_probe_arg(EM_X86_64, &note, 40, &o), -ENOENT);
}

/* --- constructed files --------------------------------------------------------------------- */

#define CODE_VADDR 0x401000ULL
#define CODE_SIZE  0x100
#define BASE_VADDR 0x402000ULL
#define NOTES_AT   0x400

struct made {
	uint8_t *bytes; /* bytes of the notes */
	size_t len;
	size_t room;
};

static void add(struct made *m, const void *bytes, size_t len)
{
	if (m->len + len + 4 > m->room) {
		m->room = 2 * (m->len + len + 4);
		m->bytes = realloc(m->bytes, m->room);
		assert_non_null(m->bytes);
	}
	if (len)
		memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
	while (m->len & 3)
		m->bytes[m->len++] = 0;
}

static void add_header(struct made *m, uint32_t namesz, uint32_t descsz, uint32_t type)
{
	const Elf64_Nhdr note = { namesz, descsz, type };

	add(m, &note, sizeof(note));
}

/* Add a note. @strings holds all three strings, with the zeros between them. */
static void add_note(struct made *m, uint64_t pc, uint64_t base, uint64_t semaphore,
		     const char *strings, size_t len)
{
	const uint64_t addresses[3] = { pc, base, semaphore };

	add_header(m, 8, (uint32_t)(sizeof(addresses) + len), 3);
	add(m, "stapsdt", 8);
	add(m, addresses, sizeof(addresses));
	add(m, strings, len);
}

#define GOOD "sbt\0enter\0008@%rdi -4@%esi"

static void add_good(struct made *m, uint64_t pc)
{
	add_note(m, pc, BASE_VADDR, 0, GOOD, sizeof(GOOD));
}

/* Return a file with one code segment, and with @claimed bytes of notes in its headers. */
static struct elf_file *make_elf(const struct made *m, uint64_t claimed)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	Elf64_Ehdr ehdr = { .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT };
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_vaddr = CODE_VADDR,
				  .p_paddr = CODE_VADDR,
				  .p_filesz = CODE_SIZE,
				  .p_memsz = CODE_SIZE };
	Elf64_Shdr sh[4] = { 0 };
	size_t size = NOTES_AT + m->len + sizeof(names);
	uint8_t *bytes = calloc(1, size);
	struct elf_file *elf;
	int fd;

	assert_non_null(bytes);
	memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
	ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	ehdr.e_ehsize = sizeof(ehdr);
	ehdr.e_phoff = sizeof(ehdr);
	ehdr.e_phentsize = sizeof(load);
	ehdr.e_phnum = 1;
	ehdr.e_shoff = 0x100;
	ehdr.e_shentsize = sizeof(sh[0]);
	ehdr.e_shnum = ARRAY_SIZE(sh);
	ehdr.e_shstrndx = 3;
	sh[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = NOTES_AT, .sh_size = claimed
	};
	sh[2] = (Elf64_Shdr){ .sh_name = 15,
			      .sh_type = SHT_PROGBITS,
			      .sh_flags = SHF_ALLOC,
			      .sh_addr = BASE_VADDR,
			      .sh_size = 1 };
	sh[3] = (Elf64_Shdr){ .sh_name = 29,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = NOTES_AT + m->len,
			      .sh_size = sizeof(names) };
	memcpy(bytes, &ehdr, sizeof(ehdr));
	memcpy(bytes + sizeof(ehdr), &load, sizeof(load));
	memcpy(bytes + 0x100, sh, sizeof(sh));
	if (m->len)
		memcpy(bytes + NOTES_AT, m->bytes, m->len);
	memcpy(bytes + NOTES_AT + m->len, names, sizeof(names));
	fd = fixture_memory(bytes, size);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	close(fd);
	free(bytes);
	return elf;
}

static void expect_made(struct made *m, uint64_t claimed, size_t n, size_t malformed,
			size_t elsewhere)
{
	struct elf_file *elf = make_elf(m, claimed);
	struct sdt_list list;

	assert_int_equal(sdt_read(elf, "sbt", &list), 0);
	assert_fields(&list, IS(n, n), IS(malformed, malformed), IS(elsewhere, elsewhere));
	for (size_t i = 0; i < n; i++)
		assert_fields(&list.notes[i], TEXT(name, "enter"), IS(n_args, 2));
	sdt_free(&list);
	elf_close(elf);
	free(m->bytes);
	memset(m, 0, sizeof(*m));
}

static void test_made(void **state)
{
	struct made m = { 0 };
	struct sdt_list list;
	struct elf_file *elf;

	add_good(&m, CODE_VADDR + 0x10);
	/*
	 * The note was linked with another base address, so its address and that of its semaphore
	 * are corrected.
	 */
	add_note(&m, 0x10020, BASE_VADDR - CODE_VADDR + 0x10000, 0x13000, GOOD, sizeof(GOOD));
	add_note(&m, CODE_VADDR, 0, 0, "other\0x\0", 9);
	/* Another owner or another type: sbt-trace ignores the note. */
	add_header(&m, 4, 4, 3);
	add(&m, "GNU", 4);
	add(&m, "abcd", 4);
	add_header(&m, 8, 0, 1);
	add(&m, "stapsdt", 8);
	elf = make_elf(&m, m.len);
	assert_int_equal(sdt_read(elf, "sbt", &list), 0);
	assert_int_equal(list.malformed + list.elsewhere, 0);
	assert_fields(&list, IS(n, 2), IS(notes[0].vaddr, CODE_VADDR + 0x10),
		      IS(notes[0].offset, 0x10), IS(notes[0].semaphore, 0),
		      IS(notes[1].vaddr, CODE_VADDR + 0x20), IS(notes[1].offset, 0x20),
		      IS(notes[1].semaphore, CODE_VADDR + 0x3000));
	sdt_free(&list);
	assert_int_equal(sdt_read(elf, NULL, &list), 0);
	assert_fields(&list, IS(n, 3), TEXT(notes[2].provider, "other"), TEXT(notes[2].name, "x"),
		      TEXT(notes[2].text, ""));
	sdt_free(&list);
	elf_close(elf);
	free(m.bytes);
}

/* An error in one note does not hide the others, if its end is known. */
static void test_hostile_notes(void **state)
{
	struct made m = { 0 };
	char *longest CLEANUP_PTR(free) = malloc(100000);

	assert_non_null(longest);
	/*
	 * Four bad notes: the last string has no end, there are only two strings, the addresses are
	 * cut off, the note is empty.
	 */
	add_note(&m, CODE_VADDR, 0, 0, "sbt\0enter\0008@%rdi", 16);
	add_note(&m, CODE_VADDR, 0, 0, "sbt\0enter", 10);
	add_header(&m, 8, 16, 3);
	add(&m, "stapsdt", 8);
	add(&m, "0123456789abcdef", 16);
	add_header(&m, 8, 0, 3);
	add(&m, "stapsdt", 8);
	add_good(&m, CODE_VADDR);
	expect_made(&m, m.len, 1, 4, 0);
	/* The code does not exist, is not in the file, or has an address that wraps around. */
	add_good(&m, 0);
	add_good(&m, CODE_VADDR - 1);
	add_good(&m, CODE_VADDR + CODE_SIZE);
	add_note(&m, ~0ULL, 1, 0, GOOD, sizeof(GOOD));
	add_good(&m, CODE_VADDR + CODE_SIZE - 1);
	expect_made(&m, m.len, 1, 0, 4);
	/* The provider's name has 100 kB, and is not the requested name. */
	memset(longest, 'x', 99997);
	memset(longest + 99997, 0, 3);
	add_note(&m, CODE_VADDR, 0, 0, longest, 100000);
	add_good(&m, CODE_VADDR);
	expect_made(&m, m.len, 1, 0, 0);
}

/* If a length exceeds the section, the rest of the section is not read, and this is reported. */
static void test_hostile_lengths(void **state)
{
	static const uint32_t absurd[] = { 0x7fffffff, 0xfffffffc, 0xfffffffd, 0xffffffff, 4096 };
	struct made m = { 0 };
	size_t whole;
	bool all;

	for (size_t i = 0; i < ARRAY_SIZE(absurd); i++) {
		add_good(&m, CODE_VADDR);
		add_header(&m, absurd[i], 8, 3);
		add(&m, "stapsdt\0abcdefgh", 16);
		add_good(&m, CODE_VADDR);
		expect_made(&m, m.len, 1, 1, 0);
		add_good(&m, CODE_VADDR);
		add_header(&m, 8, absurd[i], 3);
		add(&m, "stapsdt\0abcdefgh", 16);
		add_good(&m, CODE_VADDR);
		expect_made(&m, m.len, 1, 1, 0);
	}
	/* The section is cut at any byte. Padding after the last string is optional. */
	add_good(&m, CODE_VADDR);
	whole = m.len;
	free(m.bytes);
	memset(&m, 0, sizeof(m));
	for (size_t i = 1; i < whole; i++) {
		all = i + (-sizeof(GOOD) & 3) >= whole;
		add_good(&m, CODE_VADDR);
		add_good(&m, CODE_VADDR);
		expect_made(&m, whole + i, all ? 2 : 1, all ? 0 : 1, 0);
	}
	/* A section that extends beyond the end of the file is ignored. */
	add_good(&m, CODE_VADDR);
	expect_made(&m, 1ULL << 40, 0, 0, 0);
}

/* Numbers and sizes that only a hostile file has are limited, and what is left out is counted. */
static void test_many(void **state)
{
	struct made m = { 0 };
	struct sdt_list list;
	struct elf_file *elf;

	for (size_t i = 0; i < 40000; i++)
		add_good(&m, CODE_VADDR + i % CODE_SIZE);
	elf = make_elf(&m, m.len);
	assert_int_equal(sdt_read(elf, "sbt", &list), 0);
	assert_in_range(list.n, 10000, 20000);
	assert_true(list.malformed > 0);
	sdt_free(&list);
	elf_close(elf);
	free(m.bytes);
}

/* Each byte of a valid file takes any value. The sanitizers find errors. */
static void test_flipped(void **state)
{
	struct made m = { 0 };
	struct sdt_list list;
	struct elf_file *elf;

	for (size_t i = 0; i < 3; i++)
		add_note(&m, CODE_VADDR + i, BASE_VADDR, 0, GOOD, sizeof(GOOD));
	for (size_t i = 0; i < m.len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			m.bytes[i] ^= (uint8_t)(1 << bit);
			elf = make_elf(&m, m.len);
			assert_int_equal(sdt_read(elf, NULL, &list), 0);
			assert_true(list.n <= 3);
			sdt_free(&list);
			elf_close(elf);
			m.bytes[i] ^= (uint8_t)(1 << bit);
		}
	}
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_compiled, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_off, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_run, fixture_setup, fixture_teardown),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_registers),
#ifdef __x86_64__
		cmocka_unit_test(test_offsets),
#endif
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_operand),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_hostile_notes),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_flipped),
	};
	char source[256];

	/* The tests change the working directory. */
	if (!getcwd(source, sizeof(source)) || setenv("SOURCE", source, 1))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
