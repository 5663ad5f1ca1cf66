// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/departures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

/*
 * Ask what a thread did after the release if no record of it came within this time (ns). Until
 * then, later records of all threads are held back.
 */
#define LOOK_NS 20000000ULL
/* If the answer is that a record follows, and none comes within this time (ns), it is lost. */
#define LOST_NS 5000000000ULL

/* In a crowded barrier, a thread that waits for less than this time (ns) need not have slept. */
#define AWAKE_NS 10000ULL

/* Maximum number of barriers. If there are more, those where no thread waits are forgotten. */
#define BARRIERS_MAX 65536

/* While the step is lost, request at most this often (ns) what the barriers have counted. */
#define REFRESH_NS 10000000ULL
/* maximum number of such requests for a barrier where the step was never certain */
#define PROOFS_MAX 16

/* Free waiters that have exited this long (ns) ago: all their records have been read. */
#define EXITED_NS    3000000000ULL
#define EXITED_LEAST 1024

/* maximum number of generations of forked processes that words_of_parent() follows */
#define FORKS_MAX 16

#define NEVER UINT64_MAX

/* The arrivals at a barrier between two releases. */
struct group {
	uint32_t refs; /* number of waiters and barriers that point to it */
	uint32_t n; /* number of arrivals that were seen */
	uint32_t unseen; /* number of threads that arrived before tracing began */
	bool wrong; /* it has members of two episodes */
	bool sure; /* all arrivals before the first one that was seen are counted in `unseen` */
	uint32_t round; /* number of the episode in its OpenMP team; 0: not in a team */
	uint32_t number; /* number of the episode outside a team; 0: see number_episode() */
	uint64_t release_ns; /* NEVER: not released yet, or it is not known when */
	/* the latest arrival and its thread; after the release, those of the last arriver */
	uint64_t newest_ns;
	uint32_t newest;
	uint64_t key; /* of its barrier, in departures.barriers */
	struct waiter *waiters; /* those that have not departed, as far as is known */
	/* tids of members that arrived elsewhere before the release; they may arrive here again */
	uint32_t *leavers;
	uint32_t nleavers, cap_leavers;
};

struct barrier {
	uint32_t count;
	struct group *open; /* NULL: no thread has arrived since the last release */
	uint64_t key;
	/* It is not known which arrival begins the next episode. */
	bool lost;
	uint32_t ahead; /* number of arrivals in the present episode that are in no open group */
	uint64_t arrivals; /* number of arrivals that were seen */
	/* .arrivals when it was last found that a record is missing, or that .count has changed */
	uint64_t gap;
	bool released; /* it was released while it was traced */
	bool missed; /* a record of an arrival was missing */
	bool proved; /* the step is certain: see proves_step() */
	/*
	 * No more numbers are needed, because an episode with all its members had one; or they are
	 * not given, because arrivals have contradicted each other.
	 */
	bool told;
	uint8_t nrequests; /* number of times that this was requested; PROOFS_MAX: no more */
	/*
	 * More threads use it than an episode has members. Then a thread may be counted in an
	 * earlier episode than a thread that arrived before it.
	 */
	bool crowded;
	uint32_t nwaiters; /* number of waiters with a crossing that has not been returned */
};

/* A barrier object in one process. */
struct object {
	uint64_t raw_word;
	bool known; /* raw_word is known */
	struct departures_barrier is;
};

struct links {
	struct waiter *prev, *next;
};

/* A thread, since its last arrival. */
struct waiter {
	struct sbt_crossing_full full; /* the crossing that began with that arrival */
	struct group *group; /* NULL if `decided` */
	struct waiter *next_in_group;
	struct links undecided;
	uint32_t seq; /* number of the thread's last record, also of records of other kinds */
	bool pending; /* the crossing has not been returned */
	bool listed; /* in `fresh` or `stale`: released, and the departure is not decided */
	bool stale;
	/* The thread's next record will show what it did since its arrival. */
	bool open;
	bool gone; /* it ended inside the barrier */
	uint64_t exited_ns; /* 0: it lives, as far as is known */
	/* in `fresh` or `stale`: it had not departed at this time */
	uint64_t inside_ns;
	/* when it was first asked for and the answer was that a record follows; 0: never */
	uint64_t asked_ns;
	uint16_t index; /* sbt_crossing.index */
	uint64_t ordinal; /* barrier.arrivals at the arrival; 0: the barrier does not count them */
	/* The departure; NEVER: unknown. The first `before` elements of `off` are before it. */
	uint64_t depart_ns;
	uint32_t before;
	/* To be added to the parts of the thread's next record: */
	struct {
		int64_t oncpu_ns;
		uint64_t runq_ns, blocked_ns;
		uint64_t from_ns; /* the parts begin here */
		uint32_t switches;
		bool any, unknown;
	} carry;
};

/* A record that is held back. The record follows. */
struct held {
	bool event;
	uint8_t bytes[] __attribute__((aligned(8)));
};

struct entry {
	uint64_t key_ns;
	uint64_t order; /* entries with equal keys leave in the order in which they came */
	struct held *held;
};

struct departures {
	struct stream stream;
	struct stream *from;
	struct departures_ops ops;
	struct hash waiters; /* (inc, tid) -> struct waiter */
	struct hash objects; /* (address, process) -> struct object */
	struct hash barriers; /* object or shared key -> struct barrier */
	uint64_t most; /* at least barrier.arrivals of every barrier that was forgotten */
	uint32_t number; /* newest group.number */
	/*
	 * Released waiters without a known departure. Those in `fresh` are in the order of their
	 * releases. Those in `stale` were off the CPU at stale_ns.
	 */
	struct waiter *fresh, *fresh_end, *stale;
	uint64_t stale_ns;
	uint64_t read_ns; /* all records before this time have been read */
	bool late; /* the present record should have been read before */
	uint64_t refreshed_ns; /* time of the last call of ops.refresh() */
	size_t nkept; /* number of waiters after the last run of free_exited() */
	struct entry *heap;
	uint32_t n, cap;
	uint64_t order;
	struct held *returned; /* the record that was returned last */
};

