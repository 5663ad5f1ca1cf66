// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find out why the last thread of an episode was late: compare its phase with the phase of a
 * typical member, part by part. The results are summed by site.
 */
#include "analyse/internal.h"
#include "analyse/openmp.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"
#include "analyse/activity.h"
#include "analyse/places.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A lateness below this time, in ns, is noise and gets no cause: a wake-up and a timer tick usually
 * take about this long. A lateness below CAUSE_LITTLE of the phase is also noise: among threads
 * with equal work, chance decides which thread arrives last.
 */
#define NOISE_NS 20000

/* What is known of a thread from its previous crossing. */
struct thread_state {
	uint32_t tid; /* 0 if the entry is unused */
	uint32_t proc;
	uint64_t serial; /* serial number of its previous episode; 0 if none */
	uint64_t wait_ns;
	uint64_t inside_runq_ns;
	/* tid of the last arriver of its previous episode; 0 if the thread itself arrived last */
	uint32_t awaited;
	uint32_t inside_ran;
	uint32_t cpu; /* CPU at its last departure; MODEL_NONE if unknown */
	/*
	 * the only CPU on which the thread may run; MODEL_NONE if there are several, or if unknown
	 */
	uint32_t pinned;
};

struct causes {
	const struct cause_env *env;
	const struct report_env *report_env;
	struct thread_state *threads; /* indexed as in the model */
	struct blame *sites; /* indexed by barrier */
	struct cause_proc *procs; /* indexed as in the model */
	struct cause_cpu *cpus;
	uint32_t nthreads, nsites, nprocs, ncpus;
	uint64_t serial; /* serial number of the latest episode, from 1 */
	struct hash by_tid; /* process << 32 | tid -> index */
	struct delay *delay;
	struct places *places;
	struct activities *activities;
	struct arena *arena; /* owns the frames that causes_episode() last returned */
	/* owns the culprit's name that causes_episode() last returned */
	struct culprit_words words;
};

struct causes *causes_new(const struct cause_env *env, const struct report_env *report_env)
{
	struct causes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->env = env;
	c->report_env = report_env;
	hash_init(&c->by_tid);
	c->delay = delay_new();
	c->places = places_new(env);
	c->activities = activities_new(env);
	if (!c->delay || !c->places || !c->activities) {
		causes_free(c);
		return NULL;
	}
	return c;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	array_for_each (s, c->sites, c->nsites)
		blame_free(s);
	free(c->sites);
	free(c->threads);
	free(c->procs);
	free(c->cpus);
	hash_free(&c->by_tid);
	delay_free(c->delay);
	places_free(c->places);
	activities_free(c->activities);
	arena_free(c->arena);
	free(c);
}

int causes_fold_barrier(struct causes *c, uint32_t from, uint32_t into)
{
	int err = 0;

	if (from < c->nsites) {
		err = grow_zeroed(c->sites, c->nsites, into + 1);
		if (!err)
			err = blame_join(&c->sites[into], &c->sites[from]);
		blame_free(&c->sites[from]);
		memset(&c->sites[from], 0, sizeof(c->sites[from]));
	}
	if (!err)
		err = places_fold(c->places, from, into);
	return err ? err : delay_fold(c->delay, from, into);
}

int causes_fold_process(struct causes *c, uint32_t from, uint32_t into)
{
	struct cause_proc *a, *b;
	int err;

	if (from >= c->nprocs)
		return 0;
	err = grow_zeroed(c->procs, c->nprocs, into + 1);
	if (err)
		return err;
	a = &c->procs[into];
	b = &c->procs[from];
	if (b->episodes) {
		if (!a->episodes || b->first_ns < a->first_ns)
			a->first_ns = b->first_ns;
		if (b->last_ns > a->last_ns)
			a->last_ns = b->last_ns;
	}
	a->episodes += b->episodes;
	a->spun_episodes += b->spun_episodes;
	a->spun_ns += b->spun_ns;
	a->node_moves += b->node_moves;
	a->samples += b->samples;
	memset(b, 0, sizeof(*b));
	return 0;
}

