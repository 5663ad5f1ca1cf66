// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/option_help.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cmd/option_table.h"

#define COLUMNS 80

/* Write "-p, --pid LIST" into @out. */
static void left_of(const struct option_row *row, char *out, size_t size)
{
	char letter[] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(out, size, "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
}

/*
 * Print the words of @text in lines that all begin at @column, where the cursor is already. A \n in
 * @text ends a paragraph.
 */
static void print_wrapped(const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (at > column && at + 1 + len > COLUMNS) {
			printf("\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			putchar(' ');
			at++;
		}
		at += (size_t)printf("%.*s", (int)len, text);
		text += len;
		if (*text == '\n') {
			putchar('\n');
			at = column;
		}
		text += *text != '\0';
	}
	if (at > column)
		putchar('\n');
}

/* Write the values that an option takes into @out, as ": a, b or c". */
static void choices_of(const char *choices, char *out, size_t size)
{
	const char *separator = ": ";
	size_t at = 0;

	while (*choices && at < size) {
		size_t len = strcspn(choices, " ");

		at += (size_t)snprintf(out + at, size - at, "%s%.*s", separator, (int)len, choices);
		choices += len + (choices[len] == ' ');
		separator = strchr(choices, ' ') ? ", " : " or ";
	}
}

static void print_row(const struct option_row *row, size_t width, const char *suffix)
{
	char left[64], text[256], choices[128] = "";

	left_of(row, left, sizeof(left));
	if (row->choices)
		choices_of(row->choices, choices, sizeof(choices));
	snprintf(text, sizeof(text), "%s%s%s", row->help, choices, suffix);
	printf("  %-*s  ", (int)width, left);
	print_wrapped(text, width + 4);
}

/*
 * Return whether to print the row: at least one of @commands takes the option and, if @common is
 * set, the option is a common one.
 */
static bool shown(const struct option_row *row, unsigned commands, bool common)
{
	return row->commands & commands && (row->common || !common);
}

static size_t left_width(unsigned commands, bool common)
{
	size_t i, width = 0;
	char left[64];

	for (i = 0; i < noptions; i++) {
		if (!shown(&option_table[i], commands, common))
			continue;
		left_of(&option_table[i], left, sizeof(left));
		if (strlen(left) > width)
			width = strlen(left);
	}
	return width;
}

static void print_usage(const char *usage)
{
	const char *head = "Usage:", *end;

	for (; *usage; usage = end + 1, head = "      ") {
		end = strchr(usage, '\n');
		printf("%s sbt-trace %.*s\n", head, (int)(end - usage), usage);
	}
}

void option_help_command(enum command command)
{
	const struct command_text *text = &command_texts[command];
	size_t width = left_width(1u << command, false), group;
	bool titled;

	print_usage(text->usage);
	putchar('\n');
	if (text->about)
		print_wrapped(text->about, 0);
	for (group = 0; group < OPTION_GROUPS; group++) {
		titled = false;
		array_for_each (row, option_table, noptions) {
			if (row->group != group || !shown(row, 1u << command, false))
				continue;
			if (!titled)
				printf("\n%s\n", option_group_titles[group]);
			titled = true;
			print_row(row, width, "");
		}
	}
	if (!text->notes)
		return;
	putchar('\n');
	print_wrapped(text->notes, 0);
}

void option_help_short(void)
{
	size_t width = left_width(1u << COMMAND_TRACE, true), i;

	puts("Usage: sbt-trace [OPTIONS] [--] COMMAND [ARGS...]   run COMMAND and trace it\n"
	     "       sbt-trace [OPTIONS] -p PID[,PID...]          trace running processes\n"
	     "\n"
	     "Reports where threads lose time at barriers, which threads are late, and why.\n");
	for (i = 0; i < noptions; i++)
		if (shown(&option_table[i], 1u << COMMAND_TRACE, true))
			print_row(&option_table[i], width, "");
	puts("\n"
	     "Commands: record, report, list, hang, top, predict, diff, series, doctor, help.\n"
	     "More: sbt-trace help COMMAND, sbt-trace --help=all, man sbt-trace");
}

void option_help_all(void)
{
	size_t width = left_width((1u << COMMANDS) - 1, false), group, i;
	char names[128], suffix[136];

	for (i = 0; i < COMMANDS; i++)
		printf("%s sbt-trace %-8s %s\n", i ? "      " : "Usage:", command_texts[i].name,
		       command_texts[i].summary);
	puts("\nThe options, with the commands that take them in parentheses:");
	for (group = 0; group < OPTION_GROUPS; group++) {
		printf("\n%s\n", option_group_titles[group]);
		array_for_each (row, option_table, noptions) {
			if (row->group != group)
				continue;
			command_names(row->commands, names, sizeof(names));
			snprintf(suffix, sizeof(suffix), " (%s)", names);
			print_row(row, width, suffix);
		}
	}
}

void option_help_table(void)
{
	static const char *const operands[] = { [OPERANDS_COMMAND] = "command",
						[OPERANDS_FILES] = "files",
						[OPERANDS_NAME] = "name",
						[OPERANDS_NONE] = "none" };
	size_t k;

	array_for_each (command_text, command_texts, COMMANDS)
		printf("command\t%s\t%s\t%s\n", command_text->name,
		       operands[command_text->operands], command_text->summary);
	array_for_each (row, option_table, noptions) {
		const char *comma = "";

		printf("option\t%s\t%.1s\t%s\t%s\t%s\t%s\t", row->name,
		       row->letter ? &row->letter : "", row->argument ? row->argument : "",
		       row->choices ? row->choices : "", option_group_titles[row->group],
		       row->help);
		for (k = 0; k < COMMANDS; k++) {
			if (!(row->commands >> k & 1))
				continue;
			printf("%s%s", comma, command_texts[k].name);
			comma = ",";
		}
		putchar('\n');
	}
}
