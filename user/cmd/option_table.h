/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The options of all commands in one table: how an option is written, which commands take it, what
 * it does and where its value is stored. The command line is parsed by it, and help, completion and
 * the OPTIONS sections of the man pages are made from it.
 */
#ifndef CMD_OPTION_TABLE_H
#define CMD_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command {
	COMMAND_TRACE,
	COMMAND_RECORD,
	COMMAND_REPORT,
	COMMAND_LIST,
	COMMAND_HANG,
	COMMAND_TOP,
	COMMAND_PREDICT,
	COMMAND_DIFF,
	COMMAND_SERIES,
	COMMAND_DOCTOR,
	COMMANDS
};

/* What the words that are not options are. */
enum operands {
	OPERANDS_COMMAND, /* a command and its arguments: the first ends the options */
	OPERANDS_FILES, /* files, among the options */
};

struct command_text {
	const char *name;
	const char *usage; /* lines without "sbt-trace ", separated by \n */
	const char *summary; /* one line */
	const char *about, *notes; /* above and below the options; NULL: nothing */
	enum operands operands;
	bool variables; /* the environment variables of the SBT library are read */
};

extern const struct command_text command_texts[COMMANDS];

enum option_group {
	GROUP_TARGET,
	GROUP_MEASURE,
	GROUP_SHOW,
	GROUP_SELECT,
	GROUP_PREDICT,
	GROUP_COMPARE,
	GROUP_OUTPUT,
	GROUP_TRACING,
	GROUP_GENERAL,
	OPTION_GROUPS
};

extern const char *const option_group_titles[OPTION_GROUPS];

/* What is done with an option, and the type of the member that its value goes to. */
enum option_kind {
	OPTION_TRUE, /* bool: set */
	OPTION_FALSE, /* bool: cleared */
	OPTION_COUNT, /* int: one more */
	OPTION_TEXT, /* const char *: the value */
	OPTION_LIST, /* struct option_list: the value added */
	OPTION_CHOICE, /* an enum: the position of the value among the choices */
	OPTION_INTEGER, /* uint8_t, uint32_t or uint64_t: the value times @scale */
	OPTION_DECIMAL, /* double: the value times @scale */
	OPTION_SECONDS, /* uint64_t: the value in nanoseconds */
	OPTION_CALL, /* @take stores it */
	OPTION_HELP, /* answered at once, as the following two */
	OPTION_VERSION,
	OPTION_SCHEMA,
};

struct command_line;

struct option_row {
	const char *name; /* without dashes */
	const char *argument; /* NULL: takes no value */
	const char *help; /* begins in lower case, has no full stop */
	const char *choices; /* possible values, separated by spaces; NULL: any */
	const char *expected; /* "a number of ...": for the message about a wrong value */
	char letter; /* 0: none */
	enum option_group group;
	enum option_kind kind;
	uint16_t commands; /* that take it: a bit each, 1 << enum command */
	uint16_t silent; /* that accept it too, without effect and without showing it */
	bool common; /* shown by sbt-trace --help */
	size_t offset, size; /* of the member of struct command_line */
	double least, most, scale; /* of numbers; the limits are inclusive */
	int value; /* what @take stores, where options differ in that alone */
	bool percent_sign; /* a number may end with one */
	int (*take)(struct command_line *line, const struct option_row *row, char *value);
};

extern const struct option_row option_table[];
extern const size_t noptions;

/* Return the row of @command with this name, or this letter; NULL: the command does not take it. */
const struct option_row *option_by_name(enum command command, const char *name);
const struct option_row *option_by_letter(enum command command, char letter);
/*
 * Return the option of @command, or the command, with the name nearest to @word; NULL: none is
 * similar.
 */
const char *option_nearest(enum command command, const char *word);
const char *command_nearest(const char *word);

#endif /* CMD_OPTION_TABLE_H */