int causes_sample(struct causes *c, const struct model *model, uint32_t thread,
		  const struct model_sample *sample)
{
	const struct model_thread *t = thread == MODEL_NONE ? NULL : model_thread(model, thread);
	uint32_t chain;
	int err = t ? grow_zeroed(c->procs, c->nprocs, t->proc + 1) : 0;

	if (err)
		return err;
	if (t)
		c->procs[t->proc].samples++;
	chain = places_chain(c->places, sample, &err);
	if (!err && t)
		err = places_sample(c->places, thread, sample, chain);
	else if (!err)
		places_leave(c->places);
	if (!err && chain != MODEL_NONE && !(t && t->crossings))
		err = activities_sample(c->activities, sample, chain);
	return err;
}

uint64_t causes_samples(const struct causes *c, uint32_t proc)
{
	return proc < c->nprocs ? c->procs[proc].samples : 0;
}

int causes_activity(struct causes *c, const struct model *model, uint32_t thread,
		    const struct model_activity *activity)
{
	return activities_add(c->activities, model_thread(model, thread), activity);
}

const struct activities *causes_activities(const struct causes *c)
{
	return c->activities;
}

const struct places *causes_places(const struct causes *c)
{
	return c->places;
}

const struct delay *causes_delay(const struct causes *c)
{
	return c->delay;
}

void causes_weights(const struct causes *c, uint32_t barrier, double weight[CAUSE_KINDS],
		    double *lost, double *thread_ns)
{
	const struct blame *s = barrier < c->nsites ? &c->sites[barrier] : NULL;
	unsigned k;

	*lost = s ? s->noise_ns : 0;
	*thread_ns = s ? s->thread_ns : 0;
	for (k = 0; k < CAUSE_KINDS; k++) {
		weight[k] = s ? s->weight[k] : 0;
		*lost += weight[k];
	}
}

void causes_sentence(const struct causes *c, uint32_t barrier, char *out, size_t size)
{
	struct arena *a = arena_new();
	struct report_cause cause = { 0 };

	*out = '\0';
	if (a && !causes_site(c, barrier, a, NULL, &cause))
		snprintf(out, size, "%s", cause.text);
	arena_free(a);
}

const struct cause_proc *causes_proc(const struct causes *c, uint32_t proc)
{
	return proc < c->nprocs ? &c->procs[proc] : NULL;
}

const struct cause_cpu *causes_cpu(const struct causes *c, uint32_t cpu)
{
	return cpu < c->ncpus ? &c->cpus[cpu] : NULL;
}

uint32_t causes_ncpus(const struct causes *c)
{
	return c->ncpus;
}

uint32_t causes_pinned(const struct causes *c, uint32_t thread, uint32_t tid)
{
	return thread < c->nthreads && c->threads[thread].tid == tid ? c->threads[thread].pinned
								     : MODEL_NONE;
}

static bool is_noise(const struct model_episode *ep, const struct model_member *l,
		     const struct cause_parts *p)
{
	uint64_t phase = ep->phase_ns != MODEL_UNKNOWN ? ep->phase_ns : l->work_ns;
	double limit = CAUSE_LITTLE * (double)phase;

	return (double)p->lateness_ns < (limit > NOISE_NS ? limit : NOISE_NS);
}

/* --- culprits -------------------------------------------------------------------------------- */

static uint64_t name_key(const char *name)
{
	return name && name[0] ? text_hash(TEXT_HASH_INIT, name, strlen(name)) : 0;
}

static uint64_t task_key(const struct causes *c, uint32_t tid)
{
	return c->env->task ? name_key(c->env->task(c->env->ctx, tid)) : 0;
}

static void culprit_block(const struct model_detail *d, enum model_blocked reason,
			  struct culprit *q)
{
	if (d && d->block.ns && d->block.reason == reason)
		q->block = d->block;
	else if (d && d->second.ns && d->second.reason == reason)
		q->block = d->second;
}

