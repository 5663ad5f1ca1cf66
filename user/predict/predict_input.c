// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "predict/predict_input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

/* Site of an episode where a parallel part begins, until the number of barriers is known. */
#define FORK UINT32_MAX

struct feed_thread {
	uint32_t tid;
	uint32_t thread; /* index in the input; PREDICT_NONE if none yet */
	uint32_t episode; /* its last episode; PREDICT_NONE if none yet */
	uint64_t release_ns; /* release of that episode */
	/*
	 * computing and delay that its next step still has to include, such as those of phases that
	 * ended in an incomplete episode
	 */
	uint64_t pending_ns, pending_delay;
	uint64_t oncpu_ns; /* time on a CPU in its phases so far */
	bool stays; /* the thread stays in its last episode until another thread starts it again */
};

/* The model's thread for a thread of the input. */
struct origin {
	uint32_t thread, tid;
	uint32_t proc; /* MODEL_NONE if the thread does not exist any more */
};

/* Messages of a thread during its current phase. Indexed by the model's threads. */
struct queue {
	uint32_t tid;
	uint32_t n, cap, taken;
	struct model_message *messages;
};

struct predict_feed {
	const struct report_env *env;
	struct queue *queues;
	uint32_t nqueues;
	struct predict_input in;
	struct predict_facts facts;
	struct feed_thread *threads; /* indexed as in the model */
	uint32_t nthreads;
	struct origin *origins; /* indexed by thread of the input */
	uint32_t cap_origins;
	uint64_t *releases; /* indexed by episode */
	uint32_t cap_releases;
	uint64_t start_ns, end_ns;
	uint64_t from_ns, to_ns; /* the window */
};

struct predict_feed *predict_feed_new(const struct report_env *env)
{
	struct predict_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct predict_feed){ .env = env, .start_ns = MODEL_UNKNOWN, .to_ns = UINT64_MAX };
	return f;
}

void predict_feed_window(struct predict_feed *f, uint64_t from_ns, uint64_t to_ns)
{
	f->from_ns = from_ns;
	f->to_ns = to_ns;
	f->facts.windowed = true;
}

void predict_feed_free(struct predict_feed *f)
{
	if (!f)
		return;
	predict_input_free(&f->in);
	array_for_each (q, f->queues, f->nqueues)
		free(q->messages);
	free(f->queues);
	free(f->threads);
	free(f->origins);
	free(f->releases);
	free(f);
}

const struct predict_input *predict_feed_input(const struct predict_feed *f)
{
	return &f->in;
}

const struct predict_facts *predict_feed_facts(const struct predict_feed *f)
{
	return &f->facts;
}

