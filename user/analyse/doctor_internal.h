/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of the doctor share. Nobody else includes it. */
#ifndef ANALYSE_DOCTOR_INTERNAL_H
#define ANALYSE_DOCTOR_INTERNAL_H

#include "analyse/doctor.h"

#define DOCTOR_FILES_ENOUGH 1024 /* what is examined stays open: programs and their libraries */

#define DOCTOR_SUDO "run it as root: sudo sbt-trace ..."
#define DOCTOR_DENIED                                                                             \
	"this root has been denied it: give it back to the container (--cap-add) or the service " \
	"(CapabilityBoundingSet=)"

#define DOCTOR_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* doctor_row.c */
/* A row more; @fmt: what was found. Never NULL: beyond DOCTOR_FEATURES the last one is written again. */
DOCTOR_PRINTF(5, 6)
struct doctor_feature *doctor_row(struct doctor *d, const char *group, const char *name,
				  enum doctor_state state, const char *fmt, ...);
/* What is done in its place. */
DOCTOR_PRINTF(2, 3)
void doctor_instead(struct doctor_feature *f, const char *fmt, ...);
/* What the user can do about it. */
DOCTOR_PRINTF(2, 3)
void doctor_remedy(struct doctor_feature *f, const char *fmt, ...);
/* Of an outcome: 0, -errno, DOCTOR_UNTRIED, DOCTOR_UNSEEN. */
enum doctor_state doctor_state_of(int outcome);
const char *doctor_said(int outcome);
/* Was it a matter of rights? */
bool doctor_refused(int outcome);
/* Of a truth: 1, 0, DOCTOR_UNTRIED. */
enum doctor_state doctor_known(int truth);

/* doctor_rights.c */
/* Everything that tracing needs. */
bool doctor_has_rights(const struct doctor_facts *x);
/* Is it known that this capability is not there? */
bool doctor_lacks(const struct doctor_facts *x, const char *name);
/* The remedy of what was refused; @capability: what it needs, NULL: all of them. */
void doctor_refusal(struct doctor_feature *f, const struct doctor_facts *x, const char *capability);

/* Each adds its rows. */
void doctor_say_rights(struct doctor *d, const struct doctor_facts *x);
void doctor_say_probes(struct doctor *d, const struct doctor_facts *x);
void doctor_say_measures(struct doctor *d, const struct doctor_facts *x);

#endif /* ANALYSE_DOCTOR_INTERNAL_H */
