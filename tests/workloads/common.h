// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Common code of the workloads: clocks, work of a known length, arguments, a stopgap against
// hanging. Valid as C and as C++. It includes only libc headers, because musl-gcc finds no kernel
// headers.
#ifndef WORKLOADS_COMMON_H
#define WORKLOADS_COMMON_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NSEC_PER_SEC  1000000000ULL
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Keep each function of the source a single function of the binary, so that one source line is one
 * call site.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define ONE_COPY __attribute__((noinline, noclone))
#else
#define ONE_COPY __attribute__((noinline))
#endif

__attribute__((noreturn, format(printf, 1, 2))) static inline void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Fail if a pthread function returned an error. */
static inline void must(int error, const char *what)
{
	if (error)
		die("%s: %s", what, strerror(error));
}

static inline void *must_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Return the time that the calling thread has been on a CPU, ns. */
static inline uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline void sleep_until(uint64_t deadline)
{
	struct timespec ts;

	ts.tv_sec = (time_t)(deadline / NSEC_PER_SEC);
	ts.tv_nsec = (long)(deadline % NSEC_PER_SEC);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static inline void sleep_ns(uint64_t ns)
{
	sleep_until(now_ns() + ns);
}

static inline void spin_until(uint64_t deadline)
{
	while (now_ns() < deadline)
		;
}

/* Remove the default timer slack of 50 us, so that sleeps have a known length. */
static inline void exact_timers(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static inline pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static inline uint64_t parse_u64(const char *what, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		die("%s: '%s' is not a number from %llu to %llu", what, text,
		    (unsigned long long)min, (unsigned long long)max);
	return value;
}

/* Parse a time such as 200us, 1ms, 2s or 50 (ns), and set *rest to the text after it. */
static inline uint64_t parse_time(const char *what, const char *text, const char **rest)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} unit[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", NSEC_PER_SEC } };
	unsigned long long value;
	uint64_t scale = 1;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		die("%s: '%s' does not begin with a time", what, text);
	for (size_t i = 0; i < ARRAY_SIZE(unit); i++) {
		if (!strncmp(end, unit[i].suffix, strlen(unit[i].suffix))) {
			scale = unit[i].ns;
			end += strlen(unit[i].suffix);
			break;
		}
	}
	*rest = end;
	return value * scale;
}

/* Return a well-mixed 64-bit number that depends on @x alone (splitmix64). */
static inline uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Return the FNV-1a checksum of results, which shows that tracing changed nothing. */
static inline uint64_t checksum(const void *data, size_t size)
{
	const unsigned char *p = (const unsigned char *)data;
	uint64_t sum = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ULL;
	return sum;
}

/* Return 1 for the serial thread of the episode, and 0 for the other threads. */
static inline int serial(int rc)
{
	if (rc && rc != PTHREAD_BARRIER_SERIAL_THREAD)
		must(rc, "pthread_barrier_wait");
	return rc != 0;
}

/*
 * Wait without a barrier, for programs in which only the measured barriers may exist. The 32-bit
 * word only grows, and threads or processes share it.
 */
static inline void word_wait(uint32_t *word, uint32_t at_least)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) < at_least)
		syscall(SYS_futex, word, 0 /* FUTEX_WAIT */, seen, NULL, NULL, 0);
}

static inline void word_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, 1 /* FUTEX_WAKE */, INT32_MAX, NULL, NULL, 0);
}

static inline void word_add(uint32_t *word, uint32_t value)
{
	__atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, word, 1 /* FUTEX_WAKE */, INT32_MAX, NULL, NULL, 0);
}

/*
 * Wait until the kernel shows the thread asleep. If it was on its way to a barrier, it waits there.
 */
static inline void wait_until_asleep(pid_t tid)
{
	char path[64], line[512];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	for (int calm = 0; calm < 5;) {
		FILE *f = fopen(path, "r");
		const char *state = NULL;

		if (!f)
			die("%s: %s", path, strerror(errno));
		if (fgets(line, sizeof(line), f))
			state = strrchr(line, ')');
		fclose(f);
		/* If the name in parentheses has a line break, the state is on another line. */
		calm = state && state[1] == ' ' && state[2] == 'S' ? calm + 1 : 0;
		sleep_ns(1000000);
	}
}

/*
 * End the program after @seconds, whatever tracing does to it. WORKLOAD_SECONDS in the environment
 * is for slow machines, where a tracer needs longer to attach: it can only lengthen the time.
 */
static inline void stopgap(unsigned int seconds)
{
	const char *slow = getenv("WORKLOAD_SECONDS");
	unsigned long most = slow ? strtoul(slow, NULL, 10) : 0;

	alarm(most > seconds ? (unsigned int)most : seconds);
}

#define STOPGAP_SECONDS 60

#endif
