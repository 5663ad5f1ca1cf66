// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields: the record of doctor. */
#include "doctor/doctor.h"
#include "emit/fields_internal.h"

/* clang-format off */
static const struct emit_names states[] = {
	{ DOCTOR_YES, "yes", NULL }, { DOCTOR_INSTEAD, "instead", NULL },
	{ DOCTOR_NO, "no", NULL }, { 0, NULL, NULL },
};

#define D(m) AT(doctor_feature, m)
static const struct emit_field doctor_fields[] = {
	{ "feature", EMIT_STRING, D(name),
	  .help = "name of the feature; the feature trace is the verdict: whether programs can be "
		  "traced" },
	{ "group", EMIT_STRING, D(group),
	  .help = "group of features: rights, kernel, probes and so on" },
	{ "state", EMIT_ENUM, D(state), .names = states,
	  .help = "state of the feature: yes (available), no, or instead (something else is used); "
		  "null: could not be tested" },
	{ "needed", EMIT_BOOL, D(needed),
	  .help = "true: nothing can be traced without this feature" },
	{ "found", EMIT_CHARS, D(found),
	  .help = "what was found: what is available, or why the feature is not available" },
	{ "instead", EMIT_CHARS, D(instead), .help = "what is used instead of the feature" },
	{ "remedy", EMIT_CHARS, D(remedy), .help = "how to make the feature available" },
	END
};
const struct emit_record fields_rec_doctor = {
	"doctor", sizeof(struct doctor_feature), doctor_fields,
	"sbt-trace doctor --json: one feature of this machine"
};
/* clang-format on */
