// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/user_phases.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of queued marks. A mark stays in the queue until the episodes before it are
 * finished. The limit matters for programs without episodes, in which no episode takes marks out of
 * the queue.
 */
#define QUEUE_MAX 65536

/* A queued mark, and the detail of its thread from the last departure to the mark. */
struct mark {
	uint32_t phase; /* index in user_phases.phases */
	bool begins, known;
	uint32_t thread, tid, seq;
	uint64_t t_ns;
	struct model_detail detail; /* valid if `known` is set */
};

/* An occurrence that at least one thread has begun and not ended. */
struct open {
	struct open *next; /* the next older occurrence */
	uint64_t serial;
	uint32_t inside; /* number of threads inside */
	bool has_members; /* the current episode has members in this occurrence */
	struct occurrence now;
};

/* A thread that has marked the phase. */
struct member {
	uint32_t thread, tid;
	struct open *in; /* the occurrence that the thread is in; NULL if none */
	uint64_t serial; /* serial number of its last occurrence; 0 if none */
	uint32_t depth; /* number of nested begins */
	/* Its current interval began at its mark or, if `crossed` is set, at a departure. */
	bool crossed;
	struct mark begin;
	/* time of that departure, if `crossed` is set; MODEL_UNKNOWN if it was not seen */
	uint64_t depart_ns;
};

/* A phase with one name in one process. */
struct user_phases_phase {
	char *name;
	uint32_t proc;
	struct phase phase;
	uint64_t serial;
	struct open *open; /* open occurrences, the latest first */
	uint32_t n, cap;
	struct member *members;
};

struct user_phases {
	uint32_t n, cap;
	struct user_phases_phase *phases;
	/* queue[first] is the first mark that has not been used yet */
	uint32_t nqueue, first, cap_queue;
	struct mark *queue;
	uint64_t refused;
	uint64_t *nmarks; /* indexed by process */
	uint32_t cap_nmarks;
};

struct user_phases *user_phases_new(void)
{
	return calloc(1, sizeof(struct user_phases));
}

static void open_free(struct open *o)
{
	shares_free(&o->now.shares);
	free(o);
}

void user_phases_free(struct user_phases *m)
{
	struct open *o, *next;

	if (!m)
		return;
	array_for_each (p, m->phases, m->n) {
		for (o = p->open; o; o = next) {
			next = o->next;
			open_free(o);
		}
		phase_free(&p->phase);
		free(p->members);
		free(p->name);
	}
	free(m->nmarks);
	free(m->phases);
	free(m->queue);
	free(m);
}

uint64_t user_phases_n(const struct user_phases *m, uint32_t proc)
{
	return proc < m->cap_nmarks ? m->nmarks[proc] : 0;
}

uint64_t user_phases_refused(const struct user_phases *m)
{
	return m->refused;
}

uint32_t user_phases_phases(const struct user_phases *m)
{
	return m->n;
}

/* Find or add a phase. *out is its index, or MODEL_NONE if there are too many phases. */
static int phase_of(struct user_phases *m, uint32_t proc, const char *name, uint32_t *out)
{
	uint32_t i, n = 0;
	char *copy;
	int err;

	for (i = 0; i < m->n; i++) {
		if (m->phases[i].proc != proc)
			continue;
		n++;
		if (!strcmp(m->phases[i].name, name)) {
			*out = i;
			return 0;
		}
	}
	*out = MODEL_NONE;
	if (n >= USER_PHASES_MAX)
		return 0;
	copy = strdup(name);
	err = copy ? grow_zeroed(m->phases, m->cap, m->n + 1) : -ENOMEM;
	if (err) {
		free(copy);
		return err;
	}
	*out = m->n++;
	m->phases[*out] = (struct user_phases_phase){ .name = copy, .proc = proc };
	return 0;
}

/* Return the member, or NULL if the thread has never marked the phase. */
static struct member *member_find(const struct user_phases_phase *p, uint32_t thread, uint32_t tid)
{
	array_for_each (m, p->members, p->n)
		if (m->thread == thread && m->tid == tid)
			return m;
	return NULL;
}

