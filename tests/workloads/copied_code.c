// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// copied_code library|rewritten|hugepages|function|compiler [--wait]: runs copies of code, or code
// that the program makes.
//   library     the C library's code of pthread_barrier_wait is replaced by a copy of it
//   rewritten   as `library`, but the copy is written into memory that is already executable
//   hugepages   as `rewritten`, and the memory is then write-protected, as in programs that move
//               their code to huge pages
//   function    a function of this program is copied, and the copy is called
//   compiler    nothing is copied; the program makes code at run time, like a just-in-time compiler
// Then two threads cross a barrier ten times. With --wait the program prints "ready" before and
// "copied" after this step, and waits for a line each time.
#include "common.h"

#include <sys/mman.h>

#define ROUNDS	  10
#define CODE_SIZE 128 /* more than the size of leaf() */
#define MADE	  200

static pthread_barrier_t barrier;
static size_t page;

/*
 * This function calls nothing, and reads nothing relative to its own address. So a copy of it works
 * at any address.
 */
ONE_COPY int leaf(int *number);
ONE_COPY int leaf(int *number)
{
	int i, sum = 0;

	for (i = 0; i < 8; i++)
		sum += number[i] ^ (sum >> 3);
	number[0] = sum + 1;
	return sum;
}

static void *map(void *at, size_t bytes, int prot)
{
	void *p = mmap(at, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	return p;
}

static void protect(void *at, size_t bytes)
{
	if (mprotect(at, bytes, PROT_READ | PROT_EXEC))
		die("mprotect: %s", strerror(errno));
}

/*
 * Replace the page in which pthread_barrier_wait() begins, and the next page. The rest of the
 * library stays.
 */
static void replace(const char *how)
{
	void *text = (void *)((uintptr_t)pthread_barrier_wait & ~(page - 1));
	void *copy = map(NULL, 2 * page, PROT_READ | PROT_WRITE);

	memcpy(copy, text, 2 * page);
	if (!strcmp(how, "library")) {
		protect(copy, 2 * page);
		if (mremap(copy, 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED, text) != text)
			die("mremap: %s", strerror(errno));
		return;
	}
	map(text, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(text, copy, 2 * page);
	if (!strcmp(how, "hugepages"))
		protect(text, 2 * page);
	munmap(copy, 2 * page);
}

static void call_copy(void)
{
	int (*copied)(int *) = (int (*)(int *))map(NULL, page, PROT_READ | PROT_WRITE);
	int i, numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, same[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	leaf(same);
	memcpy((void *)copied, (const void *)leaf, CODE_SIZE);
	protect((void *)copied, page);
	__builtin___clear_cache((char *)copied, (char *)copied + CODE_SIZE);
	copied(numbers);
	if (memcmp(numbers, same, sizeof(same)) != 0)
		die("the copy computes something else");
	for (i = 0; i < ROUNDS; i++)
		copied(numbers);
}

/*
 * Write one ret at a different offset of each page. The other bytes are breakpoints, with which
 * compilers fill gaps.
 */
static void make_code(void)
{
	int i;

	for (i = 0; i < MADE; i++) {
		unsigned char *made = map(NULL, page, PROT_READ | PROT_WRITE);

		memset(made, 0xcc, page);
#if defined(__x86_64__)
		made[i] = 0xc3; /* ret */
#else
		memcpy(made + 4 * (size_t)i, "\xc0\x03\x5f\xd6", 4);
#endif
		protect(made, page);
		__builtin___clear_cache((char *)made, (char *)made + page);
#if defined(__x86_64__)
		((void (*)(void))(made + i))();
#else
		((void (*)(void))(made + 4 * (size_t)i))();
#endif
	}
}

static void *member(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		pthread_barrier_wait(&barrier);
	return arg;
}

static void wait_for_line(int argc, const char *what)
{
	if (argc < 3)
		return;
	printf("%s\n", what);
	fflush(stdout);
	if (getchar() == EOF)
		die("no line");
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2)
		return 2;
	stopgap(STOPGAP_SECONDS);
	page = (size_t)sysconf(_SC_PAGESIZE);
	wait_for_line(argc, "ready");
	if (!strcmp(argv[1], "compiler"))
		make_code();
	else if (!strcmp(argv[1], "function"))
		call_copy();
	else
		replace(argv[1]);
	wait_for_line(argc, "copied");
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	must(pthread_create(&thread, NULL, member, NULL), "pthread_create");
	member(NULL);
	must(pthread_join(thread, NULL), "pthread_join");
	printf("copied_code: ok\n");
	return 0;
}