/* --- records that are held back --------------------------------------------------------------- */

static bool is_before(const struct entry *a, const struct entry *b)
{
	return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->order < b->order;
}

static int heap_push(struct departures *d, uint64_t key_ns, const void *record, size_t len,
		     bool event)
{
	struct entry e = { .key_ns = key_ns, .order = d->order++ };
	uint32_t i, up;

	e.held = malloc(sizeof(*e.held) + len);
	if (!e.held || grow(d->heap, d->cap, d->n + 1)) {
		free(e.held);
		return -ENOMEM;
	}
	e.held->event = event;
	memcpy(e.held->bytes, record, len);
	for (i = d->n++; i; i = up) {
		up = (i - 1) / 2;
		if (is_before(&d->heap[up], &e))
			break;
		d->heap[i] = d->heap[up];
	}
	d->heap[i] = e;
	return 0;
}

static struct entry heap_pop(struct departures *d)
{
	struct entry first = d->heap[0], last = d->heap[--d->n];
	uint32_t i = 0, down;

	while ((down = 2 * i + 1) < d->n) {
		if (down + 1 < d->n && is_before(&d->heap[down + 1], &d->heap[down]))
			down++;
		if (!is_before(&d->heap[down], &last))
			break;
		d->heap[i] = d->heap[down];
		i = down;
	}
	d->heap[i] = last;
	return first;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Return the barrier of a group; NULL: it was forgotten. */
static struct barrier *barrier_of(const struct departures *d, const struct group *g)
{
	return hash_get_ptr(&d->barriers, g->key);
}

static void group_put(struct group *g)
{
	if (g && !--g->refs) {
		free(g->leavers);
		free(g);
	}
}

static void unlist(struct departures *d, struct waiter *w)
{
	if (!w->listed)
		return;
	if (w->undecided.prev)
		w->undecided.prev->undecided.next = w->undecided.next;
	else if (w->stale)
		d->stale = w->undecided.next;
	else
		d->fresh = w->undecided.next;
	if (w->undecided.next)
		w->undecided.next->undecided.prev = w->undecided.prev;
	else if (!w->stale)
		d->fresh_end = w->undecided.prev;
	w->listed = w->stale = false;
}

static void list_fresh(struct departures *d, struct waiter *w)
{
	w->listed = true;
	w->undecided = (struct links){ .prev = d->fresh_end };
	if (d->fresh_end)
		d->fresh_end->undecided.next = w;
	else
		d->fresh = w;
	d->fresh_end = w;
}

static void list_stale(struct departures *d, struct waiter *w)
{
	unlist(d, w);
	w->listed = w->stale = true;
	w->undecided = (struct links){ .next = d->stale };
	if (d->stale)
		d->stale->undecided.prev = w;
	d->stale = w;
}

/* Remove the waiter from its group. */
static void group_leave(struct waiter *w)
{
	struct waiter **at = &w->group->waiters;

	/* After the release, the list is not used any more. */
	if (w->group->release_ns == NEVER) {
		while (*at && *at != w)
			at = &(*at)->next_in_group;
		if (*at)
			*at = w->next_in_group;
	}
	group_put(w->group);
	w->group = NULL;
}

/* No more threads arrive in the open group, and it is not known when it was released. */
static void barrier_close(struct barrier *b)
{
	if (!b->open)
		return;
	group_put(b->open);
	b->open = NULL;
}

/* The open group is over, and the next arrival need not begin the next episode. */
static void doubt_step(struct barrier *b)
{
	barrier_close(b);
	b->proved = false;
}

/*
 * Return whether the thread that arrives is certainly the last arriver of its episode: the barrier
 * has counted all others. If one of these has no record, it arrived before tracing began. If
 * processes share the barrier, it may instead belong to a process that is not traced.
 */
static bool proves_step(const struct departures_barrier *is)
{
	return is->count && !is->may_be_shared && is->waiting != UINT32_MAX &&
	       is->waiting % is->count == is->count - 1;
}

/*
 * No arrival so far has proved the step. This is likely if threads arrive together, or if one lost
 * its CPU before it was counted. Request that further arrivals show what the barrier has counted.
 */
static void request_proof(struct departures *d, struct barrier *b, uint64_t now_ns)
{
	if (b->nrequests >= PROOFS_MAX || now_ns < d->refreshed_ns + REFRESH_NS)
		return;
	b->nrequests++;
	d->refreshed_ns = now_ns;
	d->ops.refresh(d->ops.ctx);
}

/*
 * The open group is released. Number its episode if its members are certain, because the model
 * cannot always find this out. After attaching, it does not know whether an earlier crossing of a
 * thread has no record. The times show this only in an episode that all members leave before one of
 * them arrives again. On a busy machine, the threads that were woken take the CPU of the last
 * arriver, and arrive again before it leaves, perhaps in every episode. If one episode with all its
 * members has a number, the model needs no further ones.
 */
static void number_episode(struct departures *d, struct barrier *b)
{
	if (!b->proved || b->told || b->crowded || b->missed || !d->ops.lossless(d->ops.ctx))
		return;
	if (!++d->number)
		d->number = 1;
	b->open->number = d->number;
	b->told = !b->open->unseen;
}

static void barrier_release(struct departures *d, struct barrier *b)
{
	struct group *g = b->open;
	struct waiter *w;

	number_episode(d, b);
	b->released = true;
	g->release_ns = g->newest_ns;
	for (w = g->waiters; w; w = w->next_in_group)
		list_fresh(d, w);
	barrier_close(b);
}

/* Return whether the thread has already arrived in the open group. */
static bool has_arrived(const struct group *g, uint32_t tid)
{
	array_for_each (leaver, g->leavers, g->nleavers)
		if (*leaver == tid)
			return true;
	return false;
}

/* Return whether the barrier has counted no arrival in the present episode. */
static bool counts_none(const struct departures_barrier *is)
{
	return is->count && is->waiting != UINT32_MAX && !(is->waiting % is->count);
}

/*
 * It is not known which arrival begins the next episode: a lost record was an arrival in the open
 * group, or in an earlier or later one.
 */
static void lose_step(struct barrier *b)
{
	if (b->open)
		b->open->sure = false;
	doubt_step(b);
	b->lost = true;
	b->ahead = 0;
}

/*
 * The step is lost, and the thread has woken another one after its arrival: it was the last arriver
 * of its episode. The arrivals after its own belong to the next episodes.
 */
static void find_step_after(struct barrier *b, const struct waiter *last)
{
	if (!b->count || last->ordinal <= b->gap)
		return;
	b->lost = false;
	b->ahead = (uint32_t)((b->arrivals - last->ordinal) % b->count);
}

/*
 * While the step is lost, wait for an arrival that shows how many threads the barrier has counted:
 * the present episode then lacks those. The threads show this only if it is requested.
 */
static void find_step(struct departures *d, struct barrier *b, const struct departures_barrier *is,
		      uint64_t now_ns)
{
	if (is->count && is->waiting != UINT32_MAX) {
		b->lost = false;
	} else if (now_ns >= d->refreshed_ns + REFRESH_NS) {
		d->refreshed_ns = now_ns;
		d->ops.refresh(d->ops.ctx);
	}
}

/* Begin a group. If the step is lost, it stays apart from later arrivals. */
static struct group *group_new(struct barrier *b)
{
	struct group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->release_ns = NEVER;
	g->key = b->key;
	if (!b->lost) {
		g->refs = 1;
		b->open = g;
	}
	return g;
}

static void group_count(struct group *g, uint32_t tid, uint64_t now_ns)
{
	g->n++;
	if (now_ns >= g->newest_ns) {
		g->newest_ns = now_ns;
		g->newest = tid;
	}
}

/*
 * Return the group of the episode with this number in its team; NULL: no memory. The number alone
 * decides which arrivals belong together.
 */
static struct group *team_group(struct barrier *b, uint32_t round)
{
	if (b->open && b->open->round != round)
		barrier_close(b);
	if (b->open)
		return b->open;
	b->lost = false;
	if (!group_new(b))
		return NULL;
	b->open->round = round;
	b->open->sure = true;
	return b->open;
}

/* Count an arrival of @tid that has no waiter, because its departure will be seen. */
static int team_count(struct departures *d, struct barrier *b, uint32_t tid, uint32_t round,
		      uint64_t now_ns)
{
	struct group *g = team_group(b, round);

	if (!g)
		return -ENOMEM;
	group_count(g, tid, now_ns);
	if (b->count && g->n >= b->count)
		barrier_release(d, b);
	return 0;
}

static void group_join(struct group *g, struct waiter *w)
{
	g->refs++;
	group_count(g, w->full.crossing.tid, w->full.crossing.arrive_ns);
	w->group = g;
	w->next_in_group = g->waiters;
	g->waiters = w;
}

static int team_arrive(struct departures *d, struct barrier *b, struct waiter *w, uint32_t count)
{
	struct group *g = team_group(b, w->full.crossing.round);

	if (!g)
		return -ENOMEM;
	b->count = count;
	w->ordinal = 0;
	group_join(g, w);
	if (g->n >= count)
		barrier_release(d, b);
	return 0;
}

static int barrier_arrive(struct departures *d, struct barrier *b, struct waiter *w,
			  const struct departures_barrier *is, bool fresh, bool gap)
{
	uint64_t now_ns = w->full.crossing.arrive_ns;
	struct group *g;

	/* How many threads wait is not known, so the release will not be known either. */
	if (!is->count)
		lose_step(b);
	/* The barrier has been created again. */
	if (is->count != b->count) {
		doubt_step(b);
		b->gap = b->arrivals;
	}
	b->count = is->count;
	/*
	 * The group is over, and it is not known when it was released, if this thread had arrived
	 * in it before. It is also over if all its members have left, and the barrier has counted
	 * none: then the barrier has been created again.
	 */
	if (b->open &&
	    (has_arrived(b->open, w->full.crossing.tid) || (!b->open->waiters && counts_none(is))))
		doubt_step(b);
	if (gap) {
		lose_step(b);
		b->missed = true;
		b->gap = b->arrivals;
	}
	if (b->lost)
		find_step(d, b, is, now_ns);
	w->ordinal = ++b->arrivals;
	g = b->open;
	if (!g) {
		g = group_new(b);
		if (!g)
			return -ENOMEM;
		g->sure = !b->lost && !b->ahead &&
			  (b->released || (fresh && is->waiting != UINT32_MAX));
		g->unseen = b->ahead;
		b->ahead = 0;
		if (b->released && !b->proved && !b->lost && !b->missed)
			request_proof(d, b, now_ns);
	}
	if (fresh && is->count && is->waiting != UINT32_MAX && is->waiting % is->count > g->n &&
	    is->waiting % is->count - g->n > g->unseen)
		g->unseen = is->waiting % is->count - g->n;
	if (fresh && proves_step(is)) {
		b->proved = true;
		b->nrequests = PROOFS_MAX;
	}
	group_join(g, w);
	b->crowded |= ++b->nwaiters > is->count && is->count;
	if (is->count && !b->lost && g->n + g->unseen >= is->count)
		barrier_release(d, b);
	return 0;
}

/* --- departures ------------------------------------------------------------------------------- */

static uint64_t segment_begin(const struct waiter *w, const struct sbt_arrival_full *seen,
			      uint32_t before)
{
	return before ? seen->off[before - 1].in_ns : w->full.crossing.arrive_ns;
}

/* Return the number of times off the CPU that ended by @t_ns. */
static uint32_t ended_by(const struct sbt_arrival_full *seen, uint64_t t_ns)
{
	uint32_t n = 0;

	while (n < seen->noffs && seen->off[n].in_ns <= t_ns)
		n++;
	return n;
}

/*
 * Return the time off the CPU after which the thread departs, plus 1; 0: none. If the thread's
 * system call shows that it was inside the barrier, it departs later. For example, it fell asleep
 * just after the last arrival, because the last arriver had not yet opened the barrier. Or the
 * threads that the last arriver woke took its CPU.
 */
static uint32_t last_sleep(const struct sbt_arrival_full *seen, uint64_t release_ns)
{
	uint32_t i;

	for (i = seen->noffs; i--;)
		if ((seen->off[i].inside || seen->off[i].waker) && seen->off[i].in_ns > release_ns)
			return i + 1;
	for (i = 0; i < seen->noffs; i++)
		if (seen->off[i].out_ns <= release_ns && seen->off[i].in_ns > release_ns)
			return i + 1;
	return 0;
}

/* Return whether the state of the thread at @t_ns was not kept. */
static bool is_merged(const struct sbt_arrival_full *seen, uint64_t t_ns)
{
	return seen->merged && t_ns > seen->off[SBT_OFFS - 2].in_ns &&
	       t_ns < seen->off[SBT_OFFS - 1].out_ns;
}

/*
 * Return whether the barrier opened before the release: this thread has woken another member.
 * (Being woken shows nothing: a thread that has arrived early for the next episode may sleep where
 * the last arriver of this one is about to wake all.)
 */
static bool contradicts(const struct sbt_arrival_full *seen, uint64_t release_ns)
{
	return seen->woke_ns && seen->woke_ns < release_ns;
}

/*
 * In a crowded barrier, return whether the thread may belong to another episode: it did not sleep
 * in the barrier until its release, although it had the time. Or it lost its CPU near the release,
 * perhaps before the barrier had counted it.
 */
static bool is_doubtful(const struct waiter *w, const struct sbt_arrival_full *seen)
{
	uint64_t release_ns = w->group->release_ns;
	bool cut = false;
	uint32_t i;

	for (i = 0; i < seen->noffs; i++) {
		if (seen->off[i].in_ns <= release_ns)
			continue;
		if (seen->off[i].inside)
			return false;
		cut |= seen->off[i].out_ns < release_ns + AWAKE_NS;
	}
	if (w->full.crossing.tid == w->group->newest)
		return cut && !seen->woke_ns;
	return cut || number_less(release_ns, w->full.crossing.arrive_ns) >= AWAKE_NS;
}

/*
 * Decide when the thread departs, given what it did up to @now_ns. NEVER: this is not known.
 */
static void decide(struct departures *d, struct waiter *w, const struct sbt_arrival_full *seen,
		   uint64_t now_ns)
{
	uint64_t release_ns = w->group->release_ns, depart_ns;
	uint64_t latest_ns = seen->left_ns && seen->left_ns < now_ns ? seen->left_ns : now_ns;
	bool last = w->full.crossing.tid == w->group->newest;
	struct barrier *b = barrier_of(d, w->group);
	uint64_t delay_ns = 0;

	w->depart_ns = NEVER;
	w->before = 0;
	if (release_ns == NEVER || w->group->wrong || seen->unsure)
		return;
	if (contradicts(seen, release_ns)) {
		w->group->wrong = true;
		if (b) {
			lose_step(b);
			b->told = true;
		}
		return;
	}
	if (b && b->crowded && is_doubtful(w, seen))
		return;
	w->before = last_sleep(seen, release_ns);
	depart_ns = w->before ? seen->off[w->before - 1].in_ns : release_ns + 1;
	if (w->before)
		delay_ns = d->ops.run_ns;
	if (last && seen->woke_ns > depart_ns) {
		depart_ns = seen->woke_ns;
		delay_ns = seen->woke_idle ? d->ops.wake_idle_ns : d->ops.wake_ns;
	}
	w->before = ended_by(seen, depart_ns);
	if (w->before < seen->noffs && seen->off[w->before].out_ns < latest_ns)
		latest_ns = seen->off[w->before].out_ns;
	if (depart_ns > latest_ns || is_merged(seen, depart_ns))
		return;
	w->depart_ns = latest_ns - depart_ns > delay_ns ? depart_ns + delay_ns : latest_ns;
}

/* Fill in how the thread spent its time inside the barrier. */
static void fill_inside(struct waiter *w, const struct sbt_arrival_full *seen)
{
	struct sbt_inside *in = &w->full.inside;
	uint32_t i;

	memset(in, 0, sizeof(*in));
	in->oncpu_ns = number_less(w->depart_ns, segment_begin(w, seen, w->before));
	in->switches = w->before;
	for (i = 0; i < w->before; i++) {
		in->oncpu_ns += seen->off[i].oncpu_ns;
		in->runq_ns += seen->off[i].runq_ns;
		if (seen->off[i].ran_ns > in->ran_ns) {
			in->ran_ns = seen->off[i].ran_ns;
			in->ran = seen->off[i].ran;
		}
	}
	if (w->before)
		w->full.crossing.flags |= SBT_CROSSING_INSIDE;
	if (w->before)
		w->full.crossing.depart_cpu = (uint16_t)seen->off[w->before - 1].cpu;
}

/*
 * Calculate what the thread did after its departure, up to the time where the parts in its next
 * record begin.
 */
static void carry_over(struct waiter *w, const struct sbt_arrival_full *seen)
{
	uint32_t i, n = seen->noffs;

	memset(&w->carry, 0, sizeof(w->carry));
	w->open = false;
	w->carry.any = true;
	w->carry.from_ns = segment_begin(w, seen, n);
	if (w->depart_ns == NEVER || (seen->merged && w->before == SBT_OFFS)) {
		w->carry.unknown = true;
		return;
	}
	w->carry.oncpu_ns = -(int64_t)number_less(w->depart_ns, segment_begin(w, seen, w->before));
	for (i = w->before; i < n; i++) {
		const struct sbt_off *off = &seen->off[i];

		w->carry.oncpu_ns += (int64_t)off->oncpu_ns;
		w->carry.runq_ns += off->runq_ns;
		w->carry.blocked_ns +=
			number_less(number_less(off->in_ns, off->out_ns), off->runq_ns);
		w->carry.switches++;
	}
}

/*
 * Correct the parts of a record of the thread at @now_ns, which the BPF programs began where `off`
 * ends and not at the departure.
 */
static void apply_carry(const struct waiter *w, struct sbt_crossing_full *f, uint64_t now_ns)
{
	struct sbt_parts *p = &f->parts;
	int64_t oncpu_ns;

	if (!w->carry.any || !(f->crossing.flags & SBT_CROSSING_ACCOUNTED))
		return;
	if (w->carry.unknown) {
		f->crossing.flags &= (uint16_t) ~(SBT_CROSSING_ACCOUNTED | SBT_CROSSING_INSIDE |
						  SBT_CROSSING_PARTS | SBT_CROSSING_COUNTERS);
		return;
	}
	if (!(f->crossing.flags & SBT_CROSSING_PARTS)) {
		/* The thread was on a CPU all the time. */
		if (!w->carry.switches)
			return;
		memset(p, 0, sizeof(*p));
		p->oncpu_ns = number_less(now_ns, w->carry.from_ns);
	}
	if (!(f->crossing.flags & SBT_CROSSING_INSIDE)) {
		memset(&f->inside, 0, sizeof(f->inside));
		f->inside.oncpu_ns = number_less(f->crossing.depart_ns, f->crossing.arrive_ns);
	}
	oncpu_ns = (int64_t)p->oncpu_ns + w->carry.oncpu_ns;
	p->oncpu_ns = oncpu_ns > 0 ? (uint64_t)oncpu_ns : 0;
	p->runq_ns += w->carry.runq_ns;
	p->blocked_ns[SBT_BLOCKED_OTHER] += w->carry.blocked_ns;
	p->switches += w->carry.switches;
	f->crossing.flags |= SBT_CROSSING_INSIDE | SBT_CROSSING_PARTS;
}

/* Return the number of bytes of a record that is no arrival. */
static size_t crossing_bytes(const struct sbt_crossing *c)
{
	switch (c->type) {
	case SBT_REC_CALLERS:
		return offsetof(struct sbt_callers, bytes) +
		       ((const struct sbt_callers *)(const void *)c)->len;
	case SBT_REC_SAMPLE:
		return sizeof(struct sbt_sample);
	case SBT_REC_TAIL:
	case SBT_REC_MARK:
		return sizeof(struct sbt_crossing_full);
	default:
		return sizeof(*c) +
		       (c->flags & SBT_CROSSING_INSIDE ? sizeof(struct sbt_inside) : 0) +
		       (c->flags & SBT_CROSSING_PARTS ? sizeof(struct sbt_parts) : 0) +
		       (c->flags & SBT_CROSSING_COUNTERS ? sizeof(struct sbt_counters) : 0);
	}
}

static int crossing_push(struct departures *d, struct waiter *w)
{
	struct sbt_crossing *c = &w->full.crossing;

	w->pending = false;
	return heap_push(d, c->depart_ns, &w->full, crossing_bytes(c), false);
}

/* The departure has been decided: return the crossing. */
static int settle(struct departures *d, struct waiter *w, const struct sbt_arrival_full *seen,
		  uint64_t now_ns)
{
	struct sbt_crossing *c = &w->full.crossing;
	const struct group *g = w->group;
	/*
	 * If all other arrivals were seen, the thread was not released: it left by longjmp, for
	 * example. In a crowded barrier, it may have been counted in an earlier episode.
	 */
	struct barrier *b = barrier_of(d, g);
	bool abandoned = g->release_ns == NEVER && g->sure && !(b && b->crowded) &&
			 d->ops.lossless(d->ops.ctx);
	uint32_t number = g->wrong ? 0 : g->number;

	if (b && b->nwaiters)
		b->nwaiters--;
	unlist(d, w);
	group_leave(w);
	c->depart_ns = w->depart_ns;
	if (number) {
		c->flags |= SBT_CROSSING_ROUND;
		c->round = number;
	}
	if (w->depart_ns == NEVER) {
		c->depart_ns = now_ns;
		c->flags |= abandoned ? SBT_CROSSING_ABANDONED : SBT_CROSSING_UNTIMED;
		/* Nothing is known of the time inside; the parts of the phase are known. */
		if (c->flags & SBT_CROSSING_PARTS) {
			memset(&w->full.inside, 0, sizeof(w->full.inside));
			c->flags |= SBT_CROSSING_INSIDE;
		}
	} else {
		fill_inside(w, seen);
		if (c->flags & SBT_CROSSING_PARTS)
			c->flags |= SBT_CROSSING_INSIDE;
	}
	return crossing_push(d, w);
}

/* The thread has a new record at @now_ns, which shows that it has left the barrier. */
static int has_left(struct departures *d, struct waiter *w, const struct sbt_arrival_full *seen,
		    uint64_t now_ns)
{
	struct group *g = w->group;
	struct barrier *b;
	int err = 0;

	if (w->pending) {
		/* The group may still be open: its other members have not left it. */
		if (g->release_ns == NEVER) {
			err = grow(g->leavers, g->cap_leavers, g->nleavers + 1);
			if (err)
				return err;
			g->leavers[g->nleavers++] = w->full.crossing.tid;
		}
		decide(d, w, seen, now_ns);
		b = barrier_of(d, g);
		if (b && b->lost && seen->woke_ns && !seen->unsure)
			find_step_after(b, w);
		err = settle(d, w, seen, now_ns);
	}
	if (w->open)
		carry_over(w, seen);
	return err;
}

/* --- records ---------------------------------------------------------------------------------- */

static uint64_t thread_key(uint32_t inc, uint32_t tid)
{
	return (uint64_t)inc << 32 | tid;
}

static struct waiter *waiter_of(const struct departures *d, uint32_t inc, uint32_t tid)
{
	return hash_get_ptr(&d->waiters, thread_key(inc, tid));
}

static uint64_t object_key(uint64_t object, uint32_t tgid, uint32_t inc)
{
	return hash_mix(object ^ hash_mix((uint64_t)inc << 32 | tgid));
}

/*
 * After fork, a child has no page of a shared mapping until it touches the page, so its first
 * arrival cannot read the barrier. Take what the parent has read at the same address.
 */
static void words_of_parent(const struct departures *d, const struct sbt_arrival *a,
			    struct object *o)
{
	uint32_t tgid = a->tgid, inc = a->inc, i;
	const struct object *of;

