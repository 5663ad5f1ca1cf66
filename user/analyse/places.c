// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/places.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/internal.h"
#include "base/array.h"
#include "base/function_name.h"
#include "base/grow.h"
#include "base/number.h"

#define FRAMES_MAX     64
/* bounds on memory: samples that wait for the end of their phase, and sums */
#define PENDING_MOST   (1u << 20)
#define PENDING_THREAD (1u << 16)
#define SUMS_MOST      (1u << 17)
#define CHAINS_MOST    (1u << 17)
/* samples of a phase that are looked at for its most frequent stack, and at least of that stack */
#define TOP_SAMPLES    1024
#define TOP_LEAST      3
/* Fewer samples of the last arrivers than this do not show where they spent their time. */
#define SAMPLES_LEAST  30
#define PLACES_MOST    10
/* The quantile of the normal distribution for 95 %. */
#define NORMAL_95      1.96
/* A place must explain at least this share of the additional time on a CPU. */
#define SHARE_LEAST    0.05
/* Where chance decides which thread is late, its time there is this multiple of the reference's. */
#define CONTRAST_LEAST 1.5
/* The one place of the additional time on a CPU has at least this share of it. */
#define PLACE_MAIN     0.5
#define LINES_MOST     64 /* lines of one function that are distinguished */

/* The sites of a stack, innermost first. Stacks of one process have different keys. */
struct chain {
	uint32_t n;
	uint32_t *sites;
};

struct pending {
	uint64_t t_ns;
	uint32_t chain;
};

/* The samples of a thread since its last departure, in about the order of time. */
struct thread_samples {
	uint32_t tid; /* 0: the entry is unused */
	uint32_t n, cap;
	/* the most frequent chain of the phase that ended at `arrive_ns`; MODEL_NONE: none */
	uint32_t top;
	uint64_t arrive_ns;
	struct pending *samples;
};

/* The samples with one stack at one barrier. */
struct sum {
	uint32_t barrier, chain;
	/* of all members, inside the barrier, and in the phases that end at it */
	uint32_t spin, work;
	uint32_t spin_at[PLACES_BATCHES];
	uint32_t work_at[PLACES_BATCHES]; /* by part */
	uint32_t last[PLACES_BATCHES], reference[PLACES_BATCHES]; /* in late episodes */
};

/*
 * Time on a CPU, and number of samples, at one barrier. Batches take the episodes in turn, for the
 * jackknife. Parts are of consecutive episodes, for comparisons with other runs, as in batches.h.
 */
struct barrier_samples {
	uint64_t episodes, late;
	uint64_t per; /* episodes of a part; when all parts are full, pairs are merged */
	/* all members, in phases, by part */
	uint64_t work_ns[PLACES_BATCHES];
	uint32_t work[PLACES_BATCHES];
	uint64_t last_ns[PLACES_BATCHES], reference_ns[PLACES_BATCHES], spin_ns[PLACES_BATCHES];
	uint32_t last[PLACES_BATCHES], reference[PLACES_BATCHES], spin[PLACES_BATCHES];
	/* places_more_site(): its answer, and the number of late episodes at which it is renewed */
	uint32_t more_site;
	uint64_t renew;
};

struct places {
	const struct cause_env *env;
	struct hash chain_at; /* process and key -> index of the chain, plus 1 */
	struct chain *chains;
	struct thread_samples *threads; /* indexed as in the model */
	struct hash sum_at; /* barrier << 32 | chain -> index of the sum, plus 1 */
	struct sum *sums;
	struct barrier_samples *barriers; /* indexed as in the model */
	uint32_t nchains, cap_chains, nthreads, nsums, cap_sums, nbarriers;
	uint32_t unknown; /* the chain without sites, plus 1; 0: none yet */
	uint32_t pending;
	uint64_t left;
};

struct places *places_new(const struct cause_env *env)
{
	struct places *p = calloc(1, sizeof(*p));

	if (p)
		p->env = env;
	return p;
}

void places_free(struct places *p)
{
	if (!p)
		return;
	array_for_each (c, p->chains, p->nchains)
		free(c->sites);
	array_for_each (t, p->threads, p->nthreads)
		free(t->samples);
	free(p->chains);
	free(p->threads);
	free(p->sums);
	free(p->barriers);
	hash_free(&p->chain_at);
	hash_free(&p->sum_at);
	free(p);
}

void places_leave(struct places *p)
{
	p->left++;
}

uint64_t places_left(const struct places *p)
{
	return p->left + p->pending;
}

/* --- samples ---------------------------------------------------------------------------------- */

uint32_t places_chain(struct places *p, const struct model_sample *sample, int *err)
{
	uint64_t process = (uint64_t)sample->tgid << 32 | sample->inc, at;
	uint64_t key = hash_mix(sample->stack ^ hash_mix(process));
	uint32_t sites[FRAMES_MAX];
	struct chain *c;

	*err = 0;
	if (!sample->stack || !p->env->stack)
		return MODEL_NONE;
	if (!hash_get(&p->chain_at, key, &at)) {
		if (p->nchains == CHAINS_MOST)
			return MODEL_NONE;
		*err = -ENOMEM;
		if (grow(p->chains, p->cap_chains, p->nchains + 1))
			return MODEL_NONE;
		c = &p->chains[p->nchains];
		c->n = p->env->stack(p->env->ctx, sample->tgid, sample->inc, sample->stack, sites,
				     FRAMES_MAX);
		if (c->n > FRAMES_MAX)
			c->n = FRAMES_MAX;
		c->sites = malloc((c->n ? c->n : 1) * sizeof(*c->sites));
		if (!c->sites)
			return MODEL_NONE;
		memcpy(c->sites, sites, c->n * sizeof(*sites));
		at = ++p->nchains;
		if (hash_put(&p->chain_at, key, at))
			return MODEL_NONE;
		*err = 0;
	}
	return (uint32_t)at - 1;
}

