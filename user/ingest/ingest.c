// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/ingest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "ingest/callsite.h"
#include "ingest/departures.h"
#include "ingest/feed_sums.h"
#include "ingest/reorder.h"
#include "model/turnstile.h"
#include "sites/family.h"
#include "target/proc.h"

/*
 * How long a candidate may wait for its classification. HOLD_LONG_NS applies if no crossing of
 * another barrier waits behind the candidate in the queue. HOLD_NS applies if there is such a
 * crossing, or if fewer than three threads have used the object. HOLD_EMPTY_NS applies if no thread
 * was seen to wait at the object.
 */
#define HOLD_LONG_NS  60000000000ULL
#define HOLD_NS	      2000000000ULL
#define HOLD_EMPTY_NS 200000000ULL
#define HOLD_MAX      65536

/* ingest_run() feeds records for this time, and checks the clock once in SLICE_EACH records. */
#define SLICE_NS   5000000u
#define SLICE_EACH 64

/* maximum number of generations of forked processes that may_be_older() follows */
#define FORKS_MAX 16

struct ingest {
	struct attach *attach;
	struct stream *stream; /* the stream of `departures`, if that is not NULL */
	struct departures *departures; /* NULL: all departures are seen */
	struct address_spaces *spaces;
	struct model *model;
	struct feed *feed;
	struct stack_samples *samples; /* NULL: threads are not sampled */
	struct discover *discover; /* NULL if discovery is off */
	struct forkjoin *forkjoin; /* NULL if discovery is off */
	struct turnstiles *turnstiles; /* NULL if discovery is off */
	struct reorder reorder;
	uint64_t unshared; /* see ingest_unshared() */
	struct ingest_verdict *verdicts; /* verdicts that were not taken yet */
	size_t nverdicts, cap_verdicts;
};

static uint64_t discover_function(void *ctx, uint32_t site, bool *exact)
{
	struct ingest *p = ctx;

	return address_spaces_function(p->spaces, site, exact);
}

static uint64_t discover_outer(void *ctx, uint32_t site)
{
	struct ingest *p = ctx;

	return address_spaces_outer_function(p->spaces, site);
}

_Static_assert(DISCOVER_INNERMOST == ADDRESS_SPACE_INNERMOST,
	       "both use the same number for the innermost frame");

static uint64_t discover_line(void *ctx, uint32_t site, uint32_t depth)
{
	struct ingest *p = ctx;

	return address_spaces_line(p->spaces, site, depth);
}

/*
 * Return whether the wait and the wake-up are close: on one line, as in a macro, or in a small
 * function that is not the first function of a thread.
 */
static bool discover_compact(void *ctx, uint32_t wait, uint32_t wake)
{
	struct ingest *p = ctx;
	uint64_t line = address_spaces_line(p->spaces, wait, 0);

	return address_spaces_compact(p->spaces, wait, wake) &&
	       ((line && line == address_spaces_line(p->spaces, wake, 0)) ||
		!callsites_first(feed_callsites(p->feed), wait));
}

static void discover_take(void *ctx, uint64_t cookie, const struct discover_member *member)
{
	struct ingest *p = ctx;
	struct reorder_item *item = reorder_at(&p->reorder, cookie);

	if (!item)
		return;
	item->fate = REORDER_TAKEN;
	item->member = *member;
}

static void discover_drop(void *ctx, uint64_t cookie)
{
	struct ingest *p = ctx;
	struct reorder_item *item = reorder_at(&p->reorder, cookie);

	if (item)
		item->fate = REORDER_DROPPED;
}

/*
 * Queue a verdict. When out of memory, the kernel side keeps recording all waits. This takes time,
 * but no result changes.
 */
static void add_verdict(struct ingest *p, uint32_t tgid, uint32_t inc, uint64_t object,
			uint32_t state)
{
	if (!grow(p->verdicts, p->cap_verdicts, p->nverdicts + 1))
		p->verdicts[p->nverdicts++] = (struct ingest_verdict){
			.tgid = tgid, .inc = inc, .state = state, .object = object
		};
}

void ingest_take_verdicts(struct ingest *p,
			  void (*apply)(void *ctx, const struct ingest_verdict *verdict), void *ctx)
{
	size_t i;

	for (i = 0; i < p->nverdicts; i++)
		apply(ctx, &p->verdicts[i]);
	p->nverdicts = 0;
}

