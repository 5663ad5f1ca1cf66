// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace diff: compare recordings, and test whether their differences exceed noise. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/msg.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "cmd/view_output.h"
#include "compare/compare.h"
#include "compare/recording_set.h"
#include "emit/emit.h"
#include "emit/html_tables.h"

#define EXIT_REGRESSION 3

struct diff_shown {
	const struct compare *compare;
	const struct compare_input *inputs;
};

static void diff_print(struct emit *emit, const void *ctx)
{
	const struct diff_shown *s = ctx;

	emit_compare(emit, s->compare, s->inputs);
}

static int diff_draw(FILE *file, const void *ctx)
{
	const struct diff_shown *s = ctx;

	return html_compare(file, s->compare, s->inputs, "A against B");
}

/* Return whether any of @n reports has an episode. */
static bool diff_has_episodes(const struct report *const *reports, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < reports[i]->nbarriers; k++)
			if (reports[i]->barriers[k].episodes || reports[i]->barriers[k].phase_ns.n)
				return true;
	return false;
}

/* Refuse a side without episodes: --fail-above must not pass a run that failed at once. */
static int diff_comparable(const struct command_line *line, const struct recording_set *r,
			   uint32_t na)
{
	bool a = diff_has_episodes(r->reports, na);
	bool b = diff_has_episodes(r->reports + na, (uint32_t)line->files.n - na);

	if (isnan(line->fail_above) || (a && b))
		return 0;
	msg_error("diff: --fail-above: %s has no barrier episode, so it is unknown whether "
		  "anything became slower",
		  a ? "B" : "A");
	return -ENODATA;
}

/*
 * For --fail-above, check that A and B have a barrier in common, and warn if their programs have
 * different names. Return 0, or -ENODATA after a message.
 */
static int diff_common(const struct compare *c)
{
	const struct episode_match *m = &c->match;
	uint32_t i;

	if (isnan(c->fail_above))
		return 0;
	if (c->only_a + c->only_b == m->nsites) {
		msg_error("diff: --fail-above: A and B have no barrier in common, so it is "
			  "unknown whether anything became slower. Are they recordings of "
			  "different programs?");
		return -ENODATA;
	}
	for (i = 0; i < m->nprocesses; i++)
		if (m->processes[i].by_order)
			break;
	if (i < m->nprocesses)
		msg_warn("diff: the programs of A and B have different names: they are compared "
			 "as versions of one program");
	return 0;
}

/* Return the number of files on side A. Return 0 after a message if the sides are not clear. */
static uint32_t diff_side_a(const struct command_line *line)
{
	size_t na = line->before_dashes;

	if (na == line->files.n && na == 2)
		na = 1;
	if (na && na < line->files.n)
		return (uint32_t)na;
	msg_error("diff: two recordings or two sides are expected: A B, or A... -- B... (see "
		  "sbt-trace diff --help)");
	return 0;
}

static int diff_run(struct command_line *line)
{
	struct compare_options options = {
		.confidence = line->confidence,
		.fail_above = line->fail_above,
		.quantities = (const char *const *)line->quantities.words,
		.nquantities = (uint32_t)line->quantities.n,
	};
	uint32_t n, na;
	struct recording_set r = { 0 };
	struct diff_shown shown;
	struct compare c = { 0 };
	int status = EXIT_FAILED, err;

	if (view_default_files(line, true))
		return EXIT_USAGE;
	n = (uint32_t)line->files.n;
	na = diff_side_a(line);
	if (!na || view_spare_files(line))
		return EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN);
	if (pictures_page_possible(line->html))
		return EXIT_FAILED;
	if (recording_set_load(line->files.words, n, &r) || diff_comparable(line, &r, na))
		goto out;
	options.batches = r.batches;
	err = compare_reports(r.reports, na, r.reports + na, n - na, &options, &c);
	if (err) {
		msg_error("cannot compare the recordings: %s", strerror(-err));
		goto out;
	}
	if (c.unknown) {
		msg_error("--quantity %s: no recording has this quantity (see sbt-trace "
			  "diff --help)",
			  c.unknown);
		status = EXIT_USAGE;
		goto out;
	}
	shown = (struct diff_shown){ &c, r.inputs };
	status = view_print(&line->options, diff_print, &shown);
	if (pictures_page(line->html, diff_draw, &shown))
		status = EXIT_FAILED;
	if (!status && diff_common(&c))
		status = EXIT_FAILED;
	else if (!status && c.regressions)
		status = EXIT_REGRESSION;
out:
	compare_free(&c);
	recording_set_free(&r);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_DIFF }, argc, argv, diff_run);
}
