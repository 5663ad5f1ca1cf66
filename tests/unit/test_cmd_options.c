// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the option table, the parser that uses it, and the help text that is made from it. */
#include <ctype.h>
#include <unistd.h>

#include "test_check.h"
#include "cmd/nearest.h"
#include "cmd/option_help.h"
#include "cmd/option_table.h"
#include "cmd/options.h"

/* --- the table -------------------------------------------------------------------------------- */

/*
 * No command has an option or a letter twice, and no row is both shown and hidden for one command.
 */
static void test_unique(void **state)
{
	const struct option_row *row, *other;

	for (row = option_table; row < option_table + noptions; row++) {
		assert_true(row->commands);
		assert_false(row->commands & row->silent);
		for (other = option_table; other < row; other++) {
			unsigned both =
				(row->commands | row->silent) & (other->commands | other->silent);

			if (both && !strcmp(row->name, other->name))
				fail_msg("--%s is there twice", row->name);
			if (both && row->letter && row->letter == other->letter)
				fail_msg("-%c is there twice", row->letter);
		}
	}
}

/* Each row has a description, and a destination for its value. */
static void test_rows(void **state)
{
	const struct option_row *row;

	for (row = option_table; row < option_table + noptions; row++) {
		size_t len = strlen(row->help);
		bool flag = row->kind == OPTION_TRUE || row->kind == OPTION_FALSE ||
			    row->kind == OPTION_COUNT || row->kind >= OPTION_HELP;

		if (!len || row->help[len - 1] == '.' || strchr(row->help, '\n') || len > 60)
			fail_msg("help of --%s: %s", row->name, row->help);
		if (flag && row->argument)
			fail_msg("--%s has an argument that is not read", row->name);
		if (row->kind == OPTION_CALL ? !row->take : row->kind < OPTION_HELP && !row->size)
			fail_msg("--%s is not stored", row->name);
		if ((row->kind == OPTION_INTEGER || row->kind == OPTION_DECIMAL ||
		     row->kind == OPTION_SECONDS) &&
		    (!row->expected || !(row->most > row->least)))
			fail_msg("--%s has no range", row->name);
		if (row->kind == OPTION_DECIMAL && !(row->scale > 0))
			fail_msg("--%s has no scale", row->name);
	}
}

