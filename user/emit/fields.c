// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/fields_internal.h"

#include <math.h>
#include <stdio.h>

/* clang-format off */

static const struct emit_names state_names[] = {
	{ MODEL_COMPLETE, "complete", NULL },
	{ MODEL_INCOMPLETE, "incomplete", NULL },
	{ MODEL_AMBIGUOUS, "ambiguous", NULL },
	{ 0, NULL, NULL },
};

static const struct emit_names pattern_names[] = {
	{ REPORT_BALANCED, "balanced", NULL },
	{ REPORT_STATIC, "static", NULL },
	{ REPORT_ROTATING, "rotating", NULL },
	{ REPORT_MIXED_LOSS, "mixed", NULL },
	{ REPORT_COSTLY, "costly", NULL },
	{ REPORT_FEW, "few", NULL },
	{ REPORT_UNTOLD, "unknown", NULL },
	{ REPORT_TASKS, "tasks", NULL },
	{ 0, NULL, NULL },
};

const struct emit_names fields_why[] = {
	{ MODEL_WHY_LOST, "lost", "the record of a thread was lost" },
	{ MODEL_WHY_BEFORE, "before", "some threads arrived before tracing began" },
	{ MODEL_WHY_ABANDONED, "abandoned", "a thread never returned from the barrier" },
	{ MODEL_WHY_CAUSALITY, "causality", "a thread left before the last one arrived" },
	{ MODEL_WHY_COUNT, "count", "the number of threads differs from the barrier's count" },
	{ MODEL_WHY_SWAP, "swap", "the order of two arrivals at its start or end is uncertain" },
	{ MODEL_WHY_END, "end", "tracing ended during the episode" },
	{ MODEL_WHY_OTHERS, "others", "the expected number of threads is not known" },
	{ MODEL_WHY_BOUND, "bound", "the last arrival was not seen: it was no later than shown" },
	{ MODEL_WHY_RIVALS, "rivals", "the last arriver is uncertain" },
	{ 0, NULL, NULL },
};

/* --- cells that are more than a value --------------------------------------------------------- */

static void cell_last(const void *rec, char *out, size_t size)
{
	const struct report_barrier *b = rec;
	uint32_t i, index = b->last_index;
	bool known = b->last_known;

	if (!b->last_tid) {
		snprintf(out, size, "-");
		return;
	}
	for (i = 0; i < b->nthreads && !known; i++) {
		known = b->threads[i].tid == b->last_tid;
		index = b->threads[i].index;
	}
	if (known && b->ranked && isfinite(b->last_share))
		snprintf(out, size, "rank %u, %.0f %%", index, b->last_share * 100);
	else if (known && !b->shared && isfinite(b->last_share))
		snprintf(out, size, "id %u, %.0f %%", index, b->last_share * 100);
	else if (isfinite(b->last_share))
		snprintf(out, size, "tid %u, %.0f %%", b->last_tid, b->last_share * 100);
	else
		snprintf(out, size, "tid %u", b->last_tid);
}

static void cell_thread_last(const void *rec, char *out, size_t size)
{
	const struct report_thread *t = rec;

	if (isfinite(t->last_share))
		snprintf(out, size, "%llu (%3.0f %%)", (unsigned long long)t->last,
			 t->last_share * 100);
	else
		snprintf(out, size, "%llu", (unsigned long long)t->last);
}

/* --- nested records --------------------------------------------------------------------------- */

#define T(m) AT(report_times, m)
static const struct emit_field times_fields[] = {
	{ "n", EMIT_U64, T(n), .help = "number of values" },
	{ "sum", EMIT_NS, T(sum), .heading = "sum", .look = EMIT_MEAN,
	  .help = "sum of the values" },
	{ "min", EMIT_NS, T(min), .heading = "min", .look = EMIT_MEAN, .help = "least value" },
	{ "mean", EMIT_DOUBLE, T(mean), .heading = "mean", .look = EMIT_MEAN,
	  .help = "mean of the values" },
	{ "max", EMIT_NS, T(max), .heading = "max", .look = EMIT_MEAN, .help = "greatest value" },
	{ "stddev", EMIT_DOUBLE, T(stddev), .heading = "stddev", .look = EMIT_MEAN,
	  .help = "standard deviation of the population" },
	{ "hist", EMIT_HIST, T(hist),
	  .help = "histogram: number i counts the values in [2^i, 2^(i+1)), for i from 0; trailing "
		  "zeros are left out" },
	END
};
const struct emit_record fields_rec_times = {
	"times", sizeof(struct report_times), times_fields, "A quantity in ns over many episodes"
};

#define P(m) AT(session_probe, m)
static const struct emit_field probe_fields[] = {
	{ "family", EMIT_STRING, P(family), .heading = "family", .look = EMIT_ID,
	  .help = "barrier family" },
	{ "binary", EMIT_STRING, P(binary), .heading = "file", .look = EMIT_NAME,
	  .help = "probed file" },
	{ "symbol", EMIT_STRING, P(symbol), .heading = "symbol", .look = EMIT_NAME,
	  .help = "probed function" },
	{ "offset", EMIT_U64, P(offset), .help = "file offset of the probe" },
	{ "method", EMIT_STRING, P(method), .heading = "method", .look = EMIT_ID,
	  .help = "attach method: session, multi or perf" },
	{ "scope", EMIT_STRING, P(scope), .heading = "scope", .look = EMIT_ID,
	  .help = "processes that hit the probe: inode (all processes that run the file) or "
	  	  "process" },
	{ "insn", EMIT_STRING, P(insn), .help = "instruction under the probe, and its class" },
	{ "why", EMIT_STRING, P(why), .heading = "why there", .look = EMIT_NAME,
	  .help = "why this probe site and this method" },
	END
};
const struct emit_record fields_rec_probe = {
	"probe", sizeof(struct session_probe), probe_fields, "One probe"
};

#define UN(m) AT(report_uncounted, m)
static const struct emit_field uncounted_fields[] = {
	{ "name", EMIT_STRING, UN(name), .help = "name as requested" },
	{ "reason", EMIT_STRING, UN(reason), .help = "why the counter is not available" },
	END
};
static const struct emit_record rec_uncounted = {
	"counter_unavailable", sizeof(struct report_uncounted), uncounted_fields,
	"A requested counter that is not available"
};

#define C(m) AT(session_counter, m)
static const struct emit_field counter_fields[] = {
	{ "name", EMIT_STRING, C(name), .help = "name as requested" },
	{ "source", EMIT_STRING, C(source), .help = "hardware or software" },
	{ "unit", EMIT_STRING, C(unit), .help = "unit of the values" },
	END
};
static const struct emit_record rec_counter = {
	"counter", sizeof(struct session_counter), counter_fields, "One counter"
};

#define S(m) AT(session_setting, m)
static const struct emit_field setting_fields[] = {
	{ "name", EMIT_STRING, S(name), .help = "name of the option" },
	{ "value", EMIT_STRING, S(value), .help = "value of the option in this run" },
	END
};
static const struct emit_record rec_setting = {
	"setting", sizeof(struct session_setting), setting_fields, "The value of one option"
};