/* Forget the older half of a thread's samples. */
static void forget_half(struct places *p, struct thread_samples *t)
{
	uint32_t half = (t->n + 1) / 2;

	memmove(t->samples, t->samples + half, (t->n - half) * sizeof(*t->samples));
	t->n -= half;
	p->pending -= half;
	p->left += half;
}

/* Make room: forget samples of the thread that has the most, which may never cross a barrier. */
static void forget_most(struct places *p)
{
	struct thread_samples *most = p->threads;

	array_for_each (t, p->threads, p->nthreads)
		if (t->n > most->n)
			most = t;
	forget_half(p, most);
}

/*
 * Return the chain of samples with an unknown stack. They are part of the whole: without them, the
 * other places would seem to take all of the thread's time.
 */
static int unknown_chain(struct places *p, uint32_t *chain)
{
	if (!p->unknown) {
		if (grow(p->chains, p->cap_chains, p->nchains + 1))
			return -ENOMEM;
		p->chains[p->nchains] = (struct chain){ 0 };
		p->unknown = ++p->nchains;
	}
	*chain = p->unknown - 1;
	return 0;
}

int places_sample(struct places *p, uint32_t thread, const struct model_sample *sample,
		  uint32_t chain)
{
	struct thread_samples *t;

	if (chain == MODEL_NONE && unknown_chain(p, &chain))
		return -ENOMEM;
	if (grow_zeroed(p->threads, p->nthreads, thread + 1))
		return -ENOMEM;
	t = &p->threads[thread];
	/* Another thread had this index before. */
	if (t->tid != sample->tid) {
		p->left += t->n;
		p->pending -= t->n;
		t->n = 0;
		t->tid = sample->tid;
	}
	if (t->n >= PENDING_THREAD)
		forget_half(p, t);
	if (p->pending >= PENDING_MOST)
		forget_most(p);
	if (grow(t->samples, t->cap, t->n + 1))
		return -ENOMEM;
	t->samples[t->n++] = (struct pending){ sample->t_ns, chain };
	p->pending++;
	return 0;
}

/* --- episodes --------------------------------------------------------------------------------- */

/* Return the sums of a barrier and a chain. NULL: out of memory, or no room; then *@err is set. */
static struct sum *sum_of(struct places *p, uint32_t barrier, uint32_t chain, int *err)
{
	uint64_t key = hash_mix((uint64_t)barrier << 32 | chain), at;

	*err = 0;
	if (hash_get(&p->sum_at, key, &at))
		return &p->sums[at - 1];
	if (p->nsums == SUMS_MOST)
		return NULL;
	*err = grow(p->sums, p->cap_sums, p->nsums + 1);
	if (!*err)
		*err = hash_put(&p->sum_at, key, p->nsums + 1);
	if (*err)
		return NULL;
	p->sums[p->nsums] = (struct sum){ .barrier = barrier, .chain = chain };
	return &p->sums[p->nsums++];
}

static uint64_t oncpu_of(const struct model_member *m)
{
	uint64_t ns = m->detail ? m->detail->oncpu_ns : m->work_ns;

	if (!m->detail && !(m->flags & MODEL_CROSSING_ACCOUNTED))
		return MODEL_UNKNOWN;
	return ns == MODEL_UNKNOWN && m->detail ? m->work_ns : ns;
}

/* How the samples of a member are counted. */
struct charge {
	const struct model_member *member;
	uint32_t barrier, batch, part;
	bool charged; /* false: drop the samples */
	bool last, reference;
};

static void count_work(const struct charge *c, struct barrier_samples *b, struct sum *s)
{
	b->work[c->part]++;
	b->last[c->batch] += c->last;
	b->reference[c->batch] += c->reference;
	if (!s)
		return;
	s->work++;
	s->work_at[c->part]++;
	s->last[c->batch] += c->last;
	s->reference[c->batch] += c->reference;
}

static void count_spin(const struct charge *c, struct barrier_samples *b, struct sum *s)
{
	b->spin[c->batch]++;
	if (!s)
		return;
	s->spin++;
	s->spin_at[c->batch]++;
}

static int charge_one(struct places *p, const struct charge *c, const struct pending *sample)
{
	const struct model_member *m = c->member;
	struct barrier_samples *b = &p->barriers[c->barrier];
	struct sum *s;
	int err = 0;

	if (!c->charged || m->work_ns == MODEL_UNKNOWN ||
	    sample->t_ns < m->arrive_ns - m->work_ns) {
		p->left++;
		return 0;
	}
	/* If there is no room for its stack, the sample counts as one of unknown code. */
	s = sum_of(p, c->barrier, sample->chain, &err);
	if (err)
		return err;
	if (sample->t_ns <= m->arrive_ns)
		count_work(c, b, s);
	else
		count_spin(c, b, s);
	return 0;
}

