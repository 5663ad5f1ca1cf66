// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "sbt/record.h"
#include "recording/ordinal.h"
#include "sites/family.h"

struct source {
	struct contents *contents;
	struct contents_item item; /* the next item, if `has` */
	bool has;
	uint64_t key_ns; /* its time by the first clock; never decreases */
	uint64_t known_ns; /* all items with a departure before this time have been read */
	struct hash sites; /* site of the recording -> site of the merge */
	struct hash teams; /* MPI communicator -> number of its ranks in this recording */
	uint64_t salt; /* distinguishes shared memory of other hosts; 0: on the first host */
	struct ordinals ordinals;
	bool numbered; /* ordinals are right: no lost record can have shifted them */
	uint64_t ordinal; /* ordinal of the next item; 0: none, or unknown */
	uint64_t unnumbered; /* number of MPI crossings without an ordinal */
	/* added to the source's times if the clocks are aligned by the time of day */
	int64_t day_ns;
	struct align_found found;
};

struct merge {
	uint32_t n;
	struct source *sources;
	struct align *align; /* offsets of the clocks; NULL: a single recording */
	struct ordinal_order order;
	struct hash by_place; /* place_of() of a site -> site of the merge */
	const struct site_name **names; /* names of sites, by site of the merge */
	uint32_t nnames, cap;
	uint64_t end_ns; /* the latest end of any recording */
	uint64_t advanced_ns;
	bool finished;
};

/* --- clocks ----------------------------------------------------------------------------------- */

static uint64_t by_first(const struct merge *m, const struct source *s, uint64_t t)
{
	uint64_t there;

	/* 0: the item has no time. */
	if (!m->align || t == MODEL_UNKNOWN || !t)
		return t;
	there = s->found.sync_points || s == m->sources
			? align_time(m->align, (uint32_t)(s - m->sources), t)
			: t + (uint64_t)s->day_ns;
	/* A time before the first clock began is in no valid recording. */
	return there > INT64_MAX ? 1 : there;
}

static bool same_host(const struct contents *a, const struct contents *b)
{
	const char *x = contents_began(a)->host, *y = contents_began(b)->host;

	return x && y && !strcmp(x, y);
}

/*
 * Note the number of ranks of a communicator in this recording: the ranks that the recording
 * sbt-trace could see. The sum of these numbers over all recordings is the size of the
 * communicator.
 */
static int note_team(struct source *s, const struct model_input *in)
{
	const struct model_crossing *x = in->type == MODEL_INPUT_CROSSING ? in->crossing : NULL;
	uint64_t had = 0;

	if (!x || !family_has(x->family, FAMILY_RANKS) || !x->shared)
		return 0;
	hash_get(&s->teams, x->shared, &had);
	return x->count > had ? hash_put(&s->teams, x->shared, x->count) : 0;
}

static uint32_t team_of(const struct merge *m, uint64_t shared)
{
	uint64_t sum = 0, n;

	array_for_each (s, m->sources, m->n)
		if (hash_get(&s->teams, shared, &n))
			sum += n;
	return sum < UINT32_MAX ? (uint32_t)sum : 0;
}

/*
 * Return whether gaps in the numbers of calls show all losses. Calls that were lost before the
 * first recorded call of a thread leave no gap. If all calls of a thread were lost, there is no gap
 * either.
 */
static bool shows_all_losses(const struct contents *contents)
{
	static const char *const hidden[] = { "not_examined", "no_thread_slot", "no_process_slot" };
	const struct contents_ending *e = contents_ended(contents);
	uint32_t i, k;

	for (i = 0; e && i < e->nlosses; i++)
		for (k = 0; k < sizeof(hidden) / sizeof(hidden[0]); k++)
			if (e->losses[i].count && e->losses[i].cause &&
			    !strcmp(e->losses[i].cause, hidden[k]))
				return false;
	return true;
}