	for (i = 0; i < FORKS_MAX && d->ops.parent(d->ops.ctx, &tgid, &inc); i++) {
		of = hash_get_ptr(&d->objects, object_key(a->object, tgid, inc));
		if (!of || !of->known)
			continue;
		o->raw_word = of->raw_word;
		o->known = true;
		return;
	}
}

/*
 * Forget all barriers at which no thread waits, and what was read from all barriers. Return 0 or
 * -ENOMEM.
 */
static int forget_idle(struct departures *d)
{
	struct hash busy = { 0 };
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;
	int err = 0;

	while (!err && (e = hash_next(&d->barriers, &pos, &zero))) {
		struct barrier *b = (void *)(uintptr_t)e->value;

		if (b->open || b->lost)
			err = hash_put_ptr(&busy, e->key, b);
	}
	if (err) {
		hash_free(&busy);
		return err;
	}
	pos = 0;
	while ((e = hash_next(&d->barriers, &pos, &zero))) {
		struct barrier *b = (void *)(uintptr_t)e->value;

		if (b->open || b->lost)
			continue;
		if (b->arrivals > d->most)
			d->most = b->arrivals;
		free(b);
	}
	hash_free(&d->barriers);
	d->barriers = busy;
	hash_free_ptrs(&d->objects);
	d->objects = (struct hash){ 0 };
	d->ops.refresh(d->ops.ctx);
	return 0;
}

static bool has_too_many(const struct departures *d)
{
	return hash_count(&d->barriers) >= BARRIERS_MAX || hash_count(&d->objects) >= BARRIERS_MAX;
}

/* Return whether the arrival is at a barrier of an OpenMP team. The episodes there have numbers. */
static bool is_in_team(const struct sbt_arrival *a)
{
	return a->flags & SBT_CROSSING_ROUND;
}

/* Find the barrier of an arrival, and fill in the members of the crossing that depend on it. */
static int object_of(struct departures *d, const struct sbt_arrival_full *a, struct sbt_crossing *c,
		     struct departures_barrier *is, struct barrier **out)
{
	uint64_t key = object_key(a->head.object, a->head.tgid, a->head.inc), shared;
	struct object *o;
	int err;

