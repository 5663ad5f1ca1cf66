/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Reports and episodes made by hand, for the tests of all formats. */
#ifndef TEST_EMIT_DATA_H
#define TEST_EMIT_DATA_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"

#define DATA_START   1000000000000ULL /* clock_start_ns */
#define DATA_THREADS 8

/* Escape sequences, a new line, quotes, broken UTF-8, a script, a separator, reordering. */
#define DATA_HOSTILE                                                          \
	"\033[31mred\033]0;t\007\n\r\t\"',;\\ <script>alert(1)</script><!-- " \
	"\xff\xc3\x28\xed\xa0\x80 "                                           \
	"\xe2\x80\xae"                                                        \
	"drow \xc2\x9b\x7f µ 漢字"

static inline struct report_times data_times(uint64_t n, uint64_t sum, uint64_t min, uint64_t max,
					     double stddev)
{
	return (struct report_times){ .n = n,
				      .sum = sum,
				      .min = min,
				      .max = max,
				      .mean = n ? (double)sum / (double)n : NAN,
				      .stddev = stddev };
}

/* LU decomposition by blocks: the work of the threads is as 23 : 65 : ... : 191. */
static const unsigned data_lu[DATA_THREADS] = { 23, 65, 101, 131, 155, 173, 185, 191 };
static const uint64_t data_lu_last[DATA_THREADS] = { 0, 0, 2, 9, 40, 121, 309, 542 };

static inline void data_threads(struct report_thread *threads, uint64_t total_ns, uint64_t episodes)
{
	unsigned i;

	for (i = 0; i < DATA_THREADS; i++) {
		uint64_t work = total_ns * data_lu[i] / 191;

		threads[i] = (struct report_thread){
			.tid = 4711 + i,
			.index = i,
			.comm = "lu_block",
			.crossings = episodes,
			.work_ns = work,
			.wait_ns = total_ns - work + 1000000 * (i + 1),
			.idle_ns = total_ns - work + 1000000 * (i + 1) + 7000000,
			.wait_max_ns = 9300000 - 800000 * i,
			.last = data_lu_last[i] * episodes / 1023,
			.last_share = (double)data_lu_last[i] / 1023,
		};
	}
}

static inline void data_site(struct report_barrier *b, const char *id, const char *name,
			     const char *function, uint32_t line)
{
	memset(b, 0, sizeof(*b));
	strcpy(b->id, id);
	b->pid = 4711;
	b->comm = "lu_block";
	b->family = "pthread";
	b->kind = "explicit";
	b->name = name;
	b->function = function;
	b->file = "/home/user/src/lu.c";
	b->module = "/home/user/bin/lu_block";
	b->line = line;
	b->offset = 0x1234 + line;
	snprintf(b->label, sizeof(b->label), "%s lu.c:%u",
		 name	    ? name
		 : function ? function
			    : "?",
		 line);
	strcpy(b->object, "step_barrier");
}