#define M(m) AT(observed_member, m)
static const struct emit_field member_fields[] = {
	{ "tid", EMIT_U32, M(tid), .flags = FIELDS_KEY, .help = "thread id" },
	{ "index", EMIT_U32, M(index), .heading = "id", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "number of the thread in its process, in order of first crossings" },
	{ NULL, EMIT_U32, M(tid), .heading = "tid", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "thread id" },
	{ "comm", EMIT_STRING, M(comm), .heading = "thread", .look = EMIT_NAME,
	  .views = FIELDS_EACH, .help = "name of the thread" },
	{ "site", EMIT_STRING, M(site), .heading = "from", .look = EMIT_NAME,
	  .help = "call site, if it is not the same for all threads of the episode" },
	{ "order", EMIT_U32, M(order),
	  .help = "position of the thread in the order of arrival, from 0" },
	{ "arrive_ns", EMIT_T_NS, M(arrive_ns),
	  .help = "time of arrival, relative to clock_start_ns" },
	{ "inter_ns", EMIT_NS, M(inter_ns), .heading = "inter", .look = EMIT_MEAN,
	  .help = "time since the previous arrival" },
	{ "wait_ns", EMIT_NS, M(wait_ns), .heading = "wait", .look = EMIT_MEAN,
	  .help = "time from the thread's arrival to the last arrival" },
	{ "depart_ns", EMIT_T_NS, M(depart_ns),
	  .help = "time of departure, relative to clock_start_ns" },
	{ "cpu", EMIT_U32, M(cpu), .help = "CPU on which the thread arrived" },
	{ "work_ns", EMIT_NS, M(work_ns), .heading = "work", .look = EMIT_MEAN,
	  .help = "the thread's phase: time from its previous departure to this arrival" },
	{ NULL, EMIT_NS, M(work_ns), .heading = "work", .look = EMIT_COMMON, .views = FIELDS_PARTS,
	  .help = "the thread's phase" },
	FIELDS_PARTS_OF(observed_member)
	FIELDS_COUNTERS_OF(observed_member),
	{ NULL, EMIT_T_NS, M(arrive_ns), .heading = "from start", .look = EMIT_CLOCK,
	  .help = "time of arrival, from the start" },
	{ NULL, EMIT_T_NS, M(arrive_ns), .heading = "time of day", .look = EMIT_DAY,
	  .help = "time of arrival, as time of day" },
	END
};
const struct emit_record fields_rec_member = {
	"thread", sizeof(struct observed_member), member_fields, "One thread of an episode"
};

#define H(m) AT(report_thread, m)
static const struct emit_field thread_fields[] = {
	{ "index", EMIT_U32, H(index), .heading = "id", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "number of the thread in its process, in order of first crossings" },
	{ "tid", EMIT_U32, H(tid), .flags = FIELDS_KEY, .heading = "tid", .look = EMIT_NUMBER,
	  .views = FIELDS_EACH, .help = "thread id" },
	{ "comm", EMIT_STRING, H(comm), .heading = "thread", .look = EMIT_NAME,
	  .views = FIELDS_EACH, .help = "name of the thread" },
	{ "crossings", EMIT_U64, H(crossings), .heading = "crossings", .look = EMIT_NUMBER,
	  .help = "recorded barrier crossings" },
	{ "work_ns", EMIT_NS, H(work_ns), .heading = "work", .look = EMIT_COMMON,
	  .views = FIELDS_MAIN | FIELDS_PARTS, .help = "time between barriers" },
	{ "wait_ns", EMIT_NS, H(wait_ns), .heading = "wait", .look = EMIT_COMMON,
	  .help = "time waited for the last arriver" },
	{ "idle_ns", EMIT_NS, H(idle_ns), .heading = "idle", .look = EMIT_COMMON,
	  .help = "time inside barriers: waiting, and waking up" },
	{ "wait_max_ns", EMIT_NS, H(wait_max_ns), .heading = "longest\nwait", .look = EMIT_MEAN,
	  .help = "longest wait" },
	{ "last", EMIT_U64, H(last), .heading = "arrived\nlast", .look = EMIT_NUMBER,
	  .cell = cell_thread_last, .help = "number of episodes in which the thread arrived last" },
	{ "last_share", EMIT_RATIO, H(last_share),
	  .help = "value of last, divided by the number of complete episodes" },
	{ NULL, EMIT_NS, H(wait_ns), .heading = "wait", .look = EMIT_BAR,
	  .help = "wait_ns, as a bar" },
	FIELDS_PARTS_OF(report_thread)
	FIELDS_COUNTERS_OF(report_thread),
	END
};
const struct emit_record fields_rec_thread = {
	"thread", sizeof(struct report_thread), thread_fields,
	"One thread, at one barrier or over all barriers of its process"
};

#define S2(m) AT(report_callsite, m)
static const struct emit_field callsite_fields[] = {
	FIELDS_SOURCE_OF(report_callsite, "function that contains the call site"),
	{ "offset", EMIT_U64, S2(offset), .flags = FIELDS_ZERO,
	  .help = "offset of the call in the module" },
	{ "inlined", EMIT_STRING, S2(inlined),
	  .help = "functions into which the call was inlined" },
	{ "through", EMIT_STRING, S2(through),
	  .help = "function that this call calls, and that contains the hand-written barrier" },
	END
};
static const struct emit_record rec_callsite = {
	"callsite", sizeof(struct report_callsite), callsite_fields, "One call site"
};

#define SH(m) AT(report_detached, m)
static const struct emit_field detached_fields[] = {
	{ "family", EMIT_STRING, SH(family), .help = "family of the barriers" },
	{ "function", EMIT_STRING, SH(function),
	  .help = "function through which threads cross these barriers; null: all barriers of "
		  "the family that are not listed separately" },
	{ "shed_ns", EMIT_T_NS, SH(t_ns),
	  .help = "time when tracing of these barriers stopped, relative to clock_start_ns" },
	{ "shed_cost", EMIT_RATIO, SH(cost),
	  .help = "estimated cost of tracing the whole process at that time, as a share of "
		  "thread time" },
	{ "shed_limit", EMIT_RATIO, SH(limit), .help = "cost limit that was exceeded" },
	{ "shed_because", EMIT_U32, SH(because), .flags = FIELDS_ZERO,
	  .help = "pid of the process that exceeded the limit, if it is another process with "
		  "the same probes" },
	{ "shed_probed", EMIT_BOOL, SH(probed),
	  .help = "the probes were left in place and still cost the process some time" },
	END
};
static const struct emit_record rec_detached = {
	"shed", sizeof(struct report_detached), detached_fields,
	"Barriers that were not traced until their process ended"
};

#define L(m) AT(model_longest, m)
static const struct emit_field longest_fields[] = {
	{ "phase", EMIT_U64, L(number), .help = "phase number" },
	{ "phase_ns", EMIT_NS, L(phase_ns), .help = "phase time" },
	{ "t_ns", EMIT_NS, L(release_ns), .help = "end of the phase, relative to clock_start_ns" },
	END
};
static const struct emit_record rec_longest = {
	"longest", sizeof(struct model_longest), longest_fields, "One of the longest phases"
};

