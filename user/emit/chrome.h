/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A trace for Chrome's and Perfetto's viewers (JSON, the "Trace Event Format"). It is written
 * episode by episode, so its memory grows with threads and barriers, not with episodes.
 *
 * The track of a thread has the slices "work", from its departure to its next arrival; "wait", from
 * its arrival to the last arrival; and "leave", from the last arrival to its departure. They never
 * overlap. An arrow leads from the last arrival to each thread that it released. For the parts of a
 * phase (run queue, blocked, ...) and for its counters, only sums are known. The sums are arguments
 * of the slice. Separate tracks show the parts as shares of the phase and the counters as rates,
 * constant from the beginning of the phase to its end. Parts that are 0 are left out. Times are
 * microseconds with three decimals, from the start of tracing.
 *
 * The work slice of a thread that arrived late has the cause of its lateness and the function in
 * which it was for longest (late_ns, cause, cause_ns, function). If a last arriver was on a CPU for
 * longer, more_in replaces function: the place that explains this, over the late episodes of the
 * barrier so far. See cause_of_member().
 *
 * A crossing takes about 600 bytes. Once the file has 64 MiB, counters and parts of phases are left
 * out. Once it has 192 MiB, several crossings of a thread become one slice with their sums. The
 * number of crossings per slice grows with the file, so that viewers can still open it. The file's
 * metadata and chrome_thinned() report what was left out.
 */
#ifndef EMIT_CHROME_H
#define EMIT_CHROME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyse/report.h"
#include "model/model.h"

struct chrome; /* opaque */

/*
 * What was left out, and since when. Times are ns from the start of tracing; 0: nothing was left
 * out.
 */
struct chrome_thinned {
	uint64_t lean_ns; /* from this time on, counters and parts of phases are left out */
	uint64_t together_ns; /* from this time on, several crossings share a slice */
	uint64_t crossings; /* number of crossings in such slices */
};

#define CHROME_LEAN (64ull << 20)
/*
 * Begin a trace in @file, which the caller owns. @env names barriers and counters and must outlive
 * the trace; @start_ns is the start of tracing. After @lean bytes (usually CHROME_LEAN), counters
 * and parts of phases are left out; after three times @lean bytes, several crossings of a thread
 * are drawn as one slice. Return 0 and the trace in *out, or -ENOMEM or the error of the first
 * write.
 */
int chrome_begin(struct chrome **out, FILE *file, const struct report_env *env, uint64_t start_ns,
		 uint64_t lean);
/*
 * Write an episode. Call this in the model's order of episodes. Return 0 or the first error, after
 * which nothing is written.
 */
int chrome_episode(struct chrome *c, const struct model *model, const struct model_episode *e);
/* Return whether anything was left out so far. */
bool chrome_thinned(const struct chrome *c, struct chrome_thinned *out);
/*
 * Write the names and last intervals of the finished model up to @end_ns, flush, and free the
 * trace. Return 0 or the first error. With @model NULL, give up and leave an incomplete file.
 */
int chrome_end(struct chrome *c, const struct model *model, uint64_t end_ns);

#endif /* EMIT_CHROME_H */
