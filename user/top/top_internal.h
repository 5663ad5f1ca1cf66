/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Declarations that the files of top share. */
#ifndef TOP_TOP_INTERNAL_H
#define TOP_TOP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "top/live_rates.h"
#include "capture/tty_capture.h"
#include "capture/capture.h"
#include "top/screen.h"

/* Strings made for a row; "": not set. */
struct top_words {
	char last[48];
	char name[192]; /* name of a thread, or of a barrier without departures */
};

struct top_name {
	char *label, *id;
};

struct top {
	/* What was requested. */
	uint64_t interval_ns;
	uint64_t iterations; /* 0: until the user quits */
	bool command, pids;
	char what[128];

	/* Where the output goes. */
	bool drawn; /* draw on a terminal; otherwise print lines */
	bool opened;
	bool ascii;
	FILE *plain;
	int in, out; /* descriptors of the terminal; -1: none */
	struct tty_capture tty_capture;
	struct screen *screen;
	struct screen_lines lines;

	/* What is traced. */
	struct capture_view view;
	bool begun;
	struct live_rates *live_rates;
	struct top_name *names; /* by barrier */
	uint32_t nnames, cap_names;
	struct screen_item *items;
	struct top_words *words;
	uint32_t nitems, cap_items, cap_words;
	struct screen_facts facts;
	char alert[200], said[160], nothing[256], why[384];
	uint64_t said_ns;
	uint64_t lost_base;
	uint64_t first_ns, next_ns, now_ns;
	uint64_t opened_shown; /* key that screen_opened() returned when the items were last made */
	uint64_t looks;
	uint64_t memory; /* private memory after the first look, in bytes; 0: not known yet */

	bool quit, again;
	int error;
};

/*
 * Make the rows of the last look, and give them to the screen if there is one. Return 0 or -ENOMEM.
 */
int top_make_items(struct top *t);

#endif /* TOP_TOP_INTERNAL_H */