/* Return a value that the option accepts. */
static const char *value_of(const struct option_row *row)
{
	static const struct {
		const char *name, *value;
	} values[] = {
		{ "name", "step=lu.c:77" },
		{ "phase", "solve=a..b" },
		{ "pid", "12" },
		{ "attach", "multi" },
		{ "by", "threads" },
		{ "barrier", "my_barrier" },
		{ "confidence", "90" },
		{ "departures", "inferred" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (!strcmp(values[i].name, row->name))
			return values[i].value;
	return "1";
}

/* Return what a tracing command needs in addition to the option: a target or an output. */
static const char *more_of(const struct option_row *row)
{
	if (!strcmp(row->name, "pid") || !strcmp(row->name, "all"))
		return "";
	if (!strcmp(row->name, "comm") || !strcmp(row->name, "cgroup"))
		return "-a";
	return !strcmp(row->name, "json") || !strcmp(row->name, "csv") ? "-o x ls" : "ls";
}

/* Parse the words of @text, separated by spaces, for @command. */
static enum options_result parse(enum command command, const char *text, struct command_line *line)
{
	static char copy[256];
	static char *argv[32];
	char *rest = copy;
	int argc = 0;

	snprintf(copy, sizeof(copy), "sbt-trace %s", text);
	while ((argv[argc] = strsep(&rest, " ")))
		argc += *argv[argc] != '\0';
	*line = (struct command_line){ .command = command };
	return options_parse(line, argc, argv);
}

/* Each command parses each of its options, by name and by letter. */
static void test_parse_each(void **state)
{
	const struct option_row *row;
	struct command_line line;
	char words[128], letter[3];
	unsigned command, i;

	for (row = option_table; row < option_table + noptions; row++) {
		for (command = 0; command < COMMANDS; command++) {
			if (!((row->commands | row->silent) >> command & 1) ||
			    row->kind >= OPTION_HELP)
				continue;
			snprintf(letter, sizeof(letter), "-%c", row->letter);
			for (i = 0; i < 1u + (row->letter != 0); i++) {
				snprintf(words, sizeof(words), "%s%s %s %s", i ? "" : "--",
					 i ? letter : row->name, row->argument ? value_of(row) : "",
					 command_texts[command].operands == OPERANDS_COMMAND
						 ? more_of(row)
					 : command_texts[command].operands == OPERANDS_FILES
						 ? "file"
						 : "");
				if (parse((enum command)command, words, &line) != OPTIONS_GO)
					fail_msg("%s %s", command_texts[command].name, words);
				options_free(&line);
			}
		}
	}
}

/* --- command lines ---------------------------------------------------------------------------- */

static void test_values(void **state)
{
	struct command_line line;

	assert_int_equal(parse(COMMAND_TRACE,
			       "-p 12,34 --pid=56 -d 1.5 --warn-time 20 --hang 0.5 --frames 3 "
			       "--cost-limit 5 --ring-size 4 --attach perf -vv --no-warnings "
			       "--name a=b --phase p=..c -w x -w y",
			       &line),
			 OPTIONS_GO);
	assert_int_equal(line.options.npids, 3);
	assert_int_equal(line.options.pids[2], 56);
	assert_true(line.options.duration_s == 1.5);
	assert_int_equal(line.options.warn_ns, 20000000);
	assert_int_equal(line.options.hang_ns, 500000000);
	assert_int_equal(line.options.frames, 3);
	assert_true(line.options.cost_limit == 0.05);
	assert_int_equal(line.options.ring_bytes, 4096);
	assert_int_equal(line.options.method, ATTACH_PERF);
	assert_int_equal(line.options.verbose, 2);
	assert_false(line.options.warnings);
	assert_string_equal(line.options.names[0].barrier, "b");
	assert_string_equal(line.options.phases[0].begin, "");
	assert_int_equal(line.options.nwatch, 2);
	assert_int_equal(line.options.mode, OPTIONS_PIDS);
	options_free(&line);
}

static void test_defaults(void **state)
{
	struct command_line line;

	assert_int_equal(parse(COMMAND_TRACE, "ls -l --json", &line), OPTIONS_GO);
	assert_int_equal(line.options.mode, OPTIONS_COMMAND);
	assert_string_equal(line.options.command[0], "ls");
	assert_string_equal(line.options.command[2], "--json");
	assert_null(line.options.command[3]);
	assert_int_equal(line.options.warn_ns, 1000000000);
	assert_int_equal(line.options.hang_ns, 10000000000ULL);
	assert_int_equal(line.options.format, EMIT_TEXT);
	assert_true(line.options.follow && line.options.causes && line.options.discover);
	options_free(&line);
	assert_int_equal(parse(COMMAND_TOP, "-d 0.5 -n 3", &line), OPTIONS_GO);
	assert_int_equal(line.options.mode, OPTIONS_SYSTEM);
	assert_int_equal(line.interval_ns, 500000000);
	assert_int_equal(line.iterations, 3);
	assert_string_equal(line.options.output, "/dev/null");
	assert_int_equal(line.options.hang_ns, 0);
	options_free(&line);
}

static void test_files(void **state)
{
	struct command_line line;

	assert_int_equal(parse(COMMAND_DIFF, "a --json b -- c", &line), OPTIONS_GO);
	assert_int_equal(line.files.n, 3);
	assert_int_equal(line.before_dashes, 2);
	options_free(&line);
	assert_int_equal(parse(COMMAND_DIFF, "a b --fail-above 5% --quantity phase,lost", &line),
			 OPTIONS_GO);
	assert_int_equal(line.before_dashes, 2);
	assert_true(line.fail_above == 0.05);
	assert_string_equal(line.quantities.words[1], "lost");
	options_free(&line);
	assert_int_equal(parse(COMMAND_SERIES, "a -l x b --label=y c --by file", &line),
			 OPTIONS_GO);
	assert_null(line.labels.words[0]);
	assert_string_equal(line.labels.words[1], "x");
	assert_string_equal(line.labels.words[2], "y");
	assert_int_equal(line.by, 3);
	options_free(&line);
	assert_int_equal(parse(COMMAND_REPORT, "a --from 2 --to .5 --site f --site g", &line),
			 OPTIONS_GO);
	assert_true(line.from_s == 2 && line.to_s == 0.5);
	assert_int_equal(line.sites.n, 2);
	options_free(&line);
}

static void test_wrong(void **state)
{
	static const struct {
		enum command command;
		const char *words;
	} wrong[] = {
		{ COMMAND_TRACE, "" },
		{ COMMAND_TRACE, "-p 0" },
		{ COMMAND_TRACE, "-p 1,,2" },
		{ COMMAND_TRACE, "-p 1073741825" },
		{ COMMAND_TRACE, "-d 0 ls" },
		{ COMMAND_TRACE, "-d 1s ls" },
		{ COMMAND_TRACE, "--delay -1 ls" },
		{ COMMAND_TRACE, "--frames 9 ls" },
		{ COMMAND_TRACE, "--cost-limit 5% ls" },
		{ COMMAND_TRACE, "--cost-limit 0 ls" },
		{ COMMAND_TRACE, "--ring-size 0 ls" },
		{ COMMAND_TRACE, "--attach kprobe ls" },
		{ COMMAND_TRACE, "--warn-time 18446744073710 ls" },
		{ COMMAND_TRACE, "--phase p=a ls" },
		{ COMMAND_TRACE, "--json --csv -o x ls" },
		{ COMMAND_TRACE, "--json ls" },
		{ COMMAND_TRACE, "--from 1 ls" },
		{ COMMAND_TRACE, "--warn 1 ls" },
		{ COMMAND_TRACE, "--all=x" },
		{ COMMAND_TRACE, "-a -p 1" },
		{ COMMAND_TRACE, "--aggregate -W ls" },
		{ COMMAND_RECORD, "--json -o x ls" },
		{ COMMAND_RECORD, "--aggregate -o x ls" },
		{ COMMAND_REPORT, "-p 1 x" },
		{ COMMAND_REPORT, "--to 1e9.5 x" },
		{ COMMAND_TOP, "-d 0.05" },
		{ COMMAND_TOP, "-n 1.5" },
		{ COMMAND_DIFF, "--fail-above inf a b" },
		{ COMMAND_DIFF, "--fail-above nan a b" },
		{ COMMAND_DIFF, "--fail-above= a b" },
		{ COMMAND_DIFF, "--fail-above 5x a b" },
		{ COMMAND_DIFF, "--fail-above 1e999 a b" },
		{ COMMAND_DIFF, "--quantity a,,b a b" },
		{ COMMAND_DIFF, "--confidence 100 a b" },
		{ COMMAND_DIFF, "--confidence 49 a b" },
		{ COMMAND_SERIES, "--by x a" },
		{ COMMAND_HANG, "--csv -p 1" },
	};
	struct command_line line;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (parse(wrong[i].command, wrong[i].words, &line) != OPTIONS_WRONG)
			fail_msg("%s %s", command_texts[wrong[i].command].name, wrong[i].words);
		options_free(&line);
	}
}

/* --- the nearest word ------------------------------------------------------------------------- */

static void test_distance(void **state)
{
	char longer[80];

	assert_int_equal(nearest_distance("", ""), 0);
	assert_int_equal(nearest_distance("", "abc"), 3);
	assert_int_equal(nearest_distance("abc", ""), 3);
	assert_int_equal(nearest_distance("duration", "duration"), 0);
	assert_int_equal(nearest_distance("duratoin", "duration"), 1);
	assert_int_equal(nearest_distance("ba", "ab"), 1);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_true(nearest_distance(longer, "x") > 1000);
	assert_true(nearest_distance("x", longer) > 1000);
}

static void test_nearest(void **state)
{
	assert_string_equal(option_nearest(COMMAND_TRACE, "duratoin"), "duration");
	assert_string_equal(option_nearest(COMMAND_TRACE, "ouput"), "output");
	assert_string_equal(option_nearest(COMMAND_TRACE, "wtach"), "watch");
	assert_string_equal(option_nearest(COMMAND_DIFF, "fail-over"), "fail-above");
	/*
	 * Options of other commands are candidates too, but only if no option of this command is as
	 * close.
	 */
	assert_string_equal(option_nearest(COMMAND_DIFF, "duratoin"), "duration");
	assert_string_equal(option_nearest(COMMAND_SERIES, "lase"), "base");
	assert_string_equal(option_nearest(COMMAND_TOP, "dealy"), "delay");
	assert_null(option_nearest(COMMAND_TRACE, "nonsense"));
	assert_null(option_nearest(COMMAND_TRACE, ""));
	assert_string_equal(command_nearest("recrod"), "record");
	assert_string_equal(command_nearest("reports"), "report");
	assert_null(command_nearest("make"));
}

/* Each command is found by its name, and only by the whole name. */
static void test_command_named(void **state)
{
	unsigned command;

	for (command = 0; command < COMMANDS; command++)
		assert_int_equal(command_named(command_texts[command].name), command);
	assert_int_equal(command_named("repor"), COMMANDS);
	assert_int_equal(command_named("reports"), COMMANDS);
	assert_int_equal(command_named(""), COMMANDS);
	assert_string_equal(command_nearest("hlep"), "help");
}

static void test_command_names(void **state)
{
	static const struct {
		unsigned commands;
		const char *names;
	} cases[] = {
		{ 1u << COMMAND_DIFF, "diff" },
		{ 1u << COMMAND_DIFF | 1u << COMMAND_TRACE, "trace and diff" },
		{ 7, "trace, record and report" },
		{ (1u << COMMANDS) - 1, "all commands" },
		{ (1u << COMMANDS) - 1 - (1u << COMMAND_TOP), "all commands but top" },
	};
	char names[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		command_names(cases[i].commands, names, sizeof(names));
		assert_string_equal(names, cases[i].names);
	}
	command_names(7, names, 10);
	assert_string_equal(names, "trace, re");
}

/* --- help ------------------------------------------------------------------------------------- */

/* Return the text that @print writes to stdout. The caller frees it. */
static char *printed(void (*print)(enum command command), enum command command)
{
	FILE *file = tmpfile();
	int kept = dup(STDOUT_FILENO);
	char *text = NULL;
	size_t cap = 0;

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	print(command);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(file);
	assert_true(getdelim(&text, &cap, '\0', file) > 0);
	fclose(file);
	return text;
}

static void print_short(enum command command)
{
	(void)command;
	option_help_short();
}

static void print_all(enum command command)
{
	(void)command;
	option_help_all();
}

static void print_table(enum command command)
{
	(void)command;
	option_help_table();
}

/* Return the number of lines; fail if one is too wide. */
static unsigned lines_of(const char *text, size_t columns)
{
	unsigned n = 0;

	for (; *text; n++) {
		size_t len = strcspn(text, "\n");

		if (len > columns)
			fail_msg("wide: %.*s", (int)len, text);
		text += len + 1;
	}
	return n;
}

/* The first page fits on a terminal of 80x24, and each option has one line. */
static void test_help_short(void **state)
{
	char *text = printed(print_short, COMMAND_TRACE);
	const struct option_row *row;
	unsigned common = 0;
	char line[64];

	assert_in_range(lines_of(text, 80), 15, 23);
	for (row = option_table; row < option_table + noptions; row++) {
		if (!row->common || !(row->commands >> COMMAND_TRACE & 1))
			continue;
		snprintf(line, sizeof(line), "--%s", row->name);
		assert_non_null(strstr(text, line));
		assert_non_null(strstr(text, row->help));
		common++;
	}
	assert_in_range(common, 10, 13);
	assert_memory_equal(text, "Usage: sbt-trace [OPTIONS] [--] COMMAND", 39);
	free(text);
}

/* The page of a command has its own options and no others. */
static void test_help_commands(void **state)
{
	const struct option_row *row;
	unsigned command;
	char line[64], *text;

	for (command = 0; command < COMMANDS; command++) {
		text = printed(option_help_command, (enum command)command);
		assert_in_range(lines_of(text, 85), command == COMMAND_HELP ? 6 : 12, 85);
		assert_memory_equal(text, "Usage: sbt-trace ", 17);
		for (row = option_table; row < option_table + noptions; row++) {
			const struct option_row *own =
				option_by_name((enum command)command, row->name);
			bool shown = own && own->commands >> command & 1;

			snprintf(line, sizeof(line), "\n  %c%c%s--%s%c", row->letter ? '-' : ' ',
				 row->letter ? row->letter : ' ', row->letter ? ", " : "  ",
				 row->name, ' ');
			if (own && own->letter == row->letter && !!strstr(text, line) != shown)
				fail_msg("%s --help and%s", command_texts[command].name, line);
			if (!own && strstr(text, line))
				fail_msg("%s --help has%s", command_texts[command].name, line);
		}
		free(text);
	}
}

/* Replace each run of white space by one space. */
static void join_lines(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!isspace(*text))
			*to++ = *text;
		else if (!isspace(text[1]))
			*to++ = ' ';
	*to = '\0';
}

