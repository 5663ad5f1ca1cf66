// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace report: print from a recording what trace would have printed. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/msg.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "predict/predict_as_recording.h"
#include "cmd/view_output.h"
#include "recording/replay.h"
#include "analyse/observer.h"

/* The rows to print; all rows if nothing is chosen. */
struct which {
	const struct option_list *sites;
	uint32_t *threads;
	size_t nthreads;
};

/* Read the numbers of --thread. */
static int read_threads(const struct option_list *words, struct which *w)
{
	size_t i;

	w->threads = calloc(words->n + 1, sizeof(*w->threads));
	if (!w->threads) {
		msg_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (i = 0; i < words->n; i++) {
		const char *word = words->words[i];
		unsigned long tid;
		char *end;

		errno = 0;
		tid = strtoul(word, &end, 10);
		if (errno || *word < '0' || *word > '9' || *end || tid > UINT32_MAX) {
			msg_error("--thread %s: a thread number is expected", word);
			return -EINVAL;
		}
		w->threads[w->nthreads++] = (uint32_t)tid;
	}
	return 0;
}

/* --- chosen rows ------------------------------------------------------------------------------ */

static bool wanted_site(const struct which *w, const struct replay *r,
			const struct report_barrier *b)
{
	size_t i;

	for (i = 0; i < w->sites->n; i++)
		if (replay_is(r, b, w->sites->words[i]))
			return true;
	return !w->sites->n;
}

/*
 * Remove from @threads those that were not chosen. Return how many remain. Set @seen[i] if the
 * thread with the i-th number of --thread is among them.
 */
static uint32_t keep_threads(const struct which *w, struct report_thread *threads, uint32_t n,
			     bool *seen)
{
	uint32_t i, kept = 0;
	size_t j;

	for (i = 0; i < n; i++)
		for (j = 0; j < w->nthreads; j++)
			if (threads[i].tid == w->threads[j]) {
				threads[kept++] = threads[i];
				seen[j] = true;
				break;
			}
	return kept;
}

static uint64_t key_of(uint32_t pid, const char *id)
{
	return text_hash(TEXT_HASH_INIT + pid, id, strlen(id));
}

/* Keep only the phases that end at a barrier that is printed. */
static int choose_phases(struct report *report)
{
	struct hash shown = { 0 };
	uint32_t i, kept = 0;
	uint64_t yes;
	int err = 0;

	for (i = 0; i < report->nbarriers && !err; i++)
		err = hash_put(&shown, key_of(report->barriers[i].pid, report->barriers[i].id), 1);
	for (i = 0; i < report->nphases && !err; i++)
		if (hash_get(&shown, key_of(report->phases[i].pid, report->phases[i].to_id), &yes))
			report->phases[kept++] = report->phases[i];
	if (!err)
		report->nphases = kept;
	hash_free(&shown);
	return err;
}

static int choose_barriers(const struct which *w, const struct replay *r, struct report *report)
{
	uint32_t i, kept = 0;

	for (i = 0; i < report->nbarriers; i++)
		if (wanted_site(w, r, &report->barriers[i]))
			report->barriers[kept++] = report->barriers[i];
	if (report->nbarriers && !kept)
		msg_warn("no barrier matches --site");
	report->nbarriers = kept;
	return choose_phases(report);
}

static int choose_threads(const struct which *w, struct report *report)
{
	uint32_t i, kept = 0, any = 0;
	bool *seen = calloc(w->nthreads, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	array_for_each (p, report->processes, report->nprocesses) {
		p->nmembers = keep_threads(w, p->members, p->nmembers, seen);
		any += p->nmembers;
	}
	array_for_each (b, report->barriers, report->nbarriers) {
		b->nthreads = keep_threads(w, b->threads, b->nthreads, seen);
		/* Leave out barriers that none of the chosen threads crossed. */
		if (b->nthreads)
			report->barriers[kept++] = *b;
	}
	if (any && report->nbarriers && !kept)
		msg_warn("no thread of --thread crossed the barriers of --site");
	report->nbarriers = kept;
	array_for_each (c, report->conceptuals, report->nconceptuals)
		c->nthreads = keep_threads(w, c->threads, c->nthreads, seen);
	for (i = 0; i < w->nthreads; i++)
		if (!seen[i])
			msg_warn("--thread %u: no thread with this number crossed a barrier%s",
				 w->threads[i], report->extent.window ? " in that time" : "");
	free(seen);
	return 0;
}

/* Return text such as "barrier solve; threads 17, 19", to be freed; NULL: out of memory. */
static char *describe(const struct which *w)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < w->sites->n; i++)
		fprintf(f, "%s%s",
			i		  ? ", "
			: w->sites->n > 1 ? "barriers "
					  : "barrier ",
			w->sites->words[i]);
	for (i = 0; i < w->nthreads; i++)
		fprintf(f, "%s%u",
			i		  ? ", "
			: w->sites->n	  ? w->nthreads > 1 ? "; threads " : "; thread "
			: w->nthreads > 1 ? "threads "
					  : "thread ",
			w->threads[i]);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Leave out the rows that are not chosen. Sums over all rows do not change, and the report says so.
 */
static int choose(const struct which *w, const struct replay *r, char **rows, struct report *report)
{
	int err = 0;

	if (!w->sites->n && !w->nthreads)
		return 0;
	*rows = describe(w);
	report->extent.rows = *rows;
	if (w->sites->n)
		err = choose_barriers(w, r, report);
	if (!err && w->nthreads)
		err = choose_threads(w, report);
	if (err || !*rows)
		msg_error("%s", strerror(ENOMEM));
	return err || !*rows ? -ENOMEM : 0;
}

/* --- other recordings, for the page ----------------------------------------------------------- */

struct beside {
	struct replay *replay;
	struct report report;
	bool reported;
};

static int read_beside(struct beside *b, const char *path, const struct options *o)
{
	const struct replay_options ro = { .options = o, .to_ns = UINT64_MAX };
	int err = replay_open(path, &ro, &b->replay);

	if (!err)
		err = replay_run(b->replay);
	if (!err)
		err = replay_report(b->replay, &b->report);
	b->reported = !err;
	return err;
}

static void free_beside(struct beside *all, size_t n)
{
	size_t i;

	for (i = 0; all && i < n; i++) {
		if (all[i].reported)
			report_free(&all[i].report);
		replay_free(all[i].replay);
	}
	free(all);
}

/*
 * Read the recordings of --with into *@out, to be freed with free_beside(). Return 0, or a negative
 * errno after a message.
 */
static int put_beside(const struct command_line *line, struct pictures *pictures,
		      struct beside **out)
{
	struct beside *all = calloc(line->with.n + 1, sizeof(*all));
	int err = 0;
	size_t i;

	*out = all;
	if (!all) {
		msg_error("out of memory");
		return -ENOMEM;
	}
	for (i = 0; i < line->with.n && !err; i++) {
		err = read_beside(&all[i], line->with.words[i], &line->options);
		if (!err)
			err = pictures_beside(pictures, basename(line->with.words[i]),
					      &all[i].report,
					      predict_as_recording_processors(all[i].replay));
	}
	return err;
}

/* --- the report ------------------------------------------------------------------------------- */

struct reporting {
	const struct command_line *line;
	struct which which;
	struct replay *replay;
	struct pictures *pictures; /* NULL: no picture is wanted */
	struct beside *beside;
	struct emit *emit;
	char *rows; /* the chosen rows, in words; NULL: all rows */
	int pictured; /* error of the pictures, which does not stop the text */
};

static int open_recordings(struct reporting *r, const struct replay_options *options)
{
	const struct command_line *line = r->line;
	const struct pictures_paths paths = { line->chrome, line->html, line->folded,
					      line->folded_stacks, line->folded_late };
	struct replay_options o = *options;
	int err = pictures_open(&r->pictures, &paths);

	if (err)
		return err;
	o.episode = r->pictures ? pictures_episode : NULL;
	o.folds = !r->pictures; /* pictures show each thread, so threads must not be folded */
	o.stacks = line->chrome || line->html;
	o.ctx = r->pictures;
	return replay_open_all((const char *const *)line->files.words, (uint32_t)line->files.n, &o,
			       &r->replay);
}

/*
 * Begin the text and the pictures. The recording must be open, because what is printed depends on
 * it.
 */
static int begin(struct reporting *r, FILE *out)
{
	const struct options *o = &r->line->options;
	struct emit_options options = view_options(o, out);
	struct observer_output shown;
	struct session session;

	options.realtime_offset_ns = replay_session(r->replay)->realtime_offset_ns;
	/* Rows that the user chose are details. */
	options.detail |= r->which.sites->n || r->which.nthreads;
	/* Warnings and hangs of the past are no news. The report says what they showed. */
	options.count_events = !options.detail && !o->nnames && o->warn_ns == OPTIONS_WARN_NS &&
			       o->warn_every == 1;
	r->emit = emit_new(out, &options);
	if (!r->emit) {
		msg_error("cannot print the report: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	shown = emit_output(r->emit);
	replay_show(r->replay, &shown);
	session = replay_session(r->replay)->session;
	emit_session(r->emit, &session);
	return r->pictures ? pictures_begin(r->pictures, replay_env(r->replay),
					    model_start(replay_model(r->replay)), session.command,
					    basename(r->line->files.words[0]),
					    predict_as_recording_processors(r->replay))
			   : 0;
}

static int print_report(struct reporting *r, struct report *report)
{
	const char *output = r->line->options.output;
	int err = choose(&r->which, r->replay, &r->rows, report);

	if (err)
		return err;
	if (r->line->with.n)
		r->pictured = put_beside(r->line, r->pictures, &r->beside);
	/* Finish the pictures before the text: a pager may stop reading the text. */
	if (r->pictures && !r->pictured)
		r->pictured = pictures_end(r->pictures, replay_model(r->replay), report);
	emit_report(r->emit, report);
	err = emit_flush(r->emit);
	if (err)
		msg_error("cannot write %s: %s", output ? output : "the output", strerror(-err));
	return err;
}

static int run(struct reporting *r, const struct replay_options *options, FILE *out)
{
	const struct options *o = &r->line->options;
	struct report report;
	int err = open_recordings(r, options);

	if (!err)
		err = begin(r, out);
	if (!err)
		err = replay_run(r->replay);
	/*
	 * Warn on standard error, too, unless the user sees the text of the report, which has these
	 * remarks.
	 */
	if (!err)
		err = replay_unmet(r->replay, o->output || o->format != EMIT_TEXT);
	if (!err)
		err = replay_report(r->replay, &report);
	if (err)
		return err;
	err = print_report(r, &report);
	report_free(&report);
	return err;
}

static int print(FILE *out, void *ctx)
{
	struct reporting *r = ctx;
	const struct command_line *line = r->line;
	const struct observer_rows rows = { line->sites.words, line->sites.n, r->which.threads,
					    r->which.nthreads };
	struct progress *progress = line->options.quiet ? NULL : progress_new(STDERR_FILENO);
	const struct replay_options options = {
		.options = &line->options,
		.progress = progress,
		.rows = &rows,
		.from_ns = (uint64_t)(line->from_s * 1e9),
		.to_ns = isnan(line->to_s) ? UINT64_MAX : (uint64_t)(line->to_s * 1e9),
	};
	int err = run(r, &options, out);

	pictures_free(r->pictures);
	free_beside(r->beside, line->with.n);
	replay_free(r->replay);
	if (r->emit)
		emit_free(r->emit);
	free(r->rows);
	progress_free(progress);
	return err ? err : r->pictured;
}

/* Return a message about options that contradict each other, or NULL. */
static const char *wrong_together(const struct command_line *line)
{
	if (line->with.n && !line->html)
		return "report: --with adds a recording to the page of --html: --html is missing";
	if (line->options.output && line->html && !strcmp(line->options.output, line->html))
		return "report: -o and --html are the same file";
	if (line->to_s <= line->from_s)
		return "report: --to is not after --from";
	return NULL;
}

static int report(struct command_line *line)
{
	struct reporting r = { .line = line, .which = { .sites = &line->sites } };
	const char *wrong = wrong_together(line);
	int status = EXIT_USAGE;

	if (view_default_files(line, false))
		return status;
	if (wrong)
		msg_error("%s", wrong);
	else if (!view_spare_files(line) && !read_threads(&line->threads, &r.which))
		status = view_write(&line->options, print, &r);
	free(r.which.threads);
	return status;
}

int cmd_report(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_REPORT }, argc, argv, report);
}
