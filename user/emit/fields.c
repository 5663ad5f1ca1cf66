// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/fields_internal.h"

#include <math.h>
#include <stdio.h>

/* clang-format off */

/* One field a row. */

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
	{ MODEL_WHY_LOST, "lost", "a member's record was lost" },
	{ MODEL_WHY_BEFORE, "before", "some members arrived before tracing began" },
	{ MODEL_WHY_ABANDONED, "abandoned", "a member never returned from the barrier" },
	{ MODEL_WHY_CAUSALITY, "causality", "a member left before the last one came" },
	{ MODEL_WHY_COUNT, "count", "its members are not as many as the barrier counts" },
	{ MODEL_WHY_SWAP, "swap", "two arrivals at its edge could be the other way round" },
	{ MODEL_WHY_END, "end", "tracing ended first" },
	{ MODEL_WHY_OTHERS, "others", "who else was to come is not known" },
	{ MODEL_WHY_BOUND, "bound", "the last came no later than shown: its arrival is not seen" },
	{ MODEL_WHY_RIVALS, "rivals", "which of them came last is not certain" },
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
	{ "n", EMIT_U64, T(n), .help = "how many values" },
	{ "sum", EMIT_NS, T(sum), .heading = "sum", .look = EMIT_MEAN, .help = "their sum" },
	{ "min", EMIT_NS, T(min), .heading = "min", .look = EMIT_MEAN, .help = "the least" },
	{ "mean", EMIT_DOUBLE, T(mean), .heading = "mean", .look = EMIT_MEAN,
	  .help = "their mean" },
	{ "max", EMIT_NS, T(max), .heading = "max", .look = EMIT_MEAN, .help = "the greatest" },
	{ "stddev", EMIT_DOUBLE, T(stddev), .heading = "stddev", .look = EMIT_MEAN,
	  .help = "standard deviation of the population" },
	{ "hist", EMIT_HIST, T(hist),
	  .help = "how many lie in [2^i, 2^(i+1)), for i from 0; trailing zeros left out" },
	END
};
const struct emit_record fields_rec_times = {
	"times", sizeof(struct report_times), times_fields, "A quantity in ns over many episodes"
};

#define P(m) AT(session_probe, m)
static const struct emit_field probe_fields[] = {
	{ "family", EMIT_STRING, P(family), .heading = "family", .look = EMIT_ID,
	  .help = "the barriers' family" },
	{ "binary", EMIT_STRING, P(binary), .heading = "file", .look = EMIT_NAME,
	  .help = "the file that is probed" },
	{ "symbol", EMIT_STRING, P(symbol), .heading = "symbol", .look = EMIT_NAME,
	  .help = "the function" },
	{ "offset", EMIT_U64, P(offset), .help = "of the probe in the file" },
	{ "method", EMIT_STRING, P(method), .heading = "method", .look = EMIT_ID,
	  .help = "how it was attached: session, multi or perf" },
	{ "scope", EMIT_STRING, P(scope), .heading = "scope", .look = EMIT_ID,
	  .help = "whom it hits: inode (whoever runs the file) or process" },
	{ "insn", EMIT_STRING, P(insn), .help = "the instruction under it, with its class" },
	{ "why", EMIT_STRING, P(why), .heading = "why there", .look = EMIT_NAME,
	  .help = "why this place and this method" },
	END
};
const struct emit_record fields_rec_probe = {
	"probe", sizeof(struct session_probe), probe_fields, "One probe"
};

#define UN(m) AT(report_uncounted, m)
static const struct emit_field uncounted_fields[] = {
	{ "name", EMIT_STRING, UN(name), .help = "as asked for" },
	{ "reason", EMIT_STRING, UN(reason), .help = "why it cannot be had" },
	END
};
static const struct emit_record rec_uncounted = {
	"counter_unavailable", sizeof(struct report_uncounted), uncounted_fields,
	"One counter that cannot be had"
};

#define C(m) AT(session_counter, m)
static const struct emit_field counter_fields[] = {
	{ "name", EMIT_STRING, C(name), .help = "as asked for" },
	{ "source", EMIT_STRING, C(source), .help = "hardware or software" },
	{ "unit", EMIT_STRING, C(unit), .help = "of its values" },
	END
};
static const struct emit_record rec_counter = {
	"counter", sizeof(struct session_counter), counter_fields, "One counter"
};

#define S(m) AT(session_setting, m)
static const struct emit_field setting_fields[] = {
	{ "name", EMIT_STRING, S(name), .help = "of the option" },
	{ "value", EMIT_STRING, S(value), .help = "as it holds for this run" },
	END
};
static const struct emit_record rec_setting = {
	"setting", sizeof(struct session_setting), setting_fields, "One option"
};

#define M(m) AT(observed_member, m)
static const struct emit_field member_fields[] = {
	{ "tid", EMIT_U32, M(tid), .flags = FIELDS_KEY, .help = "thread" },
	{ "index", EMIT_U32, M(index), .heading = "id", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "number within the process, by first crossing" },
	{ NULL, EMIT_U32, M(tid), .heading = "tid", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "thread" },
	{ "comm", EMIT_STRING, M(comm), .heading = "thread", .look = EMIT_NAME,
	  .views = FIELDS_EACH, .help = "the thread's name" },
	{ "site", EMIT_STRING, M(site), .heading = "from", .look = EMIT_NAME,
	  .help = "call site, where the members came from different ones" },
	{ "order", EMIT_U32, M(order), .help = "of arrival, from 0" },
	{ "arrive_ns", EMIT_T_NS, M(arrive_ns), .help = "arrival, from clock_start_ns" },
	{ "inter_ns", EMIT_NS, M(inter_ns), .heading = "inter", .look = EMIT_MEAN,
	  .help = "time since the thread before it arrived" },
	{ "wait_ns", EMIT_NS, M(wait_ns), .heading = "wait", .look = EMIT_MEAN,
	  .help = "from its arrival to the last one" },
	{ "depart_ns", EMIT_T_NS, M(depart_ns), .help = "departure, from clock_start_ns" },
	{ "cpu", EMIT_U32, M(cpu), .help = "on which it arrived" },
	{ "work_ns", EMIT_NS, M(work_ns), .heading = "work", .look = EMIT_MEAN,
	  .help = "the thread's phase: from its last departure to this arrival" },
	{ NULL, EMIT_NS, M(work_ns), .heading = "work", .look = EMIT_COMMON, .views = FIELDS_PARTS,
	  .help = "the thread's phase" },
	FIELDS_PARTS_OF(observed_member)
	FIELDS_COUNTERS_OF(observed_member),
	{ NULL, EMIT_T_NS, M(arrive_ns), .heading = "from start", .look = EMIT_CLOCK,
	  .help = "arrival, from the start" },
	{ NULL, EMIT_T_NS, M(arrive_ns), .heading = "time of day", .look = EMIT_DAY,
	  .help = "arrival, by the clock on the wall" },
	END
};
const struct emit_record fields_rec_member = {
	"thread", sizeof(struct observed_member), member_fields, "One thread of an episode"
};