#define E(m) AT(report_efficiency, m)
static const struct emit_field efficiency_fields[] = {
	{ "parallel", EMIT_RATIO, E(parallel),
	  .help = "time outside barriers divided by all thread time" },
	{ "load_balance", EMIT_RATIO, E(load_balance),
	  .help = "1 minus the share of thread time lost to static imbalance (the same threads "
		  "always take longer)" },
	{ "serialisation", EMIT_RATIO, E(serialisation),
	  .help = "1 minus the share of thread time lost to rotating imbalance (a different "
		  "thread is late each time)" },
	{ "transfer", EMIT_RATIO, E(transfer),
	  .help = "1 minus the share of thread time lost to barrier overhead" },
	{ "communication", EMIT_RATIO, E(communication), .help = "serialisation x transfer" },
	END
};
static const struct emit_record rec_efficiency = {
	"efficiency", sizeof(struct report_efficiency), efficiency_fields,
	"POP efficiencies, 0 to 1"
};

#define LO(m) AT(report_loss, m)
static const struct emit_field loss_fields[] = {
	{ "cause", EMIT_STRING, LO(cause), .help = "why records were lost" },
	{ "count", EMIT_U64, LO(count), .help = "number of lost records" },
	END
};
static const struct emit_record rec_loss = {
	"lost", sizeof(struct report_loss), loss_fields, "Lost records by cause"
};

/* --- session ---------------------------------------------------------------------------------- */

#define SV VIA(fields_session, session)
#define SE(m) SV, AT(session, m)
static const struct emit_field session_fields[] = {
	{ "schema", EMIT_U32, AT(fields_session, schema), .help = "version of this schema" },
	{ "version", EMIT_STRING, SE(version), .help = "version of sbt-trace" },
	{ "kernel", EMIT_STRING, SE(kernel), .help = "release of the kernel" },
	{ "mode", EMIT_STRING, SE(mode), .help = "command, pid, system, hang or prediction" },
	{ "command", EMIT_STRING, SE(command), .help = "the traced command" },
	{ "clock_start_ns", EMIT_U64, SE(clock_start_ns),
	  .help = "CLOCK_MONOTONIC at the start: arrive_ns, depart_ns and t_ns count from here" },
	{ "realtime_offset_ns", EMIT_I64, AT(fields_session, realtime_offset_ns),
	  .help = "CLOCK_REALTIME - CLOCK_MONOTONIC" },
	{ "armed_ns", EMIT_NS, SE(armed_ns), .flags = FIELDS_ZERO,
	  .help = "time from the start of sbt-trace until crossings could be recorded" },
	{ "probes", EMIT_ARRAY, SV, LIST(session, probes, nprobes),
	  .sub = &fields_rec_probe,
	  .help = "probe sites, why these sites, and how the probes were attached" },
	{ "counters", EMIT_ARRAY, SV, LIST(session, counters, ncounters),
	  .sub = &rec_counter, .help = "counters that were read" },
	{ "counters_unavailable", EMIT_ARRAY, SV, LIST(session, uncounted, nuncounted),
	  .sub = &rec_uncounted, .help = "counters that were requested but are not available" },
	{ "settings", EMIT_ARRAY, SV, LIST(session, settings, nsettings),
	  .sub = &rec_setting, .help = "values of options, by the names of the SBT_ variables" },
	END
};
const struct emit_record fields_rec_session = {
	"session", sizeof(struct fields_session), session_fields, "The start of the output"
};

/* --- episode and warning ---------------------------------------------------------------------- */

