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
	{ REPORT_SUM_ONLY, "unknown", NULL },
	{ REPORT_TASKS, "tasks", NULL },
	{ 0, NULL, NULL },
};

const struct emit_names fields_why[] = {
	{ MODEL_WHY_LOST, "lost", "the record of a thread was lost" },
	{ MODEL_WHY_BEFORE, "before", "some threads arrived before tracing began" },
	{ MODEL_WHY_ABANDONED, "abandoned", "a thread never returned from the barrier" },
	{ MODEL_WHY_CAUSALITY, "causality",
	  "a thread left the barrier before the last thread arrived" },
	{ MODEL_WHY_COUNT, "count", "the number of threads differs from the barrier's count" },
	{ MODEL_WHY_SWAP, "swap",
	  "it is uncertain which of two threads arrived first, at the start or end of the "
	  "episode" },
	{ MODEL_WHY_END, "end", "tracing ended during the episode" },
	{ MODEL_WHY_OTHERS, "others", "it is unknown how many threads have to arrive" },
	{ MODEL_WHY_BOUND, "bound",
	  "the last arrival was not seen; it was at the time shown, or earlier" },
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
	{ "min", EMIT_NS, T(min), .heading = "min", .look = EMIT_MEAN, .help = "smallest value" },
	{ "mean", EMIT_DOUBLE, T(mean), .heading = "mean", .look = EMIT_MEAN,
	  .help = "mean of the values" },
	{ "max", EMIT_NS, T(max), .heading = "max", .look = EMIT_MEAN, .help = "largest value" },
	{ "stddev", EMIT_DOUBLE, T(stddev), .heading = "stddev", .look = EMIT_MEAN,
	  .help = "standard deviation of all values (not of a sample)" },
	{ "hist", EMIT_HIST, T(hist),
	  .help = "histogram: element i is the number of values in [2^i, 2^(i+1)) ns, for i from "
		  "0; trailing zeros are left out" },
	END
};
const struct emit_record fields_rec_times = {
	"times", sizeof(struct report_times), times_fields, "A time in ns, over many episodes"
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
		  "process (only one traced process)" },
	{ "insn", EMIT_STRING, P(insn), .help = "instruction under the probe, and its class" },
	{ "why", EMIT_STRING, P(why), .heading = "why there", .look = EMIT_NAME,
	  .help = "why the probe is at this site, and why this attach method was used" },
	END
};
const struct emit_record fields_rec_probe = {
	"probe", sizeof(struct session_probe), probe_fields, "One probe"
};

#define UN(m) AT(report_uncounted, m)
static const struct emit_field uncounted_fields[] = {
	{ "name", EMIT_STRING, UN(name), .help = "name of the counter, as the user wrote it" },
	{ "reason", EMIT_STRING, UN(reason), .help = "why the counter is not available" },
	END
};
static const struct emit_record rec_uncounted = {
	"counter_unavailable", sizeof(struct report_uncounted), uncounted_fields,
	"A requested counter that is not available"
};

#define C(m) AT(session_counter, m)
static const struct emit_field counter_fields[] = {
	{ "name", EMIT_STRING, C(name), .help = "name of the counter, as the user wrote it" },
	{ "source", EMIT_STRING, C(source), .help = "hardware or software" },
	{ "unit", EMIT_STRING, C(unit), .help = "unit of the values" },
	END
};
static const struct emit_record rec_counter = {
	"counter", sizeof(struct session_counter), counter_fields, "One counter"
};

#define DE(m) AT(session_departures, m)
static const struct emit_field departures_fields[] = {
	{ "family", EMIT_STRING, DE(family), .help = "barrier family" },
	{ "method", EMIT_STRING, DE(method),
	  .help = "seen: a probe at the end of the wait; inferred: from the release and from the "
		  "times when the thread was off the CPU" },
	{ "why", EMIT_STRING, DE(why), .help = "why this method was used" },
	END
};
static const struct emit_record rec_departures = {
	"departures", sizeof(struct session_departures), departures_fields,
	"How the departures from the barriers of one family are found"
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
	  .help = "number of the thread in its process: threads are numbered in the order of their "
		  "first crossings" },
	{ NULL, EMIT_U32, M(tid), .heading = "tid", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "thread id" },
	{ "comm", EMIT_STRING, M(comm), .heading = "thread", .look = EMIT_NAME,
	  .views = FIELDS_EACH, .help = "name of the thread" },
	{ "site", EMIT_STRING, M(site), .heading = "from", .look = EMIT_NAME,
	  .help = "call site of this thread, if the threads of the episode arrive from different "
		  "call sites" },
	{ "order", EMIT_U32, M(order),
	  .help = "position of the thread in the order of arrival, counted from 0" },
	{ "arrive_ns", EMIT_T_NS, M(arrive_ns),
	  .help = "time of the thread's arrival, relative to clock_start_ns" },
	{ "inter_ns", EMIT_NS, M(inter_ns), .heading = "inter", .look = EMIT_MEAN,
	  .help = "time from the previous thread's arrival to this thread's arrival" },
	{ "wait_ns", EMIT_NS, M(wait_ns), .heading = "wait", .look = EMIT_MEAN,
	  .help = "time from the thread's arrival to the last arrival" },
	{ "depart_ns", EMIT_T_NS, M(depart_ns),
	  .help = "time of the thread's departure, relative to clock_start_ns" },
	{ "cpu", EMIT_U32, M(cpu), .help = "CPU on which the thread arrived" },
	{ "work_ns", EMIT_NS, M(work_ns), .heading = "work", .look = EMIT_MEAN,
	  .help = "work of the thread: the time from its previous departure to this arrival" },
	{ NULL, EMIT_NS, M(work_ns), .heading = "work", .look = EMIT_COMMON, .views = FIELDS_PARTS,
	  .help = "work of the thread: the time from its previous departure to this arrival" },
	FIELDS_PARTS_OF(observed_member)
	FIELDS_COUNTERS_OF(observed_member),
	{ NULL, EMIT_T_NS, M(arrive_ns), .heading = "from start", .look = EMIT_CLOCK,
	  .help = "time of the thread's arrival, relative to the start of tracing" },
	{ NULL, EMIT_T_NS, M(arrive_ns), .heading = "time of day", .look = EMIT_DAY,
	  .help = "time of day of the thread's arrival" },
	END
};
const struct emit_record fields_rec_member = {
	"thread", sizeof(struct observed_member), member_fields, "One thread of an episode"
};

