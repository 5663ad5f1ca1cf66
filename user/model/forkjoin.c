// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/forkjoin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define ROUNDS_ENOUGH 2
#define TEAM_LEAST    2
/*
 * Maximum number of threads of one creator that are not joined yet. If there are more, the threads
 * of earlier batches are forgotten or, if there are no earlier batches, all of them.
 */
#define MADE_MAX      4096
/*
 * The thread pointer is above the pthread_t by less than this (bytes). The distance is 0 on x86-64,
 * and the size of a thread descriptor on arm64.
 */
#define HANDLE_BELOW  4096
/*
 * A creator that does nothing but join may spend BETWEEN_NS, or 1/BETWEEN_PART of the time since
 * its first join, between its joins. It may also lose its CPU between two joins. So the creator
 * counts as doing more than joining only if most of the times between two joins also exceed GAP_NS.
 */
#define BETWEEN_NS    1000000ULL
#define BETWEEN_PART  4
#define GAP_NS	      100000ULL
/*
 * A creator does a part of a round's work if its own work takes more than 1/OWN_PART of the time
 * from its last creation of a thread to its last join. Its own work is the time from that creation
 * to its first join, without RETURN_NS, which it needs to return from the creation.
 */
#define OWN_PART      16
#define RETURN_NS     50000ULL

/*
 * Usual time from a thread's last action to its end. The last action wakes a creator that waits for
 * all threads.
 */
#define END_NS 1000000ULL

/* A thread, in its role as a created thread and as a creator. */
struct thread {
	uint32_t tid;
	bool ended;
	uint32_t seq, cpu; /* known once the thread has ended */
	uint64_t born_ns, end_ns;
	uint64_t pointer;
	uint64_t joined_ns; /* 0: not joined */
	struct thread *creator; /* NULL: not known, or no longer needed */
	struct thread *next; /* the next older thread of its creator */
	uint32_t batch; /* number of the creator's batch that this thread belongs to */
	struct forkjoin_episode *episode; /* the round that waits for the end of this thread */
	uint32_t member; /* index of this thread among the members of that round */

	struct thread *made; /* newest first */
	uint32_t nmade;
	uint32_t now; /* number of the current batch */
	/* number of threads in the current batch, and how many of them are joined */
	uint32_t n, njoined;
	bool joining; /* threads of the batch were joined, so the next thread begins a new batch */
	bool broken; /* the batch is not a round */
	/* the round that this creator may still wait for, or NULL; see forkjoin_episode.open */
	struct forkjoin_episode *open;
	bool waits_for_all; /* the creator waits for all threads of the finished batch */
	bool doubtful; /* like forkjoin_episode.doubtful, for the finished batch */
	uint32_t site;
	uint64_t made_ns; /* time when the creator made the last thread */
	/* when the creator entered its first join, and left its last join */
	uint64_t first_ns, last_ns;
	uint64_t between_ns; /* time outside joins, from the first join to the last */
	uint32_t gaps, long_gaps;
};

struct process {
	uint32_t tgid, inc;
	struct hash threads; /* living threads: tid -> struct thread */
	/*
	 * call site -> lower half: number of rounds; upper half: number of members of rounds that
	 * were given up
	 */
	struct hash sites;
	/*
	 * call site -> number of members of the smallest round in which the creator waited for all
	 * threads
	 */
	struct hash least;
	struct hash parts; /* call site -> PARTS_* */
};

struct forkjoin {
	struct forkjoin_ops ops;
	struct hash processes; /* (tgid, inc) -> struct process */
	struct forkjoin_episode *waiting;
	uint64_t unreported;
};

struct forkjoin *forkjoin_new(const struct forkjoin_ops *ops)
{
	struct forkjoin *f = calloc(1, sizeof(*f));

	if (f)
		f->ops = *ops;
	return f;
}

static uint64_t process_key(uint32_t tgid, uint32_t inc)
{
	return (uint64_t)tgid << 32 | inc;
}

static struct process *process_find(const struct forkjoin *f, uint32_t tgid, uint32_t inc)
{
	return hash_get_ptr(&f->processes, process_key(tgid, inc));
}

