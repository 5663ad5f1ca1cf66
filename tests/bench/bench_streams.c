// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Measure the merge and the model at the size of large machines. The rings are laid out like the
 * kernel's, and hold crossings of many threads. One thread reads and feeds them at full speed.
 * Usage: bench_streams [SOURCES [THREADS [PASSES [TEAM [mixed]]]]]; prints one line. The time to
 * fill the rings is not measured. "mixed": the order of departures is random, so that successive
 * crossings need data from different cache lines.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "model/model.h"
#include "ingest/ring.h"

#define PAGE	 4096u
#define ROUND_NS 20000u

struct record {
	uint32_t len, pad;
	struct sbt_crossing crossing;
};

struct source {
	int fd;
	uint8_t *map; /* the consumer's page, the producer's page, and the data twice */
	uint64_t pos;
};

struct bench {
	struct source *sources;
	int *fds;
	uint32_t nsources, threads, team;
	bool mixed;
	size_t bytes;
	uint64_t t, random;
	uint32_t round;
	struct stream *stream;
	struct model *model;
	uint64_t crossings, spent;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts); /* other processes may use the CPU, too */
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t next_random(struct bench *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

static int source_open(struct bench *b, uint32_t i)
{
	struct source *s = &b->sources[i];
	size_t size = 2 * PAGE + 2 * b->bytes;

	s->fd = b->fds[i] = memfd_create("ring", MFD_CLOEXEC);
	if (s->fd < 0 || ftruncate(s->fd, (off_t)size))
		return -1;
	s->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	return s->map == MAP_FAILED ? -1 : 0;
}

static void put(struct bench *b, struct source *s, const struct sbt_crossing *c)
{
	struct record r = { .len = sizeof(*c), .crossing = *c };
	size_t at = s->pos & (b->bytes - 1), left = b->bytes - at;
	uint8_t *data = s->map + 2 * PAGE;

	/*
	 * Write both mappings of the data, as in the kernel's ring: a record that wraps in one is
	 * contiguous in both.
	 */
	memcpy(data + at, &r, sizeof(r));
	if (left < sizeof(r))
		memcpy(data, (uint8_t *)&r + left, sizeof(r) - left);
	else
		memcpy(data + b->bytes + at, &r, sizeof(r));
	s->pos += sizeof(r);
}

/*
 * Return when the @nth thread of a CPU leaves, in ns after all have arrived. In one stream,
 * departures are ordered by time.
 */
static uint64_t leaves_after(struct bench *b, uint32_t nth)
{
	uint64_t each = 10000 / (b->threads / b->nsources + 1);

	return b->mixed && each ? nth * each + next_random(b) % each : nth % 5000 * 2;
}

/* Add one crossing of each thread to the streams. */
static void fill_round(struct bench *b)
{
	uint32_t cpu, thread, nth;

	b->round++;
	for (cpu = 0; cpu < b->nsources; cpu++) {
		for (thread = cpu, nth = 0; thread < b->threads; thread += b->nsources, nth++) {
			struct sbt_crossing c = {
				.type = SBT_REC_CROSSING,
				.tgid = 100,
				.inc = 1,
				.tid = 1000 + thread,
				.seq = b->round,
				.object = 0x10000 + 64ull * (thread / b->team),
				.ip = thread / b->team % 16,
				.raw_word = b->team,
				.arrive_ns = b->t + next_random(b) % 5000,
				.depart_ns = b->t + 6000 + leaves_after(b, nth),
				.arrive_cpu = (uint16_t)cpu,
				.depart_cpu = (uint16_t)cpu,
				.family = SBT_FAMILY_PTHREAD,
			};

			put(b, &b->sources[cpu], &c);
		}
	}
	b->t += ROUND_NS;
}

static uint32_t fill(struct bench *b)
{
	size_t each = sizeof(struct record) * (b->threads / b->nsources + 1);
	uint32_t rounds = (uint32_t)(b->bytes / each), i;

	for (i = 0; i < rounds; i++)
		fill_round(b);
	for (i = 0; i < b->nsources; i++)
		memcpy(b->sources[i].map + PAGE, &b->sources[i].pos, sizeof(uint64_t));
	return rounds;
}

static int feed(struct bench *b)
{
	uint64_t begin = now();
	struct stream_record r;

	while (stream_next(b->stream, b->t, &r) > 0) {
		const struct sbt_crossing *c = r.crossing;
		struct model_crossing m = {
			.tgid = c->tgid,
			.inc = c->inc,
			.tid = c->tid,
			.seq = c->seq,
			.site = (uint32_t)c->ip,
			.count = (uint32_t)c->raw_word,
			.object = c->object,
			.arrive_ns = c->arrive_ns,
			.depart_ns = c->depart_ns,
			.arrive_cpu = c->arrive_cpu,
			.depart_cpu = c->depart_cpu,
			.family = c->family,
		};

		if (r.soon)
			model_expect(b->model, r.soon->tid);
		if (model_add_crossing(b->model, &m))
			return -1;
		b->crossings++;
	}
	if (model_advance(b->model, b->t))
		return -1;
	b->spent += now() - begin;
	return 0;
}

static long max_rss_kib(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_maxrss;
}

int main(int argc, char **argv)
{
	struct bench b = { .random = 88172645463325252ULL, .t = 1000000 };
	uint32_t passes, i, rounds = 0;
	long early = 0;

	b.nsources = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1024;
	b.threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 10000;
	passes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 10;
	b.team = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 10;
	b.mixed = argc > 5 && !strcmp(argv[5], "mixed");
	if (!b.nsources || !b.threads || !passes || !b.team || b.threads % b.team)
		return 2;
	for (b.bytes = PAGE; b.bytes < (32u << 20) / b.nsources; b.bytes *= 2)
		;
	b.sources = calloc(b.nsources + 1, sizeof(*b.sources));
	b.fds = calloc(b.nsources + 1, sizeof(*b.fds));
	b.model = model_new(NULL, 0);
	if (!b.sources || !b.fds || !b.model ||
	    model_add_process(b.model, 100, 1, 0, 0, 0, true, "b"))
		return 1;
	for (i = 0; i <= b.nsources; i++)
		if (source_open(&b, i))
			return 1;
	if (ring_open(b.fds, b.nsources, b.bytes, b.fds[b.nsources], b.bytes, &b.stream))
		return 1;
	for (i = 0; i < passes; i++) {
		rounds += fill(&b);
		if (feed(&b))
			return 1;
		if (i == 0)
			early = max_rss_kib();
	}
	if (model_finish(b.model, b.t) ||
	    model_totals(b.model)->episodes != (uint64_t)rounds * (b.threads / b.team))
		return 1;
	printf("streams: %u sources, %u threads in teams of %u%s: %.1f ns a crossing, %.2f million "
	       "a second; %llu crossings, %llu episodes, max RSS %ld KiB (%ld KiB after a pass)\n",
	       b.nsources, b.threads, b.team, b.mixed ? ", mixed" : "",
	       (double)b.spent / (double)b.crossings, (double)b.crossings * 1e3 / (double)b.spent,
	       (unsigned long long)b.crossings, (unsigned long long)model_totals(b.model)->episodes,
	       max_rss_kib(), early);
	return 0;
}