uint32_t predict_feed_thread(const struct predict_feed *f, uint32_t thread, uint32_t *tid)
{
	*tid = f->origins[thread].tid;
	return f->origins[thread].thread;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- threads ---------------------------------------------------------------------------------- */

static int grow_threads(struct predict_feed *f, uint32_t need)
{
	uint32_t i = f->nthreads;

	if (grow(f->threads, f->nthreads, need))
		return -ENOMEM;
	for (; i < f->nthreads; i++)
		f->threads[i] = (struct feed_thread){ .thread = PREDICT_NONE };
	return 0;
}

/*
 * Find or add the thread of a member. Another thread may have had the same index in the model
 * before. Return 0 or -errno.
 */
static int thread_of(struct predict_feed *f, const struct model *model,
		     const struct model_member *m, struct feed_thread **out)
{
	struct feed_thread *t;
	int err = grow_threads(f, m->thread + 1);

	if (err)
		return err;
	t = &f->threads[m->thread];
	*out = t;
	if (t->thread != PREDICT_NONE && t->tid == m->tid)
		return 0;
	err = predict_add_thread(&f->in);
	if (err < 0)
		return err;
	*t = (struct feed_thread){ .tid = m->tid,
				   .thread = (uint32_t)err,
				   .episode = PREDICT_NONE };
	if (grow(f->origins, f->cap_origins, t->thread + 1))
		return -ENOMEM;
	f->origins[t->thread] = (struct origin){ .thread = m->thread,
						 .tid = m->tid,
						 .proc = model_thread(model, m->thread)->proc };
	return 0;
}

/* --- phases ----------------------------------------------------------------------------------- */

struct phase {
	uint64_t computing_ns, delay_ns, oncpu_ns;
};

static uint64_t take_out(uint64_t *from, uint64_t ns)
{
	ns = smaller(ns, *from);
	*from -= ns;
	return ns;
}

static struct phase phase_parts(struct predict_feed *f, const struct model_detail *d,
				uint64_t work_ns)
{
	static const uint8_t delays[] = { MODEL_BLOCKED_IO, MODEL_BLOCKED_FAULT,
					  MODEL_BLOCKED_SLEEP, MODEL_BLOCKED_OTHER };
	/* If a thread spins for its turn, that time counts as waiting for a lock. */
	uint64_t computing = number_less(d->oncpu_ns, d->turn_oncpu_ns);
	struct phase p = { .computing_ns = computing, .oncpu_ns = computing };
	uint64_t all = d->oncpu_ns + d->runq_ns;
	size_t i;

	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		all += d->blocked_ns[i];
	for (i = 0; i < sizeof(delays); i++)
		p.delay_ns += d->blocked_ns[delays[i]];
	f->facts.runq_ns += d->runq_ns;
	f->facts.lock_ns += d->blocked_ns[MODEL_BLOCKED_LOCK] + d->blocked_ns[MODEL_BLOCKED_GIL] +
			    d->oncpu_ns - computing;
	f->facts.throttled_ns += d->blocked_ns[MODEL_BLOCKED_THROTTLED];
	f->facts.unattributed_ns += number_less(work_ns, all);
	f->facts.steal_ns += take_out(&p.computing_ns, d->steal_ns);
	return p;
}

/* Return the parts of the phase that ended with this crossing. */
static struct phase phase_of(struct predict_feed *f, const struct model_member *m,
			     const struct feed_thread *t)
{
	const struct model_detail *d = m->detail;
	struct phase p = { 0 };

	/*
	 * Leave out a phase that began before the window, because its part inside the window is
	 * unknown.
	 */
	if (f->facts.windowed && t->episode == PREDICT_NONE && !t->stays &&
	    m->work_ns != MODEL_UNKNOWN && number_less(m->arrive_ns, m->work_ns) <= f->from_ns) {
		f->facts.cut++;
		return p;
	}
	if (m->work_ns == MODEL_UNKNOWN) {
		f->facts.unknown++;
		return p;
	}
	if (d && d->oncpu_ns != MODEL_UNKNOWN) {
		p = phase_parts(f, d, m->work_ns);
	} else {
		p.computing_ns = p.oncpu_ns = m->work_ns;
		if (!(m->flags & MODEL_CROSSING_ACCOUNTED))
			f->facts.wall_ns += m->work_ns;
	}
	f->facts.computing_ns += p.computing_ns;
	f->facts.delay_ns += p.delay_ns;
	return p;
}

/* --- members ---------------------------------------------------------------------------------- */

static int new_episode(struct predict_feed *f, uint32_t site, uint64_t release_ns, uint32_t *out)
{
	int err = predict_add_episode(&f->in, 0, out);

	if (err)
		return err;
	f->in.episodes[*out].site = site;
	if (grow(f->releases, f->cap_releases, *out + 1))
		return -ENOMEM;
	f->releases[*out] = release_ns;
	return 0;
}

/*
 * Move the thread's last steps, from @first on, to where their episode belongs. Within a process,
 * episodes are fed in the order of their releases. If processes share barriers, an episode may be
 * fed late. All threads must have their episodes in the same order.
 */
static void put_in_order(struct predict_feed *f, struct feed_thread *ft, uint64_t first,
			 uint64_t release_ns)
{
	struct predict_thread *t = &f->in.threads[ft->thread];
	struct predict_step moved[2];
	uint64_t n = t->n - first, at = first;

	while (at > 0) {
		const struct predict_step *s = &t->steps[at - 1];

		if (s->op == PREDICT_MEET && f->releases[s->what] <= release_ns)
			break;
		at--;
	}
	if (at == first || n > 2)
		return;
	memcpy(moved, &t->steps[first], n * sizeof(*moved));
	memmove(&t->steps[at + n], &t->steps[at], (first - at) * sizeof(*moved));
	memcpy(&t->steps[at], moved, n * sizeof(*moved));
}

static int add_member(struct predict_feed *f, struct feed_thread *t, uint32_t episode,
		      const struct phase *p)
{
	uint64_t first = f->in.threads[t->thread].n, delay = t->pending_delay + p->delay_ns;
	int err = 0;

	if (delay)
		err = predict_add_step(&f->in, t->thread, PREDICT_DELAY, delay, 0, 0);
	if (!err)
		err = predict_add_step(&f->in, t->thread, PREDICT_MEET,
				       t->pending_ns + p->computing_ns, episode, 0);
	if (err)
		return err;
	t->pending_ns = t->pending_delay = 0;
	if (f->releases[episode] < t->release_ns)
		put_in_order(f, t, first, f->releases[episode]);
	else
		t->release_ns = f->releases[episode];
	t->episode = episode;
	return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

int predict_feed_message(struct predict_feed *f, const struct model *model, uint32_t thread,
			 const struct model_message *message)
{
	struct queue *q;

	(void)model;
	if (grow_zeroed(f->queues, f->nqueues, thread + 1))
		return -ENOMEM;
	q = &f->queues[thread];
	if (q->tid != message->tid) {
		/* The index belonged to another thread, which was in no later episode. */
		f->facts.strangers += q->n - q->taken;
		q->n = q->taken = 0;
		q->tid = message->tid;
	}
	if (q->taken == q->n)
		q->taken = q->n = 0;
	if (grow(q->messages, q->cap, q->n + 1))
		return -ENOMEM;
	q->messages[q->n++] = *message;
	return 0;
}

/*
 * Return the computing of phase @p before the message, minus @done, the computing before earlier
 * messages.
 */
static uint64_t before_message(const struct phase *p, const struct model_message *m,
			       uint64_t begin_ns, uint64_t end_ns, uint64_t done)
{
	double share;

	if (m->oncpu_ns != MODEL_UNKNOWN)
		return number_less(m->oncpu_ns, done);
	/* Only the time of the message is known: assume that the thread computed evenly. */
	if (m->t_ns <= begin_ns || end_ns <= begin_ns)
		return 0;
	share = (double)(m->t_ns - begin_ns) / (double)(end_ns - begin_ns);
	return number_less(number_whole(share * (double)p->oncpu_ns), done);
}

/*
 * For each message in the phase from @begin_ns to @end_ns, add a step with the computing before the
 * message. Subtract this computing from @p. Put a delay before all messages, because it is unknown
 * when the delay occurred. Return 0 or -errno.
 */
static int add_messages(struct predict_feed *f, struct feed_thread *t, uint32_t index,
			uint64_t begin_ns, uint64_t end_ns, struct phase *p)
{
	struct queue *q = index < f->nqueues ? &f->queues[index] : NULL;
	uint64_t done = 0, ns;
	int err = 0;

	if (!q || q->tid != t->tid || q->taken == q->n || q->messages[q->taken].t_ns > end_ns)
		return 0;
	if (t->pending_delay + p->delay_ns)
		err = predict_add_step(&f->in, t->thread, PREDICT_DELAY,
				       t->pending_delay + p->delay_ns, 0, 0);
	t->pending_delay = p->delay_ns = 0;
	for (; !err && q->taken < q->n && q->messages[q->taken].t_ns <= end_ns; q->taken++) {
		const struct model_message *m = &q->messages[q->taken];

		ns = before_message(p, m, begin_ns, end_ns, done);
		done += ns;
		ns = take_out(&p->computing_ns, ns) + t->pending_ns;
		t->pending_ns = 0;
		if (m->owner >= PREDICT_THREADS_MAX) {
			f->facts.strangers++;
			t->pending_ns = ns;
			continue;
		}
		/*
		 * For now, store the number that the program gives to the owner of the data.
		 * name_owners() replaces this number by the owner's index at the end.
		 */
		err = predict_add_step(&f->in, t->thread, m->write ? PREDICT_WRITE : PREDICT_READ,
				       ns, m->owner,
				       (uint32_t)smaller(m->bytes, PREDICT_BYTES_MAX));
	}
	return err;
}

static uint64_t number_key(const struct model_thread *t, uint32_t number)
{
	return (uint64_t)t->proc << 32 | number;
}

/*
 * Fill @numbers: (process, number that the program gives a thread) -> index of the thread in the
 * input. Return 0 or -ENOMEM.
 */
static int find_numbers(struct predict_feed *f, const struct model *model, struct hash *numbers)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < f->in.nthreads && !err; i++) {
		const struct model_thread *t = model_thread(model, f->origins[i].thread);

		if (t->proc != MODEL_NONE && t->tid == f->origins[i].tid && t->place != MODEL_NONE)
			err = hash_put(numbers, number_key(t, t->place), i);
	}
	return err;
}

