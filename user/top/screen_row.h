/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Draw rows of the screen: their columns, and the contents of each cell. */
#ifndef TOP_SCREEN_ROW_H
#define TOP_SCREEN_ROW_H

#include "top/screen_internal.h"
#include "top/screen_clip.h"
#include "emit/textout.h"

/* An imbalance or a current wait is coloured if it is at least this value. */
#define SCREEN_BAD_IMBALANCE 0.25
#define SCREEN_BAD_WAIT_NS   5000000000ULL

enum screen_column {
	COL_TIME,
	COL_WHAT,
	COL_PID,
	COL_LOST,
	COL_RATE,
	COL_IMBALANCE,
	COL_PHASE,
	COL_TEAM,
	COL_LAST,
	COL_CAUSE,
	COL_ID,
	COL_NAME,
	COL_ONCPU,
	COL_RUNQ,
	COL_BLOCKED,
	COL_WAITS,
	COLUMNS
};

struct screen_layout {
	unsigned n;
	struct {
		enum screen_column column;
		unsigned width; /* width in columns; 0: the rest of the line */
	} cols[COLUMNS];
};

/* How the row of a barrier shows the process. */
enum screen_names {
	NAMES_TREE, /* not at all: the row of the process is above */
	NAMES_FULL, /* in the name */
	NAMES_LINES, /* by the pid in the same line */
};

/* Format values for display: "?" for a value that is not finite. */
void screen_format_lost(char out[TEXTOUT_CELL], double ns);
void screen_format_rate(char out[TEXTOUT_CELL], double rate);
/* Format @what and @share, such as "lock 60 %". */
void screen_format_share(char *out, size_t size, const char *what, double share);
/* Format the process as "name (pid)". */
void screen_format_process(char *out, size_t size, const struct screen_item *it);
/* Return whether threads wait at the barrier and no episode ended in the interval. */
bool screen_is_stuck(const struct screen_item *it);

/* Add a column; @width 0: the rest of the line. */
void screen_lay(struct screen_layout *l, enum screen_column column, unsigned width);
/* Add the columns for which there is room: those of barriers and processes, or those of threads. */
void screen_lay_main(struct screen_layout *l, unsigned width);
void screen_lay_threads(struct screen_layout *l, unsigned width);
/* Draw the headings and mark the sort column of @s; NULL: mark none. */
void screen_draw_heads(struct clip *p, const struct screen_layout *l, const struct screen *s);
void screen_draw_row(struct clip *p, const struct screen_layout *l, const struct screen_item *it,
		     bool chosen, enum screen_names names);

#endif /* TOP_SCREEN_ROW_H */
