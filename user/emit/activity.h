/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The text about threads that crossed no barrier. */
#ifndef EMIT_ACTIVITY_H
#define EMIT_ACTIVITY_H

#include "analyse/report.h"
#include "emit/textout.h"

/*
 * Print what the threads did: shares of their time, the functions in which they were on a CPU, and
 * the longest waits. @most: maximum number of threads. Nothing if the report has no activities.
 */
void activity_print(struct textout *t, const struct report *report, uint32_t most);

#endif /* EMIT_ACTIVITY_H */
