/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of rates share. Nobody else includes it. */
#ifndef TOP_LIVE_RATES_INTERNAL_H
#define TOP_LIVE_RATES_INTERNAL_H

#include "analyse/internal.h"
#include "top/live_rates.h"
#include "base/hash.h"

/* The waits still going on that have been told as lost: what their end brings is less by them. */
struct live_rates_credit {
	uint64_t ns;
	bool overdue; /* they have ended, and the records of it have not come */
};

/* What a thread's sums at a barrier were at the last look. */
struct live_rates_thread_was {
	uint32_t thread;
	struct live_rates_credit credit;
	uint64_t crossings, last, wait_ns, idle_ns, work_ns;
	struct model_sums sums;
};

/* The sums of a barrier, as they were. */
struct live_rates_sums {
	uint64_t episodes, incomplete, crossings, wait_ns;
	uint64_t phase_n, phase_ns, phase_wait_ns, phase_thread_ns;
	uint64_t release_n, release_ns;
	double weight[CAUSE_KINDS], weighed, weighed_thread_ns;
};

/* Where threads meet: a barrier, one that nobody has left yet, or all of a process. */
struct live_rates_place {
	struct live_rates_row row;
	struct live_rates_sums was;
	struct live_rates_credit credit;
	struct live_rates_thread_was *threads_was; /* as the model's */
	uint32_t nwas, cap_was;
	struct live_rates_thread *threads;
	uint32_t nthreads, cap_threads;
	uint64_t active_ns; /* the last look at which something had happened */
	uint64_t open_ns; /* scratch: what the threads waiting now have waited in all */
	bool still; /* nothing in it: need not be cleared */
	bool hidden;
};

/* A thread that waits now. */
struct live_rates_wait {
	struct live_rates_waiting w;
	struct live_rates_place *place; /* where it waits; NULL: not known */
	bool shown;
};

struct live_rates {
	struct live_rates_place **places; /* by barrier; NULL: not looked at yet */
	uint32_t nplaces, cap_places;
	struct live_rates_place **unmet; /* barriers that nobody has left yet */
	uint32_t nunmet, cap_unmet;
	struct live_rates_place **procs; /* by process; NULL: none of its own to show */
	uint32_t nprocs, cap_procs;
	const struct live_rates_row **shown, **shown_procs;
	uint32_t nshown, cap_shown, nshown_procs, cap_shown_procs;
	struct live_rates_wait *waiting;
	uint32_t nwaiting, cap_waiting;
	struct hash by_tid; /* of those waiting: tid -> index, plus 1 */
	struct hash by_proc; /* tgid << 32 | incarnation -> index of the process */
	struct hash by_site, by_object; /* with the process -> barrier */
	uint32_t known_procs; /* that are in by_proc */
	uint64_t unmet_key;
	uint64_t begin_ns, now_ns;
	bool looked;
};

/* rates_where.c: all return 0 or -ENOMEM. */
/* A process and what is in it, a site or an object, as one number. */
uint64_t live_rates_place_key(uint32_t proc, uint64_t what);
/* New processes. */
int live_rates_know_procs(struct live_rates *r, const struct model *m);
/* Objects come and go, and what lies at their addresses: made anew each time. */
int live_rates_know_objects(struct live_rates *r);
/* Finds the place of a wait, making one where nobody has left the barrier yet. */
int live_rates_put_waiting(struct live_rates *r, struct live_rates_wait *w);
/* Of all waits: how many there are at each place, and how long. @now: CLOCK_MONOTONIC, ns. */
void live_rates_count_waiting(struct live_rates *r, uint64_t now);
void live_rates_clear_waiting(struct live_rates *r);

/* rates_take.c */
/*
 * The lost time of an interval: @ended ns of waits that ended in it, @open ns of those that go on, both from their
 * beginning; what was told of them before is the credit's.
 */
uint64_t live_rates_settle(struct live_rates_credit *c, uint64_t ended, uint64_t open);
/* The barrier's sums as they are. @causes may be NULL. */
void live_rates_take_sums(const struct model_barrier *b, const struct causes *causes,
			  uint32_t index, struct live_rates_sums *s);
/* The row of what is new in @now, which is kept for the next time. */
void live_rates_take_row(struct live_rates_place *p, const struct live_rates_sums *now);
/* The same of the barrier's threads. Returns 0 or -ENOMEM. */
int live_rates_take_threads(struct live_rates *r, const struct model *m, struct live_rates_place *p,
			    const struct model_barrier *b);
/* Those who have not left their barrier before. Returns 0 or -ENOMEM. */
int live_rates_take_newcomers(struct live_rates *r);

/* live_rates_process.c */
/* Adds a barrier's row to its process's. Returns 0 or -ENOMEM. */
int live_rates_add_to_process(struct live_rates *r, const struct live_rates_place *p);
/* When all have been added: a thread that crossed several barriers is one. */
void live_rates_merge_threads(struct live_rates_place *p);

#endif /* TOP_LIVE_RATES_INTERNAL_H */
