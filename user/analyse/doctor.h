/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* From the facts found by trying: what works here, what is used instead, and the remedies. Pure. */
#ifndef ANALYSE_DOCTOR_H
#define ANALYSE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/doctor.h"

#define DOCTOR_FEATURES 48

enum doctor_state {
	DOCTOR_YES,
	DOCTOR_INSTEAD, /* missing, but something else is used */
	DOCTOR_NO,
	DOCTOR_UNKNOWN, /* not tried */
};

struct doctor_feature {
	const char *group; /* "rights", "kernel", ... */
	const char *name;
	bool needed; /* without it nothing can be traced */
	enum doctor_state state;
	char found[400]; /* what is available, or why it is missing; "" */
	char instead[200]; /* what is used instead; "" */
	char remedy[300]; /* what the user can do; "" */
};

struct doctor {
	struct doctor_feature verdict; /* whether tracing works; if not, why, and the remedy */
	uint32_t n;
	struct doctor_feature features[DOCTOR_FEATURES];
};

/* Fill *@out. Strings of @facts are untrusted: printers make them printable. */
void doctor_diagnose(const struct doctor_facts *facts, struct doctor *out);

/*
 * Write the last reason of a libbpf log for which the programs were refused: the verifier's last
 * message and the program, or libbpf's own message. Write "" if there is none.
 */
void doctor_read_log(const char *log, char *out, size_t len);

/*
 * Return true if a kernel's release ("6.1.0-44-cloud-amd64") is at least this version, or
 * unreadable.
 */
bool doctor_release_from(const char *release, unsigned major, unsigned minor);

/*
 * Return true if CPUs that hit one probe at the same time wait for each other on this machine, as
 * its release and number of CPUs show. Then write a sentence without a full stop to @out. Return
 * false if unknown.
 */
bool doctor_cpus_wait(const struct doctor_facts *facts, char *out, size_t len);

#endif /* ANALYSE_DOCTOR_H */
