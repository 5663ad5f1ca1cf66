// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Add a closed episode to its threads, processes and barriers when its position in the order of
 * releases is known.
 */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <string.h>

/*
 * Return the wait of a member, max(0, min(release, departure) - arrival). A thread that never left
 * waited until the release.
 */
static uint64_t wait_of(const struct model_member *mem, uint64_t release)
{
	uint64_t until = mem->depart_ns < release ? mem->depart_ns : release;

	return number_less(until, mem->arrive_ns);
}

static void fill_members(struct episode *e)
{
	struct model_member *mem;

	array_for_each (m, e->members, e->n) {
		mem = &m->pub;
		mem->wait_ns = wait_of(mem, e->arrive_max);
		mem->latency_ns = mem->depart_ns == MODEL_UNKNOWN
					  ? MODEL_UNKNOWN
					  : number_less(mem->depart_ns, e->arrive_max);
	}
}

/*
 * Return the time when the last of the members was created, or MODEL_UNKNOWN if a member existed
 * before tracing began.
 */
static uint64_t all_began(const struct episode *e)
{
	uint64_t from = 0;

	array_for_each (m, e->members, e->n) {
		const struct model_thread *t = &m->thread->pub;

		if (!t->start_seen)
			return MODEL_UNKNOWN;
		if (t->start_ns > from)
			from = t->start_ns;
	}
	return from;
}

/*
 * Phase time(e) = release(e) - release of the previous episode, on any object, in which all members
 * of e took part. If there is no such episode, the phase begins at the last arriver's previous
 * release on any object, or when the last of the members was created if that is known and earlier.
 * If the last arriver has no previous release, the phase begins when that thread started. In cyclic
 * use, any threads may share an episode, so the phase always begins at the last arriver's previous
 * release, or when that thread started. If the beginning is not certain, the phase time is unknown.
 * Set *@team to the team of that previous episode, or NULL.
 */
static void fill_phase(const struct model *m, struct episode *e, struct model_episode *out,
		       struct team **team)
{
	const struct member *last = &e->members[e->n - 1];
	const struct thread *t = last->thread;
	uint64_t from = t->pub.release_ns == MODEL_UNKNOWN ? t->pub.start_ns : t->pub.release_ns;
	bool sure = last->pub.work_ns != MODEL_UNKNOWN && t->release_sure;
	uint64_t began;

	*team = NULL;
	out->phase_ns = MODEL_UNKNOWN;
	out->phase_from = t->pub.barrier;
	if (e->nested)
		return;
	if (!e->cyclic) {
		bool before_sure = false;

		*team = team_before(m, e, &from, &out->phase_from, &before_sure);
		began = *team || t->pub.release_ns == MODEL_UNKNOWN ? MODEL_UNKNOWN : all_began(e);
		if (*team) {
			sure = sure && before_sure;
			/*
			 * A lost record of the last arriver may belong to a later episode of all
			 * members, at another object.
			 */
			sure = sure && !thread_gap_covers(t, from, e->arrive_max);
		} else if (began < from) {
			from = began;
			out->phase_from = MODEL_NONE;
		}
	}
	if (sure && from <= e->arrive_max)
		out->phase_ns = e->arrive_max - from;
}

static void add_longest(struct model_barrier *b, const struct model_episode *ep)
{
	struct model_longest l = { ep->phase_ns, ep->number, ep->release_ns }, t;
	unsigned i;

	if (l.phase_ns <= b->longest[MODEL_LONGEST - 1].phase_ns)
		return;
	for (i = 0; i < MODEL_LONGEST; i++) {
		if (l.phase_ns <= b->longest[i].phase_ns)
			continue;
		t = b->longest[i];
		b->longest[i] = l;
		l = t;
	}
}

static int add_phase(struct row *r, const struct episode *e, const struct model_episode *ep,
		     uint64_t wait)
{
	struct model_phase *ph;
	int err;

	if (ep->phase_ns == MODEL_UNKNOWN)
		return 0;
	model_stat_add(&r->pub.phase, ep->phase_ns);
	add_longest(&r->pub, ep);
	err = barrier_phase(r, ep->phase_from, &ph);
	if (err || !ph)
		return err;
	model_stat_add(&ph->time, ep->phase_ns);
	ph->wait_ns += wait;
	ph->thread_ns += ep->phase_ns * e->n;
	return 0;
}

/*
 * Return the work of a member since the last episode of all members, without its waits at other
 * barriers since that episode. @whole: the members had no such episode, so return the work since
 * the thread's start. @team: the team of that episode, or NULL.
 */