/*
 * In a thread's steps, replace the numbers of data owners by indices of threads in the input. If an
 * owner is unknown, drop the message, and add the computing before it to the next step.
 */
static void name_owners(struct predict_feed *f, const struct model *model,
			const struct hash *numbers, uint32_t thread)
{
	const struct model_thread *mt = model_thread(model, f->origins[thread].thread);
	struct predict_thread *t = &f->in.threads[thread];
	uint64_t k, kept = 0, over = 0, owner;

	for (k = 0; k < t->n; k++) {
		struct predict_step s = t->steps[k];

		if (s.op == PREDICT_READ || s.op == PREDICT_WRITE) {
			if (!hash_get(numbers, number_key(mt, s.what), &owner)) {
				f->facts.strangers++;
				over += s.ns;
				continue;
			}
			s.what = (uint32_t)owner;
			f->facts.messages++;
		}
		if (s.op != PREDICT_DELAY) {
			s.ns += over;
			over = 0;
		}
		t->steps[kept++] = s;
	}
	t->n = kept;
}

static int add_owners(struct predict_feed *f, const struct model *model)
{
	struct hash numbers = { 0 };
	uint32_t i;
	int err = 0;

	if (f->nqueues)
		err = find_numbers(f, model, &numbers);
	for (i = 0; i < f->in.nthreads && !err && f->nqueues; i++)
		name_owners(f, model, &numbers, i);
	hash_free(&numbers);
	return err;
}

