/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Constructed reports and episodes, for the tests of all formats. */
#ifndef TEST_EMIT_DATA_H
#define TEST_EMIT_DATA_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/cause.h"
#include "emit/emit.h"

#define DATA_START   1000000000000ULL /* clock_start_ns */
#define DATA_THREADS 8

/*
 * Escape sequences, a new line, quotes, broken UTF-8, a script, a line separator, and reordering
 * characters.
 */
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

/* Work of the threads in LU decomposition by blocks: 23, 65, ..., 191. */
static const unsigned data_lu[DATA_THREADS] = { 23, 65, 101, 131, 155, 173, 185, 191 };
static const uint64_t data_lu_last[DATA_THREADS] = { 0, 0, 2, 9, 40, 121, 309, 542 };

#define DATA_COUNTERS 3

/* Return the parts of unaccounted time. */
static inline struct report_parts data_unknown(void)
{
	struct report_parts parts;

	memset(&parts, 0xff, sizeof(parts));
	return parts;
}

/*
 * Return the parts of a phase of @work ns: 2 % waiting for a CPU, 0.5 % for a lock, the rest on a
 * CPU.
 */
static inline struct report_parts data_parts(uint64_t work)
{
	return (struct report_parts){ .oncpu_ns = work - work / 50 - work / 200,
				      .runq_ns = work / 50,
				      .blocked_ns = { [MODEL_BLOCKED_LOCK] = work / 200 },
				      .unattributed_ns = work / 100000,
				      .fault_ns = work / 5000,
				      .spin_ns = 0,
				      .late_ns = 4000,
				      .switches = 12,
				      .migrations = 1,
				      .faults = 3 };
}

/* Fill the counters of a phase of @work ns, at 3 GHz; the last counter is multiplexed. */
static inline void data_counters(struct report_counter c[DATA_COUNTERS], uint64_t work)
{
	c[0] = (struct report_counter){ "cycles", work * 3, 35290, false, 0, 0 };
	c[1] = (struct report_counter){ "instructions", work * 4, 25730, false, 0, 0 };
	c[2] = (struct report_counter){ "PAPI_L2_TCM", work / 127, 12, true, 0, 0 };
}

static inline void data_threads(struct report_thread *threads, uint64_t total_ns, uint64_t episodes)
{
	for (unsigned i = 0; i < DATA_THREADS; i++) {
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
			.parts = data_parts(work),
			.ncounters = DATA_COUNTERS,
			.counters = calloc(DATA_COUNTERS, sizeof(struct report_counter)),
		};
		data_counters(threads[i].counters, work);
	}
}

static inline void data_site(struct report_barrier *b, const char *id, const char *name,
			     const char *function, uint32_t line)
{
	strcpy(b->id, id);
	b->pid = 4711;
	b->comm = "lu_block";
	b->detached_ns = b->detached_beside_ns = REPORT_UNKNOWN;
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
	b->cause.share = NAN;
	b->delay_direct_ns = b->delay_passed_ns = REPORT_UNKNOWN;
}

/*
 * Fill a cause: a mutex held by a preempted thread. The call chain has frames of the C library
 * above and below those of the program.
 */
