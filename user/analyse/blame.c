// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The causes of all episodes of a site, weighted by lost time, with the main culprits. */
#include "analyse/internal.h"
#include "analyse/places.h"
#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A site names the culprit of a cause only if the culprit has at least this share of the cause's
 * lost time. The tally may understate a culprit's time by up to a ninth of the total.
 */
#define CULPRIT_SHARE 0.4
/* A place of samples is that of page faults if it has at least this share of their time. */
#define FAULT_THERE   0.5

/* State of a cause that occurred at the site. */
struct kind_state {
	struct tally culprits[CULPRIT_LEVELS], stacks; /* sums of lost time, ns */
	/*
	 * Descriptions of the tally entries. Owned, and allocated when an entry is first used.
	 * Usually one or two entries are used.
	 */
	struct culprit_words *words[CULPRIT_LEVELS][CULPRIT_TALLY];
	/* the entry's sum when its words[] were last written, ns */
	uint64_t worded[CULPRIT_LEVELS][CULPRIT_TALLY];
	/* activities of the awaited threads; NULL if unknown. Owned */
	struct culprit_dids *dids[CULPRIT_LEVELS][CULPRIT_TALLY];
	struct stack_ref refs[CULPRIT_TALLY];
};

void blame_add(struct blame *s, const struct cause_parts *p, enum cause_kind dominant, double lost,
	       double thread_ns)
{
	double sum = lateness_positive(p->ns);
	unsigned k;

	s->episodes++;
	/* Unsigned arithmetic, because sums of a damaged recording may overflow. */
	s->lateness_ns = (int64_t)((uint64_t)s->lateness_ns + (uint64_t)p->lateness_ns);
	s->thread_ns += thread_ns;
	for (k = 0; k < CAUSE_KINDS; k++)
		s->parts[k] = (int64_t)((uint64_t)s->parts[k] + (uint64_t)p->ns[k]);
	if (dominant == CAUSE_NONE) {
		s->noise_ns += lost;
		return;
	}
	s->dominated[dominant]++;
	for (k = 0; k < CAUSE_KINDS; k++)
		if (p->ns[k] > 0)
			s->weight[k] += lost * (double)p->ns[k] / sum;
}

void blame_free(struct blame *s)
{
	unsigned k, level, i;

	for (k = 0; k < CAUSE_KINDS; k++) {
		for (level = 0; s->kinds[k] && level < CULPRIT_LEVELS; level++)
			for (i = 0; i < CULPRIT_TALLY; i++) {
				free(s->kinds[k]->words[level][i]);
				free(s->kinds[k]->dids[level][i]);
			}
		free(s->kinds[k]);
	}
}

/* Add the activity of the awaited thread in this episode. */
static int blame_did(struct culprit_dids **dids, enum culprit_level level, uint64_t ns,
		     const struct culprit_env *env, const struct culprit *q)
{
	struct culprit_did did = {
		.key = q->did,
		.tid = q->block.culprit,
		.ns = ns,
		.episodes = 1,
		.doing = (uint8_t)culprit_doing(&q->block),
	};
	struct culprit_words words;
	struct culprit_did *d;

	if (level == CULPRIT_COARSE || !q->block.ns || did.doing == MODEL_DOING_UNKNOWN)
		return 0;
	if (!*dids)
		*dids = calloc(1, sizeof(**dids));
	if (!*dids)
		return -ENOMEM;
	d = dids_add(*dids, &did);
	if (!d || !did.key || d->key != did.key || d->ns / 2 < d->worded_ns)
		return 0;
	culprit_words(env, q, d->several ? CULPRIT_NAMED : level, &words);
	d->worded_ns = d->ns;
	memcpy(d->awaits, words.awaits, sizeof(d->awaits));
	return 0;
}

/*
 * Add to a tally entry and describe the entry. Write the words again each time the sum has doubled,
 * because a new thread often has its creator's name until it sets its own.
 */
static int blame_named(struct kind_state *k, enum culprit_level level, uint64_t key, uint64_t ns,
		       const struct culprit_env *env, const struct culprit *q)
{
	struct tally *t = &k->culprits[level];
	struct culprit_words **words = k->words[level];
	uint64_t *worded = k->worded[level];
	bool fresh;
	int i, err;

	if (!key)
		return 0;
	i = tally_add(t, key, ns, &fresh);
	if (i < 0)
		return 0;
	if (fresh && k->dids[level][i])
		memset(k->dids[level][i], 0, sizeof(*k->dids[level][i]));
	err = blame_did(&k->dids[level][i], level, ns, env, q);
	if (err || (!fresh && t->ns[i] / 2 < worded[i]))
		return err;
	if (!words[i])
		words[i] = calloc(1, sizeof(*words[i]));
	if (!words[i])
		return -ENOMEM;
	worded[i] = t->ns[i];
	culprit_words(env, q, level, words[i]);
	return 0;
}

