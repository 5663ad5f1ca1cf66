// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/remark.h"
#include "base/progress.h"
#include "recording/merge.h"
#include "recording/run_facts_file.h"
#include "recording/time_window.h"

/* Limit for memory while reading: a constant, plus an amount for each byte of the files. */
#define MEMORY_LEAST	(64ULL << 20)
#define MEMORY_PER_BYTE 64
#define MEMORY_EVERY	256 /* items between two checks of the memory in use */

struct replay {
	struct replay_options options;
	const char *const *paths; /* the caller's array, or &one */
	char *one;
	uint32_t n;
	int *fds;
	struct merge *merge;
	struct model *model;
	struct observer *observer;
	struct run_facts_file run_facts_file;
	struct time_window *time_window; /* NULL: the whole run */
	struct observer_output output;
	uint64_t from_ns, to_ns; /* the part of the run to show */
	uint64_t last_ns; /* time of the last item */
	uint64_t crossings;
	uint64_t resident; /* memory of this process before reading, in bytes; 0 unknown */
	/*
	 * limit for reading, in bytes: half of the permitted memory, because the report also needs
	 * memory
	 */
	uint64_t memory;
	bool too_large; /* the limit was reached: the rest of the files was not read */
	bool finished;
};

/* --- opening ---------------------------------------------------------------------------------- */

static void report_error(const char *path, int err)
{
	switch (err) {
	case -EBADMSG:
		msg_error("%s is not a recording of sbt-trace, or its beginning is damaged", path);
		break;
	case -ENODATA:
		msg_error("%s is empty: nothing was recorded there", path);
		break;
	case -EPROTONOSUPPORT:
		msg_error("%s has the format of a later sbt-trace: read it with that version",
			  path);
		break;
	case -EILSEQ:
		msg_error("%s is from a machine of another byte order: read it on such a machine",
			  path);
		break;
	default:
		msg_error("cannot read %s: %s", path, strerror(-err));
	}
}

/* Return 0 and *out, or -errno. */
static int open_file(const char *path, int *fd, struct contents **out)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return -errno;
	if (fstat(*fd, &st))
		return -errno;
	/* The file must be seekable, because it is read twice. */
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	return contents_open(*fd, out);
}

/*
 * Check that all recordings are different, because reading one of them twice would double its
 * threads. Return 0, or -EINVAL after an error message.
 */
static int check_different(const struct replay *r, struct contents *const *contents)
{
	uint32_t i, k;

	for (i = 0; i < r->n; i++)
		for (k = 0; k < i; k++) {
			const struct contents_session *a = contents_began(contents[i]);

			if (memcmp(a->ids, contents_began(contents[k])->ids, sizeof(a->ids)) != 0)
				continue;
			msg_error("%s and %s are the same recording", r->paths[k], r->paths[i]);
			return -EINVAL;
		}
	return 0;
}