static inline void data_cause(struct report_cause *cause)
{
	static const struct report_callsite frames[] = {
		{ "__futex_abstimed_wait_common", NULL, "/usr/lib/libc.so.6", 0, 0x8a1, NULL,
		  NULL },
		{ "pthread_mutex_lock", NULL, "/usr/lib/libc.so.6", 0, 0x9b2, NULL, NULL },
		{ "queue_pop", "/home/user/src/queue.c", "/home/user/bin/lu_block", 41, 0x1f0,
		  "next_block", NULL },
		{ "lu_step", "/home/user/src/lu.c", "/home/user/bin/lu_block", 83, 0x2f0, NULL,
		  NULL },
		{ "lu_worker", NULL, "/home/user/bin/lu_block", 0, 0x3f0, NULL, NULL },
		{ NULL, NULL, "/home/user/bin/lu_block", 0, 0x4f0, NULL, NULL },
		{ "start_thread", NULL, "/usr/lib/libc.so.6", 0, 0x5f0, NULL, NULL },
	};

	*cause = (struct report_cause){ .dominant = cause_row(CAUSE_LOCK),
					.share = 0.8125,
					.nparts = 5,
					.parts = { { "lock", 39000000 },
						   { "no cpu", 6000000 },
						   { "more work", 3000000 },
						   { "released late", -1500000 },
						   { "unattributed", 11 } },
					.lateness_ns = 46500011,
					.episodes = 1020,
					.dominated = 873,
					.culprit = "the lock `queue`, held by thread 2",
					.nframes = 7,
					.frames = frames };
	strcpy(cause->text,
	       "Thread 7 came 46.5 ms after thread 2: 81 % of that because it waited for the lock "
	       "`queue` held by thread 2, which itself was waiting for a CPU that stress-ng (99) "
	       "had.");
}

