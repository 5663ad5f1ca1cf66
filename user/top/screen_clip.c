// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "top/screen_clip.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "emit/textout.h"

static void add_run(struct clip *p, size_t from, enum screen_style style)
{
	struct screen_lines *o = p->out;
	struct screen_run *last = o->nruns ? &o->runs[o->nruns - 1] : NULL;

	if (last && last->line == p->line && last->style == style && last->to == from) {
		last->to = o->text.len;
		return;
	}
	if (grow(o->runs, o->cap, o->nruns + 1)) {
		p->failed = true;
		return;
	}
	o->runs[o->nruns++] = (struct screen_run){ p->line, from, o->text.len, style };
}

static void draw(struct clip *p, enum screen_style style, const char *s)
{
	size_t from = p->out->text.len;

	if (p->ascii)
		textout_ascii(&p->out->text, s);
	else
		buf_str(&p->out->text, s);
	add_run(p, from, p->solid ? p->base : style);
}

void clip_put(struct clip *p, enum screen_style style, const char *s)
{
	unsigned room = p->width > p->column ? p->width - p->column : 0;
	char *fit = textout_fit(s, room);
	unsigned after = 0;
	size_t n;

	if (!fit) {
		p->failed = true;
		return;
	}
	for (n = strlen(fit); n && fit[n - 1] == ' '; after++)
		fit[--n] = '\0';
	if (n) {
		size_t from = p->out->text.len;

		for (; p->blanks; p->blanks--)
			buf_char(&p->out->text, ' ');
		if (p->out->text.len > from)
			add_run(p, from, p->base);
		draw(p, style, fit);
		p->column += textout_columns(fit);
	}
	p->blanks += after;
	p->column += after;
	free(fit);
}

void clip_put_if_room(struct clip *p, enum screen_style style, const char *s)
{
	if (p->column + textout_columns(s) <= p->width)
		clip_put(p, style, s);
}

void clip_skip(struct clip *p, unsigned n)
{
	if (n > p->width - p->column)
		n = p->width - p->column;
	p->blanks += n;
	p->column += n;
}

void clip_end_line(struct clip *p)
{
	buf_char(&p->out->text, '\n');
	p->line++;
	p->column = p->blanks = 0;
	p->base = SCREEN_PLAIN;
	p->solid = false;
}

void clip_cell(struct clip *p, enum screen_style style, unsigned width, bool right, const char *s)
{
	char *fit = textout_fit(s, width);
	unsigned n;

	if (!fit) {
		p->failed = true;
		return;
	}
	n = textout_columns(fit);
	if (right)
		clip_skip(p, width - n);
	clip_put(p, style, fit);
	if (!right)
		clip_skip(p, width - n);
	free(fit);
}