/* What report_build() would make of it; released by data_free(). */
static inline void data_report(struct report *r)
{
	static struct report_loss losses[] = {
		{ "ring_full", "no room in a ring buffer: the consumer was too slow", 0 },
		{ "no_slot", "no room for another thread in the table of arrivals", 0 },
	};
	static uint32_t hist[64] = { [20] = 600, [21] = 400, [22] = 22, [23] = 1 };
	struct report_barrier *b;
	struct report_process *p;

	memset(r, 0, sizeof(*r));
	r->start_ns = DATA_START;
	r->end_ns = DATA_START + 4310000000;
	r->nprocesses = 1;
	r->processes = p = calloc(1, sizeof(*p));
	r->nbarriers = 3;
	r->barriers = b = calloc(3, sizeof(*b));
	r->nphases = 3;
	r->phases = calloc(3, sizeof(*r->phases));
	r->episodes = 1025;
	r->crossings = 8200;
	r->produced = r->consumed = 8224;
	r->losses = losses;
	r->nlosses = 2;
	r->complete = true;
	r->crossing_cost_ns = 1210.5;
	r->tracer_cpu_ns = 61000000;

	data_site(&b[0], "#5c1e70d2", NULL, "lu_worker", 88);
	b[0].episodes = 1023;
	b[0].crossings = 8184;
	b[0].participants = b[0].participants_min = 8;
	b[0].phase_ns = data_times(1023, 4080000000, 12000, 11400000, 2210000.5);
	b[0].phase_ns.hist = hist;
	b[0].barrier_ns = data_times(1023, 3610000000, 9000, 9300000, 1800000);
	b[0].wait_ns = data_times(8184, 10750000000, 0, 9300000, 1500000);
	b[0].release_ns = data_times(8184, 57000000, 2100, 410000, 8000);
	b[0].lost_ns = 10750000000;
	b[0].gain_ns = 1343750000;
	b[0].share = 0.969;
	b[0].imbalance = 0.329;
	b[0].load_balance = 0.67;
	b[0].serialisation = 0.998;
	b[0].release_share = 0.0017;
	b[0].last_tid = 4718;
	b[0].last_comm = "lu_block";
	b[0].last_count = 542;
	b[0].last_share = 542.0 / 1023;
	b[0].pattern = REPORT_STATIC;
	strcpy(b[0].verdict,
	       "The same threads come last: id 7 (53 %), 6 (30 %), 5 (12 %); id 0 waits "
	       "88 % of its time.");
	strcpy(b[0].advice,
	       "Divide the work anew: these threads have more of it, deal it out in turn "
	       "(cyclic) instead of in blocks.");
	b[0].nthreads = DATA_THREADS;
	b[0].threads = calloc(DATA_THREADS, sizeof(*b[0].threads));
	data_threads(b[0].threads, 4080000000, 1023);
	b[0].nlongest = 3;
	b[0].longest[0] = (struct model_longest){ 11400000, 2, 62100000 };
	b[0].longest[1] = (struct model_longest){ 11390000, 1, 50700000 };
	b[0].longest[2] = (struct model_longest){ 11310000, 5, 96000000 };

	data_site(&b[1], "#0a33f9c1", "End initialisation", "lu_worker", 71);
	b[1].episodes = 1;
	b[1].crossings = 8;
	b[1].participants = b[1].participants_min = 8;
	b[1].phase_ns = data_times(1, 39300000, 39300000, 39300000, 0);
	b[1].barrier_ns = data_times(1, 4200000, 4200000, 4200000, 0);
	b[1].wait_ns = data_times(8, 21000000, 0, 4200000, 1400000);
	b[1].release_ns = data_times(8, 400000, 11000, 90000, 20000);
	b[1].lost_ns = 21000000;
	b[1].gain_ns = 2625000;
	b[1].share = 0.0093;
	b[1].imbalance = 0.067;
	b[1].load_balance = b[1].serialisation = NAN;
	b[1].release_share = 0.001;
	b[1].last_tid = 4711;
	b[1].last_comm = "lu_block";
	b[1].last_count = 1;
	b[1].last_share = 1;
	b[1].pattern = REPORT_FEW;

	data_site(&b[2], "#e7702b18", NULL, NULL, 0);
	b[2].file = NULL;
	b[2].offset = 0x8f31;
	b[2].module = "/usr/lib/x86_64-linux-gnu/libmatrix.so.3";
	strcpy(b[2].label, "libmatrix.so.3+0x8f31");
	b[2].incomplete = 1;
	b[2].load_balance = b[2].serialisation = b[2].share = b[2].imbalance = NAN;
	b[2].release_share = b[2].last_share = NAN;
	b[2].phase_ns = b[2].barrier_ns = b[2].wait_ns = b[2].release_ns =
		data_times(0, 0, 0, 0, NAN);
	b[2].lost_ns = b[2].gain_ns = REPORT_UNKNOWN;
	b[2].pattern = REPORT_FEW;
	r->incomplete = 1;

	p->pid = 4711;
	p->comm = "lu_block";
	p->parent = 4700;
	p->exited = true;
	p->elapsed_ns = 4210000000;
	p->ideal_ns = 4130000000;
	p->threads = DATA_THREADS;
	p->episodes = 1024;
	p->incomplete = 1;
	p->crossings = 8200;
	p->outside_ns = 22200000000;
	p->wait_ns = 10771000000;
	p->release_ns = 57400000;
	p->efficiency = (struct report_efficiency){ 0.66, 0.67, 0.998, 0.981, 0.979 };
	p->lost_static = 0.325;
	p->lost_rotating = 0.0013;
	p->lost_transfer = 0.0137;
	p->pattern = REPORT_STATIC;
	strcpy(p->verdict,
	       "34 % of the threads' time is lost waiting at barriers, nearly all at lu_worker "
	       "lu.c:88, because the same threads always come last: id 7, 6, 5.");
	strcpy(p->advice, "Divide the work anew: threads 7, 6 and 5 have more of it.");
	p->departures = "return probe";
	p->cost_ns = 9926000;
	p->cost_share = 0.00045;
	p->nmembers = DATA_THREADS;
	p->members = calloc(DATA_THREADS, sizeof(*p->members));
	data_threads(p->members, 4130000000, 1024);

	r->phases[0] = (struct report_phase){ .pid = 4711,
					      .from_id = "#5c1e70d2",
					      .to_id = "#5c1e70d2",
					      .from = "lu_worker lu.c:88",
					      .to = "lu_worker lu.c:88",
					      .occurrences = 1022,
					      .phase_ns = data_times(1022, 4068600000, 12000,
								     11400000, 2.2e6),
					      .lost_ns = 10700000000,
					      .share = 0.966,
					      .imbalance = 0.3287 };
	r->phases[1] =
		(struct report_phase){ .pid = 4711,
				       .to_id = "#0a33f9c1",
				       .from = "start",
				       .to = "End initialisation lu.c:71",
				       .occurrences = 1,
				       .phase_ns = data_times(1, 39300000, 39300000, 39300000, 0),
				       .lost_ns = 21000000,
				       .share = 0.0093,
				       .imbalance = 0.067 };
	r->phases[2] =
		(struct report_phase){ .pid = 4711,
				       .from_id = "#0a33f9c1",
				       .to_id = "#5c1e70d2",
				       .from = "End initialisation lu.c:71",
				       .to = "lu_worker lu.c:88",
				       .occurrences = 1,
				       .phase_ns = data_times(1, 11400000, 11400000, 11400000, 0),
				       .lost_ns = 50000000,
				       .share = 0.0027,
				       .imbalance = 0.548 };
}

