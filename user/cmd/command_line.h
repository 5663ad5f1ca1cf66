/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The contents of a command line, after parsing. */
#ifndef CMD_COMMAND_LINE_H
#define CMD_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "cmd/command_text.h"

/* The values of an option that may be repeated. */
struct option_list {
	char **words;
	size_t n, cap;
};

struct command_line {
	enum command command;
	bool bare; /* no command was named, which means trace */
	/* options of trace, record and top; other commands use some of them */
	struct options options;
	struct option_list files; /* the words that are not options; NULL-terminated */
	struct option_list labels; /* series: the label of each file; NULL: no label */
	size_t before_dashes; /* number of files before "--", or of all files if there is no "--" */
	/* report, predict */
	double from_s;
	double to_s; /* NAN: to the end */
	struct option_list sites;
	struct option_list with;
	struct option_list threads; /* tids, as text */
	const char *html; /* path; NULL: do not write this file; the same for .chrome and .folded */
	const char *chrome;
	const char *folded, *folded_stacks, *folded_late;
	/* predict */
	const char *processors;
	const char *machine;
	const char *barrier_model;
	const char *record_to;
	struct option_list sets;
	bool calibrate;
	bool parameters;
	/* diff */
	struct option_list quantities;
	double fail_above; /* largest accepted regression: 0.01 is 1 %; NAN: not given */
	double confidence; /* confidence of tests: 0.95 is 95 % */
	/* series */
	char *label; /* label of the files that follow */
	uint32_t by; /* enum series_by */
	const char *base;
	/* top */
	uint64_t interval_ns;
	uint64_t iterations; /* 0: no limit */
	/* list */
	bool events;
};

#endif /* CMD_COMMAND_LINE_H */
