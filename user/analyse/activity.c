// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/internal.h"
#include "analyse/places.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"

#define THREADS_MOST 2048 /* threads that are kept apart */
#define CHAINS_MOST  32 /* stacks of a thread that are counted */
#define FRAMES_MAX   32

struct chain_count {
	uint32_t chain, n;
};

struct activity {
	uint32_t tgid, inc, tid;
	char comm[16];
	bool ended; /* `elapsed_ns` and `detail` are known */
	uint64_t elapsed_ns;
	struct model_detail detail;
	uint32_t samples;
	/*
	 * The most frequent stacks. If there are more, a new one replaces the rarest and takes over
	 * its count, so a count is never too small (Metwally et al. 2005, Space-Saving).
	 */
	uint32_t nchains;
	struct chain_count chains[CHAINS_MOST];
	uint32_t nwakers;
	struct model_waker wakers[MODEL_WAKERS];
	uint64_t woken_more;
};

struct activities {
	const struct cause_env *env;
	struct hash at; /* thread -> index, plus 1 */
	struct activity **threads;
	uint32_t n, cap;
	uint64_t more; /* threads that ended and did not fit */
};

struct activities *activities_new(const struct cause_env *env)
{
	struct activities *a = calloc(1, sizeof(*a));

	if (a)
		a->env = env;
	return a;
}

void activities_free(struct activities *a)
{
	if (!a)
		return;
	array_for_each (t, a->threads, a->n)
		free(*t);
	free(a->threads);
	hash_free(&a->at);
	free(a);
}

/* Return the entry of a thread. NULL: no room or, with *@err set, out of memory. */
static struct activity *get(struct activities *a, uint32_t tgid, uint32_t inc, uint32_t tid,
			    int *err)
{
	uint64_t key = hash_mix(((uint64_t)tgid << 32 | tid) ^ hash_mix(inc)), at;
	struct activity *t;

	*err = 0;
	if (hash_get(&a->at, key, &at))
		return a->threads[at - 1];
	if (a->n == THREADS_MOST)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t || grow(a->threads, a->cap, a->n + 1) || hash_put(&a->at, key, a->n + 1)) {
		free(t);
		*err = -ENOMEM;
		return NULL;
	}
	t->tgid = tgid;
	t->inc = inc;
	t->tid = tid;
	a->threads[a->n++] = t;
	return t;
}

static void count_chain(struct activity *t, uint32_t chain)
{
	uint32_t i, least = 0;

	t->samples++;
	for (i = 0; i < t->nchains; i++) {
		if (t->chains[i].chain == chain) {
			t->chains[i].n++;
			return;
		}
		if (t->chains[i].n < t->chains[least].n)
			least = i;
	}
	if (t->nchains < CHAINS_MOST) {
		t->chains[t->nchains++] = (struct chain_count){ chain, 1 };
	} else {
		t->chains[least].chain = chain;
		t->chains[least].n++;
	}
}

int activities_sample(struct activities *a, const struct model_sample *sample, uint32_t chain)
{
	int err;
	struct activity *t = get(a, sample->tgid, sample->inc, sample->tid, &err);

	if (t)
		count_chain(t, chain);
	return err;
}

int activities_add(struct activities *a, const struct model_thread *thread,
		   const struct model_activity *activity)
{
	int err;
	struct activity *t = get(a, activity->tgid, activity->inc, activity->tid, &err);

	if (!t) {
		a->more += !err;
		return err;
	}
	t->ended = true;
	t->elapsed_ns = number_less(activity->end_ns, thread->start_ns);
	if (activity->detail)
		t->detail = *activity->detail;
	else
		t->detail = (struct model_detail){ .oncpu_ns = MODEL_UNKNOWN };
	memcpy(t->comm, thread->comm, sizeof(t->comm));
	t->nwakers = activity->nwakers;
	memcpy(t->wakers, activity->wakers, sizeof(t->wakers));
	t->woken_more = activity->woken_more;
	return 0;
}

/* --- the report ------------------------------------------------------------------------------- */

static int fill_functions(const struct activity *t, const struct places *places,
			  const struct report_env *env, struct arena *a,
			  struct report_activity *out)
{
	struct report_activity_function *functions =
						arena_alloc(a, CHAINS_MOST * sizeof(*functions)),
					*f;
	struct report_callsite where;
	uint32_t i, k;
	int err;

	if (!functions)
		return -ENOMEM;
	out->functions = functions;
	for (i = 0; i < t->nchains; i++) {
		err = places_name(places, t->chains[i].chain, env, a, &where);
		if (err < 0)
			return err;
		if (!err)
			continue;
		for (k = 0; k < out->nfunctions; k++) {
			f = &functions[k];
			if (text_same(f->where.function, where.function) &&
			    text_same(f->where.module, where.module))
				break;
		}
		if (k == out->nfunctions)
			functions[out->nfunctions++] =
				(struct report_activity_function){ where, 0 };
		functions[k].share += (double)t->chains[i].n / t->samples;
	}
	return 0;
}

