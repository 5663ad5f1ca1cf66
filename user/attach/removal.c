// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Stop tracing a process, or some of its barriers: stop recording them, and remove the probes that
 * only this process hits.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "attach/internal.h"
#include "base/array.h"
#include "sites/family.h"

/* --- stop recording --------------------------------------------------------------------------- */

struct excluded {
	const struct attach *attach;
	uint32_t tgid, inc;
	uint64_t probe_groups;
};

/*
 * Mark the thread: the mark takes effect at its next arrival. The thread keeps its slot, because a
 * BPF program may be using the slot now. If the thread is inside a barrier, it departs as a traced
 * thread.
 */
static void exclude_thread(void *ctx, struct sbt_thread *thread)
{
	const struct excluded *e = ctx;

	if (thread->tgid != e->tgid || (thread->inc && thread->inc != e->inc))
		return;
	if (e->probe_groups != ATTACH_ALL_PROBE_GROUPS) {
		__atomic_fetch_or(&thread->detached, e->probe_groups, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_or(&thread->proc_flags, SBT_PROC_EXCLUDED, __ATOMIC_RELAXED);
	account_forget(e->attach, (uint32_t)(thread - e->attach->threads));
}

int attach_exclude(struct attach *a, uint32_t tgid, uint32_t inc, uint64_t probe_groups)
{
	bool whole = probe_groups == ATTACH_ALL_PROBE_GROUPS;
	struct excluded e = { a, tgid, inc, probe_groups };
	int err =
		classify_process(a, tgid, inc,
				 &(struct classification){ .set = whole ? SBT_PROC_EXCLUDED : 0,
							   .detached = whole ? 0 : probe_groups });

	if (!err)
		each_thread(a, exclude_thread, &e);
	return err;
}

bool attach_is_detached(const struct attach *a, const struct sbt_thread *t)
{
	return (t->proc_flags & SBT_PROC_EXCLUDED) ||
	       (t->detached & SBT_PROBE_GROUP(attach_probe_group(a, t->family, t->spec)));
}

/* --- choice of the probes --------------------------------------------------------------------- */

/* Return whether the process hits the probes of the link. */
static bool is_hit_by(const struct attach_link *link, uint32_t tgid)
{
	return !link->pid || (uint32_t)link->pid == tgid;
}

/*
 * A function that the user named can have its own probe group. Return these groups, for functions
 * of the families in @probe_groups.
 */
static uint64_t functions_of(const struct attach *a, uint64_t probe_groups)
{
	uint64_t more = 0;

	array_for_each (spec, a->specs, a->nspecs)
		if (probe_groups & SBT_PROBE_GROUP(spec->family))
			more |= spec->probe_group;
	return more;
}

uint64_t attach_probe_groups_with(const struct attach *a, uint32_t tgid, uint64_t probe_groups)
{
	uint64_t before;

	/*
	 * The detached barriers wait on futexes. Without the barriers' probes, these futexes would
	 * look like other barriers. So detach the futexes, too.
	 */
	if (probe_groups && a->futexes)
		probe_groups |= family_probe_groups_with(FAMILY_FUTEX_WORD);
	do {
		before = probe_groups;
		probe_groups |= functions_of(a, probe_groups);
		array_for_each (link, a->links, a->nlinks)
			if (is_hit_by(link, tgid) && link->probe_groups & probe_groups)
				probe_groups |= link->probe_groups;
	} while (probe_groups != before);
	return probe_groups;
}

uint64_t attach_own_probe_groups(const struct attach *a, uint32_t tgid, uint64_t probe_groups)
{
	uint64_t own = 0, shared = 0;
	uint32_t i;

	for (i = 0; i < a->nlinks; i++) {
		if (!a->links[i].pid)
			shared |= a->links[i].probe_groups;
		else if ((uint32_t)a->links[i].pid == tgid)
			own |= a->links[i].probe_groups;
	}
	/*
	 * Futex calls are traced as system calls, without a link, so their groups count as the
	 * process's own. Any other group without a link was part of a shared link that was removed,
	 * and does not count.
	 */
	own |= family_probe_groups_with(FAMILY_FUTEX_WORD);
	return probe_groups & own & ~shared;
}

/* --- removal ---------------------------------------------------------------------------------- */

struct removals {
	const struct attach_removal *all;
	uint32_t n;
};

static bool is_detached_link(const struct attach_link *link, const void *ctx)
{
	const struct removals *removals = ctx;
	const struct attach_removal *all = removals->all;

	array_for_each (x, all, removals->n) {
		if ((uint32_t)link->pid != x->tgid)
			continue;
		if (!link->pid && link->probe_groups & x->probe_groups)
			return true;
		/*
		 * A link for this process only: remove it if all probes of the process are removed
		 * (including the loader's), or all probe groups of the link.
		 */
		if (link->pid && (x->probe_groups == ATTACH_ALL_PROBE_GROUPS ||
				  (link->probe_groups && !(link->probe_groups & ~x->probe_groups))))
			return true;
	}
	return false;
}

/*
 * Links that a thread closes in the background: closing may take a second, and later removals need
 * not wait for it.
 */
struct closing_links {
	pthread_t thread;
	uint32_t n;
	struct attach_link all[];
};

static void *run_closing(void *ctx)
{
	struct closing_links *closing = ctx;

	links_close(closing->all, closing->n);
	return NULL;
}

/*
 * Return a free entry for links to be closed. If all entries are in use, wait until all their links
 * are closed.
 */
static struct closing_links **free_entry(struct attach *a)
{
	uint32_t i;

	for (i = 0; i < ATTACH_CLOSING; i++) {
		if (a->closing[i] && !pthread_tryjoin_np(a->closing[i]->thread, NULL)) {
			free(a->closing[i]);
			a->closing[i] = NULL;
		}
		if (!a->closing[i])
			return &a->closing[i];
	}
	detached_wait(a);
	return &a->closing[0];
}

/*
 * Close links in a thread, because closing may take a second and the records of other processes
 * must be read meanwhile.
 */
static void close_in_background(struct attach *a, struct closing_links *closing)
{
	struct closing_links **entry = free_entry(a);
	sigset_t all, old;
	bool begun;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	begun = !pthread_create(&closing->thread, NULL, run_closing, closing);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (begun) {
		*entry = closing;
		return;
	}
	run_closing(closing);
	free(closing);
}

void detached_wait(struct attach *a)
{
	uint32_t i;

	for (i = 0; i < ATTACH_CLOSING; i++) {
		if (a->closing[i])
			pthread_join(a->closing[i]->thread, NULL);
		free(a->closing[i]);
		a->closing[i] = NULL;
	}
}

static int remove_links(struct attach *a,
			bool (*goes)(const struct attach_link *link, const void *ctx),
			const void *ctx)
{
	struct closing_links *closing;
	uint32_t i, kept = 0;

	closing = malloc(sizeof(*closing) + a->nlinks * sizeof(closing->all[0]));
	if (!closing)
		return -ENOMEM;
	closing->n = 0;
	for (i = 0; i < a->nlinks; i++) {
		if (goes(&a->links[i], ctx))
			closing->all[closing->n++] = a->links[i];
		else
			a->links[kept++] = a->links[i];
	}
	a->nlinks = kept;
	if (closing->n)
		close_in_background(a, closing);
	else
		free(closing);
	return 0;
}

int attach_remove(struct attach *a, const struct attach_removal *removals, uint32_t n)
{
	struct removals all = { removals, n };

	return remove_links(a, is_detached_link, &all);
}

struct filed {
	dev_t dev;
	ino_t ino;
};

static bool is_in_file(const struct attach_link *link, const void *ctx)
{
	const struct filed *f = ctx;

	return link->ino && link->ino == f->ino && link->dev == f->dev;
}

int attach_remove_file(struct attach *a, dev_t dev, ino_t ino)
{
	struct filed filed = { dev, ino };

	return remove_links(a, is_in_file, &filed);
}

/* --- one probe site --------------------------------------------------------------------------- */

struct tagged {
	uint64_t tag;
	uint32_t tgid;
};

static bool has_tag(const struct attach_link *link, const void *ctx)
{
	const struct tagged *t = ctx;

	return link->tag == t->tag && is_hit_by(link, t->tgid);
}

int attach_remove_tagged(struct attach *a, uint64_t tag, uint32_t tgid, bool *for_all)
{
	struct tagged tagged = { tag, tgid };

	*for_all = false;
	array_for_each (link, a->links, a->nlinks)
		*for_all |= has_tag(link, &tagged) && !link->pid;
	return remove_links(a, has_tag, &tagged);
}

int attach_remove_self(struct attach *a)
{
	bool for_all;

	return attach_remove_tagged(a, SELF_TAG, (uint32_t)getpid(), &for_all);
}

/* --- probes on waits, removed for some time --------------------------------------------------- */

static bool is_among(const uint32_t *tgids, uint32_t n, uint32_t tgid)
{
	uint32_t i;

	for (i = 0; i < n && tgids[i] != tgid; i++)
		;
	return i < n;
}

struct resting {
	const uint32_t *tgids;
	uint32_t n;
	enum attach_waits_kind kind;
};

static bool rests(const struct attach_link *link, const void *ctx)
{
	const struct resting *r = ctx;

	return link->waits == r->kind && link->pid && is_among(r->tgids, r->n, (uint32_t)link->pid);
}

/* Clear the thread's wait, because the probe at its end is removed. */
static void forget_wait(void *ctx, struct sbt_thread *thread)
{
	const struct resting *r = ctx;

	if (family_has(thread->waiting.family, FAMILY_COND_VAR) &&
	    (r->kind == ATTACH_WAITS_SEMS) ==
		    (thread->waiting.kind == SBT_KIND_SEMAPHORE ||
		     family_has(thread->waiting.family, FAMILY_INTERPRETED)) &&
	    is_among(r->tgids, r->n, thread->tgid))
		__atomic_store_n(&thread->waiting.since_ns, 0, __ATOMIC_RELAXED);
}

static void forget_turn(void *ctx, struct sbt_thread *thread)
{
	const uint32_t *tgid = ctx;

	if (thread->tgid == *tgid)
		__atomic_store_n(&thread->turn.sp, 0, __ATOMIC_RELAXED);
}

void forget_turns(struct attach *a, uint32_t tgid)
{
	each_thread(a, forget_turn, &tgid);
}

int attach_waits_remove(struct attach *a, const uint32_t *tgids, uint32_t n,
			enum attach_waits_kind kind)
{
	struct resting resting = { tgids, n, kind };
	int err = remove_links(a, rests, &resting);

	if (!err && (kind == ATTACH_WAITS_ALL || kind == ATTACH_WAITS_SEMS))
		each_thread(a, forget_wait, &resting);
	return err;
}
