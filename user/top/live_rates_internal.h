/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Declarations that only the files of live_rates share. */
#ifndef TOP_LIVE_RATES_INTERNAL_H
#define TOP_LIVE_RATES_INTERNAL_H

#include "analyse/internal.h"
#include "top/live_rates.h"
#include "base/hash.h"

/*
 * The part of unfinished waits that was already reported as lost. It is subtracted when the waits
 * end.
 */
struct live_rates_credit {
	uint64_t ns;
	bool overdue; /* the waits have ended, but their records are still missing */
};

/* The sums of a thread at a barrier at the last look. */
struct live_rates_thread_was {
	uint32_t thread;
	struct live_rates_credit credit;
	uint64_t crossings, last, wait_ns, idle_ns, work_ns;
	struct model_sums sums;
};

/* The sums of a barrier at the last look. */
struct live_rates_sums {
	uint64_t episodes, incomplete, crossings, wait_ns;
	uint64_t phase_n, phase_ns, phase_wait_ns, phase_thread_ns;
	uint64_t release_n, release_ns;
	double weight[CAUSE_KINDS], weighed, weighed_thread_ns;
};

/* A place with a row: a barrier, a barrier without departures yet, or a process. */
struct live_rates_place {
	struct live_rates_row row;
	struct live_rates_sums was;
	struct live_rates_credit credit;
	/* sums at the last look, in the order of the model's threads */
	struct live_rates_thread_was *threads_was;
	uint32_t nwas, cap_was;
	struct live_rates_thread *threads;
	uint32_t nthreads, cap_threads;
	uint64_t active_ns; /* time of the last look with any activity */
	uint64_t open_ns; /* scratch: sum of the current waits so far */
	bool still; /* all its rates are 0 already and need not be computed */
	bool hidden;
};

/* A thread that waits now. */
struct live_rates_wait {
	struct live_rates_waiting w;
	struct live_rates_place *place; /* the place where it waits; NULL: unknown */
	bool shown;
};

struct live_rates {
	/* places by index of the barrier; NULL: not looked at yet */
	struct live_rates_place **places;
	uint32_t nplaces, cap_places;
	struct live_rates_place **unmet; /* barriers without departures yet */
	uint32_t nunmet, cap_unmet;
	struct live_rates_place **procs; /* places by index of the process; NULL: no row */
	uint32_t nprocs, cap_procs;
	const struct live_rates_row **shown, **shown_procs;
	uint32_t nshown, cap_shown, nshown_procs, cap_shown_procs;
	struct live_rates_wait *waiting;
	uint32_t nwaiting, cap_waiting;
	struct hash by_tid; /* tid of a waiting thread -> index in .waiting, plus 1 */
	struct hash by_proc; /* tgid << 32 | incarnation -> index of the process */
	struct hash by_site, by_object; /* live_rates_place_key() -> barrier */
	uint32_t known_procs; /* number of processes in by_proc */
	uint64_t unmet_key;
	uint64_t begin_ns, now_ns;
	bool looked;
};

/* live_rates_where.c: functions that return int return 0 or -ENOMEM. */
/* Combine a process and a site or an object into one key. */
uint64_t live_rates_place_key(uint32_t proc, uint64_t what);
/* Add new processes to by_proc. */
int live_rates_know_procs(struct live_rates *r, const struct model *m);
/*
 * Rebuild by_object, because barrier objects are created and destroyed, and addresses are reused.
 */
int live_rates_know_objects(struct live_rates *r);
/* Set the place of a wait. If the barrier has no departures yet, add a place for it. */
int live_rates_put_waiting(struct live_rates *r, struct live_rates_wait *w);
/* Count the waits at each place, and sum their lengths up to @now (CLOCK_MONOTONIC, ns). */
void live_rates_count_waiting(struct live_rates *r, uint64_t now);
void live_rates_clear_waiting(struct live_rates *r);

/* live_rates_take.c */
/*
 * Return the lost time of an interval: @ended ns of waits that ended in it, plus @open ns of waits
 * that still last, minus what @c says was reported before. @ended and @open count from the
 * beginning of each wait.
 */
uint64_t live_rates_settle(struct live_rates_credit *c, uint64_t ended, uint64_t open);
/* Take the current sums of a barrier. @causes may be NULL. */
void live_rates_take_sums(const struct model_barrier *b, const struct causes *causes,
			  uint32_t index, struct live_rates_sums *s);
/*
 * Fill the row with the differences between @now and the last look, and keep @now for the next
 * look.
 */
void live_rates_take_row(struct live_rates_place *p, const struct live_rates_sums *now);
/*
 * Fill the rows of the barrier's threads with the differences since the last look. Return 0 or
 * -ENOMEM.
 */
int live_rates_take_threads(struct live_rates *r, const struct model *m, struct live_rates_place *p,
			    const struct model_barrier *b);
/* Add rows for waiting threads that have never departed from the barrier. Return 0 or -ENOMEM. */
int live_rates_take_newcomers(struct live_rates *r);

/* live_rates_process.c */
/* Add a barrier's row to the row of its process. Return 0 or -ENOMEM. */
int live_rates_add_to_process(struct live_rates *r, const struct live_rates_place *p);
/*
 * Merge the rows of each thread that crossed several barriers. Call this after all barriers were
 * added.
 */
void live_rates_merge_threads(struct live_rates_place *p);

#endif /* TOP_LIVE_RATES_INTERNAL_H */