/* Return the bytes of memory that this process holds; 0 unknown. */
static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (f) {
		if (fscanf(f, "%*u %llu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Limit the memory. A compressed file with repeated contents is tiny, but the model's data for it
 * must not take all memory.
 */
static void set_memory(struct replay *r)
{
	uint64_t size = 0;
	struct stat st;
	uint32_t i;

	for (i = 0; i < r->n; i++)
		size += fstat(r->fds[i], &st) ? 0 : (uint64_t)st.st_size;
	r->memory = (MEMORY_LEAST + MEMORY_PER_BYTE * size) / 2;
}

static bool within_memory(struct replay *r, uint64_t item)
{
	if (!r->resident || item % MEMORY_EVERY)
		return true;
	r->too_large = resident_bytes() > r->resident + r->memory;
	return !r->too_large;
}

/* Return 0, or -errno after an error message. */
static int open_files(struct replay *r)
{
	struct contents **contents = calloc(r->n, sizeof(struct contents *));
	uint32_t i, n = 0;
	int err = contents ? 0 : -ENOMEM;

	for (i = 0; i < r->n; i++)
		r->fds[i] = -1;
	for (i = 0; i < r->n && !err; i++) {
		err = open_file(r->paths[i], &r->fds[i], &contents[i]);
		if (err)
			report_error(r->paths[i], err);
		else
			n++;
	}
	if (!err)
		err = check_different(r, contents);
	if (!err) {
		err = merge_new(contents, n, &r->merge);
		n = 0;
		if (err)
			report_error(r->paths[0], err);
	}
	for (i = 0; i < n; i++)
		contents_free(contents[i]);
	free(contents);
	return err;
}

static void on_episode(void *ctx, const struct model *model, const struct model_episode *e)
{
	struct replay *r = ctx;

	observer_episode(r->observer, model, e);
	if (r->options.episode)
		r->options.episode(r->options.ctx, model, e);
}

static void on_barrier(void *ctx, const struct model *model, uint32_t index,
		       struct model_barrier *barrier)
{
	struct replay *r = ctx;

	observer_barrier(r->observer, model, index, barrier);
}

static int on_mark(void *ctx, const struct model *model, uint32_t thread,
		   const struct model_mark *mark)
{
	struct replay *r = ctx;

	return observer_mark(r->observer, model, thread, mark);
}

static int on_sample(void *ctx, const struct model *model, uint32_t thread,
		     const struct model_sample *sample)
{
	struct replay *r = ctx;

	return observer_sample(r->observer, model, thread, sample);
}

static int on_activity(void *ctx, const struct model *model, uint32_t thread,
		       const struct model_activity *activity)
{
	struct replay *r = ctx;

	return observer_activity(r->observer, model, thread, activity);
}

static int on_message(void *ctx, const struct model *model, uint32_t thread,
		      const struct model_message *message)
{
	struct replay *r = ctx;

	return r->options.message ? r->options.message(r->options.ctx, model, thread, message) : 0;
}

static bool on_may_fold(void *ctx, const struct model *model, uint32_t proc)
{
	struct replay *r = ctx;

	return observer_may_fold(r->observer, model, proc);
}

static void on_barrier_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into)
{
	struct replay *r = ctx;

	observer_barrier_folded(r->observer, model, from, into);
}

static void on_process_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into)
{
	struct replay *r = ctx;

	observer_process_folded(r->observer, model, from, into);
}

static uint32_t on_number(void *ctx, const struct model *model, uint32_t thread, uint32_t next)
{
	struct replay *r = ctx;

	return time_window_number(r->time_window, model, thread, next);
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static int build(struct replay *r)
{
	struct model_ops ops = { .ctx = r,
				 .barrier = on_barrier,
				 .episode = on_episode,
				 .mark = on_mark,
				 .message = on_message,
				 .sample = on_sample,
				 .activity = on_activity,
				 .may_fold = on_may_fold,
				 .barrier_folded = on_barrier_folded,
				 .process_folded = on_process_folded };
	uint64_t start = replay_session(r)->session.clock_start_ns;
	int err;

	/*
	 * The options contain the window in ns since the start of the run, like printed times. The
	 * model needs absolute times.
	 */
	r->from_ns = r->options.from_ns ? add_up(start, r->options.from_ns) : merge_start(r->merge);
	r->to_ns = add_up(start, r->options.to_ns);
	if (r->options.from_ns || r->to_ns != UINT64_MAX) {
		r->time_window = time_window_new(r->from_ns, r->to_ns);
		if (!r->time_window)
			return -ENOMEM;
		ops.number = on_number;
	}
	err = run_facts_file_begin(&r->run_facts_file, r->merge);
	if (err)
		return err;
	r->model = model_new(&ops, r->from_ns);
	r->run_facts_file.model = r->model;
	if (!r->model)
		return -ENOMEM;
	/*
	 * Fold the same processes as the traced run did. With a window, or with several recordings,
	 * this would fold other processes than in the run.
	 */
	if (r->options.folds && !r->time_window && r->n == 1)
		model_keep(r->model, r->options.options->keep);
	return 0;
}

static int begin_observer(struct replay *r)
{
	int err =
		observer_new(r->options.options, &r->run_facts_file.env, &r->output, &r->observer);

	if (err)
		return err;
	if (r->options.rows)
		observer_show_only(r->observer, r->options.rows);
	r->run_facts_file.observer = r->observer;
	r->run_facts_file.env.openmp = observer_openmp(r->observer);
	r->run_facts_file.env.conceptual = observer_conceptual(r->observer);
	return 0;
}

void replay_show(struct replay *r, const struct observer_output *output)
{
	r->output = *output;
}

int replay_open_all(const char *const *paths, uint32_t n, const struct replay_options *options,
		    struct replay **out)
{
	struct replay *r = calloc(1, sizeof(*r));
	int err;

	if (r)
		r->fds = calloc(n, sizeof(*r->fds));
	if (!r || !r->fds) {
		report_error(paths[0], -ENOMEM);
		free(r);
		return -ENOMEM;
	}
	r->options = *options;
	r->paths = paths;
	r->n = n;
	r->resident = resident_bytes();
	err = open_files(r);
	if (!err) {
		set_memory(r);
		err = build(r);
		if (err)
			report_error(paths[0], err);
	}
	if (err) {
		replay_free(r);
		return err;
	}
	*out = r;
	return 0;
}

int replay_open(const char *path, const struct replay_options *options, struct replay **out)
{
	struct replay *r;
	int err = replay_open_all(&path, 1, options, &r);

	if (err)
		return err;
	/* The replay needs the path later, and the caller need not keep it. */
	r->one = strdup(path);
	if (!r->one) {
		replay_free(r);
		return -ENOMEM;
	}
	r->paths = (const char *const *)&r->one;
	*out = r;
	return 0;
}

/* --- running ---------------------------------------------------------------------------------- */

/*
 * Read the whole run once, so that the window can give its threads the numbers that they have in
 * the whole run, and so that stacks are known from the first episode on, although the run asked for
 * them only at its end. Return 0 or -errno.
 */
static int learn(struct replay *r)
{
	uint64_t start = merge_start(r->merge);
	struct contents_item item;
	uint64_t n = 0;
	int got = 0, err = 0;

	while (!err && within_memory(r, ++n) && (got = merge_next(r->merge, &item)) > 0)
		if (r->time_window && item.kind == CONTENTS_ITEM_INPUT)
			err = time_window_learn(r->time_window, start, &item.input);
	if (!err && got < 0)
		err = got;
	return err ? err : merge_rewind(r->merge);
}

static int on_input(struct replay *r, const struct model_input *in)
{
	if (r->finished)
		return 0;
	if (in->type == MODEL_INPUT_CROSSING) {
		uint64_t t = in->crossing->depart_ns == MODEL_UNKNOWN ? in->crossing->first_ns
								      : in->crossing->depart_ns;

		r->crossings++;
		r->last_ns = t > r->last_ns ? t : r->last_ns;
	} else if (in->type == MODEL_INPUT_FINISH) {
		r->finished = true;
		r->last_ns = in->t_ns;
	}
	return r->time_window ? time_window_take(r->time_window, r->model, in)
			      : model_take(r->model, in);
}

static int on_item(struct replay *r, const struct contents_item *item)
{
	if (item->kind == CONTENTS_ITEM_INPUT)
		return on_input(r, &item->input);
	if (r->output.hang && item->hang->t_ns >= r->from_ns && item->hang->t_ns < r->to_ns)
		r->output.hang(r->output.ctx, item->hang);
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Report a recording that is not intact. */
static void report_state(const struct replay *r, uint32_t i)
{
	double s = (double)(r->last_ns - merge_start(r->merge)) / 1e9;

	switch (contents_state(merge_contents(r->merge, i))) {
	case CONTENTS_DAMAGED:
		msg_warn("%s is damaged: only the first %.3f s, up to its last intact part, were "
			 "read",
			 r->paths[i], s);
		break;
	case CONTENTS_CUT:
		msg_warn("%s was cut short, or is still being recorded: only the first %.3f s were "
			 "read",
			 r->paths[i], s);
		break;
	case CONTENTS_INTACT:
		break;
	}
}

/*
 * Report how the clocks of several recordings were aligned, and which crossings were matched by
 * time only.
 */
static void note_clock(const struct replay *r, uint32_t i)
{
	struct merge_clock clock;

	merge_clock(r->merge, i, &clock);
	if (i && !clock.found.sync_points)
		remark_note(
			REMARK_WARN, "clocks", 0,
			"%s and %s have no MPI call in common that can be matched (both must "
			"record the program from its start): their clocks are aligned by the time "
			"of day, which may be wrong",
			r->paths[0], r->paths[i]);
	else if (i)
		msg_verbose(1,
			    "%s: its clock is aligned with that of %s by %llu shared episodes, to "
			    "within %.1f us",
			    r->paths[i], r->paths[0], (unsigned long long)clock.found.sync_points,
			    (double)clock.found.uncertain_ns / 1e3);
	if (clock.found.contradicts)
		remark_note(
			REMARK_WARN, "clocks", 0,
			"%s: its times contradict those of the other recordings, because a clock "
			"jumped or records were lost: times between machines are uncertain",
			r->paths[i]);
	if (clock.unnumbered)
		remark_note(
			REMARK_WARN, "clocks", 0,
			"%s: %llu crossings of MPI are matched with those of other recordings "
			"by time, because their ordinal on the communicator is unknown (the rank "
			"was already running, or records were lost): they are matched wrongly if "
			"clocks differ by more than a phase",
			r->paths[i], (unsigned long long)clock.unnumbered);
}

static int note_clocks(struct replay *r)
{
	const struct remark *all;
	uint32_t i, n, before;

	remarks_all(&before);
	for (i = 0; i < r->n; i++)
		note_clock(r, i);
	all = remarks_all(&n);
	remarks_say(before, r->options.options->quiet);
	return run_facts_file_remarks(&r->run_facts_file, all + before, n - before);
}

static int end(struct replay *r)
{
	struct model_input finish = { .type = MODEL_INPUT_FINISH };
	uint32_t i;
	int err = 0;

	if (r->too_large)
		msg_warn("%s needs more memory than a recording of its size may take: only the "
			 "first %.3f s were read",
			 r->paths[0], (double)(r->last_ns - merge_start(r->merge)) / 1e9);
	for (i = 0; i < r->n; i++)
		report_state(r, i);
	if (r->last_ns <= r->from_ns && (r->options.from_ns || !r->crossings)) {
		if (r->options.from_ns && r->finished) {
			msg_error("%s ends %.3f s after the start: there is nothing from %.3f s on",
				  r->paths[0], (double)(r->last_ns - merge_start(r->merge)) / 1e9,
				  (double)r->options.from_ns / 1e9);
			return -ERANGE;
		}
		if (merge_state(r->merge) != CONTENTS_INTACT) {
			msg_error("%s contains nothing that can be read", r->paths[0]);
			return -ENODATA;
		}
	}
	if (r->last_ns > r->to_ns)
		r->last_ns = r->to_ns;
	if (!r->finished) {
		finish.t_ns = r->last_ns;
		err = model_take(r->model, &finish);
	}
	if (!err)
		err = conceptual_finish(observer_conceptual(r->observer));
	if (r->time_window)
		r->run_facts_file.env.extent = (struct report_extent){
			.window = true,
			.from_ns = r->options.from_ns,
			.to_ns = r->last_ns - replay_session(r)->session.clock_start_ns,
		};
	if (!err)
		err = run_facts_file_end(&r->run_facts_file, r->last_ns, r->crossings, r->to_ns);
	r->run_facts_file.env.cut |= r->too_large;
	if (!err && r->n > 1)
		err = note_clocks(r);
	return err;
}

int replay_run(struct replay *r)
{
	struct contents_item item;
	uint64_t n = 0;
	int got = 1, err;

	r->last_ns = r->from_ns;
	progress_begin(r->options.progress, "reading %s", r->paths[0]);
	err = begin_observer(r);
	if (!err && (r->time_window || r->options.stacks))
		err = learn(r);
	while (!err && within_memory(r, ++n) && (got = merge_next(r->merge, &item)) > 0)
		err = on_item(r, &item);
	progress_end(r->options.progress);
	if (!err)
		err = got < 0 ? got : end(r);
	if (err && err != -ERANGE && err != -ENODATA)
		msg_error("cannot read %s: %s", r->paths[0], strerror(-err));
	return err;
}

void replay_want_functions(struct replay *r)
{
	r->run_facts_file.env.functions = true;
}

int replay_report(struct replay *r, struct report *out)
{
	return report_build(r->model, &r->run_facts_file.env, out);
}

const struct contents_session *replay_session(const struct replay *r)
{
	return contents_began(merge_contents(r->merge, 0));
}

const struct model *replay_model(const struct replay *r)
{
	return r->model;
}

const struct report_env *replay_env(const struct replay *r)
{
	return &r->run_facts_file.env;
}

bool replay_is(const struct replay *r, const struct report_barrier *b, const char *spec)
{
	return observer_is(r->observer, model_barrier(r->model, b->index), b->id, spec);
}

int replay_unmet(struct replay *r, bool say)
{
	const struct remark *all;
	uint32_t n, before;

	remarks_all(&before);
	observer_unmet(r->observer);
	all = remarks_all(&n);
	if (say)
		remarks_say(before, r->options.options->quiet);
	return run_facts_file_remarks(&r->run_facts_file, all + before, n - before);
}

void replay_free(struct replay *r)
{
	uint32_t i;

	if (!r)
		return;
	model_free(r->model);
	observer_free(r->observer);
	run_facts_file_free(&r->run_facts_file);
	time_window_free(r->time_window);
	merge_free(r->merge);
	for (i = 0; i < r->n; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	free(r->fds);
	free(r->one);
	free(r);
}
