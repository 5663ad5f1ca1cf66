// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/option_store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/conceptual.h"
#include "base/grow.h"
#include "base/msg.h"
#include "cmd/command_line.h"
#include "cmd/option_row.h"
#include "sites/rule.h"

static int wrong_value(const char *given, const char *value, const char *expected)
{
	if (*value)
		msg_error("%s %s: %s is expected", given, value, expected);
	else
		msg_error("the value of %s is empty: %s is expected", given, expected);
	return -EINVAL;
}

static int add_word(struct option_list *list, char *word)
{
	if (grow(list->words, list->cap, list->n + 2))
		return -ENOMEM;
	list->words[list->n++] = word;
	list->words[list->n] = NULL;
	return 0;
}

static int parse_integer(const char *s, const struct option_row *row, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end || (double)v < row->least || (double)v > row->most)
		return -EINVAL;
	*out = row->scale > 0 ? v * (uint64_t)row->scale : v;
	return 0;
}

static int parse_decimal(const char *s, const struct option_row *row, double *out)
{
	double v;
	char *end;

	if ((*s < '0' || *s > '9') && *s != '.')
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (row->percent_sign && *end == '%')
		end++;
	if (errno || *end || !isfinite(v) || v < row->least || v > row->most)
		return -EINVAL;
	*out = v;
	return 0;
}

static int store_integer(const struct option_row *row, void *to, const char *value)
{
	uint64_t v;

	if (parse_integer(value, row, &v))
		return -EINVAL;
	switch (row->size) {
	case sizeof(uint8_t):
		*(uint8_t *)to = (uint8_t)v;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)to = (uint32_t)v;
		break;
	default:
		*(uint64_t *)to = v;
	}
	return 0;
}

static int store_decimal(const struct option_row *row, void *to, const char *value)
{
	double v;

	if (parse_decimal(value, row, &v))
		return -EINVAL;
	if (row->kind == OPTION_SECONDS)
		*(uint64_t *)to = (uint64_t)(v * 1e9);
	else
		*(double *)to = v * row->scale;
	return 0;
}

/* Return the index of @value among the words of @choices, or -EINVAL if it is not among them. */
static int choice(const char *choices, const char *value)
{
	size_t len;
	int i;

	for (i = 0; *choices; i++) {
		len = strcspn(choices, " ");
		if (strlen(value) == len && !strncmp(choices, value, len))
			return i;
		choices += len + (choices[len] == ' ');
	}
	return -EINVAL;
}

/* Print a message with the choices as "a, b or c". Return -EINVAL. */
static int wrong_choice(const char *given, const char *value, const char *choices)
{
	char text[128];
	size_t at = 0;

	while (*choices && at < sizeof(text)) {
		size_t len = strcspn(choices, " ");
		const char *next = choices + len + (choices[len] == ' ');

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s",
				       !at     ? ""
				       : *next ? ", "
					       : " or ",
				       (int)len, choices);
		choices = next;
	}
	return wrong_value(given, value, text);
}

int option_store(struct command_line *line, const struct option_row *row, const char *given,
		 char *value)
{
	void *to = (char *)line + row->offset;
	int err = 0, at;

	switch (row->kind) {
	case OPTION_TRUE:
	case OPTION_FALSE:
		*(bool *)to = row->kind == OPTION_TRUE;
		return 0;
	case OPTION_COUNT:
		++*(int *)to;
		return 0;
	case OPTION_TEXT:
		*(const char **)to = value;
		return 0;
	case OPTION_LIST:
		return add_word(to, value);
	case OPTION_CHOICE:
		at = choice(row->choices, value);
		if (at < 0)
			return wrong_choice(given, value, row->choices);
		*(uint32_t *)to = (uint32_t)at;
		return 0;
	case OPTION_INTEGER:
		err = store_integer(row, to, value);
		break;
	case OPTION_DECIMAL:
	case OPTION_SECONDS:
		err = store_decimal(row, to, value);
		break;
	case OPTION_CALL:
		err = row->take(line, row, value);
		break;
	default:
		break;
	}
	if (err == -EINVAL && row->expected)
		return wrong_value(given, value, row->expected);
	return err;
}

int option_add_file(struct command_line *line, char *file)
{
	int err = add_word(&line->files, file);

	return err ? err : add_word(&line->labels, line->label);
}

/* --- options with a syntax of their own ------------------------------------------------------- */

int option_take_pids(struct command_line *line, const struct option_row *row, char *value)
{
	static const struct option_row range = { .least = 1, .most = 1 << 30 };
	struct options *o = &line->options;
	char *list = strdup(value), *rest = list, *word;
	int err = list ? 0 : -ENOMEM, n = 0;
	uint64_t pid;

	while (!err && (word = strsep(&rest, ","))) {
		err = row->value && n++ == row->value ? -EINVAL : parse_integer(word, &range, &pid);
		if (!err)
			err = grow(o->pids, o->cap_pids, o->npids + 1);
		if (!err)
			o->pids[o->npids++] = (int)pid;
	}
	free(list);
	return err;
}

