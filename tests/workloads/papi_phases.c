// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads that count events in their own phases: a team crosses one barrier PHASES + 1 times.
// Between two crossings each thread does work that depends on the thread and the phase alone, and
// reads its own counters before and after the work.
//
//   papi_phases LOG [EVENT...]      counts with PAPI
//   perf_phases LOG [EVENT...]      counts with perf_event_open(), for machines without PAPI
//
// LOG gets one line "tid,phase,event,count" for each thread, phase and event. Phase n ends with
// episode n of the barrier (the first is 0). LOG has no phase 0, in which the counters are set up.
// Two more "events" are known without counting: known-pages, the number of fresh pages touched, and
// known-sleeps. Times are in ns.
//
// A tracer that counts from departure to arrival also counts one reading (a system call of 0.3 us
// here): from leaving the barrier to the end of the first reading, and from the start of the second
// reading to the arrival. This affects task-clock, cycles and instructions. It causes no page
// faults, because all of that memory was touched before.
#include "common.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#ifdef WITH_PAPI
#include <dlfcn.h>
#include <papi.h>
#include <perfmon/pfmlib.h>
#define READER "PAPI"
#else
#define READER "perf_event_open"
#endif

#define THREADS	   4
#define PHASES	   40
#define EVENTS_MAX 8
#define PAGE	   4096

struct event {
	const char *name; /* sbt-trace's name */
	const char *papi;
	uint32_t type, config;
};

static const struct event known[] = {
	{ "page-faults", "perf::PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", "perf::CONTEXT-SWITCHES", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "task-clock", "perf::TASK-CLOCK", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu-migrations", "perf::CPU-MIGRATIONS", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", "perf::MINOR-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "cycles", "PAPI_TOT_CYC", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", "PAPI_TOT_INS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
};

static const struct event *events[EVENTS_MAX];
static uint32_t nevents;
static pthread_barrier_t barrier;
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;

struct worker {
	uint32_t index;
	pid_t tid;
	long long before[EVENTS_MAX], after[EVENTS_MAX];
	long long count[PHASES + 1][EVENTS_MAX];
	uint32_t pages[PHASES + 1], sleeps[PHASES + 1];
	int set; /* PAPI's event set, or the leader of the perf event group */
};

#ifdef WITH_PAPI

/*
 * If libpfm4 does not know the CPU, for example because the CPU is newer, PAPI disables all perf
 * events, including the kernel's software events. This function then presents the kernel's own
 * events as the core PMU that PAPI requires.
 */
pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	pfm_err_t (*real)(pfm_pmu_t pmu, pfm_pmu_info_t * info);
	pfm_pmu_info_t other;
	int i, cores = 0;

	*(void **)&real = dlsym(RTLD_NEXT, "pfm_get_pmu_info");
	if (!real)
		die("libpfm4 has no pfm_get_pmu_info");
	for (i = 0; i < PFM_PMU_MAX && pmu == PFM_PMU_PERF_EVENT; i++) {
		memset(&other, 0, sizeof(other));
		if (!real((pfm_pmu_t)i, &other) && other.is_present &&
		    other.type == PFM_PMU_TYPE_CORE && strcmp(other.name, "ix86arch") != 0)
			cores++;
	}
	i = real(pmu, info);
	if (!i && pmu == PFM_PMU_PERF_EVENT && !cores) {
		info->type = PFM_PMU_TYPE_CORE;
		info->num_cntrs = EVENTS_MAX;
	}
	return (pfm_err_t)i;
}

static void must_papi(int rc, const char *what)
{
	if (rc != PAPI_OK)
		die("%s: %s", what, PAPI_strerror(rc));
}

static unsigned long papi_thread(void)
{
	return (unsigned long)pthread_self();
}

static void counters_init(void)
{
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		die("PAPI does not start");
	must_papi(PAPI_thread_init(papi_thread), "PAPI_thread_init");
	/*
	 * Include the events that the kernel causes on behalf of the thread: page faults and
	 * switches.
	 */
	must_papi(PAPI_set_domain(PAPI_DOM_ALL), "PAPI_set_domain");
}

static void counters_start(struct worker *w)
{
	w->set = PAPI_NULL;
	must_papi(PAPI_register_thread(), "PAPI_register_thread");
	must_papi(PAPI_create_eventset(&w->set), "PAPI_create_eventset");
	for (uint32_t i = 0; i < nevents; i++)
		must_papi(PAPI_add_named_event(w->set, events[i]->papi), events[i]->papi);
	must_papi(PAPI_start(w->set), "PAPI_start");
}

static void counters_read(struct worker *w, long long *values)
{
	must_papi(PAPI_read(w->set, values), "PAPI_read");
}

static void counters_stop(struct worker *w)
{
	long long last[EVENTS_MAX];

	must_papi(PAPI_stop(w->set, last), "PAPI_stop");
	must_papi(PAPI_unregister_thread(), "PAPI_unregister_thread");
}

#else

static void counters_init(void)
{
}