/* --- begins of parallel parts ----------------------------------------------------------------- */

static uint64_t begin_of(const struct model_member *m)
{
	return m->arrive_ns - m->work_ns;
}

/*
 * Return when another thread started the member. The time from then until the member's phase begins
 * is its start-up, which is not work of the other thread.
 */
static uint64_t started_at(const struct model_member *m)
{
	return begin_of(m) - (m->team_start_ns == MODEL_UNKNOWN ? 0 : m->team_start_ns);
}

/*
 * Return whether another thread started the member for this phase: the member was just created, or
 * has been idle since the end of a region.
 */
static bool was_started(const struct model *model, const struct model_member *m,
			const struct feed_thread *t)
{
	const struct model_thread *mt = model_thread(model, m->thread);

	if (m->work_ns == MODEL_UNKNOWN || mt->proc == MODEL_NONE)
		return false;
	if (t->episode != PREDICT_NONE)
		return t->stays;
	return mt->start_seen && m->tid != model_proc(model, mt->proc)->tgid;
}

/*
 * Return whether the member can have started @started: it is in the same process, has the same last
 * episode, and no other thread started it.
 */
static bool may_have_started(const struct model *model, const struct model_member *m,
			     const struct feed_thread *t, const struct model_member *started,
			     const struct feed_thread *started_t)
{
	const struct model_thread *mt = model_thread(model, m->thread);

	if (m->work_ns == MODEL_UNKNOWN || was_started(model, m, t) ||
	    t->episode != started_t->episode ||
	    mt->proc != model_thread(model, started->thread)->proc)
		return false;
	return t->episode != PREDICT_NONE ||
	       (mt->proc != MODEL_NONE && m->tid == model_proc(model, mt->proc)->tgid);
}

