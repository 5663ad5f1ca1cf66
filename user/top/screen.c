// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The contents and the order of the screen, and the effect of keys. */
#include "top/screen_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

struct screen *screen_new(bool ascii)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ascii = ascii;
	/* Show the threads that arrived last most often first. */
	s->thread_sort = SCREEN_IMBALANCE;
	s->page = 1;
	return s;
}

void screen_free(struct screen *s)
{
	if (!s)
		return;
	free(s->rows);
	free(s);
}

bool screen_paused(const struct screen *s)
{
	return s->paused;
}

uint64_t screen_opened(const struct screen *s, enum screen_kind *kind)
{
	*kind = s->opened_kind;
	return s->opened;
}

const struct screen_item *screen_opened_item(const struct screen *s)
{
	array_for_each (item, s->items, s->n)
		if (item->kind == s->opened_kind && item->key == s->opened)
			return item;
	return NULL;
}

/* --- filter ----------------------------------------------------------------------------------- */

static bool contains(const char *s, const char *part)
{
	return s && strcasestr(s, part);
}

static bool matches(const struct screen_item *it, const char *filter)
{
	const char *name = it->kind == SCREEN_THREAD ? it->name : it->comm;
	char shown[300];

	/* the name as it is displayed: "gen (123)" */
	snprintf(shown, sizeof(shown), "%.256s (%u)", name ? name : "",
		 it->kind == SCREEN_THREAD ? it->tid : it->pid);
	return !*filter || contains(shown, filter) || contains(it->name, filter) ||
	       contains(it->id, filter) || contains(it->cause, filter) ||
	       contains(it->last, filter);
}

/* --- order ------------------------------------------------------------------------------------ */

/* An item, with everything that the comparison function of qsort() needs. */
struct place {
	const struct screen_item *item;
	/* the item of its process, or the item itself if it is a process; NULL: not in a tree */
	const struct screen_item *process;
	enum screen_sort sort;
	bool seen;
};

static double value_of(const struct screen_item *it, enum screen_sort sort)
{
	double v;

	switch (sort) {
	case SCREEN_RATE:
		v = it->rate;
		break;
	case SCREEN_IMBALANCE:
		v = it->kind == SCREEN_THREAD ? it->last_share : it->imbalance;
		break;
	case SCREEN_WAITING:
		if (it->kind == SCREEN_THREAD)
			return it->waiting_ns == UINT64_MAX ? -1 : (double)it->waiting_ns;
		return it->waiting ? (double)it->waiting_ns : -1;
	default:
		v = it->lost_ns;
	}
	return isfinite(v) ? v : -1;
}

static int name_cmp(const struct screen_item *a, const struct screen_item *b)
{
	const char *x = a->kind == SCREEN_PROCESS ? a->comm : a->name;
	const char *y = b->kind == SCREEN_PROCESS ? b->comm : b->name;
	int c;

	if (a->kind == SCREEN_THREAD)
		return NUMBER_COMPARE(a->index, b->index);
	c = strcmp(x ? x : "", y ? y : "");
	return c ? c : NUMBER_COMPARE(a->pid, b->pid);
}

static int item_cmp(const struct screen_item *a, const struct screen_item *b, enum screen_sort sort)
{
	double x = value_of(a, sort), y = value_of(b, sort);
	int c;

	/* Sort nested barriers last: no sum includes them. */
	if (a->nested != b->nested)
		return NUMBER_COMPARE(a->nested, b->nested);
	if (sort == SCREEN_NAME)
		c = name_cmp(a, b);
	else
		c = NUMBER_COMPARE(y, x);
	if (!c && a->kind == SCREEN_THREAD)
		c = NUMBER_COMPARE(a->index, b->index);
	return c ? c : NUMBER_COMPARE(a->key, b->key);
}

static int place_cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (!x->process || !y->process)
		return item_cmp(x->item, y->item, x->sort);
	if (x->process != y->process)
		return item_cmp(x->process, y->process, x->sort);
	if ((x->item == x->process) != (y->item == y->process))
		return x->item == x->process ? -1 : 1;
	return item_cmp(x->item, y->item, x->sort);
}

