// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the mappings of processes that the kernel reports, and that nothing leaks if the kernel
 * reports none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_check.h"
#include "attach/mappings.h"

DEFINE_CLEANUP_PTR(mappings_free, struct mappings *)

#define SELF "/proc/self/exe"

struct seen {
	uint32_t tgid;
	uint64_t ino, start;
	bool executed, mapped, ordered;
	uint64_t last_ns;
	char path[256], comm[16];
};

static void see(void *ctx, const struct mappings_event *event)
{
	struct seen *seen = ctx;

	seen->ordered &= event->t_ns >= seen->last_ns;
	seen->last_ns = event->t_ns;
	if (event->tgid != seen->tgid)
		return;
	if (event->exec) {
		seen->executed = true;
		memcpy(seen->comm, event->comm, sizeof(seen->comm));
	} else if (event->ino == seen->ino && (!seen->start || seen->start == event->start)) {
		seen->mapped = true;
		strncpy(seen->path, event->path, sizeof(seen->path) - 1);
	}
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The process has no free file descriptor, or may not inspect other processes. */
static void test_none(void **state)
{
	struct rlimit old, none = { .rlim_cur = 0 };
	struct mappings *m = NULL;
	int before = open_descriptors();

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_true(mappings_open(true, &m) < 0);
	assert_null(m);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(open_descriptors(), before);
}

static struct mappings *opened(bool execs)
{
	struct mappings *m = NULL;

	if (mappings_open(execs, &m))
		skip();
	mappings_enable(m, true);
	return m;
}

static void test_mapping(void **state)
{
	struct seen seen = { .tgid = (uint32_t)getpid(), .ordered = true };
	struct mappings *m CLEANUP_PTR(mappings_free) = opened(false);
	int fd CLEANUP_PTR(close) = open(SELF, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	seen.ino = st.st_ino;
	seen.start = (uintptr_t)at;
	assert_int_equal(mappings_read(m, see, &seen), 0);
	assert_fields(&seen, IS(mapped, true), IS(ordered, true), IS(executed, false),
		      HAS(path, "test_attach_mappings"));
	munmap(at, 4096);
}

/*
 * The program that a process has executed, and its mappings, are reported even after the process
 * has exited.
 */
static void test_exec(void **state)
{
	struct seen seen = { .ordered = true };
	struct mappings *m CLEANUP_PTR(mappings_free) = opened(true);
	struct stat st;
	pid_t child;

	assert_int_equal(stat("/bin/true", &st), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	seen.tgid = (uint32_t)child;
	seen.ino = st.st_ino;
	assert_int_equal(mappings_read(m, see, &seen), 0);
	assert_fields(&seen, IS(executed, true), TEXT(comm, "true"), IS(mapped, true),
		      HAS(path, "/true"));
}

static void test_deleted(void **state)
{
	char path[] = "/tmp/sbt-mappings-XXXXXX";
	struct seen seen = { .tgid = (uint32_t)getpid(), .ordered = true };
	struct mappings *m CLEANUP_PTR(mappings_free) = opened(false);
	int fd CLEANUP_PTR(close) = mkstemp(path);
	struct stat st;
	void *at;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstat(fd, &st), 0);
	unlink(path);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		skip(); /* the directory is mounted noexec */
	seen.ino = st.st_ino;
	assert_int_equal(mappings_read(m, see, &seen), 0);
	assert_fields(&seen, IS(mapped, true), TEXT(path, path));
	munmap(at, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