/*
 * Queue the verdict for the kernel side. The verdict does not affect records that are already in
 * the rings.
 */
static void discover_classified(void *ctx, const struct discover_object *o)
{
	struct ingest *p = ctx;
	static const uint32_t states[] = {
		[DISCOVER_OPEN] = SBT_OBJECT_OPEN,
		[DISCOVER_BARRIER] = SBT_OBJECT_BARRIER,
		[DISCOVER_OTHER] = SBT_OBJECT_OTHER,
	};

	/*
	 * Waits at a former barrier are counted, so the kernel side must continue to record them. A
	 * shared object may turn out to be a barrier when another process arrives at it. Records of
	 * all its users are needed then.
	 */
	if (o->verdict == DISCOVER_OTHER && (o->was_barrier || o->shared))
		return;
	add_verdict(p, o->tgid, o->inc, o->object, states[o->verdict]);
}

static void forkjoin_take(void *ctx, uint64_t cookie, struct forkjoin_episode *episode)
{
	struct ingest *p = ctx;
	struct reorder_item *item = reorder_at(&p->reorder, cookie);

	if (!item) {
		free(episode);
		return;
	}
	item->fate = REORDER_TAKEN;
	item->episode = episode;
}

static int start_discovery(struct ingest *p)
{
	struct discover_ops ops = {
		.ctx = p,
		.function = discover_function,
		.outer = discover_outer,
		.line = discover_line,
		.compact = discover_compact,
		.take = discover_take,
		.drop = discover_drop,
		.classified = discover_classified,
	};
	struct forkjoin_ops joins = { .ctx = p, .take = forkjoin_take, .drop = discover_drop };

	p->discover = discover_new(&ops);
	p->forkjoin = forkjoin_new(&joins);
	p->turnstiles = turnstiles_new();
	return p->discover && p->forkjoin && p->turnstiles ? 0 : -ENOMEM;
}

static int departures_barrier(void *ctx, struct sbt_crossing *c, uint64_t first_word,
			      struct departures_barrier *out)
{
	const struct ingest *p = ctx;

	return feed_barrier(p->feed, c, first_word, out);
}

static bool departures_offs(void *ctx, uint32_t tid, uint32_t seq, struct sbt_arrival_full *out,
			    uint64_t *out_ns)
{
	const struct ingest *p = ctx;

	return attach_offs(p->attach, tid, seq, out, out_ns);
}

static bool departures_parent(void *ctx, uint32_t *tgid, uint32_t *inc)
{
	const struct ingest *p = ctx;
	const struct address_space *space = address_space_find(p->spaces, *tgid, *inc);

	if (!space || !space->parent_tgid)
		return false;
	*tgid = space->parent_tgid;
	*inc = space->parent_inc;
	return true;
}

static bool departures_lossless(void *ctx)
{
	const struct ingest *p = ctx;
	struct sbt_counts counts;

	attach_counts(p->attach, &counts);
	return !counts.lost_ring && !counts.refused && !counts.lost_tail;
}

static void departures_refresh(void *ctx)
{
	const struct ingest *p = ctx;

	attach_read_words_again(p->attach);
}

static int start_departures(struct ingest *p, const struct attach_delays *delays)
{
	struct departures_ops ops = { .ctx = p,
				      .barrier = departures_barrier,
				      .run_ns = delays->run_ns,
				      .wake_ns = delays->wake_ns,
				      .wake_idle_ns = delays->wake_idle_ns,
				      .parent = departures_parent,
				      .lossless = departures_lossless,
				      .refresh = departures_refresh,
				      .offs = departures_offs };
	int err = departures_new(p->stream, &ops, &p->departures);

	if (!err)
		p->stream = departures_stream(p->departures);
	return err;
}

