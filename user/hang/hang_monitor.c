// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/hang_monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/msg.h"
#include "hang/hang_query.h"
#include "hang/hang_worker.h"
#include "hang/arrivals.h"
#include "target/proc.h"

#define LOOK_NS	 1000000000ULL /* between two looks at who has come */
#define LOOK_MIN 4 /* of --hang, where that is shorter */

/* Of one barrier at which somebody waits: what is to be asked of it. */
struct matter {
	uint32_t known; /* index of what has been told of it; HANG_NONE */
	bool due;
};

/* A hang that has been told of, or is about to be. */
struct known {
	uint32_t pid, inc, tid; /* of the first that came */
	uint64_t since_ns;
	struct model_crossing at; /* for model_team() */
	uint32_t reported;
	uint64_t next_ns; /* when it is told of again */
	bool seen; /* in the present look */
	bool circle; /* ranks that wait for one another's messages: no barrier */
	bool over, lasts; /* it has opened; its process has ended before */
	struct report_hang hang; /* as it was told last; .told of it is not 0 */
};

struct hang_monitor {
	struct hang_env env;
	uint64_t next_look_ns;
	struct arrivals arrivals;
	struct matter *matters; /* by group of .pendings */
	struct known *known;
	uint32_t nknown;
	struct report_hang *last; /* hang_monitor_last() */
	struct hang_worker *hang_worker;
	uint64_t crossings, quiet_ns; /* so many, and none since then */
	bool failed, refused;
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
	uint32_t i;

	if (!h)
		return;
	hang_worker_free(h->hang_worker);
	for (i = 0; i < h->nknown; i++)
		report_hang_free(&h->known[i].hang);
	arrivals_free(&h->arrivals);
	free(h->matters);
	free(h->known);
	free(h->last);
	free(h);
}

/* --- what is known of hangs ------------------------------------------------------------------- */

static uint32_t find_known(struct hang_monitor *h, const struct arrival *p)
{
	struct known *more;
	uint32_t i;

	for (i = 0; i < h->nknown; i++) {
		struct known *k = &h->known[i];

		if (!k->over && !k->lasts && k->tid == p->tid && k->inc == p->inc &&
		    k->since_ns == p->since_ns)
			return i;
	}
	more = realloc(h->known, (h->nknown + 1) * sizeof(*more));
	if (!more) {
		h->failed = true;
		return HANG_NONE;
	}
	h->known = more;
	more[h->nknown] = (struct known){ .pid = p->pid,
					  .inc = p->inc,
					  .tid = p->tid,
					  .since_ns = p->since_ns,
					  .at = arrival_crossing(p),
					  .next_ns = p->since_ns + h->env.after_ns };
	return h->nknown++;
}

/* They have met after all, as far as has been fed. */
static bool has_opened(const struct hang_monitor *h, const struct known *k)
{
	struct model_team team;
	struct model_met one;

	if (k->circle)
		return false;
	return model_team(h->env.model, &k->at, &one, 1, &team) && team.n &&
	       team.release_ns >= k->since_ns;
}

static void tell_over(struct hang_monitor *h, struct known *k, uint64_t now)
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

/* Those of which nobody is inside any more. @end: there is no later. */
static void close_known(struct hang_monitor *h, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < h->nknown; i++) {
		struct known *k = &h->known[i];

		if (k->over || k->lasts || k->seen)
			continue;
		/* Who was killed in there did not get out; records of who did are on their way. */
		if (!has_opened(h, k) && !proc_alive((int)k->pid)) {
			k->lasts = true;
			k->hang.waited_ns = now - k->since_ns;
		} else {
			tell_over(h, k, now);
		}
	}
}

/* What nobody was ever told of need not be kept. */
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
		struct matter *m = &h->matters[i];

		*m = (struct matter){ .known = HANG_NONE };
		if (now < p->since_ns || now - p->since_ns < h->env.after_ns)
			continue;
		m->known = find_known(h, p);
		if (m->known == HANG_NONE)
			continue;
		h->known[m->known].seen = true;
		m->due = now >= h->known[m->known].next_ns;
		any |= m->due;
	}
	return any;
}

/* --- the question ----------------------------------------------------------------------------- */

static int add_group(struct hang_monitor *h, uint32_t group, struct errand *job)
{
	int err = hang_query_add_barrier(&h->env, &h->arrivals, group, &job->question);

	if (err || !h->matters[group].due)
		return err;
	job->which[job->n] = job->question.nbarriers - 1;
	job->known[job->n++] = h->matters[group].known;
	h->matters[group].due = false;
	return 0;
}

/* One that is due, and all others that its processes have to do with. */
static int ask(struct hang_monitor *h)
{
	struct errand *job = NULL;
	bool *taken = NULL, more = true;
	uint32_t i, first;
	int err;

	for (first = 0; first < h->arrivals.ngroups && !h->matters[first].due; first++)
		;
	if (first == h->arrivals.ngroups)
		return 0;
	taken = calloc(h->arrivals.ngroups, sizeof(*taken));
	err = taken ? errand_new(h->arrivals.ngroups, &job) : -ENOMEM;
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
	if (!err)
		err = hang_query_add_numbers(&h->env, &job->question);
	if (!err)
		err = hang_worker_start(h->hang_worker, job);
	if (err)
		errand_free(job);
	free(taken);
	return err;
}

