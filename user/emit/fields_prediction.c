// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Rows of the list of fields: what predict says. */
#include "predict/predict_report.h"
#include "emit/fields_internal.h"

/* clang-format off */
#define PH(m) AT(prediction_phase, m)
static const struct emit_field phase_fields[] = {
	{ "barrier", EMIT_STRING, PH(id), .help = "id of the barrier where these phases end; null: none" },
	{ "label", EMIT_STRING, PH(label), .heading = "phases that end at", .look = EMIT_NAME,
	  .help = "the same in words" },
	{ "meetings", EMIT_U64, PH(episodes), .heading = "times", .look = EMIT_NUMBER,
	  .help = "how often" },
	{ "time_ns", EMIT_NS, PH(time_ns), .heading = "time", .look = EMIT_COMMON,
	  .help = "sum of their phase times; those of one team add up to the predicted time" },
	{ "share", EMIT_RATIO, PH(share), .heading = "of\nrun", .look = EMIT_NUMBER,
	  .help = "of the predicted time; over 1 is possible with several teams" },
	{ "work_ns", EMIT_NS, PH(work_ns), .heading = "com-\nputing", .look = EMIT_COMMON,
	  .help = "computing in them, of all threads" },
	{ "wait_ns", EMIT_NS, PH(wait_ns), .heading = "waits\nfor last", .look = EMIT_COMMON,
	  .help = "waiting for the last to come, of all threads" },
	{ "barrier_ns", EMIT_NS, PH(barrier_ns), .heading = "barrier\nitself", .look = EMIT_COMMON,
	  .help = "entering, and between the last one's coming and leaving, of all threads" },
	{ "access_ns", EMIT_NS, PH(access_ns), .heading = "remote\ndata", .look = EMIT_COMMON,
	  .flags = FIELDS_DROP, .help = "for remote data, of all threads" },
	{ "queue_ns", EMIT_NS, PH(queue_ns), .heading = "waits for\nprocessor", .look = EMIT_COMMON,
	  .flags = FIELDS_DROP, .help = "ready to run, and no processor free, of all threads" },
	END
};
const struct emit_record fields_rec_prediction_phase = {
	"phase", sizeof(struct prediction_phase), phase_fields, "The phases that end at one place, predicted"
};

#define P(m) AT(prediction, m)
static const struct emit_field prediction_fields[] = {
	{ "machine", EMIT_STRING, P(machine), .help = "whose parameters: a name, or that of its file" },
	{ "processors", EMIT_U32, P(processors), .heading = "proces-\nsors", .look = EMIT_NUMBER,
	  .flags = FIELDS_KEY, .help = "of the target" },
	{ "threads", EMIT_U32, P(threads), .help = "as recorded" },
	{ "barrier_model", EMIT_STRING, P(barrier_model),
	  .help = "linear, central, tree, dissemination or free" },
	{ "time_ns", EMIT_NS, P(time_ns), .heading = "time", .look = EMIT_COMMON,
	  .help = "predicted, from the first thread's start to the last one's end" },
	{ "speedup", EMIT_DOUBLE, P(speedup), .heading = "speedup", .look = EMIT_FRACTION,
	  .help = "time on one processor of that machine over this time; of several recordings, of the one with the "
		  "fewest threads" },
	{ "efficiency", EMIT_RATIO, P(efficiency), .heading = "effi-\nciency", .look = EMIT_NUMBER,
	  .help = "speedup over processors" },
	{ "limit", EMIT_STRING, P(limit),
	  .help = "id of the barrier that ends the phase which keeps most processor time from work; null: it "
		  "ends at none" },
	{ "limit_label", EMIT_STRING, P(limit_label), .heading = "limited by the\nphase that ends at",
	  .look = EMIT_NAME, .help = "the same in words" },
	{ "limit_cause", EMIT_STRING, P(because), .heading = "because of", .look = EMIT_ID,
	  .help = "imbalance, barriers or remote data: what that phase would gain most without; where that is nothing much, "
		  "sleep or I/O, a serial part, too few threads or work: what it does" },
	{ "balanced_ns", EMIT_NS, P(balanced_ns), .heading = "if bal-\nanced", .look = EMIT_COMMON,
	  .help = "the time if all members of each meeting had computed the same" },
	{ "barrier_free_ns", EMIT_NS, P(barrier_free_ns), .heading = "if barriers\nwere free",
	  .look = EMIT_COMMON, .help = "the time if barriers cost nothing" },
	{ "access_free_ns", EMIT_NS, P(access_free_ns), .heading = "if data\nwere free", .look = EMIT_COMMON,
	  .flags = FIELDS_DROP, .help = "the time if remote data cost nothing; null: there are none" },
	{ "recording", EMIT_STRING, P(recording),
	  .help = "of several, which one: its path; null: there is one" },
	{ "phases", EMIT_ARRAY, LIST(prediction, phases, nphases), .sub = &fields_rec_prediction_phase,
	  .help = "where the time goes, most first" },
	END
};
const struct emit_record fields_rec_prediction = {
	"prediction", sizeof(struct prediction), prediction_fields,
	"sbt-trace predict: the program on so many processors of a machine"
};

#define N(m) AT(prediction_note, m)
static const struct emit_field note_fields[] = {
	{ "kind", EMIT_STRING, N(kind), .help = "assumption, or warning" },
	{ "text", EMIT_STRING, N(text), .help = "a sentence" },
	END
};
const struct emit_record fields_rec_assumption = {
	"assumption", sizeof(struct prediction_note), note_fields,
	"What a prediction takes for granted, or may be wrong for"
};

const struct emit_record *const fields_of_predict[] = { &fields_rec_prediction, &fields_rec_assumption, NULL };
/* clang-format on */