	if (has_too_many(d) && forget_idle(d))
		return -ENOMEM;
	o = hash_get_ptr(&d->objects, key);
	if (!o)
		o = hash_new_ptr(&d->objects, key, sizeof(*o));
	if (!o)
		return -ENOMEM;
	if (a->has_words || is_in_team(&a->head)) {
		o->raw_word = a->raw_word;
		o->known = !(a->head.flags & SBT_CROSSING_NO_WORDS);
	}
	if (!o->known)
		words_of_parent(d, &a->head, o);
	c->raw_word = o->raw_word;
	c->flags = (uint16_t)((c->flags & ~SBT_CROSSING_NO_WORDS) |
			      (o->known ? 0 : SBT_CROSSING_NO_WORDS));
	err = d->ops.barrier(d->ops.ctx, c, a->has_words ? a->first_word : 0, &o->is);
	if (err)
		return err;
	if (!a->has_words || a->head.flags & SBT_CROSSING_NO_WORDS)
		o->is.waiting = UINT32_MAX;
	shared = o->is.shared ? hash_mix(o->is.shared ^ 0x5368617265640000ULL) : key;
	*is = o->is;
	*out = hash_get_ptr(&d->barriers, shared);
	if (!*out) {
		*out = hash_new_ptr(&d->barriers, shared, sizeof(**out));
		if (!*out)
			return -ENOMEM;
		(*out)->key = shared;
		/* The ordinals of waiters of a barrier that was forgotten are not above this. */
		(*out)->arrivals = (*out)->gap = d->most;
	}
	if (is_in_team(&a->head))
		c->kind = a->kind;
	return 0;
}

static struct sbt_crossing crossing_of(const struct waiter *w, const struct sbt_arrival_full *a)
{
	return (struct sbt_crossing){
		.arrive_ns = a->head.stamp & ~SBT_ARRIVAL_STAMP,
		.object = a->head.object,
		.ip = a->head.ip,
		.tgid = a->head.tgid,
		.tid = a->head.tid,
		.inc = a->head.inc,
		.seq = a->head.seq,
		.arrive_cpu = a->head.cpu,
		.depart_cpu = a->head.cpu,
		.type = SBT_REC_CROSSING,
		.flags = a->head.flags | SBT_CROSSING_INFERRED,
		.spec = a->head.spec,
		.handler_ns = a->handler_ns,
		.index = w->index,
		.round = is_in_team(&a->head) ? a->round : 0,
	};
}

static int take_arrival(struct departures *d, const struct sbt_arrival_full *a)
{
	uint64_t now_ns = a->head.stamp & ~SBT_ARRIVAL_STAMP;
	struct waiter *w = waiter_of(d, a->head.inc, a->head.tid);
	struct sbt_arrival_full unknown = { .unsure = 1 };
	struct departures_barrier is;
	struct barrier *b;
	bool gap;
	int err = 0;

	/* The end of an earlier thread with this number was not seen. */
	if (w && a->head.seq <= w->seq) {
		err = has_left(d, w, &unknown, now_ns);
		w->carry.any = false;
		w->seq = 0;
	}
	if (err)
		return err;
	if (!w)
		w = hash_new_ptr(&d->waiters, thread_key(a->head.inc, a->head.tid), sizeof(*w));
	if (!w)
		return -ENOMEM;
	err = has_left(d, w, a, now_ns);
	if (err)
		return err;
	gap = d->late || (w->seq && a->head.seq != w->seq + 1);
	w->seq = a->head.seq;
	if (a->head.length != SBT_ARRIVAL_SHORT)
		w->index = a->index;
	w->full.crossing = crossing_of(w, a);
	w->exited_ns = w->asked_ns = 0;
	if (a->head.length == SBT_ARRIVAL_ALL)
		w->full.parts = a->parts;
	w->full.crossing.depart_ns = now_ns;
	apply_carry(w, &w->full, now_ns);
	w->full.crossing.flags &= (uint16_t)~SBT_CROSSING_INSIDE;
	w->carry.any = w->gone = false;
	err = object_of(d, a, &w->full.crossing, &is, &b);
	if (err)
		return err;
	w->pending = w->open = true;
	if (is_in_team(&a->head) && is.count)
		return team_arrive(d, b, w, is.count);
	return barrier_arrive(d, b, w, &is, a->has_words, gap);
}

/*
 * The thread arrives at a barrier of the same team as last, where its departure will be seen. For
 * the other members, the departures may be inferred.
 */
static int take_seen(struct departures *d, const struct waiter *w, const struct sbt_arrival_full *a,
		     uint64_t now_ns)
{
	const struct sbt_crossing *last = &w->full.crossing;
	struct barrier *b;

	/* Outside a team, arrivals have ordinals. */
	if (!is_in_team(&a->head) || !(last->flags & SBT_CROSSING_ROUND) || w->ordinal ||
	    a->round == last->round || (uint16_t)a->round == SBT_ROUND_JOIN)
		return 0;
	b = hash_get_ptr(&d->barriers, object_key(last->object, last->tgid, last->inc));
	return b ? team_count(d, b, last->tid, a->round, now_ns) : 0;
}

/* The thread writes another kind of record now, or exits. */
static int take_left(struct departures *d, const struct sbt_arrival_full *a)
{
	uint64_t now_ns = a->head.stamp & ~SBT_ARRIVAL_STAMP;
	struct waiter *w = waiter_of(d, a->head.inc, a->head.tid);
	bool pending = w && w->pending;
	int err = w ? has_left(d, w, a, now_ns) : 0;

	w = err ? NULL : w;
	if (w && pending)
		w->gone = w->full.crossing.flags & SBT_CROSSING_ABANDONED;
	return w ? take_seen(d, w, a, now_ns) : err;
}

static size_t event_bytes(const struct sbt_event *e)
{
	switch (e->type) {
	case SBT_REC_LABEL:
		return sizeof(struct sbt_label);
	case SBT_REC_PYTHON:
	case SBT_REC_PYTHON_CODE:
		return sizeof(struct sbt_python_site);
	default:
		return sizeof(*e);
	}
}

/* Return whether the record's parts begin at the thread's last departure. */
static bool has_parts(const struct sbt_crossing *c)
{
	return c->type == SBT_REC_CROSSING || c->type == SBT_REC_RESUME ||
	       c->type == SBT_REC_TAIL || c->type == SBT_REC_MARK;
}

static int take_crossing(struct departures *d, const struct stream_record *record)
{
	const struct sbt_crossing *c = record->crossing;
	struct sbt_arrival_full unknown = { .unsure = 1 };
	struct sbt_crossing_full full;
	struct waiter *w =
		has_parts(c) && hash_count(&d->waiters) ? waiter_of(d, c->inc, c->tid) : NULL;
	int err;

	if (!w)
		return heap_push(d, record->key_ns, c, crossing_bytes(c), false);
	/* SBT_REC_LEFT should have come before. It was lost. */
	if (w->pending || w->open) {
		err = has_left(d, w, &unknown, record->key_ns);
		if (err)
			return err;
	}
	if (c->type == SBT_REC_CROSSING || c->type == SBT_REC_RESUME)
		w->seq = c->seq;
	if (c->type == SBT_REC_TAIL && w->gone)
		return 0;
	if (!w->carry.any || c->flags & SBT_CROSSING_COUNTERS)
		return heap_push(d, record->key_ns, c, crossing_bytes(c), false);
	memset(&full, 0, sizeof(full));
	memcpy(&full, c, crossing_bytes(c));
	apply_carry(w, &full, c->arrive_ns);
	/* The phase goes on after a mark. */
	w->carry.any = c->type == SBT_REC_MARK;
	return heap_push(d, record->key_ns, &full, sizeof(full), false);
}

static void free_exited(struct departures *d)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&d->waiters, &pos, &zero))) {
		struct waiter *w = (void *)(uintptr_t)e->value;

		if (w->pending || !w->exited_ns || w->exited_ns + EXITED_NS > d->read_ns)
			continue;
		hash_del(&d->waiters, e->key);
		free(w);
		/* Deletion may have moved a later entry to this index. */
		pos--;
	}
	d->nkept = hash_count(&d->waiters);
}

