// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for barriers written by hand with a mutex and a condition variable. --kind:
//   generation  a central counter and a generation; broadcast under the mutex
//   thesis      figure 4.5 of the thesis, with the predicate loop that it lacks
//   after       as `generation`, but broadcast after the mutex is released
//   signals     N - 1 signals instead of one broadcast
//   timed       repeated calls of pthread_cond_timedwait, with --timeout (1ms)
//   clock       repeated calls of pthread_cond_clockwait, with --timeout (1ms)
//   two-phase   no thread leaves before all have seen the end of the first phase. Every episode has
//               two waits, on two condition variables. The log has the departure from the second.
//   tree        a combining tree: nodes of at most three, each a barrier of its own. The last
//               arriver at a node goes up, and wakes the node on its way down. So a node's wake is
//               later than its last arrival. Episodes of all nodes together: rounds * nodes
//               (printed)
#include "gen_core.h"

#ifndef __GLIBC__
/* musl lacks this function, so the kind `clock` exists with glibc only. */
#define pthread_cond_clockwait(condition, mutex, clock, until) ((void)(until), abort())
#endif

#define FAN_IN	  3
#define MAX_NODES 1024

enum kind { GENERATION, THESIS, AFTER, SIGNALS, TIMED, CLOCK, TWO_PHASE, TREE };

static const char *const kinds[] = { "generation", "thesis",	"after", "signals", "timed",
				     "clock",	   "two-phase", "tree",	 NULL };

struct bar {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	pthread_cond_t all_out; /* kind two-phase: signals that all threads have left */
	uint32_t thread_count;
	uint32_t counter;
	uint32_t generation;
	uint32_t leaving; /* kind two-phase: number of threads that have not left yet */
};

struct object {
	struct bar bar; /* the barrier, or the tree's first node */
	struct bar node[MAX_NODES - 1];
	uint32_t nodes;
};

static struct object objects[GEN_MAX_OBJECTS];

