/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Diagnose from the results of trials what works on this machine, what replaces missing features,
 * and what the user can do. This code does no I/O.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doctor/doctor_facts.h"

#define DOCTOR_FEATURES 48

enum doctor_state {
	DOCTOR_YES,
	DOCTOR_INSTEAD, /* missing, but replaced by another feature */
	DOCTOR_NO,
	DOCTOR_UNKNOWN, /* not tried */
};

struct doctor_feature {
	const char *group; /* "rights", "kernel", ... */
	const char *name;
	bool needed; /* if missing, nothing can be traced */
	enum doctor_state state;
	/* what is available, or the reason why it is missing; "" if nothing is known */
	char found[400];
	char instead[200]; /* the replacement; "" if there is none */
	char remedy[300]; /* what the user can do; "" if nothing */
};

struct doctor {
	/* whether tracing works; if not, the reason and the remedy */
	struct doctor_feature verdict;
	uint32_t n;
	struct doctor_feature features[DOCTOR_FEATURES];
};

/* Fill *@out. Strings in @facts are untrusted. Printers make them printable. */
void doctor_diagnose(const struct doctor_facts *facts, struct doctor *out);

/*
 * Write the last reason that a libbpf log gives for refusing a program: the verifier's last message
 * and the program's name, or libbpf's own message. Write "" if there is none.
 */
void doctor_read_log(const char *log, char *out, size_t len);

/*
 * Return true if a kernel's release ("6.1.0-44-cloud-amd64") is at least this version, or cannot be
 * parsed.
 */
bool doctor_release_from(const char *release, unsigned major, unsigned minor);

/*
 * Return true if CPUs of this machine wait for each other when they hit one probe at the same time.
 * The kernel's release and the number of CPUs show this. In that case write a sentence without a
 * full stop to @out. Return false if unknown.
 */
bool doctor_cpus_wait(const struct doctor_facts *facts, char *out, size_t len);

#endif /* DOCTOR_DOCTOR_H */
