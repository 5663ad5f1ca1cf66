/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A trace for Chrome's and Perfetto's viewers (JSON, the "Trace Event Format"), written while the episodes come by:
 * memory grows with threads and barriers, not with episodes.
 *
 * On the track of a thread: "work" from its departure to its next arrival, "wait" from its arrival to the last
 * one's, "leave" from there to its departure. They never overlap. An arrow goes from the last arrival to everybody
 * it released. Of the parts of a phase (run queue, blocked, ...) and of what was counted in it only sums are known,
 * not when: they are arguments of the slice, and a counter beside the track shows them as shares of the phase,
 * level from its begin to its end; what is 0 is left out of both. Times are microseconds with three digits after the point, from the start of
 * tracing.
 *
 * A crossing takes some 600 bytes. From 64 MiB on there are neither counters nor parts of phases, from 192 MiB on
 * many crossings of a thread are one slice with their sums, ever more of them: what viewers still open. The file's
 * metadata say so, and chrome_thinned().
 */
#ifndef EMIT_CHROME_H
#define EMIT_CHROME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyse/report.h"
#include "model/model.h"

struct chrome; /* opaque */

/* What was left out, and since when; ns from the start of tracing, 0: it was not. */
struct chrome_thinned {
	uint64_t lean_ns; /* without counters and parts of phases */
	uint64_t together_ns; /* many crossings as one slice */
	uint64_t crossings; /* that were drawn so */
};

/*
 * @env names barriers and counters, and must live as long as the trace; @file stays the caller's; @start_ns is when
 * tracing began. Returns 0, or -ENOMEM or the error of the first write, and no trace.
 */
int chrome_begin(struct chrome **out, FILE *file, const struct report_env *env, uint64_t start_ns);
/* In the order in which the model gives them. Returns 0 or the first error, after which nothing is written. */
int chrome_episode(struct chrome *c, const struct model *model, const struct model_episode *e);
/* Thins from @bytes, and from three times that on, instead of 64 MiB. After chrome_begin(). */
void chrome_limit(struct chrome *c, uint64_t bytes);
/* Whether anything was left out until now. */
bool chrome_thinned(const struct chrome *c, struct chrome_thinned *out);
/*
 * The finished model's names and last intervals, up to @end_ns; flushes, and frees the trace. Returns 0 or the first
 * error. @model NULL: given up, the file is not a whole one.
 */
int chrome_end(struct chrome *c, const struct model *model, uint64_t end_ns);

#endif /* EMIT_CHROME_H */