/*
 * Return the number of @ep's members that were started. *@creator is the member that started them,
 * or ep->n if there is none. *@begin is the time of the first start.
 */
static uint32_t find_started(struct predict_feed *f, const struct model *model,
			     const struct model_episode *ep, uint32_t *creator, uint64_t *begin)
{
	const struct feed_thread *ts = f->threads;
	uint32_t i, n = 0, one = 0;

	*creator = ep->n;
	*begin = MODEL_UNKNOWN;
	for (i = 0; i < ep->n; i++) {
		const struct model_member *m = &ep->members[i];

		if (!was_started(model, m, &ts[m->thread]))
			continue;
		n++;
		one = i;
		*begin = smaller(*begin, started_at(m));
	}
	for (i = 0; n && i < ep->n && *creator == ep->n; i++)
		if (may_have_started(model, &ep->members[i], &ts[ep->members[i].thread],
				     &ep->members[one], &ts[ep->members[one].thread]))
			*creator = i;
	return n;
}

/*
 * Add an episode where a region begins, or where workers are created. The workers cannot begin
 * before their creator arrives at this episode. The creator's computing up to this point is
 * unknown. Assume that the creator had a CPU for itself while the workers waited. Return 0 or
 * -errno.
 */
static int add_fork(struct predict_feed *f, const struct model *model,
		    const struct model_episode *ep, struct phase *phases)
{
	struct feed_thread *mt;
	struct phase none = { 0 }, before = { 0 };
	uint32_t creator, episode, i;
	uint64_t begin, time;
	int err;

	if (!find_started(f, model, ep, &creator, &begin) || creator == ep->n)
		return 0;
	mt = &f->threads[ep->members[creator].thread];
	time = number_less(begin, begin_of(&ep->members[creator]));
	before.computing_ns = take_out(&phases[creator].computing_ns, time);
	before.delay_ns = take_out(&phases[creator].delay_ns, time - before.computing_ns);
	if (!before.computing_ns && !before.delay_ns)
		return 0;
	/* The fork lies between the last episode of all these threads and this episode. */
	err = new_episode(f, FORK, mt->release_ns, &episode);
	if (!err)
		err = add_member(f, mt, episode, &before);
	for (i = 0; i < ep->n && !err; i++) {
		const struct model_member *m = &ep->members[i];

		if (i != creator && was_started(model, m, &f->threads[m->thread]) &&
		    f->threads[m->thread].release_ns <= mt->release_ns)
			err = add_member(f, &f->threads[m->thread], episode, &none);
	}
	f->facts.forks++;
	return err;
}

/* --- episodes --------------------------------------------------------------------------------- */

static int add_episode(struct predict_feed *f, const struct model *model,
		       const struct model_episode *ep, struct phase *phases)
{
	uint32_t i, episode;
	int err;

	err = add_fork(f, model, ep, phases);
	if (!err)
		err = new_episode(f, ep->barrier, ep->release_ns, &episode);
	for (i = 0; i < ep->n && !err; i++)
		err = add_member(f, &f->threads[ep->members[i].thread], episode, &phases[i]);
	f->facts.episodes++;
	f->facts.crossings += ep->n;
	f->facts.ambiguous += ep->state == MODEL_AMBIGUOUS;
	f->facts.rivals += (ep->why & MODEL_WHY_RIVALS) != 0;
	return err;
}

