// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace predict: simulate a recorded program on a machine that it did not run on. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/progress.h"
#include "capture/measure.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "cmd/view_output.h"
#include "emit/html_tables.h"
#include "predict/predict.h"
#include "predict/predict_as_recording.h"
#include "predict/predict_input.h"
#include "predict/predict_report.h"
#include "recording/replay.h"

#define COUNTS_MAX  256
#define MACHINE_MAX (1u << 20) /* largest size in bytes of a file of parameters */
#define WHY	    512

/* --- the machine ------------------------------------------------------------------------------ */

/* Return the contents of a file, to be freed, or NULL and the error in *err. */
static char *read_text(const char *path, int *err)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t n;

	*err = 0;
	if (!f) {
		*err = -errno;
		return NULL;
	}
	text = malloc(MACHINE_MAX + 1);
	n = text ? fread(text, 1, MACHINE_MAX + 1, f) : 0;
	if (!text)
		*err = -ENOMEM;
	else if (ferror(f))
		*err = -EIO;
	else if (n > MACHINE_MAX)
		*err = -EFBIG;
	else
		text[n] = '\0';
	fclose(f);
	if (*err) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_machine(const char *path, struct predict_machine *m)
{
	char why[WHY], *text;
	int err;

	text = read_text(path, &err);
	if (err == -ENOENT) {
		msg_error("--machine %s: no such file, and no built-in machine (ideal, laptop, "
			  "two-socket, cm5, distributed)",
			  path);
		return err;
	}
	if (!text) {
		msg_error("cannot read %s: %s", path, strerror(-err));
		return err;
	}
	/* The machine is named after the file, unless the file contains a name. */
	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "%s", basename(path));
	err = predict_machine_parse(m, text, why, sizeof(why));
	if (err)
		msg_error("%s: %s", path, why);
	free(text);
	return err;
}

static int set_parameter(struct predict_machine *m, const char *option, const char *assignment)
{
	char why[WHY];
	int err = predict_machine_set(m, assignment, why, sizeof(why));

	if (err)
		msg_error("%s: %s", option, why);
	return err;
}

static int make_machine(const struct command_line *p, struct predict_machine *m)
{
	const char *name = p->machine ? p->machine : "laptop";
	char why[WHY], model[128];
	size_t i;
	int err = predict_machine_find(name, m);

	if (err)
		err = read_machine(name, m);
	if (!err && p->barrier_model) {
		snprintf(model, sizeof(model), "BarrierModel=%s", p->barrier_model);
		err = set_parameter(m, "--barrier-model", model);
	}
	for (i = 0; i < p->sets.n && !err; i++)
		err = set_parameter(m, "--set", p->sets.words[i]);
	if (err)
		return err;
	err = predict_machine_check(m, why, sizeof(why));
	if (err)
		msg_error("predict: %s", why);
	return err;
}

/* --- the recording ---------------------------------------------------------------------------- */

static bool has_window(const struct command_line *p)
{
	return p->from_s > 0 || !isnan(p->to_s);
}

/* A recording, and what is computed from it. */
struct one {
	const char *path;
	const struct command_line *line;
	struct replay *replay;
	struct report report; /* the report; the predictions point to its labels */
	struct predict_feed *feed;
	struct predictions predictions;
	bool predicted;
	int err; /* the first error of on_episode() and on_message(); 0: none */
};

static struct predict_feed *new_feed(const struct one *one)
{
	const struct command_line *p = one->line;
	struct predict_feed *feed = predict_feed_new(replay_env(one->replay));
	uint64_t start = replay_session(one->replay)->model_start_ns;

	if (feed && has_window(p))
		predict_feed_window(feed, start + (uint64_t)(p->from_s * 1e9),
				    isnan(p->to_s) ? UINT64_MAX
						   : start + (uint64_t)(p->to_s * 1e9));
	return feed;
}

static void on_episode(void *ctx, const struct model *model, const struct model_episode *ep)
{
	struct one *one = ctx;

	if (!one->feed && !one->err) {
		one->feed = new_feed(one);
		one->err = one->feed ? 0 : -ENOMEM;
	}
	if (!one->err)
		one->err = predict_feed_episode(one->feed, model, ep);
}