int option_take_all(struct command_line *line, const struct option_row *row, char *value)
{
	(void)row;
	(void)value;
	line->options.mode = OPTIONS_SYSTEM;
	return 0;
}

int option_take_discover(struct command_line *line, const struct option_row *row, char *value)
{
	struct options *o = &line->options;

	(void)value;
	o->discover = o->discover_futex = row->value;
	o->discover_given = true;
	return 0;
}

int option_take_barrier(struct command_line *line, const struct option_row *row, char *value)
{
	struct options *o = &line->options;
	char why[256] = "";
	int err;

	(void)row;
	if (!o->rules)
		o->rules = calloc(1, sizeof(*o->rules));
	err = o->rules ? rules_add(o->rules, value, why, sizeof(why)) : -ENOMEM;
	if (err && err != -ENOMEM)
		msg_error("-b %s: %s", value, why);
	return err;
}

int options_add_watch(struct options *o, const char *barrier)
{
	if (grow(o->watch, o->cap_watch, o->nwatch + 1))
		return -ENOMEM;
	o->watch[o->nwatch++] = barrier;
	return 0;
}

int option_take_watch(struct command_line *line, const struct option_row *row, char *value)
{
	(void)row;
	if (line->options.watch_from_env)
		line->options.nwatch = 0;
	line->options.watch_from_env = false;
	return options_add_watch(&line->options, value);
}

/* Cut the value at its '=', in place: programs may change argv. */
int option_take_name(struct command_line *line, const struct option_row *row, char *value)
{
	struct options *o = &line->options;
	char *equals = strchr(value, '=');

	(void)row;
	if (!equals || equals == value || !equals[1])
		return -EINVAL;
	if (grow(o->names, o->cap_names, o->nnames + 1))
		return -ENOMEM;
	*equals = '\0';
	o->names[o->nnames++] = (struct options_name){ value, equals + 1 };
	return 0;
}

/*
 * Return the position of the ".." that separates two barriers, or NULL if there is none. Skip ".."
 * that means the parent folder in a path.
 */
static char *find_dots(char *s)
{
	char *at;

	for (at = strstr(s, ".."); at; at = strstr(at + 2, ".."))
		if (at[2] != '/')
			return at;
	return NULL;
}

/* Cut the value into three, in place. */
int option_take_phase(struct command_line *line, const struct option_row *row, char *value)
{
	char *equals = strchr(value, '='), *dots = equals ? find_dots(equals + 1) : NULL;
	struct options *o = &line->options;

	(void)row;
	if (!dots || equals == value || !dots[2] || o->nphases == CONCEPTUAL_MAX)
		return -EINVAL;
	if (grow(o->phases, o->cap_phases, o->nphases + 1))
		return -ENOMEM;
	*equals = *dots = '\0';
	o->phases[o->nphases++] = (struct options_phase){ value, equals + 1, dots + 2 };
	return 0;
}

int option_take_events(struct command_line *line, const struct option_row *row, char *value)
{
	(void)row;
	line->options.events = value;
	line->options.events_from = "-e";
	return 0;
}

int option_take_format(struct command_line *line, const struct option_row *row, char *value)
{
	enum emit_format format = (enum emit_format)row->value;
	struct options *o = &line->options;

	(void)value;
	if (o->format != EMIT_TEXT && o->format != format) {
		msg_error("give one of --json, --csv and --markdown, not several");
		return -EINVAL;
	}
	o->format = format;
	return 0;
}

int option_take_attach(struct command_line *line, const struct option_row *row, char *value)
{
	int method = choice(row->choices, value);

	if (method < 0)
		return wrong_choice("--attach", value, row->choices);
	line->options.method = (enum attach_method)method;
	line->options.method_given = true;
	return 0;
}

int option_take_ring_size(struct command_line *line, const struct option_row *row, char *value)
{
	uint64_t bytes;

	if (parse_integer(value, row, &bytes))
		return -EINVAL;
	line->options.ring_bytes = (size_t)bytes;
	line->options.ring_given = true;
	return 0;
}

int option_take_quantities(struct command_line *line, const struct option_row *row, char *value)
{
	char *word;
	int err = 0;

	(void)row;
	while (!err && (word = strsep(&value, ",")))
		err = *word ? add_word(&line->quantities, word) : -EINVAL;
	if (err == -EINVAL)
		msg_error("--quantity: names separated by commas are expected");
	return err;
}

int option_take_label(struct command_line *line, const struct option_row *row, char *value)
{
	(void)row;
	if (!*value) {
		msg_error("--label: a label is expected");
		return -EINVAL;
	}
	line->label = value;
	return 0;
}
