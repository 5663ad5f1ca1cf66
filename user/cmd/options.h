/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The command line and the environment, once, into base/options.h. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"

/* Whose page --help shows. */
enum options_help { OPTIONS_HELP_GENERAL, OPTIONS_HELP_TRACE, OPTIONS_HELP_RECORD };

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_WRONG, OPTIONS_FAILED };

/*
 * Reads the environment, then the command line, which wins. OPTIONS_DONE: --help and the like have been
 * answered; OPTIONS_WRONG: a sentence has been printed; OPTIONS_FAILED: the answer could not be written, and a
 * sentence has been.
 */
enum options_result options_parse(int argc, char **argv, enum options_help help,
				  struct options *out);
/* Options beside those that say what to see: of a command that looks at what has been recorded. */
struct options_more {
	const char *help; /* NULL: report, whose page and options are in cmd/option_rows.h */
	const struct option
		*longs; /* values from OPTIONS_MORE on; ends with a NULL name; or NULL */
	/* Returns 0 or -EINVAL, told, or -ENOMEM. */
	int (*take)(void *ctx, int c, char *arg);
	void *ctx;
};

#define OPTIONS_MORE 1024

/*
 * The same for a command that traces nothing: of trace's options those about what to see and the output. What is left of the
 * words is out->command, NULL if nothing is.
 */
enum options_result options_parse_view(int argc, char **argv, const struct options_more *more,
				       struct options *out);
/*
 * All of such a command: reads the words, has them checked, opens the output, has it printed and closes it. @check returns 0, or
 * not, told: wrong usage; @print 0, or not, told. Both are given more->ctx. Returns the exit status.
 */
int options_run_view(int argc, char **argv, const struct options_more *more,
		     int (*check)(void *ctx, const struct options *options),
		     int (*print)(void *ctx, const struct options *options, FILE *out));
/*
 * The variables of the SBT library among COMMAND's own arguments, "SBT_WATCH NAME", which win over all others: for
 * programs that take them. Returns 0, -EINVAL (a sentence has been printed) or -ENOMEM.
 */
int options_read_words(struct options *options);
void options_free(struct options *options);

#endif /* CMD_OPTIONS_H */