static int take_event(struct departures *d, const struct stream_record *record)
{
	const struct sbt_event *e = record->event;
	struct waiter *w = e->type == SBT_REC_EXIT ? waiter_of(d, e->inc, e->tid) : NULL;

	/* The thread's last records have the same time, and may follow. */
	if (w)
		w->exited_ns = record->key_ns;
	if (e->type == SBT_REC_EXIT && hash_count(&d->waiters) > 2 * d->nkept + EXITED_LEAST)
		free_exited(d);
	return heap_push(d, record->key_ns, e, event_bytes(e), true);
}

static int take(struct departures *d, const struct stream_record *record)
{
	d->late = record->key_ns < d->read_ns;
	if (!d->late)
		d->read_ns = record->key_ns;
	if (record->event)
		return take_event(d, record);
	if (record->crossing)
		return take_crossing(d, record);
	return record->arrival->head.type == SBT_REC_LEFT ? take_left(d, record->arrival)
							  : take_arrival(d, record->arrival);
}

/* --- threads without a further record --------------------------------------------------------- */

/*
 * Ask what a thread did since the release. Decide its departure, or note that it had not departed
 * at @until_ns.
 */
static int look(struct departures *d, struct waiter *w, uint64_t until_ns)
{
	struct sbt_arrival_full seen = { 0 };
	uint64_t out_ns;

	if (!d->ops.offs(d->ops.ctx, w->full.crossing.tid, w->full.crossing.seq, &seen, &out_ns)) {
		/* A later record has been written. At the end, it would have been read. */
		if (!w->asked_ns)
			w->asked_ns = until_ns;
		if (until_ns != UINT64_MAX && until_ns - w->asked_ns < LOST_NS)
			return 0;
		w->depart_ns = NEVER;
		return settle(d, w, &seen, d->read_ns);
	}
	/* The answer is of this moment, which is later than @until_ns. */
	decide(d, w, &seen, NEVER - 1);
	if (out_ns && (w->depart_ns == NEVER || out_ns <= w->depart_ns ||
		       w->full.crossing.tid != w->group->newest)) {
		w->inside_ns = until_ns;
		if (until_ns != UINT64_MAX)
			list_stale(d, w);
		return 0;
	}
	/* The departure is unknown, but it is before the thread's next record. */
	if (w->depart_ns == NEVER && until_ns != UINT64_MAX)
		return 0;
	return settle(d, w, &seen, d->read_ns);
}

