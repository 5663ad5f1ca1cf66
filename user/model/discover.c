// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/discover_internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <errno.h>

/* number of consecutive timed-out waits after which the object is not a barrier */
#define OVER_MAX    65536
#define MEMBERS_MAX 4096
/*
 * Maximum number of processes that can restart an object's classification by using it for the first
 * time. A server may make any number of processes.
 */
#define ANEW_MAX    256
/*
 * If a futex call finds another value within this time (ns) after the waking, the call belongs to
 * the round of that waking, whatever value it expected.
 */
#define LATE_NS	    1000000ULL

static struct pending *find_pending(struct object *o, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < o->npending; i++)
		if (o->pending[i].tid == tid)
			return &o->pending[i];
	return NULL;
}

static void pending_remove(struct object *o, struct pending *p)
{
	*p = o->pending[--o->npending];
}

/*
 * Return whether the echo of the last episode (its second waking, see discover_echo.c) ended this
 * wait.
 */
static bool by_echo(const struct object *o, const struct discover_record *r)
{
	return o->echo_ns && r->arrive_ns <= o->echo_ns && o->echo_ns <= r->depart_ns;
}

static int pending_add(struct discover *d, struct object *o, const struct discover_record *r)
{
	struct pending *p = find_pending(o, r->tid);
	bool again = r->flags & DISCOVER_AGAIN;
	bool echo = by_echo(o, r);
	bool unwoken = !o->pub.futex && !(r->flags & DISCOVER_OVER) && !echo;
	uint64_t from = r->arrive_ns;

	if (echo) {
		o->nechoed++;
		o->echo_waits++;
		o->echo_wait_ns += r->depart_ns - r->arrive_ns;
	}
	if (!again)
		d->ops.drop(d->ops.ctx, r->cookie);
	if (p && p->again) {
		d->ops.drop(d->ops.ctx, p->cookie);
		pending_remove(o, p);
		p = NULL;
	}
	if (p && p->arrive_ns > o->wake_ns) {
		from = p->arrive_ns; /* the wait had several spurious wake-ups */
		o->tally.unwoken -= p->unwoken && !o->tally.settled;
	}
	if (!p) {
		if (o->npending >= MEMBERS_MAX ||
		    grow(o->pending, o->cap_pending, o->npending + 1)) {
			if (again)
				d->ops.drop(d->ops.ctx, r->cookie);
			return -ENOMEM;
		}
		p = &o->pending[o->npending++];
	}
	o->tally.unwoken += unwoken && !o->tally.settled;
	*p = (struct pending){ .tid = r->tid,
			       .value = r->value,
			       .again = again,
			       .unwoken = unwoken,
			       .echo = echo,
			       .cookie = r->cookie,
			       .arrive_ns = from,
			       .depart_ns = r->depart_ns };
	return 0;
}

void discover_round_begin(struct object *o, const struct discover_record *r)
{
	o->open = true;
	o->bad = false;
	o->nnow = 0;
	o->now_values = (struct values){};
	o->now_waker = r->tid;
	o->now_site = r->site;
	o->now_wakes = r->wakes;
	o->wake_before_ns = o->wake_ns;
	o->wake_ns = r->arrive_ns;
	o->held_now = o->nheld;
	o->reported = o->now_soon = false;
	o->now_after = 0;
}

int discover_round_join(struct object *o, uint32_t tid, uint32_t value)
{
	if (o->nnow >= MEMBERS_MAX || grow(o->now, o->cap_now, o->nnow + 1))
		return -ENOMEM;
	o->now[o->nnow++] = tid;
	discover_values_add(&o->now_values, value);
	return 0;
}

/*
 * Return whether a thread that arrived after the last waking can be a member of the round that the
 * waking ended.
 */
static bool may_join(const struct object *o, uint32_t tid, uint64_t arrive_ns)
{
	return o->open && arrive_ns >= o->wake_ns && tid != o->now_waker &&
	       !discover_has_waited(o, tid);
}