int ingest_new(const struct feed_options *options, struct stream *stream, bool discover,
	       const struct attach_delays *delays, struct ingest **out)
{
	struct ingest *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->attach = options->attach;
	p->stream = stream;
	p->spaces = options->spaces;
	p->model = options->model;
	p->samples = options->samples;
	err = feed_new(options, &p->feed);
	if (!err && attach_infers(p->attach))
		err = start_departures(p, delays);
	if (!err && discover)
		err = start_discovery(p);
	if (err) {
		ingest_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void ingest_free(struct ingest *p)
{
	if (!p)
		return;
	reorder_free(&p->reorder);
	discover_free(p->discover);
	forkjoin_free(p->forkjoin);
	turnstiles_free(p->turnstiles);
	feed_free(p->feed);
	if (p->departures)
		stream_free(departures_stream(p->departures));
	free(p->verdicts);
	free(p);
}

struct insiders {
	const struct departures *departures;
	void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread);
	void *ctx;
};

static void show_inferred(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	const struct insiders *in = ctx;

	if (departures_waits(in->departures, thread->inc, tid))
		in->each(in->ctx, tid, thread);
}

void ingest_each_inside(const struct ingest *p,
			void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			void *ctx)
{
	struct insiders in = { p->departures, each, ctx };

	attach_each_pending(p->attach, each, ctx);
	if (p->departures)
		attach_each_inferred(p->attach, show_inferred, &in);
}

bool ingest_is_inside(const struct ingest *p, uint32_t inc, uint32_t tid)
{
	return (p->departures && departures_waits(p->departures, inc, tid)) ||
	       attach_is_inside(p->attach, tid);
}

struct feed *ingest_feed(const struct ingest *p)
{
	return p->feed;
}

const struct discover *ingest_discover(const struct ingest *p)
{
	return p->discover;
}

const struct turnstiles *ingest_turnstiles(const struct ingest *p)
{
	return p->turnstiles;
}

uint64_t ingest_unshared(const struct ingest *p)
{
	return p ? p->unshared : 0;
}

struct discover_unseen ingest_unseen(const struct ingest *p)
{
	struct discover_unseen unseen = { 0 };

	if (!p || !p->discover)
		return unseen;
	unseen = discover_unseen(p->discover);
	unseen.given_up += forkjoin_unreported(p->forkjoin);
	return unseen;
}

bool ingest_waited_unseen(const struct ingest *p, uint32_t tgid, uint32_t inc)
{
	return p && p->discover && discover_waited_unseen(p->discover, tgid, inc);
}

/* --- threads that are made and joined --------------------------------------------------------- */

static int consider_join(struct ingest *p, const struct stream_record *record)
{
	const struct sbt_crossing *c = record->crossing;
	const struct feed_site *slot = feed_site(p->feed, c);
	struct forkjoin_join j = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.all = c->kind == SBT_KIND_JOIN_ALL,
		.handle = c->joined,
		.enter_ns = c->arrive_ns,
		.leave_ns = c->depart_ns,
		/* A join of all threads has no result. */
		.result = c->kind == SBT_KIND_JOIN_ALL ? 0 : c->error,
	};
	int err;

	if (!slot)
		return -ENOMEM;
	j.site = slot->site;
	err = reorder_add(&p->reorder, record, REORDER_WAITS, &j.cookie);
	return err ? err : forkjoin_join(p->forkjoin, &j);
}

/*
 * Pass an event to fork-join discovery before the event is queued. Joins in the queue wait for
 * this, because the ends of threads show whether earlier joins ended a round.
 */
static int consider_threads(struct ingest *p, const struct sbt_event *e)
{
	uint32_t old;

	switch (e->type) {
	case SBT_REC_FORK:
		return forkjoin_begin(p->forkjoin, e->tgid, e->inc, e->tid);
	case SBT_REC_EXEC:
		if (feed_incarnation(p->feed, e->tgid, &old))
			forkjoin_end_process(p->forkjoin, e->tgid, old);
		return forkjoin_begin(p->forkjoin, e->tgid, e->inc, e->tgid);
	case SBT_REC_THREAD:
		/* The creator of a thread that was found after its start is unknown. */
		return e->creator ? forkjoin_made(p->forkjoin, e->tgid, e->inc, e->creator, e->tid,
						  e->thread_pointer, e->t_ns)
				  : 0;
	case SBT_REC_EXIT:
		forkjoin_ended(p->forkjoin, e->tgid, e->inc, e->tid, e->t_ns, e->crossings, e->cpu);
		if (e->flags & SBT_EVENT_LEADER)
			forkjoin_end_process(p->forkjoin, e->tgid, e->inc);
		return 0;
	default:
		return 0;
	}
}

/* --- discovered barriers ---------------------------------------------------------------------- */

static bool is_candidate(const struct stream_record *r)
{
	return r->crossing && (r->crossing->type == SBT_REC_CANDIDATE ||
			       (r->crossing->type == SBT_REC_CROSSING &&
				family_has(r->crossing->family, FAMILY_DISCOVERED)));
}

