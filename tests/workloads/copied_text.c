// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// copied_text private|shared|file [MICROSECONDS]: replaces its own text with a copy, like hardening
// tools, or tools that put code into huge pages. The copy is in private or shared anonymous memory,
// or in a file. After MICROSECONDS, two threads cross a barrier ten times. The program is linked
// statically, so the barrier function is in that text.
#include "common.h"

#include <sys/mman.h>

#define ROUNDS 10

static pthread_barrier_t barrier;

static void find_text(uintptr_t *start, size_t *bytes)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512], x;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*c%*c%c", &from, &to, &x) == 3 && x == 'x' &&
		    from <= (uintptr_t)find_text && to > (uintptr_t)find_text) {
			*start = from;
			*bytes = to - from;
			fclose(f);
			return;
		}
	}
	die("no text");
}

static void replace(const char *how, void *text, size_t bytes)
{
	int flags = MAP_ANONYMOUS | (strcmp(how, "shared") ? MAP_PRIVATE : MAP_SHARED), fd;
	void *copy, *got;

	if (!strcmp(how, "file")) {
		fd = memfd_create("text", 0);
		if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes)
			die("memfd: %s", strerror(errno));
		got = mmap(text, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	} else {
		copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
		if (copy == MAP_FAILED)
			die("mmap: %s", strerror(errno));
		memcpy(copy, text, bytes);
		if (mprotect(copy, bytes, PROT_READ | PROT_EXEC))
			die("mprotect: %s", strerror(errno));
		got = mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, text);
	}
	if (got != text)
		die("the text was not replaced: %s", strerror(errno));
}

static void *member(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		pthread_barrier_wait(&barrier);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uintptr_t start;
	size_t bytes;

	if (argc < 2)
		return 2;
	stopgap(STOPGAP_SECONDS);
	find_text(&start, &bytes);
	replace(argv[1], (void *)start, bytes);
	if (argc > 2)
		usleep((useconds_t)atoi(argv[2]));
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	must(pthread_create(&thread, NULL, member, NULL), "pthread_create");
	member(NULL);
	must(pthread_join(thread, NULL), "pthread_join");
	printf("copied_text: ok\n");
	return 0;
}