/* Return a key that all threads with the waker's name share, or 0 if the name is unknown. */
static uint64_t waker_key(const struct causes *c, const struct model_block *b)
{
	return b->waker ? task_key(c, b->waker) : 0;
}

/*
 * Set q->did, the key of the thread for which the awaited thread waited. A thread that crosses
 * barriers is identified by its tid, and any other thread by its name.
 */
static void culprit_did(const struct causes *c, struct culprit *q)
{
	uint32_t tid = q->block.culprit;
	uint64_t thread;

	if (!tid)
		return;
	if (!hash_get(&c->by_tid, (uint64_t)q->proc << 32 | tid, &thread))
		q->did = task_key(c, tid);
	if (!q->did)
		q->did = tid;
}

static void culprit_lock(const struct causes *c, struct culprit *q)
{
	const struct model_block *b = &q->block;
	uint64_t addr = b->at.futex, waker;

	/*
	 * A condition variable alternates between two adjacent futex words, so give both words the
	 * same key.
	 */
	if (b->waited == MODEL_WAITED_EVENT)
		addr &= ~7ULL;
	/* If the holder is known, it does not matter which thread woke the waiting thread. */
	q->key = culprit_key(addr, b->holder ? b->holder : b->waker);
	culprit_did(c, q);
	q->coarse = addr;
	waker = b->holder ? 0 : waker_key(c, b);
	if (waker)
		q->named = culprit_key(addr, waker);
	/* Each joined thread has its own futex word, so joins have only the stack in common. */
	if (b->waited == MODEL_WAITED_JOIN)
		q->coarse = b->stack;
}

/*
 * The function in which the GIL was held identifies the wait, together with the thread if that
 * holds it each time. The position in the function does not.
 */
static void culprit_gil(const struct causes *c, struct culprit *q)
{
	const struct model_block *b = &q->block;

	/* A holder that computes is what the sentence says anyway. */
	if (b->doing == MODEL_DOING_ONCPU)
		q->block.doing = MODEL_DOING_UNKNOWN;
	q->key = culprit_key(b->at.gil, culprit_holder(b));
	q->named = culprit_key(b->at.gil, 0);
	q->coarse = culprit_key(MODEL_BLOCKED_GIL, 0);
	culprit_did(c, q);
}

static void culprit_io(const struct causes *c, struct culprit *q)
{
	const struct model_block *b = &q->block;
	bool has_ends = false;
	const char *name = b->at.file > MODEL_FILE_SEVERAL && c->env->file
				   ? c->env->file(c->env->ctx, b->at.file, &has_ends)
				   : NULL;
	/*
	 * Prefer the file's name to its number, because a program may create a pipe for each wait.
	 * All these pipes have the same name. If the file is unknown or one of several, the stack
	 * identifies the wait.
	 */
	uint64_t what = name_key(name), waker;

	if (!what)
		what = b->at.file > MODEL_FILE_SEVERAL ? b->at.file : b->stack;
	q->key = q->coarse = what;
	if (b->waited != MODEL_WAITED_WAKER)
		return;
	q->key = culprit_key(what, b->waker);
	culprit_did(c, q);
	waker = waker_key(c, b);
	if (waker)
		q->named = culprit_key(what, waker);
}

static void culprit_released(const struct causes *c, const struct model_member *l,
			     const struct model_member *ref, int64_t part, struct culprit *q)
{
	const struct thread_state *t = &c->threads[l->thread], *r = &c->threads[ref->thread];

	q->began = !t->serial;
	/* The wait for a CPU explains the late release only if it was longer than half of @part. */
	if (t->inside_ran && t->inside_runq_ns > (uint64_t)part / 2) {
		q->ran = t->inside_ran;
		q->key = culprit_key(1, q->ran);
		q->coarse = task_key(c, q->ran);
	} else if (t->serial != r->serial) {
		q->elsewhere = true;
		if (t->awaited && t->wait_ns > (uint64_t)part / 2) {
			q->awaited = t->awaited;
			q->key = culprit_key(2, q->awaited);
		}
		q->coarse = culprit_key(3, 0);
	}
}