static int by_share(const void *x, const void *y)
{
	const struct report_activity_function *a = x, *b = y;

	return NUMBER_COMPARE(b->share, a->share);
}

/* Return whether all waits for this reason have a tenth of the time of a thread. */
static bool is_main_wait(const struct activity *t, const struct model_block *b)
{
	return b->ns && b->reason < MODEL_BLOCKED_REASONS &&
	       t->detail.blocked_ns[b->reason] >= t->elapsed_ns / 10;
}

static int fill_wait(const struct activities *all, const struct activity *t,
		     const struct report_env *env, struct arena *a, struct report_activity *out)
{
	const struct model_block *b = &t->detail.block, *second = &t->detail.second;
	struct report_cause cause = { 0 };
	int err;

	/* The many short waits for the main reason matter more than one long wait. */
	if (is_main_wait(t, second) != is_main_wait(t, b) ? is_main_wait(t, second)
							  : second->ns > b->ns)
		b = second;
	if (!b->ns)
		return 0;
	out->wait_ns = b->ns;
	out->wait_reason = b->reason;
	err = cause_set_frames(a, all->env, env, &(struct stack_ref){ b->stack, t->tgid, t->inc },
			       &cause);
	out->nframes = cause.nframes;
	out->frames = cause.frames;
	return err;
}

/* --- threads that ended the waits ------------------------------------------------------------- */

/*
 * Return whether the call sites are in a function of the C library that waits for a lock: the
 * kernel side does not recognise all kinds of locks.
 */
static bool waits_for_lock(const uint32_t *sites, uint32_t n, const struct report_env *env)
{
	static const char *const locks[] = { "lll_lock_wait", "rwlock", "mutex_lock" };
	const struct site_name *s;
	uint32_t i, k;

	for (i = 0; i < n && i < 3; i++) {
		s = env->site ? env->site(env->ctx, sites[i]) : NULL;
		if (!s)
			return false;
		array_for_each (f, s->frames, s->nframes)
			for (k = 0; k < sizeof(locks) / sizeof(locks[0]); k++)
				if (f->function && strstr(f->function, locks[k]))
					return true;
	}
	return false;
}

static struct report_woken *woken_at(struct report_activity *out,
				     const struct report_callsite *where)
{
	struct report_woken *g;
	uint32_t i;

	for (i = 0; i < out->nwoken; i++) {
		g = &out->woken[i];
		if (text_same(g->where.function, where->function) &&
		    text_same(g->where.module, where->module) && g->where.line == where->line)
			return g;
	}
	g = &out->woken[out->nwoken++];
	g->where = *where;
	return g;
}

static void woken_add(struct report_woken *g, const struct model_waker *w)
{
	uint32_t i;

	g->waits += w->waits;
	g->wait_ns += w->ns;
	for (i = 0; i < g->nby && g->by[i].tid != w->tid; i++)
		;
	if (i == g->nby)
		g->by[g->nby++].tid = w->tid;
	g->by[i].waits += w->waits;
	g->by[i].wait_ns += w->ns;
}

static int by_waits(const void *x, const void *y)
{
	const struct report_waker *a = x, *b = y;

	return NUMBER_COMPARE(b->waits, a->waits);
}

static int by_wait_ns(const void *x, const void *y)
{
	const struct report_woken *a = x, *b = y;

	return NUMBER_COMPARE(b->wait_ns, a->wait_ns);
}

/* Return how many waits of @t the thread @tid has ended. */
static uint32_t ended_by(const struct activity *t, uint32_t tid)
{
	uint32_t n = 0;

	array_for_each (w, t->wakers, t->nwakers)
		n += w->tid == tid ? w->waits : 0;
	return n;
}

/*
 * Return the number of threads that ended at least two of the waits @w of @t, and of which @t ended
 * at least two waits.
 */
static uint32_t count_partners(const struct activities *all, const struct activity *t,
			       const struct report_woken *w)
{
	uint32_t n = 0, i;

	array_for_each (other, all->threads, all->n) {
		if ((*other)->tgid != t->tgid || (*other)->inc != t->inc ||
		    ended_by(*other, t->tid) < 2)
			continue;
		for (i = 0; i < w->nby && w->by[i].tid != (*other)->tid; i++)
			;
		n += i < w->nby && w->by[i].waits >= 2;
	}
	return n;
}