/* The page of all options names the commands that take each of them. */
static void test_help_all(void **state)
{
	char *text = printed(print_all, COMMAND_TRACE), line[192], names[128];
	const struct option_row *row;
	unsigned i;

	lines_of(text, 90);
	for (row = option_table; row < option_table + noptions; row++) {
		snprintf(line, sizeof(line), "--%s ", row->name);
		if (!strstr(text, line))
			fail_msg("%s is missing", line);
	}
	join_lines(text);
	for (row = option_table; row < option_table + noptions; row++) {
		command_names(row->commands, names, sizeof(names));
		snprintf(line, sizeof(line), "%s (%s)", row->help, names);
		if (!row->choices && !strstr(text, line))
			fail_msg("--%s: %s is missing", row->name, line);
	}
	for (i = 0; i < OPTION_GROUPS; i++)
		assert_non_null(strstr(text, option_group_titles[i]));
	for (i = 0; i < COMMANDS; i++)
		assert_non_null(strstr(text, command_texts[i].summary));
	free(text);
}

/* The table for scripts/options gives the kind of each command's operands, as its usage does. */
static void test_help_table(void **state)
{
	static const struct {
		enum command command;
		const char *kind;
	} kinds[] = {
		{ COMMAND_TRACE, "command" }, { COMMAND_RECORD, "command" },
		{ COMMAND_TOP, "command" },   { COMMAND_REPORT, "files" },
		{ COMMAND_LIST, "files" },    { COMMAND_PREDICT, "files" },
		{ COMMAND_DIFF, "files" },    { COMMAND_SERIES, "files" },
		{ COMMAND_HANG, "none" },     { COMMAND_DOCTOR, "none" },
		{ COMMAND_HELP, "name" },
	};
	char *text = printed(print_table, COMMAND_TRACE), line[192];
	size_t i;

	assert_int_equal(ARRAY_SIZE(kinds), COMMANDS);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(line, sizeof(line), "command\t%s\t%s\t%s\n",
			 command_texts[kinds[i].command].name, kinds[i].kind,
			 command_texts[kinds[i].command].summary);
		if (!strstr(text, line))
			fail_msg("%s is missing", line);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unique),	      cmocka_unit_test(test_rows),
		cmocka_unit_test(test_parse_each),    cmocka_unit_test(test_values),
		cmocka_unit_test(test_defaults),      cmocka_unit_test(test_files),
		cmocka_unit_test(test_wrong),	      cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),	      cmocka_unit_test(test_command_names),
		cmocka_unit_test(test_command_named), cmocka_unit_test(test_help_short),
		cmocka_unit_test(test_help_commands), cmocka_unit_test(test_help_all),
		cmocka_unit_test(test_help_table),
	};

	/* Clear the environment, because variables of the SBT library count as options. */
	clearenv();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