static inline void data_free(struct report *r)
{
	uint32_t i;

	for (i = 0; i < r->nbarriers; i++)
		free(r->barriers[i].threads);
	for (i = 0; i < r->nprocesses; i++)
		free(r->processes[i].members);
	free(r->barriers);
	free(r->processes);
	free(r->phases);
}

/* Every string from outside is hostile, or 4 KiB long. */
static inline void data_hostile(struct report *r, char path[4097])
{
	static const struct report_callsite sites[] = {
		{ DATA_HOSTILE, "=cmd|' /C calc'!A0", "+sum", 3, 0x10, "@x" },
		{ NULL, NULL, NULL, 0, 0, NULL },
	};
	uint32_t i;

	memset(path, 'p', 4096);
	path[4096] = '\0';
	memcpy(path + 100, "\xff\n\033[2J", 6);
	for (i = 0; i < r->nbarriers; i++) {
		r->barriers[i].comm = DATA_HOSTILE;
		r->barriers[i].name = "-1+1";
		r->barriers[i].function = "=1+1";
		r->barriers[i].file = path;
		r->barriers[i].module = path;
		r->barriers[i].last_comm = DATA_HOSTILE;
		r->barriers[i].ncallsites = 2;
		r->barriers[i].callsites = (struct report_callsite *)sites;
		snprintf(r->barriers[i].label, sizeof(r->barriers[i].label), "%s", DATA_HOSTILE);
		snprintf(r->barriers[i].object, sizeof(r->barriers[i].object), "%.100s", path);
	}
	for (i = 0; i < r->nprocesses; i++)
		r->processes[i].comm = DATA_HOSTILE;
	for (i = 0; i < r->barriers[0].nthreads; i++)
		r->barriers[0].threads[i].comm = DATA_HOSTILE;
	for (i = 0; i < r->nphases; i++)
		snprintf(r->phases[i].from, sizeof(r->phases[i].from), "%s", DATA_HOSTILE);
}

