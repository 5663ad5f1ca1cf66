/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The command line and the environment, read by cmd/option_table.h into one struct for all
 * commands.
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "cmd/option_table.h"

/* The values of an option that may be repeated. */
struct option_list {
	char **words;
	size_t n, cap;
};

struct command_line {
	enum command command;
	bool bare; /* no command was named: it is trace */
	struct options options; /* of trace, record and top; the other commands share some */
	struct option_list files; /* the words that are not options; NULL-terminated */
	struct option_list labels; /* series: of each file; NULL: none */
	size_t before_dashes; /* files before "--"; all of them without "--" */
	/* report, predict */
	double from_s;
	double to_s; /* NAN: to the end */
	struct option_list sites;
	struct option_list with;
	struct option_list threads; /* numbers, as text */
	const char *html; /* NULL: no page, as for the following two */
	const char *chrome;
	const char *folded;
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
	double fail_above; /* a share; NAN: not given */
	double confidence; /* a share */
	/* series */
	char *label; /* of the files that follow */
	uint32_t by; /* enum series_by */
	const char *base;
	/* top */
	uint64_t interval_ns;
	uint64_t iterations; /* 0: no limit */
	/* list */
	bool events;
};

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_WRONG, OPTIONS_FAILED };

/*
 * Read the environment, then the words argv[1] and on, into @line, with command and bare set, to be
 * freed with options_free(). The command line overrides the environment. OPTIONS_DONE: --help or
 * the like was answered. OPTIONS_WRONG and OPTIONS_FAILED: wrong usage, and a failure; a message
 * was printed.
 */
enum options_result options_parse(struct command_line *line, int argc, char **argv);
void options_free(struct command_line *line);
/* Parse, call @run and free. Return the exit status: that of @run if it was called. */
int options_run(struct command_line line, int argc, char **argv,
		int (*run)(struct command_line *line));

/*
 * Read the variables of the SBT library among COMMAND's own arguments, such as "SBT_WATCH NAME",
 * for programs that take them there. They override everything else. Return 0, -EINVAL (a message
 * was printed) or -ENOMEM.
 */
int options_read_words(struct options *options);

/*
 * Functions that store values for the table; they return 0, -EINVAL (a message was printed) or
 * -ENOMEM.
 */
int option_take_pids(struct command_line *line, const struct option_row *row, char *value);
int option_take_all(struct command_line *line, const struct option_row *row, char *value);
int option_take_discover(struct command_line *line, const struct option_row *row, char *value);
int option_take_barrier(struct command_line *line, const struct option_row *row, char *value);
int option_take_watch(struct command_line *line, const struct option_row *row, char *value);
int option_take_name(struct command_line *line, const struct option_row *row, char *value);
int option_take_phase(struct command_line *line, const struct option_row *row, char *value);
int option_take_events(struct command_line *line, const struct option_row *row, char *value);
int option_take_format(struct command_line *line, const struct option_row *row, char *value);
int option_take_attach(struct command_line *line, const struct option_row *row, char *value);
int option_take_ring_size(struct command_line *line, const struct option_row *row, char *value);
int option_take_quantities(struct command_line *line, const struct option_row *row, char *value);
int option_take_label(struct command_line *line, const struct option_row *row, char *value);

/*
 * Store @value by the kind of @row. @given: the option as the user wrote it, for messages. Return
 * as the functions above.
 */
int option_store(struct command_line *line, const struct option_row *row, const char *given,
		 char *value);

/* Add a file among the words, with the label of now. Return 0 or -ENOMEM. */
int option_add_file(struct command_line *line, char *file);
int options_add_watch(struct options *options, const char *barrier); /* the same */

/* --help of a command; of sbt-trace; --help=all; and --help=table, which scripts/options reads. */
void option_help_command(enum command command);
void option_help_short(void);
void option_help_all(void);
void option_help_table(void);

#endif /* CMD_OPTIONS_H */