static int learn_item(struct merge *m, uint32_t i, const struct model_input *in, bool first)
{
	struct source *s = &m->sources[i];
	uint64_t ordinal;
	int err = ordinals_take(&s->ordinals, in, &ordinal);

	if (!err && ordinal)
		err = first ? ordinal_order_add(&m->order, in->crossing->shared, ordinal)
			    : ordinal_order_remove(&m->order, in->crossing->shared, ordinal);
	if (err || !first)
		return err;
	if (ordinal)
		err = align_crossing(m->align, i, in->crossing, ordinal);
	return err ? err : note_team(s, in);
}

static int learn_all(struct merge *m, uint32_t i, bool first)
{
	struct source *s = &m->sources[i];
	struct contents_item item;
	int got = 0, err = 0;

	while (!err && (got = contents_next(s->contents, &item)) > 0)
		if (item.kind == CONTENTS_ITEM_INPUT)
			err = learn_item(m, i, &item.input, first);
	ordinals_free(&s->ordinals);
	if (err || got < 0)
		return err ? err : got;
	return contents_rewind(s->contents);
}

/*
 * Learn the ordinals of a recording. Its losses are known only at its end. If they make the
 * ordinals uncertain, forget the ordinals again.
 */
static int learn_source(struct merge *m, uint32_t i)
{
	struct source *s = &m->sources[i];
	int err = learn_all(m, i, true);

	if (err)
		return err;
	s->numbered = shows_all_losses(s->contents);
	if (s->numbered)
		return 0;
	align_drop(m->align, i);
	return learn_all(m, i, false);
}

static int compare_clocks(struct merge *m)
{
	uint32_t i;
	int err;

	m->align = align_new(m->n);
	if (!m->align)
		return -ENOMEM;
	for (i = 0; i < m->n; i++) {
		err = learn_source(m, i);
		if (err)
			return err;
	}
	ordinal_order_rewind(&m->order);
	err = align_solve(m->align);
	for (i = 0; i < m->n; i++) {
		struct source *s = &m->sources[i];

		align_look(m->align, i, &s->found);
		s->day_ns = contents_began(s->contents)->realtime_offset_ns -
			    contents_began(m->sources[0].contents)->realtime_offset_ns;
		if (!same_host(s->contents, m->sources[0].contents))
			s->salt = hash_mix(i + 1);
	}
	return err;
}

int merge_new(struct contents **contents, uint32_t n, struct merge **out)
{
	struct merge *m = calloc(1, sizeof(*m));
	uint32_t i;
	int err = 0;

	if (m)
		m->sources = calloc(n, sizeof(*m->sources));
	if (!m || !m->sources) {
		for (i = 0; i < n; i++)
			contents_free(contents[i]);
		free(m);
		return -ENOMEM;
	}
	m->n = n;
	for (i = 0; i < n; i++)
		m->sources[i].contents = contents[i];
	if (n > 1)
		err = compare_clocks(m);
	if (err) {
		merge_free(m);
		return err;
	}
	*out = m;
	return 0;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	array_for_each (s, m->sources, m->n) {
		contents_free(s->contents);
		hash_free(&s->sites);
		hash_free(&s->teams);
		ordinals_free(&s->ordinals);
	}
	ordinal_order_free(&m->order);
	align_free(m->align);
	hash_free(&m->by_place);
	free(m->names);
	free(m->sources);
	free(m);
}

uint64_t merge_start(const struct merge *m)
{
	uint64_t first = UINT64_MAX;

	array_for_each (s, m->sources, m->n) {
		uint64_t t = by_first(m, s, contents_began(s->contents)->model_start_ns);

		first = t < first ? t : first;
	}
	return first;
}

/* --- sites ------------------------------------------------------------------------------------ */

/* Sites of an interpreter's code have no offset, only names and a line. */
static uint64_t place_of_frame(const struct site_name *name, uint64_t h)
{
	const struct site_frame *f = name->frames;
	const char *const words[] = { f->function, f->file, name->through };

	array_for_each (word, words, sizeof(words) / sizeof(words[0])) {
		const char *text = *word ? *word : "";

		h = text_hash(h, text, strlen(text) + 1);
	}
	return text_hash(h, &f->line, sizeof(f->line));
}