static int process_get(struct forkjoin *f, uint32_t tgid, uint32_t inc, struct process **out)
{
	struct process *p = process_find(f, tgid, inc);

	if (!p) {
		p = hash_new_ptr(&f->processes, process_key(tgid, inc), sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->tgid = tgid;
		p->inc = inc;
	}
	*out = p;
	return 0;
}

/* --- threads --------------------------------------------------------------------------------- */

/*
 * Find or add a thread. If the thread's start was not seen, it may have made threads that are not
 * known, so its first batch is not a round.
 */
static int thread_get(struct process *p, uint32_t tid, struct thread **out)
{
	struct thread *t = hash_get_ptr(&p->threads, tid);

	if (!t) {
		t = hash_new_ptr(&p->threads, tid, sizeof(*t));
		if (!t)
			return -ENOMEM;
		t->tid = tid;
		t->broken = true;
	}
	*out = t;
	return 0;
}

/* Free a thread that has ended, unless its creator may still join it. */
static void thread_settle(struct thread *t)
{
	if (t->ended && !t->creator)
		free(t);
}

/* Forget those of the creator's threads that begin at @link in its list. */
static void cut_made(struct thread *creator, struct thread **link)
{
	struct thread *t, *next;

	for (t = *link; t; t = next) {
		next = t->next;
		t->creator = t->next = NULL;
		creator->nmade--;
		thread_settle(t);
	}
	*link = NULL;
}

static void forget_batch(struct thread *creator)
{
	struct thread **link = &creator->made, *t;

	while ((t = *link)) {
		if (t->batch != creator->now) {
			link = &t->next;
			continue;
		}
		*link = t->next;
		t->creator = t->next = NULL;
		creator->nmade--;
		thread_settle(t);
	}
}

/* Forget a thread with an unknown end. Its creator's batch is then no round. */
static void disown(struct thread *t)
{
	struct thread **link = t->creator ? &t->creator->made : NULL;

	if (!link)
		return;
	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
	t->creator->nmade--;
	t->creator->broken |= t->batch == t->creator->now;
	t->creator = t->next = NULL;
}

static void next_batch(struct thread *creator)
{
	creator->now++;
	creator->n = creator->njoined = 0;
	creator->joining = creator->broken = false;
}

/*
 * Make room if there are too many threads: forget the creator's threads of earlier batches or, if
 * there are none, all of its threads.
 */
static void make_room(struct thread *creator)
{
	struct thread **link = &creator->made;

	if (creator->nmade < MADE_MAX)
		return;
	while (*link && (*link)->batch == creator->now)
		link = &(*link)->next;
	if (*link) {
		cut_made(creator, link);
		return;
	}
	cut_made(creator, &creator->made);
	creator->n = creator->njoined = 0;
	creator->broken = true;
}

static void site_given_up(struct forkjoin *f, struct process *p, uint32_t site, uint32_t members)
{
	uint64_t rounds = 0;

	hash_get(&p->sites, site, &rounds);
	if ((uint32_t)rounds >= ROUNDS_ENOUGH)
		f->unreported += members;
	else
		hash_put(&p->sites, site, rounds + ((uint64_t)members << 32));
}

static void episode_drop(struct forkjoin *f, struct forkjoin_episode *episode)
{
	struct forkjoin_episode **link = &f->waiting;
	struct process *p = process_find(f, episode->tgid, episode->inc);
	const struct hash_entry *e;
	struct hash_entry zero;
	struct thread *t;
	size_t pos = 0;

	while (*link != episode)
		link = &(*link)->next;
	*link = episode->next;
	while (p && (e = hash_next(&p->threads, &pos, &zero))) {
		t = (struct thread *)(uintptr_t)e->value;
		if (t->episode == episode)
			t->episode = NULL;
		if (t->open == episode)
			t->open = NULL;
	}
	f->ops.drop(f->ops.ctx, episode->cookie);
	free(episode);
}

/*
 * Three values are kept for each call site at which rounds end: the number of rounds before the
 * first report, in how many of them the creator did a part of the work, and the decision whether
 * the creator is a member. The decision is final, because a team's members must not change from
 * round to round. It is made from several rounds, because the creator may have waited for a CPU in
 * one of them.
 */
#define PARTS_ROUND		    1ULL
#define PARTS_OWN		    (1ULL << 24)
#define PARTS_MEMBER		    (1ULL << 62)
#define PARTS_JOINER		    (1ULL << 63)
#define PARTS_N(parts, probe_group) ((parts) / (probe_group)&0xffffff)

static bool joins_only(struct process *p, uint32_t site)
{
	uint64_t parts = 0;

	hash_get(&p->parts, site, &parts);
	if (!(parts & (PARTS_MEMBER | PARTS_JOINER)))
		parts |= 2 * PARTS_N(parts, PARTS_OWN) > PARTS_N(parts, PARTS_ROUND) ? PARTS_MEMBER
										     : PARTS_JOINER;
	/* An existing entry is replaced, which takes no memory. */
	hash_put(&p->parts, site, parts);
	return parts & PARTS_JOINER;
}

static int note_part(struct process *p, const struct thread *creator)
{
	uint64_t parts = 0, own = 0;

	hash_get(&p->parts, creator->site, &parts);
	if (parts & (PARTS_MEMBER | PARTS_JOINER))
		return 0;
	if (creator->first_ns > creator->made_ns + RETURN_NS)
		own = creator->first_ns - creator->made_ns - RETURN_NS;
	if (own > (creator->last_ns - creator->made_ns) / OWN_PART)
		parts += PARTS_OWN;
	return hash_put(&p->parts, creator->site, parts + PARTS_ROUND);
}

/*
 * Return whether the episode probably includes an earlier round for which the creator did not wait,
 * because that round was already over.
 */
static bool is_several(const struct process *p, const struct forkjoin_episode *episode)
{
	uint64_t least = episode->n;

	hash_get(&p->least, episode->site, &least);
	return episode->doubtful && episode->n > least;
}

/*
 * If a call site is known to have several rounds, report those that have ended and were kept until
 * now.
 */
static void rounds_tell(struct forkjoin *f, struct process *p, uint32_t site)
{
	struct forkjoin_episode **link = &f->waiting, *episode;
	uint64_t rounds = 0;

	hash_get(&p->sites, site, &rounds);
	if ((uint32_t)rounds < ROUNDS_ENOUGH)
		return;
	f->unreported += rounds >> 32;
	if (rounds >> 32)
		hash_put(&p->sites, site, (uint32_t)rounds);
	while ((episode = *link)) {
		if (episode->missing || episode->open || episode->site != site ||
		    episode->tgid != p->tgid || episode->inc != p->inc) {
			link = &episode->next;
			continue;
		}
		if (is_several(p, episode)) {
			f->unreported += episode->n;
			episode_drop(f, episode);
			continue;
		}
		*link = episode->next;
		episode->next = NULL;
		episode->joins_only = joins_only(p, site);
		f->ops.take(f->ops.ctx, episode->cookie, episode);
	}
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct thread *creator_of(struct process *p, const struct forkjoin_episode *episode)
{
	return hash_get_ptr(&p->threads, episode->tid);
}

/*
 * End the wait for an open round, because its creator does other work. Members that end later count
 * as arrived when the creator departed. Report the round if all members have ended.
 */
static void episode_close(struct forkjoin *f, struct process *p, struct thread *creator)
{
	struct forkjoin_episode *episode = creator->open;

	if (!episode)
		return;
	creator->open = NULL;
	episode->open = false;
	array_for_each (m, episode->members, episode->n)
		m->arrive_ns = earlier(m->arrive_ns, episode->depart_ns);
	if (!episode->missing)
		rounds_tell(f, p, episode->site);
}

/*
 * Handle a round of which all members have ended, the last one at @last_ns. If the creator may wait
 * once more, close the round unless the last member ended long after the creator's wait. In that
 * case the creator will wait again.
 */
static void episode_ended(struct forkjoin *f, struct process *p, struct forkjoin_episode *episode,
			  uint64_t last_ns)
{
	if (!episode->open)
		rounds_tell(f, p, episode->site);
	else if (last_ns < episode->depart_ns + END_NS && creator_of(p, episode))
		episode_close(f, p, creator_of(p, episode));
}

static void thread_end(struct forkjoin *f, struct process *p, struct thread *t, bool seen)
{
	struct forkjoin_episode *episode = t->episode;
	struct forkjoin_member *mem;

	t->ended = true;
	episode_close(f, p, t);
	hash_del(&p->threads, t->tid);
	cut_made(t, &t->made);
	t->episode = NULL;
	if (episode && !seen) {
		site_given_up(f, p, episode->site, episode->n);
		episode_drop(f, episode);
	} else if (episode) {
		mem = &episode->members[t->member];
		mem->seq = t->seq;
		mem->cpu = t->cpu;
		mem->arrive_ns = episode->open ? t->end_ns : earlier(t->end_ns, mem->arrive_ns);
		if (!--episode->missing)
			episode_ended(f, p, episode, t->end_ns);
	}
	thread_settle(t);
}

int forkjoin_begin(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t tid)
{
	struct process *p;
	struct thread *t;
	int err = process_get(f, tgid, inc, &p);

	if (!err)
		err = thread_get(p, tid, &t);
	if (!err)
		t->broken = false;
	return err;
}

int forkjoin_made(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t creator_tid,
		  uint32_t tid, uint64_t pointer, uint64_t t_ns)
{
	struct thread *creator, *t;
	struct process *p;
	int err;

	if (creator_tid == tid)
		return 0;
	err = process_get(f, tgid, inc, &p);
	if (err)
		return err;
	/* If a thread with the same number is known, its end was not seen. */
	t = hash_get_ptr(&p->threads, tid);
	if (t) {
		disown(t);
		thread_end(f, p, t, false);
	}
	err = thread_get(p, creator_tid, &creator);
	if (!err)
		err = thread_get(p, tid, &t);
	if (err)
		return err;
	episode_close(f, p, creator);
	if (creator->joining)
		next_batch(creator);
	make_room(creator);
	t->broken = false;
	t->pointer = pointer;
	t->born_ns = t_ns;
	t->creator = creator;
	t->batch = creator->now;
	t->next = creator->made;
	creator->made = t;
	creator->nmade++;
	creator->n++;
	creator->made_ns = t_ns;
	return 0;
}

void forkjoin_ended(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		    uint32_t seq, uint32_t cpu)
{
	struct process *p = process_find(f, tgid, inc);
	struct thread *t = p ? hash_get_ptr(&p->threads, tid) : NULL;

	if (!t)
		return;
	t->end_ns = t_ns;
	t->seq = seq;
	t->cpu = cpu;
	thread_end(f, p, t, true);
}

/* --- joins ----------------------------------------------------------------------------------- */

static struct thread **find_made(struct thread *creator, uint64_t handle)
{
	struct thread **link, **found = NULL;
	uint64_t least = HANDLE_BELOW;

	for (link = &creator->made; *link && least; link = &(*link)->next) {
		if ((*link)->joined_ns || (*link)->pointer - handle >= least)
			continue;
		least = (*link)->pointer - handle;
		found = link;
	}
	return found;
}

static void note_times(struct thread *creator, const struct forkjoin_join *j)
{
	if (!creator->joining) {
		creator->joining = true;
		creator->first_ns = j->enter_ns;
		creator->between_ns = 0;
		creator->gaps = creator->long_gaps = 0;
		creator->site = j->site;
	} else if (j->enter_ns > creator->last_ns) {
		creator->between_ns += j->enter_ns - creator->last_ns;
		creator->gaps++;
		creator->long_gaps += j->enter_ns - creator->last_ns > GAP_NS;
	}
	creator->last_ns = j->leave_ns;
}

/* Return whether the creator did nothing but join. */
static bool only_joined(const struct thread *creator)
{
	return creator->between_ns <= BETWEEN_NS ||
	       creator->between_ns <= (creator->last_ns - creator->first_ns) / BETWEEN_PART ||
	       creator->long_gaps * 2 <= creator->gaps;
}

static int note_least(struct process *p, const struct forkjoin_episode *episode)
{
	uint64_t least = UINT64_MAX;

	hash_get(&p->least, episode->site, &least);
	return episode->n < least ? hash_put(&p->least, episode->site, episode->n) : 0;
}

/* Make a round from the creator's current batch. All of its threads are joined. */
static int episode_new(struct forkjoin *f, struct process *p, struct thread *creator,
		       uint64_t cookie)
{
	struct forkjoin_episode *episode =
		calloc(1, sizeof(*episode) + creator->n * sizeof(episode->members[0]));
	struct forkjoin_member *mem;
	struct thread *t;
	int err = 0;

	if (!episode)
		return -ENOMEM;
	episode->cookie = cookie;
	episode->tgid = p->tgid;
	episode->inc = p->inc;
	episode->tid = creator->tid;
	episode->site = creator->site;
	episode->arrive_ns = creator->first_ns;
	episode->depart_ns = creator->last_ns;
	episode->n = creator->n;
	for (t = creator->made, mem = &episode->members[episode->n]; t; t = t->next) {
		if (t->batch != creator->now)
			continue;
		mem--;
		mem->tid = t->tid;
		mem->arrive_ns = creator->waits_for_all ? UINT64_MAX : t->joined_ns;
		if (t->ended) {
			mem->seq = t->seq;
			mem->cpu = t->cpu;
			mem->arrive_ns = creator->waits_for_all ? t->end_ns
								: earlier(t->end_ns, t->joined_ns);
		} else {
			episode->missing++;
			t->episode = episode;
			t->member = (uint32_t)(mem - episode->members);
		}
	}
	if (creator->waits_for_all) {
		episode->open = true;
		episode->doubtful = creator->doubtful;
		creator->open = episode;
		err = note_least(p, episode);
	}
	episode->next = f->waiting;
	f->waiting = episode;
	return err;
}

static int batch_done(struct forkjoin *f, struct process *p, struct thread *creator,
		      uint64_t cookie)
{
	uint64_t rounds = 0;
	uint32_t site = creator->site;
	bool is_episode = !creator->broken && creator->n >= TEAM_LEAST;
	int err = 0;

	hash_get(&p->sites, site, &rounds);
	is_episode = is_episode && ((uint32_t)rounds >= ROUNDS_ENOUGH || only_joined(creator));
	if (is_episode && (uint32_t)rounds < ROUNDS_ENOUGH)
		err = hash_put(&p->sites, site, rounds + 1);
	if (is_episode && !err)
		err = note_part(p, creator);
	if (is_episode && !err)
		err = episode_new(f, p, creator, cookie);
	forget_batch(creator);
	next_batch(creator);
	if (is_episode && !err)
		rounds_tell(f, p, site);
	else
		f->ops.drop(f->ops.ctx, cookie);
	return err;
}

/*
 * Note that the creator waits once more for the same threads: its last wait returned before all of
 * them had ended.
 */
static void wait_again(struct forkjoin *f, struct forkjoin_episode *episode,
		       const struct forkjoin_join *j)
{
	f->ops.drop(f->ops.ctx, episode->cookie);
	episode->cookie = j->cookie;
	episode->depart_ns = j->leave_ns;
}

/*
 * Return the end of a thread. If the end was not seen yet, return @now_ns: its record is late, or
 * the thread still runs.
 */
static uint64_t end_of(const struct thread *t, uint64_t now_ns)
{
	return t->ended ? t->end_ns : now_ns;
}

/*
 * If all threads of a scope (thread::scope()) have ended when the creator reaches the end of the
 * scope, the creator does not wait. The scope's threads are then in one batch with those of the
 * next scope. Drop them: they all ended well before the first thread of the next scope was made.
 */
static int leave_over(struct forkjoin *f, struct thread *creator, uint64_t now_ns)
{
	struct thread **list = calloc(creator->n, sizeof(struct thread *)), **all, *t;
	uint32_t i = creator->n, n, first = 0;
	bool broken = creator->broken;
	uint64_t end_ns = 0;

	if (!list)
		return -ENOMEM;
	/* The list begins with the newest thread. */
	for (t = creator->made; t && i; t = t->next)
		if (t->batch == creator->now)
			list[--i] = t;
	all = list + i;
	n = creator->n - i;
	creator->doubtful = false;
	for (i = 0; i + 1 < n; i++) {
		if (end_of(all[i], now_ns) > end_ns)
			end_ns = end_of(all[i], now_ns);
		if (end_ns + END_NS <= all[i + 1]->born_ns) {
			f->unreported += i + 1 - first >= TEAM_LEAST ? i + 1 - first : 0;
			first = i + 1;
			end_ns = 0;
			creator->doubtful = false;
		} else if (end_ns <= all[i + 1]->born_ns + END_NS) {
			creator->doubtful = true;
		}
	}
	for (i = 0; i < first; i++) {
		disown(all[i]);
		creator->n--;
		thread_settle(all[i]);
	}
	creator->broken = broken;
	free(list);
	return 0;
}

/* Note that the creator waits for all threads that it has made since its last such wait. */
static int join_all(struct forkjoin *f, struct process *p, struct thread *creator,
		    const struct forkjoin_join *j)
{
	uint64_t last_ns = 0;
	struct thread *t;
	int err;

	if (creator->open && !creator->n) {
		wait_again(f, creator->open, j);
		return 0;
	}
	/* The creator has no threads to join, so this wait is not for threads. */
	if (!creator->n) {
		f->ops.drop(f->ops.ctx, j->cookie);
		return 0;
	}
	note_times(creator, j);
	err = leave_over(f, creator, j->leave_ns);
	if (err) {
		f->ops.drop(f->ops.ctx, j->cookie);
		return err;
	}
	for (t = creator->made; t; t = t->next) {
		if (t->batch != creator->now)
			continue;
		t->joined_ns = j->leave_ns;
		if (t->end_ns > last_ns)
			last_ns = t->end_ns;
	}
	creator->waits_for_all = true;
	err = batch_done(f, p, creator, j->cookie);
	creator->waits_for_all = false;
	if (!err && creator->open && !creator->open->missing)
		episode_ended(f, p, creator->open, last_ns);
	return err;
}

int forkjoin_join(struct forkjoin *f, const struct forkjoin_join *j)
{
	struct process *p = process_find(f, j->tgid, j->inc);
	struct thread *creator = p ? hash_get_ptr(&p->threads, j->tid) : NULL, **link, *t;

	/* Either the caller has made no thread, or the call failed: no thread has been joined. */
	if (!creator || (j->result && j->result != ETIMEDOUT && j->result != EBUSY))
		goto none;
	if (j->all)
		return join_all(f, p, creator, j);
	episode_close(f, p, creator);
	/* A failed attempt is part of the wait. */
	if (!j->result || creator->n)
		note_times(creator, j);
	if (j->result)
		goto none;
	link = find_made(creator, j->handle);
	if (!link) {
		creator->broken = true;
		goto none;
	}
	t = *link;
	if (t->batch == creator->now) {
		t->joined_ns = j->leave_ns;
		if (++creator->njoined == creator->n)
			return batch_done(f, p, creator, j->cookie);
		goto none;
	}
	creator->broken = true;
	disown(t);
	thread_settle(t);
none:
	f->ops.drop(f->ops.ctx, j->cookie);
	return 0;
}

/* --- the end --------------------------------------------------------------------------------- */

void forkjoin_give_up(struct forkjoin *f, uint64_t cookie)
{
	struct forkjoin_episode *episode = f->waiting;
	struct process *p;

	while (episode && episode->cookie != cookie)
		episode = episode->next;
	if (!episode)
		return;
	p = process_find(f, episode->tgid, episode->inc);
	if (p)
		site_given_up(f, p, episode->site, episode->n);
	episode_drop(f, episode);
}

static void process_free(struct process *p)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	struct thread *t;
	size_t pos = 0;

	/* First unlink all threads, because each is also in its creator's list. */
	while ((e = hash_next(&p->threads, &pos, &zero))) {
		t = (struct thread *)(uintptr_t)e->value;
		cut_made(t, &t->made);
	}
	hash_free_ptrs(&p->threads);
	hash_free(&p->sites);
	hash_free(&p->least);
	hash_free(&p->parts);
	free(p);
}

void forkjoin_end_process(struct forkjoin *f, uint32_t tgid, uint32_t inc)
{
	struct process *p = process_find(f, tgid, inc);
	struct forkjoin_episode *episode, *next;

	if (!p)
		return;
	for (episode = f->waiting; episode; episode = next) {
		next = episode->next;
		if (episode->tgid == tgid && episode->inc == inc)
			episode_drop(f, episode);
	}
	hash_del(&f->processes, process_key(tgid, inc));
	process_free(p);
}

void forkjoin_finish(struct forkjoin *f)
{
	while (f->waiting)
		episode_drop(f, f->waiting);
}

void forkjoin_free(struct forkjoin *f)
{
	struct forkjoin_episode *episode;
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	if (!f)
		return;
	while ((episode = f->waiting)) {
		f->waiting = episode->next;
		free(episode);
	}
	while ((e = hash_next(&f->processes, &pos, &zero)))
		process_free((struct process *)(uintptr_t)e->value);
	hash_free(&f->processes);
	free(f);
}

uint64_t forkjoin_unreported(const struct forkjoin *f)
{
	return f->unreported;
}