static int add_phase_messages(struct predict_feed *f, struct feed_thread *t,
			      const struct model_member *m, struct phase *p)
{
	uint64_t work = m->work_ns == MODEL_UNKNOWN ? 0 : m->work_ns;

	return add_messages(f, t, m->thread, number_less(m->arrive_ns, work), m->arrive_ns, p);
}

int predict_feed_episode(struct predict_feed *f, const struct model *model,
			 const struct model_episode *ep)
{
	struct feed_thread *t;
	struct phase *phases;
	uint32_t i;
	int err = 0;

	if (ep->nested || !ep->n)
		return 0;
	phases = calloc(ep->n, sizeof(*phases));
	if (!phases)
		return -ENOMEM;
	for (i = 0; i < ep->n && !err; i++) {
		err = thread_of(f, model, &ep->members[i], &t);
		if (err)
			break;
		phases[i] = phase_of(f, &ep->members[i], t);
		t->oncpu_ns += phases[i].oncpu_ns;
		err = add_phase_messages(f, t, &ep->members[i], &phases[i]);
	}
	if (!err && ep->state != MODEL_INCOMPLETE)
		err = add_episode(f, model, ep, phases);
	else
		f->facts.left_out++;
	for (i = 0; i < ep->n && !err; i++) {
		t = &f->threads[ep->members[i].thread];
		t->stays = ep->members[i].flags & MODEL_CROSSING_STAYS;
		if (ep->state != MODEL_INCOMPLETE)
			continue;
		t->pending_ns += phases[i].computing_ns;
		t->pending_delay += phases[i].delay_ns;
	}
	free(phases);
	return err;
}

/* --- the end ---------------------------------------------------------------------------------- */

/*
 * Return the computing after the thread's last episode: its total minus the computing in its
 * phases.
 */
static uint64_t tail_of(struct predict_feed *f, const struct feed_thread *t,
			const struct model_thread *mt)
{
	uint64_t ns = 0, until = mt->pending_ns < mt->end_ns ? mt->pending_ns : mt->end_ns;

	if (mt->sums.known_ns) {
		ns = number_less(mt->sums.oncpu_ns, t->oncpu_ns);
	} else if (mt->depart_ns != MODEL_UNKNOWN && until != MODEL_UNKNOWN) {
		ns = number_less(until, mt->depart_ns);
		f->facts.wall_ns += ns;
	}
	f->facts.computing_ns += ns;
	return ns;
}

static int add_tail(struct predict_feed *f, const struct model *model, uint32_t index)
{
	struct feed_thread *t = &f->threads[index];
	const struct model_thread *mt;
	struct phase p = { 0 };
	uint64_t tail = 0;

	if (t->thread == PREDICT_NONE)
		return 0;
	mt = model_thread(model, index);
	if (mt->proc != MODEL_NONE && mt->tid == t->tid) {
		tail = f->facts.windowed ? 0 : tail_of(f, t, mt);
		f->start_ns = smaller(f->start_ns, mt->start_ns);
		if (mt->end_ns != MODEL_UNKNOWN && mt->end_ns > f->end_ns)
			f->end_ns = mt->end_ns;
	}
	p.computing_ns = p.oncpu_ns = tail;
	if (mt->tid == t->tid && add_messages(f, t, index, mt->depart_ns, MODEL_UNKNOWN, &p))
		return -ENOMEM;
	tail = p.computing_ns;
	if (t->pending_delay &&
	    predict_add_step(&f->in, t->thread, PREDICT_DELAY, t->pending_delay, 0, 0))
		return -ENOMEM;
	return predict_add_step(&f->in, t->thread, PREDICT_END, t->pending_ns + tail, 0, 0);
}

