/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* An option: how it is written, what it does, which commands take it, and where it is stored. */
#ifndef CMD_OPTION_ROW_H
#define CMD_OPTION_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* How an option is handled, and the type of the member that takes its value. */
enum option_kind {
	OPTION_TRUE, /* bool: set */
	OPTION_FALSE, /* bool: cleared */
	OPTION_COUNT, /* int: incremented */
	OPTION_TEXT, /* const char *: the value */
	OPTION_LIST, /* struct option_list: the value is appended */
	OPTION_CHOICE, /* an enum: the index of the value among the choices */
	OPTION_INTEGER, /* uint8_t, uint32_t or uint64_t: the value times @scale */
	OPTION_DECIMAL, /* double: the value times @scale */
	OPTION_SECONDS, /* uint64_t: the value in nanoseconds */
	OPTION_CALL, /* stored by @take */
	OPTION_HELP, /* answered at once, as are the two kinds below */
	OPTION_VERSION,
	OPTION_SCHEMA,
};

struct command_line;

struct option_row {
	const char *name; /* without dashes */
	const char *argument; /* name of the value in the help; NULL: the option takes no value */
	const char *help; /* the help; begins in lower case, has no full stop */
	const char *choices; /* possible values, separated by spaces; NULL: any */
	const char *expected; /* what the value must be ("a number of ..."), for messages */
	char letter; /* 0: none */
	enum option_group group;
	enum option_kind kind;
	uint16_t commands; /* commands that take the option, as bits 1 << enum command */
	uint16_t silent; /* commands that ignore the option and do not show it in their help */
	bool common; /* shown by sbt-trace --help */
	size_t offset, size; /* offset and size of the member of struct command_line */
	double least, most, scale; /* for numbers: the limits, inclusive, and the factor */
	/*
	 * value for @take, if several options share the function; --pid: the number of processes
	 * that one option may list (0: any)
	 */
	int value;
	bool percent_sign; /* a number may end with "%" */
	int (*take)(struct command_line *line, const struct option_row *row, char *value);
};

#endif /* CMD_OPTION_ROW_H */