/* Set the most frequent chain of the samples of a member's phase. */
static void note_top(struct thread_samples *t, const struct model_member *m)
{
	uint32_t chains[TOP_SAMPLES], i, n = 0, run = 0, most = TOP_LEAST - 1;

	t->top = MODEL_NONE;
	t->arrive_ns = m->arrive_ns;
	for (i = 0; i < t->n && n < TOP_SAMPLES; i++)
		if (t->samples[i].t_ns <= m->arrive_ns)
			chains[n++] = t->samples[i].chain;
	if (n < TOP_LEAST)
		return;
	qsort(chains, n, sizeof(chains[0]), number_compare_u32);
	for (i = 0; i < n; i++) {
		run = i && chains[i] == chains[i - 1] ? run + 1 : 1;
		if (run > most) {
			most = run;
			t->top = chains[i];
		}
	}
}

/* Charge the member's samples up to its departure, and remove them. */
static int charge_member(struct places *p, const struct charge *c, uint64_t until_ns)
{
	struct thread_samples *t =
		c->member->thread < p->nthreads ? &p->threads[c->member->thread] : NULL;
	uint32_t i, kept = 0;
	int err = 0;

	if (!t || t->tid != c->member->tid)
		return 0;
	note_top(t, c->member);
	for (i = 0; i < t->n; i++) {
		if (t->samples[i].t_ns > until_ns)
			t->samples[kept++] = t->samples[i];
		else if (!err)
			err = charge_one(p, c, &t->samples[i]);
	}
	p->pending -= t->n - kept;
	t->n = kept;
	return err;
}

static void add_time(struct places *p, const struct charge *c)
{
	struct barrier_samples *b = &p->barriers[c->barrier];
	const struct model_member *m = c->member;
	uint64_t oncpu = oncpu_of(m);
	uint64_t spin = m->detail ? m->detail->inside_oncpu_ns : MODEL_UNKNOWN;

	if (c->last && oncpu != MODEL_UNKNOWN)
		b->last_ns[c->batch] += oncpu;
	if (c->reference && oncpu != MODEL_UNKNOWN)
		b->reference_ns[c->batch] += oncpu;
	if (c->charged && oncpu != MODEL_UNKNOWN && m->work_ns != MODEL_UNKNOWN)
		b->work_ns[c->part] += oncpu;
	if (c->charged && spin != MODEL_UNKNOWN)
		b->spin_ns[c->batch] += spin;
}

/* Merge pairs of the parts of a barrier. */
static void merge_parts(struct places *p, uint32_t barrier)
{
	struct barrier_samples *b = &p->barriers[barrier];
	uint32_t k;

	for (k = 0; k < PLACES_BATCHES; k++) {
		bool pair = k < PLACES_BATCHES / 2;

		b->work_ns[k] = pair ? b->work_ns[2 * k] + b->work_ns[2 * k + 1] : 0;
		b->work[k] = pair ? b->work[2 * k] + b->work[2 * k + 1] : 0;
	}
	array_for_each (s, p->sums, p->nsums)
		for (k = 0; s->barrier == barrier && k < PLACES_BATCHES; k++)
			s->work_at[k] = k < PLACES_BATCHES / 2
						? s->work_at[2 * k] + s->work_at[2 * k + 1]
						: 0;
	b->per *= 2;
}

/* Return the part of the next episode of a barrier. */
static uint32_t next_part(struct places *p, uint32_t barrier)
{
	struct barrier_samples *b = &p->barriers[barrier];

	if (!b->per)
		b->per = 1;
	while (b->episodes / b->per >= PLACES_BATCHES)
		merge_parts(p, barrier);
	return (uint32_t)(b->episodes / b->per);
}

int places_episode(struct places *p, const struct model_episode *ep, const struct model_member *ref)
{
	struct charge c = { .barrier = ep->barrier, .charged = ep->state == MODEL_COMPLETE };
	const struct model_member *l = &ep->members[ep->n - 1];
	struct barrier_samples *b;
	int err = grow_zeroed(p->barriers, p->nbarriers, ep->barrier + 1);

	if (err)
		return err;
	b = &p->barriers[ep->barrier];
	c.part = next_part(p, ep->barrier);
	c.batch = b->episodes++ % PLACES_BATCHES;
	if (ref && (oncpu_of(l) == MODEL_UNKNOWN || oncpu_of(ref) == MODEL_UNKNOWN))
		ref = NULL;
	b->late += ref != NULL;
	array_for_each (m, ep->members, ep->n) {
		uint64_t until_ns = m->depart_ns == MODEL_UNKNOWN ? ep->release_ns : m->depart_ns;

		c.member = m;
		c.last = ref && m == l;
		c.reference = ref && m == ref;
		add_time(p, &c);
		if (!err)
			err = charge_member(p, &c,
					    until_ns > m->arrive_ns ? until_ns : m->arrive_ns);
	}
	return err;
}