static int look_at_all(struct departures *d, uint64_t until_ns)
{
	struct waiter *w, *next;
	int err = 0;

	for (w = d->stale; w && !err; w = next) {
		next = w->undecided.next;
		err = look(d, w, until_ns);
	}
	for (w = d->fresh; w && !err; w = next) {
		next = w->undecided.next;
		if (until_ns != UINT64_MAX && until_ns < w->group->release_ns + LOOK_NS)
			break;
		err = look(d, w, until_ns);
	}
	d->stale_ns = NEVER;
	for (w = d->stale; w; w = w->undecided.next)
		if (w->inside_ns < d->stale_ns)
			d->stale_ns = w->inside_ns;
	return err;
}

/* --- the stream ------------------------------------------------------------------------------- */

uint64_t departures_until(const struct departures *d, uint64_t until_ns)
{
	if (d->fresh && d->fresh->group->release_ns < until_ns)
		until_ns = d->fresh->group->release_ns;
	if (d->stale && d->stale_ns < until_ns)
		until_ns = d->stale_ns;
	return until_ns;
}

/* Return the next record that no other record can precede. */
static bool next_ready(struct departures *d, uint64_t until_ns, struct stream_record *out)
{
	struct entry e;

	if (!d->n || d->heap[0].key_ns > departures_until(d, until_ns))
		return false;
	e = heap_pop(d);
	free(d->returned);
	d->returned = e.held;
	*out = (struct stream_record){ .key_ns = e.key_ns };
	if (e.held->event)
		out->event = (const void *)e.held->bytes;
	else
		out->crossing = (const void *)e.held->bytes;
	return true;
}