static void note_rank(void *ctx, uint32_t tgid, uint32_t rank)
{
	struct hang_collect_question *q = ctx;
	uint32_t *pids = realloc(q->pids, (q->npids + 1) * sizeof(*pids));

	(void)rank;
	if (!pids)
		return;
	q->pids = pids;
	if (proc_alive((int)tgid))
		pids[q->npids++] = tgid;
}

/* Ranks of one job that are alive, if there are several. */
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
	struct known *more;
	uint32_t i;

	for (i = 0; i < h->nknown; i++)
		if (h->known[i].circle && h->known[i].since_ns == h->quiet_ns)
			return i;
	more = realloc(h->known, (h->nknown + 1) * sizeof(*more));
	if (!more)
		return HANG_NONE;
	h->known = more;
	more[h->nknown] = (struct known){ .circle = true,
					  .seen = true,
					  .since_ns = h->quiet_ns,
					  .next_ns = h->quiet_ns + h->env.after_ns };
	return h->nknown++;
}

/*
 * Ranks that wait for one another's messages come to no barrier: where no record has come for so long as --hang says, they are
 * looked at.
 */
static int ask_circle(struct hang_monitor *h, uint64_t now)
{
	uint64_t crossings = model_totals(h->env.model)->crossings;
	struct errand *job = NULL;
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
	err = errand_new(1, &job);
	if (err)
		return err;
	find_job(h, &job->question);
	if (job->question.npids < 2) {
		errand_free(job);
		return 0;
	}
	h->known[known].pid = job->question.pids[0];
	job->which[job->n] = HANG_NONE;
	job->known[job->n++] = known;
	err = hang_query_add_numbers(&h->env, &job->question);
	if (!err)
		err = hang_worker_start(h->hang_worker, job);
	if (err)
		errand_free(job);
	return err;
}

/* --- what was found --------------------------------------------------------------------------- */

static void tell(struct hang_monitor *h, struct known *k, struct report_hang *found)
{
	uint64_t age = found->t_ns > k->since_ns ? found->t_ns - k->since_ns : 0;

	/* It may have opened while it was looked at. */
	if (!k->circle && (!attach_is_inside(h->env.attach, k->tid) || has_opened(h, k)))
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

/* Until it comes again such a thread is in no barrier, whatever was seen of it. */
static void note_stale(struct hang_monitor *h, const struct hang_collect_question *q)
{
	uint32_t i, j;

	for (i = 0; i < q->nbarriers; i++)
		for (j = 0; j < q->barriers[i].narrived; j++) {
			const struct hang_collect_arrival *a = &q->barriers[i].arrived[j];

			if (a->stale && arrivals_set_stale(&h->arrivals, a->tid, a->since_ns))
				h->failed = true;
		}
}

static void take_errand(struct hang_monitor *h, struct errand *job)
{
	uint32_t i;

	note_stale(h, &job->question);
	for (i = 0; i < job->n; i++) {
		struct known *k = &h->known[job->known[i]];

		if (arrivals_is_stale(&h->arrivals, k->tid, k->since_ns))
			k->over = true; /* what of it remains is another one */
		else if (!job->err[i])
			tell(h, k, &job->out[i]);
		else
			/* Gone by now, or nothing may be read: later, perhaps. */
			k->next_ns += h->env.after_ns + (k->next_ns - k->since_ns);
	}
	if ((job->look_err == -EACCES || job->look_err == -EPERM) && !h->refused) {
		h->refused = true;
		msg_warn("a barrier hangs, and its process may not be looked at: %s",
			 strerror(-job->look_err));
	}
	errand_free(job);
}

static int look(struct hang_monitor *h, uint64_t now)
{
	struct matter *matters;
	int err = arrivals_look(&h->arrivals, &h->env);

	if (!err)
		err = ask_circle(h, now);
	if (err || hang_worker_has(h->hang_worker) ||
	    (!h->nknown && !arrivals_old(&h->arrivals, now, h->env.after_ns)))
		return err;
	err = arrivals_group(&h->arrivals, &h->env);
	matters = err ? NULL : realloc(h->matters, (h->arrivals.ngroups + 1u) * sizeof(*matters));
	if (!matters)
		return err ? err : -ENOMEM;
	h->matters = matters;
	if (find_due(h, now))
		err = ask(h);
	if (err && err != -ENOMEM) {
		msg_warn("hangs are not told of: %s", strerror(-err));
		h->env.after_ns = 0;
		err = 0;
	}
	if (!hang_worker_has(h->hang_worker)) {
		/* While there is an errand it knows hangs by their places here. */
		close_known(h, now);
		forget_known(h);
	}
	return h->failed ? -ENOMEM : err;
}

int hang_monitor_step(struct hang_monitor *h, uint64_t now)
{
	uint64_t every = h->env.after_ns / LOOK_MIN;
	struct errand *job;

	if (!h->env.after_ns)
		return 0;
	job = hang_worker_take(h->hang_worker, false);
	if (job) {
		take_errand(h, job);
		/* Others may be due, too. */
		h->next_look_ns = now;
	}
	if (hang_worker_has(h->hang_worker) || now < h->next_look_ns)
		return 0;
	h->next_look_ns = now + (every < LOOK_NS ? every : LOOK_NS);
	return look(h, now);
}

void hang_monitor_settle(struct hang_monitor *h)
{
	struct errand *job = hang_worker_take(h->hang_worker, true);

	if (job)
		take_errand(h, job);
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
			tell_over(h, k, now);
			continue;
		}
		if (!k->lasts)
			k->hang.waited_ns = now - k->since_ns;
		h->last[(*n)++] = k->hang;
	}
	return h->last;
}
