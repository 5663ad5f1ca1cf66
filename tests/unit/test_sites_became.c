// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * A process executes another program before the tracer reads its mappings. The tracer must not take
 * the mappings that it then reads for those of the former program.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_check.h"
#include "sites/address_space.h"
#include "target/look.h"

/* A function in this program, which the child runs, too. */
static __attribute__((noinline)) int place(int n)
{
	__asm__ volatile("");
	return n + 1;
}

/*
 * Run the child. On request it executes the same program with more arguments, so that at least its
 * stack begins at another address.
 */
static int stay(const char *words)
{
	char more[256];
	sigset_t set;
	int number;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (sigwait(&set, &number))
		return 1;
	snprintf(more, sizeof(more), "%s and words beyond these", words);
	execl("/proc/self/exe", "stay", more, NULL);
	return 1;
}

static void wait_asleep(pid_t pid)
{
	struct look look;

	for (int i = 0; i < 20000; i++) {
		if (!look_thread(pid, pid, &look) && look.syscall == SYS_rt_sigtimedwait)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	fail_msg("the child did not come to where it stays");
}

struct world {
	struct modules *modules;
	struct symbol_server *symbols;
	struct address_spaces *spaces;
	struct address_space_program program; /* the first program of the child */
	uint64_t ip; /* an address in place(), in the first program */
	pid_t pid;
};

static int world_new(void **state)
{
	static struct world w;
	struct proc_image own;
	const struct maps_entry *e;
	struct address_space *space;

	memset(&w, 0, sizeof(w));
	assert_int_equal(modules_new(NULL, NULL, &w.modules), 0);
	assert_int_equal(symbol_server_new(NULL, &w.symbols), 0);
	assert_int_equal(address_spaces_new(w.modules, w.symbols, &w.spaces), 0);
	w.pid = fork();
	assert_true(w.pid >= 0);
	if (!w.pid) {
		execl("/proc/self/exe", "stay", "words", NULL);
		_exit(1);
	}
	wait_asleep(w.pid);
	assert_int_equal(proc_image(w.pid, &w.program.image), 0);
	assert_int_equal(proc_image(getpid(), &own), 0);
	w.ip = (uint64_t)(uintptr_t)place - own.code + w.program.image.code + 1;
	/* Store the device and inode numbers of the program's file as the kernel reports them. */
	space = address_space_get(w.spaces, (uint32_t)w.pid, 1);
	assert_non_null(space);
	assert_int_equal(address_space_read(w.spaces, space), 0);
	e = maps_find(&space->maps, w.program.image.code);
	assert_non_null(e);
	w.program.dev = e->dev;
	w.program.ino = e->ino;
	*state = &w;
	return 0;
}

static int world_free(void **state)
{
	struct world *w = *state;

	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	address_spaces_free(w->spaces);
	symbol_server_free(w->symbols);
	modules_free(w->modules);
	return 0;
}

/* Make the child execute another program, which may be the same file. */
static void become(const struct world *w)
{
	struct proc_image is = w->program.image;

	assert_int_equal(kill(w->pid, SIGUSR1), 0);
	for (int i = 0; i < 20000 && is.stack == w->program.image.stack; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		proc_image(w->pid, &is);
	}
	assert_true(is.stack != w->program.image.stack);
	wait_asleep(w->pid);
}

static struct address_space *address_space_new(const struct world *w, bool reported)
{
	struct address_space *space = address_space_get(w->spaces, (uint32_t)w->pid, 2);

	assert_non_null(space);
	if (reported)
		space->program = w->program;
	return space;
}

static void check_named(const struct world *w, struct address_space *space)
{
	const struct site_name *name =
		address_spaces_site(w->spaces, address_space_site(w->spaces, space, w->ip));

	assert_non_null(name);
	assert_fields(name, IS(nframes, 1), TEXT(frames[0].function, "place"));
}

/* While the child runs its first program, its mappings are those of that program. */
static void test_there(void **state)
{
	const struct world *w = *state;
	struct address_space *space = address_space_new(w, true);

	assert_int_equal(address_space_read(w->spaces, space), 0);
	assert_false(space->gone);
	check_named(w, space);
}

/*
 * The child's mappings were not read in time. The code of its first program is nevertheless known,
 * and is not confused with the code of the program that it executed later.
 */
static void test_another(void **state)
{
	const struct world *w = *state;
	struct address_space *space = address_space_new(w, true);
	uint32_t site;

	become(w);
	assert_int_equal(address_space_read(w->spaces, space), -ESTALE);
	assert_true(space->gone && !space->read);
	assert_fields(space, IS(maps.n, 0), IS(libc, FAMILY_LIBC_UNKNOWN));
	assert_int_equal(address_space_assume(w->spaces, space), 0);
	check_named(w, space);
	/* The other mappings of the child are unknown. */
	assert_null(maps_find(&space->maps, w->program.image.stack));
	site = address_space_site(w->spaces, space, w->program.image.stack);
	assert_null(address_spaces_site(w->spaces, site)->module);
}

/*
 * The child's mappings were read in time. Then they are read again, too late. The mappings that
 * were read first stay.
 */
static void test_later(void **state)
{
	const struct world *w = *state;
	struct address_space *space = address_space_new(w, true);
	size_t n;

	assert_int_equal(address_space_read(w->spaces, space), 0);
	n = space->maps.n;
	become(w);
	assert_int_equal(address_space_look(w->spaces, space), -ESTALE);
	assert_int_equal(address_space_read(w->spaces, space), -ESTALE);
	assert_int_equal(space->maps.n, n);
	check_named(w, space);
}

/* A forked child is known to run the program of its parent. */
static void test_child(void **state)
{
	const struct world *w = *state;
	struct address_space *parent = address_space_new(w, true);
	struct address_space *child = address_space_get(w->spaces, (uint32_t)w->pid, 3);

	assert_int_equal(address_space_read(w->spaces, parent), 0);
	assert_non_null(child);
	assert_int_equal(address_space_inherit(child, parent), 0);
	become(w);
	assert_int_equal(address_space_read(w->spaces, child), -ESTALE);
	check_named(w, child);
}

/* The program that the process ran is unknown, so its current mappings are used. */
static void test_unknown_program(void **state)
{
	const struct world *w = *state;
	struct address_space *space = address_space_new(w, false);

	become(w);
	assert_int_equal(address_space_read(w->spaces, space), 0);
	assert_false(space->gone);
}

/* A zombie has no memory. */
static void test_ended(void **state)
{
	const struct world *w = *state;
	struct address_space *space = address_space_new(w, true);
	struct proc_image image;
	siginfo_t info;

	kill(w->pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_image(w->pid, &image), -ESRCH);
	assert_int_equal(address_space_read(w->spaces, space), -ESRCH);
	assert_int_equal(address_space_assume(w->spaces, space), 0);
	check_named(w, space);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there, world_new, world_free),
		cmocka_unit_test_setup_teardown(test_another, world_new, world_free),
		cmocka_unit_test_setup_teardown(test_later, world_new, world_free),
		cmocka_unit_test_setup_teardown(test_child, world_new, world_free),
		cmocka_unit_test_setup_teardown(test_unknown_program, world_new, world_free),
		cmocka_unit_test_setup_teardown(test_ended, world_new, world_free),
	};

	if (argc > 1 && !strcmp(argv[0], "stay"))
		return stay(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL) + place(-1);
}
