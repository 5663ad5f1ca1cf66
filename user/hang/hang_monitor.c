// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/hang_monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/msg.h"
#include "base/number.h"
#include "hang/hang_query.h"
#include "hang/hang_worker.h"
#include "hang/arrivals.h"
#include "target/proc.h"

#define LOOK_NS	 1000000000ULL /* time between two looks at the arrivals */
#define LOOK_MIN 4 /* minimum number of looks within the time of --hang */

/* A barrier with waiting threads. */
struct group_state {
	uint32_t known; /* index of its hang in .known; HANG_NONE: none */
	bool due; /* it is time to examine and report the hang */
};

/* A hang that has been reported, or is about to be. */
struct known {
	uint32_t pid, inc, tid; /* process and thread of the first arrival */
	uint64_t since_ns;
	struct model_crossing at; /* for model_team() */
	uint32_t reported; /* number of reports */
	uint64_t next_ns; /* time of the next report */
	bool seen; /* found in the current look */
	bool circle; /* ranks wait for messages from each other, and not at a barrier */
	bool over; /* the barrier has opened */
	bool lasts; /* the process ended before the barrier opened */
	struct report_hang hang; /* the last report, if .reported is not 0 */
};

struct hang_monitor {
	struct hang_env env;
	uint64_t next_look_ns;
	struct arrivals arrivals;
	struct group_state *groups; /* by group of .arrivals */
	uint32_t cap_groups;
	struct known *known;
	uint32_t nknown, known_cap;
	struct report_hang *last; /* result of hang_monitor_last() */
	struct hang_worker *hang_worker;
	uint64_t crossings; /* total number of crossings at the last look */
	uint64_t quiet_ns; /* no crossing since this time; 0: unknown */
	bool failed; /* out of memory */
	bool refused; /* the missing permission to examine a process was reported */
};

int hang_monitor_new(const struct hang_env *env, struct hang_monitor **out)
{
	struct hang_monitor *h = calloc(1, sizeof(*h));

	*out = NULL;
	if (!h || hang_worker_new(env->debuginfod, &h->hang_worker)) {
		free(h);
		return -ENOMEM;
	}
	h->env = *env;
	*out = h;
	return 0;
}

void hang_monitor_free(struct hang_monitor *h)
{
	if (!h)
		return;
	hang_worker_free(h->hang_worker);
	array_for_each (k, h->known, h->nknown)
		report_hang_free(&k->hang);
	arrivals_free(&h->arrivals);
	free(h->groups);
	free(h->known);
	free(h->last);
	free(h);
}

/* --- known hangs ------------------------------------------------------------------------------ */

/* Add a hang. Return its index, or HANG_NONE when out of memory. */
static uint32_t add_known(struct hang_monitor *h, struct known known)
{
	if (grow(h->known, h->known_cap, h->nknown + 1))
		return HANG_NONE;
	h->known[h->nknown] = known;
	return h->nknown++;
}

/*
 * Return the hang with this first arrival. Add the hang if it is new. Return HANG_NONE when out of
 * memory.
 */
static uint32_t find_known(struct hang_monitor *h, const struct arrival *p)
{
	uint32_t i;

	for (i = 0; i < h->nknown; i++) {
		struct known *k = &h->known[i];

		if (!k->over && !k->lasts && k->tid == p->tid && k->inc == p->inc &&
		    k->since_ns == p->since_ns)
			return i;
	}
	i = add_known(h, (struct known){ .pid = p->pid,
					 .inc = p->inc,
					 .tid = p->tid,
					 .since_ns = p->since_ns,
					 .at = arrival_crossing(p),
					 .next_ns = p->since_ns + h->env.after_ns });
	h->failed |= i == HANG_NONE;
	return i;
}

/* Return whether the records fed so far show that the barrier has opened. */
static bool has_opened(const struct hang_monitor *h, const struct known *k)
{
	struct model_team team;
	struct model_team_member one;

	if (k->circle)
		return false;
	return model_team(h->env.model, &k->at, &one, 1, &team) && team.n &&
	       team.release_ns >= k->since_ns;
}

static void report_over(struct hang_monitor *h, struct known *k, uint64_t now)
{
	k->over = true;
	if (!k->reported)
		return;
	k->hang.over = true;
	k->hang.t_ns = now;
	k->hang.waited_ns = now - k->since_ns;
	k->hang.reported = k->reported;
	h->env.report(h->env.report_ctx, &k->hang);
}

/* Close the hangs that the current look did not see: no thread is inside the barrier any more. */
static void close_known(struct hang_monitor *h, uint64_t now)
{
	array_for_each (k, h->known, h->nknown) {
		if (k->over || k->lasts || k->seen)
			continue;
		/*
		 * If the process was killed, its threads never left the barrier. In a live process
		 * the barrier has opened, even if has_opened() does not show it yet because records
		 * are delayed.
		 */
		if (!has_opened(h, k) && !proc_alive((int)k->pid)) {
			k->lasts = true;
			k->hang.waited_ns = now - k->since_ns;
		} else {
			report_over(h, k, now);
		}
	}
}

