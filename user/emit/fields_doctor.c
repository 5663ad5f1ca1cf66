// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Rows of the list of fields: what doctor says. */
#include "analyse/doctor.h"
#include "emit/fields_internal.h"

/* clang-format off */
static const struct emit_names states[] = {
	{ DOCTOR_YES, "yes", NULL }, { DOCTOR_INSTEAD, "instead", NULL },
	{ DOCTOR_NO, "no", NULL }, { 0, NULL, NULL },
};

#define D(m) AT(doctor_feature, m)
static const struct emit_field doctor_fields[] = {
	{ "feature", EMIT_STRING, D(name),
	  .help = "trace: the main job, and the verdict; else a feature of the kernel or the machine" },
	{ "group", EMIT_STRING, D(group), .help = "rights, kernel, probes, ..." },
	{ "state", EMIT_ENUM, D(state), .names = states,
	  .help = "yes; instead: something else is used; no; null: it could not be tried" },
	{ "needed", EMIT_BOOL, D(needed), .help = "without it nothing is traced" },
	{ "found", EMIT_CHARS, D(found), .help = "what is there, or why it is not" },
	{ "instead", EMIT_CHARS, D(instead), .help = "what is used instead" },
	{ "remedy", EMIT_CHARS, D(remedy), .help = "what to do about it" },
	END
};
const struct emit_record fields_rec_doctor = {
	"doctor", sizeof(struct doctor_feature), doctor_fields,
	"sbt-trace doctor --json: what can be done here, one feature each"
};
/* clang-format on */