/* Fill a report like report_build(); release it with data_free(). */
static inline void data_report(struct report *r)
{
	static struct report_loss losses[] = {
		{ "ring_full", "no room in a ring buffer: the consumer was too slow", 0 },
		{ "no_slot", "no room for another thread in the table of arrivals", 0 },
	};
	static const struct report_finding findings[] = {
		{ "oversubscribed", 4711, 3.9,
		  "More threads than CPUs: of its 8 threads on 4 CPUs, 3.9 on average were ready "
		  "to run and had none." },
		{ "slow_cpu", 0, 0.61,
		  "CPU 3 ran at 1.83 GHz while threads computed there, the others at 3.00: 61 % of "
		  "their speed." },
	};
	static uint32_t hist[64] = { [20] = 600, [21] = 400, [22] = 22, [23] = 1 };
	struct report_process *p = calloc(1, sizeof(*p));
	struct report_barrier *b = calloc(3, sizeof(*b));

	*r = (struct report){ .start_ns = DATA_START,
			      .end_ns = DATA_START + 4310000000,
			      .nprocesses = 1,
			      .processes = p,
			      .nbarriers = 3,
			      .barriers = b,
			      .findings = (struct report_finding *)findings,
			      .nfindings = 2,
			      .nphases = 3,
			      .phases = calloc(3, sizeof(*r->phases)),
			      .episodes = 1025,
			      .crossings = 8200,
			      .produced = 8224,
			      .consumed = 8224,
			      .losses = losses,
			      .nlosses = 2,
			      .complete = true,
			      .lossless = true,
			      .crossing_cost_ns = 1210.5,
			      .switch_cost_ns = 612.5,
			      .tracer_cpu_ns = 61000000 };

	b[0] = (struct report_barrier){
		.episodes = 1023,
		.crossings = 8184,
		.participants = 8,
		.participants_min = 8,
		.phase_ns = data_times(1023, 4080000000, 12000, 11400000, 2210000.5),
		.barrier_ns = data_times(1023, 3610000000, 9000, 9300000, 1800000),
		.wait_ns = data_times(8184, 10750000000, 0, 9300000, 1500000),
		.release_ns = data_times(8184, 57000000, 2100, 410000, 8000),
		.lost_ns = 10750000000,
		.gain_ns = 1343750000,
		.share = 0.969,
		.imbalance = 0.329,
		.load_balance = 0.67,
		.serialisation = 0.998,
		.release_share = 0.0017,
		.last_tid = 4718,
		.last_comm = "lu_block",
		.last_count = 542,
		.last_share = 542.0 / 1023,
		.pattern = REPORT_STATIC,
		.advice =
			"Divide the work anew: these threads have more of it, deal it out in turn "
			"(cyclic) instead of in blocks.",
		.nthreads = DATA_THREADS,
		.threads = calloc(DATA_THREADS, sizeof(*b[0].threads)),
		.ncounters = DATA_COUNTERS,
		.counters = calloc(DATA_COUNTERS, sizeof(*b[0].counters)),
		.nlongest = 3,
		.longest[0] = (struct model_longest){ 11400000, 2, 62100000 },
		.longest[1] = (struct model_longest){ 11390000, 1, 50700000 },
		.longest[2] = (struct model_longest){ 11310000, 5, 96000000 }
	};
	data_site(&b[0], "#5c1e70d2", NULL, "lu_worker", 88);
	b[0].delay_direct_ns = 10100000000;
	b[0].delay_passed_ns = 612000000;
	b[0].phase_ns.hist = hist;
	strcpy(b[0].verdict,
	       "The same threads arrive last: id 7 (53 %), 6 (30 %), 5 (12 %); id 0 waits "
	       "88 % of its time.");
	data_threads(b[0].threads, 4080000000, 1023);
	data_cause(&b[0].cause);
	strcpy(b[0].cause.text,
	       "Late mostly because it waited for the lock `queue` held by thread 2: 81 % of the "
	       "lost time, in 873 of 1020 episodes; 13 % because it was ready to run and waited "
	       "for a CPU.");
	data_counters(b[0].counters, 4080000000ULL * 1024 / 191);

	b[1] = (struct report_barrier){ .episodes = 1,
					.crossings = 8,
					.participants = 8,
					.participants_min = 8,
					.phase_ns = data_times(1, 39300000, 39300000, 39300000, 0),
					.barrier_ns = data_times(1, 4200000, 4200000, 4200000, 0),
					.wait_ns = data_times(8, 21000000, 0, 4200000, 1400000),
					.release_ns = data_times(8, 400000, 11000, 90000, 20000),
					.lost_ns = 21000000,
					.gain_ns = 2625000,
					.share = 0.0093,
					.imbalance = 0.067,
					.load_balance = NAN,
					.serialisation = NAN,
					.release_share = 0.001,
					.last_tid = 4711,
					.last_comm = "lu_block",
					.last_count = 1,
					.last_share = 1,
					.pattern = REPORT_FEW };
	data_site(&b[1], "#0a33f9c1", "End initialisation", "lu_worker", 71);

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

	*p = (struct report_process){
		.pid = 4711,
		.comm = "lu_block",
		.parent = 4700,
		.exited = true,
		.elapsed_ns = 4210000000,
		.ideal_ns = 4130000000,
		.threads = DATA_THREADS,
		.episodes = 1024,
		.incomplete = 1,
		.crossings = 8200,
		.outside_ns = 22200000000,
		.wait_ns = 10771000000,
		.release_ns = 57400000,
		.efficiency = (struct report_efficiency){ 0.66, 0.67, 0.998, 0.981, 0.979 },
		.lost_static = 0.325,
		.lost_rotating = 0.0013,
		.lost_transfer = 0.0137,
		.pattern = REPORT_STATIC,
		.verdict = "34 % of the threads' time is lost waiting at barriers, nearly "
			   "all at lu_worker "
			   "lu.c:88, because the same threads always arrive last: id 7, 6, 5.",
		.advice = "Divide the work anew: threads 7, 6 and 5 have more of it.",
		.exit_detection = "return probe",
		.cost_ns = 9926000,
		.cost_share = 0.00045,
		.cost_interference_ns = 931000,
		.crossing_cost_ns = 1325.25,
		.detached_ns = REPORT_UNKNOWN,
		.counted_from_ns = REPORT_UNKNOWN,
		.detached_cost = NAN,
		.detached_limit = NAN,
		.nmembers = DATA_THREADS,
		.members = calloc(DATA_THREADS, sizeof(*p->members)),
		.useful_oncpu = 0.975,
		.omp_load_balance = NAN,
		.omp_scheduling = NAN,
		.omp_start = NAN,
		.omp_serialisation = NAN,
		.omp_turns = NAN,
		.ncounters = DATA_COUNTERS,
		.counters = calloc(DATA_COUNTERS, sizeof(*p->counters))
	};
	data_threads(p->members, 4130000000, 1024);
	data_counters(p->counters, 4130000000ULL * 1024 / 191);

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

static inline struct report data_new(void)
{
	struct report r;

	data_report(&r);
	return r;
}

static inline void data_free_threads(struct report_thread *threads, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(threads[i].counters);
	free(threads);
}

static inline void data_free(struct report *r)
{
	for (uint32_t i = 0; i < r->nbarriers; i++) {
		data_free_threads(r->barriers[i].threads, r->barriers[i].nthreads);
		free(r->barriers[i].counters);
	}
	for (uint32_t i = 0; i < r->nprocesses; i++) {
		data_free_threads(r->processes[i].members, r->processes[i].nmembers);
		free(r->processes[i].counters);
	}
	free(r->barriers);
	free(r->processes);
	free(r->phases);
}

/* Make every external string hostile, or 4 KiB long. */
static inline void data_hostile(struct report *r, char path[4097])
{
	static const struct report_callsite sites[] = {
		{ DATA_HOSTILE, "=cmd|' /C calc'!A0", "+sum", 3, 0x10, "@x", DATA_HOSTILE },
		{ NULL, NULL, NULL, 0, 0, NULL, NULL },
	};
	static struct report_finding findings[1];

	memset(path, 'p', 4096);
	path[4096] = '\0';
	memcpy(path + 100, "\xff\n\033[2J", 6);
	for (uint32_t i = 0; i < r->nbarriers; i++) {
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
	for (uint32_t i = 0; i < r->nprocesses; i++)
		r->processes[i].comm = DATA_HOSTILE;
	for (uint32_t i = 0; i < r->barriers[0].nthreads; i++) {
		r->barriers[0].threads[i].comm = DATA_HOSTILE;
		r->barriers[0].threads[i].counters[0].name = DATA_HOSTILE;
		r->barriers[0].threads[i].counters[1].name = "=1+1";
		r->barriers[0].threads[i].counters[2].name = NULL;
	}
	for (uint32_t i = 0; i < r->barriers[0].ncounters; i++)
		r->barriers[0].counters[i].name = r->barriers[0].threads[0].counters[i].name;
	r->barriers[0].cause.culprit = DATA_HOSTILE;
	r->barriers[0].cause.frames = sites;
	r->barriers[0].cause.nframes = 2;
	snprintf(r->barriers[0].cause.text, sizeof(r->barriers[0].cause.text), "%s", DATA_HOSTILE);
	snprintf(findings[0].text, sizeof(findings[0].text), "%s", DATA_HOSTILE);
	findings[0].kind = "spinning";
	r->findings = findings;
	r->nfindings = 1;
	for (uint32_t i = 0; i < r->nphases; i++)
		snprintf(r->phases[i].from, sizeof(r->phases[i].from), "%s", DATA_HOSTILE);
}

/*
 * Fill an episode. The order of arrival is that of figure 3.10 of E. Novillo's thesis (University
 * of Alberta, 2002).
 */
static inline void data_episode(struct observed_episode *e, const struct report_barrier *b,
				struct observed_member members[DATA_THREADS])
{
	static const unsigned order[] = { 0, 3, 1, 2, 4, 6, 5, 7 };
	static struct report_counter counters[DATA_THREADS + 1][DATA_COUNTERS];
	static const uint64_t inter[] = { 0, 2100, 450000, 900, 39000000, 8000000, 310, 1000000 };
	uint64_t t = DATA_START + 312999000000, last = t;

	for (unsigned i = 0; i < DATA_THREADS; i++)
		last += inter[i];
	for (unsigned i = 0; i < DATA_THREADS; i++) {
		t += inter[i];
		members[i] = (struct observed_member){ .tid = 4711 + order[i],
						       .index = order[i],
						       .comm = "lu_block",
						       .order = i,
						       .arrive_ns = t,
						       .inter_ns = inter[i],
						       .wait_ns = last - t,
						       .depart_ns = last + 20000 + i,
						       .work_ns = 1900000 + inter[i],
						       .cpu = order[i] % 4,
						       .parts = data_parts(1900000 + inter[i]),
						       .ncounters = DATA_COUNTERS,
						       .counters = counters[i] };
		data_counters(counters[i], members[i].work_ns);
	}
	*e = (struct observed_episode){ .barrier = b,
					.pid = 4711,
					.seq = 1070,
					.number = 1071,
					.release_ns = last,
					.phase_ns = 50400000,
					.barrier_ns = last - members[0].arrive_ns,
					.participants = DATA_THREADS,
					.state = MODEL_COMPLETE,
					.nmembers = DATA_THREADS,
					.members = members,
					.ncounters = DATA_COUNTERS,
					.counters = counters[DATA_THREADS] };
	data_counters(counters[DATA_THREADS], DATA_THREADS * 1900000 + last - t + 48453310);
	data_cause(&e->cause);
}

static inline struct session data_session(void)
{
	static const struct session_probe probes[] = {
		{ "pthread", "/usr/lib/x86_64-linux-gnu/libc.so.6", "pthread_barrier_wait",
		  "session", 0x8f2a4, "inode", "push %rbp (emulated)",
		  "past endbr64: emulated, not single-stepped" },
	};
	static const struct session_counter counters[] = {
		{ "cycles", "hardware", "cycles" },
		{ "instructions", "hardware", "instructions" },
		{ "PAPI_L2_TCM", "hardware", "misses" },
	};
	static const struct report_uncounted uncounted[] = {
		{ "PAPI_FP_OPS", "PAPI_FP_OPS has no counterpart here" },
		{ "nosuch", "there is no such event" },
	};
	static const struct session_setting settings[] = {
		{ "SBT_WATCH", NULL },	     { "SBT_WATCH_ALL", "1" },	 { "SBT_WARNINGS", "1" },
		{ "SBT_WARN_TIME", "1000" }, { "SBT_PHASE_TIMES", "1" }, { "SBT_NO_DEBUG", "0" },
	};

	return (struct session){ .version = "0.1.0",
				 .kernel = "6.12.0",
				 .mode = "command",
				 .command = "./lu_block 1024 8",
				 .clock_start_ns = DATA_START,
				 .nprobes = 1,
				 .probes = probes,
				 .ncounters = DATA_COUNTERS,
				 .counters = counters,
				 .nuncounted = 2,
				 .uncounted = uncounted,
				 .nsettings = 6,
				 .settings = settings,
				 .banner = true,
				 .armed_ns = 48000000 };
}

static inline void data_frames(struct report_hang_missing *m, const char *function, uint32_t line)
{
	static struct hang_frame frames[8][4];
	static unsigned next;
	struct hang_frame *f = frames[next++ % 8];

	f[0] = (struct hang_frame){ .function = "futex_wait",
				    .file = "../sysdeps/nptl/futex-internal.h",
				    .line = 146,
				    .module = "/usr/lib/x86_64-linux-gnu/libc.so.6",
				    .inlined = "__lll_lock_wait",
				    .address = 0x7f0012345678 };
	f[1] = (struct hang_frame){ .function = "pthread_mutex_lock",
				    .module = "/usr/lib/x86_64-linux-gnu/libc.so.6" };
	f[2] = (struct hang_frame){ .function = function,
				    .file = "/src/lu/lu_block.c",
				    .line = line,
				    .module = "/src/lu/lu_block" };
	f[3] = (struct hang_frame){ .module = "/usr/lib/x86_64-linux-gnu/libc.so.6" };
	m->frames = f;
	m->nframes = 4;
}

/*
 * Fill a deadlock of 4 threads that arrived and @missing that did not. The caller frees .arrived,
 * .missing and .cycle.
 */
static inline void data_hang(struct report_hang *h, uint32_t missing)
{
	*h = (struct report_hang){ .id = "#5c1e70d2",
				   .label = "lu_factor lu_block.c:214",
				   .comm = "lu_block",
				   .family = "pthread",
				   .pid = 4711,
				   .function = "lu_factor",
				   .file = "/src/lu/lu_block.c",
				   .line = 214,
				   .module = "/src/lu/lu_block",
				   .count = 4 + missing,
				   .t_ns = DATA_START + 25000000000,
				   .since_ns = DATA_START + 14700000000,
				   .waited_ns = 10300000000,
				   .verdict = HANG_DEADLOCK,
				   .narrived = 4,
				   .nmissing = missing,
				   .ncycle = 2 };
	h->arrived = calloc(4, sizeof(*h->arrived));
	h->missing = calloc(missing, sizeof(*h->missing));
	h->cycle = calloc(2, sizeof(*h->cycle));
	for (uint32_t i = 0; i < 4; i++)
		h->arrived[i] = (struct report_hang_arrived){
			.pid = 4711,
			.tid = 4711 + i,
			.index = i,
			.comm = "lu_block",
			.arrive_ns = h->since_ns + i * 1000,
			.waited_ns = h->waited_ns - i * 1000,
			.function = "lu_factor",
			.file = "/src/lu/lu_block.c",
			.line = i == 3 ? 214 : 210,
			.module = "/src/lu/lu_block",
		};
	for (uint32_t i = 0; i < missing; i++) {
		h->missing[i] = (struct report_hang_missing){ .pid = 4711,
							      .tid = 4715 + i,
							      .index = 4 + i,
							      .comm = "lu_block",
							      .why = HANG_BY_PAST,
							      .state = HANG_BLOCKED,
							      .blocked_on = "the mutex `pivots` "
									    "held by thread 3",
							      .syscall = "futex",
							      .wchan = "futex_do_wait",
							      .holder = 4714 };
		data_frames(&h->missing[i], "pivot", 88);
	}
	for (uint32_t i = 0; i < 2; i++)
		h->cycle[i] = (struct report_hang_link){
			.pid = 4711,
			.tid = 4715 - i,
			.index = 4 - i,
			.comm = "lu_block",
			.waits_for = i ? "the barrier at lu_block.c:214" : "the mutex `pivots`",
			.next = 4714 + i,
		};
	strcpy(h->text, "deadlock: thread 4 (tid 4715) waits for the mutex `pivots` held by "
			"thread 3 (tid 4714), which waits at the barrier at lu_block.c:214 for "
			"thread 4");
}

static inline void data_hang_free(struct report_hang *h)
{
	free(h->arrived);
	free(h->missing);
	free(h->cycle);
}

/* Pass all kinds of data to a writer, and return its output. */
static inline char *data_all(const struct emit_options *options, const struct report *r,
			     size_t *len)
{
	struct session session = data_session();
	struct observed_member members[DATA_THREADS];
	struct report_hang hang;
	struct observed_episode e;
	char *out = NULL;
	FILE *f = open_memstream(&out, len);
	struct emit *emit = emit_new(f, options);

	data_episode(&e, &r->barriers[0], members);
	emit_session(emit, &session);
	emit_watched(emit, &e);
	emit_named(emit, &e);
	emit_warning(emit, &e, 10000000);
	data_hang(&hang, 2);
	emit_hang(emit, &hang);
	data_hang_free(&hang);
	emit_phase_time(emit, &e);
	emit_report(emit, r);
	if (emit_free(emit))
		abort();
	fclose(f);
	return out;
}

#endif /* TEST_EMIT_DATA_H */