static void culprit_of(const struct causes *c, const struct model *model,
		       const struct model_episode *ep, const struct model_member *ref,
		       enum cause_kind kind, int64_t part, struct culprit *q)
{
	const struct model_member *l = &ep->members[ep->n - 1];
	const struct model_detail *d = l->detail;
	const struct model_proc *p;

	memset(q, 0, sizeof(*q));
	q->kind = kind;
	q->proc = model_thread(model, l->thread)->proc;
	p = model_proc(model, q->proc);
	q->tgid = p->tgid;
	q->inc = p->inc;
	q->shared = model_barrier(model, ep->barrier)->shared;
	switch (kind) {
	case CAUSE_CPU:
		/* Name the task that ran longest while the thread waited for a CPU. */
		q->ran = d ? d->ran : 0;
		q->among = d && d->ran_ns && d->ran_ns < d->runq_ns / 2;
		q->key = q->ran ? culprit_key(q->among, q->ran) : 0;
		q->coarse = q->ran ? task_key(c, q->ran) : 0;
		break;
	case CAUSE_LOCK:
		culprit_block(d, MODEL_BLOCKED_LOCK, q);
		if (q->block.ns)
			culprit_lock(c, q);
		break;
	case CAUSE_GIL:
		culprit_block(d, MODEL_BLOCKED_GIL, q);
		if (q->block.ns)
			culprit_gil(c, q);
		break;
	case CAUSE_IO:
		culprit_block(d, MODEL_BLOCKED_IO, q);
		culprit_io(c, q);
		break;
	case CAUSE_FAULT:
		culprit_block(d, MODEL_BLOCKED_FAULT, q);
		/*
		 * Use the address of the longest page fault. If it is unknown, use the block's
		 * address.
		 */
		q->fault_addr = d && d->fault_addr ? d->fault_addr : q->block.at.fault_addr;
		if (q->fault_addr && c->env->mapping)
			q->key = name_key(
				c->env->mapping(c->env->ctx, q->tgid, q->inc, q->fault_addr));
		break;
	case CAUSE_SLEEP:
	case CAUSE_OTHER:
		culprit_block(d, kind == CAUSE_SLEEP ? MODEL_BLOCKED_SLEEP : MODEL_BLOCKED_OTHER,
			      q);
		q->key = q->block.stack;
		break;
	case CAUSE_RELEASED_LATE:
		culprit_released(c, l, ref, part, q);
		break;
	default:
		break;
	}
}

static double lost_of(const struct model_episode *ep)
{
	double lost = 0;
	uint32_t i;

	for (i = 0; i < ep->n; i++)
		lost += (double)ep->members[i].wait_ns;
	return lost;
}

static int blame_episode(struct blame *s, const struct causes *c, const struct culprit_env *env,
			 const struct model_episode *ep, const struct model_member *ref,
			 const struct cause_parts *p, enum cause_kind dominant)
{
	const struct model_member *l = &ep->members[ep->n - 1];
	uint64_t phase = ep->phase_ns != MODEL_UNKNOWN ? ep->phase_ns : l->work_ns;
	double sum = lateness_positive(p->ns), lost = lost_of(ep), share;
	struct culprit q;
	unsigned k;
	int err = 0;

	blame_add(s, p, dominant, lost, (double)phase * ep->n);
	if (dominant == CAUSE_NONE)
		return 0;
	for (k = 0; k < CAUSE_KINDS && !err; k++) {
		share = (double)p->ns[k] / sum;
		/* A small part of a single episode is no reason to name a culprit. */
		if (share < CAUSE_SECOND)
			continue;
		culprit_of(c, env->model, ep, ref, k, p->ns[k], &q);
		err = blame_culprit(s, env, &q, lost * share);
	}
	return err;
}

