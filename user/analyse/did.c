// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The activity of the awaited thread while a late thread waited for it. The activity may differ
 * between episodes.
 */
#include "analyse/internal.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* If an activity has at least this share of the time, only this activity is reported. */
#define DID_ALL	   0.9
/* An activity with a smaller share of the time is not reported. */
#define DID_LITTLE 0.1
/*
 * The thread for which the awaited thread waited is named if it accounts for at least this share of
 * the activity's time.
 */
#define DID_NAMED  0.4
/* Advice is based on an activity with at least this share of the time. */
#define DID_MOST   0.6

#define DOINGS (MODEL_DOING_BLOCKED + MODEL_BLOCKED_REASONS)

/* The sum of all entries with the same activity. */
struct did {
	uint64_t ns, episodes;
	uint8_t doing;
	bool among;
	/*
	 * the entry with the most time among the entries with `awaits`; any entry if no entry has
	 * `awaits`
	 */
	const struct culprit_did *top;
};

static const char *blocked_words(unsigned reason)
{
	static const char *const words[] = {
		[MODEL_BLOCKED_LOCK] = "itself waited for a lock or another thread",
		[MODEL_BLOCKED_IO] = "was waiting for I/O",
		[MODEL_BLOCKED_FAULT] = "was handling a page fault",
		[MODEL_BLOCKED_SLEEP] = "was asleep",
		[MODEL_BLOCKED_THROTTLED] =
			"was throttled because its cgroup had used up its CPU quota",
		[MODEL_BLOCKED_OTHER] = "was blocked itself",
		[MODEL_BLOCKED_GIL] = "itself waited for the GIL",
	};

	return reason < MODEL_BLOCKED_REASONS ? words[reason] : NULL;
}

void culprit_append_did(uint8_t doing, const char *awaits, bool among, char *out, size_t size)
{
	const char *others = among ? " (among others)" : "", *words;

	switch ((unsigned)doing) {
	case MODEL_DOING_UNKNOWN:
		return;
	case MODEL_DOING_ONCPU:
		name_append(out, size, "was on a CPU");
		return;
	case MODEL_DOING_RUNQ:
		name_append(out, size, "itself was waiting for a CPU");
		if (awaits[0])
			name_append(out, size, " that %s had%s", awaits, others);
		return;
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_LOCK:
		if (awaits[0]) {
			name_append(out, size, "itself waited for a lock held by %s%s", awaits,
				    others);
			return;
		}
		break;
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_GIL:
		name_append(out, size, "itself waited for the GIL");
		if (awaits[0])
			name_append(out, size, " held by %s%s", awaits, others);
		return;
	}
	words = blocked_words(doing - MODEL_DOING_BLOCKED);
	if (words)
		name_append(out, size, "%s", words);
}

struct culprit_did *dids_add(struct culprit_dids *dids, const struct culprit_did *from)
{
	struct culprit_did *d, *same = NULL, *unused = NULL;
	unsigned i;

	if (from->doing == MODEL_DOING_UNKNOWN || from->doing >= DOINGS || !from->ns)
		return NULL;
	for (i = 0; i < CULPRIT_DIDS; i++) {
		d = &dids->one[i];
		if (!d->ns) {
			unused = unused ? unused : d;
		} else if (d->doing == from->doing) {
			if (d->key == from->key)
				break;
			same = d;
		}
	}
	if (i == CULPRIT_DIDS) {
		d = unused;
		if (d)
			*d = (struct culprit_did){ .key = from->key,
						   .tid = from->tid,
						   .doing = from->doing };
		else
			d = same;
		if (!d)
			return NULL;
		d->among |= !unused;
	}
	d->ns += from->ns;
	d->episodes += from->episodes;
	d->among |= from->among;
	if (!d->several && (from->several || d->tid != from->tid)) {
		d->several = true;
		d->worded_ns = 0;
	}
	return d;
}

/* Sum up the time by activity, with the largest sum first. Return the number of sums. */
static unsigned by_doing(const struct culprit_dids *dids, struct did *out)
{
	unsigned n = 0, i, k;
	struct did swap;

	array_for_each (d, dids->one, CULPRIT_DIDS) {
		if (!d->ns)
			continue;
		for (k = 0; k < n && out[k].doing != d->doing; k++)
			;
		if (k == n)
			out[n++] = (struct did){ .doing = d->doing, .top = d };
		out[k].ns += d->ns;
		out[k].episodes += d->episodes;
		out[k].among |= d->among;
		/* Prefer an entry that names what the awaited thread waited for. */
		if (d->awaits[0] && (!out[k].top->awaits[0] || d->ns > out[k].top->ns))
			out[k].top = d;
	}
	for (i = 1; i < n; i++)
		for (k = i; k && out[k].ns > out[k - 1].ns; k--) {
			swap = out[k];
			out[k] = out[k - 1];
			out[k - 1] = swap;
		}
	return n;
}

static double share_of(uint64_t ns, uint64_t all_ns)
{
	double share = all_ns ? (double)ns / (double)all_ns : 0;

	return share < 1 ? share : 1;
}

void dids_append(const struct culprit_dids *dids, uint64_t all_ns, char *out, size_t size)
{
	struct did did[CULPRIT_DIDS];
	unsigned n = by_doing(dids, did), shown = 0, i;
	bool all = n && share_of(did[0].ns, all_ns) >= DID_ALL;

	for (i = 0; i < n && share_of(did[i].ns, all_ns) >= DID_LITTLE; i++)
		shown++;
	if (all)
		shown = 1;
	for (i = 0; i < shown; i++) {
		double named = share_of(did[i].top->ns, did[i].ns);
		bool among = did[i].among || named < DID_ALL;

		name_append(out, size, "%s", !i ? ", which " : i + 1 == shown ? " and " : ", ");
		culprit_append_did(did[i].doing, named >= DID_NAMED ? did[i].top->awaits : "",
				   among, out, size);
		if (!all)
			name_append(out, size, " in %llu%s (%d %%)",
				    (unsigned long long)did[i].episodes,
				    i			   ? ""
				    : did[i].episodes == 1 ? " episode"
							   : " episodes",
				    text_percent(share_of(did[i].ns, all_ns)));
	}
}

uint8_t dids_most(const struct culprit_dids *dids, uint64_t all_ns)
{
	struct did did[CULPRIT_DIDS];
	unsigned n = by_doing(dids, did);

	return n && share_of(did[0].ns, all_ns) >= DID_MOST ? did[0].doing : MODEL_DOING_UNKNOWN;
}