#define H(m) AT(report_thread, m)
static const struct emit_field thread_fields[] = {
	{ "index", EMIT_U32, H(index), .heading = "id", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "number within the process, by first crossing" },
	{ "tid", EMIT_U32, H(tid), .flags = FIELDS_KEY, .heading = "tid", .look = EMIT_NUMBER,
	  .views = FIELDS_EACH, .help = "thread" },
	{ "comm", EMIT_STRING, H(comm), .heading = "thread", .look = EMIT_NAME,
	  .views = FIELDS_EACH, .help = "the thread's name" },
	{ "crossings", EMIT_U64, H(crossings), .heading = "crossings", .look = EMIT_NUMBER,
	  .help = "of barriers, seen" },
	{ "work_ns", EMIT_NS, H(work_ns), .heading = "work", .look = EMIT_COMMON,
	  .views = FIELDS_MAIN | FIELDS_PARTS, .help = "time between barriers" },
	{ "wait_ns", EMIT_NS, H(wait_ns), .heading = "wait", .look = EMIT_COMMON,
	  .help = "time waited for the last to come" },
	{ "idle_ns", EMIT_NS, H(idle_ns), .heading = "idle", .look = EMIT_COMMON,
	  .help = "time inside barriers: the wait, and waking up" },
	{ "wait_max_ns", EMIT_NS, H(wait_max_ns), .heading = "longest\nwait", .look = EMIT_MEAN,
	  .help = "its longest wait" },
	{ "last", EMIT_U64, H(last), .heading = "came last", .look = EMIT_NUMBER,
	  .cell = cell_thread_last, .help = "how often it came last" },
	{ "last_share", EMIT_RATIO, H(last_share), .help = "last over the complete episodes" },
	{ NULL, EMIT_NS, H(wait_ns), .heading = "wait", .look = EMIT_BAR, .help = "as a bar" },
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
	FIELDS_SOURCE_OF(report_callsite, "that waits"),
	{ "offset", EMIT_U64, S2(offset), .flags = FIELDS_ZERO,
	  .help = "of the call in the module" },
	{ "inlined", EMIT_STRING, S2(inlined), .help = "the functions it was inlined into" },
	{ "through", EMIT_STRING, S2(through),
	  .help = "the function called there, in which the barrier is written by hand" },
	END
};
static const struct emit_record rec_callsite = {
	"callsite", sizeof(struct report_callsite), callsite_fields, "One place that waits"
};

#define SH(m) AT(report_detached, m)
static const struct emit_field detached_fields[] = {
	{ "family", EMIT_STRING, SH(family), .help = "of barriers" },
	{ "function", EMIT_STRING, SH(function),
	  .help = "those that are met by this function; null: all of the family that is not told of apart" },
	{ "shed_ns", EMIT_T_NS, SH(t_ns), .help = "traced up to then only, from clock_start_ns" },
	{ "shed_cost", EMIT_RATIO, SH(cost),
	  .help = "the share of its threads' time that tracing all of it cost then, estimated" },
	{ "shed_limit", EMIT_RATIO, SH(limit), .help = "and what it was to cost at most" },
	{ "shed_because", EMIT_U32, SH(because), .flags = FIELDS_ZERO,
	  .help = "the process that it cost so much, if another one of the same probes" },
	{ "shed_probed", EMIT_BOOL, SH(probed),
	  .help = "their probes were left where they were, and cost it something still" },
	END
};
static const struct emit_record rec_detached = {
	"shed", sizeof(struct report_detached), detached_fields,
	"Barriers that were not traced to the end of their process"
};

#define L(m) AT(model_longest, m)
static const struct emit_field longest_fields[] = {
	{ "phase", EMIT_U64, L(number), .help = "phase number" },
	{ "phase_ns", EMIT_NS, L(phase_ns), .help = "phase time" },
	{ "t_ns", EMIT_NS, L(release_ns), .help = "its end, from clock_start_ns" },
	END
};
static const struct emit_record rec_longest = {
	"longest", sizeof(struct model_longest), longest_fields, "One of the longest phases"
};

#define E(m) AT(report_efficiency, m)
static const struct emit_field efficiency_fields[] = {
	{ "parallel", EMIT_RATIO, E(parallel), .help = "time outside barriers over all time" },
	{ "load_balance", EMIT_RATIO, E(load_balance),
	  .help = "1 less what the same threads' greater work takes" },
	{ "serialisation", EMIT_RATIO, E(serialisation),
	  .help = "1 less what another late thread each time takes" },
	{ "transfer", EMIT_RATIO, E(transfer), .help = "1 less what the barriers themselves take" },
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
	{ "count", EMIT_U64, LO(count), .help = "how many" },
	END
};
static const struct emit_record rec_loss = {
	"lost", sizeof(struct report_loss), loss_fields, "Lost records by cause"
};

/* --- session ---------------------------------------------------------------------------------- */