static struct member *member_get(struct user_phases_phase *p, uint32_t thread, uint32_t tid)
{
	struct member *t = member_find(p, thread, tid);

	if (t)
		return t;
	if (grow_zeroed(p->members, p->cap, p->n + 1))
		return NULL;
	t = &p->members[p->n++];
	*t = (struct member){ .thread = thread, .tid = tid };
	return t;
}

/* --- the activity of a thread between two points of one of its phases --- */

/* Return the part of @ns that fits into the remaining time *@left, and subtract it from *@left. */
static uint64_t fit(uint64_t ns, uint64_t *left)
{
	ns = ns < *left ? ns : *left;
	*left -= ns;
	return ns;
}

#define FIT_PART(member, ...)  out->member = fit(number_less(all->member, head->member), &left);
#define LESS_PART(member, ...) out->member = (uint32_t)number_less(all->member, head->member);

/*
 * Set @out to @all minus @head. Both begin at the thread's last departure, and @head ends @ns
 * before @all.
 */
static void between(const struct model_detail *all, const struct model_detail *head, uint64_t ns,
		    struct model_detail *out)
{
	uint64_t left = ns;
	uint32_t i;

	*out = *all;
	out->runq_ns = fit(number_less(all->runq_ns, head->runq_ns), &left);
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		out->blocked_ns[i] =
			fit(number_less(all->blocked_ns[i], head->blocked_ns[i]), &left);
	out->oncpu_ns = fit(number_less(all->oncpu_ns, head->oncpu_ns), &left);
	left = out->oncpu_ns;
	SBT_PART_ONCPU_TIMES(FIT_PART, )
	left = ns;
	SBT_PART_WORK_TIMES(FIT_PART, )
	left = out->turn_ns + out->begin_ns;
	out->turn_oncpu_ns = fit(number_less(all->turn_oncpu_ns, head->turn_oncpu_ns), &left);
	SBT_PART_COUNTS(LESS_PART, )
	out->scaled |= head->scaled;
	out->unknown |= head->unknown;
	for (i = 0; i < all->ncounters && i < MODEL_COUNTERS_MAX; i++)
		out->counters[i] = number_less(all->counters[i], head->counters[i]);
}

/*
 * Add @ns of work since the thread's mark or departure. @all is the detail from its last departure
 * to the end of this work; NULL if unknown.
 */
static void add_work(struct share *s, const struct member *t, const struct model_detail *all,
		     uint64_t ns, uint64_t inside_ns)
{
	static const struct model_detail nothing;
	struct model_detail part;

	s->work_ns += ns;
	s->ideal_ns += ns;
	if (!all || all->oncpu_ns == MODEL_UNKNOWN || (!t->crossed && !t->begin.known)) {
		model_sums_add(&s->sums, all, MODEL_UNKNOWN, inside_ns);
		return;
	}
	between(all, t->crossed ? &nothing : &t->begin.detail, ns, &part);
	model_sums_add(&s->sums, &part, ns, inside_ns);
}

/* --- marks ----------------------------------------------------------------------------------- */

static int begin(struct user_phases_phase *p, struct member *t, const struct mark *mark)
{
	struct open *o = p->open;
	struct share *s;
	uint32_t known;

	if (t->in) {
		t->depth++;
		return 0;
	}
	if (!o || t->serial >= o->serial) {
		o = calloc(1, sizeof(*o));
		if (!o)
			return -ENOMEM;
		occurrence_begin(&o->now, mark->t_ns);
		o->serial = ++p->serial;
		o->next = p->open;
		p->open = o;
	}
	known = o->now.shares.n;
	s = share_of(&o->now.shares, t->thread, t->tid);
	if (!s)
		return -ENOMEM;
	/* The path of a new thread begins at its mark. The path of a known thread continues. */
	if (o->now.shares.n > known)
		s->ideal_ns = number_less(mark->t_ns, o->now.start_ns);
	o->inside++;
	t->in = o;
	t->serial = o->serial;
	t->crossed = false;
	t->begin = *mark;
	return 0;
}