/* Return whether all waiters of the last round expected this value. */
static bool expected(const struct object *o, uint32_t value)
{
	return o->now_values.any && !o->now_values.differ && o->now_values.one == value;
}

static void take_late(struct discover *d, struct object *o, const struct pending *p)
{
	struct discover_record r = { .cookie = p->cookie, .tid = p->tid };

	if (o->bad || !may_join(o, p->tid, p->arrive_ns) ||
	    discover_round_join(o, p->tid, p->value)) {
		d->unseen.given_up += o->pub.verdict == DISCOVER_BARRIER;
		d->ops.drop(d->ops.ctx, p->cookie);
	} else if (o->pub.verdict == DISCOVER_BARRIER) {
		discover_take(d, o, p->cookie, o->wake_ns, p->depart_ns, false);
	} else if (discover_hold(o, &r, o->wake_ns, p->depart_ns, false)) {
		d->ops.drop(d->ops.ctx, p->cookie);
	}
}

/*
 * Some threads have found that the futex changed since the last waking. Add the threads that were
 * late for the last waking to the round that it ended. @waker makes the next waking. If @waker is
 * among the threads that found the change, it was late, because it has not waited since. The other
 * late threads are those that expected the same value as all members of that round.
 */
static void take_all_late(struct discover *d, struct object *o, uint32_t waker)
{
	uint32_t i;

	for (i = o->npending; i-- > 0;) {
		struct pending p = o->pending[i];

		if (!p.again ||
		    (p.tid != waker && !(may_join(o, p.tid, p.arrive_ns) && expected(o, p.value))))
			continue;
		pending_remove(o, &o->pending[i]);
		take_late(d, o, &p);
	}
}

/*
 * Add to the round of this waking the threads that found the futex changed before the waking. The
 * waker had changed the futex, so the waker had arrived before them. Return the latest possible
 * time of the waker's arrival.
 */
static uint64_t take_again(struct discover *d, struct object *o, uint64_t wake_ns, bool barrier)
{
	uint64_t arrived = wake_ns;
	uint32_t i;

	for (i = o->npending; i-- > 0;) {
		struct pending p = o->pending[i];
		struct discover_record r = { .cookie = p.cookie, .tid = p.tid };

		if (!p.again)
			continue;
		pending_remove(o, &o->pending[i]);
		if (discover_round_join(o, p.tid, p.value)) {
			d->ops.drop(d->ops.ctx, p.cookie);
			continue;
		}
		if (p.depart_ns < arrived)
			arrived = p.depart_ns;
		if (barrier)
			discover_take(d, o, p.cookie, p.arrive_ns, p.depart_ns, false);
		else if (discover_hold(o, &r, p.arrive_ns, p.depart_ns, false))
			d->ops.drop(d->ops.ctx, p.cookie);
	}
	return arrived;
}

/*
 * Count a round of a barrier that breaks the rule. After too many such rounds the object is no
 * longer taken for a barrier.
 */
static int wrong(struct discover *d, struct object *o, uint64_t cookie)
{
	d->ops.drop(d->ops.ctx, cookie);
	d->unseen.given_up++;
	if (++o->wrong >= BREAKS_MAX) {
		discover_drop_pending(d, o);
		discover_classify(d, o, DISCOVER_OTHER);
	}
	return 0;
}

/*
 * Number of consecutive second wakings, without other wakings, after which the object is not a
 * barrier.
 */
#define ECHOES_MAX 8

/*
 * Handle an echo: the second waking of an episode. It is made after all threads have left, and ends
 * no round.
 */
static int add_echo(struct discover *d, struct object *o, const struct discover_record *r)
{
	d->ops.drop(d->ops.ctx, r->cookie);
	discover_echo_purge(d, o, r->site);
	o->pub.echo = true;
	o->echo_ns = r->arrive_ns;
	o->nechoed++;
	if (++o->echoes < ECHOES_MAX || o->pub.verdict != DISCOVER_OPEN ||
	    discover_echo_open(d, r->site))
		return 0;
	/*
	 * All wakings at the object are second wakings, so it is a condition variable that only
	 * serves the second phase of each barrier episode.
	 */
	discover_echo_end(d, o);
	discover_drop_from(d, o, 0);
	discover_drop_pending(d, o);
	discover_classify(d, o, DISCOVER_OTHER);
	return 0;
}