/*
 * Return the key that is equal for equal sites of two recordings: offset, label, and the build ID
 * or else the path.
 */
static uint64_t place_of(const struct site_name *name)
{
	const char *module = name->build_id ? name->build_id : name->module ? name->module : "";
	uint64_t h = text_hash(TEXT_HASH_INIT, module, strlen(module));

	h = text_hash(h, &name->offset, sizeof(name->offset));
	if (!name->offset && name->nframes)
		h = place_of_frame(name, h);
	return name->label ? text_hash(h, name->label, strlen(name->label)) : h;
}

/* Return MODEL_NONE if out of memory. */
static uint32_t site_of(struct merge *m, struct source *s, uint32_t site)
{
	const struct site_name *name = contents_site_name(s->contents, site);
	uint64_t number, place = name ? place_of(name) : 0;

	if (!m->align)
		return site;
	if (hash_get(&s->sites, site, &number))
		return (uint32_t)number;
	if (!name || !hash_get(&m->by_place, place, &number)) {
		if (grow(m->names, m->cap, m->nnames + 1))
			return MODEL_NONE;
		number = m->nnames;
		m->names[m->nnames++] = name;
		if (name && hash_put(&m->by_place, place, number))
			return MODEL_NONE;
	}
	return hash_put(&s->sites, site, number) ? MODEL_NONE : (uint32_t)number;
}