int causes_site(const struct causes *c, uint32_t barrier, struct arena *a,
		const struct places_words *where, struct report_cause *out)
{
	memset(out, 0, sizeof(*out));
	out->share = NAN;
	if (barrier >= c->nsites || !c->sites[barrier].episodes)
		return 0;
	return blame_out(&c->sites[barrier], c->env, c->report_env, where, a, out);
}

int causes_blame(const struct causes *c, const struct blame *blame, struct arena *a,
		 struct report_cause *out)
{
	return blame_out(blame, c->env, c->report_env, NULL, a, out);
}

/* Append the activity of the awaited thread in a single episode. */
static void append_did(struct culprit_words *w)
{
	if (w->doing == MODEL_DOING_UNKNOWN)
		return;
	name_append(w->clause, sizeof(w->clause), ", which ");
	culprit_append_did(w->doing, w->awaits, false, w->clause, sizeof(w->clause));
}

static int episode_out(struct causes *c, const struct culprit_env *env,
		       const struct model_episode *ep, const struct model_member *ref,
		       const struct cause_parts *p, enum cause_kind dominant,
		       struct report_cause *out)
{
	const struct model_member *l = &ep->members[ep->n - 1];
	bool shared = model_barrier(env->model, ep->barrier)->shared;
	char late[32], thread[32], than[32];
	struct culprit_words second = { 0 };
	enum cause_kind next;
	double sum = lateness_positive(p->ns);
	struct culprit q;

	cause_set_parts(p->ns, out);
	out->lateness_ns = (uint64_t)p->lateness_ns;
	out->episodes = 1;
	if (dominant == CAUSE_NONE)
		return 0;
	out->dominated = 1;
	out->dominant = cause_row(dominant);
	out->share = (double)p->ns[dominant] / sum;
	next = lateness_largest(p->ns, dominant);
	if (next != CAUSE_NONE) {
		culprit_of(c, env->model, ep, ref, next, p->ns[next], &q);
		culprit_words(env, &q, CULPRIT_EXACT, &second);
		append_did(&second);
	}
	culprit_of(c, env->model, ep, ref, dominant, p->ns[dominant], &q);
	culprit_words(env, &q, CULPRIT_EXACT, &c->words);
	append_did(&c->words);
	out->culprit = c->words.name[0] ? c->words.name : NULL;
	out->waited = c->words.waited;
	out->doing = c->words.doing_matters ? c->words.doing : MODEL_DOING_UNKNOWN;
	text_time(p->lateness_ns, late);
	culprit_thread(env, l->thread, l->tid, shared, thread, sizeof(thread));
	culprit_thread(env, ref->thread, ref->tid, shared, than, sizeof(than));
	thread[0] = 'T';
	name_append(out->text, sizeof(out->text),
		    "%s arrived %s after %s: %d %% of the delay because %s", thread, late, than,
		    text_percent(out->share), c->words.clause);
	cause_end_text(out, next == CAUSE_NONE ? 0 : (double)p->ns[next] / sum, second.clause);
	return cause_set_frames(c->arena, c->env, c->report_env,
				&(struct stack_ref){ q.block.stack, q.tgid, q.inc }, out);
}

/* --- episodes -------------------------------------------------------------------------------- */

static uint64_t thread_key(uint32_t proc, uint32_t tid)
{
	return (uint64_t)proc << 32 | tid;
}

/* Reset the state if another thread has taken the index of a thread that exited. */
static int thread_fresh(struct causes *c, const struct model *model, const struct model_member *m)
{
	struct thread_state *t = &c->threads[m->thread];
	uint64_t index;

	if (t->tid == m->tid)
		return 0;
	if (t->tid && hash_get(&c->by_tid, thread_key(t->proc, t->tid), &index) &&
	    index == m->thread)
		hash_del(&c->by_tid, thread_key(t->proc, t->tid));
	*t = (struct thread_state){
		.tid = m->tid,
		.proc = model_thread(model, m->thread)->proc,
		.cpu = MODEL_NONE,
		.pinned = MODEL_NONE,
	};
	return hash_put(&c->by_tid, thread_key(t->proc, t->tid), m->thread);
}

