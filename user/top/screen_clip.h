/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Draws into lines that are so wide and no wider: what does not fit is left out, blanks at their ends are not written. */
#ifndef TOP_SCREEN_CLIP_H
#define TOP_SCREEN_CLIP_H

#include "top/screen.h"

struct pen {
	struct screen_lines *out;
	unsigned width, line, column;
	unsigned blanks; /* not drawn yet: nothing may follow them */
	bool ascii;
	enum screen_style base; /* of blanks, and of all that has no style of its own */
	bool solid; /* the base is everybody's style */
	bool failed;
};

/* What does not fit is left out of its middle. */
void pen_put(struct pen *p, enum screen_style style, const char *s);
/* All of it or nothing. */
void pen_put_if_room(struct pen *p, enum screen_style style, const char *s);
/* @n columns on. */
void pen_skip(struct pen *p, unsigned n);
void pen_end_line(struct pen *p);
/* What is put into so many columns. @right: at their end. */
void pen_cell(struct pen *p, enum screen_style style, unsigned width, bool right, const char *s);

#endif /* TOP_SCREEN_CLIP_H */
