// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/limit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/ceiling.h"
#include "base/msg.h"
#include "target/proc.h"

#define LOOK_NS	 1000000000ULL
/* A process whose threads were there for less of an interval is left to the next one. */
#define LEAST_NS (LOOK_NS / 2)

/* A process of the model's, by its index there. */
struct watched {
	uint64_t crossings; /* at the last look */
	uint32_t group;
	uint32_t families;
	uint64_t time_ns; /* of its threads, since the last look */
	bool gone; /* it was let go */
};

/* Let go, and not all that it did before has been fed. */
struct leaving {
	uint32_t tgid, inc;
	struct model_shed shed;
	uint64_t known_ns; /* when all has been fed up to here, it has */
};

struct limit {
	struct limit_env env;
	uint64_t look_ns; /* the last */
	struct watched *procs;
	uint32_t nprocs;
	struct leaving *leaving;
	uint32_t nleaving;
	int error;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int limit_new(const struct limit_env *env, uint64_t now, struct limit **out)
{
	struct limit *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	l->env = *env;
	l->look_ns = now;
	return 0;
}

void limit_free(struct limit *l)
{
	if (!l)
		return;
	free(l->procs);
	free(l->leaving);
	free(l);
}

/* --- what there is --------------------------------------------------------------------------------- */

static int note_procs(struct limit *l)
{
	uint32_t n = model_nprocs(l->env.model), i;
	struct watched *more;

	if (n > l->nprocs) {
		more = realloc(l->procs, n * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + l->nprocs, 0, (n - l->nprocs) * sizeof(*more));
		l->procs = more;
		l->nprocs = n;
	}
	for (i = 0; i < n; i++) {
		l->procs[i].group = i;
		l->procs[i].families = 0;
		l->procs[i].time_ns = 0;
	}
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Since the last look: those that cross barriers, whether they work or wait. */
static void note_times(struct limit *l, uint64_t until)
{
	uint32_t i, n = model_nthreads(l->env.model);

	for (i = 0; i < n; i++) {
		const struct model_thread *t = model_thread(l->env.model, i);
		uint64_t from = later(t->start_ns, l->look_ns);
		uint64_t to = t->exited && t->end_ns < until ? t->end_ns : until;

		if (t->proc < l->nprocs && t->crossings && to > from)
			l->procs[t->proc].time_ns += to - from;
	}
}

static uint32_t group_of(const struct limit *l, uint32_t proc)
{
	while (l->procs[proc].group != proc)
		proc = l->procs[proc].group;
	return proc;
}

/* What each crosses, and with whom. */
static void note_barriers(struct limit *l)
{
	uint32_t i, j, n = model_nbarriers(l->env.model);

	for (i = 0; i < n; i++) {
		const struct model_barrier *b = model_barrier(l->env.model, i);

		if (b->proc >= l->nprocs)
			continue;
		l->procs[b->proc].families |= b->family < 32 ? 1u << b->family : 0;
		for (j = 0; b->shared && j < b->nthreads; j++) {
			uint32_t thread = b->threads[j].thread, proc;

			if (thread == MODEL_NONE)
				continue;
			proc = model_thread(l->env.model, thread)->proc;
			if (proc >= l->nprocs)
				continue;
			l->procs[proc].families |= b->family < 32 ? 1u << b->family : 0;
			l->procs[group_of(l, proc)].group = group_of(l, b->proc);
		}
	}
}

static void fill(struct limit *l, uint32_t proc, struct ceiling_process *out)
{
	const struct model_proc *p = model_proc(l->env.model, proc);
	struct watched *w = &l->procs[proc];
	double price = present_price(l->env.present, p);
	uint32_t families = attach_families_with(l->env.attach, w->families);
	uint64_t crossings = p->crossings + p->lost;

	*out = (struct ceiling_process){
		.tgid = p->tgid,
		.group = group_of(l, proc),
		.families = families,
		.own = families && attach_has_own(l->env.attach, p->tgid, w->families),
		/* What was taken for lost may come after all, and be one of several. */
		.crossings = crossings > w->crossings ? crossings - w->crossings : 0,
		.time_ns = w->time_ns,
		.price_ns = w->time_ns < LEAST_NS ? NAN : price,
		.excluded_ns = l->env.present->price_excluded,
	};
	/* Where the kernel steps, it does so for whoever comes. */
	if (price > l->env.present->price)
		out->excluded_ns += price - l->env.present->price;
}

/* --- letting go ------------------------------------------------------------------------------------ */

static void tell(const struct model_proc *p, const struct limit *l, const struct ceiling_verdict *v,
		 const struct leaving *leaving)
{
	const struct model_shed *shed = &leaving->shed;
	double at = (double)(shed->t_ns - model_start(l->env.model)) / 1e9;
	char why[96];

	if (shed->because)
		snprintf(why, sizeof(why), "with process %u, which tracing cost", shed->because);
	else
		snprintf(why, sizeof(why), "tracing cost it");
	msg_warn("--cost-limit %.3g: process %u (%s) is traced up to %.3f s only: %s about %.3g %% "
		 "of "
		 "its threads' time%s",
		 100 * l->env.limit, p->tgid, p->comm[0] ? p->comm : "?", at, why, 100 * v->share,
		 v->way == CEILING_EXCLUDE ? "; its probes stay, for other processes meet them"
					   : "");
}

static void name_threads(struct limit *l, uint32_t tgid, uint32_t inc)
{
	uint32_t i, n = model_nthreads(l->env.model);
	char comm[16];

	for (i = 0; i < n; i++) {
		const struct model_thread *t = model_thread(l->env.model, i);
		const struct model_proc *p;

		if (t->proc == MODEL_NONE || t->exited)
			continue;
		p = model_proc(l->env.model, t->proc);
		if (p->tgid == tgid && p->inc == inc && !proc_comm((int)tgid, (int)t->tid, comm))
			model_name_thread(l->env.model, tgid, inc, t->tid, comm);
	}
}

/* From now on: what it did before is still on its way. */
static int let_go(struct limit *l, uint32_t proc, const struct ceiling_process *all,
		  const struct ceiling_verdict *v, uint64_t t_ns)
{
	const struct model_proc *p = model_proc(l->env.model, proc);
	struct leaving *more = realloc(l->leaving, (l->nleaving + 1) * sizeof(*more)), *new;
	int err;

	if (!more)
		return -ENOMEM;
	l->leaving = more;
	new = &more[l->nleaving];
	*new = (struct leaving){
		.tgid = p->tgid,
		.inc = p->inc,
		.shed = { .t_ns = t_ns,
			  .cost_ppm = v->share < 4000 ? (uint32_t)(v->share * 1e6) : UINT32_MAX,
			  .limit_ppm = (uint32_t)lround(l->env.limit * 1e6),
			  .because = all[v->culprit].tgid == p->tgid ? 0 : all[v->culprit].tgid,
			  .probed = v->way == CEILING_EXCLUDE },
	};
	l->procs[proc].gone = true;
	err = attach_exclude(l->env.attach, p->tgid, p->inc);
	/* It ended, or executes another program, at this moment. */
	if (err == -ENOENT)
		return 0;
	if (!err)
		err = feed_cut(pump_feed(l->env.pump), p->tgid, p->inc, t_ns);
	if (err)
		return err;
	name_threads(l, p->tgid, p->inc);
	tell(p, l, v, new);
	l->nleaving++;
	return 0;
}

static int remove_probes(struct limit *l, const struct ceiling_process *all,
			 const struct ceiling_verdict *v, uint32_t n, uint32_t families)
{
	uint32_t *tgids = calloc(n + 1, sizeof(*tgids)), i, own = 0;
	int err = -ENOMEM;

	for (i = 0; tgids && i < n; i++)
		if (v[i].way == CEILING_OWN || v[i].way == CEILING_ALL)
			tgids[own++] = all[i].tgid;
	if (tgids)
		err = own || families ? attach_remove(l->env.attach, tgids, own, families) : 0;
	if (!err && families)
		msg_warn("--cost-limit: the probes that it met are removed: processes that begin "
			 "later are not traced there either");
	free(tgids);
	return err;
}

static int act(struct limit *l, const uint32_t *procs, const struct ceiling_process *all,
	       const struct ceiling_verdict *v, uint32_t n, uint32_t families)
{
	uint32_t i, before = l->nleaving;
	uint64_t t_ns = now_ns();
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (v[i].way != CEILING_KEEP)
			err = let_go(l, procs[i], all, &v[i], t_ns);
	if (!err && l->nleaving > before)
		err = remove_probes(l, all, v, n, families);
	for (i = before; i < l->nleaving; i++)
		l->leaving[i].known_ns = now_ns();
	return err;
}

static int look(struct limit *l, uint64_t until)
{
	struct ceiling_process *all;
	struct ceiling_verdict *v;
	uint32_t *procs, i, n = 0, families;
	int err = note_procs(l);

	if (err)
		return err;
	note_times(l, until);
	note_barriers(l);
	all = calloc(l->nprocs + 1, sizeof(*all));
	v = calloc(l->nprocs + 1, sizeof(*v));
	procs = calloc(l->nprocs + 1, sizeof(*procs));
	err = all && v && procs ? 0 : -ENOMEM;
	for (i = 0; i < l->nprocs && !err; i++) {
		const struct model_proc *p = model_proc(l->env.model, i);

		if (!p->exited && !l->procs[i].gone && p->crossings) {
			fill(l, i, &all[n]);
			procs[n++] = i;
		}
		l->procs[i].crossings = p->crossings + p->lost;
	}
	if (!err && n) {
		families = ceiling_decide(all, n, l->env.limit, v);
		err = act(l, procs, all, v, n, families);
	}
	free(all);
	free(v);
	free(procs);
	return err;
}

/* --- when all that it did has been fed ------------------------------------------------------------- */

struct inside {
	struct limit *limit;
	const struct leaving *leaving;
};

static void note_inside(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	const struct inside *in = ctx;
	uint64_t arrive_ns = __atomic_load_n(&thread->arrive_ns, __ATOMIC_ACQUIRE);
	int err;

	if (thread->tgid != in->leaving->tgid || thread->inc != in->leaving->inc || !arrive_ns ||
	    arrive_ns > in->leaving->shed.t_ns)
		return;
	err = model_add_pending(in->limit->env.model, thread->tgid, thread->inc, tid,
				thread->object, arrive_ns);
	if (err)
		in->limit->error = err;
}

static int leave(struct limit *l, const struct leaving *leaving)
{
	struct inside inside = { l, leaving };
	int err;

	attach_each_pending(l->env.attach, note_inside, &inside);
	pump_end_process(l->env.pump, leaving->tgid, leaving->inc);
	err = model_shed(l->env.model, leaving->tgid, leaving->inc, &leaving->shed);
	/* For who reads the recording and has not heard of --cost-limit. */
	if (!err)
		err = model_end_process(l->env.model, leaving->tgid, leaving->inc,
					leaving->shed.t_ns);
	return err ? err : l->error;
}

static int leave_all(struct limit *l, uint64_t until)
{
	uint32_t i, kept = 0;
	int err = 0;

	for (i = 0; i < l->nleaving && !err; i++) {
		if (l->leaving[i].known_ns < until)
			err = leave(l, &l->leaving[i]);
		else
			l->leaving[kept++] = l->leaving[i];
	}
	l->nleaving = kept;
	return err;
}

int limit_step(struct limit *l, uint64_t until)
{
	int err;

	if (!l)
		return 0;
	err = l->nleaving ? leave_all(l, until) : 0;
	if (err || until < l->look_ns + LOOK_NS)
		return err;
	err = look(l, until);
	l->look_ns = until;
	return err;
}

int limit_settle(struct limit *l)
{
	return l ? leave_all(l, UINT64_MAX) : 0;
}