static int leave(struct user_phases_phase *p, struct open *o, uint64_t t_ns)
{
	struct open **at = &p->open;
	int err;

	if (--o->inside)
		return 0;
	err = phase_end(&p->phase, &o->now, t_ns);
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	open_free(o);
	return err;
}

static int end(struct user_phases_phase *p, struct member *t, const struct mark *mark)
{
	uint64_t from = t->crossed ? t->depart_ns : t->begin.t_ns;
	struct open *o = t->in;
	struct share *s;

	/* Ignore the end of an occurrence that began before tracing. */
	if (!o)
		return 0;
	if (t->depth) {
		t->depth--;
		return 0;
	}
	s = share_of(&o->now.shares, t->thread, t->tid);
	if (!s)
		return -ENOMEM;
	/*
	 * The work is unknown if `from` is unknown, or if there was a crossing without an episode
	 * between `from` and the mark.
	 */
	if (from == MODEL_UNKNOWN || from > mark->t_ns ||
	    (!t->crossed && t->begin.seq != mark->seq))
		o->now.unknown = true;
	else
		add_work(s, t, mark->known ? &mark->detail : NULL, mark->t_ns - from,
			 MODEL_UNKNOWN);
	t->in = NULL;
	return leave(p, o, mark->t_ns);
}

static int apply(struct user_phases *m, const struct mark *mark)
{
	struct user_phases_phase *p = &m->phases[mark->phase];
	struct member *t = member_get(p, mark->thread, mark->tid);

	if (!t)
		return -ENOMEM;
	return mark->begins ? begin(p, t, mark) : end(p, t, mark);
}

/* Apply marks of all processes up to @t_ns. The queue is in the order of time. */
static int apply_until(struct user_phases *m, uint64_t t_ns)
{
	int err = 0;

	while (!err && m->first < m->nqueue && m->queue[m->first].t_ns <= t_ns)
		err = apply(m, &m->queue[m->first++]);
	if (m->first == m->nqueue)
		m->first = m->nqueue = 0;
	return err;
}

int user_phases_add(struct user_phases *m, uint32_t proc, uint32_t thread, const char *name,
		    const struct model_mark *from)
{
	struct mark *mark;
	uint32_t phase;
	int err = grow_zeroed(m->nmarks, m->cap_nmarks, proc + 1);

	if (err)
		return err;
	m->nmarks[proc]++;
	err = phase_of(m, proc, name, &phase);
	if (err)
		return err;
	if (phase == MODEL_NONE) {
		m->refused++;
		return 0;
	}
	if (m->nqueue >= QUEUE_MAX) {
		if (!m->first)
			err = apply_until(m, m->queue[m->nqueue / 2].t_ns);
		if (err)
			return err;
		memmove(m->queue, m->queue + m->first, (m->nqueue - m->first) * sizeof(*m->queue));
		m->nqueue -= m->first;
		m->first = 0;
	}
	err = grow_zeroed(m->queue, m->cap_queue, m->nqueue + 1);
	if (err)
		return err;
	mark = &m->queue[m->nqueue++];
	*mark = (struct mark){
		.phase = phase,
		.begins = from->begins,
		.known = from->detail,
		.thread = thread,
		.tid = from->tid,
		.seq = from->seq,
		.t_ns = from->t_ns,
	};
	if (from->detail)
		mark->detail = *from->detail;
	return 0;
}

int user_phases_finish(struct user_phases *m)
{
	return apply_until(m, UINT64_MAX);
}

/* --- episodes -------------------------------------------------------------------------------- */