static int prepare(struct causes *c, const struct model *model, const struct model_episode *ep)
{
	uint32_t i, most = 0;
	int err;

	array_for_each (m, ep->members, ep->n)
		if (m->thread >= most)
			most = m->thread + 1;
	err = grow_zeroed(c->threads, c->nthreads, most);
	if (!err)
		err = grow_zeroed(c->sites, c->nsites, ep->barrier + 1);
	if (!err)
		err = grow_zeroed(c->procs, c->nprocs, ep->proc + 1);
	for (i = 0; i < ep->n && !err; i++)
		err = thread_fresh(c, model, &ep->members[i]);
	return err;
}

/* Count the cycles of a phase if the thread had one CPU to itself throughout. */
static int note_cycles(struct causes *c, const struct thread_state *t, const struct model_member *m)
{
	const struct model_detail *d = m->detail;
	uint32_t i = c->env->cycles;
	struct cause_cpu *cpu;
	int err;

	if (!d || i >= d->ncounters || i >= MODEL_COUNTERS_MAX || d->unknown & 1u << i ||
	    d->scaled & 1u << i || d->switches || d->migrations || t->cpu != m->arrive_cpu ||
	    m->work_ns == MODEL_UNKNOWN || !m->work_ns)
		return 0;
	err = grow_zeroed(c->cpus, c->ncpus, m->arrive_cpu + 1u);
	if (err)
		return err;
	cpu = &c->cpus[m->arrive_cpu];
	cpu->cycles += d->counters[i];
	cpu->oncpu_ns += d->oncpu_ns == MODEL_UNKNOWN ? m->work_ns : d->oncpu_ns;
	cpu->phases++;
	return 0;
}

static bool other_node(const struct causes *c, uint32_t a, uint32_t b)
{
	const struct report_env *env = c->report_env;

	return env->cpu_node && a < env->ncpu_node && b < env->ncpu_node &&
	       env->cpu_node[a] != env->cpu_node[b];
}

/* Keep the state of each member for its next crossing, and update the sums for the findings. */
static int note_members(struct causes *c, const struct model_episode *ep)
{
	struct cause_proc *p = &c->procs[ep->proc];
	const struct model_member *m, *l = &ep->members[ep->n - 1];
	struct thread_state *t;
	uint32_t i;
	int err = 0;

	for (i = 0; i < ep->n && !err; i++) {
		m = &ep->members[i];
		t = &c->threads[m->thread];
		err = note_cycles(c, t, m);
		p->node_moves += other_node(c, t->cpu, m->arrive_cpu);
		p->node_moves += other_node(c, m->arrive_cpu, m->depart_cpu);
		t->cpu = m->depart_ns == MODEL_UNKNOWN ? MODEL_NONE : m->depart_cpu;
		t->serial = c->serial;
		t->wait_ns = m->wait_ns;
		t->awaited = m == l ? 0 : l->tid;
		t->inside_runq_ns = m->detail ? m->detail->inside_runq_ns : 0;
		t->inside_ran = m->detail ? m->detail->inside_ran : 0;
		if (m->detail && m->detail->cpus_allowed)
			t->pinned = m->detail->cpus_allowed == 1 ? m->arrive_cpu : MODEL_NONE;
	}
	return err;
}

