/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * While tracing: barriers that some have reached and others have not, for longer than --hang. Once
 * a second it is looked who has come and not left; when that is long ago a thread of our own looks
 * at the program, so that the reading of records never waits for it.
 */
#ifndef HANG_HANG_MONITOR_H
#define HANG_HANG_MONITOR_H

#include <stdint.h>

#include "analyse/report.h"
#include "hang/hang_env.h"

struct hang_monitor;

/* Returns 0 or -ENOMEM. */
int hang_monitor_new(const struct hang_env *env, struct hang_monitor **out);
/* Ends the look that is under way. */
void hang_monitor_free(struct hang_monitor *hang_monitor);
/*
 * To be called often: does nothing most of the time. Tells of what was found. Returns 0 or -ENOMEM.
 */
int hang_monitor_step(struct hang_monitor *hang_monitor, uint64_t now_ns);
/*
 * The end, with the programs still as they are: waits for the look that is under way, and tells
 * what it found.
 */
void hang_monitor_settle(struct hang_monitor *hang_monitor);
/*
 * When all records have been fed: those that have not ended. *n of them; valid as long as @hanging.
 */
const struct report_hang *hang_monitor_last(struct hang_monitor *hang_monitor, uint64_t now_ns,
					    uint32_t *n);

#endif /* HANG_HANG_MONITOR_H */