const struct site_name *merge_site_name(const struct merge *m, uint32_t site)
{
	if (!m->align)
		return contents_site_name(m->sources[0].contents, site);
	return site < m->nnames ? m->names[site] : NULL;
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool same_answer(const struct contents_answer *a, const struct contents_answer *b)
{
	return a->text && b->text ? !strcmp(a->text, b->text) : a->text == b->text;
}

/*
 * Return whether the question is about a process. A tgid and its incarnation identify the process
 * on all machines.
 */
static bool is_of_process(const struct contents_question *q)
{
	return q->kind != CONTENTS_TASK && q->kind != CONTENTS_FILE;
}

static const struct contents_answer *find(const struct merge *m, const struct contents_question *q,
					  uint32_t *by)
{
	const struct contents_answer *found = NULL, *a;
	uint32_t i;

	for (i = 0; i < m->n; i++) {
		a = contents_find(m->sources[i].contents, q);
		if (a && found && !same_answer(a, found))
			return NULL;
		if (a && !found) {
			found = a;
			*by = i;
		}
		if (found && is_of_process(q))
			break;
	}
	return found;
}

const struct contents_answer *merge_find(const struct merge *m, const struct contents_question *q)
{
	uint32_t by;

	return find(m, q, &by);
}

uint32_t merge_stack(struct merge *m, const struct contents_question *q, uint32_t *sites,
		     uint32_t max)
{
	uint32_t by = 0, i;
	const struct contents_answer *a = find(m, q, &by);

	for (i = 0; a && i < a->nsites && i < max; i++)
		sites[i] = site_of(m, &m->sources[by], a->sites[i]);
	return i;
}

/* --- in order --------------------------------------------------------------------------------- */

/*
 * Find the ordinal of the call on its communicator. The ordinal, not the time, decides which calls
 * form an episode.
 */
static int number(struct source *s, const struct contents_item *item)
{
	int err;

	s->ordinal = 0;
	if (item->kind != CONTENTS_ITEM_INPUT)
		return 0;
	err = s->numbered ? ordinals_take(&s->ordinals, &item->input, &s->ordinal) : 0;
	if (err || !ordinal_is_due(&item->input))
		return err;
	if (s->ordinal > UINT32_MAX)
		s->ordinal = 0;
	s->unnumbered += !s->ordinal;
	if (s->ordinal) {
		item->crossing->round = (uint32_t)s->ordinal;
		item->crossing->ordinal = true;
	}
	return 0;
}

static int translate_crossing(struct merge *m, struct source *s, struct model_crossing *x)
{
	x->first_ns = by_first(m, s, x->first_ns);
	x->depart_ns = by_first(m, s, x->depart_ns);
	x->site = site_of(m, s, x->site);
	/* Shared memory is local to a machine, but a communicator of MPI belongs to the job. */
	if (x->shared && !family_has(x->family, FAMILY_RANKS))
		x->shared ^= s->salt;
	else if (x->shared && x->count)
		x->count = team_of(m, x->shared);
	return x->site == MODEL_NONE ? -ENOMEM : 0;
}

/* Convert times and sites to the first recording's times and sites. */
static int translate(struct merge *m, struct source *s)
{
	struct contents_item *item = &s->item;
	struct report_hang *h = item->own_hang;

	if (!m->align)
		return 0;
	if (item->kind == CONTENTS_ITEM_HANG) {
		h->t_ns = by_first(m, s, h->t_ns);
		h->since_ns = by_first(m, s, h->since_ns);
		array_for_each (a, h->arrived, h->narrived)
			a->arrive_ns = by_first(m, s, a->arrive_ns);
		return 0;
	}
	switch (item->input.type) {
	case MODEL_INPUT_CROSSING:
		return translate_crossing(m, s, item->crossing);
	case MODEL_INPUT_MARK:
		item->mark->t_ns = by_first(m, s, item->mark->t_ns);
		item->mark->site = site_of(m, s, item->mark->site);
		return item->mark->site == MODEL_NONE ? -ENOMEM : 0;
	case MODEL_INPUT_MESSAGE:
		item->message->t_ns = by_first(m, s, item->message->t_ns);
		return 0;
	case MODEL_INPUT_SAMPLE:
		item->sample->t_ns = by_first(m, s, item->sample->t_ns);
		return 0;
	case MODEL_INPUT_ACTIVITY:
		item->activity->end_ns = by_first(m, s, item->activity->end_ns);
		return 0;
	default:
		item->input.t_ns = by_first(m, s, item->input.t_ns);
		return 0;
	}
}

static uint64_t key_of(const struct contents_item *item)
{
	const struct model_input *in = &item->input;

	if (item->kind == CONTENTS_ITEM_HANG)
		return item->hang->t_ns;
	switch (in->type) {
	case MODEL_INPUT_CROSSING:
		return in->crossing->depart_ns == MODEL_UNKNOWN ? in->crossing->first_ns
								: in->crossing->depart_ns;
	case MODEL_INPUT_MARK:
		return in->mark->t_ns;
	case MODEL_INPUT_MESSAGE:
		return in->message->t_ns;
	case MODEL_INPUT_SAMPLE:
		return in->sample->t_ns;
	case MODEL_INPUT_ACTIVITY:
		return in->activity->end_ns;
	default:
		return in->t_ns;
	}
}

/* Read the next item of @s, unless one has been read already. Return 0 or -errno. */
static int look_ahead(struct merge *m, struct source *s)
{
	uint64_t key;
	int got;

	if (s->has || s->key_ns == UINT64_MAX)
		return 0;
	got = contents_next(s->contents, &s->item);
	if (got <= 0) {
		s->key_ns = s->known_ns = UINT64_MAX;
		return got;
	}
	got = m->align ? number(s, &s->item) : 0;
	if (!got)
		got = translate(m, s);
	key = key_of(&s->item);
	/*
	 * MODEL_INPUT_ADVANCE may have the time UINT64_MAX, and more items follow it. A key_ns of
	 * UINT64_MAX would end the recording here.
	 */
	if (key > s->key_ns && key != UINT64_MAX)
		s->key_ns = key;
	s->has = !got;
	return got;
}

/*
 * Limit MODEL_INPUT_ADVANCE to the time up to which all recordings have been read. Return false if
 * this time is not later than that of the last MODEL_INPUT_ADVANCE.
 */
static bool advance(struct merge *m, struct source *s, struct contents_item *item)
{
	uint64_t known = UINT64_MAX;
	uint32_t i;

	if (item->input.t_ns > s->known_ns)
		s->known_ns = item->input.t_ns;
	for (i = 0; i < m->n; i++)
		known = m->sources[i].known_ns < known ? m->sources[i].known_ns : known;
	item->input.t_ns = known;
	if (known <= m->advanced_ns)
		return false;
	m->advanced_ns = known;
	return true;
}

static bool handed_out(struct merge *m, struct source *s, struct contents_item *item)
{
	if (!m->align || item->kind != CONTENTS_ITEM_INPUT)
		return true;
	if (item->input.type == MODEL_INPUT_ADVANCE)
		return advance(m, s, item);
	if (item->input.type != MODEL_INPUT_FINISH)
		return true;
	if (item->input.t_ns > m->end_ns)
		m->end_ns = item->input.t_ns;
	s->known_ns = UINT64_MAX;
	return false;
}

static int finish(struct merge *m, struct contents_item *out)
{
	if (!m->align || m->finished || !m->end_ns)
		return 0;
	m->finished = true;
	*out = (struct contents_item){ .kind = CONTENTS_ITEM_INPUT,
				       .input = { .type = MODEL_INPUT_FINISH, .t_ns = m->end_ns } };
	return 1;
}

static bool is_due(const struct merge *m, const struct source *s)
{
	return !s->ordinal ||
	       ordinal_order_is_due(&m->order, s->item.input.crossing->shared, s->ordinal);
}

/*
 * Find the source with the earliest item that is due by the order of ordinals. If no item is due,
 * find the source with the earliest item. *out is NULL if there are no more. Return 0 or -errno.
 */
static int find_next(struct merge *m, struct source **out)
{
	struct source *due = NULL, *first = NULL;
	int err;

	array_for_each (s, m->sources, m->n) {
		err = look_ahead(m, s);
		if (err)
			return err;
		if (!s->has)
			continue;
		if (!first || s->key_ns < first->key_ns)
			first = s;
		if ((!due || s->key_ns < due->key_ns) && is_due(m, s))
			due = s;
	}
	if (!due && first)
		ordinal_order_drop(&m->order, first->item.input.crossing->shared);
	*out = due ? due : first;
	return 0;
}

int merge_next(struct merge *m, struct contents_item *out)
{
	struct source *first;
	int err;

	if (!m->align)
		return contents_next(m->sources[0].contents, out);
	do {
		err = find_next(m, &first);
		if (err)
			return err;
		if (!first)
			return finish(m, out);
		first->has = false;
		*out = first->item;
		if (first->ordinal)
			ordinal_order_give(&m->order, out->input.crossing->shared, first->ordinal);
	} while (!handed_out(m, first, out));
	return 1;
}

int merge_rewind(struct merge *m)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < m->n && !err; i++) {
		m->sources[i].has = false;
		m->sources[i].key_ns = m->sources[i].known_ns = 0;
		m->sources[i].unnumbered = 0;
		ordinals_free(&m->sources[i].ordinals);
		err = contents_rewind(m->sources[i].contents);
	}
	ordinal_order_rewind(&m->order);
	m->end_ns = m->advanced_ns = 0;
	m->finished = false;
	return err;
}

/* --- facts ------------------------------------------------------------------------------------ */

uint32_t merge_count(const struct merge *m)
{
	return m->n;
}

const struct contents *merge_contents(const struct merge *m, uint32_t i)
{
	return m->sources[i].contents;
}

void merge_clock(const struct merge *m, uint32_t i, struct merge_clock *out)
{
	*out = (struct merge_clock){ .found = m->sources[i].found,
				     .unnumbered = m->sources[i].unnumbered,
				     .host = contents_began(m->sources[i].contents)->host };
}

enum contents_state merge_state(const struct merge *m)
{
	enum contents_state worst = CONTENTS_INTACT, state;

	array_for_each (s, m->sources, m->n) {
		state = contents_state(s->contents);
		worst = state > worst ? state : worst;
	}
	return worst;
}
