// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The labels of recordings, and their points. */
#include <errno.h>
#include <string.h>

#include "compare/series_internal.h"

#include "base/array.h"
#include "base/text.h"

#define WORDS 64 /* a command with more words than this is used unchanged as a label */

uint32_t series_threads(const struct report *r)
{
	uint32_t sum = 0;

	array_for_each (p, r->processes, r->nprocesses)
		sum += p->threads;
	return sum ? sum : SERIES_NONE;
}

static const char *label_file(struct series_making *k, const char *file)
{
	char *label, *dot;

	if (!file)
		return "?";
	label = arena_string(k->arena, text_base_name(file));
	dot = label ? strrchr(label, '.') : NULL;
	/* The only dot of a name like ".sbt" does not begin an extension. */
	if (dot && dot != label)
		*dot = '\0';
	return label;
}

static const char *label_threads(struct series_making *k, const struct report *r)
{
	uint32_t n = series_threads(r);

	if (n == SERIES_NONE)
		return "no threads";
	return arena_printf(k->arena, "%u thread%s", n, n == 1 ? "" : "s");
}

/* Return the length of the directories before the program's name. */
static size_t directories(const char *command)
{
	const char *end = strchrnul(command, ' '), *at, *name = command;

	for (at = command; at < end; at++)
		if (*at == '/' && at + 1 < end)
			name = at + 1;
	return (size_t)(name - command);
}

static const char *label_command(struct series_making *k, const struct series_input *in)
{
	if (!in->command)
		return label_file(k, in->file);
	return arena_string(k->arena, in->command + (k->bare ? directories(in->command) : 0));
}

/*
 * Set *commands to whether the commands of the recordings without a label differ. Set *threads to
 * whether their numbers of threads differ.
 */
static void differing(struct series_making *k, uint32_t n, bool *commands, bool *threads)
{
	const struct series_input *first = NULL;
	size_t length;

	*commands = *threads = false;
	k->bare = true;
	array_for_each (in, k->inputs, n) {
		if (in->label)
			continue;
		first = first ? first : in;
		*threads |= series_threads(in->report) != series_threads(first->report);
		if (!in->command || !first->command) {
			*commands = true;
			k->bare = false;
			continue;
		}
		*commands |= strcmp(in->command, first->command) != 0;
		length = directories(in->command);
		k->bare &= length == directories(first->command) &&
			   !strncmp(in->command, first->command, length);
	}
}

/* Return word @index of @command, and its length, or NULL if there is none. */
static const char *word_at(const char *command, uint32_t index, size_t *length)
{
	const char *at = command + strspn(command, " ");

	for (; *at && index; index--) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	*length = strcspn(at, " ");
	return *length ? at : NULL;
}

static uint32_t count_words(const char *command)
{
	uint32_t n = 0;
	size_t length;

	while (n <= WORDS && word_at(command, n, &length))
		n++;
	return n;
}

static bool same_word(const char *a, const char *b, uint32_t index)
{
	size_t m, n;

	a = word_at(a, index, &m);
	b = word_at(b, index, &n);
	return a && b && m == n && !strncmp(a, b, n);
}

/*
 * Set k->words to the number of words of each command, and k->same to the words that are the same
 * in all commands.
 */
static void compare_words(struct series_making *k, uint32_t n)
{
	const char *first = NULL, *command;
	uint32_t w;

	k->same = UINT64_MAX;
	array_for_each (input, k->inputs, n) {
		command = input->label ? NULL : input->command;
		if (!command)
			continue;
		if (!first) {
			first = command;
			k->words = count_words(first);
		}
		if (count_words(command) != k->words)
			k->words = 0;
		for (w = 0; w < k->words && w < WORDS; w++)
			if (!same_word(first, command, w))
				k->same &= ~(1ull << w);
	}
	if (k->words > WORDS)
		k->words = 0;
}

static bool differs(const struct series_making *k, uint32_t word)
{
	return word < k->words && !(k->same >> word & 1);
}

/*
 * Return a label that consists of the program and the words that differ, each with the option
 * before it.
 */
static const char *label_differing(struct series_making *k, const struct series_input *in)
{
	const char *command = label_command(k, in), *word;
	size_t length, at = 0;
	char *out;
	uint32_t i;

	if (!command || !in->command || !k->words)
		return command;
	out = arena_alloc(k->arena, strlen(command) + 1);
	if (!out)
		return NULL;
	for (i = 0; i < k->words; i++) {
		word = word_at(command, i, &length);
		if (!word || (i && !differs(k, i) && !(*word == '-' && differs(k, i + 1))))
			continue;
		if (at)
			out[at++] = ' ';
		memcpy(out + at, word, length);
		at += length;
	}
	out[at] = '\0';
	return out;
}

static const char *label_run(struct series_making *k, const struct series_input *in, bool commands,
			     bool threads)
{
	const char *c, *t;

	if (!threads)
		return commands ? label_differing(k, in) : label_command(k, in);
	t = label_threads(k, in->report);
	if (!commands)
		return t;
	c = label_differing(k, in);
	return c && t ? arena_printf(k->arena, "%s, %s", c, t) : NULL;
}

static const char *label_of(struct series_making *k, const struct series_input *in,
			    enum series_by by, bool commands, bool threads)
{
	if (in->label)
		return arena_string(k->arena, in->label);
	switch (by) {
	case SERIES_BY_FILE:
		return label_file(k, in->file);
	case SERIES_BY_COMMAND:
		return label_command(k, in);
	case SERIES_BY_THREADS:
		return label_threads(k, in->report);
	default:
		return label_run(k, in, commands, threads);
	}
}

/*
 * Split a label ROW/COLUMN of the user at its last slash, unless a part would be empty. Return 0 or
 * -ENOMEM.
 */
static int point_split(struct series_making *k, struct series_point *p, bool user)
{
	const char *slash = user ? strrchr(p->label, '/') : NULL;

	p->row = p->label;
	if (!slash || slash == p->label || !slash[1])
		return 0;
	p->row = arena_printf(k->arena, "%.*s", (int)(slash - p->label), p->label);
	p->column = slash + 1;
	return p->row ? 0 : -ENOMEM;
}

int series_label(struct series_making *k, uint32_t n, enum series_by by)
{
	struct series *s = k->s;
	bool commands, threads;
	const char *label;
	uint32_t i, j;

	differing(k, n, &commands, &threads);
	compare_words(k, n);
	for (i = 0; i < n; i++) {
		label = label_of(k, &k->inputs[i], by, commands, threads);
		if (!label)
			return -ENOMEM;
		for (j = 0; j < s->npoints && strcmp(s->points[j].label, label) != 0; j++)
			;
		k->point[i] = j;
		if (j < s->npoints)
			continue;
		s->points[j] = (struct series_point){ .label = label, .base = SERIES_NONE };
		if (point_split(k, &s->points[j], k->inputs[i].label != NULL))
			return -ENOMEM;
		s->npoints++;
	}
	return 0;
}
