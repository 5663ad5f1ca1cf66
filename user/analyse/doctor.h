/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* From what was found by trying to what can be done here, what is used instead, and what to do about it. Pure. */
#ifndef ANALYSE_DOCTOR_H
#define ANALYSE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/doctor.h"

#define DOCTOR_FEATURES 48

enum doctor_state {
	DOCTOR_YES,
	DOCTOR_INSTEAD, /* not as it should be: something else is used */
	DOCTOR_NO,
	DOCTOR_UNKNOWN, /* could not be tried */
};

struct doctor_feature {
	const char *group; /* "rights", "kernel", ... */
	const char *name;
	bool needed; /* without it nothing is traced */
	enum doctor_state state;
	char found[400]; /* what is there, or why it is not; "" */
	char instead[200]; /* what is used instead; "" */
	char remedy[300]; /* what to do about it; "" */
};

struct doctor {
	struct doctor_feature verdict; /* can the main job be done? If not: why, and what to do */
	uint32_t n;
	struct doctor_feature features[DOCTOR_FEATURES];
};

/* Fills *@out. Strings of @facts come from outside: they are for printers that make them harmless. */
void doctor_diagnose(const struct doctor_facts *facts, struct doctor *out);

/*
 * What a log of libbpf says last of why the programs were refused, into @out: the verifier's last word and the program
 * that it is about, or libbpf's own. "" if nothing.
 */
void doctor_read_log(const char *log, char *out, size_t len);

/* Is a kernel's release, "6.1.0-44-cloud-amd64", at least this version? Also if it cannot be read. */
bool doctor_release_from(const char *release, unsigned major, unsigned minor);

/*
 * Do CPUs that hit one probe at once wait for one another on this machine, by the release and the CPUs of @facts? Then
 * @out has it in a sentence, without a full stop. Neither is known: no.
 */
bool doctor_cpus_wait(const struct doctor_facts *facts, char *out, size_t len);

#endif /* ANALYSE_DOCTOR_H */
