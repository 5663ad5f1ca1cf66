/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Current rates: the differences of the model's sums between two looks at it, by barrier, thread
 * and process. This code reads no clock and no files. Its memory grows with the barriers of live
 * processes, not with time.
 *
 * Only the part of a wait that lies in an interval adds to the lost time of the interval, whether
 * the wait has ended or not. A long wait thus counts while it lasts, not all at once at its end. A
 * barrier that never fills loses one second per second for each thread that waits there.
 */
#ifndef TOP_LIVE_RATES_H
#define TOP_LIVE_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/cause.h"
#include "model/model.h"

struct live_rates;

/* A thread that has arrived at a barrier and has not departed yet. */
struct live_rates_waiting {
	uint32_t tgid, inc, tid;
	uint32_t site; /* call site, as model_crossing.site; MODEL_NONE: unknown */
	uint64_t object;
	uint64_t arrive_ns;
};

/*
 * One thread at one barrier, or at all barriers of its process. Sums are over the interval, in ns
 * or numbers.
 */
struct live_rates_thread {
	/* index in the model; MODEL_NONE: the thread has not departed from a barrier yet */
	uint32_t thread;
	uint32_t tid;
	/* number of crossings, and of crossings in which it arrived last */
	uint64_t crossings, last;
	/* time of waits in the interval, including the current wait so far */
	uint64_t lost_ns;
	/* time inside barriers, summed over crossings that ended in the interval */
	uint64_t idle_ns;
	uint64_t work_ns; /* work in the phases that ended here in the interval */
	uint64_t known_ns; /* part of work_ns for which the next three are known */
	uint64_t oncpu_ns, runq_ns, blocked_ns;
	/* length of its current wait so far; MODEL_UNKNOWN: it is not waiting */
	uint64_t waiting_ns;
};

/* A barrier, or a process with the sums over its barriers except nested ones. */
struct live_rates_row {
	/* index in the model; MODEL_NONE: there are no departures yet, or the row is a process */
	uint32_t barrier;
	uint32_t proc; /* index in the model */
	/* call site, only set for a barrier without departures; MODEL_NONE: unknown */
	uint32_t site;
	uint64_t object;
	uint64_t key; /* unique, and the same at every look */
	bool nested;
	bool exited; /* its process has exited */
	uint64_t quiet_ns; /* ns since the last change; 0: something changed in this interval */

	/* this and the following sums cover the interval */
	uint64_t episodes, incomplete, crossings;
	uint64_t lost_ns;
	/* number of complete episodes with a known phase time, and the sum of these times */
	uint64_t phase_n, phase_ns;
	/*
	 * sums over these episodes: the waits, and the phase times multiplied by the number of
	 * threads
	 */
	uint64_t phase_wait_ns, phase_thread_ns;
	uint64_t release_n, release_ns; /* release latencies: number and sum */
	uint32_t team; /* largest number of threads in an episode so far */
	uint32_t waiting; /* number of threads that wait at the barrier now */
	uint64_t waiting_ns; /* longest wait of these threads so far, ns */
	/* index of the thread that arrived last most often; MODEL_NONE: none */
	uint32_t last_thread;
	uint64_t last_count;
	double weight[CAUSE_KINDS]; /* lost time by cause; all 0: unknown */
	double weighed; /* lost time with a classified cause */
	double weighed_thread_ns; /* thread time of the episodes with a classified cause */
	uint64_t sum_lost_ns; /* lost time since the first look */

	uint32_t nthreads;
	/* threads with any activity; valid until the next look */
	const struct live_rates_thread *threads;
};

/* Return NULL when out of memory. */
struct live_rates *live_rates_new(void);
void live_rates_free(struct live_rates *live_rates);

/*
 * Add a waiting thread. Before each live_rates_look(), call this for every thread that waits.
 * Return 0 or -ENOMEM.
 */
int live_rates_add_waiting(struct live_rates *live_rates, const struct live_rates_waiting *waiting);
/*
 * Compute the rates of the interval that ends at @now_ns. The interval begins at the last look. The
 * first interval begins when the model begins. @causes may be NULL. Return 0 or -ENOMEM.
 */
int live_rates_look(struct live_rates *live_rates, const struct model *model,
		    const struct causes *causes, uint64_t now_ns);

/*
 * Results of the last look, valid until the next look. Rows of exited processes are kept for some
 * seconds.
 */
/* Return the length of the interval; 0: no rates exist. */
uint64_t live_rates_interval_ns(const struct live_rates *live_rates);
uint32_t live_rates_nbarriers(const struct live_rates *live_rates);
const struct live_rates_row *live_rates_barrier(const struct live_rates *live_rates, uint32_t i);
uint32_t live_rates_nprocesses(const struct live_rates *live_rates);
const struct live_rates_row *live_rates_process(const struct live_rates *live_rates, uint32_t i);

/*
 * Return an amount that was counted in the interval as a rate per second; NAN if the interval has
 * no length.
 */
double live_rates_per_second(const struct live_rates *live_rates, uint64_t amount);
/*
 * Return the share of thread time in the row's phases that was lost to waiting, 0 to 1; NAN if no
 * phase ended.
 */
double live_rates_imbalance(const struct live_rates_row *row);
/*
 * Return the cause that explains most of the lost time, and its share of that time. Return NULL if
 * the cause is unknown, or if so little time is lost that no cause is named. In the latter case,
 * set *balanced.
 */
const char *live_rates_cause(const struct live_rates_row *row, double *share, bool *balanced);

#endif /* TOP_LIVE_RATES_H */
