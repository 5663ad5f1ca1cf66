// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the mappings of a process, also if the process ends while they are read. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_check.h"
#include "target/maps.h"

#define MAPPINGS 4000

static void test_lines(void **unused)
{
	char text[] = "1000-3000 r-xp 00001000 08:01 77 /lib/a\\012b (deleted)\n"
		      "3000-3000 r--p 00000000 00:00 0 \n"
		      "nonsense\n"
		      "5000-6000 rw-s 00000000 00:00 0 \n";
	struct maps maps CLEANUP(maps_free);

	assert_int_equal(maps_parse(strdup(text), &maps), 0);
	assert_fields(&maps, IS(n, 2), TEXT(entries[0].path, "/lib/a\nb"));
	assert_true(maps.entries[0].deleted && maps.entries[0].exec && !maps.entries[0].shared);
	assert_int_equal(maps.entries[0].dev, 8 << 20 | 1);
	assert_true(maps.entries[1].shared && !maps.entries[1].exec);
	assert_ptr_equal(maps_find(&maps, 0x2fff), &maps.entries[0]);
	assert_null(maps_find(&maps, 0x3000));
	assert_ptr_equal(maps_find(&maps, 0x5000), &maps.entries[1]);
}

/* Neighbouring mappings of one file share one string, also in a copy. Each path is right. */
static void test_paths(void **unused)
{
	static const char *const paths[] = { "/a", "/a", "", "/bb", "/a", "/a", "[stack]" };
	char text[1024] = "";
	struct maps maps CLEANUP(maps_free), copy;
	const struct maps *all[] = { &maps, &copy };

	for (size_t i = 0; i < 7; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%zu000-%zu000 r-xp 00000000 08:01 %d %s\n", i + 1, i + 2, i != 2,
			 paths[i]);
	assert_int_equal(maps_parse(strdup(text), &maps), 0);
	assert_int_equal(maps_copy(&maps, &copy), 0);
	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(all[k]->n, 7);
		for (size_t i = 0; i < 7; i++)
			assert_string_equal(all[k]->entries[i].path, paths[i]);
		assert_fields(all[k], IS(entries[0].path, all[k]->entries[1].path),
			      IS(entries[4].path, all[k]->entries[5].path));
	}
	maps_free(&maps);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(copy.entries[i].path, paths[i]);
	maps_free(&copy);
	/* An empty text, and a text that could not be read. */
	assert_int_equal(maps_parse(strdup(""), &maps), 0);
	assert_int_equal(maps.n, 0);
	maps_free(&maps);
	assert_int_equal(maps_parse(strdup("nonsense\n"), &maps), 0);
	assert_int_equal(maps.n, 0);
}

/* Start a process with many mappings. Neighbours with different rights are never merged. */
static pid_t begin(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	int ready[2];
	pid_t pid;
	char *p, c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		p = mmap(NULL, MAPPINGS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (i = 0; p != MAP_FAILED && i < MAPPINGS; i += 2)
			mprotect(p + i * page, page, PROT_READ | PROT_WRITE);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/*
 * The result contains all mappings or none: with a part of them, the missing libraries would look
 * as if they were unmapped.
 */
static void test_ends_meanwhile(void **unused)
{
	int whole = 0, gone = 0;
	struct maps maps;

	for (int i = 0; i < 40; i++) {
		pid_t pid = begin(), killer = fork();
		size_t n;
		int err;

		if (!killer) {
			usleep((unsigned int)i * 200);
			kill(pid, SIGKILL);
			_exit(0);
		}
		do {
			err = maps_read(pid, &maps);
			if (!err && maps.n) {
				assert_in_range(maps.n, MAPPINGS, 2 * MAPPINGS);
				whole++;
			}
			n = err ? 0 : maps.n;
			gone += err != 0;
			if (err)
				assert_int_equal(err, -ESRCH);
			else
				maps_free(&maps);
		} while (!err && n);
		assert_int_equal(waitpid(killer, NULL, 0), killer);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	printf("%d read whole, %d times it ended meanwhile\n", whole, gone);
	assert_in_range(whole, 1, 1000000);
	assert_int_equal(maps_read(1 << 30, &maps), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_ends_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
