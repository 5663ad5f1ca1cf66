/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A run drawn into a grid of bounded size: what each thread did in each bucket of time, and the phase and barrier
 * times of each barrier bucket by bucket. The buckets are as narrow as memory allows and grow with the run: when
 * time goes beyond the last, neighbours are joined and all are twice as wide.
 */
#ifndef EMIT_GRID_H
#define EMIT_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#define GRID_LANES    256 /* threads that are drawn; the first to come */
#define GRID_WIDTH    16384 /* buckets of a lane at most */
#define GRID_LEAST    1024 /* and at least, however many lanes there are */
#define GRID_CELLS    524288 /* buckets of all lanes together */
#define GRID_SERIES   64 /* barriers with a row of their own; the first to come */
#define GRID_POINTS   2048 /* buckets of such a row */
#define GRID_FIRST_NS 1000 /* width of a bucket at the start */
#define GRID_MOST_NS  (1ULL << 62) /* what is said to be later is not drawn */

enum grid_kind {
	GRID_WORK, /* outside barriers */
	GRID_WAIT, /* for the last to arrive */
	GRID_LEAVE, /* from then to the departure */
	GRID_INSIDE, /* at a barrier, of which it is not known when the last arrived */
	GRID_KINDS
};

struct grid_lane {
	uint32_t thread, tid; /* as in the model */
	float *ns[GRID_KINDS]; /* by bucket; in one piece of memory, the first owns it */
};

struct grid_point {
	float min, max; /* ns; of nothing while n is 0 */
	double sum;
	uint32_t n;
};

struct grid_series {
	uint32_t barrier; /* as in the model */
	struct grid_point phase[GRID_POINTS], within[GRID_POINTS]; /* phase and barrier times */
};

struct grid {
	uint64_t lane_ns, point_ns; /* widths of buckets */
	uint32_t width; /* buckets of a lane */
	uint32_t nlanes, nseries;
	struct grid_lane lanes[GRID_LANES];
	struct grid_series *series[GRID_SERIES];
	struct hash by_thread; /* thread and tid -> lane + 1; 0 for those without */
	struct hash by_barrier; /* barrier -> series */
	uint64_t left_out; /* threads without a lane */
};

void grid_init(struct grid *g);
void grid_free(struct grid *g);
/* The lane of a thread; GRID_LANES: it has none. Returns 0 or -ENOMEM. */
int grid_lane(struct grid *g, uint32_t thread, uint32_t tid, uint32_t *lane);
/* A thread did @kind from @from to @to, ns from the start. */
void grid_add(struct grid *g, uint32_t lane, enum grid_kind kind, uint64_t from, uint64_t to);
/*
 * An episode of @barrier was released at @t_ns from the start. UINT64_MAX: a time that is unknown. Returns 0 or
 * -ENOMEM.
 */
int grid_episode(struct grid *g, uint32_t barrier, uint64_t t_ns, uint64_t phase_ns,
		 uint64_t barrier_ns);

#endif /* EMIT_GRID_H */
