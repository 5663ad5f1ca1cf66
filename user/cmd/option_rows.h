/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The options of trace, record and report in one table: what getopt knows of them, and what --help says of them. */
#ifndef CMD_OPTION_ROWS_H
#define CMD_OPTION_ROWS_H

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>

/* Values of options without a letter. */
enum {
	OPT_JSON = 256,
	OPT_CSV,
	OPT_MARKDOWN,
	OPT_WARN_TIME,
	OPT_NO_WARNINGS,
	OPT_WARN_EVERY,
	OPT_PHASE,
	OPT_PHASE_TIMES,
	OPT_HANG,
	OPT_DELAY,
	OPT_CGROUP,
	OPT_COMM,
	OPT_NAME,
	OPT_NO_CHILDREN,
	OPT_FRAMES,
	OPT_NO_CAUSES,
	OPT_AGGREGATE,
	OPT_COST_LIMIT,
	OPT_KEEP,
	OPT_DISCOVER,
	OPT_NO_DISCOVER,
	OPT_ATTACH,
	OPT_RING,
	OPT_DEBUGINFOD,
	OPT_RECORD,
	OPT_SCHEMA,
	OPT_VERSION,
	/* report's own; from OPTIONS_MORE on, as all that one command alone has */
	OPT_FROM = 1024,
	OPT_TO,
	OPT_SITE,
	OPT_THREAD,
	OPT_CHROME,
	OPT_HTML,
	OPT_FOLDED,
	OPT_WITH,
};

/* Whose an option is, a bit each. The general help has what trace's has. */
enum option_of { OF_TRACE = 1, OF_RECORD = 2, OF_REPORT = 4 };

/* For getopt_long(): those of @of, a set; after them @more, which ends with a NULL name. To be freed; NULL: out of memory. */
struct option *option_rows_longs(unsigned int of, const struct option *more);

enum option_page { OPTION_PAGE_GENERAL, OPTION_PAGE_TRACE, OPTION_PAGE_RECORD, OPTION_PAGE_REPORT };

/* --help: at most 50 lines of 100 columns. */
void option_rows_print(FILE *out, enum option_page page);

#endif /* CMD_OPTION_ROWS_H */