#define H(m) AT(report_thread, m)
static const struct emit_field thread_fields[] = {
	{ "index", EMIT_U32, H(index), .heading = "id", .look = EMIT_NUMBER, .views = FIELDS_EACH,
	  .help = "number of the thread in its process: threads are numbered in the order of their "
		  "first crossings" },
	{ "tid", EMIT_U32, H(tid), .flags = FIELDS_KEY, .heading = "tid", .look = EMIT_NUMBER,
	  .views = FIELDS_EACH, .help = "thread id" },
	{ "comm", EMIT_STRING, H(comm), .heading = "thread", .look = EMIT_NAME,
	  .views = FIELDS_EACH, .help = "name of the thread" },
	{ "crossings", EMIT_U64, H(crossings), .heading = "crossings", .look = EMIT_NUMBER,
	  .help = "number of recorded crossings of the thread" },
	{ "work_ns", EMIT_NS, H(work_ns), .heading = "work", .look = EMIT_COMMON,
	  .views = FIELDS_MAIN | FIELDS_PARTS,
	  .help = "sum of the times from a departure to the thread's next arrival" },
	{ "wait_ns", EMIT_NS, H(wait_ns), .heading = "wait", .look = EMIT_COMMON,
	  .help = "sum of the thread's waits: times from its arrival to the last arrival" },
	{ "idle_ns", EMIT_NS, H(idle_ns), .heading = "idle", .look = EMIT_COMMON,
	  .help = "time of the thread inside barriers: its waits, and the times until it left "
		  "after the last arrival" },
	{ "wait_max_ns", EMIT_NS, H(wait_max_ns), .heading = "longest\nwait", .look = EMIT_MEAN,
	  .help = "longest wait of the thread" },
	{ "last", EMIT_U64, H(last), .heading = "arrived\nlast", .look = EMIT_NUMBER,
	  .cell = cell_thread_last, .help = "number of episodes in which the thread arrived last" },
	{ "last_share", EMIT_RATIO, H(last_share),
	  .help = "last, divided by the number of complete episodes" },
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
	  .help = "function that is called at this site and contains the hand-written barrier" },
	END
};
static const struct emit_record rec_callsite = {
	"callsite", sizeof(struct report_callsite), callsite_fields, "One call site"
};

#define SH(m) AT(report_detached, m)
static const struct emit_field detached_fields[] = {
	{ "family", EMIT_STRING, SH(family),
	  .help = "family of the barriers that are no longer traced" },
	{ "function", EMIT_STRING, SH(function),
	  .help = "function through which threads cross these barriers; null: all barriers of "
		  "the family that are not listed separately" },
	{ "shed_ns", EMIT_T_NS, SH(t_ns),
	  .help = "time when tracing of these barriers stopped, relative to clock_start_ns" },
	{ "shed_cost", EMIT_RATIO, SH(cost),
	  .help = "estimated cost of tracing the whole process just before shed_ns, as a share of "
		  "the time of its threads" },
	{ "shed_limit", EMIT_RATIO, SH(limit),
	  .help = "the cost limit (--cost-limit) that was exceeded, as a share of thread time" },
	{ "shed_because", EMIT_U32, SH(because), .flags = FIELDS_ZERO,
	  .help = "pid of the process that exceeded the cost limit; null: this process itself. "
		  "Another process with the same probes can be the cause" },
	{ "shed_probed", EMIT_BOOL, SH(probed),
	  .help = "true: the probes were not removed, so each hit still costs the process some "
		  "time" },
	END
};
static const struct emit_record rec_detached = {
	"shed", sizeof(struct report_detached), detached_fields,
	"Barriers of a process that were not traced to the end of the process"
};

#define L(m) AT(model_longest, m)
static const struct emit_field longest_fields[] = {
	{ "phase", EMIT_U64, L(number), .help = "phase number" },
	{ "phase_ns", EMIT_NS, L(phase_ns),
	  .help = "phase time: from the previous release of an episode with all these threads to "
		  "this release" },
	{ "t_ns", EMIT_NS, L(release_ns),
	  .help = "time when the phase ended, relative to clock_start_ns" },
	END
};
static const struct emit_record rec_longest = {
	"longest", sizeof(struct model_longest), longest_fields, "One of the longest phases"
};

#define E(m) AT(report_efficiency, m)
static const struct emit_field efficiency_fields[] = {
	{ "parallel", EMIT_RATIO, E(parallel),
	  .help = "parallel efficiency (PE): thread time outside barriers divided by all thread "
		  "time" },
	{ "load_balance", EMIT_RATIO, E(load_balance),
	  .help = "load balance (LB): 1 minus the share of thread time lost to static imbalance "
		  "(the same threads always take longer)" },
	{ "serialisation", EMIT_RATIO, E(serialisation),
	  .help = "serialisation efficiency (SerE): 1 minus the share of thread time lost to "
		  "rotating imbalance (a different thread is late each time)" },
	{ "transfer", EMIT_RATIO, E(transfer),
	  .help = "transfer efficiency (TE): 1 minus the share of thread time lost to barrier "
		  "overhead" },
	{ "communication", EMIT_RATIO, E(communication),
	  .help = "communication efficiency: serialisation x transfer" },
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
	{ "schema", EMIT_U32, AT(fields_session, schema),
	  .help = "version of the JSON Schema that this output follows" },
	{ "version", EMIT_STRING, SE(version), .help = "version of sbt-trace" },
	{ "kernel", EMIT_STRING, SE(kernel), .help = "release of the kernel" },
	{ "mode", EMIT_STRING, SE(mode),
	  .help = "what was traced: command, pid or system; or how the output was made: hang or "
		  "prediction" },
	{ "command", EMIT_STRING, SE(command), .help = "the traced command" },
	{ "clock_start_ns", EMIT_U64, SE(clock_start_ns),
	  .help = "CLOCK_MONOTONIC when tracing began; arrive_ns, depart_ns, t_ns and other times "
		  "are relative to it" },
	{ "realtime_offset_ns", EMIT_I64, AT(fields_session, realtime_offset_ns),
	  .help = "CLOCK_REALTIME minus CLOCK_MONOTONIC, to compute the time of day" },
	{ "armed_ns", EMIT_NS, SE(armed_ns), .flags = FIELDS_ZERO,
	  .help = "time from the start of sbt-trace until crossings could be recorded" },
	{ "probes", EMIT_ARRAY, SV, LIST(session, probes, nprobes),
	  .sub = &fields_rec_probe,
	  .help = "the probes: where they are and why, and how they were attached" },
	{ "counters", EMIT_ARRAY, SV, LIST(session, counters, ncounters),
	  .sub = &rec_counter, .help = "counters that were read for each thread and phase" },
	{ "counters_unavailable", EMIT_ARRAY, SV, LIST(session, uncounted, nuncounted),
	  .sub = &rec_uncounted, .help = "counters that were requested but are not available" },
	{ "departures", EMIT_ARRAY, SV, LIST(session, departures, ndepartures),
	  .sub = &rec_departures,
	  .help = "how the departures from barriers are found, by family (--departures)" },
	{ "settings", EMIT_ARRAY, SV, LIST(session, settings, nsettings),
	  .sub = &rec_setting,
	  .help = "values of options; each option has the name of its SBT_ environment variable" },
	END
};
const struct emit_record fields_rec_session = {
	"session", sizeof(struct fields_session), session_fields, "The first record of the output"
};

