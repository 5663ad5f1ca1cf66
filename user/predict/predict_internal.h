/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of the simulator share. */
#ifndef PREDICT_PREDICT_INTERNAL_H
#define PREDICT_PREDICT_INTERNAL_H

#include "predict/predict.h"

/* --- predict_net.c: between whom a message goes, and how long ----------------------------------- */

enum predict_distance { PREDICT_SAME, PREDICT_CLUSTER, PREDICT_FAR };

struct predict_net {
	const struct predict_machine *m;
	uint32_t clusters; /* that the processors make */
	uint32_t side; /* of the mesh */
	double links; /* that a cut through the middle crosses */
	uint32_t inflight; /* messages on the way */
};

void predict_net_init(struct predict_net *net, const struct predict_machine *m,
		      uint32_t processors);
enum predict_distance predict_net_distance(const struct predict_net *net, uint32_t a, uint32_t b);
/* Between the clusters of two processors. */
uint32_t predict_net_hops(const struct predict_net *net, uint32_t a, uint32_t b);
/* How long @bytes are on the way, with @inflight others. */
double predict_net_transit(const struct predict_net *net, uint32_t a, uint32_t b, double bytes);

/* --- predict_barrier.c: when the members of a meeting go on --------------------------------------- */

struct predict_arrival {
	uint32_t thread;
	uint32_t home; /* its processor */
	double arrive_ns;
	double leave_ns; /* out: when it may go on; what it then does to leave is not in it */
};

/*
 * All have come: fills leave_ns, of @n members sorted by thread. @scratch has room for 2 x @n. The first is the
 * master of the linear one and the root of the tree.
 */
void predict_barrier_leave(const struct predict_net *net, struct predict_arrival *members,
			   uint32_t n, double *scratch);

/* --- predict_heap.c: what happens next ------------------------------------------------------------- */

struct predict_event {
	double t;
	uint64_t seq; /* of those at one time, the first put in is the first out */
	uint32_t kind, who, generation, other;
};

struct predict_heap {
	struct predict_event *events;
	uint32_t n, cap;
	uint64_t seq;
};

/* 0 or -ENOMEM. */
int predict_heap_push(struct predict_heap *h, struct predict_event event);
/* False: there is none. */
bool predict_heap_pop(struct predict_heap *h, struct predict_event *out);

#endif /* PREDICT_PREDICT_INTERNAL_H */