static int on_message(void *ctx, const struct model *model, uint32_t thread,
		      const struct model_message *message)
{
	struct one *one = ctx;

	if (!one->feed && !one->err) {
		one->feed = new_feed(one);
		one->err = one->feed ? 0 : -ENOMEM;
	}
	if (!one->err)
		one->err = predict_feed_message(one->feed, model, thread, message);
	return one->err;
}

/*
 * Return the names of barriers by their index in the model, to be freed. The strings belong to the
 * report.
 */
static struct prediction_site *name_sites(const struct report *report, uint32_t n)
{
	struct prediction_site *sites = calloc((size_t)n + 1, sizeof(*sites));
	uint32_t i;

	for (i = 0; sites && i < report->nbarriers; i++)
		if (report->barriers[i].index < n)
			sites[report->barriers[i].index] = (struct prediction_site){
				.id = report->barriers[i].id,
				.label = report->barriers[i].label,
			};
	return sites;
}

/* Return why a recording cannot be simulated. */
static const char *explain(int err)
{
	switch (err) {
	case -E2BIG:
		return "it has too many threads or episodes";
	case -EDEADLK:
		return "its threads wait for each other in a cycle, which no run can have: it is "
		       "damaged";
	default:
		return strerror(-err);
	}
}

/* Refuse to predict if on-CPU time is unknown for more than 1/10 of the computing time. */
#define WALL_MOST 10

/*
 * Choose the numbers of processors to predict for. If there are several recordings (@several), the
 * default for each is its number of threads.
 */
static int choose_counts(const struct command_line *p, bool several, uint32_t threads,
			 uint32_t *counts)
{
	int n;

	if (!p->processors && several) {
		counts[0] = threads;
		return 1;
	}
	if (!p->processors)
		return (int)predict_counts(threads, counts, COUNTS_MAX);
	n = predict_counts_parse(p->processors, counts, COUNTS_MAX);
	if (n == -E2BIG)
		msg_error("--processors %s: %d numbers at most", p->processors, COUNTS_MAX);
	else if (n < 0)
		msg_error(
			"--processors %s: a list like 1,2,4-8 is expected, of numbers from 1 to %d",
			p->processors, PREDICT_PROCESSORS_MAX);
	return n;
}

static int simulate(struct one *one, const struct predict_machine *m, bool several)
{
	const struct model *model = replay_model(one->replay);
	struct prediction_source s = {
		.in = predict_feed_input(one->feed),
		.facts = predict_feed_facts(one->feed),
		.machine = m,
		.nsites = model_nbarriers(model),
	};
	struct prediction_site *sites = name_sites(&one->report, s.nsites);
	uint32_t counts[COUNTS_MAX];
	struct predict_result result;
	int n = choose_counts(one->line, several, s.in->nthreads, counts), err = n < 0 ? n : 0;

	if (!err && !sites)
		err = -ENOMEM;
	if (!err)
		err = predict_run_all(s.in, m, counts, (uint32_t)n, &result);
	if (err) {
		if (n >= 0)
			msg_error("%s: cannot simulate what was recorded: %s", one->path,
				  explain(err));
		free(sites);
		return err;
	}
	s.sites = sites;
	s.result = &result;
	err = predictions_build(&s, &one->predictions);
	one->predicted = !err;
	if (err)
		msg_error("cannot predict: %s", strerror(-err));
	predict_result_free(&result);
	free(sites);
	return err;
}

static int record_prediction(const struct command_line *p, const struct predict_machine *m,
			     const struct replay *replay, const struct predict_feed *feed)
{
	uint32_t counts[COUNTS_MAX];

	/* check() has made sure that there is one number. */
	return choose_counts(p, false, 1, counts) == 1
		       ? predict_as_recording_record(p->record_to, replay, feed, m, counts[0])
		       : -EINVAL;
}

/*
 * Check that the on-CPU time of the threads is known. It is unknown for threads that work until
 * other threads join them, and in the time before a hand-written barrier is found. Using elapsed
 * time instead could overstate the computing of such threads by any factor.
 */
