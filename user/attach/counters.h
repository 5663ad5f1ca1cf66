/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Counters opened: for each event one perf event a CPU, counting whatever runs there. Who ran, and
 * thus whose a count is, is for the programs that read them to say.
 */
#ifndef ATTACH_COUNTERS_H
#define ATTACH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/events.h"

struct counters; /* opaque */

/*
 * Opens what can be had of @n events on every online CPU: counting from now on, without samples,
 * read with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. An event that cannot be had anywhere is
 * dropped, with a reason. @specs is copied. Returns 0 even if all were dropped, or -errno.
 */
int counters_open(const struct event_spec *specs, uint32_t n, struct counters **out);
void counters_free(struct counters *c);

uint32_t counters_n(const struct counters *c); /* as given, dropped ones too */
const struct event_spec *counters_spec(const struct counters *c, uint32_t event);
/*
 * Is it a software event that the programs are told of anyway, with the time of traced threads? Then that is counted, and no
 * perf event stays open, for which the whole machine would pay. Returns its number in perf_sw_ids, or -ENOENT.
 */
int counters_kept(const struct event_spec *spec);
/* Is it counted, on some CPU at least? */
bool counters_has(const struct counters *c, uint32_t event);
uint32_t counters_nopen(const struct counters *c);

/*
 * A sentence: why the event is not counted; or, if counters_has(), on which online CPUs it is not
 * and why ("" if on none): what threads do there is then not counted.
 */
const char *counters_reason(const struct counters *c, uint32_t event);

/* CPU numbers run from 0 to this less one. */
uint32_t counters_ncpus(const struct counters *c);
/* -1: not on this CPU (offline, or a CPU of another kind). Owned by @c. */
int counters_fd(const struct counters *c, uint32_t event, uint32_t cpu);

/* Which of the names that events_each() knows can be had here: each is opened once to find out. */
int counters_list(int (*each)(void *ctx, const struct event_spec *spec, bool available,
			      const char *reason),
		  void *ctx);

#endif /* ATTACH_COUNTERS_H */
