/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A grid of bounded size, into which a run is drawn: what each thread did in each bucket of time,
 * and the phase and barrier times of each barrier by bucket. Buckets are as narrow as memory allows
 * and grow with the run: when time passes the last bucket, neighbours are joined and all buckets
 * become twice as wide.
 */
#ifndef EMIT_GRID_H
#define EMIT_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#define GRID_LANES    256 /* number of threads that are drawn: the first to cross a barrier */
#define GRID_WIDTH    16384 /* largest number of buckets in a lane */
#define GRID_LEAST    1024 /* smallest number of buckets in a lane, for any number of lanes */
#define GRID_CELLS    524288 /* largest number of buckets in all lanes */
#define GRID_SERIES   64 /* number of barriers with a row: the first to be crossed */
#define GRID_POINTS   2048 /* number of buckets in such a row */
#define GRID_FIRST_NS 1000 /* initial width of a bucket */
#define GRID_MOST_NS  (1ULL << 62) /* times after this are not drawn */

enum grid_kind {
	GRID_WORK, /* outside barriers */
	GRID_WAIT, /* waiting for the last arriver */
	GRID_LEAVE, /* from the last arrival to the departure */
	GRID_INSIDE, /* at a barrier without a known last arrival */
	GRID_KINDS
};

struct grid_lane {
	uint32_t thread, tid; /* thread's index and tid, as in the model */
	float *ns[GRID_KINDS]; /* time in each bucket; one allocation, which ns[0] points to */
};

struct grid_point {
	float min, max; /* smallest and largest value in ns; undefined while n is 0 */
	double sum;
	uint32_t n;
};

struct grid_series {
	uint32_t barrier; /* barrier's index, as in the model */
	struct grid_point phase[GRID_POINTS], within[GRID_POINTS]; /* phase and barrier times */
};

struct grid {
	uint64_t lane_ns, point_ns; /* widths of buckets */
	uint32_t width; /* buckets of a lane */
	uint32_t nlanes, nseries;
	struct grid_lane lanes[GRID_LANES];
	struct grid_series *series[GRID_SERIES];
	struct hash by_thread; /* thread and tid -> lane + 1; 0 for threads without a lane */
	struct hash by_barrier; /* barrier -> series */
	uint64_t left_out; /* number of threads without a lane */
};

void grid_init(struct grid *g);
void grid_free(struct grid *g);
/*
 * Put the lane of a thread into *lane, or GRID_LANES if the thread has none. Return 0 or -ENOMEM.
 */
int grid_lane(struct grid *g, uint32_t thread, uint32_t tid, uint32_t *lane);
/* Add the time in which a thread did @kind, from @from to @to in ns from the start. */
void grid_add(struct grid *g, uint32_t lane, enum grid_kind kind, uint64_t from, uint64_t to);
/*
 * Add an episode of @barrier that was released @t_ns after the start. @phase_ns and @barrier_ns are
 * UINT64_MAX if unknown. Return 0 or -ENOMEM.
 */
int grid_episode(struct grid *g, uint32_t barrier, uint64_t t_ns, uint64_t phase_ns,
		 uint64_t barrier_ns);

#endif /* EMIT_GRID_H */
