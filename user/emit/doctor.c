// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define GAP	   2
#define STATE	   7 /* "instead" */
#define CELL_LEAST 12

struct columns {
	unsigned name, left, right;
};

static const char *state_word(enum doctor_state state)
{
	static const char *const words[] = { "yes", "instead", "no", "?" };

	return words[state];
}

/* Set the first column to the widest name, and divide the remaining width between the texts. */
static struct columns measure(const struct textout *out, const struct doctor *d)
{
	struct columns c = { .name = (unsigned)strlen("FEATURE") };
	unsigned rest;

	array_for_each (f, d->features, d->n)
		if (strlen(f->name) > c.name)
			c.name = (unsigned)strlen(f->name);
	rest = c.name + STATE + 3 * GAP;
	rest = out->width > rest + 2 * CELL_LEAST ? out->width - rest : 2 * CELL_LEAST;
	c.right = rest * 2 / 5;
	c.left = rest - c.right;
	return c;
}

/*
 * Return the length in bytes of the next line of a cell, broken at a blank, or else after a slash.
 */
static size_t next_line(const char *s, unsigned columns)
{
	size_t n = 0, blank = 0, slash = 0, step;
	unsigned used = 0;
	uint32_t cp;
	char one[8];

	while (s[n]) {
		step = text_utf8((const uint8_t *)s + n, strlen(s + n), &cp);
		step = step ? step : 1;
		snprintf(one, sizeof(one), "%.*s", (int)step, s + n);
		used += textout_columns(one);
		if (used > columns)
			return blank ? blank : slash ? slash : n ? n : step;
		if (s[n] == ' ')
			blank = n;
		n += step;
		if (s[n - 1] == '/')
			slash = n;
	}
	return n;
}

/* Return one line of a cell, padded. */
static char *cell(const char *s, size_t n, unsigned columns)
{
	char *text, *out = NULL;
	unsigned used;

	if (asprintf(&text, "%.*s", (int)n, s) < 0)
		return NULL;
	used = textout_columns(text);
	if (asprintf(&out, "%s%*s", text, used < columns ? (int)(columns - used) : 0, "") < 0)
		out = NULL;
	free(text);
	return out;
}

/* Print both texts side by side, in as many lines as the longer one needs. */
static void print_cells(struct textout *out, const struct columns *c,
			const struct doctor_feature *f, const char *left, const char *right)
{
	bool wide = !*right; /* the left text has the full width */
	unsigned width = wide ? c->left + GAP + c->right : c->left;
	enum textout_style style = f->state == DOCTOR_NO && f->needed ? TEXTOUT_RED : TEXTOUT_PLAIN;
	const char *name = f->name, *state = state_word(f->state);

	do {
		size_t l = next_line(left, width), r = next_line(right, c->right);
		char *a = cell(left, l, width), *b = cell(right, r, 0);

		if (!a || !b)
			out->buf->failed = true;
		else
			textout_line(out, style, "%-*s%*s%-*s%*s%s%*s%s", (int)c->name, name, GAP,
				     "", STATE, state, GAP, "", a, wide ? 0 : GAP, "", b);
		free(a);
		free(b);
		left += l + strspn(left + l, " ");
		right += r + strspn(right + r, " ");
		name = state = "";
	} while (*left || *right);
}

static void print_feature(struct textout *out, const struct columns *c,
			  const struct doctor_feature *f)
{
	char *raw = NULL, *left = NULL, *right;

	if (asprintf(&raw, "%s%s%s", f->found, *f->found && *f->instead ? "; instead: " : "",
		     f->instead) >= 0)
		left = text_printable(raw);
	right = text_printable(f->remedy);
	if (left && right)
		print_cells(out, c, f, left, right);
	else
		out->buf->failed = true;
	free(raw);
	free(left);
	free(right);
}

void doctor_print(struct textout *out, const struct doctor *d)
{
	struct columns c = measure(out, d);
	const char *group = "";

	if (d->verdict.state == DOCTOR_YES)
		textout_line(out, TEXTOUT_BOLD, "sbt-trace can trace here");
	else
		textout_wrap(out, TEXTOUT_RED, "", 2, "sbt-trace cannot trace here: %s%s%s",
			     d->verdict.found, *d->verdict.remedy ? "; " : "", d->verdict.remedy);
	textout_blank(out);
	textout_line(out, TEXTOUT_DIM, "%-*s%*s%-*s%*s%-*s%*s%s", (int)c.name, "FEATURE", GAP, "",
		     STATE, "STATE", GAP, "", (int)c.left, "AVAILABLE, OR USED INSTEAD", GAP, "",
		     "WHAT TO DO");
	array_for_each (f, d->features, d->n) {
		if (strcmp(group, f->group) != 0)
			textout_line(out, TEXTOUT_BOLD, "%s", f->group);
		group = f->group;
		print_feature(out, &c, f);
	}
}
