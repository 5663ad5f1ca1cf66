/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The live table: makes lines of text from rows, a size and keys. This code uses no terminal and no
 * clock. Each line is printable and not wider than the screen.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emit/buf.h"

enum screen_kind { SCREEN_PROCESS, SCREEN_BARRIER, SCREEN_THREAD };

/*
 * A row. Strings are untrusted and belong to the caller; NULL: unknown. Rates are per second; NAN:
 * unknown.
 */
struct screen_item {
	enum screen_kind kind;
	/* unique among the items of its kind as long as the item exists; never 0 */
	uint64_t key;
	uint64_t process; /* for a barrier: key of its process */
	uint32_t pid;
	const char *comm; /* name of the process */
	const char *name; /* name of the barrier or the thread */
	const char *id; /* id of the barrier, such as "#1a2b3c4d" */
	double lost_ns;
	double rate; /* episodes per second; for a thread: crossings per second */
	double imbalance; /* lost share of thread time, 0 to 1; NAN: no phase ended */
	double phase_ns; /* mean phase time; NAN: no phase ended */
	uint32_t team; /* largest number of threads in an episode; 0: unknown */
	const char *last; /* the thread that arrived last most often; NULL: none */
	/*
	 * share of episodes in which that thread arrived last; in the row of a thread, its own
	 * share
	 */
	double last_share;
	const char *cause; /* dominant cause; NULL: none to show */
	double cause_share;
	bool balanced; /* so little time is lost that no cause is named */
	uint32_t waiting; /* number of threads that wait now, at this barrier or in this process */
	/* ns of the longest current wait; for a thread: its own, UINT64_MAX: not waiting */
	uint64_t waiting_ns;
	bool exited, nested;
	/* Only for threads: */
	uint32_t tid, index; /* index: UINT32_MAX if the thread has no number */
	double oncpu, runq, blocked; /* shares of the time of its phases; NAN: unknown */
};

/* What the text around the rows shows. */
struct screen_facts {
	const char *what; /* what is traced, such as "the whole machine" */
	uint64_t elapsed_ns, interval_ns; /* ns since tracing began, and between two looks */
	int64_t realtime_ns; /* CLOCK_REALTIME of the look; negative: unknown */
	const char *alert; /* something that went wrong; NULL: nothing */
	const char *nothing; /* text to show if there are no rows */
	/* sentence: why time was lost at the opened barrier, over the whole run; NULL: none */
	const char *why;
};

enum screen_sort {
	SCREEN_LOST,
	SCREEN_RATE,
	SCREEN_IMBALANCE, /* for threads: how often they arrived last */
	SCREEN_WAITING,
	SCREEN_NAME, /* for threads: by number */
	SCREEN_SORTS
};

/* Keys that are not characters. */
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
	SCREEN_HEAD, /* column headings */
	SCREEN_CHOSEN, /* the row that keys act on */
	SCREEN_STYLES
};

/* A part of a line that has one style: bytes @from to @to of screen_lines.text. */
struct screen_run {
	unsigned line;
	size_t from, to;
	enum screen_style style;
};

struct screen_lines {
	struct buf text; /* lines, each with a newline */
	/* in the order of .text; together they cover all of .text except newlines */
	struct screen_run *runs;
	unsigned nruns, cap;
};

struct screen;

/* Return NULL when out of memory. @ascii: show only ASCII. */
struct screen *screen_new(bool ascii);
void screen_free(struct screen *screen);

/*
 * Set the rows to show. The caller keeps @facts and @items until the next call. Return 0 or
 * -ENOMEM.
 */
int screen_set(struct screen *screen, const struct screen_facts *facts,
	       const struct screen_item *items, uint32_t n);
/* Handle a key: a character, or one of enum screen_key. Return false if the user quits. */
bool screen_key(struct screen *screen, uint32_t key);
/* Return whether the display is paused. */
bool screen_paused(const struct screen *screen);
/*
 * Return the key of the process or barrier that the user opened to see its threads, and set *kind
 * to its kind. Return 0 if none is open. The caller must include these threads in the next items.
 * Until then, no threads are shown.
 */
uint64_t screen_opened(const struct screen *screen, enum screen_kind *kind);
/* Draw at most @width columns by @height lines. Return 0 or -ENOMEM. */
int screen_draw(struct screen *screen, unsigned width, unsigned height, struct screen_lines *out);
void screen_lines_free(struct screen_lines *lines);

/* For output that is not a terminal: print one line for each active process and barrier. */
void screen_plain(const struct screen_facts *facts, const struct screen_item *items, uint32_t n,
		  bool ascii, struct buf *out);

#endif /* TOP_SCREEN_H */