static uint64_t work_since(const struct model *m, const struct member *mem, const struct team *team,
			   bool whole)
{
	uint64_t work = team ? team_work(m, mem, team) : MODEL_UNKNOWN;

	if (whole)
		work = mem->thread->outside_joined + mem->outside_ns;
	return work == MODEL_UNKNOWN ? mem->pub.work_ns : work;
}

/*
 * Add one member of a complete episode. @work is its work since the last episode of all members, or
 * MODEL_UNKNOWN.
 */
static int add_member(struct row *r, const struct episode *e, const struct member *mem,
		      uint64_t work, bool last)
{
	struct model_barrier_thread *bt;
	struct thread *t = mem->thread;
	double square = (double)mem->pub.wait_ns * (double)mem->pub.wait_ns;
	int err = barrier_thread(r, t, &bt);

	if (err)
		return err;
	bt->wait_ns += mem->pub.wait_ns;
	bt->waits++;
	bt->wait_squares += square;
	if (mem->pub.wait_ns > bt->wait_max_ns)
		bt->wait_max_ns = mem->pub.wait_ns;
	if (mem->pub.depart_ns != MODEL_UNKNOWN)
		bt->idle_ns += number_less(mem->pub.depart_ns, mem->pub.arrive_ns);
	else
		bt->undeparted++;
	if (mem->pub.work_ns != MODEL_UNKNOWN) {
		bt->work_ns += mem->pub.work_ns;
		bt->team_work_ns += work;
		bt->work_n++;
	}
	if (member_accounted(mem) && !mem->depth)
		model_sums_add(&bt->sums, mem->pub.detail, mem->pub.work_ns, member_inside(mem));
	bt->last += last;
	model_stat_add(&r->pub.wait, mem->pub.wait_ns);
	if (mem->pub.latency_ns != MODEL_UNKNOWN)
		model_stat_add(&r->pub.release, mem->pub.latency_ns);
	if (!e->nested) {
		t->pub.wait_ns += mem->pub.wait_ns;
		t->pub.waits++;
		t->pub.wait_squares += square;
		t->pub.last += last;
	}
	return 0;
}

static int add_complete(const struct model *m, struct row *r, const struct episode *e,
			const struct model_episode *ep, const struct team *team)
{
	bool whole = !e->nested && !team && ep->phase_from == MODEL_NONE;
	struct model_barrier *b = &r->pub;
	uint64_t wait = 0, work, most = 0;
	uint32_t i;
	int err;

	b->episodes++;
	if (e->n < b->team_min)
		b->team_min = e->n;
	if (e->n > b->team_max)
		b->team_max = e->n;
	for (i = 0; i < e->n; i++) {
		wait += e->members[i].pub.wait_ns;
		work = e->members[i].pub.work_ns;
		if (work != MODEL_UNKNOWN)
			work = work_since(m, &e->members[i], team, whole);
		if (work != MODEL_UNKNOWN && work > most)
			most = work;
		err = add_member(r, e, &e->members[i], work, i == e->n - 1);
		if (err)
			return err;
	}
	b->max_work_ns += most;
	model_stat_add(&b->barrier, ep->barrier_ns);
	if (e->n > 1)
		b->margin_ns += e->arrive_max - e->members[e->n - 2].pub.arrive_ns;
	return add_phase(r, e, ep, wait);
}

static void count_crossed_by(struct proc *p, const struct episode *e)
{
	if (p->joined_number == e->serial + 1)
		return;
	p->joined_number = e->serial + 1;
	p->pub.episodes_joined += e->state == MODEL_COMPLETE;
	p->pub.incomplete_joined += e->state == MODEL_INCOMPLETE;
	p->pub.ambiguous_joined += e->state == MODEL_AMBIGUOUS;
}

/* Count the episode for each process that took part. */
static void count_crossed(struct model *m, struct proc *home, const struct episode *e)
{
	if (e->nested)
		return;
	if (!e->object->shared) {
		count_crossed_by(home, e);
		return;
	}
	array_for_each (member, e->members, e->n)
		count_crossed_by(proc_at(m, member->thread->pub.proc), e);
}

static void count_state(struct model *m, struct proc *p, struct row *r, const struct episode *e)
{
	bool sums = !e->nested;

	switch (e->state) {
	case MODEL_COMPLETE:
		p->pub.episodes += sums;
		m->totals.episodes += sums;
		break;
	case MODEL_INCOMPLETE:
		r->pub.incomplete++;
		p->pub.incomplete += sums;
		m->totals.incomplete += sums;
		break;
	case MODEL_AMBIGUOUS:
		r->pub.ambiguous++;
		p->pub.ambiguous += sums;
		m->totals.ambiguous += sums;
		break;
	}
}