static void counters_start(struct worker *w)
{
	struct perf_event_attr attr;
	int fd;

	w->set = -1;
	for (uint32_t i = 0; i < nevents; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		attr.type = events[i]->type;
		attr.config = events[i]->config;
		attr.read_format = PERF_FORMAT_GROUP;
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, w->set, 0UL);
		if (fd < 0)
			die("%s: %s", events[i]->name, strerror(errno));
		w->set = i ? w->set : fd;
	}
}

static void counters_read(struct worker *w, long long *values)
{
	uint64_t got[1 + EVENTS_MAX];

	if (read(w->set, got, sizeof(got)) < (ssize_t)((1 + nevents) * sizeof(*got)))
		die("reading a counter: %s", strerror(errno));
	for (uint32_t i = 0; i < nevents; i++)
		values[i] = (long long)got[1 + i];
}

static void counters_stop(struct worker *w)
{
	close(w->set);
}

#endif

/*
 * Touch @n pages, with one page fault each. The mapping is too small for a huge page, and
 * MADV_NOHUGEPAGE prevents folios of several pages.
 */
static void touch_pages(uint32_t n)
{
	size_t size = (size_t)n * PAGE;
	volatile char *p;

	if (!n)
		return;
	p = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	madvise((void *)p, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += PAGE)
		p[at] = 1;
	munmap((void *)p, size);
}

static void compute(uint32_t rounds)
{
	volatile uint32_t sum = 0;

	for (uint32_t i = 0; i < rounds; i++)
		sum += i;
}

/*
 * Work differs between threads in a phase, and between phases of a thread. Some phases have no
 * pages or no sleeps.
 */
static void work(struct worker *w, uint32_t phase)
{
	uint32_t pages = (w->index * 53 + phase * 17) % 120;
	uint32_t sleeps = (w->index + phase) % 4;

	compute(100000 * ((w->index * 5 + phase * 3) % 13));
	touch_pages(pages);
	for (uint32_t i = 0; i < sleeps; i++)
		sleep_ns(100000);
	compute(50000 * (w->index + 1));
	w->pages[phase] = pages;
	w->sleeps[phase] = sleeps;
}

ONE_COPY static void *worker_main(void *arg)
{
	struct worker *w = (struct worker *)arg;

	w->tid = thread_id();
	/* PAPI and libpfm4 must not look up names in two threads at the same time. */
	pthread_mutex_lock(&naming);
	counters_start(w);
	pthread_mutex_unlock(&naming);
	/* Run once first, so that later phases touch no memory for the first time. */
	work(w, 0);
	counters_read(w, w->before);
	for (uint32_t phase = 0; phase <= PHASES; phase++) {
		if (phase) {
			counters_read(w, w->before);
			work(w, phase);
			counters_read(w, w->after);
			for (uint32_t i = 0; i < nevents; i++)
				w->count[phase][i] = w->after[i] - w->before[i];
		}
		serial(pthread_barrier_wait(&barrier));
	}
	counters_stop(w);
	return NULL;
}

static void choose_events(int n, char **names)
{
	static char *usual[] = { "page-faults", "context-switches", "task-clock" };

	if (!n) {
		n = ARRAY_SIZE(usual);
		names = usual;
	}
	if (n > EVENTS_MAX)
		die("at most %d events", EVENTS_MAX);
	for (nevents = 0; nevents < (uint32_t)n; nevents++) {
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (!strcmp(names[nevents], known[i].name))
				events[nevents] = &known[i];
		}
		if (!events[nevents])
			die("no event '%s' here", names[nevents]);
	}
}

static void write_log(const char *path, const struct worker *workers)
{
	FILE *f = fopen(path, "w");

	if (!f)
		die("%s: %s", path, strerror(errno));
	fprintf(f, "tid,phase,event,count\n");
	for (const struct worker *w = workers; w < workers + THREADS; w++) {
		for (uint32_t phase = 1; phase <= PHASES; phase++) {
			for (uint32_t i = 0; i < nevents; i++)
				fprintf(f, "%d,%u,%s,%lld\n", (int)w->tid, phase, events[i]->name,
					w->count[phase][i]);
			fprintf(f, "%d,%u,known-pages,%u\n", (int)w->tid, phase, w->pages[phase]);
			fprintf(f, "%d,%u,known-sleeps,%u\n", (int)w->tid, phase, w->sleeps[phase]);
		}
	}
	if (fclose(f))
		die("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	struct worker *workers = (struct worker *)must_alloc(THREADS, sizeof(*workers));
	pthread_t threads[THREADS];

	if (argc < 2)
		die("usage: %s LOG [EVENT...]", argv[0]);
	stopgap(STOPGAP_SECONDS);
	exact_timers();
	choose_events(argc - 2, argv + 2);
	counters_init();
	/* Touch every page of the results, so that storing them causes no counted faults. */
	memset(workers, 1, THREADS * sizeof(*workers));
	must(pthread_barrier_init(&barrier, NULL, THREADS), "pthread_barrier_init");
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].index = i;
		must(pthread_create(&threads[i], NULL, worker_main, &workers[i]), "pthread_create");
	}
	for (uint32_t i = 0; i < THREADS; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	write_log(argv[1], workers);
	printf("phases: reader=%s threads=%d phases=%d episodes=%d\n", READER, THREADS, PHASES,
	       PHASES + 1);
	free(workers);
	return 0;
}