static int next(struct stream *stream, uint64_t until_ns, struct stream_record *out)
{
	struct departures *d = (struct departures *)stream;
	struct stream_record record;
	int err;

	for (;;) {
		if (next_ready(d, d->read_ns, out))
			return 1;
		err = stream_next(d->from, until_ns, &record);
		if (err < 0)
			return err;
		if (!err)
			break;
		err = take(d, &record);
		if (err)
			return err;
	}
	if (until_ns > d->read_ns && until_ns != UINT64_MAX)
		d->read_ns = until_ns;
	err = look_at_all(d, until_ns);
	if (err)
		return err;
	if (until_ns == UINT64_MAX) {
		/* These threads are still inside: departures_each_pending(). */
		while (d->fresh)
			unlist(d, d->fresh);
		while (d->stale)
			unlist(d, d->stale);
	}
	return next_ready(d, until_ns, out);
}

static void departures_free(struct stream *stream)
{
	struct departures *d = (struct departures *)stream;
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&d->waiters, &pos, &zero))) {
		struct waiter *w = (void *)(uintptr_t)e->value;

		group_put(w->group);
	}
	pos = 0;
	while ((e = hash_next(&d->barriers, &pos, &zero)))
		group_put(((struct barrier *)(uintptr_t)e->value)->open);
	while (d->n)
		free(d->heap[--d->n].held);
	free(d->heap);
	free(d->returned);
	hash_free_ptrs(&d->waiters);
	hash_free_ptrs(&d->objects);
	hash_free_ptrs(&d->barriers);
	free(d);
}