static void note_spinning(struct causes *c, const struct model_episode *ep)
{
	const struct model_member *l = &ep->members[ep->n - 1];
	struct cause_proc *p = &c->procs[ep->proc];
	uint64_t spun = 0, in, waited, turn;

	if (!p->episodes++)
		p->first_ns = ep->release_ns;
	p->last_ns = ep->release_ns;
	waited = l->detail ? l->detail->runq_ns : 0;
	/*
	 * A thread that yields its CPU until its turn (OpenMP's `critical` or `ordered`) is
	 * runnable, but has nothing to do. Do not count that time as a wait for a CPU.
	 */
	turn = l->detail ? l->detail->turn_ns + l->detail->begin_ns : 0;
	turn = turn ? number_less(turn, l->detail->turn_oncpu_ns) : 0;
	if (waited <= turn)
		return;
	waited -= turn;
	array_for_each (m, ep->members, ep->n - 1) {
		in = m->detail ? m->detail->inside_oncpu_ns : MODEL_UNKNOWN;
		if (in == MODEL_UNKNOWN)
			continue;
		/* Count spinning only until the release. */
		spun += in > m->wait_ns ? m->wait_ns : in;
	}
	if (!spun)
		return;
	p->spun_episodes++;
	p->spun_ns += spun < waited ? spun : waited;
}

/* Return true if both threads began their phases within @within ns of each other. */
static bool began_with(const struct model_member *a, const struct model_member *b, uint64_t within)
{
	uint64_t x, y;

	if (a->work_ns == MODEL_UNKNOWN || b->work_ns == MODEL_UNKNOWN)
		return false;
	x = a->arrive_ns - a->work_ns;
	y = b->arrive_ns - b->work_ns;
	return (x > y ? x - y : y - x) <= within;
}

/*
 * Return the member with which to compare the last thread: the median by arrival. In an OpenMP
 * team, the thread that began the region has worked since the previous region, but the other
 * threads only since this region began. If the last thread and the median member did not begin
 * together, return the median of the members that began together with the last thread. This avoids
 * comparing serial work with the wait for the region.
 */
static const struct model_member *typical(const struct model_episode *ep)
{
	const struct model_member *l = &ep->members[ep->n - 1], *ref;
	uint32_t i, n = 0;
	uint64_t within;

	ref = &ep->members[(ep->n - 1) / 2];
	within = (l->arrive_ns - ref->arrive_ns) / 4;
	if (!(l->flags & MODEL_CROSSING_TEAM) || began_with(l, ref, within))
		return ref;
	array_for_each (m, ep->members, ep->n - 1)
		n += began_with(l, m, within);
	if (!n)
		return ref;
	n = (n + 1) / 2;
	for (i = 0; n; i++)
		n -= began_with(l, &ep->members[i], within);
	return &ep->members[i - 1];
}

/* *@late: the reference if the last thread was late and there is a cause; else unchanged. */
static int explain(struct causes *c, const struct model *model, const struct model_episode *ep,
		   struct blame *const *more, uint32_t nmore, const struct model_member **late,
		   struct report_cause *out)
{
	const struct model_member *l = &ep->members[ep->n - 1], *ref;
	struct culprit_env env = {
		.model = model,
		.env = c->env,
		.report_env = c->report_env,
		.by_tid = &c->by_tid,
	};
	enum cause_kind dominant;
	struct cause_parts p;
	uint32_t i;
	int err;

	if (ep->n < 2)
		return 0;
	ref = typical(ep);
	if (!lateness_parts(c->env->instructions, l, ref, &p))
		return 0;
	dominant = is_noise(ep, l, &p) ? CAUSE_NONE : lateness_largest(p.ns, CAUSE_NONE);
	if (dominant != CAUSE_NONE)
		*late = ref;
	err = blame_episode(&c->sites[ep->barrier], c, &env, ep, ref, &p, dominant);
	for (i = 0; i < nmore && !err; i++)
		err = blame_episode(more[i], c, &env, ep, ref, &p, dominant);
	if (!err && out)
		err = episode_out(c, &env, ep, ref, &p, dominant, out);
	return err;
}

int causes_episode(struct causes *c, const struct model *model, const struct model_episode *ep,
		   struct blame *const *more, uint32_t nmore, struct report_cause *out)
{
	bool complete = ep->state == MODEL_COMPLETE && !ep->nested && ep->n;
	const struct model_member *late = NULL;
	int err;

