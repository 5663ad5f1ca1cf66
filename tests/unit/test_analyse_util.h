/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the tests of causes: constructed episodes of threads that a model knows. */
#ifndef TEST_ANALYSE_UTIL_H
#define TEST_ANALYSE_UTIL_H

#include "test_model_util.h"

#include <math.h>

#include "analyse/internal.h"

#define A  0x1000
#define B  0x2000
#define MS 1000000ULL

#define TID(i) (101 + (i)) /* tid of thread i */
#define MOST   8

/* A constructed episode, and all that it points to. */
struct made_episode {
	struct model_episode ep;
	struct model_member members[MOST];
	struct model_detail details[MOST];
};

/*
 * Return a model that knows threads 0..n-1 (which are also their indexes) and barriers 0 (at A) and
 * 1 (at B).
 */
static inline struct run *known_threads(uint32_t n)
{
	struct run *r = run_new(0);
	struct model_crossing c;

	run_launched(r, 0);
	for (uint32_t k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < n; i++) {
			c = crossing(TID(i), k ? B : A, n, 10 + 20 * k, 20 + 20 * k);
			c.site = k;
			run_feed(r, c);
		}
	}
	assert_int_equal(model_advance(r->model, 100), 0);
	assert_int_equal(r->nkept, 2);
	for (uint32_t i = 0; i < n; i++)
		assert_fields(model_thread(r->model, i), IS(tid, TID(i)), IS(ordinal, i));
	return r;
}

/*
 * Let threads @threads[0..n-1] cross @barrier: thread i left the previous barrier at @from[i], and
 * arrives after working for work[i]. Members are sorted by arrival. All of their time is on a CPU
 * unless the test changes that.
 */
static inline void cross_at(struct made_episode *m, uint32_t barrier, uint32_t n,
			    const uint32_t *threads, const uint64_t *from, const uint64_t *work)
{
	uint64_t last = 0, first = MODEL_UNKNOWN, earliest = MODEL_UNKNOWN;
	struct model_member *mem, swap;

	memset(m, 0, sizeof(*m));
	for (uint32_t i = 0; i < n; i++) {
		mem = &m->members[i];
		mem->thread = threads ? threads[i] : i;
		mem->tid = TID(mem->thread);
		mem->arrive_ns = from[i] + work[i];
		mem->work_ns = work[i];
		mem->flags = MODEL_CROSSING_ACCOUNTED;
		if (mem->arrive_ns > last)
			last = mem->arrive_ns;
		if (mem->arrive_ns < first)
			first = mem->arrive_ns;
		if (from[i] < earliest)
			earliest = from[i];
	}
	for (uint32_t i = 1; i < n; i++) {
		for (uint32_t j = i; j && m->members[j].arrive_ns < m->members[j - 1].arrive_ns;
		     j--) {
			swap = m->members[j];
			m->members[j] = m->members[j - 1];
			m->members[j - 1] = swap;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		mem = &m->members[i];
		mem->wait_ns = last - mem->arrive_ns;
		mem->depart_ns = last;
		mem->latency_ns = 0;
		m->details[i].oncpu_ns = mem->work_ns;
		mem->detail = &m->details[i];
	}
	m->ep = (struct model_episode){
		.barrier = barrier,
		.release_ns = last,
		.phase_ns = last - earliest,
		.phase_from = MODEL_NONE,
		.barrier_ns = last - first,
		.count = n,
		.n = n,
		.state = MODEL_COMPLETE,
		.members = m->members,
	};
}

/* Return the detail of a thread, which the test may change. */
static inline struct model_detail *detail_of(struct made_episode *m, uint32_t thread)
{
	for (uint32_t i = 0; i < m->ep.n; i++)
		if (m->members[i].thread == thread)
			return &m->details[i];
	fail_msg("thread %u is not there", thread);
	return NULL;
}

/* Turn @ns of the thread's time on a CPU into a block, and return that block. */
static inline struct model_block *blocked(struct made_episode *m, uint32_t thread,
					  enum model_blocked reason, uint64_t ns)
{
	struct model_detail *d = detail_of(m, thread);

	d->oncpu_ns -= ns;
	d->blocked_ns[reason] += ns;
	d->block.reason = (uint8_t)reason;
	d->block.ns = ns;
	return &d->block;
}

#endif /* TEST_ANALYSE_UTIL_H */
