/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The output of doctor for people: the verdict, then a table. */
#ifndef EMIT_DOCTOR_H
#define EMIT_DOCTOR_H

#include "doctor/doctor.h"
#include "emit/textout.h"

void doctor_print(struct textout *out, const struct doctor *doctor);

#endif /* EMIT_DOCTOR_H */