int places_fold(struct places *p, uint32_t from, uint32_t into)
{
	struct barrier_samples *a, *b;
	uint32_t i, k, n = p->nsums;
	int err;

	if (from >= p->nbarriers)
		return 0;
	err = grow_zeroed(p->barriers, p->nbarriers, into + 1);
	if (err)
		return err;
	a = &p->barriers[into];
	b = &p->barriers[from];
	if (!a->per)
		a->per = b->per;
	while (a->per < b->per)
		merge_parts(p, into);
	while (b->per && b->per < a->per)
		merge_parts(p, from);
	a->episodes += b->episodes;
	a->late += b->late;
	for (k = 0; k < PLACES_BATCHES; k++) {
		a->work_ns[k] += b->work_ns[k];
		a->work[k] += b->work[k];
		a->last_ns[k] += b->last_ns[k];
		a->reference_ns[k] += b->reference_ns[k];
		a->spin_ns[k] += b->spin_ns[k];
		a->last[k] += b->last[k];
		a->reference[k] += b->reference[k];
		a->spin[k] += b->spin[k];
	}
	memset(b, 0, sizeof(*b));
	for (i = 0; i < n && !err; i++) {
		struct sum old = p->sums[i], *to;

		if (old.barrier != from)
			continue;
		to = sum_of(p, into, old.chain, &err);
		/* The entry stays in the table, empty, until its barrier's index is reused. */
		p->sums[i] = (struct sum){ .barrier = from, .chain = old.chain };
		if (!to) {
			p->left += old.work + old.spin;
			continue;
		}
		to->work += old.work;
		to->spin += old.spin;
		for (k = 0; k < PLACES_BATCHES; k++) {
			to->spin_at[k] += old.spin_at[k];
			to->work_at[k] += old.work_at[k];
			to->last[k] += old.last[k];
			to->reference[k] += old.reference[k];
		}
	}
	return err;
}

/* --- estimates -------------------------------------------------------------------------------- */

/* The share of a place in the samples, and its variance if the samples were independent. */
struct share {
	double value, variance;
};

static struct share share_of(double at, double all)
{
	double smooth = (at + 2) / (all + 4);

	return (struct share){ all > 0 ? at / all : 0.5, smooth * (1 - smooth) / (all + 4) };
}

/* Sums over all batches but @without. */
static double time_at(const struct places_side *s, uint32_t without, double *variance)
{
	double at = 0, all = 0, ns = 0;
	struct share share;
	uint32_t k;

	for (k = 0; k < PLACES_BATCHES; k++) {
		if (k == without)
			continue;
		at += s->at[k];
		all += s->all[k];
		ns += (double)s->oncpu_ns[k];
	}
	share = share_of(at, all);
	if (variance)
		*variance += ns * ns * share.variance;
	return ns * share.value;
}

void places_estimate(const struct places_side *last, const struct places_side *reference,
		     struct places_estimate *out)
{
	/* Student's t for 95 %, by degrees of freedom from 1 on. */
	static const double student[PLACES_BATCHES - 1] = { 12.71, 4.303, 3.182, 2.776, 2.571,
							    2.447, 2.365, 2.306, 2.262, 2.228,
							    2.201, 2.179, 2.160, 2.145, 2.131 };
	double leave[PLACES_BATCHES], mean = 0, spread = 0, variance = 0, half, jack;
	uint32_t k, n = 0;

	for (k = 0; k < PLACES_BATCHES; k++) {
		if (!last->oncpu_ns[k] && (!reference || !reference->oncpu_ns[k]))
			continue;
		/* The estimate of the whole from all other batches. */
		leave[n] = time_at(last, k, NULL) - (reference ? time_at(reference, k, NULL) : 0);
		mean += leave[n++];
	}
	out->last_ns = time_at(last, PLACES_BATCHES, &variance);
	out->reference_ns = reference ? time_at(reference, PLACES_BATCHES, &variance) : 0;
	half = NORMAL_95 * sqrt(variance);
	/* With few batches, the spread between them is unknown. */
	if (n >= 4) {
		mean /= n;
		for (k = 0; k < n; k++)
			spread += (leave[k] - mean) * (leave[k] - mean);
		/* A sum without one batch is smaller: scale it to the whole, by n / (n - 1). */
		jack = sqrt(spread * (n - 1) / n) * n / (n - 1);
		half = fmax(half, student[n - 2] * jack);
	}
	out->low_ns = out->last_ns - out->reference_ns - half;
	out->high_ns = out->last_ns - out->reference_ns + half;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Return whether the file is a part of the system, and not of the program. */
static bool is_system_module(const char *path)
{
	static const char *const where[] = { "/lib", "/usr/lib", "[" };
	size_t i;

	if (!path)
		return true;
	for (i = 0; i < sizeof(where) / sizeof(where[0]); i++)
		if (begins(path, where[i]))
			return true;
	return false;
}

/*
 * Return whether the source file belongs to a compiler or to a library: code of templates, generics
 * and inlined functions that was compiled into the program.
 */
static bool is_system_source(const char *file)
{
	static const char *const where[] = { "/usr/include/",	    "/usr/lib/",
					     "/usr/local/include/", "/rustc/",
					     "/usr/src/rustc",	    "/build/" };
	size_t i;

	for (i = 0; file && i < sizeof(where) / sizeof(where[0]); i++)
		if (begins(file, where[i]))
			return true;
	/* Python's library, and packages that are installed beside it. */
	return file && strstr(file, "/lib/python3.");
}

/* A function at which samples fell. */
struct where {
	uint32_t number; /* of .site */
	const struct site_name *site;
	const struct site_frame *frame; /* NULL: the file has no name for the code */
	const char *callee; /* the innermost function, if it is another one; else NULL */
};

/* Return whether the source file is one of Python: its module is the interpreter. */
static bool is_python(const char *file)
{
	size_t n = file ? strlen(file) : 0;

	return n > 3 && (!strcmp(file + n - 3, ".py") || file[0] == '<');
}

/* Return the innermost function of the program's own code in the frames of a call site. */
static const struct site_frame *own_frame(const struct site_name *s)
{
	bool python = s->nframes && is_python(s->frames[0].file);
	uint32_t i;

	if (is_system_module(s->module) && !python)
		return NULL;
	for (i = 0; i < s->nframes; i++)
		if (s->frames[i].function && !is_system_source(s->frames[i].file))
			return &s->frames[i];
	return NULL;
}

/*
 * Find the place of a stack: the innermost function of the program's own code, which may have
 * called functions of libraries. If there is none, the innermost function.
 */
static bool where_of(const struct report_env *env, const uint32_t *sites, uint32_t n,
		     struct where *out)
{
	const struct site_name *s, *first = NULL;
	const struct site_frame *f;
	uint32_t i;