#define SV VIA(fields_session, session)
#define SE(m) SV, AT(session, m)
static const struct emit_field session_fields[] = {
	{ "schema", EMIT_U32, AT(fields_session, schema), .help = "version of these names" },
	{ "version", EMIT_STRING, SE(version), .help = "of sbt-trace" },
	{ "kernel", EMIT_STRING, SE(kernel), .help = "release of the kernel" },
	{ "mode", EMIT_STRING, SE(mode), .help = "command, pid, system, hang or prediction" },
	{ "command", EMIT_STRING, SE(command), .help = "the traced command" },
	{ "clock_start_ns", EMIT_U64, SE(clock_start_ns),
	  .help = "CLOCK_MONOTONIC at the start: arrive_ns, depart_ns and t_ns count from here" },
	{ "realtime_offset_ns", EMIT_I64, AT(fields_session, realtime_offset_ns),
	  .help = "CLOCK_REALTIME - CLOCK_MONOTONIC" },
	{ "armed_ns", EMIT_NS, SE(armed_ns), .flags = FIELDS_ZERO,
	  .help = "from the start of sbt-trace to the first record possible" },
	{ "probes", EMIT_ARRAY, SV, LIST(session, probes, nprobes),
	  .sub = &fields_rec_probe, .help = "what is probed, how, and why there" },
	{ "counters", EMIT_ARRAY, SV, LIST(session, counters, ncounters),
	  .sub = &rec_counter, .help = "what is counted" },
	{ "counters_unavailable", EMIT_ARRAY, SV, LIST(session, uncounted, nuncounted),
	  .sub = &rec_uncounted, .help = "what is not counted though it was asked for" },
	{ "settings", EMIT_ARRAY, SV, LIST(session, settings, nsettings),
	  .sub = &rec_setting, .help = "options, by their SBT_ names" },
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
	{ "label", EMIT_CHARS, EB(label), .help = "what text output calls it" },
	{ "kind", EMIT_STRING, EB(kind),
	  .help = "explicit, loop, sections, single, task, join or collective" },
	{ "team", EMIT_CHARS, EB(object), .help = "what its threads meet on: symbol or address" },
	{ "pid", EMIT_U32, EP(pid), .flags = FIELDS_KEY, .help = "process" },
	{ "seq", EMIT_U64, EP(seq), .flags = FIELDS_KEY,
	  .help = "number of the episode at this barrier, from 0" },
	{ "phase", EMIT_U64, EP(number),
	  .help = "phase number: within the process, from 0, by release" },
	{ "t_ns", EMIT_T_NS, EP(release_ns), .help = "release, from clock_start_ns" },
	{ "phase_ns", EMIT_NS, EP(phase_ns), .help = "phase time" },
	{ "barrier_ns", EMIT_NS, EP(barrier_ns),
	  .help = "barrier time: from the first arrival to the last" },
	{ "participants", EMIT_U32, EP(participants), .flags = FIELDS_ZERO, .help = "members" },
	{ "state", EMIT_ENUM, EP(state), .names = state_names,
	  .help = "complete, incomplete or ambiguous" },
	{ "why", EMIT_SET, EP(why), .names = fields_why,
	  .help = "what makes it incomplete or ambiguous" },
	{ "nested", EMIT_BOOL, EP(nested), .help = "inside another barrier's wait: enters no sum" },
	{ "threads", EMIT_ARRAY, LIST(observed_episode, members, nmembers), .sub = &fields_rec_member,
	  .help = "its members, by arrival" },
	FIELDS_COUNTERS_OF(observed_episode),
	{ "cause", EMIT_OBJECT, LIST(observed_episode, cause, cause.nparts),
	  .sub = &fields_rec_episode_cause, .help = "why its last thread was late" },
	END
};
const struct emit_record fields_rec_episode = {
	"episode", sizeof(struct observed_episode), episode_fields, "One meeting at a watched barrier"
};

