/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Watch for hangs during tracing: barriers at which a thread has waited for longer than --hang.
 * Arrivals without a departure are read at least once a second. If an arrival is older than --hang,
 * hang_worker's thread examines the program, so that the processing of records is not delayed.
 */
#ifndef HANG_HANG_MONITOR_H
#define HANG_HANG_MONITOR_H

#include <stdint.h>

#include "analyse/report.h"
#include "hang/hang_env.h"

struct hang_monitor;

/* Return 0 or -ENOMEM. */
int hang_monitor_new(const struct hang_env *env, struct hang_monitor **out);
/* Free the monitor, after the running look has finished. */
void hang_monitor_free(struct hang_monitor *hang_monitor);
/*
 * Look for hangs, and report those that were found. Call this often: it rarely has work to do.
 * Return 0 or -ENOMEM.
 */
int hang_monitor_step(struct hang_monitor *hang_monitor, uint64_t now_ns);
/*
 * Wait for the running look, and report what it found. Call this when tracing ends, before anything
 * is done to the traced programs.
 */
void hang_monitor_settle(struct hang_monitor *hang_monitor);
/*
 * Return the *n hangs that are not over. Call this after all records have been fed. The result is
 * valid until the next call, or until @hang_monitor is freed.
 */
const struct report_hang *hang_monitor_last(struct hang_monitor *hang_monitor, uint64_t now_ns,
					    uint32_t *n);

#endif /* HANG_HANG_MONITOR_H */