static int count_crossings(struct proc *p, struct row *r, const struct episode *e)
{
	struct model_barrier_thread *bt;
	int err;

	r->pub.crossings += e->n;
	p->pub.arrivals_unseen += e->waits_unseen ? e->n : 0;
	array_for_each (m, e->members, e->n) {
		err = barrier_thread(r, m->thread, &bt);
		if (err)
			return err;
		bt->crossings++;
		r->pub.inferred += m->pub.flags & MODEL_CROSSING_INFERRED ? 1 : 0;
		/*
		 * If the known threads ever completed an episode here, no unknown process shares
		 * the object.
		 */
		if (m->pub.flags & MODEL_CROSSING_UNMET && e->state != MODEL_COMPLETE &&
		    !e->object->nlast_members) {
			r->pub.unmet++;
			p->pub.unmet++;
		}
		if (m->place)
			bt->place = m->place - 1u;
		if (m->thread->pub.proc != e->proc)
			r->pub.shared = true;
	}
	if (r->pub.object != e->object->addr) {
		r->pub.object = e->object->addr;
		r->pub.objects = 2;
	}
	return 0;
}

/*
 * Move the thread that only waits for other threads to end (MODEL_CROSSING_JOINS) from @e to
 * @joiner. If there is no such thread, set joiner->thread to NULL.
 */
static void leave_out_joiner(struct model *m, struct episode *e, struct member *joiner)
{
	uint32_t i, k;

	joiner->thread = NULL;
	for (i = 0; i < e->n && !(e->members[i].pub.flags & MODEL_CROSSING_JOINS); i++)
		;
	/* Keep the thread if it is the only member: all known times are its own. */
	if (i == e->n || e->n < 2)
		return;
	*joiner = e->members[i];
	detail_release(m, joiner->pub.detail);
	for (k = i; k + 1 < e->n; k++)
		e->members[k] = e->members[k + 1];
	e->n--;
	e->count -= e->count > 0;
	e->arrive_min = MODEL_UNKNOWN;
	e->arrive_max = 0;
	array_for_each (mem, e->members, e->n) {
		if (mem->pub.arrive_ns < e->arrive_min)
			e->arrive_min = mem->pub.arrive_ns;
		if (mem->pub.arrive_ns > e->arrive_max)
			e->arrive_max = mem->pub.arrive_ns;
	}
}

/*
 * Advance the clocks of the ideal program (T_ideal of struct model_proc). Each clock runs through
 * its thread's intervals outside barriers. An episode sets the clocks of all members to the latest
 * of them, at no cost.
 */
static int join_clocks(struct model *m, struct episode *e, const struct member *joiner,
		       struct team *before, uint32_t row)
{
	/*
	 * The release is known if the last arriver is certainly a known member. In an incomplete or
	 * ambiguous episode the last arriver is certain only if the missing threads arrived before
	 * tracing began, or if only the order of two arrivals is in doubt.
	 */
	bool sure = e->state == MODEL_COMPLETE || !(e->why & ~(MODEL_WHY_BEFORE | MODEL_WHY_SWAP));
	bool released = e->depart_min != MODEL_UNKNOWN;
	struct thread *t;
	uint64_t latest = 0;
	uint32_t i;

	/*
	 * The thread that only joins has been removed from the members, but its clock takes part.
	 */
	for (i = 0; i < e->n + (joiner->thread != NULL); i++) {
		const struct member *mem = i < e->n ? &e->members[i] : joiner;

		mem->thread->ideal += mem->outside_ns;
		mem->thread->outside_joined += mem->outside_ns;
		if (mem->thread->ideal > latest)
			latest = mem->thread->ideal;
	}
	if (!released)
		return 0;
	for (i = 0; i < e->n + (joiner->thread != NULL); i++) {
		t = i < e->n ? e->members[i].thread : joiner->thread;
		t->ideal = latest;
		/* An episode that was decided late must not replace a later release. */
		if (t->pub.release_ns != MODEL_UNKNOWN && t->pub.release_ns > e->arrive_max)
			continue;
		t->pub.release_ns = e->arrive_max;
		t->pub.barrier = row;
		t->release_sure = sure;
	}
	return team_crossed(m, e, before, row, sure);
}

/*
 * Return whether @a was created before @b. The first thread of a process counts as created first,
 * even if a later start is recorded for it.
 */
