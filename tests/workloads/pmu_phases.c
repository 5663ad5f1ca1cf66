// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads that count the instructions of their own phases: a team crosses one barrier PHASES + 1
// times. Between two crossings each thread executes a number of instructions that depends on the
// thread and the phase alone, and reads its own user-space counters before and after.
//
//   pmu_phases LOG
//
// LOG gets one line "tid,phase,event,count" for each thread, phase and event: instructions:u,
// cycles:u, and known-instructions, which were not counted. Phase n ends with episode n of the
// barrier (the first is 0). LOG has no phase 0, in which the counters are set up. Without hardware
// counters the program fails with a message.
//
// A tracer that counts from departure to arrival also counts parts of two readings and the calls
// around them, some hundred instructions.
#include "common.h"

#include <linux/perf_event.h>

#define THREADS 4
#define PHASES	12
#define EVENTS	2

static const struct {
	const char *name;
	uint64_t config;
} events[EVENTS] = {
	{ "instructions:u", PERF_COUNT_HW_INSTRUCTIONS },
	{ "cycles:u", PERF_COUNT_HW_CPU_CYCLES },
};

static pthread_barrier_t barrier;

struct worker {
	uint32_t index;
	pid_t tid;
	int fds[EVENTS];
	uint64_t before[EVENTS], after[EVENTS];
	uint64_t count[PHASES + 1][EVENTS];
	uint64_t known[PHASES + 1];
};

static void counters_open(struct worker *w)
{
	struct perf_event_attr attr;

	for (uint32_t i = 0; i < EVENTS; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = events[i].config;
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		attr.read_format = PERF_FORMAT_GROUP;
		w->fds[i] =
			(int)syscall(SYS_perf_event_open, &attr, 0, -1, i ? w->fds[0] : -1, 0UL);
		if (w->fds[i] < 0)
			die("%s: %s", events[i].name, strerror(errno));
	}
}

static void counters_read(const struct worker *w, uint64_t *values)
{
	uint64_t got[1 + EVENTS];

	if (read(w->fds[0], got, sizeof(got)) != sizeof(got))
		die("reading a counter: %s", strerror(errno));
	memcpy(values, got + 1, EVENTS * sizeof(*got));
}

static void counters_close(const struct worker *w)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		close(w->fds[i]);
}

/* Execute exactly two instructions in each round. @rounds must not be 0. */
static void execute(uint64_t rounds)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n"
			 "   b.ne 1b\n"
			 : "+r"(rounds)
			 :
			 : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: dec %0\n"
			 "   jnz 1b\n"
			 : "+r"(rounds)
			 :
			 : "cc");
#else
#error "no loop of known length for this machine"
#endif
}

/* Return a number that differs between threads in a phase, and between phases of a thread. */
static uint64_t rounds_of(uint32_t index, uint32_t phase)
{
	return 40000 + 20000 * (uint64_t)((index * 5 + phase * 3) % 13);
}

static void work(struct worker *w, uint32_t phase)
{
	uint64_t rounds = rounds_of(w->index, phase);

	execute(rounds / 2);
	if ((w->index + phase) % 3 == 0)
		sleep_ns(100000);
	execute(rounds - rounds / 2);
	w->known[phase] = 2 * rounds;
}

ONE_COPY static void *worker_main(void *arg)
{
	struct worker *w = (struct worker *)arg;

	w->tid = thread_id();
	counters_open(w);
	for (uint32_t phase = 0; phase <= PHASES; phase++) {
		counters_read(w, w->before);
		work(w, phase);
		counters_read(w, w->after);
		for (uint32_t i = 0; i < EVENTS; i++)
			w->count[phase][i] = w->after[i] - w->before[i];
		serial(pthread_barrier_wait(&barrier));
	}
	counters_close(w);
	return NULL;
}

static void write_log(const char *path, const struct worker *workers)
{
	FILE *f = fopen(path, "w");

	if (!f)
		die("%s: %s", path, strerror(errno));
	fprintf(f, "tid,phase,event,count\n");
	for (const struct worker *w = workers; w < workers + THREADS; w++) {
		for (uint32_t phase = 1; phase <= PHASES; phase++) {
			for (uint32_t i = 0; i < EVENTS; i++)
				fprintf(f, "%d,%u,%s,%llu\n", (int)w->tid, phase, events[i].name,
					(unsigned long long)w->count[phase][i]);
			fprintf(f, "%d,%u,known-instructions,%llu\n", (int)w->tid, phase,
				(unsigned long long)w->known[phase]);
		}
	}
	if (fclose(f))
		die("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	struct worker *workers = (struct worker *)must_alloc(THREADS, sizeof(*workers));
	pthread_t threads[THREADS];

	if (argc != 2)
		die("usage: %s LOG", argv[0]);
	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, THREADS), "pthread_barrier_init");
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].index = i;
		must(pthread_create(&threads[i], NULL, worker_main, &workers[i]), "pthread_create");
	}
	for (uint32_t i = 0; i < THREADS; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	write_log(argv[1], workers);
	printf("pmu_phases: threads=%d phases=%d episodes=%d\n", THREADS, PHASES, PHASES + 1);
	free(workers);
	return 0;
}