/* Return the cost of a crossing of this process in ns, or 0 if unknown. */
static uint64_t crossing_cost(struct predict_feed *f, const struct model_proc *proc)
{
	double cost = NAN;

	if (f->env && f->env->crossing_cost)
		cost = f->env->crossing_cost(f->env->ctx, proc);
	else if (f->env)
		cost = f->env->crossing_cost_ns;
	if (!(cost > 0))
		return 0;
	f->facts.cost_known = true;
	return number_whole(cost);
}

/*
 * Subtract the cost of a crossing, which is known only at the end of tracing, from each phase that
 * ends at a crossing.
 */
static void take_out_cost(struct predict_feed *f, const struct model *model, uint32_t thread)
{
	struct predict_thread *t = &f->in.threads[thread];
	uint64_t cost, k, ns;

	if (f->origins[thread].proc == MODEL_NONE)
		return;
	cost = crossing_cost(f, model_proc(model, f->origins[thread].proc));
	for (k = 0; k < t->n && cost; k++) {
		const struct predict_step *s = &t->steps[k];
		bool message = s->op == PREDICT_READ || s->op == PREDICT_WRITE;

		if (!message && (s->op != PREDICT_MEET || f->in.episodes[s->what].site == FORK))
			continue;
		ns = s->ns;
		/* A marker has one probe and a crossing has two, so a marker costs about half. */
		f->facts.cost_ns += take_out(&ns, message ? cost / 2 : cost);
		t->steps[k].ns = ns;
	}
}

/*
 * Add the serial parts. A thread that created the other threads and was in no episode is not in the
 * input. The run waited for this thread while it was the only thread. Whether the other threads
 * wait for its later work is unknown.
 */
static void add_alone(struct predict_feed *f, const struct model *model)
{
	uint64_t start = MODEL_UNKNOWN, end = 0;

	array_for_each (origin, f->origins, f->in.nthreads) {
		const struct model_proc *p;

		if (origin->proc == MODEL_NONE)
			continue;
		p = model_proc(model, origin->proc);
		if (!p->start_seen || !p->exited || p->end_ns == MODEL_UNKNOWN ||
		    p->detached.t_ns != MODEL_UNKNOWN)
			return;
		start = smaller(start, p->start_ns);
		end = p->end_ns > end ? p->end_ns : end;
	}
	if (start == MODEL_UNKNOWN || f->facts.windowed)
		return;
	f->in.before_ns = f->facts.before_ns = number_less(f->start_ns, start);
	f->in.after_ns = f->facts.after_ns = number_less(end, f->end_ns);
}

int predict_feed_finish(struct predict_feed *f, const struct model *model)
{
	uint32_t i, nbarriers = model_nbarriers(model);
	int err = 0;

	for (i = 0; i < f->nthreads && i < model_nthreads(model) && !err; i++)
		err = add_tail(f, model, i);
	if (!err)
		err = add_owners(f, model);
	for (i = 0; i < f->in.nthreads && !err; i++)
		take_out_cost(f, model, i);
	f->facts.computing_ns = number_less(f->facts.computing_ns, f->facts.cost_ns);
	f->in.nsites = nbarriers + (f->facts.forks > 0);
	array_for_each (e, f->in.episodes, f->in.nepisodes)
		if (e->site == FORK)
			e->site = nbarriers;
	f->start_ns = f->start_ns < f->from_ns ? f->from_ns : f->start_ns;
	f->end_ns = smaller(f->end_ns, f->to_ns);
	f->facts.recorded_ns = number_less(f->end_ns, f->start_ns);
	for (i = 0; i < model_nprocs(model); i++) {
		const struct model_proc *p = model_proc(model, i);

		f->facts.detached += p->detached.t_ns != MODEL_UNKNOWN;
		f->facts.tasks += f->env && f->env->tasks && f->env->tasks(f->env->ctx, p);
		f->facts.detached_parts += p->detached.t_ns == MODEL_UNKNOWN && p->nparts;
	}
	add_alone(f, model);
	return err;
}