/*
 * Drop the hangs that are over. Also drop hangs that were never reported before their process
 * ended.
 */
static void forget_known(struct hang_monitor *h)
{
	uint32_t i, n = 0;

	for (i = 0; i < h->nknown; i++) {
		if ((h->known[i].over || h->known[i].lasts) && !h->known[i].reported)
			continue;
		if (h->known[i].over) {
			report_hang_free(&h->known[i].hang);
			continue;
		}
		h->known[n++] = h->known[i];
	}
	h->nknown = n;
}

static bool find_due(struct hang_monitor *h, uint64_t now)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < h->nknown; i++)
		h->known[i].seen = h->known[i].circle && h->known[i].since_ns == h->quiet_ns &&
				   proc_alive((int)h->known[i].pid);
	for (i = 0; i < h->arrivals.ngroups; i++) {
		const struct arrival *p = &h->arrivals.all[h->arrivals.groups[i].first];
		struct group_state *g = &h->groups[i];

		*g = (struct group_state){ .known = HANG_NONE };
		if (now < p->since_ns || now - p->since_ns < h->env.after_ns)
			continue;
		g->known = find_known(h, p);
		if (g->known == HANG_NONE)
			continue;
		h->known[g->known].seen = true;
		g->due = now >= h->known[g->known].next_ns;
		any |= g->due;
	}
	return any;
}

/* --- the question ----------------------------------------------------------------------------- */

static int add_group(struct hang_monitor *h, uint32_t group, struct hang_job *job)
{
	int err = hang_query_add_barrier(&h->env, &h->arrivals, group, &job->question);

	if (err || !h->groups[group].due)
		return err;
	job->which[job->n] = job->question.nbarriers - 1;
	job->known[job->n++] = h->groups[group].known;
	h->groups[group].due = false;
	return 0;
}

/* Complete the job and start it, or free it. Return 0 or -errno. */
static int start_job(struct hang_monitor *h, struct hang_job *job)
{
	int err = hang_query_add_numbers(&h->env, &job->question);

	if (!err)
		err = hang_worker_start(h->hang_worker, job);
	if (err)
		hang_job_free(job);
	return err;
}

/*
 * Start a job for one barrier that is due, and for all other barriers at which threads of the same
 * processes wait.
 */
static int ask(struct hang_monitor *h)
{
	struct hang_job *job = NULL;
	bool *taken = NULL, more = true;
	uint32_t i, first;
	int err;

	for (first = 0; first < h->arrivals.ngroups && !h->groups[first].due; first++)
		;
	if (first == h->arrivals.ngroups)
		return 0;
	taken = calloc(h->arrivals.ngroups, sizeof(*taken));
	err = taken ? hang_job_new(h->arrivals.ngroups, &job) : -ENOMEM;
	if (!err) {
		taken[first] = true;
		err = add_group(h, first, job);
	}
	while (!err && more) {
		more = false;
		for (i = 0; i < h->arrivals.n && !err; i++) {
			uint32_t g = h->arrivals.all[i].group;

			if (taken[g] || !hang_query_is_of(&job->question, h->arrivals.all[i].pid))
				continue;
			taken[g] = more = true;
			err = add_group(h, g, job);
		}
	}
	if (err)
		hang_job_free(job);
	else
		err = start_job(h, job);
	free(taken);
	return err;
}

static void note_rank(void *ctx, uint32_t tgid, uint32_t rank)
{
	struct hang_collect_question *q = ctx;

	(void)rank;
	if (proc_alive((int)tgid) && !grow(q->pids, q->pids_cap, q->npids + 1))
		q->pids[q->npids++] = tgid;
}

/* Find a job with several ranks that are alive, and put their processes into the question. */
static void find_job(const struct hang_monitor *h, struct hang_collect_question *q)
{
	uint32_t i;

	for (i = 0; i < model_nprocs(h->env.model) && q->npids < 2; i++) {
		const struct model_proc *p = model_proc(h->env.model, i);

		q->npids = 0;
		if (!p->exited)
			ranks_each(h->env.ranks, p->tgid, p->inc, note_rank, q);
	}
}

static uint32_t find_circle(struct hang_monitor *h)
{
	uint32_t i;

	for (i = 0; i < h->nknown; i++)
		if (h->known[i].circle && h->known[i].since_ns == h->quiet_ns)
			return i;
	return add_known(h, (struct known){ .circle = true,
					    .seen = true,
					    .since_ns = h->quiet_ns,
					    .next_ns = h->quiet_ns + h->env.after_ns });
}

/*
 * Ranks that wait for messages from each other arrive at no barrier. So examine the ranks if there
 * was no crossing for the time of --hang.
 */
