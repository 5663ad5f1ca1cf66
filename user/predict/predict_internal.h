/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the files of the simulator. */
#ifndef PREDICT_PREDICT_INTERNAL_H
#define PREDICT_PREDICT_INTERNAL_H

#include "predict/predict.h"

/* --- predict_net.c: distances between processors, and message times --------------------------- */

enum predict_distance { PREDICT_SAME, PREDICT_CLUSTER, PREDICT_FAR };

struct predict_net {
	const struct predict_machine *m;
	uint32_t clusters; /* number of clusters */
	uint32_t side; /* side length of the mesh, in clusters */
	double links; /* links that cross the bisection */
	uint32_t inflight; /* messages on the network */
};

void predict_net_init(struct predict_net *net, const struct predict_machine *m,
		      uint32_t processors);
enum predict_distance predict_net_distance(const struct predict_net *net, uint32_t a, uint32_t b);
/* Return the number of hops between the clusters of two processors. */
uint32_t predict_net_hops(const struct predict_net *net, uint32_t a, uint32_t b);
/* Return the transit time of @bytes from @a to @b, while net->inflight messages are under way. */
double predict_net_transit(const struct predict_net *net, uint32_t a, uint32_t b, double bytes);

/* --- predict_barrier.c: departures of an episode's members ------------------------------------ */

struct predict_arrival {
	uint32_t thread;
	uint32_t home; /* the thread's home: see predict_sim.h */
	double arrive_ns;
	double leave_ns; /* output: when the thread may continue, without its own cost of leaving */
};

/*
 * Fill leave_ns of an episode's @n members, sorted by thread, when all have arrived. @scratch has
 * room for 2 x @n. The first member is the master of a linear barrier and the root of a tree.
 */
void predict_barrier_leave(const struct predict_net *net, struct predict_arrival *members,
			   uint32_t n, double *scratch);

/* --- predict_heap.c: the event queue ---------------------------------------------------------- */

struct predict_event {
	double t;
	uint64_t seq; /* number of the event; events with the same time are popped in this order */
	uint32_t kind, subject, generation;
};

struct predict_heap {
	struct predict_event *events;
	uint32_t n, cap;
	uint64_t seq;
};

/* Return 0 or -ENOMEM. */
int predict_heap_push(struct predict_heap *h, struct predict_event event);
/* Return false if there is no event. */
bool predict_heap_pop(struct predict_heap *h, struct predict_event *out);

#endif /* PREDICT_PREDICT_INTERNAL_H */
