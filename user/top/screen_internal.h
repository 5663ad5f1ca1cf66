/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Declarations that only the files of screen share. */
#ifndef TOP_SCREEN_INTERNAL_H
#define TOP_SCREEN_INTERNAL_H

#include "top/screen.h"

#define SCREEN_FILTER_MAX 64

struct screen {
	const struct screen_facts *facts;
	const struct screen_item *items;
	uint32_t n;

	const struct screen_item **rows; /* the rows to show, in order */
	uint32_t nrows, cap_rows;

	enum screen_sort sort, thread_sort;
	bool ascii;
	bool flat; /* show barriers without their processes */
	bool paused;
	bool help;
	bool typing; /* the user is editing the filter */
	char filter[SCREEN_FILTER_MAX];
	char filter_before[SCREEN_FILTER_MAX]; /* the filter of the list, while threads are shown */

	/* key of the row that the user opened to see its threads; 0: none */
	uint64_t opened;
	enum screen_kind opened_kind;
	/* Keys of the chosen row now, and before threads were shown; 0: the first row. */
	uint64_t chosen, chosen_before;
	uint32_t at; /* index of the chosen row */
	uint32_t scroll; /* first row on the screen */
	uint32_t page; /* rows that fit on the screen */
};

/* Return the item that the user opened to see its threads, or NULL if it is gone. */
const struct screen_item *screen_opened_item(const struct screen *s);
/* Choose the rows to show, sort them, and find the chosen row. Return 0 or -ENOMEM. */
int screen_arrange(struct screen *s);

struct clip;
/* Draw one line: what is traced, and for how long. */
void screen_draw_title(struct clip *p, const struct screen *s);
/* Draw one line: the process that loses most, where and why. */
void screen_draw_answer(struct clip *p, const struct screen *s);

#endif /* TOP_SCREEN_INTERNAL_H */
