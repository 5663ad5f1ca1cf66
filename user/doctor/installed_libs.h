/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * For doctor: find the installed libraries that are probed, and whether they have debug
 * information.
 */
#ifndef DOCTOR_INSTALLED_LIBS_H
#define DOCTOR_INSTALLED_LIBS_H

#include "doctor/doctor_facts.h"

/* Fill in what @facts holds about libraries and names. Only the usual directories are searched. */
void installed_libs_look(struct doctor_facts *facts);

#endif /* DOCTOR_INSTALLED_LIBS_H */