/* The order of arrival of figure 3.10. */
static inline void data_episode(struct emit_episode *e, const struct report_barrier *b,
				struct emit_member members[DATA_THREADS])
{
	static const unsigned order[] = { 0, 3, 1, 2, 4, 6, 5, 7 };
	static const uint64_t inter[] = { 0, 2100, 450000, 900, 39000000, 8000000, 310, 1000000 };
	uint64_t t = DATA_START + 312999000000, last = t;
	unsigned i;

	for (i = 0; i < DATA_THREADS; i++)
		last += inter[i];
	for (i = 0; i < DATA_THREADS; i++) {
		t += inter[i];
		members[i] = (struct emit_member){ .tid = 4711 + order[i],
						   .index = order[i],
						   .comm = "lu_block",
						   .order = i,
						   .arrive_ns = t,
						   .inter_ns = inter[i],
						   .wait_ns = last - t,
						   .depart_ns = last + 20000 + i,
						   .work_ns = 1900000 + inter[i],
						   .cpu = order[i] % 4 };
	}
	*e = (struct emit_episode){ .barrier = b,
				    .pid = 4711,
				    .seq = 1070,
				    .number = 1071,
				    .release_ns = last,
				    .phase_ns = 50400000,
				    .barrier_ns = last - members[0].arrive_ns,
				    .participants = DATA_THREADS,
				    .state = MODEL_COMPLETE,
				    .nmembers = DATA_THREADS,
				    .members = members };
}

static inline struct emit_session data_session(void)
{
	static const struct emit_probe probes[] = {
		{ "pthread", "/usr/lib/x86_64-linux-gnu/libc.so.6", "pthread_barrier_wait",
		  "session", 0x8f2a4, "inode", "push %rbp (emulated)",
		  "past endbr64: emulated, not single-stepped" },
	};
	static const struct emit_setting settings[] = {
		{ "SBT_WATCH", NULL },	     { "SBT_WATCH_ALL", "1" },	 { "SBT_WARNINGS", "1" },
		{ "SBT_WARN_TIME", "1000" }, { "SBT_PHASE_TIMES", "1" }, { "SBT_NO_DEBUG", "0" },
	};

	return (struct emit_session){ .version = "0.1.0",
				      .kernel = "6.12.0",
				      .mode = "command",
				      .command = "./lu_block 1024 8",
				      .clock_start_ns = DATA_START,
				      .nprobes = 1,
				      .probes = probes,
				      .nsettings = 6,
				      .settings = settings,
				      .banner = true,
				      .armed_ns = 48000000 };
}

/* Runs everything that a writer can be told, and returns what it wrote. */
static inline char *data_all(const struct emit_options *options, const struct report *r,
			     size_t *len)
{
	struct emit_session session = data_session();
	struct emit_member members[DATA_THREADS];
	struct emit_episode e;
	char *out = NULL;
	FILE *f = open_memstream(&out, len);
	struct emit *emit = emit_new(f, options);

	data_episode(&e, &r->barriers[0], members);
	emit_session(emit, &session);
	emit_watched(emit, &e);
	emit_named(emit, &e);
	emit_warning(emit, &e, 10000000);
	emit_phase_time(emit, &e);
	emit_report(emit, r);
	if (emit_free(emit))
		abort();
	fclose(f);
	return out;
}

#endif /* TEST_EMIT_DATA_H */
