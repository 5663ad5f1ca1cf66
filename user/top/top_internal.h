/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of top share. Nobody else includes it. */
#ifndef TOP_TOP_INTERNAL_H
#define TOP_TOP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "top/live_rates.h"
#include "capture/tty_capture.h"
#include "capture/capture.h"
#include "top/screen.h"

/* The strings that are made for a row. */
struct top_words {
	char last[48];
	char name[192]; /* of a thread, or of a barrier that nobody has left */
};

struct top_name {
	char *label, *id;
};

struct top {
	/* What was asked for. */
	uint64_t interval_ns;
	uint64_t iterations; /* 0: until somebody ends it */
	bool command, pids;
	char what[128];

	/* Where it goes. */
	bool drawn; /* on a terminal; else lines */
	bool opened;
	bool ascii;
	FILE *plain;
	int in, out; /* of the terminal */
	struct tty_capture tty_capture;
	struct screen *screen;
	struct screen_lines lines;

	/* What is looked at. */
	struct capture_view view;
	bool begun;
	struct live_rates *live_rates;
	struct top_name *names; /* by barrier */
	uint32_t nnames, cap_names;
	struct screen_item *items;
	struct top_words *words;
	uint32_t nitems, cap_items;
	struct screen_facts facts;
	char alert[200], said[160], nothing[256], why[384];
	uint64_t said_ns;
	uint64_t lost_base;
	uint64_t first_ns, next_ns, now_ns;
	uint64_t opened_shown; /* of screen_opened() */
	uint64_t looks;
	uint64_t memory; /* after the first look */

	bool quit, again;
	int error;
};

/* The rows of the last look, given to the screen where there is one. Returns 0 or -ENOMEM. */
int top_make_items(struct top *t);

#endif /* TOP_TOP_INTERNAL_H */