#define EP(m) AT(observed_episode, m)
#define EB(m) VIA(observed_episode, barrier), AT(report_barrier, m)
static const struct emit_field episode_fields[] = {
	{ "barrier", EMIT_CHARS, EB(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "label", EMIT_CHARS, EB(label), .help = "label of the barrier in text output" },
	{ "kind", EMIT_STRING, EB(kind),
	  .help = "explicit, loop, sections, single, task, join or collective" },
	{ "team", EMIT_CHARS, EB(object),
	  .help = "the barrier object on which the threads synchronise: symbol or address" },
	{ "pid", EMIT_U32, EP(pid), .flags = FIELDS_KEY, .help = "process id" },
	{ "seq", EMIT_U64, EP(seq), .flags = FIELDS_KEY,
	  .help = "number of the episode at this barrier, from 0" },
	{ "phase", EMIT_U64, EP(number),
	  .help = "phase number within the process, from 0, in the order of releases" },
	{ "t_ns", EMIT_T_NS, EP(release_ns),
	  .help = "time of the release, relative to clock_start_ns" },
	{ "phase_ns", EMIT_NS, EP(phase_ns), .help = "phase time" },
	{ "barrier_ns", EMIT_NS, EP(barrier_ns),
	  .help = "barrier time: from the first arrival to the last" },
	{ "participants", EMIT_U32, EP(participants), .flags = FIELDS_ZERO,
	  .help = "number of threads" },
	{ "state", EMIT_ENUM, EP(state), .names = state_names,
	  .help = "complete, incomplete or ambiguous" },
	{ "why", EMIT_SET, EP(why), .names = fields_why,
	  .help = "why the episode is incomplete or ambiguous" },
	{ "nested", EMIT_BOOL, EP(nested),
	  .help = "inside another barrier's wait, so that no total includes it" },
	{ "threads", EMIT_ARRAY, LIST(observed_episode, members, nmembers),
	  .sub = &fields_rec_member, .help = "threads of the episode, in order of arrival" },
	FIELDS_COUNTERS_OF(observed_episode),
	{ "cause", EMIT_OBJECT, LIST(observed_episode, cause, cause.nparts),
	  .sub = &fields_rec_episode_cause,
	  .help = "why the last arriver of the episode was late" },
	END
};
const struct emit_record fields_rec_episode = {
	"episode", sizeof(struct observed_episode), episode_fields,
	"One episode of a watched barrier"
};

#define WE(m) VIA(fields_warning, episode), AT(observed_episode, m)
#define WB(m) VIA(fields_warning, barrier), AT(report_barrier, m)
static const struct emit_field warning_fields[] = {
	{ "barrier", EMIT_CHARS, WB(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "label", EMIT_CHARS, WB(label), .help = "label of the barrier in text output" },
	{ "pid", EMIT_U32, WE(pid), .flags = FIELDS_KEY, .help = "process id" },
	{ "phase", EMIT_U64, WE(number), .flags = FIELDS_KEY, .help = "phase number" },
	{ "t_ns", EMIT_T_NS, WE(release_ns),
	  .help = "time of the release, relative to clock_start_ns" },
	{ "barrier_ns", EMIT_NS, WE(barrier_ns), .help = "barrier time" },
	{ "phase_ns", EMIT_NS, WE(phase_ns), .help = "phase time" },
	{ "threshold_ns", EMIT_NS, AT(fields_warning, threshold_ns),
	  .help = "barrier times above this cause a warning" },
	{ "cause", EMIT_OBJECT, VIA(fields_warning, episode),
	  LIST(observed_episode, cause, cause.nparts), .sub = &fields_rec_episode_cause,
	  .help = "why the last arriver of the episode was late" },
	END
};
const struct emit_record fields_rec_warning = {
	"warning", sizeof(struct fields_warning), warning_fields,
	"A barrier time above the threshold"
};

/* --- barrier ---------------------------------------------------------------------------------- */

#define B(m) AT(report_barrier, m)
static const struct emit_field barrier_fields[] = {
	{ "id", EMIT_CHARS, B(id), .flags = FIELDS_KEY, .heading = "id", .look = EMIT_ID,
	  .help = "id, the same in every run" },
	{ "pid", EMIT_U32, B(pid), .flags = FIELDS_KEY | FIELDS_MANY, .heading = "pid",
	  .look = EMIT_NUMBER, .help = "process id" },
	{ "comm", EMIT_STRING, B(comm), .help = "name of the process" },
	{ "processes", EMIT_U32, B(processes),
	  .help = "1, or the number of exited processes of one program that this record sums up" },
	{ "shed_ns", EMIT_T_NS, B(detached_ns),
	  .help = "time when its tracing stopped because of --cost-limit, relative to "
		  "clock_start_ns; null: it was traced to the end" },
	{ "shed_beside_ns", EMIT_T_NS, B(detached_beside_ns),
	  .help = "time when tracing of other barriers of its process stopped because of "
		  "--cost-limit: later phases and work include the time at those barriers; null: "
		  "never" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "family", EMIT_STRING, B(family), .help = "pthread, gomp, ..." },
	{ "kind", EMIT_STRING, B(kind),
	  .help = "explicit, loop, sections, single, task, join or collective" },
	{ "name", EMIT_STRING, B(name), .help = "name given by the program or the user" },
	{ "label", EMIT_CHARS, B(label), .heading = "barrier", .look = EMIT_NAME,
	  .help = "label of the barrier in text output" },
	FIELDS_SOURCE_OF(report_barrier, "function that contains the call site"),
	{ "offset", EMIT_U64, B(offset), .flags = FIELDS_ZERO,
	  .help = "offset of the call in the module" },
	{ "object", EMIT_CHARS, B(object),
	  .help = "the barrier object on which the threads synchronise: symbol or address" },
	{ "callsites", EMIT_ARRAY, LIST(report_barrier, callsites, ncallsites),
	  .sub = &rec_callsite,
	  .help = "call sites; more than one if the threads of an episode call from different "
		  "sites" },
	{ "episodes", EMIT_U64, B(episodes), .heading = "epi-\nsodes", .look = EMIT_NUMBER,
	  .help = "complete episodes" },
	{ "incomplete", EMIT_U64, B(incomplete),
	  .help = "incomplete episodes, which no figure of imbalance includes" },
	{ "ambiguous", EMIT_U64, B(ambiguous), .help = "episodes with uncertain membership" },
	{ "crossings", EMIT_U64, B(crossings),
	  .help = "number of crossings (a crossing is one thread passing the barrier once)" },
	{ "unmet", EMIT_U64, B(unmet),
	  .help = "crossings without a known episode, because processes share the barrier" },
	{ "participants", EMIT_U32, B(participants), .flags = FIELDS_ZERO,
	  .help = "largest number of threads in a complete episode" },
	{ "participants_min", EMIT_U32, B(participants_min), .flags = FIELDS_ZERO,
	  .help = "smallest number of threads in a complete episode" },
	{ "shared", EMIT_BOOL, B(shared),
	  .help = "the threads of the barrier belong to several processes" },
	{ "nested", EMIT_BOOL, B(nested),
	  .help = "inside another barrier's wait, so that no total includes it" },
	{ "loop", EMIT_BOOL, B(loop), .help = "the program marked the barrier as a loop barrier" },
	{ "phase_ns", EMIT_TIMES, B(phase_ns), .heading = "phase\nmean", .look = EMIT_MEAN,
	  .help = "phase times" },
	{ "barrier_ns", EMIT_TIMES, B(barrier_ns), .heading = "barrier\nmean", .look = EMIT_MEAN,
	  .help = "barrier times: from the first arrival to the last" },
	{ "wait_ns", EMIT_TIMES, B(wait_ns),
	  .help = "waits for the last arriver, one per thread and episode" },
	{ "release_ns", EMIT_TIMES, B(release_ns),
	  .help = "times from the last arrival to a thread's departure" },
	{ "lost_ns", EMIT_NS, B(lost_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "sum of the waits" },
	{ "gain_ns", EMIT_NS, B(gain_ns),
	  .help = "potential gain: lost_ns divided by the number of threads" },
	{ "share", EMIT_RATIO, B(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "time of its phases divided by the process's elapsed time" },
	{ "imbalance", EMIT_RATIO, B(imbalance), .heading = "imba-\nlance", .look = EMIT_NUMBER,
	  .help = "share of its phases' thread time that is lost to waiting" },
	{ "load_balance", EMIT_RATIO, B(load_balance),
	  .help = "1 minus the share of thread time lost to static imbalance (the same threads "
		  "always take longer)" },
	{ "serialisation", EMIT_RATIO, B(serialisation),
	  .help = "1 minus the share of thread time lost to rotating imbalance (a different "
		  "thread is late each time)" },
	{ "release_share", EMIT_RATIO, B(release_share),
	  .help = "share of its phases' thread time that is release latency" },
	{ "last_tid", EMIT_U32, B(last_tid), .flags = FIELDS_ZERO, .heading = "most often\nlast",
	  .look = EMIT_NUMBER,
	  .cell = cell_last, .help = "the thread that arrives last most often" },
	{ "last_comm", EMIT_STRING, B(last_comm),
	  .help = "name of the thread that arrives last most often" },
	{ "last_count", EMIT_U64, B(last_count),
	  .help = "number of episodes in which the thread last_tid arrived last" },
	{ "last_share", EMIT_RATIO, B(last_share),
	  .help = "last_count divided by the number of complete episodes" },
	{ "pattern", EMIT_ENUM, B(pattern), .names = pattern_names,
	  .help = "balanced, static, rotating, mixed, costly, few (too few episodes to classify), "
		  "unknown (only sums over threads exist) or tasks (lost time is not known)" },
	{ "verdict", EMIT_CHARS, B(verdict), .help = "what the figures mean, in a sentence" },
	{ "advice", EMIT_CHARS, B(advice), .help = "what to do about the lost time" },
	{ "cause", EMIT_OBJECT, LIST(report_barrier, cause, cause.nparts), .sub = &fields_rec_cause,
	  .help = "why the last arrivers were late, over all episodes" },
	{ "delay_direct_ns", EMIT_NS, B(delay_direct_ns),
	  .help = "waits, at all barriers, caused directly by imbalance in phases that end here" },
	{ "delay_passed_ns", EMIT_NS, B(delay_passed_ns),
	  .help = "waits, at all barriers, caused indirectly by imbalance in phases that end here: "
		  "passed on by threads that were late because they had waited themselves" },
	FIELDS_COUNTERS_OF(report_barrier),
	{ "threads", EMIT_ARRAY, LIST(report_barrier, threads, nthreads), .sub = &fields_rec_thread,
	  .help = "threads that crossed the barrier, by index" },
	{ "longest", EMIT_EMBEDDED, LIST(report_barrier, longest, nlongest), .sub = &rec_longest,
	  .help = "longest phases that ended here" },
	END
};
const struct emit_record fields_rec_barrier = {
	"barrier", sizeof(struct report_barrier), barrier_fields, "One barrier, over the whole run"
};

/* --- transition ------------------------------------------------------------------------------- */

#define PH(m) AT(report_phase, m)
static const struct emit_field transition_fields[] = {
	{ "pid", EMIT_U32, PH(pid), .flags = FIELDS_MANY, .heading = "pid", .look = EMIT_NUMBER,
	  .help = "process id" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "from", EMIT_CHARS, PH(from_id),
	  .help = "id of the barrier at which the phases begin; null: the start" },
	{ "from_label", EMIT_CHARS, PH(from), .heading = "from", .look = EMIT_NAME,
	  .help = "label of the barrier at which the phases begin, in text output" },
	{ "to", EMIT_CHARS, PH(to_id), .help = "id of the barrier at which the phases end" },
	{ "to_label", EMIT_CHARS, PH(to), .heading = "to", .look = EMIT_NAME,
	  .help = "label of the barrier at which the phases end, in text output" },
	{ "occurrences", EMIT_U64, PH(occurrences), .heading = "times", .look = EMIT_NUMBER,
	  .help = "number of occurrences" },
	{ "phase_ns", EMIT_TIMES, PH(phase_ns), .heading = "mean", .look = EMIT_MEAN,
	  .help = "phase times" },
	{ NULL, EMIT_NS, PH(phase_ns.sum), .heading = "total", .look = EMIT_COMMON,
	  .help = "sum of phase times" },
	{ "share", EMIT_RATIO, PH(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "share of the process's elapsed time" },
	{ "lost_ns", EMIT_NS, PH(lost_ns), .heading = "lost at\nits end", .look = EMIT_COMMON,
	  .help = "sum of the waits at the ends of these phases" },
	{ "imbalance", EMIT_RATIO, PH(imbalance), .heading = "imba-\nlance", .look = EMIT_NUMBER,
	  .help = "share of the phase's thread time that is lost to waiting" },
	END
};
const struct emit_record fields_rec_transition = {
	"transition", sizeof(struct report_phase), transition_fields,
	  "The phases between two barriers"
};

/* --- process ---------------------------------------------------------------------------------- */

#define PR(m) AT(report_process, m)
static const struct emit_field omp_fields[] = {
	{ "load_balance", EMIT_RATIO, PR(omp_load_balance),
	  .help = "1 minus the share lost to uneven work in a region" },
	{ "scheduling", EMIT_RATIO, PR(omp_scheduling),
	  .help = "1 minus the share that the runtime uses inside regions" },
	{ "start", EMIT_RATIO, PR(omp_start),
	  .help = "1 minus the share that workers need from the call that begins a region to "
		  "their first instruction in it; null: unknown, and included in serialisation" },
	{ "serialisation", EMIT_RATIO, PR(omp_serialisation),
	  .help = "1 minus the share lost outside parallel regions" },
	{ "turns", EMIT_RATIO, PR(omp_turns),
	  .help = "1 minus the share lost to waiting for a turn in critical and ordered sections, "
		  "or for locks; null: unknown, and counted as work" },
	END
};
static const struct emit_record rec_omp = {
	"omp_efficiency", sizeof(struct report_process), omp_fields,
	"OpenMP efficiencies, 0 to 1"
};

static const struct emit_field process_fields[] = {
	{ "pid", EMIT_U32, PR(pid), .flags = FIELDS_KEY, .heading = "pid", .look = EMIT_NUMBER,
	  .help = "process id" },
	{ "comm", EMIT_STRING, PR(comm), .heading = "process", .look = EMIT_NAME,
	  .help = "name of the process" },
	{ "processes", EMIT_U32, PR(processes),
	  .help = "1, or the number of exited processes of one program that this record sums up; "
		  "pid is then that of the process that exited first" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "parent", EMIT_U32, PR(parent), .flags = FIELDS_ZERO, .help = "pid of the parent" },
	{ "exited", EMIT_BOOL, PR(exited),
	  .help = "whether the process exited while it was traced" },
	{ "start_seen", EMIT_BOOL, PR(start_seen),
	  .help = "whether the start of the process was traced; if not, elapsed_ns and all "
		  "efficiencies count from the start of tracing or from counted_from_ns" },
	{ "counted_from_ns", EMIT_T_NS, PR(counted_from_ns),
	  .help = "time of the first recorded crossing, relative to clock_start_ns, if earlier "
		  "crossings were lost (not_examined, probed_late); elapsed_ns and all "
		  "efficiencies then count from this time. null: no earlier crossing was lost" },
	{ "elapsed_ns", EMIT_NS, PR(elapsed_ns), .heading = "elapsed", .look = EMIT_MEAN,
	  .help = "elapsed time" },
	{ "life_ns", EMIT_NS, PR(life_ns),
	  .help = "time from the start of the process to its end, if both were seen" },
	{ "ideal_ns", EMIT_NS, PR(ideal_ns),
	  .help = "elapsed time if barriers took no time: the longest path outside barriers" },
	{ "nthreads", EMIT_U32, PR(threads), .heading = "threads", .look = EMIT_NUMBER,
	  .help = "number of threads that crossed a barrier" },
	{ "positions", EMIT_U32, PR(positions),
	  .help = "largest number of these threads that existed at the same time. Threads that "
		  "lived one after another share a position, and efficiencies compare positions" },
	{ "episodes", EMIT_U64, PR(episodes), .heading = "episodes", .look = EMIT_NUMBER,
	  .help = "complete episodes" },
	{ "incomplete", EMIT_U64, PR(incomplete),
	  .help = "incomplete episodes, which no figure of imbalance includes" },
	{ "ambiguous", EMIT_U64, PR(ambiguous), .help = "episodes with uncertain membership" },
	{ "crossings", EMIT_U64, PR(crossings),
	  .help = "number of crossings (a crossing is one thread passing a barrier once)" },
	{ "unmet", EMIT_U64, PR(unmet),
	  .help = "crossings of barriers shared by processes, without a known episode" },
	{ "arrivals_unseen", EMIT_U64, PR(arrivals_unseen),
	  .help = "crossings that waited for arrivals that are not traced, such as arrivals "
		  "that only count down a std::latch; no figure of lost time includes these "
		  "crossings" },
	{ "abandoned", EMIT_U64, PR(abandoned),
	  .help = "crossings from which the thread never returned" },
	{ "lost", EMIT_U64, PR(lost), .help = "crossings known to be missing" },
	{ "outside_ns", EMIT_NS, PR(outside_ns),
	  .help = "time outside barriers, summed over threads" },
	{ "wait_ns", EMIT_NS, PR(wait_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "waits for the last arriver, summed over threads" },
	{ "wait_share", EMIT_RATIO, PR(wait_share),
	  .help = "wait_ns divided by the sum of its threads' lifetimes; the verdict states this "
		  "share" },
	{ "imbalance", EMIT_RATIO, PR(imbalance),
	  .help = "share of its phases' thread time that is lost to waiting, over all its "
		  "barriers; null if it shares barriers with other processes" },
	{ "release_ns", EMIT_NS, PR(release_ns),
	  .help = "time from last arrivals to departures, summed over threads" },
	{ "efficiency", EMIT_OBJECT, PR(efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies" },
	{ NULL, EMIT_RATIO, PR(efficiency.parallel), .heading = "PE", .look = EMIT_FRACTION,
	  .help = "parallel efficiency" },
	{ NULL, EMIT_RATIO, PR(efficiency.load_balance), .heading = "LB", .look = EMIT_FRACTION,
	  .help = "load balance" },
	{ NULL, EMIT_RATIO, PR(efficiency.serialisation), .heading = "SerE", .look = EMIT_FRACTION,
	  .help = "serialisation efficiency" },
	{ NULL, EMIT_RATIO, PR(efficiency.transfer), .heading = "TE", .look = EMIT_FRACTION,
	  .help = "transfer efficiency" },
	{ "omp_efficiency", EMIT_OBJECT, .offset = 0, .sub = &rec_omp, .flags = FIELDS_ANY,
	  .help = "OpenMP efficiencies as in TALP, with scheduling subtracted first, from the "
		  "start of the process; their product is the parallel efficiency" },
	{ "useful_oncpu", EMIT_RATIO, PR(useful_oncpu),
	  .help = "share of outside_ns that was on a CPU" },
	{ "lost_static", EMIT_RATIO, PR(lost_static),
	  .help = "share of its threads' lifetimes (OpenMP: of elapsed_ns times nthreads) lost "
		  "to static imbalance (the same threads always take longer). lost_static, "
		  "lost_rotating and lost_transfer add up to 1 minus the parallel efficiency" },
	{ "lost_rotating", EMIT_RATIO, PR(lost_rotating),
	  .help = "share lost to rotating imbalance (a different thread is late each time)" },
	{ "lost_transfer", EMIT_RATIO, PR(lost_transfer),
	  .help = "share lost to barrier overhead" },
	{ "pattern", EMIT_ENUM, PR(pattern), .names = pattern_names,
	  .help = "balanced, static, rotating, mixed, costly, few (too few episodes to classify), "
		  "unknown (only sums over threads exist) or tasks (lost time is not known)" },
	{ "verdict", EMIT_CHARS, PR(verdict), .help = "what the figures mean, in a sentence" },
	{ "advice", EMIT_CHARS, PR(advice), .help = "what to do about the lost time" },
	{ "untraced", EMIT_STRING, PR(untraced),
	  .help = "functions that its code calls, that may wait, and that are not traced or were "
		  "not traced all the time. Waits in these functions count as work, so the "
		  "efficiencies are upper limits; null: no such function is known" },
	{ "tasks", EMIT_BOOL, PR(tasks),
	  .help = "the process runs OpenMP tasks, which are not traced: work in tasks inside "
		  "barriers counts as lost time, so the efficiencies are not known" },
	{ "parallel_efficiency_least", EMIT_RATIO, PR(parallel_least),
	  .help = "for a process that runs tasks: lower limit of the parallel efficiency "
		  "(nothing done inside barriers is work)" },
	{ "parallel_efficiency_most", EMIT_RATIO, PR(parallel_most),
	  .help = "for a process that runs tasks: upper limit of the parallel efficiency "
		  "(everything done inside barriers is work)" },
	{ "barriers_oncpu", EMIT_RATIO, PR(inside_oncpu),
	  .help = "for a process that runs tasks: share of its threads' time inside barriers "
		  "that was on a CPU, in tasks or waiting" },
	{ "departures", EMIT_STRING, PR(exit_detection), .help = "method of exit detection" },
	{ "cost_ns", EMIT_NS, PR(cost_ns),
	  .help = "estimated cost of tracing: of its crossings, of its threads' switches, and "
		  "of sbt-trace running instead of its threads" },
	{ "crossing_cost_ns", EMIT_DOUBLE, PR(crossing_cost_ns),
	  .help = "estimated cost of one crossing: the cost measured without pauses between "
		  "crossings, times the slowdown of the BPF program in this process" },
	{ "cost_taken_ns", EMIT_NS, PR(cost_interference_ns),
	  .help = "time that its threads waited for a CPU that sbt-trace used for reading; "
		  "cost_ns includes it for each thread that takes part in episodes" },
	{ "discovery_hits", EMIT_U64, PR(looks),
	  .help = "probe hits that are not crossings, by probes that look for barriers on "
		  "condition variables, measure waits for a turn, or report OpenMP tasks; cost_ns "
		  "includes them" },
	{ "discovery_paused_ns", EMIT_NS, PR(paused_ns),
	  .help = "time in which sbt-trace did not look for barriers on condition variables, "
		  "because the process used them very often, and not as barriers" },
	{ "cost_share", EMIT_RATIO, PR(cost_share),
	  .help = "cost_ns divided by its threads' time, or by elapsed_ns times the number of "
		  "CPUs if that is less" },
	{ "cost_rough", EMIT_BOOL, PR(cost_rough),
	  .help = "cost_ns is uncertain: the threads work less than 5 us between barriers. If "
		  "they sleep at barriers, tracing may cost nothing, or many times cost_ns" },
	{ "shed_ns", EMIT_T_NS, PR(detached_ns),
	  .help = "time when its tracing stopped because of --cost-limit, relative to "
		  "clock_start_ns; null: it was traced to the end" },
	{ "shed_cost", EMIT_RATIO, PR(detached_cost),
	  .help = "estimated cost of tracing at that time, as a share of thread time" },
	{ "shed_limit", EMIT_RATIO, PR(detached_limit), .help = "cost limit that was exceeded" },
	{ "shed_because", EMIT_U32, PR(detached_because), .flags = FIELDS_ZERO,
	  .help = "pid of the process that exceeded the limit, if it is another process with "
		  "the same probes" },
	{ "shed_probed", EMIT_BOOL, PR(detached_probed),
	  .help = "the probes were left in place and still cost the process some time" },
	{ "sheds", EMIT_ARRAY, LIST(report_process, sheds, nsheds), .sub = &rec_detached,
	  .help = "barriers of this process that were no longer traced because of --cost-limit, "
		  "while other barriers still were: its sums do not include the later time at "
		  "these barriers, and no efficiency is known" },
	FIELDS_COUNTERS_OF(report_process),
	{ "threads", EMIT_ARRAY, LIST(report_process, members, nmembers), .sub = &fields_rec_thread,
	  .help = "its threads over all barriers, by index" },
	END
};
const struct emit_record fields_rec_process = {
	"process", sizeof(struct report_process), process_fields, "One process, over the whole run"
};

/* --- group ------------------------------------------------------------------------------------ */

#define GP(m) AT(report_group_process, m)
static const struct emit_field group_process_fields[] = {
	{ "pid", EMIT_U32, GP(pid), .flags = FIELDS_KEY, .help = "process id" },
	{ "comm", EMIT_STRING, GP(comm), .help = "name of the process" },
	END
};
static const struct emit_record rec_group_process = {
	"process", sizeof(struct report_group_process), group_process_fields,
	"One process of a group"
};

#define GR(m) AT(report_group, m)
static const struct emit_field group_fields[] = {
	{ "processes", EMIT_ARRAY, LIST(report_group, processes, nprocesses),
	  .sub = &rec_group_process,
	  .help = "processes that share barriers, most lost time first" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "elapsed_ns", EMIT_NS, GR(all.elapsed_ns),
	  .help = "elapsed time, from the first start to the last end" },
	{ "ideal_ns", EMIT_NS, GR(all.ideal_ns),
	  .help = "elapsed time if barriers took no time: the longest path outside barriers" },
	{ "nthreads", EMIT_U32, GR(all.threads),
	  .help = "number of threads that crossed a barrier" },
	{ "ranked", EMIT_BOOL, GR(all.ranked), .help = "the indices of its threads are MPI ranks" },
	{ "episodes", EMIT_U64, GR(all.episodes), .help = "complete episodes" },
	{ "incomplete", EMIT_U64, GR(all.incomplete),
	  .help = "incomplete episodes, which no figure of imbalance includes" },
	{ "outside_ns", EMIT_NS, GR(all.outside_ns),
	  .help = "time outside barriers, summed over threads" },
	{ "wait_ns", EMIT_NS, GR(all.wait_ns),
	  .help = "waits for the last arriver, summed over threads" },
	{ "wait_share", EMIT_RATIO, GR(all.wait_share), .help = "as in a process record" },
	{ "imbalance", EMIT_RATIO, GR(all.imbalance),
	  .help = "share of their phases' thread time that is lost to waiting, over all barriers" },
	{ "efficiency", EMIT_OBJECT, GR(all.efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies of all processes as one team" },
	{ "lost_static", EMIT_RATIO, GR(all.lost_static),
	  .help = "share of elapsed_ns times nthreads lost to static imbalance (the same "
		  "threads always take longer). lost_static, lost_rotating and lost_transfer "
		  "add up to 1 minus the parallel efficiency" },
	{ "lost_rotating", EMIT_RATIO, GR(all.lost_rotating),
	  .help = "share lost to rotating imbalance (a different thread is late each time)" },
	{ "lost_transfer", EMIT_RATIO, GR(all.lost_transfer),
	  .help = "share lost to barrier overhead" },
	{ "pattern", EMIT_ENUM, GR(all.pattern), .names = pattern_names,
	  .help = "balanced, static, rotating, mixed, costly, few (too few episodes to classify), "
		  "unknown (only sums over threads exist) or tasks (lost time is not known)" },
	{ "verdict", EMIT_CHARS, GR(all.verdict), .help = "what the figures mean, in a sentence" },
	{ "advice", EMIT_CHARS, GR(all.advice), .help = "what to do about the lost time" },
	{ "counted_from_ns", EMIT_T_NS, GR(all.counted_from_ns),
	  .help = "as in a process record: the latest such time of its processes. The efficiencies "
		  "are null if much of its time is missing" },
	{ "untraced", EMIT_STRING, GR(all.untraced),
	  .help = "as in a process record, from one of its processes" },
	{ "tasks", EMIT_BOOL, GR(all.tasks),
	  .help = "at least one of its processes runs OpenMP tasks; see a process record" },
	{ "threads", EMIT_ARRAY, LIST(report_group, all.members, all.nmembers),
	  .sub = &fields_rec_thread, .help = "their threads over all barriers, by index" },
	END
};
const struct emit_record fields_rec_group = {
	"group", sizeof(struct report_group), group_fields,
	"Processes that share barriers, as one team"
};

/* --- conceptual phase ------------------------------------------------------------------------- */

#define CO(m) AT(report_conceptual, m)
static const struct emit_field conceptual_fields[] = {
	{ "name", EMIT_STRING, CO(name), .flags = FIELDS_KEY, .heading = "phase",
	  .look = EMIT_NAME, .help = "name given by the user" },
	{ "pid", EMIT_U32, CO(pid), .flags = FIELDS_KEY | FIELDS_MANY, .heading = "pid",
	  .look = EMIT_NUMBER, .help = "process id" },
	{ "comm", EMIT_STRING, CO(comm), .help = "name of the process" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "occurrences", EMIT_U64, CO(occurrences), .heading = "times", .look = EMIT_NUMBER,
	  .help = "number of occurrences, from its start barrier to its end barrier" },
	{ "unfinished", EMIT_U64, CO(unfinished),
	  .help = "occurrences without a traced end, which no figure includes" },
	{ "episodes", EMIT_U64, CO(episodes), .heading = "epi-\nsodes", .look = EMIT_NUMBER,
	  .help = "complete episodes inside, including the end barrier's" },
	{ "incomplete", EMIT_U64, CO(incomplete), .help = "incomplete episodes inside" },
	{ "phase_ns", EMIT_TIMES, CO(phase_ns), .heading = "mean", .look = EMIT_MEAN,
	  .help = "times from the release of its start barrier to the release of its end barrier" },
	{ NULL, EMIT_NS, CO(phase_ns.sum), .heading = "total", .look = EMIT_COMMON,
	  .help = "sum of the times in phase_ns" },
	{ "share", EMIT_RATIO, CO(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "share of the process's elapsed time" },
	{ "lost_ns", EMIT_NS, CO(lost_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "sum of the waits inside" },
	{ "gain_ns", EMIT_NS, CO(gain_ns),
	  .help = "potential gain: lost_ns divided by the number of threads" },
	{ "imbalance", EMIT_RATIO, CO(imbalance),
	  .help = "share of the phase's thread time that is lost to waiting" },
	{ "efficiency", EMIT_OBJECT, CO(efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies of this phase" },
	{ NULL, EMIT_RATIO, CO(efficiency.parallel), .heading = "PE", .look = EMIT_FRACTION,
	  .help = "parallel efficiency" },
	{ NULL, EMIT_RATIO, CO(efficiency.load_balance), .heading = "LB", .look = EMIT_FRACTION,
	  .help = "load balance" },
	{ NULL, EMIT_RATIO, CO(efficiency.serialisation), .heading = "SerE",
	  .look = EMIT_FRACTION, .help = "serialisation efficiency" },
	{ NULL, EMIT_RATIO, CO(efficiency.transfer), .heading = "TE", .look = EMIT_FRACTION,
	  .help = "transfer efficiency" },
	{ "cause", EMIT_OBJECT, LIST(report_conceptual, cause, cause.nparts),
	  .sub = &fields_rec_cause,
	  .help = "why the last arrivers were late, over all episodes inside" },
	FIELDS_COUNTERS_OF(report_conceptual),
	{ "threads", EMIT_ARRAY, LIST(report_conceptual, threads, nthreads),
	  .sub = &fields_rec_thread,
	  .help = "threads, and what they did inside the phase, by index" },
	END
};
const struct emit_record fields_rec_conceptual = {
	"phase", sizeof(struct report_conceptual), conceptual_fields,
	"A phase that the user named, over all its occurrences"
};

/* --- finding ---------------------------------------------------------------------------------- */

#define F(m) AT(report_finding, m)
static const struct emit_field finding_fields[] = {
	{ "kind", EMIT_STRING, F(kind),
	  .help = "oversubscribed, spinning, pinned, migrating, slow_cpu, throttled, cost_limit, "
		  "site_unknown, untraced, counted_from, tasks or arrivals_unseen" },
	{ "pid", EMIT_U32, F(pid), .flags = FIELDS_ZERO,
	  .help = "process id; null: the finding is about the machine" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "figure", EMIT_DOUBLE, F(figure), .help = "the number in the sentence" },
	{ "text", EMIT_CHARS, F(text), .help = "what the data prove, in a sentence" },
	END
};
const struct emit_record fields_rec_finding = {
	"finding", sizeof(struct report_finding), finding_fields,
	"What the data prove about the machine or its use"
};

/* --- remark ----------------------------------------------------------------------------------- */

#define RM(m) AT(remark, m)
static const struct emit_field remark_fields[] = {
	{ "kind", EMIT_STRING, RM(kind),
	  .help = "nothing_crossed, looked_at and elsewhere (no barrier was crossed: where "
		  "sbt-trace looked, and where else to look), candidate (threads may synchronise "
		  "there), spinning_code, inlined, user_barrier (-b), unmet (-w, --name, --phase), "
		  "ranks, ranks_gone (MPI ranks that exited before they were identified), team, "
		  "untraced (processes that cross no barrier but may wait in calls that are not "
		  "traced), frames, left_out, unread (files), still_running, not_traced, "
		  "not_probed, regions_unseen (parallel regions without a probe at their end), "
		  "copied (a process ran a copy of code that holds probes), trapped (such a copy "
		  "killed a process), processes_made (no estimate includes the cost of making "
		  "processes), not_looked_for, unattributed, unnamed (files), clocks (of several "
		  "recordings) and others" },
	{ "pid", EMIT_U32, RM(pid), .flags = FIELDS_ZERO,
	  .help = "process that the remark is about; null: no particular process" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "text", EMIT_STRING, RM(text),
	  .help = "what was not seen, or was seen only in part, in a sentence" },
	END
};
const struct emit_record fields_rec_remark = {
	"remark", sizeof(struct remark), remark_fields,
	"What the report lacks, or has only in part, and what to do about it"
};

/* --- end -------------------------------------------------------------------------------------- */

#define RV VIA(fields_end, report)
#define RE(m) RV, AT(report, m)
static const struct emit_field end_fields[] = {
	{ "episodes", EMIT_U64, RE(episodes), .help = "complete episodes of all processes" },
	{ "incomplete", EMIT_U64, RE(incomplete),
	  .help = "incomplete episodes, which no figure of imbalance includes" },
	{ "ambiguous", EMIT_U64, RE(ambiguous), .help = "episodes with uncertain membership" },
	{ "crossings", EMIT_U64, RE(crossings),
	  .help = "number of crossings (a crossing is one thread passing a barrier once)" },
	{ "hangs", EMIT_U32, RE(nhangs),
	  .help = "barriers that had not opened and at which threads still waited" },
	{ "elapsed_ns", EMIT_NS, AT(fields_end, elapsed_ns), .help = "traced time" },
	{ "from_ns", EMIT_NS, RE(extent.from_ns), .flags = FIELDS_ZERO,
	  .help = "start of the part of the run that is covered, relative to clock_start_ns; null: "
		  "from the start of the run" },
	{ "to_ns", EMIT_NS, RE(extent.to_ns), .flags = FIELDS_ZERO,
	  .help = "end of the part of the run that is covered, relative to clock_start_ns; null: "
		  "to the end of the run" },
	{ "rows", EMIT_STRING, RE(extent.rows),
	  .help = "barriers and threads that have rows; null: all" },
	{ "produced", EMIT_U64, RE(produced), .help = "records produced: consumed + lost_total" },
	{ "consumed", EMIT_U64, RE(consumed), .help = "records consumed" },
	{ "lost_total", EMIT_U64, RE(lost), .help = "records lost" },
	{ "lost", EMIT_MAP, RV, LIST(report, losses, nlosses), .sub = &rec_loss,
	  .help = "lost records: {cause: number}" },
	{ "complete", EMIT_BOOL, RE(complete),
	  .help = "nothing is missing: no records were lost; every process was traced to its "
		  "end; unmet, arrivals_unseen and left_out are 0 or null; every file was read "
		  "(remarks). No process has untraced barriers (untraced), may wait unseen "
		  "(remark untraced), or ran a copy of code that holds probes (remarks copied, "
		  "trapped). Every MPI rank was identified (ranks_gone)" },
	{ "shed", EMIT_U32, RE(ndetached),
	  .help = "number of processes that were not traced to their end because of "
		  "--cost-limit: see shed_ns in their records" },
	{ "shed_parts", EMIT_U32, RE(ndetached_parts),
	  .help = "number of other processes with barriers that were not traced to the end "
		  "because of --cost-limit: see sheds in their records" },
	{ "tasks", EMIT_U32, RE(ntasks),
	  .help = "number of processes that run OpenMP tasks and so have unknown efficiencies" },
	{ "cut", EMIT_BOOL, RE(cut), .help = "the recording ends before the run did" },
	{ "aggregate", EMIT_BOOL, RE(aggregate),
	  .help = "the kernel kept only sums (--aggregate): single episodes are not known" },
	{ "left_out", EMIT_STRING, RE(left_out),
	  .help = "barrier families in the traced processes that the kernel cannot sum" },
	{ "unmet", EMIT_U64, RE(unmet),
	  .help = "crossings of barriers shared by processes, without a known episode" },
	{ "arrivals_unseen", EMIT_U64, RE(arrivals_unseen),
	  .help = "crossings that waited for arrivals that are not traced (std::latch)" },
	{ "crossing_cost_ns", EMIT_DOUBLE, RE(crossing_cost_ns),
	  .help = "mean cost of tracing one crossing" },
	{ "switch_cost_ns", EMIT_DOUBLE, RE(switch_cost_ns),
	  .help = "cost of accounting each time a traced thread loses a CPU, is woken and gets "
		  "a CPU again" },
	{ "switches_cost_ns", EMIT_NS, RE(switches_cost_ns),
	  .help = "estimated total cost of this accounting, including processes that crossed no "
		  "barrier" },
	{ "rested_ns", EMIT_NS, RE(rested_ns),
	  .help = "time of threads that switched 2,000 times in a second without crossing a "
		  "barrier: accounting skips them for the rest of that second, and the time is "
		  "unattributed" },
	{ "tracer_cpu_ns", EMIT_NS, RE(tracer_cpu_ns),
	  .help = "CPU time used by sbt-trace itself" },
	END
};
const struct emit_record fields_rec_end = {
	"end", sizeof(struct fields_end), end_fields, "The end of the output"
};
/* The last line of the output always has the type "end", so interim reports need another type. */
const struct emit_record fields_rec_interim = {
	"interim", sizeof(struct fields_end), end_fields, "The end of an interim report"
};

#define RL(m, n) .type = EMIT_ARRAY, LIST(report, m, n), .help = "rows of a report"
const struct emit_field fields_of_report[] = {
	{ RL(groups, ngroups), .sub = &fields_rec_group },
	{ RL(processes, nprocesses), .sub = &fields_rec_process },
	{ RL(barriers, nbarriers), .sub = &fields_rec_barrier },
	{ RL(phases, nphases), .sub = &fields_rec_transition },
	{ RL(conceptuals, nconceptuals), .sub = &fields_rec_conceptual },
	{ RL(findings, nfindings), .sub = &fields_rec_finding },
	{ RL(remarks, nremarks), .sub = &fields_rec_remark },
	{ RL(hangs, nhangs), .sub = &fields_rec_hang },
	END
};

const struct emit_record *const fields_records[] = {
	&fields_rec_session, &fields_rec_episode, &fields_rec_warning, &fields_rec_hang,
	&fields_rec_where, &fields_rec_group, &fields_rec_process, &fields_rec_barrier,
	&fields_rec_transition, &fields_rec_conceptual, &fields_rec_finding, &fields_rec_remark,
	&fields_rec_interim, &fields_rec_end, &fields_rec_doctor, &fields_rec_comparison,
	&fields_rec_difference, &fields_rec_series, &fields_rec_prediction,
	&fields_rec_assumption, NULL,
};
/* clang-format on */
