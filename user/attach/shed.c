// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * A process is traced no more, or families of its barriers are not: what is recorded of them ends, and probes that only it
 * paid for go.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "attach/internal.h"

/* --- who is no longer recorded --------------------------------------------------------------------- */

struct excluded {
	const struct attach *attach;
	uint32_t tgid, inc;
	uint32_t flags; /* SBT_PROC_* */
};

/*
 * Its slot stays with the thread, for a program may be at it right now: the mark is what the next arrival goes by. Who is
 * inside goes on as it came in.
 */
static void exclude_thread(void *ctx, struct sbt_thread *thread)
{
	const struct excluded *e = ctx;

	if (thread->tgid != e->tgid || (thread->inc && thread->inc != e->inc))
		return;
	__atomic_fetch_or(&thread->proc_flags, e->flags, __ATOMIC_RELAXED);
	if (e->flags & SBT_PROC_EXCLUDED)
		account_forget(e->attach, (uint32_t)(thread - e->attach->threads));
}

static uint32_t flags_of(uint32_t families)
{
	uint32_t flags = 0, i;

	if (families == ATTACH_ALL_FAMILIES)
		return SBT_PROC_EXCLUDED;
	for (i = 0; i < SBT_FAMILIES; i++)
		if (families & 1u << i)
			flags |= SBT_PROC_SHED(i);
	return flags;
}

int attach_exclude(struct attach *a, uint32_t tgid, uint32_t inc, uint32_t families)
{
	struct excluded e = { a, tgid, inc, flags_of(families) };
	int err = attach_flag_process(a, tgid, inc, e.flags, 0);

	if (!err)
		each_thread(a, exclude_thread, &e);
	return err;
}

/* --- which probes go ------------------------------------------------------------------------------- */

static bool is_met_by(const struct attach_link *link, uint32_t tgid)
{
	return !link->pid || (uint32_t)link->pid == tgid;
}

uint32_t attach_families_with(const struct attach *a, uint32_t tgid, uint32_t families)
{
	uint32_t before, i;

	/* Who waits there does so by futexes: without these probes they would seem to be barriers of their own. */
	if (families && a->futexes)
		families |= 1u << SBT_FAMILY_FUTEX;
	do {
		before = families;
		for (i = 0; i < a->nlinks; i++)
			if (is_met_by(&a->links[i], tgid) && a->links[i].families & families)
				families |= a->links[i].families;
	} while (families != before);
	return families;
}

uint32_t attach_own_families(const struct attach *a, uint32_t tgid, uint32_t families)
{
	uint32_t own = 0, shared = 0, i;

	for (i = 0; i < a->nlinks; i++) {
		if (!a->links[i].pid)
			shared |= a->links[i].families;
		else if ((uint32_t)a->links[i].pid == tgid)
			own |= a->links[i].families;
	}
	/* Seen in system calls, whoever makes them. Others that have no link any more had one that was not theirs alone. */
	own |= 1u << SBT_FAMILY_FUTEX;
	return families & own & ~shared;
}

/* --- and go ---------------------------------------------------------------------------------------- */

static bool goes(const struct attach_link *link, const struct attach_removal *all, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if ((uint32_t)link->pid != all[i].tgid)
			continue;
		if (!link->pid && link->families & all[i].families)
			return true;
		/* Its own: all of them, the loader's, too; or such as nothing else of it needs. */
		if (link->pid && (all[i].families == ATTACH_ALL_FAMILIES ||
				  (link->families && !(link->families & ~all[i].families))))
			return true;
	}
	return false;
}

static void *close_gone(void *ctx)
{
	struct attach *a = ctx;

	links_close(a->gone, a->ngone);
	return NULL;
}

/* It may take a second: meanwhile somebody must read what the others do. */
static void close_aside(struct attach *a)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	a->gone_closing = !pthread_create(&a->gone_thread, NULL, close_gone, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!a->gone_closing)
		close_gone(a);
}

void shed_wait(struct attach *a)
{
	if (a->gone_closing)
		pthread_join(a->gone_thread, NULL);
	a->gone_closing = false;
	free(a->gone);
	a->gone = NULL;
	a->ngone = 0;
}

int attach_remove(struct attach *a, const struct attach_removal *removals, uint32_t n)
{
	uint32_t i, kept = 0;

	shed_wait(a);
	a->gone = calloc(a->nlinks + 1, sizeof(*a->gone));
	if (!a->gone)
		return -ENOMEM;
	for (i = 0; i < a->nlinks; i++) {
		if (goes(&a->links[i], removals, n))
			a->gone[a->ngone++] = a->links[i];
		else
			a->links[kept++] = a->links[i];
	}
	a->nlinks = kept;
	close_aside(a);
	return 0;
}
