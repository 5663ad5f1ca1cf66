// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace list: print what can be traced or counted here, without tracing. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/counters.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/msg.h"
#include "capture/barriers.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "emit/json.h"

#define COLUMNS	  100
#define NAME_MOST 40 /* columns for names; a longer name has a line of its own */
#define GAP	  2

struct counter {
	struct event_spec spec;
	bool available;
	char *reason;
	size_t note; /* number of the note with the reason, from 1; 0: no reason */
};

struct list {
	struct counter *counters;
	size_t n, cap;
};

static int keep(void *ctx, const struct event_spec *spec, bool available, const char *reason)
{
	struct list *l = ctx;
	struct counter *c;

	if (grow(l->counters, l->cap, l->n + 1))
		return -ENOMEM;
	c = &l->counters[l->n];
	*c = (struct counter){ *spec, available, strdup(reason), 0 };
	if (!c->reason)
		return -ENOMEM;
	l->n++;
	return 0;
}

/*
 * Add the words of @s, wrapped. All lines begin at column @indent, which the first line has already
 * reached.
 */
static void add_wrapped(struct buf *buf, const char *s, size_t indent)
{
	size_t column = indent;

	while (*s) {
		size_t len = strcspn(s, " ");

		if (column > indent && column + 1 + len > COLUMNS) {
			buf_printf(buf, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_char(buf, ' ');
			column++;
		}
		buf_add(buf, s, len);
		column += len;
		s += len + strspn(s + len, " ");
	}
	buf_char(buf, '\n');
}

static size_t name_width(const struct list *l)
{
	size_t width = strlen("NAME");

	array_for_each (c, l->counters, l->n) {
		size_t len = strlen(c->spec.name);

		if (len > width && len <= NAME_MOST)
			width = len;
	}
	return width;
}

/*
 * Return the reason without the event's name at its beginning. Set *@named to whether the name was
 * there.
 */
static const char *general(const struct counter *c, bool *named)
{
	size_t len = strlen(c->spec.name);

	*named = !strncmp(c->reason, c->spec.name, len) && c->reason[len] == ' ';
	return *named ? c->reason + len + 1 : c->reason;
}

static bool same_reason(const struct counter *a, const struct counter *b)
{
	bool named_a, named_b;
	const char *of_a = general(a, &named_a), *of_b = general(b, &named_b);

	return named_a == named_b && !strcmp(of_a, of_b);
}

/*
 * Number the reasons. Many counters share a few reasons, and each reason is printed once, below the
 * table.
 */
static void number_notes(struct list *l)
{
	size_t i, j, n = 0;

	for (i = 0; i < l->n; i++) {
		struct counter *c = &l->counters[i];

		if (!*c->reason)
			continue;
		for (j = 0; j < i && !same_reason(&l->counters[j], c); j++)
			;
		c->note = j < i ? l->counters[j].note : ++n;
	}
}

static void add_notes(struct buf *buf, const struct list *l)
{
	size_t n = 0;

	array_for_each (c, l->counters, l->n) {
		char text[512];
		const char *reason;
		bool named;

		if (c->note <= n)
			continue;
		n = c->note;
		reason = general(c, &named);
		snprintf(text, sizeof(text), "%s%s", named ? "it " : "", reason);
		buf_printf(buf, "%s(%zu)%*s", n == 1 ? "\n" : "", n, n < 10 ? 2 : 1, "");
		add_wrapped(buf, text, strlen("(1)") + GAP);
	}
}

static void add_table(struct buf *buf, struct list *l)
{
	size_t name = name_width(l), source = strlen("hardware");

	number_notes(l);
	buf_printf(buf, "%-*s  %-*s  AVAILABLE\n", (int)name, "NAME", (int)source, "SOURCE");
	array_for_each (c, l->counters, l->n) {
		bool own_line = strlen(c->spec.name) > name;

		if (own_line)
			buf_printf(buf, "%s\n", c->spec.name);
		buf_printf(buf, "%-*s  %-*s  ", (int)name, own_line ? "" : c->spec.name,
			   (int)source, event_source_name(c->spec.source));
		buf_str(buf, c->available ? "yes" : "no");
		if (c->note)
			buf_printf(buf, " (%zu)", c->note);
		buf_char(buf, '\n');
	}
	add_notes(buf, l);
}

static void add_member(struct buf *buf, const char *name, const char *value)
{
	buf_printf(buf, ",\"%s\":", name);
	if (*value)
		jsonl_string(buf, value);
	else
		buf_str(buf, "null");
}

static void add_json(struct buf *buf, const struct list *l)
{
	array_for_each (c, l->counters, l->n) {
		buf_str(buf, "{\"type\":\"counter\"");
		add_member(buf, "name", c->spec.name);
		add_member(buf, "what", c->spec.what);
		add_member(buf, "source", event_source_name(c->spec.source));
		add_member(buf, "unit", c->spec.unit);
		buf_printf(buf, ",\"available\":%s", c->available ? "true" : "false");
		add_member(buf, "reason", c->reason);
		buf_str(buf, "}\n");
	}
}

static int write_out(const struct buf *buf)
{
	int err = 0;

	errno = 0;
	if (buf->failed)
		err = -ENOMEM;
	else if (fwrite(buf->s, 1, buf->len, stdout) != buf->len || fflush(stdout))
		err = errno ? -errno : -EIO;
	if (err)
		msg_error("cannot write to stdout: %s", strerror(-err));
	return err;
}

static int list_events(bool json, struct buf *buf)
{
	struct list l = { 0 };
	int err = counters_list(keep, &l);

	if (err)
		msg_error("cannot list the counters: %s", strerror(-err));
	else if (json)
		add_json(buf, &l);
	else
		add_table(buf, &l);
	while (l.n)
		free(l.counters[--l.n].reason);
	free(l.counters);
	return err;
}

static int list_probe_sites(const struct command_line *line, struct buf *buf)
{
	const struct barriers_options o = {
		.binary = line->files.n ? line->files.words[0] : NULL,
		.pid = line->options.npids ? line->options.pids[0] : 0,
		.json = line->options.format == EMIT_JSON,
		.rules = line->options.rules,
	};

	return barriers_list(&o, buf);
}

static int run(struct command_line *line)
{
	struct buf buf = { 0 };
	int err;

	if (line->events + line->options.npids + line->files.n != 1) {
		msg_error("list: give one of BINARY, -p PID and --events (see sbt-trace list "
			  "--help)");
		return EXIT_USAGE;
	}
	if (line->events && line->options.rules) {
		msg_error("list: --events lists counters: it cannot be combined with -b");
		return EXIT_USAGE;
	}
	err = line->events ? list_events(line->options.format == EMIT_JSON, &buf)
			   : list_probe_sites(line, &buf);
	if (!err)
		err = write_out(&buf);
	buf_free(&buf);
	return err ? EXIT_FAILED : 0;
}

int cmd_list(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_LIST }, argc, argv, run);
}