/* --- episode and warning ---------------------------------------------------------------------- */

#define EP(m) AT(observed_episode, m)
#define EB(m) VIA(observed_episode, barrier), AT(report_barrier, m)
static const struct emit_field episode_fields[] = {
	{ "barrier", EMIT_CHARS, EB(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "label", EMIT_CHARS, EB(label), .help = "label of the barrier in text output" },
	{ "kind", EMIT_STRING, EB(kind),
	  .help = "kind of the barrier: explicit, loop, sections, single, task, join or "
		  "collective" },
	{ "team", EMIT_CHARS, EB(object),
	  .help = "the barrier object on which the threads synchronise: symbol or address" },
	{ "pid", EMIT_U32, EP(pid), .flags = FIELDS_KEY, .help = "process id" },
	{ "seq", EMIT_U64, EP(seq), .flags = FIELDS_KEY,
	  .help = "number of the episode among the episodes of this barrier, counted from 0" },
	{ "phase", EMIT_U64, EP(number),
	  .help = "number of the phase among the phases of the process, counted from 0, in the "
		  "order of their releases" },
	{ "t_ns", EMIT_T_NS, EP(release_ns),
	  .help = "time of the release, relative to clock_start_ns" },
	{ "phase_ns", EMIT_NS, EP(phase_ns),
	  .help = "phase time: from the previous release of an episode with all these threads to "
		  "this release" },
	{ "barrier_ns", EMIT_NS, EP(barrier_ns),
	  .help = "barrier time: from the first arrival of the episode to the last arrival" },
	{ "participants", EMIT_U32, EP(participants), .flags = FIELDS_ZERO,
	  .help = "number of threads that crossed the barrier in this episode" },
	{ "state", EMIT_ENUM, EP(state), .names = state_names,
	  .help = "complete, incomplete or ambiguous" },
	{ "why", EMIT_SET, EP(why), .names = fields_why,
	  .help = "why the episode is incomplete or ambiguous" },
	{ "departures", EMIT_STRING, EP(departures),
	  .help = "seen; or inferred: the departure of at least one thread was not seen" },
	{ "nested", EMIT_BOOL, EP(nested),
	  .help = "true: the episode occurred while its threads waited at another barrier, so no "
		  "sum includes it" },
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
	{ "barrier_ns", EMIT_NS, WE(barrier_ns),
	  .help = "barrier time: from the first arrival of the episode to the last arrival" },
	{ "phase_ns", EMIT_NS, WE(phase_ns),
	  .help = "phase time: from the previous release of an episode with all these threads to "
		  "this release" },
	{ "threshold_ns", EMIT_NS, AT(fields_warning, threshold_ns),
	  .help = "a barrier time of at least this threshold causes a warning" },
	{ "cause", EMIT_OBJECT, VIA(fields_warning, episode),
	  LIST(observed_episode, cause, cause.nparts), .sub = &fields_rec_episode_cause,
	  .help = "why the last arriver of the episode was late" },
	END
};
const struct emit_record fields_rec_warning = {
	"warning", sizeof(struct fields_warning), warning_fields,
	"A barrier time that reached the threshold"
};

/* --- barrier ---------------------------------------------------------------------------------- */

#define B(m) AT(report_barrier, m)
static const struct emit_field barrier_fields[] = {
	{ "id", EMIT_CHARS, B(id), .flags = FIELDS_KEY, .heading = "id", .look = EMIT_ID,
	  .help = "id of the barrier, the same in every run" },
	{ "pid", EMIT_U32, B(pid), .flags = FIELDS_KEY | FIELDS_MANY, .heading = "pid",
	  .look = EMIT_NUMBER, .help = "process id" },
	{ "comm", EMIT_STRING, B(comm), .help = "name of the process" },
	{ "processes", EMIT_U32, B(processes),
	  .help = "number of processes that this record adds up: 1, or several exited processes of "
		  "one program (--keep-processes)" },
	{ "shed_ns", EMIT_T_NS, B(detached_ns),
	  .help = "time when tracing stopped because of --cost-limit, relative to clock_start_ns; "
		  "null: traced to the end" },
	{ "shed_beside_ns", EMIT_T_NS, B(detached_beside_ns),
	  .help = "time when tracing of other barriers of the process stopped because of "
		  "--cost-limit, relative to clock_start_ns; null: never. From then on, phases and "
		  "work include the time in those barriers" },
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "family", EMIT_STRING, B(family),
	  .help = "family of the barrier: pthread, gomp and so on" },
	{ "kind", EMIT_STRING, B(kind),
	  .help = "kind of the barrier: explicit, loop, sections, single, task, join or "
		  "collective" },
	{ "name", EMIT_STRING, B(name),
	  .help = "name of the barrier, if the program or the user gave it one" },
	{ "label", EMIT_CHARS, B(label), .heading = "barrier", .look = EMIT_NAME,
	  .help = "label of the barrier in text output" },
	FIELDS_SOURCE_OF(report_barrier, "function that contains the call site"),
	{ "offset", EMIT_U64, B(offset), .flags = FIELDS_ZERO,
	  .help = "offset of the call in the module" },
	{ "object", EMIT_CHARS, B(object),
	  .help = "the barrier object on which the threads synchronise: symbol or address" },
	{ "callsites", EMIT_ARRAY, LIST(report_barrier, callsites, ncallsites),
	  .sub = &rec_callsite,
	  .help = "call sites of the barrier; more than one if the threads of an episode arrive "
		  "from different call sites" },
	{ "episodes", EMIT_U64, B(episodes), .heading = "epi-\nsodes", .look = EMIT_NUMBER,
	  .help = "number of complete episodes" },
	{ "incomplete", EMIT_U64, B(incomplete),
	  .help = "number of incomplete episodes; no figure of imbalance includes them" },
	{ "ambiguous", EMIT_U64, B(ambiguous),
	  .help = "number of ambiguous episodes: it is uncertain which threads belong to them" },
	{ "crossings", EMIT_U64, B(crossings),
	  .help = "number of crossings: passages of one thread through the barrier" },
	{ "unmet", EMIT_U64, B(unmet),
	  .help = "number of crossings that could not be assigned to an episode, because processes "
		  "share the barrier" },
	{ "participants", EMIT_U32, B(participants), .flags = FIELDS_ZERO,
	  .help = "largest number of threads in a complete episode" },
	{ "participants_min", EMIT_U32, B(participants_min), .flags = FIELDS_ZERO,
	  .help = "smallest number of threads in a complete episode" },
	{ "shared", EMIT_BOOL, B(shared),
	  .help = "true: the barrier's threads belong to several processes" },
	{ "nested", EMIT_BOOL, B(nested),
	  .help = "true: the barrier's episodes occurred while their threads waited at another "
		  "barrier, so no sum includes them" },
	{ "loop", EMIT_BOOL, B(loop),
	  .help = "true: the program marked the barrier as a loop barrier" },
	{ "phase_ns", EMIT_TIMES, B(phase_ns), .heading = "phase\nmean", .look = EMIT_MEAN,
	  .help = "phase times of all complete episodes" },
	{ "barrier_ns", EMIT_TIMES, B(barrier_ns), .heading = "barrier\nmean", .look = EMIT_MEAN,
	  .help = "barrier times of all complete episodes: from the first arrival to the last" },
	{ "wait_ns", EMIT_TIMES, B(wait_ns),
	  .help = "waits for the last arriver: one value for each thread in each episode" },
	{ "release_ns", EMIT_TIMES, B(release_ns),
	  .help = "release latencies: times from the last arrival to a thread's departure" },
	{ "lost_ns", EMIT_NS, B(lost_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "lost time: the sum of all threads' waits" },
	{ "gain_ns", EMIT_NS, B(gain_ns),
	  .help = "potential gain: lost_ns divided by the number of threads" },
	{ "share", EMIT_RATIO, B(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "time of the barrier's phases divided by the elapsed time of the process" },
	{ "imbalance", EMIT_RATIO, B(imbalance), .heading = "imba-\nlance", .look = EMIT_NUMBER,
	  .help = "share of thread time in the barrier's phases that is lost to waiting" },
	{ "load_balance", EMIT_RATIO, B(load_balance),
	  .help = "load balance (LB): 1 minus the share of thread time lost to static imbalance "
		  "(the same threads always take longer)" },
	{ "serialisation", EMIT_RATIO, B(serialisation),
	  .help = "serialisation efficiency (SerE): 1 minus the share of thread time lost to "
		  "rotating imbalance (a different thread is late each time)" },
	{ "release_share", EMIT_RATIO, B(release_share),
	  .help = "share of thread time in the barrier's phases that is release latency" },
	{ "last_tid", EMIT_U32, B(last_tid), .flags = FIELDS_ZERO, .heading = "most often\nlast",
	  .look = EMIT_NUMBER,
	  .cell = cell_last, .help = "thread id of the thread that arrived last most often" },
	{ "last_comm", EMIT_STRING, B(last_comm),
	  .help = "name of the thread that arrived last most often" },
	{ "last_count", EMIT_U64, B(last_count),
	  .help = "number of episodes in which the thread last_tid arrived last" },
	{ "last_share", EMIT_RATIO, B(last_share),
	  .help = "last_count, divided by the number of complete episodes" },
	{ "pattern", EMIT_ENUM, B(pattern), .names = pattern_names,
	  .help = "pattern of the lost time: balanced (little is lost), static (the same threads "
		  "are late), rotating (a different thread is late each time), mixed (both), "
		  "costly (the barriers themselves take the time), few (too few episodes to "
		  "classify), unknown (only sums over threads exist) or tasks (OpenMP tasks: lost "
		  "time is unknown)" },
	{ "verdict", EMIT_CHARS, B(verdict), .help = "a sentence that says what the figures mean" },
	{ "advice", EMIT_CHARS, B(advice), .help = "what to do about the lost time" },
	{ "cause", EMIT_OBJECT, LIST(report_barrier, cause, cause.nparts), .sub = &fields_rec_cause,
	  .help = "why the last arrivers were late, over all episodes" },
	{ "delay_direct_ns", EMIT_NS, B(delay_direct_ns),
	  .help = "delay cost: waits, at all barriers, caused directly by imbalance in phases that "
		  "end at this barrier" },
	{ "delay_passed_ns", EMIT_NS, B(delay_passed_ns),
	  .help = "delay cost: waits, at all barriers, caused indirectly by imbalance in phases "
		  "that end at this barrier, because threads that waited here arrived late at a "
		  "later barrier" },
	FIELDS_COUNTERS_OF(report_barrier),
	{ "threads", EMIT_ARRAY, LIST(report_barrier, threads, nthreads), .sub = &fields_rec_thread,
	  .help = "threads that crossed the barrier, by index" },
	{ "longest", EMIT_EMBEDDED, LIST(report_barrier, longest, nlongest), .sub = &rec_longest,
	  .help = "longest phases that ended at this barrier" },
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
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "from", EMIT_CHARS, PH(from_id),
	  .help = "id of the barrier at which the phases begin; null: the start of the process" },
	{ "from_label", EMIT_CHARS, PH(from), .heading = "from", .look = EMIT_NAME,
	  .help = "label of the barrier at which the phases begin, in text output" },
	{ "to", EMIT_CHARS, PH(to_id), .help = "id of the barrier at which the phases end" },
	{ "to_label", EMIT_CHARS, PH(to), .heading = "to", .look = EMIT_NAME,
	  .help = "label of the barrier at which the phases end, in text output" },
	{ "occurrences", EMIT_U64, PH(occurrences), .heading = "times", .look = EMIT_NUMBER,
	  .help = "number of these phases" },
	{ "phase_ns", EMIT_TIMES, PH(phase_ns), .heading = "mean", .look = EMIT_MEAN,
	  .help = "phase times of all complete episodes" },
	{ NULL, EMIT_NS, PH(phase_ns.sum), .heading = "total", .look = EMIT_COMMON,
	  .help = "sum of the phase times" },
	{ "share", EMIT_RATIO, PH(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "sum of the phase times divided by the elapsed time of the process" },
	{ "lost_ns", EMIT_NS, PH(lost_ns), .heading = "lost at\nits end", .look = EMIT_COMMON,
	  .help = "sum of the waits at the ends of these phases" },
	{ "imbalance", EMIT_RATIO, PH(imbalance), .heading = "imba-\nlance", .look = EMIT_NUMBER,
	  .help = "share of the phase's thread time that is lost to waiting" },
	END
};
const struct emit_record fields_rec_transition = {
	"transition", sizeof(struct report_phase), transition_fields,
	  "The phases that begin at one barrier and end at another, over the whole run"
};

/* --- process ---------------------------------------------------------------------------------- */

#define PR(m) AT(report_process, m)
static const struct emit_field omp_fields[] = {
	{ "load_balance", EMIT_RATIO, PR(omp_load_balance),
	  .help = "1 minus the share of thread time that is lost to uneven work in parallel "
		  "regions" },
	{ "scheduling", EMIT_RATIO, PR(omp_scheduling),
	  .help = "1 minus the share of thread time that the OpenMP runtime uses inside parallel "
		  "regions" },
	{ "start", EMIT_RATIO, PR(omp_start),
	  .help = "1 minus the share of thread time that workers take to start: from the call that "
		  "begins a region to their first instruction in the region; null: unknown, and "
		  "included in serialisation" },
	{ "serialisation", EMIT_RATIO, PR(omp_serialisation),
	  .help = "1 minus the share of thread time that is lost outside parallel regions" },
	{ "turns", EMIT_RATIO, PR(omp_turns),
	  .help = "1 minus the share of thread time that is lost to waiting for a turn at critical "
		  "and ordered regions and at locks; null: unknown, and counted as work" },
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
	  .help = "number of processes that this record adds up: 1, or several exited processes of "
		  "one program (--keep-processes). In the second case, pid is the process that "
		  "exited first" },
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "parent", EMIT_U32, PR(parent), .flags = FIELDS_ZERO,
	  .help = "process id of the parent process" },
	{ "exited", EMIT_BOOL, PR(exited), .help = "true: the process exited while it was traced" },
	{ "start_seen", EMIT_BOOL, PR(start_seen),
	  .help = "true: the start of the process was traced. Otherwise elapsed_ns and all "
		  "efficiencies count from counted_from_ns or, if that is null, from the start of "
		  "tracing" },
	{ "counted_from_ns", EMIT_T_NS, PR(counted_from_ns),
	  .help = "time of the first recorded crossing, relative to clock_start_ns, if earlier "
		  "crossings were lost (not_examined, probed_late). elapsed_ns and all "
		  "efficiencies then count from this time. null: no earlier crossing was lost" },
	{ "elapsed_ns", EMIT_NS, PR(elapsed_ns), .heading = "elapsed", .look = EMIT_MEAN,
	  .help = "elapsed time of the process while it was traced" },
	{ "life_ns", EMIT_NS, PR(life_ns),
	  .help = "life of the process: time from its start to its end; null: one of these was not "
		  "seen" },
	{ "ideal_ns", EMIT_NS, PR(ideal_ns),
	  .help = "elapsed time if barriers took no time: the length of the longest path through "
		  "the work outside barriers" },
	{ "nthreads", EMIT_U32, PR(threads), .heading = "threads", .look = EMIT_NUMBER,
	  .help = "number of threads that crossed a barrier" },
	{ "positions", EMIT_U32, PR(positions),
	  .help = "largest number of these threads that existed at the same time. Threads with "
		  "lives that do not overlap share a position, and efficiencies compare "
		  "positions" },
	{ "episodes", EMIT_U64, PR(episodes), .heading = "episodes", .look = EMIT_NUMBER,
	  .help = "number of complete episodes" },
	{ "incomplete", EMIT_U64, PR(incomplete),
	  .help = "number of incomplete episodes; no figure of imbalance includes them" },
	{ "ambiguous", EMIT_U64, PR(ambiguous),
	  .help = "number of ambiguous episodes: it is uncertain which threads belong to them" },
	{ "crossings", EMIT_U64, PR(crossings),
	  .help = "number of crossings: passages of one thread through a barrier" },
	{ "unmet", EMIT_U64, PR(unmet),
	  .help = "number of crossings of shared barriers that are in no known episode" },
	{ "arrivals_unseen", EMIT_U64, PR(arrivals_unseen),
	  .help = "number of crossings that waited for threads with untraced arrivals, such as "
		  "threads that only count down a std::latch. No figure of lost time includes "
		  "these waits" },
	{ "departures_unknown", EMIT_U64, PR(departures_unknown),
	  .help = "number of crossings with a departure that could not be inferred. The time "
		  "inside the barrier and the thread's next phase are unknown" },
	{ "abandoned", EMIT_U64, PR(abandoned),
	  .help = "number of crossings from which the thread never returned" },
	{ "lost", EMIT_U64, PR(lost), .help = "number of crossings that are known to be missing" },
	{ "outside_ns", EMIT_NS, PR(outside_ns),
	  .help = "time outside barriers, added up over all threads" },
	{ "wait_ns", EMIT_NS, PR(wait_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "waits for the last arriver, added up over all threads" },
	{ "wait_share", EMIT_RATIO, PR(wait_share),
	  .help = "wait_ns divided by the sum of the threads' lives; the verdict states this "
		  "share" },
	{ "imbalance", EMIT_RATIO, PR(imbalance),
	  .help = "share of thread time in the phases of all barriers that is lost to waiting; "
		  "null if the process shares barriers with other processes" },
	{ "release_ns", EMIT_NS, PR(release_ns),
	  .help = "release latencies (from the last arrival to a thread's departure), added up "
		  "over all threads" },
	{ "efficiency", EMIT_OBJECT, PR(efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies of the process" },
	{ NULL, EMIT_RATIO, PR(efficiency.parallel), .heading = "PE", .look = EMIT_FRACTION,
	  .help = "parallel efficiency" },
	{ NULL, EMIT_RATIO, PR(efficiency.load_balance), .heading = "LB", .look = EMIT_FRACTION,
	  .help = "load balance" },
	{ NULL, EMIT_RATIO, PR(efficiency.serialisation), .heading = "SerE", .look = EMIT_FRACTION,
	  .help = "serialisation efficiency" },
	{ NULL, EMIT_RATIO, PR(efficiency.transfer), .heading = "TE", .look = EMIT_FRACTION,
	  .help = "transfer efficiency" },
	{ "omp_efficiency", EMIT_OBJECT, .offset = 0, .sub = &rec_omp, .flags = FIELDS_ANY,
	  .help = "efficiencies for OpenMP, as TALP defines them (scheduling before load balance), "
		  "from the start of the process. Their product is the parallel efficiency" },
	{ "useful_oncpu", EMIT_RATIO, PR(useful_oncpu),
	  .help = "share of outside_ns in which the threads were on a CPU" },
	{ "lost_static", EMIT_RATIO, PR(lost_static),
	  .help = "share of the threads' lives (OpenMP: of elapsed_ns times nthreads) that is lost "
		  "to static imbalance (the same threads always take longer). lost_static, "
		  "lost_rotating and lost_transfer add up to 1 minus the parallel efficiency" },
	{ "lost_rotating", EMIT_RATIO, PR(lost_rotating),
	  .help = "as lost_static, but lost to rotating imbalance (a different thread is late each "
		  "time)" },
	{ "lost_transfer", EMIT_RATIO, PR(lost_transfer),
	  .help = "as lost_static, but lost to barrier overhead" },
	{ "pattern", EMIT_ENUM, PR(pattern), .names = pattern_names,
	  .help = "pattern of the lost time: balanced (little is lost), static (the same threads "
		  "are late), rotating (a different thread is late each time), mixed (both), "
		  "costly (the barriers themselves take the time), few (too few episodes to "
		  "classify), unknown (only sums over threads exist) or tasks (OpenMP tasks: lost "
		  "time is unknown)" },
	{ "verdict", EMIT_CHARS, PR(verdict),
	  .help = "a sentence that says what the figures mean" },
	{ "advice", EMIT_CHARS, PR(advice), .help = "what to do about the lost time" },
	{ "untraced", EMIT_STRING, PR(untraced),
	  .help = "functions that the process calls and can wait in, but that were not traced "
		  "all the time. Waits in these functions count as work, so the "
		  "efficiencies are upper limits. null: no such function is known" },
	{ "tasks", EMIT_BOOL, PR(tasks),
	  .help = "true: the process runs OpenMP tasks, which are not traced. Work in tasks inside "
		  "barriers counts as lost time, so the efficiencies are unknown" },
	{ "parallel_efficiency_least", EMIT_RATIO, PR(parallel_least),
	  .help = "for a process that runs OpenMP tasks: lower limit of the parallel efficiency, "
		  "as if no time inside barriers were work" },
	{ "parallel_efficiency_most", EMIT_RATIO, PR(parallel_most),
	  .help = "for a process that runs OpenMP tasks: upper limit of the parallel efficiency, "
		  "as if all time inside barriers were work" },
	{ "barriers_oncpu", EMIT_RATIO, PR(inside_oncpu),
	  .help = "for a process that runs OpenMP tasks: share of the time inside barriers in "
		  "which the threads were on a CPU, either in tasks or spinning" },
	{ "departures", EMIT_STRING, PR(exit_detection),
	  .help = "how departures were detected: return probe, or probes at ret instructions, or "
		  "inference (--departures)" },
	{ "cost_ns", EMIT_NS, PR(cost_ns),
	  .help = "estimated cost of tracing the process: added time in crossings and in other "
		  "probe hits, in context switches, page faults and samples, and time in which "
		  "sbt-trace had a CPU that a thread waited for. Never more than the available "
		  "thread time" },
	{ "crossing_cost_ns", EMIT_DOUBLE, PR(crossing_cost_ns),
	  .help = "estimated cost of tracing one crossing of this process: the cost that was "
		  "measured with crossings back to back, plus the additional time that the BPF "
		  "program took in this process. The end of an OpenMP region hits more probes and "
		  "costs more than twice as much as another crossing" },
	{ "cost_taken_ns", EMIT_NS, PR(cost_interference_ns),
	  .help = "tracer interference: time that the threads waited for a CPU that sbt-trace had. "
		  "cost_ns includes this time for each thread that takes part in episodes" },
	{ "discovery_hits", EMIT_U64, PR(looks),
	  .help = "number of probe hits that are not crossings: hits of probes that look for "
		  "barriers on condition variables, that measure waits for a turn, or that report "
		  "OpenMP tasks. cost_ns includes them" },
	{ "discovery_paused_ns", EMIT_NS, PR(paused_ns),
	  .help = "time during which the process's condition variables were not observed, because "
		  "they were used very often and were not barriers" },
	{ "cost_share", EMIT_RATIO, PR(cost_share),
	  .help = "cost_ns divided by the available thread time: the time of the threads, or "
		  "elapsed_ns times the number of CPUs if that is less" },
	{ "cost_limited", EMIT_BOOL, PR(cost_limited),
	  .help = "true: cost_ns is only an upper limit, all of the available thread time. The "
		  "cost is unknown, because the measured prices add up to more than the time in "
		  "which the threads had CPUs" },
	{ "cost_rough", EMIT_BOOL, PR(cost_rough),
	  .help = "true: cost_ns is uncertain, because the threads work for less than 5 us between "
		  "barriers. If the threads sleep at barriers, tracing may cost nothing, or many "
		  "times cost_ns" },
	{ "shed_ns", EMIT_T_NS, PR(detached_ns),
	  .help = "time when tracing stopped because of --cost-limit, relative to clock_start_ns; "
		  "null: traced to the end" },
	{ "shed_cost", EMIT_RATIO, PR(detached_cost),
	  .help = "estimated cost of tracing just before shed_ns, as a share of thread time" },
	{ "shed_limit", EMIT_RATIO, PR(detached_limit),
	  .help = "the cost limit (--cost-limit) that was exceeded, as a share of thread time" },
	{ "shed_because", EMIT_U32, PR(detached_because), .flags = FIELDS_ZERO,
	  .help = "pid of the process that exceeded the cost limit; null: this process itself. "
		  "Another process with the same probes can be the cause" },
	{ "shed_probed", EMIT_BOOL, PR(detached_probed),
	  .help = "true: the probes were not removed, so each hit still costs the process some "
		  "time" },
	{ "sheds", EMIT_ARRAY, LIST(report_process, detached_groups, ndetached_groups),
	  .sub = &rec_detached,
	  .help = "barriers of this process that were not traced to the end because of "
		  "--cost-limit, while other barriers were. The sums of the process lack what "
		  "happened at these barriers after shed_ns, and its efficiencies are unknown" },
	FIELDS_COUNTERS_OF(report_process),
	{ "threads", EMIT_ARRAY, LIST(report_process, members, nmembers), .sub = &fields_rec_thread,
	  .help = "threads of the process, with their sums over all barriers, by index" },
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
	  .help = "processes of the group, most lost time first" },
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "elapsed_ns", EMIT_NS, GR(all.elapsed_ns),
	  .help = "elapsed time of the group: from the start of its first process to the end of "
		  "its last process" },
	{ "ideal_ns", EMIT_NS, GR(all.ideal_ns),
	  .help = "elapsed time if barriers took no time: the length of the longest path through "
		  "the work outside barriers" },
	{ "nthreads", EMIT_U32, GR(all.threads),
	  .help = "number of threads that crossed a barrier" },
	{ "ranked", EMIT_BOOL, GR(all.ranked),
	  .help = "true: the indices of the threads are MPI ranks" },
	{ "episodes", EMIT_U64, GR(all.episodes), .help = "number of complete episodes" },
	{ "incomplete", EMIT_U64, GR(all.incomplete),
	  .help = "number of incomplete episodes; no figure of imbalance includes them" },
	{ "outside_ns", EMIT_NS, GR(all.outside_ns),
	  .help = "time outside barriers, added up over all threads" },
	{ "wait_ns", EMIT_NS, GR(all.wait_ns),
	  .help = "waits for the last arriver, added up over all threads" },
	{ "wait_share", EMIT_RATIO, GR(all.wait_share), .help = "as in a record of type process" },
	{ "imbalance", EMIT_RATIO, GR(all.imbalance),
	  .help = "share of thread time in the phases of all barriers that is lost to waiting" },
	{ "efficiency", EMIT_OBJECT, GR(all.efficiency), .sub = &rec_efficiency,
	  .help = "POP efficiencies of all processes as one team" },
	{ "lost_static", EMIT_RATIO, GR(all.lost_static),
	  .help = "share of elapsed_ns times nthreads that is lost to static imbalance (the same "
		  "threads always take longer). lost_static, lost_rotating and lost_transfer add "
		  "up to 1 minus the parallel efficiency" },
	{ "lost_rotating", EMIT_RATIO, GR(all.lost_rotating),
	  .help = "as lost_static, but lost to rotating imbalance (a different thread is late each "
		  "time)" },
	{ "lost_transfer", EMIT_RATIO, GR(all.lost_transfer),
	  .help = "as lost_static, but lost to barrier overhead" },
	{ "pattern", EMIT_ENUM, GR(all.pattern), .names = pattern_names,
	  .help = "pattern of the lost time: balanced (little is lost), static (the same threads "
		  "are late), rotating (a different thread is late each time), mixed (both), "
		  "costly (the barriers themselves take the time), few (too few episodes to "
		  "classify), unknown (only sums over threads exist) or tasks (OpenMP tasks: lost "
		  "time is unknown)" },
	{ "verdict", EMIT_CHARS, GR(all.verdict),
	  .help = "a sentence that says what the figures mean" },
	{ "advice", EMIT_CHARS, GR(all.advice), .help = "what to do about the lost time" },
	{ "counted_from_ns", EMIT_T_NS, GR(all.counted_from_ns),
	  .help = "the latest counted_from_ns of the group's processes. The efficiencies are null "
		  "if much of the group's time is missing" },
	{ "untraced", EMIT_STRING, GR(all.untraced),
	  .help = "the value of untraced of one of the group's processes" },
	{ "tasks", EMIT_BOOL, GR(all.tasks),
	  .help = "true: at least one process of the group runs OpenMP tasks, so the efficiencies "
		  "are unknown" },
	{ "threads", EMIT_ARRAY, LIST(report_group, all.members, all.nmembers),
	  .sub = &fields_rec_thread,
	  .help = "threads of the group, with their sums over all barriers, by index" },
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
	  .look = EMIT_NAME,
	  .help = "name of the phase, from --phase or from a marker of the program" },
	{ "pid", EMIT_U32, CO(pid), .flags = FIELDS_KEY | FIELDS_MANY, .heading = "pid",
	  .look = EMIT_NUMBER, .help = "process id" },
	{ "comm", EMIT_STRING, CO(comm), .help = "name of the process" },
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "occurrences", EMIT_U64, CO(occurrences), .heading = "times", .look = EMIT_NUMBER,
	  .help = "number of complete occurrences of the phase" },
	{ "unfinished", EMIT_U64, CO(unfinished),
	  .help = "number of occurrences without a traced end; no figure includes them" },
	{ "episodes", EMIT_U64, CO(episodes), .heading = "epi-\nsodes", .look = EMIT_NUMBER,
	  .help = "number of complete episodes inside the phase, including the episodes that end "
		  "it" },
	{ "incomplete", EMIT_U64, CO(incomplete),
	  .help = "number of incomplete episodes inside the phase" },
	{ "phase_ns", EMIT_TIMES, CO(phase_ns), .heading = "mean", .look = EMIT_MEAN,
	  .help = "times of the occurrences, from the release at the first barrier to the release "
		  "at the second barrier" },
	{ NULL, EMIT_NS, CO(phase_ns.sum), .heading = "total", .look = EMIT_COMMON,
	  .help = "sum of the times of the occurrences" },
	{ "share", EMIT_RATIO, CO(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "sum of the phase times divided by the elapsed time of the process" },
	{ "lost_ns", EMIT_NS, CO(lost_ns), .heading = "lost", .look = EMIT_COMMON,
	  .help = "lost time: the sum of all waits inside the phase" },
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
	  .help = "why the last arrivers were late, over all episodes inside the phase" },
	FIELDS_COUNTERS_OF(report_conceptual),
	{ "threads", EMIT_ARRAY, LIST(report_conceptual, threads, nthreads),
	  .sub = &fields_rec_thread,
	  .help = "threads, with their sums inside the phase, by index" },
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
	  .help = "kind of the finding: oversubscribed, spinning, pinned, migrating, slow_cpu, "
		  "throttled, cost_limit, site_unknown, untraced, counted_from, tasks or "
		  "arrivals_unseen" },
	{ "pid", EMIT_U32, F(pid), .flags = FIELDS_ZERO,
	  .help = "process id; null: the finding is about the machine" },
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "figure", EMIT_DOUBLE, F(figure), .help = "the number that the sentence (text) states" },
	{ "text", EMIT_CHARS, F(text), .help = "the finding in a sentence" },
	END
};
const struct emit_record fields_rec_finding = {
	"finding", sizeof(struct report_finding), finding_fields,
	"A finding about the machine, or about how a process uses it"
};