static int feed_item(struct ingest *p, const struct reorder_item *item)
{
	struct feed_found found = {
		.site_known = item->plain_site,
		.site = item->site,
		.member = item->fate == REORDER_TAKEN ? &item->member : NULL,
	};

	return feed_crossing(p->feed, item->record.crossing, &found);
}

/* Feed the records that no longer need to wait. */
static int feed_ready(struct ingest *p)
{
	struct reorder_item *item;
	int err = 0;

	while (!err && (item = reorder_ready(&p->reorder))) {
		if (item->fate == REORDER_DROPPED &&
		    family_has(item->record.crossing->family, FAMILY_JOINS))
			err = feed_joined(p->feed, item->record.crossing);
		else if (item->fate == REORDER_DROPPED)
			err = feed_none(p->feed, item->record.crossing);
		else if (item->episode)
			err = feed_round(p->feed, item->record.crossing, item->episode);
		else if (item->fate == REORDER_TAKEN || item->plain_site)
			err = feed_item(p, item);
		else
			err = feed_record(p->feed, &item->record);
		if (item->record.crossing)
			callsites_done(feed_callsites(p->feed), item->record.crossing);
		reorder_pop(&p->reorder);
	}
	return err;
}

static uint32_t candidate_flags(const struct sbt_crossing *c)
{
	uint32_t flags = family_has(c->family, FAMILY_FUTEX_WORD) ? DISCOVER_FUTEX : 0;

	if (c->arrive_ns == c->depart_ns)
		return flags | DISCOVER_WAKE;
	if (family_has(c->family, FAMILY_FUTEX_WORD) && c->error == EAGAIN)
		return flags | DISCOVER_AGAIN;
	/* Errors from 512 on are the kernel's own, for calls that continue after a signal. */
	if (c->error == ETIMEDOUT ||
	    (family_has(c->family, FAMILY_FUTEX_WORD) && (c->error == EINTR || c->error >= 512)))
		return flags | DISCOVER_OVER;
	return flags;
}

/*
 * Return whether the address is in memory that processes share and that has no file. Such memory is
 * not older than the process from which all these processes were forked.
 */
static bool is_anonymous(const struct address_space *space, uint64_t address)
{
	static const char anonymous[] = "/dev/zero";
	const struct maps_entry *e = maps_find(&space->maps, address);

	return e && e->shared && !strncmp(e->path, anonymous, sizeof(anonymous) - 1);
}

/*
 * Return whether the object may be older than tracing. Earlier waits at such an object are unknown.
 * The object may also be a copy: a forked process starts with copies of its parent's objects,
 * including the counts in them.
 */
static bool may_be_older(const struct ingest *p, const struct address_space *space, uint64_t object,
			 bool shared)
{
	uint32_t steps;

	if (shared && !is_anonymous(space, object))
		return true;
	for (steps = 0; space && space->young && steps < FORKS_MAX; steps++) {
		if (!space->parent_tgid)
			return false;
		space = address_space_find(p->spaces, space->parent_tgid, space->parent_inc);
		if (space && !shared && discover_has(p->discover, space->tgid, space->inc, object))
			return true;
	}
	return true;
}

static uint32_t tally_flags(const struct ingest *p, const struct sbt_crossing *c,
			    const struct address_space *space, uint64_t shared)
{
	/* An interpreter keeps no count. */
	bool interpreted = family_has(c->family, FAMILY_INTERPRETED);
	uint32_t flags = interpreted ? DISCOVER_SLOW : 0;

	if (!family_has(c->family, FAMILY_COND_VAR))
		return 0;
	if (c->type != SBT_REC_CANDIDATE)
		return flags | DISCOVER_KNOWN;
	if (interpreted)
		return flags;
	if (!(c->flags & SBT_CROSSING_NO_WORDS))
		flags |= DISCOVER_COUNT;
	if (space->blind)
		flags |= DISCOVER_BLIND;
	if (may_be_older(p, space, c->object, shared))
		flags |= DISCOVER_OLDER;
	return flags;
}

