// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Runs a program of splash.h repeatedly in one process: once for each byte on stdin. Prints the
// time of each run in ns, on a line. Each run gets the same memory, so runs do not differ by the
// location of their data. The program's main is called program_main here, and its output is
// discarded. Exit status: 1 if a run failed.
#include "common.h"

#include <malloc.h>

#define MOST (1 << 30) /* maximum size that the C library takes from its heap */

int program_main(int argc, char **argv);

int main(int argc, char **argv)
{
	int out = dup(STDOUT_FILENO), failed = 0;
	uint64_t begin, ns;

	/* Keep freed memory in the heap, so that the next run gets the same memory. */
	if (!mallopt(M_MMAP_THRESHOLD, MOST) || !mallopt(M_TRIM_THRESHOLD, MOST))
		die("memory would be returned");
	if (out < 0 || !freopen("/dev/null", "w", stdout))
		die("stdout cannot be moved");
	while (getchar() != EOF) {
		begin = now_ns();
		failed |= program_main(argc, argv);
		ns = now_ns() - begin;
		/* The alarm of the finished run must not end the process while it waits. */
		alarm(0);
		if (dprintf(out, "%llu\n", (unsigned long long)ns) < 0)
			die("no process reads");
	}
	return !!failed;
}
