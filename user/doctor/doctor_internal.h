/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared only by the files of the doctor. */
#ifndef DOCTOR_DOCTOR_INTERNAL_H
#define DOCTOR_DOCTOR_INTERNAL_H

#include <stdio.h>

#include "doctor/doctor.h"

/* lowest sufficient limit of open files; examined programs and their libraries stay open */
#define DOCTOR_FILES_ENOUGH 1024

#define DOCTOR_SUDO "run it as root: sudo sbt-trace ..."
#define DOCTOR_DENIED                                                                      \
	"root lacks them here: grant them to the container (--cap-add) or to the service " \
	"(CapabilityBoundingSet=)"

#define DOCTOR_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* doctor_look.c */
/* Collect facts that need no BPF: the machine, rights, limits, cgroups, processes. May fork. */
void doctor_look(struct doctor_facts *facts);

/* doctor_try.c */
/* Try BPF, the attach methods, and counters. */
void doctor_try(struct doctor_facts *facts);

/* doctor_row.c */
/*
 * Add a row. @fmt and the arguments are the text of doctor_feature.found. Never return NULL: if
 * there are too many rows, the last row is overwritten.
 */
DOCTOR_PRINTF(5, 6)
struct doctor_feature *doctor_row(struct doctor *d, const char *group, const char *name,
				  enum doctor_state state, const char *fmt, ...);
/* Set the replacement of a missing feature. */
#define doctor_instead(f, ...) snprintf((f)->instead, sizeof((f)->instead), __VA_ARGS__)
/* Set what the user can do. */
#define doctor_remedy(f, ...)  snprintf((f)->remedy, sizeof((f)->remedy), __VA_ARGS__)
/* Return the state for an outcome, which is 0, -errno, DOCTOR_UNTRIED or DOCTOR_UNSEEN. */
enum doctor_state doctor_state_of(int outcome);
/* Return the text of an outcome. */
const char *doctor_said(int outcome);
/* Return true if the outcome is a lack of privileges. */
bool doctor_refused(int outcome);
/* Return the state for a fact. @truth is 1, 0 or DOCTOR_UNTRIED. */
enum doctor_state doctor_known(int truth);

/* doctor_rights.c */
/* Return true if this process has all privileges that tracing needs. */
bool doctor_has_rights(const struct doctor_facts *x);
/* Return true if this capability is known to be missing. */
bool doctor_lacks(const struct doctor_facts *x, const char *name);
/*
 * Add the remedy for a refusal. @capability is the missing capability, or NULL for all capabilities
 * that tracing needs.
 */
void doctor_refusal(struct doctor_feature *f, const struct doctor_facts *x, const char *capability);

/* Add the rows of a group. */
void doctor_add_rights(struct doctor *d, const struct doctor_facts *x);
void doctor_add_probes(struct doctor *d, const struct doctor_facts *x);
void doctor_add_measures(struct doctor *d, const struct doctor_facts *x);

#endif /* DOCTOR_DOCTOR_INTERNAL_H */
