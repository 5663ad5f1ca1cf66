// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields: the records of predict. */
#include "predict/predict_report.h"
#include "emit/fields_internal.h"

/* clang-format off */
#define PH(m) AT(prediction_phase, m)
static const struct emit_field phase_fields[] = {
	{ "barrier", EMIT_STRING, PH(id),
	  .help = "id of the barrier at which the phases end; null: they end at no barrier" },
	{ "label", EMIT_STRING, PH(label), .heading = "phases that end at", .look = EMIT_NAME,
	  .help = "label of the barrier in text output" },
	{ "meetings", EMIT_U64, PH(episodes), .heading = "times", .look = EMIT_NUMBER,
	  .help = "number of phases that end at the barrier" },
	{ "time_ns", EMIT_NS, PH(time_ns), .heading = "time", .look = EMIT_COMMON,
	  .help = "sum of the phase times; over all barriers of a team, these sums add up to the "
		  "predicted time" },
	{ "share", EMIT_RATIO, PH(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "time_ns divided by the predicted time of the run; can exceed 1 if several "
		  "teams run side by side" },
	{ "work_ns", EMIT_NS, PH(work_ns), .heading = "com-\nputing", .look = EMIT_COMMON,
	  .help = "computing time in the phases, added up over all threads" },
	{ "wait_ns", EMIT_NS, PH(wait_ns), .heading = "waits\nfor last", .look = EMIT_COMMON,
	  .help = "waits for the last arriver, added up over all threads" },
	{ "barrier_ns", EMIT_NS, PH(barrier_ns), .heading = "barrier\nitself", .look = EMIT_COMMON,
	  .help = "time in the barrier itself, added up over all threads: the time to enter the "
		  "barrier, and the time from the last arrival to each departure" },
	{ "access_ns", EMIT_NS, PH(access_ns), .heading = "remote\ndata", .look = EMIT_COMMON,
	  .flags = FIELDS_DROP, .help = "time to access remote data, added up over all threads" },
	{ "queue_ns", EMIT_NS, PH(queue_ns), .heading = "waits for\nprocessor", .look = EMIT_COMMON,
	  .flags = FIELDS_DROP,
	  .help = "time in which threads are ready to run but no processor is free, added up over "
		  "all threads" },
	END
};
const struct emit_record fields_rec_prediction_phase = {
	"phase", sizeof(struct prediction_phase), phase_fields,
	"The predicted phases that end at one barrier"
};

#define P(m) AT(prediction, m)
static const struct emit_field prediction_fields[] = {
	{ "machine", EMIT_STRING, P(machine),
	  .help = "target machine: the name of a built-in machine, or the file with the machine's "
		  "parameters" },
	{ "processors", EMIT_U32, P(processors), .heading = "proces-\nsors", .look = EMIT_NUMBER,
	  .flags = FIELDS_KEY, .help = "number of processors for which the run is predicted" },
	{ "threads", EMIT_U32, P(threads), .help = "number of threads in the recording" },
	{ "barrier_model", EMIT_STRING, P(barrier_model),
	  .help = "barrier model: linear, central, tree, dissemination or free" },
	{ "time_ns", EMIT_NS, P(time_ns), .heading = "time", .look = EMIT_COMMON,
	  .help = "predicted time of the run, from the start of the first thread to the end of the "
		  "last thread" },
	{ "speedup", EMIT_DOUBLE, P(speedup), .heading = "speedup", .look = EMIT_FRACTION,
	  .help = "predicted time on one processor divided by time_ns; with several recordings, "
		  "the time of the recording with the fewest threads divided by time_ns" },
	{ "efficiency", EMIT_RATIO, P(efficiency), .heading = "effi-\nciency", .look = EMIT_NUMBER,
	  .help = "speedup divided by processors" },
	{ "limit", EMIT_STRING, P(limit),
	  .help = "phases that limit the speedup: id of the barrier that ends the phases in which "
		  "most processor time is lost; null: these phases end at no barrier" },
	{ "limit_label", EMIT_STRING, P(limit_label),
	  .heading = "limited by the\nphase that ends at", .look = EMIT_NAME,
	  .help = "label of the barrier named by limit, in text output" },
	{ "limit_cause", EMIT_STRING, P(because), .heading = "because of", .look = EMIT_ID,
	  .help = "what limits these phases: imbalance, barriers or remote data, if the phases "
		  "would be more than 2 % shorter without it; otherwise what the threads do: sleep "
		  "or I/O, a serial part, too few threads, or work" },
	{ "balanced_ns", EMIT_NS, P(balanced_ns), .heading = "if bal-\nanced", .look = EMIT_COMMON,
	  .help = "predicted time if all threads of an episode computed for the same time" },
	{ "barrier_free_ns", EMIT_NS, P(barrier_free_ns), .heading = "if barriers\nwere free",
	  .look = EMIT_COMMON, .help = "predicted time if barriers took no time" },
	{ "access_free_ns", EMIT_NS, P(access_free_ns), .heading = "if data\nwere free",
	  .look = EMIT_COMMON, .flags = FIELDS_DROP,
	  .help = "predicted time if access to remote data took no time; null: there is no remote "
		  "data" },
	{ "recording", EMIT_STRING, P(recording),
	  .help = "path of the recording, if several recordings were given; otherwise null" },
	{ "phases", EMIT_ARRAY, LIST(prediction, phases, nphases),
	  .sub = &fields_rec_prediction_phase,
	  .help = "predicted phases, added up by the barrier at which they end, longest time "
		  "first" },
	END
};
const struct emit_record fields_rec_prediction = {
	"prediction", sizeof(struct prediction), prediction_fields,
	"sbt-trace predict: the predicted run on one number of processors"
};

#define N(m) AT(prediction_note, m)
static const struct emit_field note_fields[] = {
	{ "kind", EMIT_STRING, N(kind), .help = "kind of the record: assumption or warning" },
	{ "text", EMIT_STRING, N(text), .help = "the assumption or warning in a sentence" },
	END
};
const struct emit_record fields_rec_assumption = {
	"assumption", sizeof(struct prediction_note), note_fields,
	"An assumption of the prediction, or a reason why the prediction may be wrong"
};

const struct emit_record *const fields_of_predict[] = {
	&fields_rec_prediction, &fields_rec_assumption, NULL,
};
/* clang-format on */
