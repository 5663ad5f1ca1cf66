// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace report: what trace prints, from a recording. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/msg.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/option_rows.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "predict/predict_as_recording.h"
#include "cmd/view_options.h"
#include "recording/replay.h"
#include "analyse/observer.h"

struct which {
	double from_s, to_s; /* to_s: NAN: to the end */
	char **sites;
	size_t nsites;
	uint32_t *threads;
	size_t nthreads;
	struct pictures_paths pictures;
	char **with; /* recordings to compare with, on the page */
	size_t nwith;
};

static int add_word(char ***words, size_t *n, char *arg)
{
	char **more = realloc(*words, (*n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	*words = more;
	more[(*n)++] = arg;
	return 0;
}

static int add_thread(struct which *w, const char *arg)
{
	uint32_t *more;
	unsigned long tid;
	char *end;

	errno = 0;
	tid = strtoul(arg, &end, 10);
	if (errno || *arg < '0' || *arg > '9' || *end || tid > UINT32_MAX) {
		msg_error("--thread %s: the number of a thread is expected", arg);
		return -EINVAL;
	}
	more = realloc(w->threads, (w->nthreads + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	w->threads = more;
	more[w->nthreads++] = (uint32_t)tid;
	return 0;
}

static int take(void *ctx, int c, char *arg)
{
	struct which *w = ctx;

	switch (c) {
	case OPT_FROM:
		return view_seconds("--from", arg, &w->from_s);
	case OPT_TO:
		return view_seconds("--to", arg, &w->to_s);
	case OPT_SITE:
		return add_word(&w->sites, &w->nsites, arg);
	case OPT_THREAD:
		return add_thread(w, arg);
	case OPT_CHROME:
		w->pictures.chrome = arg;
		return 0;
	case OPT_HTML:
		w->pictures.html = arg;
		return 0;
	case OPT_FOLDED:
		w->pictures.folded = arg;
		return 0;
	case OPT_WITH:
		return add_word(&w->with, &w->nwith, arg);
	default:
		return -EINVAL;
	}
}

/* --- only some of it ---------------------------------------------------------------------------------- */

static bool wanted_site(const struct which *w, const struct replay *r,
			const struct report_barrier *b)
{
	size_t i;

	for (i = 0; i < w->nsites; i++)
		if (replay_is(r, b, w->sites[i]))
			return true;
	return !w->nsites;
}

/* @seen: by --thread: one of that number is among them. */
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

/* A phase is the time before the barrier where it ends. */
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
		msg_warn("no barrier is called as --site has it");
	report->nbarriers = kept;
	return choose_phases(report);
}

static int choose_threads(const struct which *w, struct report *report)
{
	uint32_t i, kept = 0, any = 0;
	bool *seen = calloc(w->nthreads, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < report->nprocesses; i++) {
		struct report_process *p = &report->processes[i];

		p->nmembers = keep_threads(w, p->members, p->nmembers, seen);
		any += p->nmembers;
	}
	for (i = 0; i < report->nbarriers; i++) {
		struct report_barrier *b = &report->barriers[i];

		b->nthreads = keep_threads(w, b->threads, b->nthreads, seen);
		/* Where none of them ever came there is nothing to be shown. */
		if (b->nthreads)
			report->barriers[kept++] = *b;
	}
	if (any && report->nbarriers && !kept)
		msg_warn("no thread of --thread came to the barriers of --site");
	report->nbarriers = kept;
	for (i = 0; i < report->nconceptuals; i++)
		report->conceptuals[i].nthreads = keep_threads(
			w, report->conceptuals[i].threads, report->conceptuals[i].nthreads, seen);
	for (i = 0; i < w->nthreads; i++)
		if (!seen[i])
			msg_warn("--thread %u: no thread with this number came to a barrier%s",
				 w->threads[i], report->extent.window ? " in that time" : "");
	free(seen);
	return 0;
}

/* "barrier solve; threads 17, 19"; to be freed. */
static char *describe(const struct which *w)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < w->nsites; i++)
		fprintf(f, "%s%s",
			i		? ", "
			: w->nsites > 1 ? "barriers "
					: "barrier ",
			w->sites[i]);
	for (i = 0; i < w->nthreads; i++)
		fprintf(f, "%s%u",
			i		  ? ", "
			: w->nsites	  ? w->nthreads > 1 ? "; threads " : "; thread "
			: w->nthreads > 1 ? "threads "
					  : "thread ",
			w->threads[i]);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Rows are left out; what is summed over them stays what it is, and is said to be. */
static int choose(const struct which *w, const struct replay *r, char **rows, struct report *report)
{
	int err = 0;

	if (!w->nsites && !w->nthreads)
		return 0;
	*rows = describe(w);
	report->extent.rows = *rows;
	if (w->nsites)
		err = choose_barriers(w, r, report);
	if (!err && w->nthreads)
		err = choose_threads(w, report);
	if (err || !*rows)
		msg_error("%s", strerror(ENOMEM));
	return err || !*rows ? -ENOMEM : 0;
}

/* --- other recordings, for the page ------------------------------------------------------------------- */

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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns 0 and *out, or a negative errno, told. */
static int put_beside(const struct which *w, const struct options *o, struct pictures *pictures,
		      struct beside **out)
{
	int err = 0;
	size_t i;

	*out = calloc(w->nwith + 1, sizeof(**out));
	if (!*out) {
		msg_error("out of memory");
		return -ENOMEM;
	}
	for (i = 0; i < w->nwith && !err; i++) {
		err = read_beside(&(*out)[i], w->with[i], o);
		if (!err)
			err = pictures_beside(pictures, base_name(w->with[i]), &(*out)[i].report,
					      predict_as_recording_processors((*out)[i].replay));
	}
	return err;
}

/* @pictures: NULL: none are wanted. */
static int begin_pictures(struct pictures *pictures, const struct options *o, struct replay *replay,
			  const char *command)
{
	if (!pictures)
		return 0;
	return pictures_begin(pictures, replay_env(replay), model_start(replay_model(replay)),
			      command, base_name(o->command[0]),
			      predict_as_recording_processors(replay));
}

static int print(void *ctx, const struct options *o, FILE *out)
{
	const struct which *w = ctx;
	struct emit_options emit = { .format = o->format,
				     .quiet = o->quiet,
				     .verbose = o->verbose };
	struct replay_options ro = { .options = o, .to_ns = UINT64_MAX };
	const struct observer_rows reported = { w->sites, w->nsites, w->threads, w->nthreads };
	struct progress *progress = o->quiet ? NULL : progress_new(STDERR_FILENO);
	struct observer_output shown;
	struct replay *replay = NULL;
	struct pictures *pictures = NULL;
	struct beside *beside = NULL;
	struct emit *e = NULL;
	struct session session;
	struct report report;
	char *rows = NULL;
	uint32_t n = 0;
	int err, pictured = 0;

	emit.colour = isatty(fileno(out)) && !getenv("NO_COLOR");
	ro.progress = progress;
	ro.rows = &reported;
	ro.from_ns = (uint64_t)(w->from_s * 1e9);
	if (!isnan(w->to_s))
		ro.to_ns = (uint64_t)(w->to_s * 1e9);
	/* What is printed depends on when it was recorded: known only once it has been opened. */
	err = pictures_open(&pictures, &w->pictures);
	if (err)
		goto out;
	ro.episode = pictures ? pictures_episode : NULL;
	/* A picture has a line for each thread. */
	ro.folds = !pictures;
	ro.ctx = pictures;
	while (o->command[n])
		n++;
	err = replay_open_all((const char *const *)o->command, n, &ro, &replay);
	if (err)
		goto out;
	emit.realtime_offset_ns = replay_session(replay)->realtime_offset_ns;
	e = emit_new(out, &emit);
	if (!e) {
		msg_error("cannot print the report: %s", strerror(ENOMEM));
		err = -ENOMEM;
		goto out;
	}
	shown = emit_output(e);
	replay_show(replay, &shown);
	session = replay_session(replay)->session;
	session.banner &= o->banner;
	emit_session(e, &session);
	err = begin_pictures(pictures, o, replay, session.command);
	if (!err)
		err = replay_run(replay);
	if (err)
		goto out;
	/* Who reads the text has it there. */
	err = replay_unmet(replay, o->output || o->format != EMIT_TEXT);
	if (!err)
		err = replay_report(replay, &report);
	if (err)
		goto out;
	err = choose(w, replay, &rows, &report);
	if (err) {
		report_free(&report);
		goto out;
	}
	if (w->nwith)
		pictured = put_beside(w, o, pictures, &beside);
	/* First: nobody need read the text to its end. */
	if (pictures && !pictured)
		pictured = pictures_end(pictures, replay_model(replay), &report);
	emit_report(e, &report);
	report_free(&report);
	err = emit_flush(e);
	if (err)
		msg_error("cannot write %s: %s", o->output ? o->output : "the output",
			  strerror(-err));
out:
	free(rows);
	pictures_free(pictures);
	free_beside(beside, w->nwith);
	replay_free(replay);
	if (e)
		emit_free(e);
	progress_free(progress);
	return err ? err : pictured;
}

static int check(void *ctx, const struct options *o)
{
	const struct which *w = ctx;
	const char *const outputs[] = { o->output, w->pictures.html, w->pictures.chrome,
					w->pictures.folded };
	uint32_t n = 0;
	size_t i;

	if (!o->command) {
		msg_error("report: which recording? (see sbt-trace report --help)");
		return -EINVAL;
	}
	if (w->nwith && !w->pictures.html) {
		msg_error("--with is for the page of --html");
		return -EINVAL;
	}
	if (o->output && w->pictures.html && !strcmp(o->output, w->pictures.html)) {
		msg_error("report: -o and --html are the same file");
		return -EINVAL;
	}
	while (o->command[n])
		n++;
	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (view_spare(outputs[i], (const char *const *)o->command, n) ||
		    view_spare(outputs[i], (const char *const *)w->with, (uint32_t)w->nwith))
			return -EINVAL;
	if (w->to_s <= w->from_s) {
		msg_error("report: --to is not after --from");
		return -EINVAL;
	}
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct which which = { .to_s = NAN };
	const struct options_more more = { NULL, NULL, take, &which };
	int status = options_run_view(argc, argv, &more, check, print);

	free(which.sites);
	free(which.threads);
	free(which.with);
	return status;
}
