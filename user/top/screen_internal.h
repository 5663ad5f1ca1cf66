/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What screen.c decides, and others draw. Nobody else includes it. */
#ifndef TOP_SCREEN_INTERNAL_H
#define TOP_SCREEN_INTERNAL_H

#include "top/screen.h"

#define SCREEN_FILTER_MAX 64

struct screen {
	const struct screen_facts *facts;
	const struct screen_item *items;
	uint32_t n;

	const struct screen_item **rows; /* those to be seen, in order */
	uint32_t nrows, cap_rows;

	enum screen_sort sort, thread_sort;
	bool ascii;
	bool flat; /* barriers without their processes */
	bool paused;
	bool help;
	bool typing; /* the filter */
	char filter[SCREEN_FILTER_MAX];
	char filter_before[SCREEN_FILTER_MAX]; /* while a row is opened */

	uint64_t opened; /* whose threads are shown; 0: nobody's */
	enum screen_kind opened_kind;
	uint64_t chosen,
		chosen_before; /* keys; 0: the first row, whichever it is. Before the threads were shown */
	uint32_t at; /* its place */
	uint32_t scroll; /* the first row that is drawn */
	uint32_t page; /* how many there was room for */
};

/* The item whose threads are shown; NULL: it is gone. */
const struct screen_item *screen_opened_item(const struct screen *s);
/* Which rows are to be seen, and where the chosen one stands. Returns 0 or -ENOMEM. */
int screen_arrange(struct screen *s);

struct clip;
/* What is looked at, for how long; one line. */
void screen_draw_title(struct clip *p, const struct screen *s);
/* The answer, before anything else; one line. */
void screen_draw_answer(struct clip *p, const struct screen *s);

#endif /* TOP_SCREEN_INTERNAL_H */