static bool made_before(const struct model *m, const struct thread *a, const struct thread *b)
{
	bool first_a = a->pub.tid == proc_at(m, a->pub.proc)->pub.tgid;
	bool first_b = b->pub.tid == proc_at(m, b->pub.proc)->pub.tgid;

	if (first_a != first_b)
		return first_a;
	return a->pub.start_ns < b->pub.start_ns ||
	       (a->pub.start_ns == b->pub.start_ns && a->pub.tid < b->pub.tid);
}

/*
 * Number the members that have no number yet, in the order of their creation. The process's first
 * thread, which programs usually call thread 0, then gets the number 0.
 */
static void number_members(struct model *m, const struct episode *e)
{
	uint32_t next;
	const struct proc *home = proc_at(m, e->proc);

	if (home->next_ordinal == home->pub.nthreads_crossed && !e->object->shared)
		return;
	for (;;) {
		struct thread *first = NULL;

		array_for_each (member, e->members, e->n) {
			struct thread *t = member->thread;

			if (t->pub.ordinal != MODEL_NONE)
				continue;
			if (!first || made_before(m, t, first))
				first = t;
		}
		if (!first)
			return;
		next = proc_at(m, first->pub.proc)->next_ordinal++;
		if (m->ops.number)
			next = m->ops.number(m->ops.ctx, m, first->index, next);
		first->pub.ordinal = next < MODEL_NONE ? next : MODEL_NONE - 1;
	}
}

/*
 * Make details for members that were always on a CPU. Only two fields of such a detail are written,
 * so the other fields stay zero.
 */
static int fill_whole(struct model *m, const struct episode *e)
{
	const struct member *mem;
	uint32_t i;
	int err = grow_zeroed(m->whole, m->cap_whole, e->n);

	for (i = 0; i < e->n && !err; i++) {
		mem = &e->members[i];
		if (mem->pub.detail || !member_accounted(mem))
			continue;
		m->whole[i].oncpu_ns = mem->pub.work_ns;
		m->whole[i].inside_oncpu_ns = member_inside(mem);
		m->out[i].detail = &m->whole[i];
	}
	return err;
}

static int hand_out(struct model *m, const struct episode *e, struct model_episode *ep)
{
	bool whole = false;
	uint32_t i;
	int err = grow(m->out, m->cap_out, e->n);

	if (err)
		return err;
	for (i = 0; i < e->n; i++) {
		m->out[i] = e->members[i].pub;
		whole |= !e->members[i].pub.detail && member_accounted(&e->members[i]);
	}
	if (whole)
		err = fill_whole(m, e);
	if (err)
		return err;
	ep->members = m->out;
	m->ops.episode(m->ops.ctx, m, ep);
	return 0;
}

/* Prefetch the entries of all members at the barrier. */
static void expect_members(const struct row *r, const struct episode *e)
{
	const struct model_barrier_thread *bt;

	array_for_each (m, e->members, e->n) {
		bt = barrier_thread_known(r, m->thread);
		if (!bt)
			continue;
		__builtin_prefetch(bt, 1);
		__builtin_prefetch(&bt->sums, 1);
	}
}

int episode_emit(struct model *m, struct episode *e)
{
	struct proc *p = proc_at(m, e->proc);
	struct model_episode ep = { 0 };
	struct member joiner;
	struct team *team;
	struct row *r;
	uint32_t row;
	int err;

	err = episode_sort(m, e);
	if (err)
		return err;
	leave_out_joiner(m, e, &joiner);
	err = barrier_row(m, e, &row);
	if (err)
		return err;
	r = row_at(m, row);
	r->pub.probe_groups |= e->probe_groups;
	expect_members(r, e);
	fill_members(e);
	number_members(m, e);
	ep.proc = e->proc;
	ep.barrier = row;
	ep.object = e->object->addr;
	ep.seq = r->pub.episodes + r->pub.incomplete + r->pub.ambiguous;
	ep.number = MODEL_UNKNOWN;
	if (!e->nested && e->depart_min != MODEL_UNKNOWN)
		ep.number = p->next_number++;
	ep.release_ns = e->arrive_max;
	ep.barrier_ns = e->arrive_max - e->arrive_min;
	ep.count = e->count;
	ep.n = e->n;
	ep.state = e->state;
	ep.why = e->why;
	ep.nested = e->nested;
	fill_phase(m, e, &ep, &team);
	err = count_crossings(p, r, e);
	if (!err && e->state == MODEL_COMPLETE)
		err = add_complete(m, r, e, &ep, team);
	if (err)
		return err;
	count_state(m, p, r, e);
	count_crossed(m, p, e);
	if (!e->nested)
		err = join_clocks(m, e, &joiner, team, row);
	return !err && m->ops.episode ? hand_out(m, e, &ep) : err;
}