ONE_COPY static int meet_generation(struct bar *b)
{
	uint32_t mine;
	int last;

	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	last = ++b->counter == b->thread_count;
	if (last) {
		b->counter = 0;
		b->generation++;
		pthread_cond_broadcast(&b->condition);
	} else {
		while (b->generation == mine)
			pthread_cond_wait(&b->condition, &b->mutex);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

/*
 * Figure 4.5 of E. Novillo's thesis (University of Alberta, 2002) wakes first and then resets, like
 * this function. The figure lacks the generation.
 */
ONE_COPY static int meet_thesis(struct bar *b)
{
	int last = 0;

	pthread_mutex_lock(&b->mutex);
	b->counter++;
	if (b->counter == b->thread_count) {
		pthread_cond_broadcast(&b->condition);
		b->counter = 0;
		b->generation++;
		last = 1;
	} else {
		uint32_t mine = b->generation;

		do {
			pthread_cond_wait(&b->condition, &b->mutex);
		} while (b->generation == mine);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

ONE_COPY static int meet_after(struct bar *b)
{
	uint32_t mine;

	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	if (++b->counter == b->thread_count) {
		b->counter = 0;
		b->generation++;
		pthread_mutex_unlock(&b->mutex);
		pthread_cond_broadcast(&b->condition);
		return 1;
	}
	while (b->generation == mine)
		pthread_cond_wait(&b->condition, &b->mutex);
	pthread_mutex_unlock(&b->mutex);
	return 0;
}

/*
 * Only waiters of the old generation can be waiting, so no thread of the next generation gets their
 * signals.
 */
ONE_COPY static int meet_signals(struct bar *b)
{
	uint32_t mine;
	int last;

	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	last = ++b->counter == b->thread_count;
	if (last) {
		b->counter = 0;
		b->generation++;
		for (uint32_t i = 1; i < b->thread_count; i++)
			pthread_cond_signal(&b->condition);
	} else {
		while (b->generation == mine)
			pthread_cond_wait(&b->condition, &b->mutex);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

static struct timespec from_now(clockid_t clock)
{
	uint64_t ns = gen.timeout_ns ? gen.timeout_ns : 1000000;
	struct timespec ts;

	clock_gettime(clock, &ts);
	ns += (uint64_t)ts.tv_nsec;
	ts.tv_sec += (time_t)(ns / NSEC_PER_SEC);
	ts.tv_nsec = (long)(ns % NSEC_PER_SEC);
	return ts;
}

ONE_COPY static int meet_timed(struct bar *b)
{
	struct timespec until;
	uint32_t mine;
	int last;

	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	last = ++b->counter == b->thread_count;
	if (last) {
		b->counter = 0;
		b->generation++;
		pthread_cond_broadcast(&b->condition);
	}
	while (!last && b->generation == mine) {
		until = from_now(CLOCK_REALTIME);
		pthread_cond_timedwait(&b->condition, &b->mutex, &until);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

ONE_COPY static int meet_clock(struct bar *b)
{
	struct timespec until;
	uint32_t mine;
	int last;

	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	last = ++b->counter == b->thread_count;
	if (last) {
		b->counter = 0;
		b->generation++;
		pthread_cond_broadcast(&b->condition);
	}
	while (!last && b->generation == mine) {
		until = from_now(CLOCK_MONOTONIC);
		pthread_cond_clockwait(&b->condition, &b->mutex, CLOCK_MONOTONIC, &until);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

/* In odd generations the barrier is open, and its members are leaving. */
ONE_COPY static int meet_two_phase(struct bar *b)
{
	int last;

	pthread_mutex_lock(&b->mutex);
	last = ++b->counter == b->thread_count;
	if (last) {
		b->leaving = b->thread_count;
		b->generation++;
		pthread_cond_broadcast(&b->condition);
	} else {
		while (!(b->generation % 2))
			pthread_cond_wait(&b->condition, &b->mutex);
	}
	if (--b->leaving == 0) {
		b->counter = 0;
		b->generation++;
		pthread_cond_broadcast(&b->all_out);
	} else {
		while (b->generation % 2)
			pthread_cond_wait(&b->all_out, &b->mutex);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

static struct bar *node_at(struct object *o, uint32_t i)
{
	return i ? &o->node[i - 1] : &o->bar;
}

/*
 * Cross one level of the tree, and the levels above it. The nodes of a level follow those of the
 * level below. @width is the number of threads that can arrive at this level.
 */
ONE_COPY static int meet_tree(struct object *o, uint32_t first, uint32_t width, uint32_t place)
{
	uint32_t nodes = (width + FAN_IN - 1) / FAN_IN;
	struct bar *b = node_at(o, first + place / FAN_IN);
	uint32_t mine;
	int last = 0;

	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	if (++b->counter == b->thread_count) {
		pthread_mutex_unlock(&b->mutex);
		last = nodes == 1 || meet_tree(o, first + nodes, nodes, place / FAN_IN);
		pthread_mutex_lock(&b->mutex);
		b->counter = 0;
		b->generation++;
		pthread_cond_broadcast(&b->condition);
	} else {
		while (b->generation == mine)
			pthread_cond_wait(&b->condition, &b->mutex);
	}
	pthread_mutex_unlock(&b->mutex);
	return last;
}

/* This function is inlined, so that its caller is the call site. */
static inline int meet(struct object *o, uint32_t member)
{
	switch ((enum kind)gen.kind) {
	case GENERATION:
		return meet_generation(&o->bar);
	case THESIS:
		return meet_thesis(&o->bar);
	case AFTER:
		return meet_after(&o->bar);
	case SIGNALS:
		return meet_signals(&o->bar);
	case TIMED:
		return meet_timed(&o->bar);
	case CLOCK:
		return meet_clock(&o->bar);
	case TWO_PHASE:
		return meet_two_phase(&o->bar);
	case TREE:
		return meet_tree(o, 0, gen.workers / gen.teams, member);
	}
	return 0;
}

/* Each site has its own line. */
#define SITE(n) GEN_SITE(n, meet((struct object *)object, member))
SITE(0)
SITE(1)
SITE(2)
SITE(3)

static gen_site *const sites[] = { site_0, site_1, site_2, site_3 };

static void make_bar(struct bar *b, uint32_t count)
{
	int scope = gen.shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;

	must(pthread_mutexattr_init(&mutex), "pthread_mutexattr_init");
	must(pthread_condattr_init(&condition), "pthread_condattr_init");
	must(pthread_mutexattr_setpshared(&mutex, scope), "pthread_mutexattr_setpshared");
	must(pthread_condattr_setpshared(&condition, scope), "pthread_condattr_setpshared");
	must(pthread_mutex_init(&b->mutex, &mutex), "pthread_mutex_init");
	must(pthread_cond_init(&b->condition, &condition), "pthread_cond_init");
	must(pthread_cond_init(&b->all_out, &condition), "pthread_cond_init");
	b->thread_count = count;
}

static void make(void *object, uint32_t count)
{
	struct object *o = (struct object *)object;
	uint32_t width = count;

	if (gen.kind != TREE) {
		make_bar(&o->bar, count);
		return;
	}
	do {
		uint32_t nodes = (width + FAN_IN - 1) / FAN_IN;

		for (uint32_t i = 0; i < nodes; i++) {
			uint32_t rest = width - i * FAN_IN;

			if (o->nodes == MAX_NODES)
				die("gen_cond: too many threads for the tree");
			make_bar(node_at(o, o->nodes++), rest < FAN_IN ? rest : FAN_IN);
		}
		width = nodes;
	} while (width > 1);
	printf("gen_cond: tree of %u nodes\n", o->nodes);
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = "gen_cond",
		.flavour = "a mutex and a condition variable",
		.kinds = kinds,
		.can = GEN_CAN_CYCLE | GEN_CAN_SHARE | GEN_CAN_TEAM,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.object_size = sizeof(struct object),
		.storage = objects,
		.make = make,
	};

	return gen_main(argc, argv, &family);
}