/* --- remark ----------------------------------------------------------------------------------- */

#define RM(m) AT(remark, m)
static const struct emit_field remark_fields[] = {
	{ "kind", EMIT_STRING, RM(kind),
	  .help = "kind of the remark. No barrier was crossed: nothing_crossed, looked_at (where "
		  "sbt-trace looked), nameless (a program without names), elsewhere (where else to "
		  "look). Possible barriers: candidate "
		  "(threads may synchronise at this function), spinning_code, inlined, own_threads "
		  "(a library with threads of its own, and with waits that are not traced). Names "
		  "that matched nothing: user_barrier (-b), unmet (-w, --name, --phase). MPI: "
		  "ranks, ranks_gone (ranks that exited before they were identified), untraced "
		  "(ranks that cross no barrier but can wait in calls that are not traced). "
		  "runtime_unseen: processes that run Go or Java, because barriers of these "
		  "runtimes are not seen. Files: "
		  "unread, unnamed. Copied code: copied (a process ran a copy of code with "
		  "probes), trapped (such a copy killed a process). Others: team, frames, "
		  "left_out, still_running, not_traced, not_probed, regions_unseen (parallel "
		  "regions without a probe at their end), processes_made (no estimate includes the "
		  "cost of creating processes), not_looked_for, unattributed, clocks (of several "
		  "recordings). Later versions may add kinds" },
	{ "pid", EMIT_U32, RM(pid), .flags = FIELDS_ZERO,
	  .help = "process id of the process that the remark is about; null: no particular "
		  "process" },
	{ "interim", EMIT_INTERIM,
	  .help = "true: the record belongs to an interim report (SIGUSR1)" },
	{ "text", EMIT_STRING, RM(text),
	  .help = "a sentence that says what was not seen, or was seen only in part" },
	END
};
const struct emit_record fields_rec_remark = {
	"remark", sizeof(struct remark), remark_fields,
	"Something that the report lacks, or has only in part, and what to do about it"
};