static int consider(struct ingest *p, const struct stream_record *record)
{
	const struct sbt_crossing *c = record->crossing;
	struct discover_record r = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.flags = candidate_flags(c),
		.wakes = family_has(c->family, FAMILY_FUTEX_WORD) && c->wakes != UINT16_MAX
				 ? c->wakes
				 : UINT32_MAX,
		.object = c->object,
		.value = c->value,
		.held = c->type == SBT_REC_CANDIDATE ? c->held : 0,
		.arrive_ns = c->arrive_ns,
		.depart_ns = c->depart_ns,
	};
	const struct feed_site *slot = feed_site(p->feed, c);
	struct reorder_item *item;
	uint64_t id = 0;
	int err;

	if (!slot)
		return -ENOMEM;
	r.shared = feed_shared(p->feed, c, slot->space);
	p->unshared += !r.shared && feed_shared_unknown(p->feed, c, slot->space);
	r.flags |= tally_flags(p, c, slot->space, r.shared);
	err = reorder_add(&p->reorder, record, REORDER_WAITS, &r.cookie);
	if (err)
		return err;
	if (family_has(c->family, FAMILY_INTERPRETED))
		r.site = feed_label_site(p->feed, (uint32_t)c->within);
	else
		err = callsites_consider(feed_callsites(p->feed), slot->space, c,
					 r.flags & DISCOVER_WAKE, &r.site);
	if (err)
		return err;
	if (c->flags & SBT_CROSSING_ABANDONED || slot->runtime || r.site == ADDRESS_SPACE_SITE_NONE)
		discover_drop(p, r.cookie);
	else
		err = discover_add(p->discover, &r, &id);
	item = reorder_at(&p->reorder, r.cookie);
	if (!err && item && item->fate == REORDER_WAITS)
		item->id = id;
	return err;
}

/*
 * Note a wait on a semaphore. If threads use the semaphore as a barrier, the report mentions it,
 * but the waits form no episodes.
 */
static int consider_semaphore(struct ingest *p, const struct sbt_crossing *c)
{
	const struct feed_site *slot = feed_site(p->feed, c);
	struct turnstile_wait w = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.object = c->object,
		.arrive_ns = c->arrive_ns,
		.depart_ns = c->depart_ns,
	};

	if (!slot)
		return -ENOMEM;
	/* A wait that failed or was interrupted is no evidence. */
	if (!c->error && !slot->runtime) {
		w.site = callsites_semaphore(feed_callsites(p->feed), slot->space, c, &w.above);
		if (!turnstiles_add(p->turnstiles, &w))
			add_verdict(p, c->tgid, c->inc, c->object, SBT_OBJECT_OTHER);
	}
	callsites_done(feed_callsites(p->feed), c);
	return 0;
}

/* Decide about the objects of a process when it ends. */
static void consider_end(struct ingest *p, const struct sbt_event *e)
{
	uint32_t old;

	if (e->type == SBT_REC_EXIT && e->flags & SBT_EVENT_LEADER)
		discover_end_process(p->discover, e->tgid, e->inc);
	else if (e->type == SBT_REC_EXEC && feed_incarnation(p->feed, e->tgid, &old))
		discover_end_process(p->discover, e->tgid, old);
}

static int feed_at_once(struct ingest *p, const struct stream_record *record)
{
	int err = feed_record(p->feed, record);

	if (record->crossing)
		callsites_done(feed_callsites(p->feed), record->crossing);
	return err;
}

static int take_callers(struct ingest *p, const struct sbt_callers *sample)
{
	struct address_space *space =
		address_space_get(p->spaces, sample->head.tgid, sample->head.inc);

	return space ? callsites_sample(feed_callsites(p->feed), space, sample) : -ENOMEM;
}

/*
 * Queue a record that only waits for earlier records. Find its call site now, because another
 * module may later be mapped at this address.
 */
static int hold_plain(struct ingest *p, const struct stream_record *record)
{
	const struct sbt_crossing *c = record->crossing;
	const struct feed_site *slot;
	struct reorder_item *item;
	uint64_t cookie;
	int err = reorder_add(&p->reorder, record, REORDER_PLAIN, &cookie);

	if (err || !c || c->type != SBT_REC_CROSSING)
		return err;
	slot = feed_site(p->feed, c);
	if (!slot)
		return -ENOMEM;
	item = reorder_at(&p->reorder, cookie);
	item->site = slot->site;
	item->plain_site = true;
	return 0;
}

/*
 * Find the callers in a sample now, because another module may later be mapped there. Then pass on
 * a record with the key of the stack (sbt_crossing.sample) instead of the stack.
 */
