/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The live table: from rows, a size and what was typed to lines of text. Pure: it knows no terminal and no clock, and
 * every line that it makes is printable and no wider than the screen.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emit/buf.h"

enum screen_kind { SCREEN_PROCESS, SCREEN_BARRIER, SCREEN_THREAD };

/* A row. Strings may be hostile and are the caller's; NULL is unknown. Rates are each second; NAN unknown. */
struct screen_item {
	enum screen_kind kind;
	uint64_t key; /* no other's of its kind, the same as long as it is there; never 0 */
	uint64_t process; /* of a barrier: its process's key */
	uint32_t pid;
	const char *comm; /* of the process */
	const char *name; /* of the barrier; of the thread */
	const char *id; /* of the barrier: "#1a2b3c4d" */
	double lost_ns;
	double rate; /* of episodes; of a thread: of crossings */
	double imbalance; /* 0 to 1; NAN: no phase ended */
	double phase_ns; /* mean; NAN: none ended */
	uint32_t team; /* most members; 0 unknown */
	const char *last; /* who came last most often; NULL: nobody came */
	double last_share; /* of its episodes; of a thread: how often it came last itself */
	const char *cause; /* NULL: none is to be named */
	double cause_share;
	bool balanced; /* too little is lost for a cause */
	uint32_t waiting; /* threads that wait there now */
	uint64_t
		waiting_ns; /* the longest; of a thread: its own, UINT64_MAX if it is not waiting */
	bool exited, nested;
	/* Of a thread. */
	uint32_t tid, index; /* UINT32_MAX: not numbered */
	double oncpu, runq, blocked; /* shares of its phases; NAN unknown */
};

/* What stands around the rows. */
struct screen_facts {
	const char *what; /* "the whole machine" */
	uint64_t elapsed_ns, interval_ns; /* since tracing began; between two looks */
	int64_t realtime_ns; /* of the look; below 0 unknown */
	const char *alert; /* something that went wrong; NULL nothing */
	const char *nothing; /* what to say when there are no rows */
	const char *
		why; /* of the barrier whose threads are shown: a sentence over the whole time; NULL none */
};

enum screen_sort {
	SCREEN_LOST,
	SCREEN_RATE,
	SCREEN_IMBALANCE, /* of threads: how often they came last */
	SCREEN_WAITING,
	SCREEN_NAME, /* of threads: by number */
	SCREEN_SORTS
};

/* What a key means, beyond the characters that it may be. */
enum screen_key {
	SCREEN_UP = 0x110000,
	SCREEN_DOWN,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	SCREEN_RIGHT,
	SCREEN_LEFT,
};

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_DIM,
	SCREEN_ALARM,
	SCREEN_HEAD, /* of the columns */
	SCREEN_CHOSEN, /* the row that keys act on */
	SCREEN_STYLES
};

/* Part of one line, in one style, from byte @from to @to of screen_lines.text. */
struct screen_run {
	unsigned line;
	size_t from, to;
	enum screen_style style;
};

struct screen_lines {
	struct buf text; /* lines, each ended by a newline */
	struct screen_run *runs; /* in order; together they are all of the text but its newlines */
	unsigned nruns, cap;
};

struct screen;

/* NULL: out of memory. @ascii: nothing but ASCII is to be shown. */
struct screen *screen_new(bool ascii);
void screen_free(struct screen *screen);

/* What there is to show: the caller's, until the next call. Returns 0 or -ENOMEM. */
int screen_set(struct screen *screen, const struct screen_facts *facts,
	       const struct screen_item *items, uint32_t n);
/* A character or one of enum screen_key. False: that was to quit. */
bool screen_key(struct screen *screen, uint32_t key);
/* Is the picture to stay as it is? */
bool screen_paused(const struct screen *screen);
/*
 * The process or barrier whose threads are to be among the items next time, by its key, and its kind; 0: none. Until then
 * there are none to be seen.
 */
uint64_t screen_opened(const struct screen *screen, enum screen_kind *kind);
/* Draws @width columns by @height lines at most. Returns 0 or -ENOMEM. */
int screen_draw(struct screen *screen, unsigned width, unsigned height, struct screen_lines *out);
void screen_lines_free(struct screen_lines *lines);

/* For whatever is no terminal: all rows of processes and barriers in which something happens, one line each. */
void screen_plain(const struct screen_facts *facts, const struct screen_item *items, uint32_t n,
		  bool ascii, struct buf *out);

#endif /* TOP_SCREEN_H */