static int add_wake(struct discover *d, struct object *o, const struct discover_record *r)
{
	bool soon = !o->pub.futex && discover_echo_note(d, r);
	uint64_t arrived;

	if (soon && (discover_echo_is(d, r->site) || discover_echo_first(d, o, r->site)))
		return add_echo(d, o, r);
	discover_echo_over(d, o, r->site);
	o->echoes = 0;
	if (o->pub.verdict == DISCOVER_BARRIER && !o->pub.futex) {
		discover_known_wake(d, o, r);
		return 0;
	}
	take_all_late(d, o, r->tid);
	if (o->pub.verdict == DISCOVER_OPEN)
		discover_round_end(d, o);
	discover_round_begin(o, r);
	o->now_soon = soon;
	if (o->pub.verdict == DISCOVER_OTHER) {
		d->ops.drop(d->ops.ctx, r->cookie);
		return 0;
	}
	arrived = take_again(d, o, r->arrive_ns, o->pub.verdict == DISCOVER_BARRIER);
	if (o->pub.verdict == DISCOVER_BARRIER) {
		discover_take(d, o, r->cookie, arrived, arrived, false);
		return 0;
	}
	if (discover_hold(o, r, arrived, arrived, false)) {
		o->bad = true;
		d->ops.drop(d->ops.ctx, r->cookie);
		discover_broken(d, o);
	}
	return 0;
}

/*
 * For a thread that found the futex changed and did not sleep, return whether it was late for the
 * last waking. If not, it is early for the next waking.
 */
static bool was_late(const struct object *o, const struct discover_record *r)
{
	return may_join(o, r->tid, r->arrive_ns) &&
	       (r->arrive_ns - o->wake_ns < LATE_NS || expected(o, r->expected));
}

/*
 * Return whether @r continues the wait @p, because no waking of all threads happened between them.
 */
static bool continues(const struct object *o, const struct pending *p,
		      const struct discover_record *r, uint64_t wake_ns, uint64_t before_ns)
{
	/*
	 * An echo ended @p, so the thread had waited until all threads had left the episode. If its
	 * next wait does not begin directly afterwards, that wait belongs to another episode.
	 */
	if (p && p->echo && r->arrive_ns - p->depart_ns > DISCOVER_SOON_NS)
		return false;
	return p && !p->again && p->arrive_ns > before_ns && p->depart_ns <= wake_ns &&
	       wake_ns <= o->wake_ns;
}

/* Take a wait that timed out. If all waits on the object time out, it is not a barrier. */
static int add_wait_over(struct discover *d, struct object *o, const struct discover_record *r)
{
	if (++o->over >= OVER_MAX) {
		d->ops.drop(d->ops.ctx, r->cookie);
		discover_drop_from(d, o, 0);
		discover_drop_pending(d, o);
		discover_classify(d, o, DISCOVER_OTHER);
		return 0;
	}
	return pending_add(d, o, r);
}

static int add_wait_open(struct discover *d, struct object *o, const struct discover_record *r)
{
	bool woken = o->open && r->arrive_ns <= o->wake_ns && o->wake_ns <= r->depart_ns;
	struct pending *p = find_pending(o, r->tid);
	uint64_t arrive = r->arrive_ns;
	bool merged, again = false;

	if (!woken && by_echo(o, r))
		return pending_add(d, o, r);
	if (!woken && r->flags & DISCOVER_AGAIN) {
		if (!was_late(o, r))
			return pending_add(d, o, r);
		woken = true;
		arrive = o->wake_ns;
	}
	if (!woken && r->flags & DISCOVER_OVER)
		return add_wait_over(d, o, r);
	if (woken && !o->pub.futex) {
		/*
		 * A barrier lets all its threads go. At a lock, or if threads take turns, most of
		 * them wait again.
		 */
		again = discover_again(d, o, r);
		discover_departed(d, o, r, o->now_site);
	}
	merged = woken && continues(o, p, r, o->wake_ns, o->wake_before_ns);
	if (merged)
		arrive = p->arrive_ns;
	o->tally.unwoken += !woken && !o->pub.futex;
	if (p && !p->again)
		pending_remove(o, p);
	if (woken && o->bad) {
		d->ops.drop(d->ops.ctx, r->cookie);
		return 0;
	}
	if (!woken || again || r->tid == o->now_waker || discover_has_waited(o, r->tid) ||
	    (!discover_note_places(d, o, r->site, o->now_site) && !o->pub.futex) ||
	    discover_round_join(o, r->tid, r->value) ||
	    discover_hold(o, r, arrive, r->depart_ns, merged)) {
		o->bad = true;
		discover_broken(d, o);
		d->ops.drop(d->ops.ctx, r->cookie);
		return 0;
	}
	discover_try_early(d, o);
	return 0;
}