/* Add the arrival of a thread that is between its two marks. */
static void take_marked(struct member *t, const struct model_member *m, struct share *s)
{
	uint64_t inside = member_inside(m), work = m->work_ns;
	struct model_detail busy = { 0 };
	const struct model_detail *all = m->detail;

	/* If there is no detail, the thread was on a CPU all the time. */
	if (!all && m->flags & MODEL_CROSSING_ACCOUNTED && work != MODEL_UNKNOWN) {
		busy.oncpu_ns = work;
		busy.inside_oncpu_ns = inside != MODEL_UNKNOWN ? inside : 0;
		all = &busy;
	}
	if (!t->crossed && m->arrive_ns >= t->begin.t_ns)
		work = m->arrive_ns - t->begin.t_ns;
	if (work == MODEL_UNKNOWN)
		t->in->now.unknown = true;
	else
		add_work(s, t, all, work, inside);
	t->crossed = true;
	t->depart_ns = m->depart_ns;
}

static struct open *where(struct user_phases_phase *p, struct member *t)
{
	return t ? t->in : p->open;
}

static int take_member(struct user_phases_phase *p, const struct model_episode *ep, uint32_t i)
{
	const struct model_member *m = &ep->members[i];
	struct member *t = member_find(p, m->thread, m->tid);
	struct open *o = where(p, t);
	struct share *s;

	if (!o || m->arrive_ns < o->now.start_ns || (t && m->arrive_ns < t->begin.t_ns))
		return 0;
	s = share_of(&o->now.shares, m->thread, m->tid);
	if (!s)
		return -ENOMEM;
	if (t)
		take_marked(t, m, s);
	else
		occurrence_work(&o->now, m, s);
	occurrence_wait(ep, i, s);
	o->has_members = true;
	return 0;
}

/*
 * Join the paths of the members in this occurrence: each of them continues the longest of their
 * paths (see model_proc.ideal_ns).
 */
static void join_paths(struct open *o, const struct model_episode *ep)
{
	struct shares *s = &o->now.shares;
	uint64_t longest = 0;
	uint32_t k, place;

	for (k = 0; k < 2; k++) {
		array_for_each (m, ep->members, ep->n) {
			place = m->thread < s->nplaces ? s->places[m->thread] : 0;
			if (!place)
				continue;
			if (k)
				s->all[place - 1].ideal_ns = longest;
			else if (s->all[place - 1].ideal_ns > longest)
				longest = s->all[place - 1].ideal_ns;
		}
	}
}

static int phase_episode(struct user_phases_phase *p, const struct model_episode *ep,
			 bool *took_part)
{
	struct open *o;
	uint32_t i;
	int err = 0;

	for (i = 0; i < ep->n && !err; i++)
		err = take_member(p, ep, i);
	for (o = p->open; o; o = o->next) {
		if (!o->has_members)
			continue;
		join_paths(o, ep);
		occurrence_count(&o->now, ep);
		o->has_members = false;
		*took_part = true;
	}
	return err;
}

int user_phases_episode(struct user_phases *m, const struct model_episode *ep,
			struct blame **blames, uint32_t *nblames)
{
	uint32_t i;
	int err;
	bool took_part;

	if (!m->n)
		return 0;
	err = apply_until(m, ep->release_ns);
	for (i = 0; i < m->n && !err; i++) {
		if (m->phases[i].proc != ep->proc || !m->phases[i].open)
			continue;
		took_part = false;
		err = phase_episode(&m->phases[i], ep, &took_part);
		if (took_part)
			blames[(*nblames)++] = &m->phases[i].phase.blame;
	}
	return err;
}

/* --- results --- */

int user_phases_report(const struct user_phases *m, const struct phase_build *build,
		       const struct model_proc *procs, struct report *out)
{
	struct report_conceptual *row;
	const struct open *o;
	uint32_t i;
	int err = 0;

	for (i = 0; i < m->n && !err; i++) {
		struct user_phases_phase *p = &m->phases[i];
		uint32_t open = 0;

		for (o = p->open; o; o = o->next)
			open++;
		row = &out->conceptuals[out->nconceptuals++];
		row->name = arena_string(build->arena, p->name);
		if (!row->name)
			return -ENOMEM;
		err = phase_out(build, &p->phase, open, &procs[p->proc], row);
	}
	return err;
}