	for (i = 0; i < n; i++) {
		s = env->site ? env->site(env->ctx, sites[i]) : NULL;
		if (!s)
			break;
		first = first ? first : s;
		f = own_frame(s);
		/* Code of the program without names is also the program's own. */
		if (!f && (is_system_module(s->module) || s->nframes))
			continue;
		*out = (struct where){ .number = sites[i], .site = s, .frame = f };
		if (first->nframes && first->frames[0].function && f != &first->frames[0])
			out->callee = first->frames[0].function;
		return true;
	}
	if (!first)
		return false;
	*out = (struct where){ .number = sites[0],
			       .site = first,
			       .frame = first->nframes ? &first->frames[0] : NULL };
	return true;
}

static bool chain_where(const struct report_env *env, const struct chain *c, struct where *out)
{
	return where_of(env, c->sites, c->n, out);
}

uint32_t places_member_site(const struct places *p, const struct report_env *env,
			    const struct model_member *m)
{
	const struct thread_samples *t = m->thread < p->nthreads ? &p->threads[m->thread] : NULL;
	const struct site_name *s;
	const struct chain *c;
	uint32_t i;

	if (!t || t->tid != m->tid || t->arrive_ns != m->arrive_ns || t->top >= p->nchains)
		return MODEL_NONE;
	c = &p->chains[t->top];
	for (i = 0; i < c->n; i++) {
		s = env->site ? env->site(env->ctx, c->sites[i]) : NULL;
		if (s && own_frame(s))
			return c->sites[i];
	}
	return c->n ? c->sites[0] : MODEL_NONE;
}

/* Return the offset by which code without a name is named. */
static uint64_t offset_of(const struct site_name *site)
{
	return site->function ? site->function : site->offset;
}

int places_name(const struct places *p, uint32_t chain, const struct report_env *env,
		struct arena *a, struct report_callsite *out)
{
	if (chain < p->nchains)
		return places_name_stack(p->chains[chain].sites, p->chains[chain].n, env, a, out);
	memset(out, 0, sizeof(*out));
	return 0;
}

int places_name_stack(const uint32_t *sites, uint32_t n, const struct report_env *env,
		      struct arena *a, struct report_callsite *out)
{
	struct where w;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (!where_of(env, sites, n, &w))
		return 0;
	out->module = name_keep(a, w.site->module, &err);
	out->offset = offset_of(w.site);
	if (w.frame) {
		out->function = name_keep(a, w.frame->function, &err);
		out->file = name_keep(a, w.frame->file, &err);
		out->line = w.frame->line;
	}
	return err ? err : 1;
}

/* --- the report ------------------------------------------------------------------------------- */

struct line {
	uint32_t line;
	double ns;
};

/* All samples of one function at one barrier. */
struct group {
	struct where where;
	struct places_side last, reference, spin;
	uint32_t nlines;
	struct line lines[LINES_MOST];
	/* the stack with the most samples of late threads, or of spinning threads */
	const struct chain *chain;
	uint32_t most;
	struct places_estimate estimate;
	uint64_t samples;
};

struct groups {
	struct group *groups;
	uint32_t n, cap;
	struct hash at; /* key -> index, plus 1 */
};

static uint64_t group_key(const struct where *w)
{
	uint64_t h = name_hash(TEXT_HASH_INIT, w->site->module);

	/* Functions without names are distinguished by their beginnings. */
	if (!w->frame || !w->frame->function)
		return hash_mix(h ^ w->site->function);
	return name_hash(name_hash(h, w->frame->function), w->frame->file) + w->frame->declared;
}

static struct group *group_of(struct groups *g, const struct where *w,
			      const struct barrier_samples *b)
{
	uint64_t key = group_key(w), at;
	struct group *to;

	if (hash_get(&g->at, key, &at))
		return &g->groups[at - 1];
	if (grow(g->groups, g->cap, g->n + 1) || hash_put(&g->at, key, g->n + 1))
		return NULL;
	to = &g->groups[g->n++];
	memset(to, 0, sizeof(*to));
	to->where = *w;
	memcpy(to->last.all, b->last, sizeof(b->last));
	memcpy(to->last.oncpu_ns, b->last_ns, sizeof(b->last_ns));
	memcpy(to->reference.all, b->reference, sizeof(b->reference));
	memcpy(to->reference.oncpu_ns, b->reference_ns, sizeof(b->reference_ns));
	memcpy(to->spin.all, b->spin, sizeof(b->spin));
	memcpy(to->spin.oncpu_ns, b->spin_ns, sizeof(b->spin_ns));
	return to;
}

static void add_line(struct group *g, uint32_t line, double ns)
{
	uint32_t i;

	for (i = 0; i < g->nlines && g->lines[i].line != line; i++)
		;
	if (i == LINES_MOST)
		return;
	if (i == g->nlines)
		g->lines[g->nlines++] = (struct line){ line, 0 };
	g->lines[i].ns += ns;
}

static uint64_t sum_u32(const uint32_t *values)
{
	uint64_t sum = 0;
	uint32_t k;

	for (k = 0; k < PLACES_BATCHES; k++)
		sum += values[k];
	return sum;
}

static uint64_t sum_u64(const uint64_t *values)
{
	uint64_t sum = 0;
	uint32_t k;

	for (k = 0; k < PLACES_BATCHES; k++)
		sum += values[k];
	return sum;
}

static double mean_ns(const uint64_t *ns, const uint32_t *samples)
{
	uint64_t n = sum_u32(samples);

	return n ? (double)sum_u64(ns) / (double)n : 0;
}

void places_each_stack(const struct places *p, uint32_t barrier,
		       void (*each)(void *ctx, const struct places_stack *stack), void *ctx)
{
	const struct barrier_samples *b = barrier < p->nbarriers ? &p->barriers[barrier] : NULL;
	double last, reference, spin, work;

	if (!b)
		return;
	last = mean_ns(b->last_ns, b->last);
	reference = mean_ns(b->reference_ns, b->reference);
	spin = mean_ns(b->spin_ns, b->spin);
	work = mean_ns(b->work_ns, b->work);
	array_for_each (s, p->sums, p->nsums) {
		const struct chain *c = &p->chains[s->chain];

		if (s->barrier != barrier || !(s->work + s->spin))
			continue;
		each(ctx,
		     &(struct places_stack){
			     .n = c->n,
			     .sites = c->sites,
			     .work_ns = (uint64_t)(work * s->work),
			     .spin_ns = (uint64_t)(spin * s->spin),
			     .last_ns = (uint64_t)(last * (double)sum_u32(s->last)),
			     .reference_ns = (uint64_t)(reference * (double)sum_u32(s->reference)),
		     });
	}
}

static void add_sum(struct group *g, const struct sum *s, const struct chain *c,
		    const struct barrier_samples *b, bool spin)
{
	const uint32_t *at = spin ? s->spin_at : s->last;
	uint32_t k, line = g->where.frame ? g->where.frame->line : 0;
	uint64_t n = sum_u32(at);

	if (spin) {
		add_line(g, line, (double)n);
	} else {
		add_line(g, line,
			 (double)n * mean_ns(b->last_ns, b->last) -
				 (double)sum_u32(s->reference) *
					 mean_ns(b->reference_ns, b->reference));
	}
	for (k = 0; k < PLACES_BATCHES; k++) {
		g->last.at[k] += s->last[k];
		g->reference.at[k] += s->reference[k];
		g->spin.at[k] += s->spin_at[k];
	}
	if (n > g->most || !g->chain) {
		g->most = (uint32_t)n;
		g->chain = c;
	}
}

/* Add up the sums of @barrier by function. */
static int group_all(const struct places *p, uint32_t barrier, const struct report_env *env,
		     bool spin, struct groups *out)
{
	const struct barrier_samples *b = &p->barriers[barrier];
	struct group *g;
	struct where w;

	array_for_each (s, p->sums, p->nsums) {
		const struct chain *c = &p->chains[s->chain];

		if (s->barrier != barrier ||
		    !(spin ? s->spin : sum_u32(s->last) + sum_u32(s->reference)) ||
		    !chain_where(env, c, &w))
			continue;
		g = group_of(out, &w, b);
		if (!g)
			return -ENOMEM;
		/* The line of this sample's own call site. */
		g->where.frame = w.frame;
		if (!g->where.callee)
			g->where.callee = w.callee;
		add_sum(g, s, c, b, spin);
	}
	return 0;
}

static int by_difference(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	double dx = x->estimate.last_ns - x->estimate.reference_ns;
	double dy = y->estimate.last_ns - y->estimate.reference_ns;

	return NUMBER_COMPARE(dy, dx);
}

static uint32_t top_line(const struct group *g)
{
	const struct line *top = &g->lines[0];
	uint32_t i;

	for (i = 1; i < g->nlines; i++)
		if (g->lines[i].ns > top->ns)
			top = &g->lines[i];
	return g->nlines ? top->line : 0;
}

static int fill_stack(const struct report_env *env, const struct chain *c, struct arena *a,
		      struct report_place *out)
{
	struct report_callsite *stack = arena_alloc(a, (c->n ? c->n : 1) * sizeof(*stack));
	uint32_t i;
	int err = stack ? 0 : -ENOMEM;

