/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Helpers for the tests of the model: they feed it by hand, and keep its results. */
#ifndef TEST_MODEL_UTIL_H
#define TEST_MODEL_UTIL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "model/model.h"

DEFINE_CLEANUP_PTR(model_free, struct model *)

#define PID   100
#define INC   7
#define NEVER MODEL_UNKNOWN

struct kept {
	struct model_episode ep;
	struct model_member *members;
	struct model_detail *details; /* details of the members; NULL if no member has one */
};

struct run {
	struct model *model;
	struct kept *kept;
	uint32_t nkept, cap;
	uint32_t nbarriers;
	uint32_t seq[256]; /* sequence number of the last record, by tid modulo 256 */
};

static inline void keep_details(struct kept *k)
{
	k->details = NULL;
	for (uint32_t i = 0; i < k->ep.n; i++) {
		if (!k->members[i].detail)
			continue;
		if (!k->details)
			k->details = malloc(k->ep.n * sizeof(*k->details));
		assert_non_null(k->details);
		k->details[i] = *k->members[i].detail;
		k->members[i].detail = &k->details[i];
	}
}

static inline void keep_episode(void *ctx, const struct model *model,
				const struct model_episode *ep)
{
	struct run *r = ctx;
	struct kept *k;

	if (r->nkept == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->kept = realloc(r->kept, r->cap * sizeof(*r->kept));
		assert_non_null(r->kept);
	}
	k = &r->kept[r->nkept++];
	k->ep = *ep;
	k->members = malloc(ep->n * sizeof(*k->members));
	assert_non_null(k->members);
	memcpy(k->members, ep->members, ep->n * sizeof(*k->members));
	k->ep.members = k->members;
	keep_details(k);
}

static inline void keep_barrier(void *ctx, const struct model *model, uint32_t index,
				struct model_barrier *barrier)
{
	struct run *r = ctx;

	assert_int_equal(index, r->nbarriers);
	r->nbarriers++;
}

static inline struct run *run_new(uint64_t start_ns)
{
	struct run *r = calloc(1, sizeof(*r));
	struct model_ops ops = { .ctx = r, .barrier = keep_barrier, .episode = keep_episode };

	assert_non_null(r);
	r->model = model_new(&ops, start_ns);
	assert_non_null(r->model);
	return r;
}

static inline void run_free(struct run *r)
{
	for (uint32_t i = 0; i < r->nkept; i++) {
		free(r->kept[i].members);
		free(r->kept[i].details);
	}
	free(r->kept);
	model_free(r->model);
	free(r);
}

DEFINE_CLEANUP_PTR(run_free, struct run *)

/*
 * Begin with a process that was traced from its start, so that no crossing can be missing before
 * the first record.
 */
static inline void run_launched(struct run *r, uint64_t t_ns)
{
	assert_int_equal(model_add_process(r->model, PID, INC, 0, 0, t_ns, true, "prog"), 0);
}

static inline struct model_crossing crossing(uint32_t tid, uint64_t object, uint32_t count,
					     uint64_t arrive, uint64_t depart)
{
	return (struct model_crossing){
		.tgid = PID,
		.inc = INC,
		.tid = tid,
		.site = 1,
		.count = count,
		.object = object,
		.arrive_ns = arrive,
		.depart_ns = depart,
		.family = 1,
		.flags = depart == NEVER ? MODEL_CROSSING_ABANDONED : 0,
	};
}

static inline void run_feed(struct run *r, struct model_crossing c)
{
	c.seq = ++r->seq[c.tid % 256];
	assert_int_equal(model_add_crossing(r->model, &c), 0);
}

/* Let @tid cross the barrier at @object, which has a count of @count. */
static inline void cross(struct run *r, uint32_t tid, uint64_t object, uint32_t count,
			 uint64_t arrive, uint64_t depart)
{
	run_feed(r, crossing(tid, object, count, arrive, depart));
}

/* One crossing of a table: the arguments of cross(), then optional fields. */
struct crossing_row {
	uint32_t tid;
	uint64_t object;
	uint32_t count;
	uint64_t arrive, depart;
	uint32_t site; /* 0: as in crossing() */
	uint32_t flags; /* added to the flags of crossing() */
	uint64_t shared;
	uint32_t tgid, inc; /* 0: PID and INC */
};

static inline void cross_rows(struct run *r, const struct crossing_row *rows, size_t n)
{
	struct model_crossing c;

	for (size_t i = 0; i < n; i++) {
		c = crossing(rows[i].tid, rows[i].object, rows[i].count, rows[i].arrive,
			     rows[i].depart);
		c.site = rows[i].site ? rows[i].site : c.site;
		c.flags |= rows[i].flags;
		c.shared = rows[i].shared;
		if (rows[i].tgid) {
			c.tgid = rows[i].tgid;
			c.inc = rows[i].inc;
		}
		run_feed(r, c);
	}
}

