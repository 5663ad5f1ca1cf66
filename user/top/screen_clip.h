/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Draw into lines of limited width. Text beyond the width and blanks at the end of a line are left
 * out.
 */
#ifndef TOP_SCREEN_CLIP_H
#define TOP_SCREEN_CLIP_H

#include "top/screen.h"

struct clip {
	struct screen_lines *out;
	unsigned width, line, column;
	unsigned blanks; /* pending blanks, drawn only if text follows */
	bool ascii;
	enum screen_style base; /* style of blanks, and of text without its own style */
	bool solid; /* draw all text in the base style */
	bool failed;
};

/* Draw @s; if it is too long, elide its middle. */
void clip_put(struct clip *p, enum screen_style style, const char *s);
/* Draw @s if it fits in full. */
void clip_put_if_room(struct clip *p, enum screen_style style, const char *s);
/* Skip @n columns. */
void clip_skip(struct clip *p, unsigned n);
void clip_end_line(struct clip *p);
/* Draw @s in @width columns, aligned right if @right. */
void clip_cell(struct clip *p, enum screen_style style, unsigned width, bool right, const char *s);

#endif /* TOP_SCREEN_CLIP_H */
