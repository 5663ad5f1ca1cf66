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
	  .help = "name of a feature of the kernel or the machine; trace is the verdict: whether "
		  "programs can be traced" },
	{ "group", EMIT_STRING, D(group), .help = "rights, kernel, probes, ..." },
	{ "state", EMIT_ENUM, D(state), .names = states,
	  .help = "yes, no, instead (something else is used), or null (it could not be tried)" },
	{ "needed", EMIT_BOOL, D(needed), .help = "nothing can be traced without it" },
	{ "found", EMIT_CHARS, D(found), .help = "what is available, or why it is not" },
	{ "instead", EMIT_CHARS, D(instead), .help = "what is used instead" },
	{ "remedy", EMIT_CHARS, D(remedy), .help = "how to get the feature" },
	END
};
const struct emit_record fields_rec_doctor = {
	"doctor", sizeof(struct doctor_feature), doctor_fields,
	"sbt-trace doctor --json: one feature of this machine"
};
/* clang-format on */
