// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check stacks of any depth: the stack of a child with deep recursion, and memory that is not a
 * stack.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_check.h"
#include "sites/walk.h"
#include "target/look.h"

#define DEPTH  300
#define LARGE  100000
#define FRAMES 512

static volatile unsigned long done;

static __attribute__((noinline)) void stay(void)
{
	done += (unsigned long)syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

static __attribute__((noinline)) void large(void)
{
	volatile char room[LARGE];

	room[0] = room[LARGE - 1] = 1;
	stay();
	done += (unsigned long)(room[0] + room[LARGE - 1]);
}

static __attribute__((noinline)) unsigned long deep(unsigned long n)
{
	if (n)
		return deep(n - 1) + n;
	large();
	return done;
}

static pid_t child_at(unsigned long depth)
{
	pid_t pid = fork();
	struct look look;

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		done += deep(depth);
		_exit(0);
	}
	for (int i = 0; i < 10000; i++) {
		if (!look_thread(pid, pid, &look) && look.syscall == SYS_ppoll)
			return pid;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	fail_msg("the child did not come to where it stays");
	return 0;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void capture(pid_t pid, struct stack_regs *regs)
{
	__u64 words[SBT_STACK_REGS] = { 0 };
	struct iovec iov = { .iov_base = words, .iov_len = sizeof(words) };
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, __WALL), pid);
	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov), 0);
	assert_int_equal(stack_first_of(words, regs), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, 0, 0), 0);
}

struct world {
	struct modules *modules;
	struct symbol_server *symbols;
	struct address_spaces *spaces;
	struct address_space *space;
	struct walk *walk;
	struct walk_frame frames[FRAMES];
	uint32_t n;
	bool whole;
};

static void world_new(struct world *w, pid_t pid)
{
	memset(w, 0, sizeof(*w));
	assert_int_equal(modules_new(NULL, NULL, &w->modules), 0);
	assert_int_equal(symbol_server_new(NULL, &w->symbols), 0);
	assert_int_equal(address_spaces_new(w->modules, w->symbols, &w->spaces), 0);
	assert_int_equal(walk_new(w->spaces, &w->walk), 0);
	w->space = address_space_get(w->spaces, (uint32_t)pid, 1);
	assert_non_null(w->space);
	assert_int_equal(address_space_read(w->spaces, w->space), 0);
	w->space->gone = true;
}

static void world_free(struct world *w)
{
	walk_free(w->walk);
	address_spaces_free(w->spaces);
	symbol_server_free(w->symbols);
	modules_free(w->modules);
}

static const char *function_of(struct world *w, uint32_t i)
{
	const struct site_name *name = address_spaces_site(w->spaces, w->frames[i].site);

	assert_non_null(name);
	if (!name->nframes || !name->frames[name->nframes - 1].function)
		return "";
	return name->frames[name->nframes - 1].function;
}

static long read_child(void *ctx, uint64_t address, void *to, size_t size)
{
	return look_read_some(*(pid_t *)ctx, address, to, size);
}

static void go(struct world *w, const struct stack_regs *regs, walk_read_fn read, void *ctx,
	       uint32_t max)
{
	struct walk_thread thread = { .regs = *regs, .in_call = true, .read = read, .ctx = ctx };

	assert_int_equal(walk_up(w->walk, w->space, &thread, w->frames, max, &w->n, &w->whole), 0);
}

static uint32_t count(struct world *w, const char *function)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		n += !strcmp(function_of(w, i), function);
	return n;
}

static void test_deep(void **unused)
{
	pid_t pid = child_at(DEPTH);
	struct stack_regs regs;
	struct world w;

	capture(pid, &regs);
	world_new(&w, pid);
	go(&w, &regs, read_child, &pid, FRAMES);
	assert_int_equal(count(&w, "deep"), DEPTH + 1);
	assert_int_equal(count(&w, "large"), 1);
	assert_int_equal(count(&w, "stay"), 1);
	assert_int_equal(count(&w, "test_deep"), 1);
	assert_int_equal(count(&w, "main"), 1);
	assert_true(w.whole);
	/* Walk again with the stored rules, then walk only some of the frames. */
	go(&w, &regs, read_child, &pid, 10);
	assert_fields(&w, IS(n, 10), IS(whole, false));
	assert_int_equal(count(&w, "large"), 1);
	world_free(&w);
	end_child(pid);
}

/*
 * If a return probe is pending, the stack has the address of the probe's trampoline instead of the
 * return address.
 */
struct probed {
	pid_t pid;
	uint64_t real, trampoline;
};

static long read_probed(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct probed *p = ctx;
	long n = look_read_some(p->pid, address, to, size);
	uint64_t value;

	if (n == (long)sizeof(value)) {
		memcpy(&value, to, sizeof(value));
		if (value == p->real)
			memcpy(to, &p->trampoline, sizeof(p->trampoline));
	}
	return n;
}

