/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Open counters: one perf event per event and CPU, which counts everything that runs on the CPU.
 * The programs that read the perf events attribute the counts to threads.
 */
#ifndef ATTACH_COUNTERS_H
#define ATTACH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/events.h"

struct counters; /* opaque */

/*
 * Open those of @n events that are available, on every online CPU. They count from now on, without
 * samples, and are read with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. An event that is not
 * available on any CPU is dropped, with a reason. @specs is copied. Return 0 even if all were
 * dropped, or -errno.
 */
int counters_open(const struct event_spec *specs, uint32_t n, struct counters **out);
void counters_free(struct counters *c);

const struct event_spec *counters_spec(const struct counters *c, uint32_t event);
/*
 * Return the number in perf_sw_ids of a software event that the accounting counts anyway, or
 * -ENOENT. No perf event stays open for such an event: an open perf event would slow the whole
 * machine.
 */
int counters_kept(const struct event_spec *spec);
/* Return whether the event is counted on at least one CPU. */
bool counters_has(const struct counters *c, uint32_t event);

/*
 * Return a sentence that says why the event is not counted. If the event is counted on some CPUs
 * (counters_has()), the sentence says on how many, names the first online CPU on which it is not
 * counted, and says why. Return "" if the event is counted on all online CPUs.
 */
const char *counters_reason(const struct counters *c, uint32_t event);

/* Return a number above all CPU numbers. */
uint32_t counters_ncpus(const struct counters *c);
/*
 * Return the perf event for this CPU, which @c owns. Return -1 if there is none: the CPU is offline
 * or does not have the event, or the accounting counts the event (counters_kept()).
 */
int counters_fd(const struct counters *c, uint32_t event, uint32_t cpu);

/*
 * Call @each for all names of events_each(), and say whether the event is available on this
 * machine. To find out, each event is opened once.
 */
int counters_list(int (*each)(void *ctx, const struct event_spec *spec, bool available,
			      const char *reason),
		  void *ctx);

#endif /* ATTACH_COUNTERS_H */