/*
 * Show a process if it or one of its barriers matches the filter, and a barrier if it or its
 * process matches. @at maps the key of a process to its index in @places.
 */
static void mark_seen(const struct screen *s, struct place *places, uint32_t n,
		      const struct hash *at)
{
	uint64_t of;

	array_for_each (p, places, n) {
		bool own = matches(p->item, s->filter);

		p->seen |= own;
		if (p->item->kind != SCREEN_BARRIER || !hash_get(at, p->item->process, &of))
			continue;
		p->seen |= matches(places[of].item, s->filter);
		places[of].seen |= own;
	}
}

static bool wanted(const struct screen *s, const struct screen_item *it)
{
	if (s->opened)
		return it->kind == SCREEN_THREAD;
	return it->kind == SCREEN_BARRIER || (it->kind == SCREEN_PROCESS && !s->flat);
}

static void find_chosen(struct screen *s)
{
	uint32_t i;

	if (!s->chosen) {
		s->at = 0;
		return;
	}
	for (i = 0; i < s->nrows; i++) {
		if (s->rows[i]->key == s->chosen) {
			s->at = i;
			return;
		}
	}
	/* The chosen row is gone: choose the row at its position. */
	if (s->at >= s->nrows)
		s->at = s->nrows ? s->nrows - 1 : 0;
	s->chosen = s->nrows ? s->rows[s->at]->key : 0;
}

static int add_places(const struct screen *s, struct place *places, uint32_t *n, struct hash *at)
{
	uint64_t of;
	uint32_t i;
	int err = 0;

	*n = 0;
	for (i = 0; i < s->n && !err; i++) {
		const struct screen_item *it = &s->items[i];

		if (!wanted(s, it))
			continue;
		if (it->kind == SCREEN_PROCESS)
			err = hash_put(at, it->key, *n);
		places[(*n)++] = (struct place){
			.item = it,
			.process = it->kind == SCREEN_PROCESS ? it : NULL,
			.sort = s->opened ? s->thread_sort : s->sort,
		};
	}
	for (i = 0; i < *n && !s->flat && !err; i++)
		if (places[i].item->kind == SCREEN_BARRIER &&
		    hash_get(at, places[i].item->process, &of))
			places[i].process = places[of].item;
	return err;
}

int screen_arrange(struct screen *s)
{
	struct place *places = calloc(s->n + 1, sizeof(*places));
	struct hash at = { 0 };
	uint32_t n = 0;
	int err = places ? grow(s->rows, s->cap_rows, s->n) : -ENOMEM;

	if (!err)
		err = add_places(s, places, &n, &at);
	s->nrows = 0;
	if (err)
		goto out;
	mark_seen(s, places, n, &at);
	qsort(places, n, sizeof(*places), place_cmp);
	array_for_each (p, places, n)
		if (p->seen)
			s->rows[s->nrows++] = p->item;
	find_chosen(s);
out:
	hash_free(&at);
	free(places);
	return err;
}