#define WE(m) VIA(fields_warning, episode), AT(observed_episode, m)
#define WB(m) VIA(fields_warning, barrier), AT(report_barrier, m)
static const struct emit_field warning_fields[] = {
	{ "barrier", EMIT_CHARS, WB(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "label", EMIT_CHARS, WB(label), .help = "what text output calls it" },
	{ "pid", EMIT_U32, WE(pid), .flags = FIELDS_KEY, .help = "process" },
	{ "phase", EMIT_U64, WE(number), .flags = FIELDS_KEY, .help = "phase number" },
	{ "t_ns", EMIT_T_NS, WE(release_ns), .help = "release, from clock_start_ns" },
	{ "barrier_ns", EMIT_NS, WE(barrier_ns), .help = "barrier time" },
	{ "phase_ns", EMIT_NS, WE(phase_ns), .help = "phase time" },
	{ "threshold_ns", EMIT_NS, AT(fields_warning, threshold_ns),
	  .help = "warnings are for barrier times past this" },
	{ "cause", EMIT_OBJECT, VIA(fields_warning, episode),
	  LIST(observed_episode, cause, cause.nparts), .sub = &fields_rec_episode_cause,
	  .help = "why its last thread was late" },
	END
};
const struct emit_record fields_rec_warning = {
	"warning", sizeof(struct fields_warning), warning_fields,
	"A barrier time past the threshold"
};

/* --- barrier ---------------------------------------------------------------------------------- */

#define B(m) AT(report_barrier, m)
static const struct emit_field barrier_fields[] = {
	{ "id", EMIT_CHARS, B(id), .flags = FIELDS_KEY, .heading = "id", .look = EMIT_ID,
	  .help = "the same from run to run" },
	{ "pid", EMIT_U32, B(pid), .flags = FIELDS_KEY | FIELDS_MANY, .heading = "pid",
	  .look = EMIT_NUMBER, .help = "process" },
	{ "comm", EMIT_STRING, B(comm), .help = "the process's name" },
	{ "processes", EMIT_U32, B(processes),
	  .help = "1; more: of so many processes of one program that have exited, as a sum" },
	{ "shed_ns", EMIT_T_NS, B(detached_ns),
	  .help = "--cost-limit: traced up to then only, from clock_start_ns; null: to its end" },
	{ "shed_beside_ns", EMIT_T_NS, B(detached_beside_ns),
	  .help = "the same of others of its process: phases and work since then contain what was done there; null: none" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "family", EMIT_STRING, B(family), .help = "pthread, gomp, ..." },
	{ "kind", EMIT_STRING, B(kind),
	  .help = "explicit, loop, sections, single, task, join or collective" },
	{ "name", EMIT_STRING, B(name), .help = "given by the program or the user" },
	{ "label", EMIT_CHARS, B(label), .heading = "barrier", .look = EMIT_NAME,
	  .help = "what text output calls it" },
	FIELDS_SOURCE_OF(report_barrier, "that waits"),
	{ "offset", EMIT_U64, B(offset), .flags = FIELDS_ZERO,
	  .help = "of the call in the module" },
	{ "object", EMIT_CHARS, B(object), .help = "what the threads meet on: symbol or address" },
	{ "callsites", EMIT_ARRAY, LIST(report_barrier, callsites, ncallsites),
	  .sub = &rec_callsite,
	  .help = "more than one where the members of an episode come from different places" },
	{ "episodes", EMIT_U64, B(episodes), .heading = "epi-\nsodes", .look = EMIT_NUMBER,
	  .help = "complete ones" },
	{ "incomplete", EMIT_U64, B(incomplete),
	  .help = "episodes left out of every figure of imbalance" },
	{ "ambiguous", EMIT_U64, B(ambiguous), .help = "episodes whose members are not certain" },
	{ "crossings", EMIT_U64, B(crossings), .help = "one thread passing once" },
	{ "unmet", EMIT_U64, B(unmet),
	  .help = "of these, those of which it is not known who met: processes share it" },
	{ "participants", EMIT_U32, B(participants), .flags = FIELDS_ZERO,
	  .help = "most members of a complete episode" },
	{ "participants_min", EMIT_U32, B(participants_min), .flags = FIELDS_ZERO,
	  .help = "fewest members of a complete episode" },
	{ "shared", EMIT_BOOL, B(shared), .help = "members come from several processes" },
	{ "nested", EMIT_BOOL, B(nested), .help = "inside another barrier's wait: enters no sum" },
	{ "loop", EMIT_BOOL, B(loop), .help = "the program calls it a loop barrier" },
	{ "phase_ns", EMIT_TIMES, B(phase_ns), .heading = "phase\nmean", .look = EMIT_MEAN,
	  .help = "phase times" },
	{ "barrier_ns", EMIT_TIMES, B(barrier_ns), .heading = "barrier\nmean", .look = EMIT_MEAN,
	  .help = "barrier times: from the first arrival to the last" },
	{ "wait_ns", EMIT_TIMES, B(wait_ns), .help = "waits for the last to come, one a member" },
	{ "release_ns", EMIT_TIMES, B(release_ns),
	  .help = "from the last arrival to a member's departure" },
	{ "lost_ns", EMIT_NS, B(lost_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "sum of the waits" },
	{ "gain_ns", EMIT_NS, B(gain_ns), .help = "potential gain: lost_ns over the members" },
	{ "share", EMIT_RATIO, B(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "its phases' time over the process's elapsed time" },
	{ "imbalance", EMIT_RATIO, B(imbalance), .heading = "imba-\nlance", .look = EMIT_NUMBER,
	  .help = "the share of its phases' thread time that is lost waiting" },
	{ "load_balance", EMIT_RATIO, B(load_balance),
	  .help = "1 less what the same threads' greater work takes" },
	{ "serialisation", EMIT_RATIO, B(serialisation),
	  .help = "1 less what another late thread each time takes" },
	{ "release_share", EMIT_RATIO, B(release_share),
	  .help = "the share of its phases' thread time that releasing takes" },
	{ "last_tid", EMIT_U32, B(last_tid), .flags = FIELDS_ZERO, .heading = "most often\nlast",
	  .look = EMIT_NUMBER,
	  .cell = cell_last, .help = "the thread that comes last most often" },
	{ "last_comm", EMIT_STRING, B(last_comm), .help = "its name" },
	{ "last_count", EMIT_U64, B(last_count), .help = "how often it came last" },
	{ "last_share", EMIT_RATIO, B(last_share),
	  .help = "last_count over the complete episodes" },
	{ "pattern", EMIT_ENUM, B(pattern), .names = pattern_names,
	  .help = "balanced, static, rotating, mixed, costly, few (too few episodes to say), unknown (threads are kept as a sum) or tasks (what is lost is not known)" },
	{ "verdict", EMIT_CHARS, B(verdict), .help = "what the figures say, in a sentence" },
	{ "advice", EMIT_CHARS, B(advice), .help = "what to do about it" },
	{ "cause", EMIT_OBJECT, LIST(report_barrier, cause, cause.nparts), .sub = &fields_rec_cause,
	  .help = "why the last threads were late, over all episodes" },
	{ "delay_direct_ns", EMIT_NS, B(delay_direct_ns),
	  .help = "waits, here and elsewhere, that began as an imbalance in phases that end here" },
	{ "delay_passed_ns", EMIT_NS, B(delay_passed_ns),
	  .help = "the same, passed on by threads that were held up themselves" },
	FIELDS_COUNTERS_OF(report_barrier),
	{ "threads", EMIT_ARRAY, LIST(report_barrier, threads, nthreads), .sub = &fields_rec_thread,
	  .help = "by index" },
	{ "longest", EMIT_EMBEDDED, LIST(report_barrier, longest, nlongest), .sub = &rec_longest,
	  .help = "the longest phases that ended here" },
	END
};
const struct emit_record fields_rec_barrier = {
	"barrier", sizeof(struct report_barrier), barrier_fields, "A barrier over the whole run"
};

/* --- transition ------------------------------------------------------------------------------- */

#define PH(m) AT(report_phase, m)
static const struct emit_field transition_fields[] = {
	{ "pid", EMIT_U32, PH(pid), .flags = FIELDS_MANY, .heading = "pid", .look = EMIT_NUMBER,
	  .help = "process" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "from", EMIT_CHARS, PH(from_id),
	  .help = "id of the barrier where it begins; null: the start" },
	{ "from_label", EMIT_CHARS, PH(from), .heading = "from", .look = EMIT_NAME,
	  .help = "what text output calls it" },
	{ "to", EMIT_CHARS, PH(to_id), .help = "id of the barrier where it ends" },
	{ "to_label", EMIT_CHARS, PH(to), .heading = "to", .look = EMIT_NAME,
	  .help = "what text output calls it" },
	{ "occurrences", EMIT_U64, PH(occurrences), .heading = "times", .look = EMIT_NUMBER,
	  .help = "how often" },
	{ "phase_ns", EMIT_TIMES, PH(phase_ns), .heading = "mean", .look = EMIT_MEAN,
	  .help = "phase times" },
	{ NULL, EMIT_NS, PH(phase_ns.sum), .heading = "total", .look = EMIT_COMMON,
	  .help = "sum of phase times" },
	{ "share", EMIT_RATIO, PH(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "of the process's elapsed time" },
	{ "lost_ns", EMIT_NS, PH(lost_ns), .heading = "lost at\nits end", .look = EMIT_COMMON,
	  .help = "sum of the waits at its end" },
	{ "imbalance", EMIT_RATIO, PH(imbalance), .heading = "imba-\nlance", .look = EMIT_NUMBER,
	  .help = "the share of its thread time that is lost waiting" },
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
	  .help = "1 less what uneven work in a region takes" },
	{ "scheduling", EMIT_RATIO, PR(omp_scheduling),
	  .help = "1 less what the runtime takes inside regions" },
	{ "start", EMIT_RATIO, PR(omp_start),
	  .help = "1 less what workers take from the call that begins a region to their first instruction in it; null: not known, and in the serialisation" },
	{ "serialisation", EMIT_RATIO, PR(omp_serialisation),
	  .help = "1 less what time outside parallel regions takes" },
	{ "turns", EMIT_RATIO, PR(omp_turns),
	  .help = "1 less what waits for a turn take, in critical, ordered and locks; null: not known, and taken for work" },
	END
};
static const struct emit_record rec_omp = {
	"omp_efficiency", sizeof(struct report_process), omp_fields,
	"OpenMP efficiencies, 0 to 1"
};

static const struct emit_field process_fields[] = {
	{ "pid", EMIT_U32, PR(pid), .flags = FIELDS_KEY, .heading = "pid", .look = EMIT_NUMBER,
	  .help = "process" },
	{ "comm", EMIT_STRING, PR(comm), .heading = "process", .look = EMIT_NAME,
	  .help = "its name" },
	{ "processes", EMIT_U32, PR(processes),
	  .help = "1; more: so many processes of one program that have exited, as a sum; pid is of the first of them" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "parent", EMIT_U32, PR(parent), .flags = FIELDS_ZERO, .help = "pid of its parent" },
	{ "exited", EMIT_BOOL, PR(exited), .help = "while being traced" },
	{ "start_seen", EMIT_BOOL, PR(start_seen),
	  .help = "it began while it was traced; else elapsed_ns and all efficiencies count from the start of tracing, or from counted_from_ns" },
	{ "counted_from_ns", EMIT_T_NS, PR(counted_from_ns),
	  .help = "its first crossings were not recorded (lost: not_examined, probed_late): then, from clock_start_ns, was its first recorded crossing, and elapsed_ns and all efficiencies count from there; null: from where start_seen says" },
	{ "elapsed_ns", EMIT_NS, PR(elapsed_ns), .heading = "elapsed", .look = EMIT_MEAN,
	  .help = "T" },
	{ "life_ns", EMIT_NS, PR(life_ns),
	  .help = "from the beginning of the process to its end, where both were seen" },
	{ "ideal_ns", EMIT_NS, PR(ideal_ns),
	  .help = "the same with free barriers: the longest path outside barriers" },
	{ "nthreads", EMIT_U32, PR(threads), .heading = "threads", .look = EMIT_NUMBER,
	  .help = "threads that crossed a barrier" },
	{ "positions", EMIT_U32, PR(positions),
	  .help = "the most of them that lived at one time: threads with disjoint lives follow each other at one position, and efficiencies compare positions" },
	{ "episodes", EMIT_U64, PR(episodes), .heading = "episodes", .look = EMIT_NUMBER,
	  .help = "complete ones" },
	{ "incomplete", EMIT_U64, PR(incomplete),
	  .help = "episodes left out of every figure of imbalance" },
	{ "ambiguous", EMIT_U64, PR(ambiguous), .help = "episodes whose members are not certain" },
	{ "crossings", EMIT_U64, PR(crossings), .help = "one thread passing a barrier once" },
	{ "unmet", EMIT_U64, PR(unmet),
	  .help = "of these, at barriers that processes share, those of which it is not known who met" },
	{ "arrivals_unseen", EMIT_U64, PR(arrivals_unseen),
	  .help = "of these, waits for others who came without a trace, as those who only count down at a std::latch: in no figure of what is lost" },
	{ "abandoned", EMIT_U64, PR(abandoned), .help = "crossings whose thread never returned" },
	{ "lost", EMIT_U64, PR(lost), .help = "crossings known to be missing" },
	{ "outside_ns", EMIT_NS, PR(outside_ns), .help = "time outside barriers, all threads" },
	{ "wait_ns", EMIT_NS, PR(wait_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "waits for the last to come, all threads" },
	{ "wait_share", EMIT_RATIO, PR(wait_share),
	  .help = "wait_ns over its threads' time, each from its start to its end: what the verdict says is lost waiting" },
	{ "imbalance", EMIT_RATIO, PR(imbalance),
	  .help = "the share of its phases' thread time that is lost waiting, over all its barriers; null where it shares some with others" },
	{ "release_ns", EMIT_NS, PR(release_ns),
	  .help = "from last arrivals to departures, all threads" },
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
	  .help = "TALP's for OpenMP, peeled scheduling first, from the start of the process: their product is the parallel efficiency" },
	{ "useful_oncpu", EMIT_RATIO, PR(useful_oncpu),
	  .help = "share of outside_ns that was on a CPU" },
	{ "lost_static", EMIT_RATIO, PR(lost_static),
	  .help = "share of its threads' lives (OpenMP: of elapsed_ns times nthreads) lost because the same ones take longer; with the next two, what the parallel efficiency lacks" },
	{ "lost_rotating", EMIT_RATIO, PR(lost_rotating),
	  .help = "share lost because another one is late each time" },
	{ "lost_transfer", EMIT_RATIO, PR(lost_transfer),
	  .help = "share lost to the barriers themselves" },
	{ "pattern", EMIT_ENUM, PR(pattern), .names = pattern_names,
	  .help = "balanced, static, rotating, mixed, costly, few (too few episodes to say), unknown (threads are kept as a sum) or tasks (what is lost is not known)" },
	{ "verdict", EMIT_CHARS, PR(verdict), .help = "what the figures say, in a sentence" },
	{ "advice", EMIT_CHARS, PR(advice), .help = "what to do about it" },
	{ "untraced", EMIT_STRING, PR(untraced),
	  .help = "functions that its code calls and in which it may wait: they are not traced, or were not all the time, and what it waits then counts as work, so that the efficiencies are upper limits; null: none is known" },
	{ "tasks", EMIT_BOOL, PR(tasks),
	  .help = "it runs OpenMP tasks, which are not traced: what its threads do in tasks inside barriers is work and counts as lost, so that its efficiencies are not known" },
	{ "parallel_efficiency_least", EMIT_RATIO, PR(parallel_least),
	  .help = "where it runs tasks, the parallel efficiency is no less: nothing that is done in barriers is work" },
	{ "parallel_efficiency_most", EMIT_RATIO, PR(parallel_most),
	  .help = "and no more: all that is done in barriers is work" },
	{ "barriers_oncpu", EMIT_RATIO, PR(inside_oncpu),
	  .help = "where it runs tasks: of its threads' time in barriers the share that was on a CPU, in tasks or waiting" },
	{ "departures", EMIT_STRING, PR(exit_detection), .help = "how departures are seen" },
	{ "cost_ns", EMIT_NS, PR(cost_ns),
	  .help = "tracing's own, estimated: of its crossings, of its threads' switches, and of sbt-trace's running in their place" },
	{ "crossing_cost_ns", EMIT_DOUBLE, PR(crossing_cost_ns),
	  .help = "of it, one crossing: its price back to back, times how much longer our program in the kernel took in this process" },
	{ "cost_taken_ns", EMIT_NS, PR(cost_interference_ns),
	  .help = "how long its threads waited for a CPU that sbt-trace had, as it reads; cost_ns has it for each of its threads that meet" },
	{ "discovery_hits", EMIT_U64, PR(looks),
	  .help = "how often probes were hit that look for barriers on condition variables, and it was no crossing of one, that see threads wait for their turn, or that tell of OpenMP tasks; cost_ns has it" },
	{ "discovery_paused_ns", EMIT_NS, PR(paused_ns),
	  .help = "how long it was not looked at for barriers on condition variables, as those that it used were hot and no barriers" },
	{ "cost_share", EMIT_RATIO, PR(cost_share),
	  .help = "cost_ns over its threads' time, as far as there are CPUs for them" },
	{ "cost_rough", EMIT_BOOL, PR(cost_rough),
	  .help = "its threads do less than 5 us between barriers: what tracing costs where they sleep there may be nothing, or many times this" },
	{ "shed_ns", EMIT_T_NS, PR(detached_ns),
	  .help = "--cost-limit: traced up to then only, from clock_start_ns; null: to its end" },
	{ "shed_cost", EMIT_RATIO, PR(detached_cost),
	  .help = "the share of its threads' time that tracing cost then, estimated" },
	{ "shed_limit", EMIT_RATIO, PR(detached_limit), .help = "and what it was to cost at most" },
	{ "shed_because", EMIT_U32, PR(detached_because), .flags = FIELDS_ZERO,
	  .help = "the process that it cost so much, if another one of the same probes" },
	{ "shed_probed", EMIT_BOOL, PR(detached_probed),
	  .help = "its probes were left where they were, and cost it something still" },
	{ "sheds", EMIT_ARRAY, LIST(report_process, sheds, nsheds), .sub = &rec_detached,
	  .help = "those of its barriers that were not traced to its end, while others were (--cost-limit): its sums are without what came there later, and no efficiency is known" },
	FIELDS_COUNTERS_OF(report_process),
	{ "threads", EMIT_ARRAY, LIST(report_process, members, nmembers), .sub = &fields_rec_thread,
	  .help = "over all barriers, by index" },
	END
};
const struct emit_record fields_rec_process = {
	"process", sizeof(struct report_process), process_fields, "A process over the whole run"
};

/* --- group ------------------------------------------------------------------------------------ */

#define GP(m) AT(report_group_process, m)
static const struct emit_field group_process_fields[] = {
	{ "pid", EMIT_U32, GP(pid), .flags = FIELDS_KEY, .help = "process" },
	{ "comm", EMIT_STRING, GP(comm), .help = "its name" },
	END
};
static const struct emit_record rec_group_process = {
	"process", sizeof(struct report_group_process), group_process_fields,
	"One process of a group"
};

#define GR(m) AT(report_group, m)
static const struct emit_field group_fields[] = {
	{ "processes", EMIT_ARRAY, LIST(report_group, processes, nprocesses),
	  .sub = &rec_group_process, .help = "those that meet one another, most lost time first" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "elapsed_ns", EMIT_NS, GR(all.elapsed_ns), .help = "T: first start to last end" },
	{ "ideal_ns", EMIT_NS, GR(all.ideal_ns),
	  .help = "the same with free barriers: the longest path outside barriers" },
	{ "nthreads", EMIT_U32, GR(all.threads), .help = "threads that crossed a barrier" },
	{ "ranked", EMIT_BOOL, GR(all.ranked), .help = "their indices are MPI's ranks" },
	{ "episodes", EMIT_U64, GR(all.episodes), .help = "complete ones" },
	{ "incomplete", EMIT_U64, GR(all.incomplete),
	  .help = "episodes left out of every figure of imbalance" },
	{ "outside_ns", EMIT_NS, GR(all.outside_ns), .help = "time outside barriers, all threads" },
	{ "wait_ns", EMIT_NS, GR(all.wait_ns),
	  .help = "waits for the last to come, all threads" },
	{ "wait_share", EMIT_RATIO, GR(all.wait_share), .help = "as of a process" },
	{ "imbalance", EMIT_RATIO, GR(all.imbalance),
	  .help = "the share of their phases' thread time that is lost waiting, over all barriers" },
	{ "efficiency", EMIT_OBJECT, GR(all.efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies, all as one team" },
	{ "lost_static", EMIT_RATIO, GR(all.lost_static),
	  .help = "share of elapsed_ns times nthreads lost because the same ones take longer; with the next two, what the parallel efficiency lacks" },
	{ "lost_rotating", EMIT_RATIO, GR(all.lost_rotating),
	  .help = "share lost because another one is late each time" },
	{ "lost_transfer", EMIT_RATIO, GR(all.lost_transfer),
	  .help = "share lost to the barriers themselves" },
	{ "pattern", EMIT_ENUM, GR(all.pattern), .names = pattern_names,
	  .help = "balanced, static, rotating, mixed, costly, few (too few episodes to say), unknown (threads are kept as a sum) or tasks (what is lost is not known)" },
	{ "verdict", EMIT_CHARS, GR(all.verdict), .help = "what the figures say, in a sentence" },
	{ "advice", EMIT_CHARS, GR(all.advice), .help = "what to do about it" },
	{ "counted_from_ns", EMIT_T_NS, GR(all.counted_from_ns),
	  .help = "as of a process: the last of these. Its efficiencies are null if much of its time is missing" },
	{ "untraced", EMIT_STRING, GR(all.untraced), .help = "as of a process: of one of these" },
	{ "tasks", EMIT_BOOL, GR(all.tasks), .help = "as of a process: one of these does" },
	{ "threads", EMIT_ARRAY, LIST(report_group, all.members, all.nmembers),
	  .sub = &fields_rec_thread, .help = "over all barriers, by index" },
	END
};
const struct emit_record fields_rec_group = {
	"group", sizeof(struct report_group), group_fields,
	"Processes that meet one another at barriers, as one team"
};

/* --- conceptual phase --------------------------------------------------------------------------- */

#define CO(m) AT(report_conceptual, m)
static const struct emit_field conceptual_fields[] = {
	{ "name", EMIT_STRING, CO(name), .flags = FIELDS_KEY, .heading = "phase",
	  .look = EMIT_NAME, .help = "given by the user" },
	{ "pid", EMIT_U32, CO(pid), .flags = FIELDS_KEY | FIELDS_MANY, .heading = "pid",
	  .look = EMIT_NUMBER, .help = "process" },
	{ "comm", EMIT_STRING, CO(comm), .help = "the process's name" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "occurrences", EMIT_U64, CO(occurrences), .heading = "times", .look = EMIT_NUMBER,
	  .help = "how often, from its start barrier to its end barrier" },
	{ "unfinished", EMIT_U64, CO(unfinished),
	  .help = "occurrences whose end was not seen: in no figure" },
	{ "episodes", EMIT_U64, CO(episodes), .heading = "epi-\nsodes", .look = EMIT_NUMBER,
	  .help = "complete ones inside, the end barrier's included" },
	{ "incomplete", EMIT_U64, CO(incomplete), .help = "incomplete ones inside" },
	{ "phase_ns", EMIT_TIMES, CO(phase_ns), .heading = "mean", .look = EMIT_MEAN,
	  .help = "times from the release of its start to the release of its end" },
	{ NULL, EMIT_NS, CO(phase_ns.sum), .heading = "total", .look = EMIT_COMMON,
	  .help = "sum of those times" },
	{ "share", EMIT_RATIO, CO(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "of the process's elapsed time" },
	{ "lost_ns", EMIT_NS, CO(lost_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "sum of the waits inside" },
	{ "gain_ns", EMIT_NS, CO(gain_ns), .help = "potential gain: lost_ns over its threads" },
	{ "imbalance", EMIT_RATIO, CO(imbalance), .help = "share of its thread time lost waiting" },
	{ "efficiency", EMIT_OBJECT, CO(efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies of its time" },
	{ NULL, EMIT_RATIO, CO(efficiency.parallel), .heading = "PE", .look = EMIT_FRACTION,
	  .help = "parallel efficiency" },
	{ NULL, EMIT_RATIO, CO(efficiency.load_balance), .heading = "LB", .look = EMIT_FRACTION,
	  .help = "load balance" },
	{ NULL, EMIT_RATIO, CO(efficiency.serialisation), .heading = "SerE",
	  .look = EMIT_FRACTION, .help = "serialisation efficiency" },
	{ NULL, EMIT_RATIO, CO(efficiency.transfer), .heading = "TE", .look = EMIT_FRACTION,
	  .help = "transfer efficiency" },
	{ "cause", EMIT_OBJECT, LIST(report_conceptual, cause, cause.nparts),
	  .sub = &fields_rec_cause, .help = "why last threads were late, over all episodes inside" },
	FIELDS_COUNTERS_OF(report_conceptual),
	{ "threads", EMIT_ARRAY, LIST(report_conceptual, threads, nthreads),
	  .sub = &fields_rec_thread, .help = "what they did inside, by index" },
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
	{ "pid", EMIT_U32, F(pid), .flags = FIELDS_ZERO, .help = "process; null: the machine" },
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
	  .help = "nothing_crossed, looked_at and elsewhere (no barrier was crossed: where it was looked, and where else "
		  "one could look), candidate (threads may have met there), spinning_code, inlined, user_barrier (-b), "
		  "unmet (-w, --name, --phase), ranks, ranks_gone (ranks of MPI that had ended before it was known which they were), team, untraced (processes that may wait in calls that are not traced, and cross no barrier), frames, left_out, unread (files), still_running, not_traced, not_probed, regions_unseen (parallel regions whose end was not probed), "
		  "copied (a process ran a copy of code that holds probes), trapped (it died of that), "
		  "processes_made (what these cost is in no estimate), not_looked_for, unattributed, unnamed (files), clocks (of several recordings) or more" },
	{ "pid", EMIT_U32, RM(pid), .flags = FIELDS_ZERO,
	  .help = "the process that it is about; null: none in particular" },
	{ "interim", EMIT_INTERIM, .help = "true in an interim report" },
	{ "text", EMIT_STRING, RM(text), .help = "what was not seen, or only in part, in a sentence" },
	END
};
const struct emit_record fields_rec_remark = {
	"remark", sizeof(struct remark), remark_fields,
	"What is not in the report, or only in part, and what to do about that"
};

/* --- end -------------------------------------------------------------------------------------- */

#define RV VIA(fields_end, report)
#define RE(m) RV, AT(report, m)
static const struct emit_field end_fields[] = {
	{ "episodes", EMIT_U64, RE(episodes), .help = "complete ones, all processes" },
	{ "incomplete", EMIT_U64, RE(incomplete),
	  .help = "episodes left out of every figure of imbalance" },
	{ "ambiguous", EMIT_U64, RE(ambiguous), .help = "episodes whose members are not certain" },
	{ "crossings", EMIT_U64, RE(crossings), .help = "one thread passing a barrier once" },
	{ "hangs", EMIT_U32, RE(nhangs), .help = "barriers that were waited at and had not opened" },
	{ "elapsed_ns", EMIT_NS, AT(fields_end, elapsed_ns), .help = "time traced" },
	{ "from_ns", EMIT_NS, RE(extent.from_ns), .flags = FIELDS_ZERO,
	  .help = "all is of the run from there on, from clock_start_ns; null: from its start" },
	{ "to_ns", EMIT_NS, RE(extent.to_ns), .flags = FIELDS_ZERO,
	  .help = "and up to there; null: to its end" },
	{ "rows", EMIT_STRING, RE(extent.rows),
	  .help = "whose rows there are; null: those of all barriers and threads" },
	{ "produced", EMIT_U64, RE(produced), .help = "records: produced = consumed + lost_total" },
	{ "consumed", EMIT_U64, RE(consumed), .help = "records read" },
	{ "lost_total", EMIT_U64, RE(lost), .help = "records lost" },
	{ "lost", EMIT_MAP, RV, LIST(report, losses, nlosses), .sub = &rec_loss,
	  .help = "records lost, by cause" },
	{ "complete", EMIT_BOOL, RE(complete),
	  .help = "nothing was lost, and nothing left out: neither shed, nor unmet, nor arrivals_unseen, nor left_out, nor a file unread (remarks); and no process has barriers that are not traced (untraced) or may wait unseen and is in no figure (remark untraced); nor ran a copy of code that holds probes (remarks copied, trapped); and of each rank of MPI it is known which it was (ranks_gone)" },
	{ "shed", EMIT_U32, RE(ndetached),
	  .help = "processes that were not traced to their end (--cost-limit): see their shed_ns" },
	{ "shed_parts", EMIT_U32, RE(ndetached_parts),
	  .help = "others of which some barriers were not (--cost-limit): see their sheds" },
	{ "tasks", EMIT_U32, RE(ntasks),
	  .help = "processes that run OpenMP tasks, so that their efficiencies are not known" },
	{ "cut", EMIT_BOOL, RE(cut),
	  .help = "this is from a recording that ends before the run did" },
	{ "aggregate", EMIT_BOOL, RE(aggregate),
	  .help = "sums made in the kernel: of single meetings nothing is known (--aggregate)" },
	{ "left_out", EMIT_STRING, RE(left_out),
	  .help = "families of barriers that are in what was traced, and of which it sums nothing" },
	{ "unmet", EMIT_U64, RE(unmet),
	  .help = "crossings at barriers that processes share, of which it is not known who met" },
	{ "arrivals_unseen", EMIT_U64, RE(arrivals_unseen),
	  .help = "crossings that waited for others who came without a trace (std::latch)" },
	{ "crossing_cost_ns", EMIT_DOUBLE, RE(crossing_cost_ns),
	  .help = "what tracing one crossing costs, at the mean of all of them" },
	{ "switch_cost_ns", EMIT_DOUBLE, RE(switch_cost_ns),
	  .help = "what accounting costs for a traced thread's losing a CPU, being woken and getting one again" },
	{ "switches_cost_ns", EMIT_NS, RE(switches_cost_ns),
	  .help = "what that took in all, estimated: of processes that crossed no barrier, too" },
	{ "rested_ns", EMIT_NS, RE(rested_ns),
	  .help = "time of threads that switched 2,000 times in a second and crossed no barrier meanwhile: for the rest of that second they are not accounted for, and it is unattributed" },
	{ "tracer_cpu_ns", EMIT_NS, RE(tracer_cpu_ns),
	  .help = "CPU time that sbt-trace itself used" },
	END
};
const struct emit_record fields_rec_end = {
	"end", sizeof(struct fields_end), end_fields, "The end of the output"
};
/* A type of its own, so that "end" is always the last line. */
const struct emit_record fields_rec_interim = {
	"interim", sizeof(struct fields_end), end_fields, "The end of an interim report"
};

const struct emit_record *const fields_records[] = {
	&fields_rec_session, &fields_rec_episode, &fields_rec_warning, &fields_rec_hang,
	&fields_rec_where,
	&fields_rec_group, &fields_rec_process, &fields_rec_barrier, &fields_rec_transition,
	&fields_rec_conceptual,
	&fields_rec_finding, &fields_rec_remark, &fields_rec_interim, &fields_rec_end, &fields_rec_doctor,
	&fields_rec_comparison, &fields_rec_difference, &fields_rec_series,
	&fields_rec_prediction, &fields_rec_assumption, NULL,
};
/* clang-format on */
