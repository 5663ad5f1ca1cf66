// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace diff: recordings against recordings, and whether what changed is more than noise. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "base/msg.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "cmd/view_options.h"
#include "compare/recording_set.h"
#include "emit/emit.h"
#include "emit/html_tables.h"

#define EXIT_REGRESSION 3

enum {
	DIFF_JSON = 256,
	DIFF_CSV,
	DIFF_MARKDOWN,
	DIFF_HTML,
	DIFF_FAIL,
	DIFF_QUANTITY,
	DIFF_CONFIDENCE
};

static const struct option diff_options[] = {
	{ "json", no_argument, NULL, DIFF_JSON },
	{ "csv", no_argument, NULL, DIFF_CSV },
	{ "markdown", no_argument, NULL, DIFF_MARKDOWN },
	{ "html", required_argument, NULL, DIFF_HTML },
	{ "output", required_argument, NULL, 'o' },
	{ "fail-above", required_argument, NULL, DIFF_FAIL },
	{ "quantity", required_argument, NULL, DIFF_QUANTITY },
	{ "confidence", required_argument, NULL, DIFF_CONFIDENCE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* clang-format off */
static const char diff_help[] =
"Usage: sbt-trace diff [OPTIONS] A B\n"
"       sbt-trace diff [OPTIONS] A... -- B...\n"
"\n"
"Two recordings, or several of each side, site by site: phase time, barrier time, lost time,\n"
"counters, efficiencies; A's, B's, the change, and whether it is more than noise. Sites are known\n"
"again by their id, else by name, by function and line, or by their order in a function whose lines\n"
"moved.\n"
"      --fail-above PERCENT  exit status 3 if a change for the worse is proven to be greater: of the\n"
"                            phase time of a site, or the elapsed time of the run; with --quantity:\n"
"                            of those, at every site and process (of counters more is worse); 1 if\n"
"                            nobody met on a side, or A and B have no barrier in common\n"
"      --quantity LIST       only these: phase, barrier, lost, release, elapsed, efficiency (all of\n"
"                            them: parallel, load_balance, serialisation, transfer, communication),\n"
"                            counters (all of them), or a counter's name; repeatable\n"
"      --confidence PERCENT  of the tests and intervals (default 95)\n"
"      --html FILE           a page with pictures, too: one file, no network\n"
"      --json, --csv         every difference, one a line; --markdown: the text as Markdown\n"
"  -o, --output FILE         into FILE\n"
"  -h, --help                this\n"
"\n"
"With two recordings a side and more Welch's t test is made over them; with one on one side that one\n"
"is tested against how the others vary. With one each, only phase and barrier times can be tested:\n"
"both runs are cut into 16 parts, and the median change of a part is held against how much the\n"
"parts' changes differ. What makes whole runs differ is not seen so: record several. p values are\n"
"adjusted by Holm's method over all sites of one quantity; for --fail-above the same tests are made\n"
"one-sided, against A made worse by PERCENT, and adjusted over all that it looks at.\n"
"Exit status: 0, also where all is different; 1 if a recording cannot be read; 2 for wrong usage; 3\n"
"for a regression.\n";
/* clang-format on */

struct diff {
	struct view_output out;
	const char *html; /* NULL: no page */
	struct compare_options options;
	const char **quantities;
	uint32_t nquantities;
	char **paths; /* A's, then B's */
	uint32_t npaths, na;
};

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

/* Did anybody meet in any of @n reports? */
static bool diff_met(const struct report *const *reports, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < reports[i]->nbarriers; k++)
			if (reports[i]->barriers[k].episodes || reports[i]->barriers[k].phase_ns.n)
				return true;
	return false;
}

/* --fail-above is asked for by who goes on if nothing is said: a run that broke off at once is no good news. */
static int diff_comparable(const struct diff *d, const struct recording_set *r)
{
	bool a = diff_met(r->reports, d->na), b = diff_met(r->reports + d->na, d->npaths - d->na);

	if (isnan(d->options.fail_above) || (a && b))
		return 0;
	msg_error("diff: --fail-above: nobody met at a barrier in %s: whether anything became "
		  "slower cannot be said",
		  a ? "B" : "A");
	return -ENODATA;
}

/* What is looked at must be in both; and other names may be another program's. Returns 0, or -ENODATA, told. */
static int diff_common(const struct compare *c)
{
	const struct episode_match *m = &c->match;
	uint32_t i;

	if (isnan(c->fail_above))
		return 0;
	if (c->only_a + c->only_b == m->nsites) {
		msg_error("diff: --fail-above: A and B have no barrier in common: is one of them "
			  "another program? Whether anything became slower cannot be said");
		return -ENODATA;
	}
	for (i = 0; i < m->nprocesses; i++)
		if (m->processes[i].by_order)
			break;
	if (i < m->nprocesses)
		msg_warn("diff: the programs of A and B have different names: they are taken for "
			 "versions of one");
	return 0;
}

static int diff_run(const struct diff *d)
{
	struct compare_options options = d->options;
	struct recording_set r = { 0 };
	struct diff_shown shown;
	struct compare c = { 0 };
	int status = EXIT_FAILED, err;

	if (view_spare(d->out.path, (const char *const *)d->paths, d->npaths) ||
	    view_spare(d->html, (const char *const *)d->paths, d->npaths))
		return EXIT_USAGE;
	if (pictures_page_possible(d->html))
		return EXIT_FAILED;
	if (recording_set_load(d->paths, d->npaths, &r) || diff_comparable(d, &r))
		goto out;
	options.batches = r.batches;
	err = compare_reports(r.reports, d->na, r.reports + d->na, d->npaths - d->na, &options, &c);
	if (err) {
		msg_error("cannot compare the recordings: %s", strerror(-err));
		goto out;
	}
	if (c.unknown) {
		msg_error("--quantity %s: no recording has it (see sbt-trace diff --help)",
			  c.unknown);
		status = EXIT_USAGE;
		goto out;
	}
	shown = (struct diff_shown){ &c, r.inputs };
	status = view_print(&d->out, diff_print, &shown);
	if (pictures_page(d->html, diff_draw, &shown))
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

static int diff_format(struct diff *d, enum emit_format format)
{
	if (d->out.format != EMIT_TEXT && d->out.format != format) {
		msg_error("diff: one of --json, --csv and --markdown, not two");
		return -EINVAL;
	}
	d->out.format = format;
	return 0;
}

/* Returns 0, or -EINVAL and has said why. */
static int diff_option(struct diff *d, int c, char *arg)
{
	switch (c) {
	case 'o':
		d->out.path = arg;
		return 0;
	case DIFF_JSON:
		return diff_format(d, EMIT_JSON);
	case DIFF_CSV:
		return diff_format(d, EMIT_CSV);
	case DIFF_MARKDOWN:
		return diff_format(d, EMIT_MARKDOWN);
	case DIFF_HTML:
		d->html = arg;
		return 0;
	case DIFF_QUANTITY:
		if (!view_words(arg, &d->quantities, &d->nquantities))
			return 0;
		msg_error("diff: --quantity: names with commas between them are expected");
		return -EINVAL;
	case DIFF_FAIL:
		if (!view_percent(arg, &d->options.fail_above))
			return 0;
		msg_error("diff: --fail-above %s: a number of per cent is expected", arg);
		return -EINVAL;
	case DIFF_CONFIDENCE:
		if (!view_percent(arg, &d->options.confidence) && d->options.confidence >= 0.5 &&
		    d->options.confidence < 1)
			return 0;
		msg_error("diff: --confidence %s: a number of per cent from 50 to below 100 is "
			  "expected",
			  arg);
		return -EINVAL;
	default:
		msg_error("diff: unknown option (see sbt-trace diff --help)");
		return -EINVAL;
	}
}

static int diff_sides(struct diff *d, int argc, char **argv)
{
	bool dashes = optind > 1 && !strcmp(argv[optind - 1], "--");

	if (!dashes && d->npaths == 2)
		d->na = 1;
	else
		d->na = d->npaths;
	for (; optind < argc; optind++)
		d->paths[d->npaths++] = argv[optind];
	if (d->na && d->na < d->npaths)
		return 0;
	msg_error("diff: what with what? A B, or A... -- B... (see sbt-trace diff --help)");
	return -EINVAL;
}

/* Returns -1, or the exit status: there is no more to do. */
static int diff_parse(struct diff *d, int argc, char **argv)
{
	int c;

	opterr = 0;
	/* In order: -- stands between the sides. */
	while ((c = getopt_long(argc, argv, "-:ho:", diff_options, NULL)) != -1) {
		switch (c) {
		case 1:
			d->paths[d->npaths++] = optarg;
			break;
		case 'h':
			return view_help(diff_help);
		case ':':
			msg_error("diff: option %s needs a value (see sbt-trace diff --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		case '?':
			msg_error("diff: unknown option %s (see sbt-trace diff --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		default:
			if (diff_option(d, c, optarg))
				return EXIT_USAGE;
		}
	}
	return diff_sides(d, argc, argv) ? EXIT_USAGE : -1;
}

int cmd_diff(int argc, char **argv)
{
	struct diff d = { .options = { .confidence = 0.95, .fail_above = NAN } };
	int status = EXIT_FAILED;

	d.paths = calloc((size_t)argc + 1, sizeof(*d.paths));
	if (!d.paths) {
		msg_error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	status = diff_parse(&d, argc, argv);
	if (status < 0) {
		d.options.quantities = d.quantities;
		d.options.nquantities = d.nquantities;
		signal(SIGPIPE, SIG_IGN);
		status = diff_run(&d);
	}
	free(d.quantities);
	free(d.paths);
	return status;
}