int screen_set(struct screen *s, const struct screen_facts *facts, const struct screen_item *items,
	       uint32_t n)
{
	s->facts = facts;
	s->items = items;
	s->n = n;
	return screen_arrange(s);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void choose(struct screen *s, int64_t at)
{
	if (!s->nrows)
		return;
	if (at >= s->nrows)
		at = s->nrows - 1;
	s->at = at < 0 ? 0 : (uint32_t)at;
	s->chosen = s->rows[s->at]->key;
}

static void open_chosen(struct screen *s)
{
	if (s->opened || !s->nrows)
		return;
	/* The filter belongs to the list. It applies again when the user returns to the list. */
	memcpy(s->filter_before, s->filter, sizeof(s->filter));
	s->filter[0] = '\0';
	s->opened = s->rows[s->at]->key;
	s->opened_kind = s->rows[s->at]->kind;
	s->chosen_before = s->opened;
	s->chosen = 0;
	s->scroll = 0;
}

static void close_opened(struct screen *s)
{
	if (!s->opened) {
		s->filter[0] = '\0';
		return;
	}
	s->opened = 0;
	s->chosen = s->chosen_before;
	memcpy(s->filter, s->filter_before, sizeof(s->filter));
}

static void type(struct screen *s, uint32_t key)
{
	/* high bits of the first byte of a character in UTF-8, by the number of bytes after it */
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	size_t n = strlen(s->filter), bytes, i;

	switch (key) {
	case SCREEN_ESCAPE:
		s->filter[0] = '\0';
		s->typing = false;
		return;
	case SCREEN_ENTER:
		s->typing = false;
		return;
	case SCREEN_BACKSPACE:
		while (n && ((uint8_t)s->filter[n - 1] & 0xc0) == 0x80)
			n--;
		s->filter[n ? n - 1 : 0] = '\0';
		return;
	default:
		break;
	}
	if (key < ' ' || key == 0x7f || key >= SCREEN_UP || n + 5 > sizeof(s->filter))
		return;
	bytes = key < 0x80 ? 1 : key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;
	for (i = bytes - 1; i; i--, key >>= 6)
		s->filter[n + i] = (char)(0x80 | (key & 0x3f));
	s->filter[n] = (char)(lead[bytes - 1] | key);
	s->filter[n + bytes] = '\0';
}

static void sort_by(struct screen *s, enum screen_sort sort)
{
	if (s->opened)
		s->thread_sort = sort;
	else
		s->sort = sort;
	/* Choose the first row in the new order. */
	s->chosen = 0;
	s->scroll = 0;
}

static void move(struct screen *s, uint32_t key)
{
	switch (key) {
	case SCREEN_UP:
	case 'k':
		choose(s, (int64_t)s->at - 1);
		break;
	case SCREEN_DOWN:
	case 'j':
		choose(s, (int64_t)s->at + 1);
		break;
	case SCREEN_PAGE_UP:
		choose(s, (int64_t)s->at - s->page);
		break;
	case SCREEN_PAGE_DOWN:
		choose(s, (int64_t)s->at + s->page);
		break;
	case SCREEN_HOME:
	case 'g':
		s->chosen = 0;
		break;
	case SCREEN_END:
	case 'G':
		choose(s, s->nrows);
		break;
	default:
		break;
	}
}

static void command(struct screen *s, uint32_t key)
{
	static const char sorts[SCREEN_SORTS + 1] = {
		[SCREEN_LOST] = 'l',	[SCREEN_RATE] = 'r', [SCREEN_IMBALANCE] = 'i',
		[SCREEN_WAITING] = 'w', [SCREEN_NAME] = 'n',
	};
	const char *sort;

	switch (key) {
	case SCREEN_ENTER:
	case SCREEN_RIGHT:
		open_chosen(s);
		break;
	case SCREEN_ESCAPE:
	case SCREEN_LEFT:
	case SCREEN_BACKSPACE:
		close_opened(s);
		break;
	case '/':
		s->typing = true;
		break;
	case 's':
		sort_by(s, ((s->opened ? s->thread_sort : s->sort) + 1) % SCREEN_SORTS);
		break;
	case 't':
		s->flat = !s->flat;
		break;
	case ' ':
		s->paused = !s->paused;
		break;
	case '?':
	case 'h':
		s->help = true;
		break;
	default:
		sort = key && key < 0x80 ? strchr(sorts, (int)key) : NULL;
		if (sort)
			sort_by(s, (enum screen_sort)(sort - sorts));
		else
			move(s, key);
	}
}

bool screen_key(struct screen *s, uint32_t key)
{
	if (s->typing) {
		type(s, key);
	} else if (s->help) {
		s->help = false;
	} else if (key == 'q') {
		return false;
	} else {
		command(s, key);
	}
	/* If memory runs out, no rows are shown until the next call succeeds. */
	screen_arrange(s);
	return true;
}