static void test_return_probe(void **unused)
{
	pid_t pid = child_at(2);
	struct probed probed = { .pid = pid, .trampoline = 0x10 };
	static struct maps_entry more[4096];
	struct maps_entry *own;
	struct stack_regs regs;
	struct world w;
	uint32_t i, n;

	capture(pid, &regs);
	world_new(&w, pid);
	go(&w, &regs, read_child, &pid, FRAMES);
	n = w.n;
	for (i = 0; i < w.n && strcmp(function_of(&w, i), "deep") != 0; i++)
		;
	assert_true(i < w.n);
	/* the address to which large() returns */
	probed.real = w.frames[i].address + 1;
	assert_true(w.space->maps.n < 4096);
	more[0] =
		(struct maps_entry){ .start = 0, .end = 0x1000, .exec = true, .path = "[uprobes]" };
	memcpy(more + 1, w.space->maps.entries, w.space->maps.n * sizeof(*more));
	own = w.space->maps.entries;
	w.space->maps.entries = more;
	w.space->maps.n++;
	go(&w, &regs, read_probed, &probed, FRAMES);
	assert_fields(&w, IS(n, i), IS(whole, false));
	struct walk_thread thread = { .regs = regs,
				      .in_call = true,
				      .read = read_probed,
				      .ctx = &probed,
				      .returns = &probed.real,
				      .nreturns = 1 };
	assert_int_equal(walk_up(w.walk, w.space, &thread, w.frames, FRAMES, &w.n, &w.whole), 0);
	assert_int_equal(w.n, n);
	assert_int_equal(count(&w, "main"), 1);
	assert_true(w.whole);
	w.space->maps.entries = own;
	w.space->maps.n--;
	world_free(&w);
	end_child(pid);
}

/* --- many samples ----------------------------------------------------------------------------- */

/* Read from the thread's stack: here, nothing is known of it. */
static long read_nothing(void *ctx, uint64_t address, void *to, size_t size)
{
	(void)ctx;
	(void)address;
	(void)to;
	(void)size;
	return 0;
}

/*
 * A program's samples are at many addresses. The symboliser must not be asked for each of them. In
 * code of no file, the addresses must not all become call sites.
 */
static void test_questions(void **state)
{
	uint64_t code = (uint64_t)(uintptr_t)child_at, i, asked;
	struct walk_thread thread = { .quick = true, .read = read_nothing };
	uint32_t made_site = ADDRESS_SPACE_SITE_NONE;
	struct world w;
	void *made;

	(void)state;
	made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(made, MAP_FAILED);
	world_new(&w, getpid());
	thread.regs.exact = 1;
	for (i = 0; i < 128; i++) {
		stack_set(&thread.regs, STACK_PC, code + i % 64);
		stack_set(&thread.regs, STACK_SP, 4096);
		assert_int_equal(walk_up(w.walk, w.space, &thread, w.frames, 1, &w.n, &w.whole), 0);
		assert_int_equal(w.n, 1);
	}
	asked = walk_questions(w.walk);
	/* The prologue saves some registers, and each push has rules of its own. */
	assert_in_range(asked, 1, 24);
	for (i = 0; i < 64; i++) {
		stack_set(&thread.regs, STACK_PC, (uint64_t)(uintptr_t)made + i);
		assert_int_equal(walk_up(w.walk, w.space, &thread, w.frames, 1, &w.n, &w.whole), 0);
		assert_int_equal(w.n, 1);
		if (made_site == ADDRESS_SPACE_SITE_NONE)
			made_site = w.frames[0].site;
		assert_int_equal(w.frames[0].site, made_site);
	}
	assert_int_equal(walk_questions(w.walk), asked);
	munmap(made, 4096);
	world_free(&w);
}

/* --- no stack --------------------------------------------------------------------------------- */

struct nonsense {
	uint64_t seed;
	uint64_t code; /* an address of code; half of the words are near it */
	unsigned int kind;
};

static uint64_t next_random(struct nonsense *x)
{
	x->seed = x->seed * 6364136223846793005ull + 1442695040888963407ull;
	return x->seed >> 11;
}

static long read_nonsense(void *ctx, uint64_t address, void *to, size_t size)
{
	struct nonsense *x = ctx;
	uint8_t *out = to;
	uint64_t word;

	if (x->kind == 0)
		return -EFAULT;
	if (x->kind == 1)
		size /= 2;
	for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		word = next_random(x);
		if (x->kind == 2)
			word = 0;
		else if (x->kind == 3)
			word = address + i; /* each word is its own address */
		else if (word & 1)
			word = x->code + word % 4096;
		memcpy(out + i, &word, sizeof(word));
	}
	return (long)size;
}

static void test_nonsense(void **unused)
{
	pid_t pid = child_at(0);
	struct stack_regs regs, wild;
	struct nonsense x = { .seed = 1 };
	struct world w;
	unsigned int i;

	capture(pid, &regs);
	world_new(&w, pid);
	x.code = regs.value[STACK_PC];
	for (i = 0; i < 60; i++) {
		x.kind = i % 6;
		wild = regs;
		for (unsigned reg = 0; i >= 30 && reg < STACK_NREGS; reg++)
			wild.value[reg] = next_random(&x) << (i % 8);
		if (i % 2)
			wild.value[STACK_PC] = x.code + next_random(&x) % 65536;
		if (i % 5 == 0)
			wild.value[STACK_SP] = UINT64_MAX - i;
		go(&w, &wild, read_nonsense, &x, FRAMES);
		assert_true(w.n <= FRAMES);
		/* If no memory can be read, the walk ends. */
		if (x.kind == 0)
			assert_true(w.n <= 1);
	}
	world_free(&w);
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_return_probe),
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