static int ask_circle(struct hang_monitor *h, uint64_t now)
{
	uint64_t crossings = model_totals(h->env.model)->crossings;
	struct hang_job *job = NULL;
	uint32_t known;
	int err = 0;

	if (crossings != h->crossings || !h->quiet_ns) {
		h->crossings = crossings;
		h->quiet_ns = now;
	}
	if (now - h->quiet_ns < h->env.after_ns || hang_worker_has(h->hang_worker))
		return 0;
	known = find_circle(h);
	if (known == HANG_NONE)
		return -ENOMEM;
	if (now < h->known[known].next_ns)
		return 0;
	h->known[known].next_ns = now + h->env.after_ns;
	err = hang_job_new(1, &job);
	if (err)
		return err;
	find_job(h, &job->question);
	if (job->question.npids < 2) {
		hang_job_free(job);
		return 0;
	}
	h->known[known].pid = job->question.pids[0];
	job->which[job->n] = HANG_NONE;
	job->known[job->n++] = known;
	return start_job(h, job);
}

/* --- the results ------------------------------------------------------------------------------ */

static void report_found(struct hang_monitor *h, struct known *k, struct report_hang *found)
{
	uint64_t age = number_less(found->t_ns, k->since_ns);

	/* The barrier may have opened during the look. */
	if (!k->circle && (!ingest_is_inside(h->env.ingest, k->inc, k->tid) || has_opened(h, k)))
		return;
	if (k->circle)
		k->pid = found->pid;
	found->reported = k->reported++;
	h->env.report(h->env.report_ctx, found);
	report_hang_free(&k->hang);
	k->hang = *found;
	memset(found, 0, sizeof(*found));
	k->next_ns = k->since_ns + 2 * (age > h->env.after_ns ? age : h->env.after_ns);
}

/*
 * Remember the threads that left without a recorded departure: until they arrive again, they are at
 * no barrier.
 */
static void note_stale(struct hang_monitor *h, const struct hang_collect_question *q)
{
	array_for_each (b, q->barriers, q->nbarriers)
		array_for_each (a, b->arrived, b->narrived) {
			if (a->stale && arrivals_set_stale(&h->arrivals, a->tid, a->since_ns))
				h->failed = true;
		}
}

static void take_job(struct hang_monitor *h, struct hang_job *job)
{
	uint32_t i;

	note_stale(h, &job->question);
	for (i = 0; i < job->n; i++) {
		struct known *k = &h->known[job->known[i]];

		if (arrivals_is_stale(&h->arrivals, k->tid, k->since_ns))
			k->over = true; /* the other arrivals at the barrier are a new hang */
		else if (!job->err[i])
			report_found(h, k, &job->out[i]);
		else
			/* The hang is over, or its processes cannot be read: try again later. */
			k->next_ns += h->env.after_ns + (k->next_ns - k->since_ns);
	}
	if ((job->look_err == -EACCES || job->look_err == -EPERM) && !h->refused) {
		h->refused = true;
		msg_warn("a barrier hangs, but its process cannot be examined: %s",
			 strerror(-job->look_err));
	}
	hang_job_free(job);
}

static int look(struct hang_monitor *h, uint64_t now)
{
	int err = arrivals_look(&h->arrivals, &h->env);

	if (!err)
		err = ask_circle(h, now);
	if (err || hang_worker_has(h->hang_worker) ||
	    (!h->nknown && !arrivals_old(&h->arrivals, now, h->env.after_ns)))
		return err;
	err = arrivals_group(&h->arrivals, &h->env);
	if (!err)
		err = grow(h->groups, h->cap_groups, h->arrivals.ngroups);
	if (err)
		return err;
	if (find_due(h, now))
		err = ask(h);
	if (err && err != -ENOMEM) {
		msg_warn("cannot look for hangs any more: %s", strerror(-err));
		h->env.after_ns = 0;
		err = 0;
	}
	if (!hang_worker_has(h->hang_worker)) {
		/* Do this only while no job runs, because a job refers to hangs by index. */
		close_known(h, now);
		forget_known(h);
	}
	return h->failed ? -ENOMEM : err;
}

int hang_monitor_step(struct hang_monitor *h, uint64_t now)
{
	uint64_t every = h->env.after_ns / LOOK_MIN;
	struct hang_job *job;

	if (!h->env.after_ns)
		return 0;
	job = hang_worker_take(h->hang_worker, false);
	if (job) {
		take_job(h, job);
		/* More barriers may be due. */
		h->next_look_ns = now;
	}
	if (hang_worker_has(h->hang_worker) || now < h->next_look_ns)
		return 0;
	h->next_look_ns = now + (every < LOOK_NS ? every : LOOK_NS);
	return look(h, now);
}

void hang_monitor_settle(struct hang_monitor *h)
{
	struct hang_job *job = hang_worker_take(h->hang_worker, true);

	if (job)
		take_job(h, job);
}

const struct report_hang *hang_monitor_last(struct hang_monitor *h, uint64_t now, uint32_t *n)
{
	uint32_t i;

	*n = 0;
	free(h->last);
	h->last = calloc(h->nknown + 1u, sizeof(*h->last));
	for (i = 0; h->last && i < h->nknown; i++) {
		struct known *k = &h->known[i];

		if (k->over || !k->reported)
			continue;
		if (has_opened(h, k)) {
			report_over(h, k, now);
			continue;
		}
		if (!k->lasts)
			k->hang.waited_ns = now - k->since_ns;
		h->last[(*n)++] = k->hang;
	}
	return h->last;
}