int blame_culprit(struct blame *s, const struct culprit_env *env, const struct culprit *q,
		  double lost)
{
	struct kind_state *k = s->kinds[q->kind];
	uint64_t ns = number_whole(lost);
	bool fresh;
	int i, err = 0;

	if (!k) {
		k = s->kinds[q->kind] = calloc(1, sizeof(*k));
		if (!k)
			return -ENOMEM;
	}
	if (!ns)
		return 0;
	err = blame_named(k, CULPRIT_EXACT, q->key, ns, env, q);
	if (!err)
		err = blame_named(k, CULPRIT_NAMED, q->named, ns, env, q);
	if (!err)
		err = blame_named(k, CULPRIT_COARSE, q->coarse, ns, env, q);
	if (!err && q->block.stack) {
		i = tally_add(&k->stacks,
			      culprit_key(q->block.stack, (uint64_t)q->tgid << 32 | q->inc), ns,
			      &fresh);
		if (fresh)
			k->refs[i] = (struct stack_ref){ .stack = q->block.stack,
							 .tgid = q->tgid,
							 .inc = q->inc };
	}
	return err;
}

static int join_dids(struct culprit_dids **to, const struct culprit_dids *from)
{
	struct culprit_did *d;
	unsigned i;

	if (!from)
		return 0;
	if (!*to)
		*to = calloc(1, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	for (i = 0; i < CULPRIT_DIDS; i++) {
		d = dids_add(*to, &from->one[i]);
		if (d && !d->awaits[0] && d->key == from->one[i].key)
			memcpy(d->awaits, from->one[i].awaits, sizeof(d->awaits));
	}
	return 0;
}

/* Add entry @i of @from's tally to @to. Copy its words, too, if the entry is new in @to. */
static int join_named(struct kind_state *to, const struct kind_state *from, unsigned level, int i)
{
	const struct tally *t = &from->culprits[level];
	struct culprit_words **words = to->words[level];
	bool fresh;
	int at, err;

	if (!t->ns[i] || !from->words[level][i])
		return 0;
	at = tally_add(&to->culprits[level], t->key[i], t->ns[i], &fresh);
	if (at < 0)
		return 0;
	if (fresh && to->dids[level][at])
		memset(to->dids[level][at], 0, sizeof(*to->dids[level][at]));
	err = join_dids(&to->dids[level][at], from->dids[level][i]);
	if (err || (!fresh && words[at]))
		return err;
	if (!words[at])
		words[at] = malloc(sizeof(*words[at]));
	if (!words[at])
		return -ENOMEM;
	*words[at] = *from->words[level][i];
	to->worded[level][at] = to->culprits[level].ns[at];
	return 0;
}

static int join_kind(struct kind_state **to, const struct kind_state *from)
{
	unsigned level;
	int i, err = 0;

	if (!*to)
		*to = calloc(1, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	for (level = 0; level < CULPRIT_LEVELS; level++)
		for (i = 0; i < CULPRIT_TALLY && !err; i++)
			err = join_named(*to, from, level, i);
	return err;
}

int blame_join(struct blame *to, const struct blame *from)
{
	unsigned k;
	int err = 0;

	to->episodes += from->episodes;
	to->lateness_ns = (int64_t)((uint64_t)to->lateness_ns + (uint64_t)from->lateness_ns);
	to->noise_ns += from->noise_ns;
	to->thread_ns += from->thread_ns;
	for (k = 0; k < CAUSE_KINDS && !err; k++) {
		to->parts[k] = (int64_t)((uint64_t)to->parts[k] + (uint64_t)from->parts[k]);
		to->weight[k] += from->weight[k];
		to->dominated[k] += from->dominated[k];
		if (from->kinds[k])
			err = join_kind(&to->kinds[k], from->kinds[k]);
	}
	return err;
}

/* The culprit that represents one cause of a site. */
struct site_culprit {
	const struct culprit_words *words; /* NULL if no culprit has a large enough share */
	const struct culprit_dids *dids; /* NULL if unknown */
	uint64_t ns;
};

static struct site_culprit site_culprit(const struct blame *s, enum cause_kind k)
{
	const struct kind_state *ks = s->kinds[k];
	double enough = CULPRIT_SHARE * s->weight[k];
	struct site_culprit c = { 0 };
	unsigned level;
	int i;

	for (level = 0; ks && level < CULPRIT_LEVELS; level++) {
		i = tally_top(&ks->culprits[level]);
		if (i < 0 || (double)ks->culprits[level].ns[i] < enough)
			continue;
		c.words = ks->words[level][i];
		c.dids = ks->dids[level][i];
		c.ns = ks->culprits[level].ns[i];
		break;
	}
	return c;
}

/* Return whether a stack of a block shows the place of a cause. */
static bool has_stack(const struct blame *s, enum cause_kind k)
{
	return s->kinds[k] && tally_top(&s->kinds[k]->stacks) >= 0;
}

bool cause_is_work(enum cause_kind k)
{
	return k == CAUSE_WORK || k == CAUSE_MORE_WORK || k == CAUSE_SLOWER_WORK;
}

static const char *site_clause(const struct blame *s, enum cause_kind k,
			       const struct places_words *where,
			       char out[CULPRIT_CLAUSE + CULPRIT_NAME])
{
	struct site_culprit c = site_culprit(s, k);

	snprintf(out, CULPRIT_CLAUSE + CULPRIT_NAME, "%s",
		 c.words ? c.words->clause : culprit_clause(k));
	if (c.words && c.dids)
		dids_append(c.dids, c.ns, out, CULPRIT_CLAUSE + CULPRIT_NAME);
	if (where && *where->clause && cause_is_work(k))
		name_append(out, CULPRIT_CLAUSE + CULPRIT_NAME, " (%s)", where->clause);
	return out;
}

/*
 * Write the sentence on the causes of a site. @shares, indexed by cause, are shares of the quantity
 * that @of names.
 */
static void site_text(const struct blame *s, enum cause_kind top, const double *shares,
		      const char *of, const struct places_words *where, struct report_cause *out)
{
	char clause[CULPRIT_CLAUSE + CULPRIT_NAME];
	enum cause_kind second = CAUSE_NONE;
	unsigned k;

	for (k = 0; k < CAUSE_KINDS; k++)
		if (k != top && shares[k] > 0 &&
		    (second == CAUSE_NONE || shares[k] > shares[second]))
			second = k;
	name_append(out->text, sizeof(out->text),
		    "Late %s because %s: %d %% of %s, in %llu of %llu episode%s",
		    out->share >= 0.5 ? "mostly" : "mainly", site_clause(s, top, where, clause),
		    text_percent(out->share), of, (unsigned long long)out->dominated,
		    (unsigned long long)out->episodes, out->episodes == 1 ? "" : "s");
	cause_end_text(out, second == CAUSE_NONE ? 0 : shares[second],
		       second == CAUSE_NONE ? NULL : site_clause(s, second, where, clause));
	/*
	 * A page fault that is handled on a CPU blocks no thread, so no stack of a block shows its
	 * place. The samples do, if most of the additional time on a CPU is at one place, and if
	 * this is also most of the time of the page faults.
	 */
	if (where && *where->at && top == CAUSE_FAULT && !has_stack(s, top) &&
	    where->more_ns >= FAULT_THERE * (double)s->parts[CAUSE_FAULT])
		name_append(out->text, sizeof(out->text), " At %s.", where->at);
}

/*
 * Set the share of each cause in the lost time. If a cause other than *top has the largest part of
 * the lateness, set shares of the lateness instead and set *top to that cause, so that the sentence
 * names the largest row of the table printed below it. Return the name of the quantity to which the
 * shares refer.
 */
static const char *shares_of(const struct blame *s, enum cause_kind *top, double lost,
			     double *shares)
{
	enum cause_kind part = lateness_largest(s->parts, CAUSE_NONE);
	double sum = lateness_positive(s->parts);
	bool same = part == CAUSE_NONE || s->parts[part] <= s->parts[*top];
	unsigned k;

	for (k = 0; k < CAUSE_KINDS; k++)
		shares[k] = same	      ? s->weight[k] / lost
			    : s->parts[k] > 0 ? (double)s->parts[k] / sum
					      : 0;
	if (!same)
		*top = part;
	return same ? "the lost time" : "the lateness";
}

int blame_out(const struct blame *s, const struct cause_env *env,
	      const struct report_env *report_env, const struct places_words *where,
	      struct arena *a, struct report_cause *out)
{
	const struct culprit_words *w;
	struct site_culprit c;
	enum cause_kind top = CAUSE_NONE;
	double named = 0, lost, shares[CAUSE_KINDS];
	const char *of;
	unsigned k;
	int i;

	cause_set_parts(s->parts, out);
	out->lateness_ns = (uint64_t)s->lateness_ns;
	out->episodes = s->episodes;
	for (k = 0; k < CAUSE_KINDS; k++) {
		named += s->weight[k];
		if (s->weight[k] > 0 && (top == CAUSE_NONE || s->weight[k] > s->weight[top]))
			top = k;
	}
	lost = named + s->noise_ns;
	/* If the site as a whole is balanced, single late episodes are no reason for advice. */
	if (top == CAUSE_NONE || named < CAUSE_LITTLE * s->thread_ns)
		return 0;
	of = shares_of(s, &top, lost, shares);
	out->dominant = cause_row(top);
	out->share = shares[top];
	out->dominated = s->dominated[top];
	c = site_culprit(s, top);
	w = c.words;
	out->waited = w ? w->waited : WAITED_LOCK;
	out->doing =
		w && w->doing_matters && c.dids ? dids_most(c.dids, c.ns) : MODEL_DOING_UNKNOWN;
	if (w && w->name[0]) {
		out->culprit = arena_string(a, w->name);
		if (!out->culprit)
			return -ENOMEM;
	}
	site_text(s, top, shares, of, where, out);
	i = s->kinds[top] ? tally_top(&s->kinds[top]->stacks) : -1;
	return i < 0 ? 0 : cause_set_frames(a, env, report_env, &s->kinds[top]->refs[i], out);
}
