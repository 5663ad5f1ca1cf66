// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The network: distances and transit times of messages. As in section 3.3.2 of the paper (see
 * predict.h), they are computed from the bytes, the hops, and a factor for the messages already on
 * the network. No link is simulated.
 */
#include "predict/predict_internal.h"

#include <math.h>

/*
 * Return the number of links between the two halves of the network. All messages share these links.
 */
static double bisection(enum predict_topology topology, uint32_t n)
{
	double half = n > 1 ? n / 2.0 : 1;

	switch (topology) {
	case PREDICT_BUS:
		return 1;
	case PREDICT_RING:
		return n > 2 ? 2 : 1;
	case PREDICT_MESH:
		return fmax(1, floor(sqrt(n)));
	default: /* in other topologies, each node has a link to the other half */
		return fmax(1, floor(half));
	}
}

static uint32_t cluster_of(const struct predict_net *net, uint32_t processor)
{
	return processor / (uint32_t)net->m->cores_per_cluster;
}

void predict_net_init(struct predict_net *net, const struct predict_machine *m, uint32_t processors)
{
	uint32_t cores = (uint32_t)m->cores_per_cluster;

	*net = (struct predict_net){ .m = m, .clusters = (processors + cores - 1) / cores };
	net->side = (uint32_t)ceil(sqrt(net->clusters));
	net->links = bisection((enum predict_topology)m->topology, net->clusters);
}

enum predict_distance predict_net_distance(const struct predict_net *net, uint32_t a, uint32_t b)
{
	if (a == b)
		return PREDICT_SAME;
	return cluster_of(net, a) == cluster_of(net, b) ? PREDICT_CLUSTER : PREDICT_FAR;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a < b ? b - a : a - b;
}

uint32_t predict_net_hops(const struct predict_net *net, uint32_t a, uint32_t b)
{
	uint32_t hops = 0, d;

	a = cluster_of(net, a);
	b = cluster_of(net, b);
	if (a == b)
		return 0;
	switch ((enum predict_topology)net->m->topology) {
	case PREDICT_RING:
		d = distance(a, b);
		return d <= net->clusters - d ? d : net->clusters - d;
	case PREDICT_MESH:
		return distance(a % net->side, b % net->side) +
		       distance(a / net->side, b / net->side);
	case PREDICT_HYPERCUBE:
		return (uint32_t)__builtin_popcount(a ^ b);
	/* four branches, as in the CM-5: a message goes up to the common node, and down */
	case PREDICT_FATTREE:
		for (; a != b; a /= 4, b /= 4)
			hops += 2;
		return hops;
	default:
		return 1;
	}
}

double predict_net_transit(const struct predict_net *net, uint32_t a, uint32_t b, double bytes)
{
	double factor = 1 + net->m->contention * net->inflight / net->links;

	return bytes * net->m->byte_time * factor + predict_net_hops(net, a, b) * net->m->hop_time;
}