static int check_known(const struct predict_feed *feed, const struct replay *replay,
		       const char *path)
{
	const struct predict_facts *f = predict_feed_facts(feed);

	if (!replay_session(replay)->accounted || f->wall_ns <= f->computing_ns / WALL_MOST)
		return 0;
	msg_error(
		"cannot predict from %s: its threads were outside barriers for %.1f ms, and for "
		"%.1f ms of that it is unknown whether they were on a CPU. This happens with "
		"threads that work until others join them (fork and join), and before a "
		"hand-written barrier is found (record for longer, or name its function with -b). "
		"If elapsed time were used instead, time on a shared CPU would count several times",
		path, (double)f->computing_ns / 1e6, (double)f->wall_ns / 1e6);
	return -ENODATA;
}

static int feed_all(struct one *one)
{
	int err = replay_run(one->replay);

	if (!err)
		err = replay_report(one->replay, &one->report);
	if (err)
		return err;
	if (!one->feed && !one->err) {
		msg_error("%s: it has no barrier episode: there is nothing to predict from",
			  one->path);
		return -ENODATA;
	}
	if (!one->err)
		one->err = predict_feed_finish(one->feed, replay_model(one->replay));
	if (one->err)
		msg_error("cannot predict from %s: %s", one->path, explain(one->err));
	return one->err;
}

static int predict_one(struct one *one, const struct predict_machine *m, bool several)
{
	const struct command_line *p = one->line;
	const struct options *o = &p->options;
	struct progress *progress = o->quiet ? NULL : progress_new(STDERR_FILENO);
	struct replay_options ro = { .options = o,
				     .from_ns = (uint64_t)(p->from_s * 1e9),
				     .to_ns = isnan(p->to_s) ? UINT64_MAX
							     : (uint64_t)(p->to_s * 1e9),
				     .episode = on_episode,
				     .message = on_message,
				     .ctx = one,
				     .progress = progress };
	int err = replay_open(one->path, &ro, &one->replay);

	if (!err)
		err = feed_all(one);
	if (!err)
		err = check_known(one->feed, one->replay, one->path);
	if (!err)
		err = simulate(one, m, several);
	progress_free(progress);
	return err;
}

static int draw(FILE *file, const void *ctx)
{
	return html_predictions(file, ctx, "Prediction");
}

static int show(const struct command_line *p, struct emit *emit,
		const struct predictions *predictions)
{
	emit_predictions(emit, predictions);
	return pictures_page(p->html, draw, predictions);
}

static int emit_joined(const struct one *all, uint32_t n, struct emit *emit)
{
	struct predictions *of = calloc(n, sizeof(*of)), joined;
	const char **names = calloc(n, sizeof(*names));
	uint32_t i;
	int err = of && names ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i++) {
		of[i] = all[i].predictions;
		names[i] = all[i].path;
	}
	if (!err)
		err = predictions_join(of, names, n, &joined);
	if (err) {
		msg_error("cannot predict: %s", strerror(-err));
	} else {
		err = show(all[0].line, emit, &joined);
		predictions_free(&joined);
	}
	free(of);
	free(names);
	return err;
}

static int predict_recordings(const struct command_line *p, const struct predict_machine *m,
			      struct emit *emit)
{
	uint32_t n = (uint32_t)p->files.n, i;
	struct one *all = calloc(n + 1, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i++) {
		all[i].path = p->files.words[i];
		all[i].line = p;
		err = predict_one(&all[i], m, n > 1);
	}
	if (!err && n > 1)
		err = emit_joined(all, n, emit);
	else if (!err)
		err = show(p, emit, &all[0].predictions);
	if (!err && p->record_to)
		err = record_prediction(p, m, all[0].replay, all[0].feed);
	for (i = 0; i < n && all; i++) {
		if (all[i].predicted)
			predictions_free(&all[i].predictions);
		report_free(&all[i].report);
		predict_feed_free(all[i].feed);
		replay_free(all[i].replay);
	}
	free(all);
	return err;
}

