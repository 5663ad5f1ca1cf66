// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Phases that the program marks itself (sbt.h), with known results. sbtmarks [ROUNDS]: three
// threads, which in each round mark these phases between common barriers:
//
//   outer  from before the first barrier to after the second
//   step   inside "outer", with the first barrier inside: thread i sleeps (i + 1) ms, crosses, and
//          touches PAGES new pages
//   half   thread 0 alone: begins inside "step", and ends inside "tail"
//   tail   thread 0 alone: begins 1 ms after "step", and ends after the second barrier, so it
//          overlaps "half"
//   alone  thread 0 alone: from the second to the fourth barrier, which the other threads cross as
//          well
//
// For each phase and thread, prints "# NAME THREAD OCCURRENCES LEAST MOST" by its own clock. LEAST
// and MOST are sums of intervals in ns: LEAST from after the first mark to before the second, MOST
// from before the first to after the second.
#include "common.h"
#include "sbt.h"

#include <sys/mman.h>

#define THREADS 3
#define PAGES	16
#define MS	1000000ULL

enum { OUTER, STEP, TAIL, HALF, ALONE, NAMES };

static const char *const names[NAMES] = { "outer", "step", "tail", "half", "alone" };

static pthread_barrier_t barrier;
static uint64_t rounds = 10;
static struct {
	uint64_t since, around, least, most, n;
} spent[THREADS][NAMES];

#define BEGIN(me, name)                            \
	do {                                       \
		spent[me][name].around = now_ns(); \
		SBT_PHASE_BEGIN(names[name]);      \
		spent[me][name].since = now_ns();  \
	} while (0)

#define END(me, name)                                                      \
	do {                                                               \
		spent[me][name].least += now_ns() - spent[me][name].since; \
		SBT_PHASE_END(names[name]);                                \
		spent[me][name].most += now_ns() - spent[me][name].around; \
		spent[me][name].n++;                                       \
	} while (0)

static void touch(char *pages, size_t size)
{
	for (size_t i = 0; i < PAGES; i++)
		pages[i * size] = 1;
}

/* Each use has its own line, and so is a barrier of its own. */
#define MEET serial(pthread_barrier_wait(&barrier))

static void one_round(uint32_t me, char *pages, size_t size)
{
	BEGIN(me, OUTER);
	BEGIN(me, STEP);
	sleep_ns((me + 1) * MS);
	MEET;
	if (!me) {
		BEGIN(me, HALF);
	}
	touch(pages, size);
	END(me, STEP);
	sleep_ns(MS);
	if (!me) {
		BEGIN(me, TAIL);
	}
	sleep_ns(MS);
	if (!me) {
		END(me, HALF);
	}
	MEET;
	END(me, OUTER);
	if (!me) {
		END(me, TAIL);
		BEGIN(me, ALONE);
	}
	MEET;
	sleep_ns(me == 2 ? 2 * MS : 0);
	MEET;
	if (!me) {
		END(me, ALONE);
	}
}

static void *member(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	size_t size = (size_t)sysconf(_SC_PAGESIZE), all = PAGES * size * rounds;
	char *pages =
		(char *)mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	/* Without huge pages, each page causes one fault. */
	madvise(pages, all, MADV_NOHUGEPAGE);
	SBT_THREAD((int)me);
	for (uint64_t i = 0; i < rounds; i++)
		one_round(me, pages + i * PAGES * size, size);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc > 1)
		rounds = parse_u64("rounds", argv[1], 1, 1000000);
	stopgap(STOPGAP_SECONDS);
	exact_timers();
	must(pthread_barrier_init(&barrier, NULL, THREADS), "pthread_barrier_init");
	for (uint32_t i = 0; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, member, (void *)(uintptr_t)i),
		     "pthread_create");
	for (uint32_t i = 0; i < THREADS; i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	for (uint32_t i = 0; i < THREADS; i++)
		for (int k = 0; k < NAMES; k++)
			printf("# %s %u %llu %llu %llu\n", names[k], i,
			       (unsigned long long)spent[i][k].n,
			       (unsigned long long)spent[i][k].least,
			       (unsigned long long)spent[i][k].most);
	return 0;
}