/* --- end -------------------------------------------------------------------------------------- */

#define RV VIA(fields_end, report)
#define RE(m) RV, AT(report, m)
static const struct emit_field end_fields[] = {
	{ "episodes", EMIT_U64, RE(episodes),
	  .help = "number of complete episodes of all processes" },
	{ "incomplete", EMIT_U64, RE(incomplete),
	  .help = "number of incomplete episodes; no figure of imbalance includes them" },
	{ "ambiguous", EMIT_U64, RE(ambiguous),
	  .help = "number of ambiguous episodes: it is uncertain which threads belong to them" },
	{ "crossings", EMIT_U64, RE(crossings),
	  .help = "number of crossings: passages of one thread through a barrier" },
	{ "hangs", EMIT_U32, RE(nhangs),
	  .help = "number of barriers at which threads still waited when tracing ended" },
	{ "elapsed_ns", EMIT_NS, AT(fields_end, elapsed_ns),
	  .help = "elapsed time from the start to the end of tracing" },
	{ "from_ns", EMIT_NS, RE(extent.from_ns), .flags = FIELDS_ZERO,
	  .help = "start of the part of the run that the report covers (--from), relative to "
		  "clock_start_ns; null: the start of the run" },
	{ "to_ns", EMIT_NS, RE(extent.to_ns), .flags = FIELDS_ZERO,
	  .help = "end of the part of the run that the report covers (--to), relative to "
		  "clock_start_ns; null: the end of the run" },
	{ "rows", EMIT_STRING, RE(extent.rows),
	  .help = "barriers and threads that have rows in the report (--site, --thread); null: "
		  "all" },
	{ "produced", EMIT_U64, RE(produced),
	  .help = "number of records produced: consumed + lost_total" },
	{ "consumed", EMIT_U64, RE(consumed), .help = "number of records consumed" },
	{ "lost_total", EMIT_U64, RE(lost), .help = "number of records lost" },
	{ "lost", EMIT_MAP, RV, LIST(report, losses, nlosses), .sub = &rec_loss,
	  .help = "number of lost records by cause: {cause: number}" },
	{ "complete", EMIT_BOOL, RE(complete),
	  .help = "true: nothing is missing. No records were lost. Every process was traced to its "
		  "end. unmet, arrivals_unseen and departures_unknown are 0, and left_out is null. "
		  "Every file was read "
		  "(no remark unread). No process has barriers or waits that were not traced "
		  "(untraced), and none ran a copy of code with probes (no remarks copied, "
		  "trapped). Every MPI rank was identified (no remark ranks_gone). No process ran "
		  "Go or Java (no remark runtime_unseen)" },
	{ "shed", EMIT_U32, RE(ndetached),
	  .help = "number of processes that were not traced to their end because of --cost-limit; "
		  "their records contain shed_ns" },
	{ "shed_parts", EMIT_U32, RE(ndetached_parts),
	  .help = "number of other processes of which some barriers were not traced to the end "
		  "because of --cost-limit; their records contain sheds" },
	{ "tasks", EMIT_U32, RE(ntasks),
	  .help = "number of processes that run OpenMP tasks; their efficiencies are unknown" },
	{ "cut", EMIT_BOOL, RE(cut), .help = "true: the recording ends before the end of the run" },
	{ "aggregate", EMIT_BOOL, RE(aggregate),
	  .help = "true: the kernel kept only sums (--aggregate), so single episodes are unknown" },
	{ "left_out", EMIT_STRING, RE(left_out),
	  .help = "barrier families that the traced processes use but --aggregate does not "
		  "support" },
	{ "unmet", EMIT_U64, RE(unmet),
	  .help = "number of crossings of shared barriers that are in no known episode" },
	{ "arrivals_unseen", EMIT_U64, RE(arrivals_unseen),
	  .help = "number of crossings that waited for threads with untraced arrivals "
		  "(std::latch)" },
	{ "departures_unknown", EMIT_U64, RE(departures_unknown),
	  .help = "number of crossings with a departure that could not be inferred" },
	{ "crossing_cost_ns", EMIT_DOUBLE, RE(crossing_cost_ns),
	  .help = "mean price of a crossing: the time that tracing adds to one crossing" },
	{ "switch_cost_ns", EMIT_DOUBLE, RE(switch_cost_ns),
	  .help = "price of a context switch: the time that tracing adds when a traced thread "
		  "loses a CPU, is woken and gets a CPU again" },
	{ "switches_cost_ns", EMIT_NS, RE(switches_cost_ns),
	  .help = "estimated cost of tracing all context switches of traced threads, including "
		  "processes that crossed no barrier" },
	{ "rested_ns", EMIT_NS, RE(rested_ns),
	  .help = "time during which threads were not accounted for. A thread that switches 2,000 "
		  "times in a second without crossing a barrier is not accounted for in the rest "
		  "of that second" },
	{ "samples", EMIT_U64, RE(sampling.samples),
	  .help = "number of samples of threads on a CPU; null: none were taken" },
	{ "samples_lost", EMIT_U64, RE(sampling.lost),
	  .help = "number of these samples that were not stored, because the buffers were half "
		  "full: they are missing in the places" },
	{ "samples_outside", EMIT_U64, RE(samples_outside),
	  .help = "number of samples that are in no place, because they belong to no complete "
		  "episode, or because there was no room" },
	{ "sampling_cost_ns", EMIT_NS, RE(sampling.cost_ns),
	  .help = "time that the samples took in the kernel; in the cost of the processes" },
	{ "tracer_cpu_ns", EMIT_NS, RE(tracer_cpu_ns),
	  .help = "CPU time used by sbt-trace itself" },
	END
};
const struct emit_record fields_rec_end = {
	"end", sizeof(struct fields_end), end_fields, "The last record of the output"
};
/* The last line of the output always has the type "end", so interim reports need another type. */
const struct emit_record fields_rec_interim = {
	"interim", sizeof(struct fields_end), end_fields, "The last record of an interim report"
};

#define RL(m, n) .type = EMIT_ARRAY, LIST(report, m, n), .help = "rows of a report"
const struct emit_field fields_of_report[] = {
	{ RL(groups, ngroups), .sub = &fields_rec_group },
	{ RL(processes, nprocesses), .sub = &fields_rec_process },
	{ RL(barriers, nbarriers), .sub = &fields_rec_barrier },
	{ RL(places, nplaces), .sub = &fields_rec_place },
	{ RL(activities, nactivities), .sub = &fields_rec_activity },
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
	&fields_rec_place, &fields_rec_activity, &fields_rec_transition, &fields_rec_conceptual,
	&fields_rec_finding, &fields_rec_remark, &fields_rec_interim, &fields_rec_end,
	&fields_rec_doctor, &fields_rec_comparison, &fields_rec_difference, &fields_rec_series,
	&fields_rec_prediction, &fields_rec_assumption, NULL,
};
/* clang-format on */