/* --- this machine ----------------------------------------------------------------------------- */

static int calibrate(struct emit *emit)
{
	struct predict_machine m;
	struct measured measured;
	char comment[256];
	int err = measure_machine(&m, &measured);

	if (err) {
		msg_error("cannot measure this machine: %s", strerror(-err));
		return err;
	}
	if (isnan(measured.episode_ns)) {
		snprintf(comment, sizeof(comment),
			 "measured on 1 CPU: costs between CPUs are those of a usual laptop, not "
			 "measured");
		msg_warn("this machine has one CPU: costs between CPUs could not be measured");
	} else {
		snprintf(comment, sizeof(comment),
			 "measured on %u CPUs; a barrier of two threads took %.2f us, with these "
			 "parameters %.2f us",
			 measured.cpus, measured.episode_ns / 1e3, measured.predicted_ns / 1e3);
	}
	emit_machine(emit, &m, comment);
	return 0;
}

static const char *machine_comment(const char *name)
{
	unsigned i;

	for (i = 0; name && predict_machine_name(i); i++)
		if (!strcmp(predict_machine_name(i), name))
			return predict_machine_text(i);
	return "for sbt-trace predict --machine";
}

/* --- together --------------------------------------------------------------------------------- */

/* What print_result() needs. */
struct predicting {
	const struct command_line *line;
	struct predict_machine machine;
};

static int print_result(FILE *out, void *ctx)
{
	const struct predicting *p = ctx;
	const struct command_line *line = p->line;
	const char *output = line->options.output;
	const struct emit_options options = view_options(&line->options, out);
	struct emit *emit = emit_new(out, &options);
	int err = 0, failed;

	if (!emit) {
		msg_error("cannot predict: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (line->calibrate)
		err = calibrate(emit);
	else if (line->parameters)
		emit_machine(emit, &p->machine, machine_comment(p->machine.name));
	else
		err = predict_recordings(line, &p->machine, emit);
	failed = emit_free(emit);
	if (failed && !err)
		msg_error("cannot write %s: %s", output ? output : "to stdout", strerror(-failed));
	return err ? err : failed;
}

/* Return a message about options that contradict each other, or NULL. */
static const char *wrong_together(const struct command_line *p)
{
	bool machine = p->calibrate || p->parameters;
	size_t files = p->files.n;

	if (p->calibrate && (p->machine || p->barrier_model || p->sets.n || p->parameters ||
			     p->record_to || p->html || files))
		return "--calibrate measures this machine: it takes no recording, page or "
		       "parameter";
	if (p->parameters && (files || p->html))
		return "--parameters prints a machine: it takes no recording";
	if (machine && p->options.format != EMIT_TEXT)
		return "--calibrate and --parameters print text: they cannot be combined with "
		       "--json or --csv";
	if (p->to_s <= p->from_s)
		return "--to is not after --from";
	if (p->record_to && files > 1)
		return "--record-to writes one run: it needs one recording";
	return NULL;
}

static int check(const struct command_line *p)
{
	const char *wrong = wrong_together(p);
	uint32_t counts[COUNTS_MAX];
	int n;

	if (wrong) {
		msg_error("predict: %s", wrong);
		return -EINVAL;
	}
	if (view_spare_files(p))
		return -EINVAL;
	n = choose_counts(p, false, 1, counts);
	if (n >= 0 && p->record_to && (!p->processors || n != 1)) {
		msg_error(
			"predict: --record-to writes one run: it needs one number of --processors");
		return -EINVAL;
	}
	return n < 0 ? -EINVAL : 0;
}

static int predict(struct command_line *line)
{
	struct predicting p = { .line = line };

	if (!line->calibrate && !line->parameters && view_default_files(line, false))
		return EXIT_USAGE;
	if (check(line) || make_machine(line, &p.machine))
		return EXIT_USAGE;
	if (pictures_page_possible(line->html))
		return EXIT_FAILED;
	return view_write(&line->options, print_result, &p);
}

int cmd_predict(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_PREDICT }, argc, argv,
			   predict);
}