static int add_wait_known(struct discover *d, struct object *o, const struct discover_record *r)
{
	uint64_t wake = o->wake_ns, before = o->wake_before_ns, arrive = r->arrive_ns;
	struct pending *p = find_pending(o, r->tid);
	bool merged, soon;

	if (!o->open)
		return pending_add(d, o, r);
	/*
	 * The thread may have been slow to leave. In that case the last waking does not fit the
	 * wait, and the waking before it ended the wait.
	 */
	if (wake > r->depart_ns || (arrive <= before && before)) {
		wake = before;
		before = 0;
	}
	if (r->flags & DISCOVER_AGAIN && !(arrive <= wake && wake <= r->depart_ns)) {
		if (!was_late(o, r))
			return pending_add(d, o, r);
		arrive = wake;
	} else if (arrive > wake || wake > r->depart_ns) {
		return pending_add(d, o, r);
	}
	soon = !o->pub.futex &&
	       discover_departed(d, o, r, wake == o->wake_ns ? o->now_site : UINT32_MAX);
	o->now_after += soon && wake == o->wake_ns;
	if (o->pub.futex && wake == o->wake_ns) {
		if (o->bad || r->tid == o->now_waker || discover_has_waited(o, r->tid))
			return wrong(d, o, r->cookie);
		discover_note_places(d, o, r->site, o->now_site);
		discover_round_join(o, r->tid, r->value);
		/* The round has more members than were known. */
		if (o->nnow + 1 > o->nset)
			discover_set_members(o);
		o->wrong = 0;
	}
	merged = continues(o, p, r, wake, before);
	if (merged) {
		arrive = p->arrive_ns;
		o->tally.unwoken -= p->unwoken && !o->tally.settled;
	}
	if (p) {
		if (p->again)
			d->ops.drop(d->ops.ctx, p->cookie);
		pending_remove(o, p);
	}
	if (!o->pub.futex && wake == o->wake_ns)
		discover_known_wait(d, o, r, arrive, merged);
	else
		discover_take(d, o, r->cookie, arrive, r->depart_ns, merged);
	return 0;
}

/*
 * Return the process's entry at a shared object; NULL when out of memory or if there are too many
 * entries.
 */
static struct visitor *visitor_get(struct object *o, const struct discover_record *r)
{
	uint64_t process = (uint64_t)r->tgid << 32 | r->inc;

	array_for_each (p, o->processes, o->nprocesses)
		if (p->process == process)
			return p;
	if (o->nprocesses >= MEMBERS_MAX || grow(o->processes, o->cap_processes, o->nprocesses + 1))
		return NULL;
	o->processes[o->nprocesses] = (struct visitor){ .process = process };
	return &o->processes[o->nprocesses++];
}

/*
 * Return whether a process waits, or wakes, for the first time at an object that it shares. Earlier
 * rounds may have broken the rule only because records of this process were missing. A process that
 * was just forked has no probes in its first rounds. In some later rounds it has only probes on
 * waits, or only probes on wakings.
 */
