/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Draws into lines that are so wide and no wider: what does not fit is left out, blanks at their ends are not written. */
#ifndef TOP_SCREEN_CLIP_H
#define TOP_SCREEN_CLIP_H

#include "top/screen.h"

struct clip {
	struct screen_lines *out;
	unsigned width, line, column;
	unsigned blanks; /* not drawn yet: nothing may follow them */
	bool ascii;
	enum screen_style base; /* of blanks, and of all that has no style of its own */
	bool solid; /* the base is everybody's style */
	bool failed;
};

/* What does not fit is left out of its middle. */
void clip_put(struct clip *p, enum screen_style style, const char *s);
/* All of it or nothing. */
void clip_put_if_room(struct clip *p, enum screen_style style, const char *s);
/* @n columns on. */
void clip_skip(struct clip *p, unsigned n);
void clip_end_line(struct clip *p);
/* What is put into so many columns. @right: at their end. */
void clip_cell(struct clip *p, enum screen_style style, unsigned width, bool right, const char *s);

#endif /* TOP_SCREEN_CLIP_H */