/*
 * Add the crossings of a table in order: cross_all(r, { tid, object, count, arrive, depart }, ...).
 */
#define cross_all(r, ...) cross_rows(r, ROWS(struct crossing_row, __VA_ARGS__))

/* Lose the next record of @tid. */
static inline void lose(struct run *r, uint32_t tid)
{
	r->seq[tid % 256]++;
}

static inline const struct model_member *member_of(const struct model_episode *ep, uint32_t tid)
{
	for (uint32_t i = 0; i < ep->n; i++)
		if (ep->members[i].tid == tid)
			return &ep->members[i];
	return NULL;
}

static inline const struct model_thread *thread_of(const struct run *r, uint32_t tid)
{
	const struct model_thread *t, *found = NULL;

	for (uint32_t i = 0; i < model_nthreads(r->model); i++) {
		t = model_thread(r->model, i);
		if (t->tid == tid)
			found = t;
	}
	return found;
}

/* Return the tids of an episode in the order of arrival, as text: "1 2 3". */
static inline const char *tids(const struct model_episode *ep, char buf[256])
{
	size_t n = 0;

	buf[0] = 0;
	for (uint32_t i = 0; i < ep->n && n < 200; i++)
		n += (size_t)snprintf(buf + n, 256 - n, "%s%u", i ? " " : "", ep->members[i].tid);
	return buf;
}

#define assert_tids(ep, text)                              \
	do {                                               \
		char buf_[256];                            \
		assert_string_equal(tids(ep, buf_), text); \
	} while (0)

/* Return the episode that was reported as number @i, from 0. */
static inline const struct model_episode *ep(const struct run *r, uint32_t i)
{
	assert_true(i < r->nkept);
	return &r->kept[i].ep;
}

static inline void assert_ep(const struct run *r, uint32_t i, const char *members,
			     enum model_state state, uint32_t why)
{
	char buf[256];

	if (strcmp(tids(ep(r, i), buf), members) || ep(r, i)->state != state ||
	    ep(r, i)->why != why)
		fail_msg("episode %u: members %s, state %d, why %#x, expected: %s, %d, %#x", i, buf,
			 ep(r, i)->state, ep(r, i)->why, members, state, why);
}

struct episode_row {
	const char *members;
	enum model_state state;
	uint32_t why;
};

static inline void assert_episode_rows(const struct run *r, const struct episode_row *rows,
				       uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_ep(r, i, rows[i].members, rows[i].state, rows[i].why);
	assert_int_equal(r->nkept, n);
}

/*
 * Check that exactly these episodes were reported, in this order: assert_episodes(r, { tids, state,
 * why }, ...).
 */
#define assert_episodes(r, ...) assert_episode_rows(r, ROWS(struct episode_row, __VA_ARGS__))

/* Return a pseudo-random number, from a sequence that is the same in every run. */
static inline uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL;
}

static inline uint64_t rnd_to(uint64_t *state, uint64_t n)
{
	return n ? (rnd(state) >> 11) % n : 0;
}

/* Let three threads cross @object without a count. The last thread leaves at 90. */
static inline void cross_uncounted(struct run *r, uint64_t object)
{
	cross(r, 1, object, 0, 10, 31);
	cross(r, 3, object, 0, 30, 32);
	cross(r, 2, object, 0, 20, 90);
}

/* Let threads 1 and 2 cross @object. Then thread 2 ends, and another thread reuses its number. */
static inline void cross_and_replace(struct run *r, uint64_t object)
{
	cross(r, 1, object, 2, 10, 21);
	cross(r, 2, object, 2, 20, 22);
	assert_int_equal(model_end_thread(r->model, PID, INC, 2, 50, "old"), 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, 2, 60), 0);
}

/*
 * Set up a run as the state of a test: with nothing known, or with a process that was launched at
 * 0.
 */
static inline int setup_run(void **state)
{
	*state = run_new(0);
	return 0;
}

static inline int setup_launched(void **state)
{
	setup_run(state);
	run_launched(*state, 0);
	return 0;
}

static inline int teardown_run(void **state)
{
	run_free(*state);
	return 0;
}

#define empty_run_test(f) cmocka_unit_test_setup_teardown(f, setup_run, teardown_run)
#define launched_test(f)  cmocka_unit_test_setup_teardown(f, setup_launched, teardown_run)

#endif /* TEST_MODEL_UTIL_H */
