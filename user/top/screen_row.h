/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Rows of the screen: which columns they have, and what stands in each. */
#ifndef TOP_SCREEN_ROW_H
#define TOP_SCREEN_ROW_H

#include "top/screen_internal.h"
#include "top/screen_clip.h"
#include "emit/textout.h"

/* From here on an imbalance, or a wait that has not ended, is worth a colour. */
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
		unsigned width; /* 0: what is left */
	} cols[COLUMNS];
};

/* What else tells whose barrier it is. */
enum screen_names {
	NAMES_TREE, /* the process above it */
	NAMES_FULL, /* nothing */
	NAMES_LINES, /* a number in the same line */
};

/* Values as they are shown; unknown ones (not finite) as such. */
void screen_say_lost(char out[TEXTOUT_CELL], double ns);
void screen_say_rate(char out[TEXTOUT_CELL], double rate);
/* "a cause 60 %" */
void screen_say_with_share(char *out, size_t size, const char *what, double share);
/* "name (pid)" */
void screen_say_process(char *out, size_t size, const struct screen_item *it);
/* Do threads wait there, and nobody gets through? */
bool screen_is_stuck(const struct screen_item *it);

/* One column more; @width 0: what is left. */
void screen_lay(struct screen_layout *l, enum screen_column column, unsigned width);
/* Those of barriers and processes, and those of threads, for which there is room. */
void screen_lay_main(struct screen_layout *l, unsigned width);
void screen_lay_threads(struct screen_layout *l, unsigned width);
/* @s: whose order is marked; NULL: none is. */
void screen_draw_heads(struct clip *p, const struct screen_layout *l, const struct screen *s);
void screen_draw_row(struct clip *p, const struct screen_layout *l, const struct screen_item *it,
		     bool chosen, enum screen_names names);

#endif /* TOP_SCREEN_ROW_H */