static int take_sample(struct ingest *p, const struct sbt_sample *sample)
{
	const struct sbt_crossing *head = &sample->callers.head;
	struct address_space *space = address_space_get(p->spaces, head->tgid, head->inc);
	struct sbt_crossing short_sample = *head;
	struct stream_record record = { .key_ns = head->depart_ns, .crossing = &short_sample };

	if (!space)
		return -ENOMEM;
	short_sample.sample = stack_samples_take(p->samples, space, sample);
	return p->reorder.n ? hold_plain(p, &record) : feed_record(p->feed, &record);
}

static int take_record(struct ingest *p, const struct stream_record *record)
{
	int err = 0;

	if (record->crossing && feed_is_cut(p->feed, record->crossing, &err))
		return err;
	if (record->crossing && record->crossing->type == SBT_REC_CALLERS)
		return take_callers(p, (const void *)record->crossing);
	if (record->crossing && record->crossing->type == SBT_REC_SAMPLE)
		return p->samples ? take_sample(p, (const void *)record->crossing) : 0;
	/* It was handled when it was shown. */
	if (record->event && record->event->type == SBT_REC_PYTHON_CODE)
		return 0;
	if (!p->discover)
		return feed_at_once(p, record);
	/* It only names a site. Candidates need it while others are undecided, too. */
	if (record->event && record->event->type == SBT_REC_PYTHON)
		return feed_record(p->feed, record);
	if (record->event) {
		consider_end(p, record->event);
		err = consider_threads(p, record->event);
	}
	if (err)
		return err;
	if (record->crossing && record->crossing->type == SBT_REC_CANDIDATE &&
	    record->crossing->kind == SBT_KIND_SEMAPHORE)
		return consider_semaphore(p, record->crossing);
	/* Crossings of a probe group after its cutoff belong to no episode. */
	if (is_candidate(record) && !feed_is_detached(p->feed, record->crossing))
		err = family_has(record->crossing->family, FAMILY_JOINS) ? consider_join(p, record)
									 : consider(p, record);
	else if (p->reorder.n)
		err = hold_plain(p, record);
	else
		return feed_at_once(p, record);
	return err ? err : feed_ready(p);
}

static bool is_overdue(const struct ingest *p, const struct reorder_item *first, uint64_t now_ns)
{
	uint32_t team = discover_team(p->discover, first->id);
	uint64_t crossing_ns = reorder_crossing_ns(&p->reorder);
	bool joins = family_has(first->record.crossing->family, FAMILY_JOINS);

	if (!team && !joins)
		return now_ns > first->record.key_ns + HOLD_EMPTY_NS;
	if (team < 3 && !joins)
		return now_ns > first->record.key_ns + HOLD_NS;
	return now_ns > first->record.key_ns + HOLD_LONG_NS ||
	       (crossing_ns != UINT64_MAX && now_ns > crossing_ns + HOLD_NS);
}

/*
 * Decide about candidates that have waited too long for their classification, because later records
 * wait behind them.
 */
static int decide_overdue(struct ingest *p, uint64_t now_ns)
{
	const struct reorder_item *first;
	int err = 0;

	while (!err && p->reorder.n) {
		first = reorder_at(&p->reorder, p->reorder.cookie);
		if (p->reorder.n < HOLD_MAX && !is_overdue(p, first, now_ns))
			break;
		if (first->id)
			discover_give_up(p->discover, first->id);
		else
			forkjoin_give_up(p->forkjoin, p->reorder.cookie);
		/* Decide even without evidence, because the queue must not block. */
		if (reorder_at(&p->reorder, p->reorder.cookie)->fate == REORDER_WAITS)
			discover_drop(p, p->reorder.cookie);
		err = feed_ready(p);
	}
	return err;
}

/* Return the time before which everything has been fed. */
static uint64_t fed_until(const struct ingest *p, uint64_t until_ns)
{
	uint64_t first =
		p->reorder.n ? reorder_at(&p->reorder, p->reorder.cookie)->record.key_ns : until_ns;

	if (p->departures)
		until_ns = departures_until(p->departures, until_ns);
	return first < until_ns ? first : until_ns;
}

int ingest_run(struct ingest *p, uint64_t until_ns)
{
	struct stream_record record;
	uint64_t begin_ns = now_ns();
	uint32_t n = 0;
	int err;

	while ((err = stream_next(p->stream, until_ns, &record)) > 0) {
		if (record.soon)
			model_expect(p->model, record.soon->tid);
		err = take_record(p, &record);
		if (err)
			return err;
		if (!(++n % SLICE_EACH) && now_ns() - begin_ns >= SLICE_NS)
			return 1;
	}
	if (!err && p->reorder.n && until_ns != UINT64_MAX)
		err = decide_overdue(p, until_ns);
	return err ? err : model_advance(p->model, fed_until(p, until_ns));
}