	if (out) {
		memset(out, 0, sizeof(*out));
		out->share = NAN;
		arena_free(c->arena);
		c->arena = arena_new();
		if (!c->arena)
			return -ENOMEM;
	}
	/* A nested episode lies inside the wait at another barrier and is not added to any sum. */
	if (ep->nested || !ep->n)
		return 0;
	err = prepare(c, model, ep);
	if (!err && complete)
		err = explain(c, model, ep, more, nmore, &late, out);
	if (!err)
		err = places_episode(c->places, ep, late);
	if (!err && complete)
		note_spinning(c, ep);
	c->serial++;
	if (!err)
		err = note_members(c, ep);
	return err ? err : delay_episode(c->delay, ep);
}

/* --- single members --------------------------------------------------------------------------- */

const struct model_member *cause_reference(const struct causes *c, const struct model *model,
					   const struct model_episode *ep)
{
	const struct report_env *env = c ? c->report_env : NULL;

	if (ep->state != MODEL_COMPLETE || ep->nested || ep->n < 2)
		return NULL;
	/* If other threads run tasks in barriers, the lateness of a thread has no known cause. */
	if (env && env->tasks && openmp_is_barrier(model_barrier(model, ep->barrier)) &&
	    env->tasks(env->ctx, model_proc(model, ep->proc)))
		return NULL;
	return typical(ep);
}

/* Return the longest block of the member for the reason that @kind stands for; NULL if unknown. */
static const struct model_block *block_of(const struct model_member *m, enum cause_kind kind)
{
	const struct model_detail *d = m->detail;

	if (!d)
		return NULL;
	if (d->block.ns && lateness_of_reason(d->block.reason) == kind)
		return &d->block;
	if (d->second.ns && lateness_of_reason(d->second.reason) == kind)
		return &d->second;
	return NULL;
}

/*
 * Return the innermost call site of the stack that is in the same file as the thread's barrier
 * call, so that the user sees the program's function rather than that of a library. Without such a
 * call site, return the innermost one. MODEL_NONE: unknown.
 */
static uint32_t own_site(const struct causes *c, const struct model *model,
			 const struct model_member *m, const struct model_block *block)
{
	const struct model_proc *proc = model_proc(model, model_thread(model, m->thread)->proc);
	const struct site_name *barrier, *name;
	uint32_t sites[32], n, i;

	if (!block || !block->stack || !c->env->stack)
		return MODEL_NONE;
	n = c->env->stack(c->env->ctx, proc->tgid, proc->inc, block->stack, sites,
			  sizeof(sites) / sizeof(*sites));
	barrier = c->report_env->site(c->report_env->ctx, m->site);
	for (i = 0; i < n && barrier && barrier->module; i++) {
		name = c->report_env->site(c->report_env->ctx, sites[i]);
		if (name && name->module && !strcmp(name->module, barrier->module))
			return sites[i];
	}
	return n ? sites[0] : MODEL_NONE;
}

struct cause_member cause_of_member(const struct causes *c, const struct model *model,
				    const struct model_episode *ep, const struct model_member *ref,
				    const struct model_member *m)
{
	struct cause_member out = { .dominant = CAUSE_NONE,
				    .site = MODEL_NONE,
				    .more_site = MODEL_NONE };
	uint32_t instructions = c ? c->env->instructions : MODEL_NONE;
	struct cause_parts p;

	if (!ref || m == ref || !lateness_parts(instructions, m, ref, &p) || is_noise(ep, m, &p))
		return out;
	out.dominant = lateness_largest(p.ns, CAUSE_NONE);
	if (out.dominant == CAUSE_NONE)
		return out;
	out.lateness_ns = (uint64_t)p.lateness_ns;
	out.dominant_ns = (uint64_t)p.ns[out.dominant];
	if (!c)
		return out;
	if (cause_is_work(out.dominant)) {
		out.site = places_member_site(c->places, c->report_env, m);
		if (m == &ep->members[ep->n - 1])
			out.more_site = places_more_site(c->places, ep->barrier, c->report_env);
	} else {
		out.site = own_site(c, model, m, block_of(m, out.dominant));
	}
	return out;
}