	for (i = 0; i < c->n && !err; i++)
		err = name_callsite(a, env, c->sites[i], &stack[i]);
	out->stack = stack;
	out->nstack = c->n;
	return err;
}

static int fill_place(const struct group *g, bool spin, const struct barrier_samples *b,
		      const struct report_env *env, struct arena *a, struct report_place *out)
{
	const struct where *w = &g->where;
	int err = 0;

	*out = (struct report_place){
		.kind = spin ? REPORT_PLACE_SPIN : REPORT_PLACE_WORK,
		.line = top_line(g),
		.offset = offset_of(w->site),
		.last_ns = (uint64_t)g->estimate.last_ns,
		.reference_ns = spin ? REPORT_UNKNOWN : (uint64_t)g->estimate.reference_ns,
		.low_ns = (int64_t)g->estimate.low_ns,
		.high_ns = (int64_t)g->estimate.high_ns,
		.samples = g->samples,
		.episodes = spin ? b->episodes : b->late,
		.oncpu_last_ns = sum_u64(spin ? b->spin_ns : b->last_ns),
		.oncpu_reference_ns = spin ? REPORT_UNKNOWN : sum_u64(b->reference_ns),
	};
	out->function = name_keep(a, w->frame ? w->frame->function : NULL, &err);
	out->file = name_keep(a, w->frame ? w->frame->file : NULL, &err);
	out->module = name_keep(a, w->site->module, &err);
	out->callee = name_keep(a, w->callee, &err);
	return err ? err : fill_stack(env, g->chain, a, out);
}

/*
 * Return whether the difference shows a place. The last arriver is by definition the one that took
 * longest. If chance decides which thread that is, the same work takes it longer than the others,
 * for example because of the caches. Only a large difference then shows more work.
 */
static bool is_place(const struct places_estimate *e, double all, bool alike)
{
	double more = e->last_ns - e->reference_ns;

	if (!(e->low_ns > 0) || !(all > 0) || more < SHARE_LEAST * all)
		return false;
	return !alike || e->last_ns >= CONTRAST_LEAST * e->reference_ns;
}

/* Keep the groups that are significant and large enough, in order. */
static void choose(struct groups *g, const struct barrier_samples *b, bool spin, bool alike)
{
	double all = spin ? (double)sum_u64(b->spin_ns)
			  : (double)sum_u64(b->last_ns) - (double)sum_u64(b->reference_ns);
	uint32_t kept = 0;

	array_for_each (x, g->groups, g->n) {
		places_estimate(spin ? &x->spin : &x->last, spin ? NULL : &x->reference,
				&x->estimate);
		x->samples =
			spin ? sum_u32(x->spin.at) : sum_u32(x->last.at) + sum_u32(x->reference.at);
		if (is_place(&x->estimate, all, alike && !spin))
			g->groups[kept++] = *x;
	}
	g->n = kept;
	if (kept)
		qsort(g->groups, kept, sizeof(*g->groups), by_difference);
	if (g->n > PLACES_MOST)
		g->n = PLACES_MOST;
}

static int add_places(const struct places *p, uint32_t barrier, bool spin,
		      const struct report_env *env, struct arena *a, struct report_places *out)
{
	const struct barrier_samples *b = &p->barriers[barrier];
	struct groups g = { 0 };
	uint32_t i;
	int err = 0;

	if (sum_u32(spin ? b->spin : b->last) < SAMPLES_LEAST)
		return 0;
	err = group_all(p, barrier, env, spin, &g);
	if (!err) {
		choose(&g, b, spin, out->alike);
		for (i = 0; i < g.n && !err; i++)
			err = fill_place(&g.groups[i], spin, b, env, a, &out->places[out->n++]);
	}
	free(g.groups);
	hash_free(&g.at);
	return err;
}

int places_of(const struct places *p, uint32_t barrier, bool alike, const struct report_env *env,
	      struct arena *a, struct report_places *out)
{
	const struct barrier_samples *b = barrier < p->nbarriers ? &p->barriers[barrier] : NULL;
	int err;

