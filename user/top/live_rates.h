/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What happens now: the differences of the model's sums from one look at it to the next, by barrier, thread and
 * process. Pure. Memory goes with the barriers of processes that live, not with time.
 *
 * The lost time of an interval is what its releases brought (sum of wait) and what those who are waiting now
 * have waited in it: a long wait is lost while it lasts, not all at once when it ends, and a barrier that never fills loses
 * as much each second as threads wait there.
 */
#ifndef TOP_LIVE_RATES_H
#define TOP_LIVE_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/cause.h"
#include "model/model.h"

struct live_rates;

/* A thread that has arrived and not left. */
struct live_rates_waiting {
	uint32_t tgid, inc, tid;
	uint32_t site; /* as model_crossing.site; MODEL_NONE not known */
	uint64_t object;
	uint64_t arrive_ns;
};

/* Of one thread at a barrier, or over all barriers of its process. Times in ns, of the interval. */
struct live_rates_thread {
	uint32_t thread; /* index in the model; MODEL_NONE: it has not left a barrier yet */
	uint32_t tid;
	uint64_t crossings, last; /* how often it crossed, and came last */
	uint64_t lost_ns; /* waits that ended, and what it has waited of the present one */
	uint64_t idle_ns; /* inside, of crossings that ended */
	uint64_t work_ns; /* of phases that ended here */
	uint64_t known_ns; /* of it: of which the parts are known */
	uint64_t oncpu_ns, runq_ns, blocked_ns;
	uint64_t waiting_ns; /* for how long it has been waiting; MODEL_UNKNOWN: it is not */
};

/* A barrier, or a process: then all that follow are sums over its barriers, nested ones left out. */
struct live_rates_row {
	uint32_t barrier; /* index in the model; MODEL_NONE: nobody has left it yet, or a process */
	uint32_t proc; /* index in the model */
	uint32_t site; /* of a barrier that nobody has left; MODEL_NONE not known */
	uint64_t object;
	uint64_t key; /* the same from look to look, and no other's */
	bool nested;
	bool exited; /* its process */
	uint64_t
		quiet_ns; /* nothing has happened there for so long; 0: something did in this interval */

	uint64_t episodes, incomplete, crossings; /* of the interval, as what follows */
	uint64_t lost_ns;
	uint64_t phase_n, phase_ns; /* complete episodes with a known phase time, and its sum */
	uint64_t phase_wait_ns, phase_thread_ns; /* of the same: waits; phase time x members */
	uint64_t release_n, release_ns; /* latencies */
	uint32_t team; /* most members so far */
	uint32_t waiting; /* threads that wait there now */
	uint64_t waiting_ns; /* the longest of them */
	uint32_t last_thread; /* who came last most often, index; MODEL_NONE none */
	uint64_t last_count;
	double weight[CAUSE_KINDS]; /* lost time by cause; all 0: not known */
	double weighed; /* lost time of which the cause was looked for */
	double weighed_thread_ns; /* its threads' time */
	uint64_t sum_lost_ns; /* since the first look */

	uint32_t nthreads;
	const struct live_rates_thread *threads; /* who did something; until the next look */
};

/* NULL: out of memory. */
struct live_rates *live_rates_new(void);
void live_rates_free(struct live_rates *live_rates);

/* Before each live_rates_look(): everybody who is waiting. Returns 0 or -ENOMEM. */
int live_rates_add_waiting(struct live_rates *live_rates, const struct live_rates_waiting *waiting);
/* @causes may be NULL. The first interval begins with the model. Returns 0 or -ENOMEM. */
int live_rates_look(struct live_rates *live_rates, const struct model *model,
		    const struct causes *causes, uint64_t now_ns);

/* Of the last look, valid until the next one. Rows of processes that ended go some seconds later. */
uint64_t
live_rates_interval_ns(const struct live_rates *live_rates); /* 0: nothing can be divided by it */
uint32_t live_rates_nbarriers(const struct live_rates *live_rates);
const struct live_rates_row *live_rates_barrier(const struct live_rates *live_rates, uint32_t i);
uint32_t live_rates_nprocesses(const struct live_rates *live_rates);
const struct live_rates_row *live_rates_process(const struct live_rates *live_rates, uint32_t i);

/* What an amount of the interval is each second; NAN if it had no length. */
double live_rates_per_second(const struct live_rates *live_rates, uint64_t amount);
/* Share of its phases' thread time that was lost waiting, 0 to 1; NAN if no phase ended. */
double live_rates_imbalance(const struct live_rates_row *row);
/*
 * The cause that explains most of the lost time, and its share of it; NULL: not known, or so little is lost (*balanced)
 * that it needs none.
 */
const char *live_rates_cause(const struct live_rates_row *row, double *share, bool *balanced);

#endif /* TOP_LIVE_RATES_H */