void ingest_pause(struct ingest *p, uint32_t tgid, uint32_t inc)
{
	if (p->discover)
		discover_pause(p->discover, tgid, inc);
}

void ingest_end_probe_groups(struct ingest *p, uint32_t tgid, uint32_t inc, uint64_t probe_groups)
{
	if (!p->discover)
		return;
	if (probe_groups & family_probe_groups_with(FAMILY_COND_VAR))
		discover_end_kind(p->discover, tgid, inc, false);
	if (probe_groups & family_probe_groups_with(FAMILY_FUTEX_WORD))
		discover_end_kind(p->discover, tgid, inc, true);
	if (probe_groups & family_probe_groups_with(FAMILY_JOINS))
		forkjoin_end_process(p->forkjoin, tgid, inc);
}

/* Note that a thread is inside a barrier with inferred departures. */
static int add_inferred(void *ctx, const struct sbt_crossing *c)
{
	struct ingest *p = ctx;

	if (feed_is_detached(p->feed, c))
		return 0;
	return model_add_pending(p->model, c->tgid, c->inc, c->tid, c->object, c->arrive_ns);
}

int ingest_finish(struct ingest *p)
{
	int err = p->departures ? departures_each_pending(p->departures, add_inferred, p) : 0;

	if (err || !p->discover)
		return err;
	discover_finish(p->discover);
	forkjoin_finish(p->forkjoin);
	err = feed_ready(p);
	return err ? err : model_advance(p->model, UINT64_MAX);
}

/* --- what the kernel side holds --------------------------------------------------------------- */

/*
 * Context for callbacks of attach/. After the first error, which is kept in err, nothing more is
 * fed.
 */
struct rest {
	struct ingest *ingest;
	int err;
};

static void add_pending(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	struct rest *r = ctx;

	/* --cost-limit: pending threads of detached probe groups have been handled already. */
	if (!r->err && !attach_is_detached(r->ingest->attach, thread))
		r->err = model_add_pending(r->ingest->model, thread->tgid, thread->inc, tid,
					   thread->object, thread->arrive_ns);
}

/*
 * Add a thread that was found running and has crossed no barrier. If there is no barrier, the
 * report shows what such threads did. On the kernel side, such a thread does not know the
 * incarnation of its process, so set it.
 */
static int add_idle(struct ingest *p, struct sbt_crossing *tail)
{
	struct model *m = p->model;
	char comm[16];
	int err;

	if (tail->seq || model_nbarriers(m) ||
	    (!tail->inc && !attach_traces(p->attach, tail->tgid, &tail->inc)) ||
	    model_find_thread(m, tail->tgid, tail->inc, tail->tid) != MODEL_NONE)
		return 0;
	err = model_add_found(m, tail->tgid, tail->inc, tail->tid, 0);
	if (!err && !proc_comm((int)tail->tgid, (int)tail->tid, comm))
		err = model_name_thread(m, tail->tgid, tail->inc, tail->tid, comm);
	return err;
}

static void add_tail(void *ctx, const struct sbt_crossing_full *tail)
{
	struct sbt_crossing_full full = *tail;
	struct rest *r = ctx;

	if (r->ingest->departures && !departures_tail(r->ingest->departures, &full))
		return;
	if (!r->err)
		r->err = add_idle(r->ingest, &full.crossing);
	if (!r->err)
		r->err = feed_tail(r->ingest->feed, &full);
}

static void add_sums(void *ctx, const struct sbt_sums *sums)
{
	struct rest *r = ctx;

	if (!r->err)
		r->err = feed_sums(r->ingest->attach, r->ingest->spaces, r->ingest->model, sums);
}

int ingest_pending(struct ingest *p)
{
	struct rest r = { .ingest = p };

	attach_each_pending(p->attach, add_pending, &r);
	return r.err;
}

int ingest_rest(struct ingest *p, uint64_t end_ns)
{
	struct rest r = { .ingest = p };

	attach_each_tail(p->attach, end_ns, add_tail, &r);
	attach_each_sums(p->attach, add_sums, &r);
	return r.err;
}

int ingest_exited_sums(struct ingest *p)
{
	struct rest r = { .ingest = p };
	int err = attach_return_sums(p->attach, add_sums, &r);

	return err ? err : r.err;
}