	memset(out, 0, sizeof(*out));
	out->alike = alike;
	if (!b || !b->episodes)
		return 0;
	out->places = arena_alloc(a, 2 * PLACES_MOST * sizeof(*out->places));
	if (!out->places)
		return -ENOMEM;
	out->late = b->late;
	out->last_ns = sum_u64(b->last_ns);
	out->reference_ns = sum_u64(b->reference_ns);
	err = add_places(p, barrier, false, env, a, out);
	return err ? err : add_places(p, barrier, true, env, a, out);
}

/* Return the call site of the place with the largest difference so far; MODEL_NONE: no place. */
static uint32_t more_site_of(const struct places *p, uint32_t barrier, const struct report_env *env)
{
	const struct barrier_samples *b = &p->barriers[barrier];
	uint32_t site = MODEL_NONE;
	struct groups g = { 0 };
	struct where w;

	if (sum_u32(b->last) < SAMPLES_LEAST)
		return MODEL_NONE;
	if (!group_all(p, barrier, env, false, &g)) {
		/* Whether chance decides which thread is late is known only at the end. */
		choose(&g, b, false, true);
		if (g.n && chain_where(env, g.groups[0].chain, &w))
			site = w.number;
	}
	free(g.groups);
	hash_free(&g.at);
	return site;
}

uint32_t places_more_site(struct places *p, uint32_t barrier, const struct report_env *env)
{
	struct barrier_samples *b = barrier < p->nbarriers ? &p->barriers[barrier] : NULL;

	if (!b || !b->late)
		return MODEL_NONE;
	if (b->late >= b->renew) {
		b->more_site = more_site_of(p, barrier, env);
		b->renew = b->late + b->late / 2 + 1;
	}
	return b->more_site;
}

/* Write "relax() ocean.c:212", or "libx.so+0x1234" for code without a name. */
static void place_label(const struct report_place *p, char *out, size_t size)
{
	char function[96], file[96];

	if (!p->function) {
		name_copy(file, sizeof(file),
			  p->module ? text_base_name(p->module) : "unknown code");
		snprintf(out, size, "%s+0x%llx", file, (unsigned long long)p->offset);
		return;
	}
	name_function(function, sizeof(function), p->function, sizeof(function) - 1);
	name_copy(file, sizeof(file), p->file ? text_base_name(p->file) : "");
	snprintf(out, size, "%s%s", function, function_name_call(function));
	if (*file && p->line)
		name_append(out, size, " %s:%u", file, p->line);
}

void places_words(const struct report_places *places, struct places_words *out)
{
	const struct report_place *p = places->n && places->places[0].kind == REPORT_PLACE_WORK
					       ? &places->places[0]
					       : NULL;
	double here, all, unit;
	char label[sizeof(out->at)];

	*out = (struct places_words){ 0 };
	if (!p || !places->late)
		return;
	here = (double)p->last_ns - (double)p->reference_ns;
	all = (double)places->last_ns - (double)places->reference_ns;
	place_label(p, label, sizeof(label));
	out->more_ns = here;
	if (here >= PLACE_MAIN * all)
		memcpy(out->at, label, sizeof(label));
	here /= (double)places->late;
	all /= (double)places->late;
	unit = all >= 1e9 ? 1e9 : all >= 1e6 ? 1e6 : 1e3;
	/* The estimates of two places may together exceed the whole by a little. */
	snprintf(out->clause, sizeof(out->clause), "%.3g of %.3g %s more in %s",
		 fmin(here, all) / unit, all / unit,
		 unit == 1e9   ? "s"
		 : unit == 1e6 ? "ms"
			       : "\xc2\xb5s",
		 label);
}

/* --- functions, for comparisons --------------------------------------------------------------- */

static int by_work(const void *a, const void *b)
{
	const struct report_function *x = a, *y = b;

	return NUMBER_COMPARE(y->oncpu_ns, x->oncpu_ns);
}

/* Add the time of a stack to its function's batches. */
static void add_work(struct report_function *f, const struct sum *s,
		     const struct barrier_samples *b)
{
	uint32_t k;

	for (k = 0; k < PLACES_BATCHES; k++) {
		double share = b->work[k] ? (double)s->work_at[k] / b->work[k] : 0;

		if (k < f->batches.n)
			f->batches.sum[k] += share * (double)b->work_ns[k];
		else
			f->batches.open += share * (double)b->work_ns[k];
		f->oncpu_ns += share * (double)b->work_ns[k];
	}
}

/* Reports can only be compared by the names of a function and its file. */
static uint64_t function_key(const struct where *w)
{
	return name_hash(name_hash(TEXT_HASH_INIT, w->frame->function), w->frame->file);
}

/* Find the function of a stack in the phases that end at @barrier. Return whether there is one. */
static bool function_of(const struct places *p, const struct sum *s, uint32_t barrier,
			const struct report_env *env, struct where *w)
{
	return s->barrier == barrier && s->work && chain_where(env, &p->chains[s->chain], w) &&
	       w->frame;
}

/* A function, by its key, and its samples. */
struct function_samples {
	uint64_t key, samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct function_samples *x = a, *y = b;