static const struct stream_ops departures_stream_ops = { .next = next, .free = departures_free };

int departures_new(struct stream *from, const struct departures_ops *ops, struct departures **out)
{
	struct departures *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->stream.ops = &departures_stream_ops;
	d->from = from;
	d->ops = *ops;
	*out = d;
	return 0;
}

struct stream *departures_stream(struct departures *d)
{
	return &d->stream;
}

/* --- the end ---------------------------------------------------------------------------------- */

int departures_each_pending(const struct departures *d,
			    int (*each)(void *ctx, const struct sbt_crossing *c), void *ctx)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;
	int err = 0;

	while (!err && (e = hash_next(&d->waiters, &pos, &zero))) {
		const struct waiter *w = (const void *)(uintptr_t)e->value;

		if (w->pending)
			err = each(ctx, &w->full.crossing);
	}
	return err;
}

bool departures_tail(struct departures *d, struct sbt_crossing_full *tail)
{
	struct waiter *w = waiter_of(d, tail->crossing.inc, tail->crossing.tid);
	struct sbt_arrival_full seen;
	uint64_t out_ns;

	if (!w)
		return true;
	if (w->pending)
		return false;
	if (w->open &&
	    d->ops.offs(d->ops.ctx, tail->crossing.tid, w->full.crossing.seq, &seen, &out_ns))
		carry_over(w, &seen);
	apply_carry(w, tail, tail->crossing.arrive_ns);
	return true;
}

bool departures_waits(const struct departures *d, uint32_t inc, uint32_t tid)
{
	const struct waiter *w = waiter_of(d, inc, tid);

	return w && w->pending;
}
