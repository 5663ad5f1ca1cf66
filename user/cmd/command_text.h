/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The commands: their names, and their texts in the help. */
#ifndef CMD_COMMAND_TEXT_H
#define CMD_COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>

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
	COMMAND_HELP,
	COMMANDS
};

/* The kind of the words that are not options. */
enum operands {
	OPERANDS_COMMAND, /* a command to run and its arguments; all options are before them */
	OPERANDS_FILES, /* files; they may be before, between and after the options */
	OPERANDS_NAME, /* the name of a command of sbt-trace */
	OPERANDS_NONE, /* no such words; the command refuses them */
};

struct command_text {
	const char *name;
	const char *usage; /* lines without "sbt-trace ", separated by \n */
	const char *summary; /* one line */
	const char *about, *notes; /* texts above and below the options; NULL: none */
	enum operands operands;
	bool variables; /* the environment variables of the SBT library are read */
};

extern const struct command_text command_texts[COMMANDS];

/*
 * Write the names of the commands in @commands, which are bits 1 << enum command, into @out, as
 * "report, diff and series" or "all commands but top". help is not counted.
 */
void command_names(unsigned commands, char *out, size_t size);
/* Return the command that is called @word, or COMMANDS if there is none. */
enum command command_named(const char *word);
/* Return the command with the name nearest to @word; NULL: none is similar. */
const char *command_nearest(const char *word);

#endif /* CMD_COMMAND_TEXT_H */