static int fill_woken(const struct activities *all, const struct activity *t,
		      const struct report_env *env, struct arena *a, struct report_activity *out)
{
	struct report_callsite where;
	uint32_t sites[FRAMES_MAX], n, i;
	struct report_woken *g;
	int err;

	out->woken_more = t->woken_more;
	out->woken = arena_alloc(a, (t->nwakers + 1) * sizeof(*out->woken));
	if (!out->woken)
		return -ENOMEM;
	array_for_each (w, t->wakers, t->nwakers) {
		n = w->stack && all->env->stack ? all->env->stack(all->env->ctx, t->tgid, t->inc,
								  w->stack, sites, FRAMES_MAX)
						: 0;
		n = n < FRAMES_MAX ? n : FRAMES_MAX;
		if (waits_for_lock(sites, n, env))
			continue;
		err = places_name_stack(sites, n, env, a, &where);
		if (err < 0)
			return err;
		g = woken_at(out, &where);
		if (!g->by)
			g->by = arena_alloc(a, MODEL_WAKERS * sizeof(*g->by));
		if (!g->by)
			return -ENOMEM;
		woken_add(g, w);
	}
	for (i = 0; i < out->nwoken; i++)
		qsort(out->woken[i].by, out->woken[i].nby, sizeof(*out->woken[i].by), by_waits);
	if (out->nwoken)
		qsort(out->woken, out->nwoken, sizeof(*out->woken), by_wait_ns);
	if (out->nwoken)
		out->partners = count_partners(all, t, &out->woken[0]);
	return 0;
}

#define COPY_PART(member, ...) out->member = d->member;

/* Set the parts of the time of a thread outside barriers. All are unknown if @d is. */
static void fill_parts(const struct model_detail *d, uint64_t elapsed_ns, struct report_parts *out)
{
	uint64_t known = d->runq_ns;
	int i;

	memset(out, 0xff, sizeof(*out));
	if (d->oncpu_ns == MODEL_UNKNOWN && !known)
		return;
	SBT_PARTS_ALL(COPY_PART, )
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
		out->blocked_ns[i] = d->blocked_ns[i];
		known += d->blocked_ns[i];
	}
	if (out->oncpu_ns == MODEL_UNKNOWN)
		out->oncpu_ns = number_less(elapsed_ns, known);
	out->unattributed_ns = number_less(elapsed_ns, known + out->oncpu_ns);
}

static uint64_t accounted(const struct report_parts *parts)
{
	uint64_t sum = parts->oncpu_ns + parts->runq_ns;
	int i;

	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		sum += parts->blocked_ns[i];
	return sum;
}

static int fill(const struct activities *all, const struct activity *t, const struct places *places,
		const struct report_env *env, struct arena *a, struct report_activity *out)
{
	const struct model_detail *d = &t->detail;
	int err;

	*out = (struct report_activity){
		.pid = t->tgid,
		.tid = t->tid,
		.comm = arena_string(a, t->comm),
		.elapsed_ns = t->elapsed_ns,
		.samples = t->samples,
	};
	fill_parts(d, t->elapsed_ns, &out->parts);
	/* The account of the first thread of COMMAND begins before its program does. */
	if (out->parts.oncpu_ns != REPORT_UNKNOWN)
		out->elapsed_ns = accounted(&out->parts) > t->elapsed_ns ? accounted(&out->parts)
									 : t->elapsed_ns;
	if (!out->comm)
		return -ENOMEM;
	err = fill_functions(t, places, env, a, out);
	if (!err && out->nfunctions)
		qsort(out->functions, out->nfunctions, sizeof(*out->functions), by_share);
	if (!err)
		err = fill_wait(all, t, env, a, out);
	return err ? err : fill_woken(all, t, env, a, out);
}

static int by_time(const void *x, const void *y)
{
	const struct activity *const *a = x, *const *b = y;
	int by_cpu = NUMBER_COMPARE((*b)->detail.oncpu_ns, (*a)->detail.oncpu_ns);

	return by_cpu ? by_cpu : NUMBER_COMPARE((*b)->elapsed_ns, (*a)->elapsed_ns);
}

int activities_report(const struct activities *all, const struct places *places,
		      const struct report_env *env, struct arena *a, struct report *out)
{
	const struct activity **ended = calloc(all->n + 1, sizeof(*ended));
	uint32_t i, n = 0;
	int err = 0;

	if (!ended)
		return -ENOMEM;
	for (i = 0; i < all->n; i++)
		if (all->threads[i]->ended && all->threads[i]->elapsed_ns)
			ended[n++] = all->threads[i];
	if (n)
		qsort(ended, n, sizeof(*ended), by_time);
	out->activities_more = all->more + (n > REPORT_ACTIVITIES ? n - REPORT_ACTIVITIES : 0);
	n = n < REPORT_ACTIVITIES ? n : REPORT_ACTIVITIES;
	out->activities = arena_alloc(a, (n + 1) * sizeof(*out->activities));
	if (!out->activities)
		err = -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = fill(all, ended[i], places, env, a, &out->activities[out->nactivities++]);
	free(ended);
	return err;
}