	return NUMBER_COMPARE(y->samples, x->samples);
}

/*
 * Put the functions of a barrier into @chosen, only those with the most samples if there are too
 * many. Each has the value UINT64_MAX.
 */
static int choose_functions(const struct places *p, uint32_t barrier, const struct report_env *env,
			    struct hash *chosen)
{
	struct function_samples *all = NULL;
	uint32_t n = 0, cap = 0, i;
	struct hash at = { 0 };
	uint64_t key, index;
	struct where w;
	int err = 0;

	array_for_each (s, p->sums, p->nsums) {
		if (!function_of(p, s, barrier, env, &w))
			continue;
		key = function_key(&w);
		if (!hash_get(&at, key, &index)) {
			index = n;
			err = grow(all, cap, n + 1);
			if (!err)
				err = hash_put(&at, key, index);
			if (err)
				break;
			all[n++] = (struct function_samples){ .key = key };
		}
		if (index < n)
			all[index].samples += s->work;
	}
	if (n)
		qsort(all, n, sizeof(*all), by_samples);
	for (i = 0; !err && i < n && i < PLACES_FUNCTIONS; i++)
		err = hash_put(chosen, all[i].key, UINT64_MAX);
	hash_free(&at);
	free(all);
	return err;
}

static void set_parts(struct batches_times *t, const struct barrier_samples *b)
{
	uint64_t full = b->per ? b->episodes / b->per : 0;

	/* Parts of barriers that were folded can be fuller. */
	t->n = full < PLACES_BATCHES ? (uint32_t)full : PLACES_BATCHES;
	t->per = b->per;
	t->fill = full < PLACES_BATCHES ? b->episodes - full * b->per : 0;
}

int places_functions(const struct places *p, uint32_t barrier, const struct report_env *env,
		     struct arena *a, struct report_function **out, uint32_t *n)
{
	const struct barrier_samples *b = barrier < p->nbarriers ? &p->barriers[barrier] : NULL;
	struct hash at = { 0 };
	uint64_t key, index;
	struct where w;
	int err;

	*n = 0;
	*out = arena_alloc(a, PLACES_FUNCTIONS * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	if (!b || sum_u32(b->work) < SAMPLES_LEAST)
		return 0;
	err = choose_functions(p, barrier, env, &at);
	array_for_each (s, p->sums, p->nsums) {
		if (err)
			break;
		if (!function_of(p, s, barrier, env, &w))
			continue;
		key = function_key(&w);
		if (!hash_get(&at, key, &index))
			continue;
		if (index == UINT64_MAX) {
			index = (*n)++;
			(*out)[index].function = name_keep(a, w.frame->function, &err);
			(*out)[index].file = name_keep(a, w.frame->file, &err);
			set_parts(&(*out)[index].batches, b);
			if (!err)
				err = hash_put(&at, key, index);
			if (err)
				break;
		}
		add_work(&(*out)[index], s, b);
	}
	hash_free(&at);
	if (*n)
		qsort(*out, *n, sizeof(**out), by_work);
	return err;
}
