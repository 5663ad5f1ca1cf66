// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace list: what could be traced or counted here, without tracing anything. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/counters.h"
#include "base/msg.h"
#include "capture/barriers.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "emit/json.h"

#define COLUMNS	  100
#define NAME_MOST 40 /* columns; what is longer has a line of its own */
#define GAP	  2

struct counter {
	struct event_spec spec;
	bool available;
	char *reason;
	size_t note; /* its reason's number, from 1; 0: no reason */
};

struct list {
	bool events;
	bool json;
	int pid; /* 0: none */
	struct rules rules; /* -b */
	struct counter *counters;
	size_t n;
};

enum { OPT_EVENTS = 256, OPT_JSON };

static const struct option long_options[] = {
	{ "events", no_argument, NULL, OPT_EVENTS }, { "json", no_argument, NULL, OPT_JSON },
	{ "pid", required_argument, NULL, 'p' },     { "barrier", required_argument, NULL, 'b' },
	{ "help", no_argument, NULL, 'h' },	     { NULL, 0, NULL, 0 },
};

static const char help[] =
	"Usage: sbt-trace list [-b SPEC] [--json] BINARY\n"
	"       sbt-trace list [-b SPEC] [--json] -p PID\n"
	"       sbt-trace list --events [--json]\n"
	"\n"
	"Where barriers could be traced in a program and the libraries it needs, or in a process: "
	"by family,\n"
	"with the instruction that the probe would sit on, what that costs (emulated by the "
	"kernel, or\n"
	"single-stepped: six to ten times dearer), and how the end of a crossing is seen; and what "
	"cannot be\n"
	"seen.\n"
	"Nothing is run and nothing is probed.\n"
	"  -p, --pid PID        this process, with what it has loaded by now\n"
	"  -b, --barrier SPEC   these functions too, as in sbt-trace -b; repeatable\n"
	"      --events         the counters that -e can be given here: name, source, whether they "
	"can "
	"be had\n"
	"      --json           one object a line\n"
	"  -h, --help           this\n";

static int keep(void *ctx, const struct event_spec *spec, bool available, const char *reason)
{
	struct list *l = ctx;
	struct counter *all = realloc(l->counters, (l->n + 1) * sizeof(*all)), *c;

	if (!all)
		return -ENOMEM;
	l->counters = all;
	c = &all[l->n];
	c->spec = *spec;
	c->available = available;
	c->reason = strdup(reason);
	if (!c->reason)
		return -ENOMEM;
	l->n++;
	return 0;
}

/* The words of @s from column @indent on; the first line is already that far. */
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
	size_t i, width = strlen("NAME");

	for (i = 0; i < l->n; i++) {
		size_t len = strlen(l->counters[i].spec.name);

		if (len > width && len <= NAME_MOST)
			width = len;
	}
	return width;
}

/* A reason without the event's own name at its beginning: *@named tells whether it stood there. */
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

/* The same few reasons hold for many: each is printed once, below. */
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
	size_t i, n = 0;

	for (i = 0; i < l->n; i++) {
		const struct counter *c = &l->counters[i];
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
	size_t name = name_width(l), source = strlen("hardware"), i;

	number_notes(l);
	buf_printf(buf, "%-*s  %-*s  AVAILABLE\n", (int)name, "NAME", (int)source, "SOURCE");
	for (i = 0; i < l->n; i++) {
		const struct counter *c = &l->counters[i];
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
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct counter *c = &l->counters[i];

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

static int list_events(struct list *l)
{
	struct buf buf = { 0 };
	int err;

	err = counters_list(keep, l);
	if (err) {
		msg_error("cannot list the counters: %s", strerror(-err));
		return err;
	}
	if (l->json)
		add_json(&buf, l);
	else
		add_table(&buf, l);
	err = write_out(&buf);
	buf_free(&buf);
	return err;
}

/* @binary: NULL with -p. */
static int list_places(struct list *l, const char *binary)
{
	struct barriers_options o = {
		.binary = l->pid ? NULL : binary, .pid = l->pid, .json = l->json, .rules = &l->rules
	};
	struct buf buf = { 0 };
	int err;

	err = barriers_list(&o, &buf);
	if (!err)
		err = write_out(&buf);
	buf_free(&buf);
	return err;
}

/* 0: it is none. */
static int number_of(const char *s)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(s, &end, 10);
	return errno || *end || *s < '0' || *s > '9' || n < 1 || n > INT32_MAX ? 0 : (int)n;
}

static int show_help(void)
{
	struct buf buf = { 0 };
	int err;

	buf_str(&buf, help);
	err = write_out(&buf);
	buf_free(&buf);
	return err ? EXIT_FAILED : 0;
}

int cmd_list(int argc, char **argv)
{
	struct list l = { 0 };
	char why[256];
	int c, err;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":hp:b:", long_options, NULL)) != -1) {
		switch (c) {
		case 'h':
			return show_help();
		case 'p':
			l.pid = number_of(optarg);
			if (!l.pid) {
				msg_error("list: -p %s: the number of a process is expected",
					  optarg);
				return EXIT_USAGE;
			}
			break;
		case 'b':
			if (rules_add(&l.rules, optarg, why, sizeof(why))) {
				msg_error("list: -b %s: %s", optarg, *why ? why : strerror(ENOMEM));
				rules_free(&l.rules);
				return EXIT_USAGE;
			}
			break;
		case ':':
			msg_error("list: option %s needs a value (see sbt-trace list --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		case OPT_EVENTS:
			l.events = true;
			break;
		case OPT_JSON:
			l.json = true;
			break;
		default:
			msg_error("list: unknown option %s (see sbt-trace list --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		}
	}
	if (l.events + (l.pid > 0) + (argc - optind) != 1) {
		msg_error("list: one of BINARY, -p PID and --events (see sbt-trace list --help)");
		rules_free(&l.rules);
		return EXIT_USAGE;
	}
	if (l.events && l.rules.n) {
		msg_error("list: --events lists counters: -b means nothing with it");
		rules_free(&l.rules);
		return EXIT_USAGE;
	}
	err = l.events ? list_events(&l) : list_places(&l, argv[optind]);
	rules_free(&l.rules);
	while (l.n)
		free(l.counters[--l.n].reason);
	free(l.counters);
	return err ? EXIT_FAILED : 0;
}