static bool joins(struct object *o, const struct discover_record *r)
{
	struct visitor *v;
	bool *seen;

	if (!o->pub.shared || o->anew >= ANEW_MAX)
		return false;
	v = visitor_get(o, r);
	if (!v)
		return false;
	seen = r->flags & DISCOVER_WAKE ? &v->woke : &v->waited;
	if (*seen)
		return false;
	*seen = true;
	return o->nprocesses > 1;
}

static void begin_anew(struct discover *d, struct object *o)
{
	o->anew++;
	o->breaks = o->empty = o->over = o->wrong = 0;
	if (o->pub.verdict == DISCOVER_OTHER)
		discover_classify(d, o, DISCOVER_OPEN);
}

int discover_add(struct discover *d, const struct discover_record *r, uint64_t *id)
{
	struct object *o = discover_object_get(d, r);
	int err;

	*id = 0;
	if (o && joins(o, r))
		begin_anew(d, o);
	if (!o || o->pub.verdict == DISCOVER_OTHER) {
		d->unseen.given_up += o && o->pub.was_barrier;
		d->ops.drop(d->ops.ctx, r->cookie);
		return o || d->n >= OBJECTS_MAX ? 0 : -ENOMEM;
	}
	*id = o->id;
	discover_tally(d, o, r);
	if (o->pub.verdict == DISCOVER_OPEN)
		discover_note_split(o, r);
	if (r->flags & DISCOVER_WAKE)
		err = add_wake(d, o, r);
	else if (o->pub.verdict == DISCOVER_BARRIER)
		err = add_wait_known(d, o, r);
	else
		err = add_wait_open(d, o, r);
	return err;
}

uint32_t discover_team(const struct discover *d, uint64_t id)
{
	const struct object *o = hash_get_ptr(&d->by_id, id);

	if (!o || !(o->streak || o->older || o->nnow))
		return 0;
	return o->nnow + 1 > o->nset ? o->nnow + 1 : o->nset;
}

void discover_give_up(struct discover *d, uint64_t id)
{
	struct object *o = hash_get_ptr(&d->by_id, id);

	if (!o)
		return;
	discover_decide(d, o);
	if (o->pub.verdict == DISCOVER_BARRIER && !o->pub.futex) {
		discover_known_end(d, o);
		return;
	}
	discover_drop_from(d, o, 0);
	discover_drop_pending(d, o);
	discover_streak_end(d, o);
	o->bad = true;
}

void discover_end_kind(struct discover *d, uint32_t tgid, uint32_t inc, bool futex)
{
	uint32_t i;

	for (i = d->n; i-- > 0;) {
		const struct discover_object *o = &d->objects[i]->pub;

		if (o->tgid == tgid && o->inc == inc && o->futex == futex && !o->shared)
			discover_object_forget(d, d->objects[i]);
	}
}

void discover_end_process(struct discover *d, uint32_t tgid, uint32_t inc)
{
	discover_end_kind(d, tgid, inc, false);
	discover_end_kind(d, tgid, inc, true);
}

void discover_finish(struct discover *d)
{
	uint32_t i;

	for (i = 0; i < d->n; i++) {
		if (d->objects[i]->pub.verdict == DISCOVER_OPEN) {
			discover_split_round(d->objects[i], 0);
			discover_round_end(d, d->objects[i]);
			discover_decide(d, d->objects[i]);
		}
		if (d->objects[i]->pub.verdict == DISCOVER_BARRIER)
			discover_known_end(d, d->objects[i]);
		d->objects[i]->open = false;
	}
	for (i = 0; i < d->n; i++) {
		discover_settle(d, d->objects[i]);
		discover_echo_end(d, d->objects[i]);
		discover_drop_from(d, d->objects[i], 0);
		discover_drop_pending(d, d->objects[i]);
	}
}

void discover_each(const struct discover *d,
		   void (*each)(void *ctx, const struct discover_object *object), void *ctx)
{
	uint32_t i;

	for (i = 0; i < d->nkept; i++)
		each(ctx, &d->kept[i]);
	array_for_each (o, d->objects, d->n)
		if (discover_worth_telling(&(*o)->pub))
			each(ctx, &(*o)->pub);
}
