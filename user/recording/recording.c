// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/output.h"
#include "recording/contents.h"
#include "recording/default_file.h"

/* A crash loses at most the records of the last STEP_NS. */
#define STEP_NS 1000000000u

struct recording {
	char *path;
	char *temporary; /* name of the default file until recording_keep(); NULL: not used */
	int file; /* the user's file; -1: fd refers to that file now */
	bool made; /* this process created the file */
	int fd; /* descriptor to write to: first memory, then the file */
	struct contents_writer *contents;
	/*
	 * env: the provider, with its functions replaced by ours; asked: a copy with the original
	 * functions
	 */
	struct report_env *env, asked;
	struct cause_env *causes, asked_causes;
	struct model *model;
	uint64_t step_ns; /* time of the last recording_step() that wrote */
	int error; /* error of writing, which has been reported */
};

/* Open or create the file. *made: it was created. */
static int open_file(const char *path, bool *made)
{
	int fd = output_create(path);

	*made = fd >= 0;
	/*
	 * Keep O_CREAT: the path may be a link to a file that does not exist. Without O_EXCL,
	 * open() creates this file.
	 */
	if (fd != -EEXIST)
		return fd;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, OUTPUT_MODE);
	return fd < 0 ? -errno : fd;
}

/* Open the recording. @standard: it is the default file. */
static int open_recording(const char *path, bool standard, struct recording **out)
{
	struct recording *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->path = strdup(path);
	r->file = standard ? default_file_create(path, &r->temporary) : open_file(path, &r->made);
	r->made |= r->temporary != NULL;
	/* An existing file is overwritten only once the program to be traced runs. */
	r->fd = memfd_create("recording", MFD_CLOEXEC);
	if (r->file < 0)
		err = r->file;
	else if (r->fd < 0)
		err = -errno;
	else if (r->path)
		err = 0;
	if (err) {
		/* default_file_create() has already printed why it refused the file. */
		if (err != -EINVAL || !standard)
			msg_error("cannot write the recording %s: %s", path, strerror(-err));
		recording_close(r, false);
		return err;
	}
	*out = r;
	return 0;
}

int recording_open(const char *path, struct recording **out)
{
	return open_recording(path, false, out);
}

int recording_open_default(const char *path, struct recording **out)
{
	return open_recording(path, true, out);
}

int recording_begin(struct recording *r, struct model *model)
{
	int err = contents_create(r->fd, &r->contents);

	if (err) {
		msg_error("cannot write the recording %s: %s", r->path, strerror(-err));
		return err;
	}
	r->model = model;
	model_tap(model, contents_input, r->contents);
	return 0;
}

static int copy(int from, int to)
{
	char buffer[16384], *at;
	off_t offset = 0;
	ssize_t n, done;

	while ((n = pread(from, buffer, sizeof(buffer), offset)) > 0) {
		offset += n;
		for (at = buffer; n > 0; at += done, n -= done) {
			done = write(to, at, (size_t)n);
			if (done < 0 && errno == EINTR)
				done = 0;
			else if (done <= 0)
				return done ? -errno : -ENOSPC;
		}
	}
	return n < 0 ? -errno : 0;
}

int recording_keep(struct recording *r)
{
	struct stat st;
	int err = 0;

	if (!r->contents || r->file < 0)
		return 0;
	if (fstat(r->file, &st) || (S_ISREG(st.st_mode) && ftruncate(r->file, 0)))
		err = -errno;
	if (!err)
		err = copy(r->fd, r->file);
	/* From now on, writes go to the file. */
	if (!err && dup3(r->file, r->fd, O_CLOEXEC) < 0)
		err = -errno;
	close(r->file);
	r->file = -1;
	/* A recording that is not whole must not replace the user's. */
	if (!err && r->temporary && !default_file_publish(r->path, r->temporary)) {
		free(r->temporary);
		r->temporary = NULL;
	}
	if (err) {
		msg_error("cannot write the recording %s: %s", r->path, strerror(-err));
		if (r->temporary)
			output_remove(r->temporary);
		r->error = err;
	}
	return err;
}

/* --- questions, passed on with their answers recorded ----------------------------------------- */

static void note_text(struct recording *r, struct contents_question q, const char *text)
{
	struct contents_answer a = { .text = text, .number = NAN };

	if (r->contents)
		contents_answer(r->contents, &q, &a);
}

static const struct site_name *record_site(void *ctx, uint32_t site)
{
	struct recording *r = ctx;
	const struct site_name *name = r->asked.site(r->asked.ctx, site);

	if (name && r->contents)
		contents_site(r->contents, site, name);
	return name;
}

static const char *record_barrier_name(void *ctx, const struct model_barrier *barrier)
{
	struct recording *r = ctx;

	/* Not recorded: the reader gets the name from its own command line, or from the site. */
	return r->asked.barrier_name(r->asked.ctx, barrier);
}

static const char *record_object_name(void *ctx, const struct model_barrier *b)
{
	struct recording *r = ctx;
	const struct model_proc *p = model_proc(r->model, b->proc);
	const char *name = r->asked.object_name(r->asked.ctx, b);

	note_text(r,
		  (struct contents_question){ CONTENTS_OBJECT, b->family, p->tgid, p->inc,
					      b->object },
		  name);
	return name;
}

static const char *record_exit_detection(void *ctx, const struct model_proc *p)
{
	struct recording *r = ctx;
	const char *how = r->asked.exit_detection(r->asked.ctx, p);

	note_text(r, (struct contents_question){ CONTENTS_EXIT_DETECTION, 0, p->tgid, p->inc, 0 },
		  how);
	return how;
}

static const char *record_untraced(void *ctx, const struct model_proc *p)
{
	struct recording *r = ctx;
	const char *names = r->asked.untraced(r->asked.ctx, p);

	if (names)
		note_text(r, (struct contents_question){ CONTENTS_UNTRACED, 0, p->tgid, p->inc, 0 },
			  names);
	return names;
}

static bool record_tasks(void *ctx, const struct model_proc *p)
{
	struct recording *r = ctx;
	bool tasks = r->asked.tasks(r->asked.ctx, p);

	if (tasks)
		note_text(r, (struct contents_question){ CONTENTS_UNTRACED, 1, p->tgid, p->inc, 0 },
			  "tasks");
	return tasks;
}

static const char *record_probe_group_name(void *ctx, const struct model_proc *p,
					   uint8_t probe_group)
{
	struct recording *r = ctx;
	const char *name = r->asked.probe_group_name(r->asked.ctx, p, probe_group);

	note_text(
		r,
		(struct contents_question){ CONTENTS_PROBE_GROUP, 0, p->tgid, p->inc, probe_group },
		name);
	return name;
}

static uint64_t record_looks(void *ctx, const struct model_proc *p, uint64_t *paused_ns)
{
	struct recording *r = ctx;
	struct contents_question q = { .kind = CONTENTS_LOOKS, .tgid = p->tgid, .inc = p->inc };
	uint64_t looks = r->asked.looks(r->asked.ctx, p, paused_ns);
	struct contents_answer a = { .number = (double)looks };

	if (!looks && !*paused_ns)
		return 0;
	contents_answer(r->contents, &q, &a);
	q.which = 1;
	a.number = (double)*paused_ns;
	contents_answer(r->contents, &q, &a);
	return looks;
}

static double record_crossing_cost(void *ctx, const struct model_proc *p)
{
	struct recording *r = ctx;
	struct contents_question q = { .kind = CONTENTS_PRICE, .tgid = p->tgid, .inc = p->inc };
	struct contents_answer a = { .number = r->asked.crossing_cost(r->asked.ctx, p) };

	contents_answer(r->contents, &q, &a);
	return a.number;
}

static const char *record_task(void *ctx, uint32_t tid)
{
	struct recording *r = ctx;
	const char *name = r->asked_causes.task(r->asked_causes.ctx, tid);

	note_text(r, (struct contents_question){ CONTENTS_TASK, 0, 0, 0, tid }, name);
	return name;
}

static const char *record_lock(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	struct recording *r = ctx;
	const char *name = r->asked_causes.lock(r->asked_causes.ctx, tgid, inc, addr);

	note_text(r, (struct contents_question){ CONTENTS_LOCK, 0, tgid, inc, addr }, name);
	return name;
}

static const char *record_mapping(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	struct recording *r = ctx;
	const char *name = r->asked_causes.mapping(r->asked_causes.ctx, tgid, inc, addr);

	note_text(r, (struct contents_question){ CONTENTS_MAPPING, 0, tgid, inc, addr }, name);
	return name;
}

static const char *record_file(void *ctx, uint64_t inode, bool *has_ends)
{
	struct recording *r = ctx;
	const char *name = r->asked_causes.file(r->asked_causes.ctx, inode, has_ends);

	note_text(r, (struct contents_question){ CONTENTS_FILE, 0, 0, 0, inode }, name);
	return name;
}

static uint32_t record_stack(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
			     uint32_t max)
{
	struct recording *r = ctx;
	struct contents_question q = {
		.kind = CONTENTS_STACK, .tgid = tgid, .inc = inc, .what = key
	};
	struct contents_answer a = { .number = NAN, .sites = sites };

	a.nsites = r->asked_causes.stack(r->asked_causes.ctx, tgid, inc, key, sites, max);
	contents_answer(r->contents, &q, &a);
	return a.nsites;
}

void recording_listen(struct recording *r, struct report_env *env, struct cause_env *causes)
{
	r->env = env;
	r->asked = *env;
	env->ctx = r;
#define ANSWER(question) env->question = record_##question;
	REPORT_QUESTIONS(ANSWER)
#undef ANSWER
	r->causes = causes;
	if (!causes)
		return;
	r->asked_causes = *causes;
	causes->ctx = r;
#define ANSWER(question) causes->question = record_##question;
	CAUSE_QUESTIONS(ANSWER)
#undef ANSWER
}

void recording_process(struct recording *r, const struct model_proc *p)
{
	uint64_t paused_ns;

	record_exit_detection(r, p);
	record_untraced(r, p);
	record_tasks(r, p);
	record_looks(r, p, &paused_ns);
	record_crossing_cost(r, p);
}

/* --- what happens ----------------------------------------------------------------------------- */

void recording_hang(struct recording *r, const struct report_hang *hang)
{
	contents_hang(r->contents, hang);
}

void recording_session(struct recording *r, const struct session *session,
		       int64_t realtime_offset_ns)
{
	struct contents_session s = {
		.session = *session,
		.model_start_ns = model_start(r->model),
		.realtime_offset_ns = realtime_offset_ns,
		.accounted = r->causes != NULL,
		.instructions = r->causes ? r->causes->instructions : MODEL_NONE,
		.cycles = r->causes ? r->causes->cycles : MODEL_NONE,
		.ncpus = r->env->ncpus,
		.ncpu_node = r->env->ncpu_node,
		.cpu_node = r->env->cpu_node,
	};
	struct utsname uts;

	if (!uname(&uts)) {
		s.host = uts.nodename;
		s.machine = uts.machine;
	}
	if (getrandom(s.ids, sizeof(s.ids), GRND_NONBLOCK) != (ssize_t)sizeof(s.ids))
		s.ids[0] = s.model_start_ns;
	contents_session(r->contents, &s);
	contents_flush(r->contents);
}

static void name_site(void *ctx, uint32_t site)
{
	record_site(ctx, site);
}

static int flush(struct recording *r)
{
	int err = contents_flush(r->contents);

	if (err && !r->error) {
		msg_error("cannot write the recording %s: %s; it can be read up to here", r->path,
			  strerror(-err));
		r->error = err;
	}
	return r->error;
}

int recording_now(struct recording *r)
{
	contents_new_sites(r->contents, name_site, r);
	return flush(r);
}

int recording_step(struct recording *r, uint64_t now_ns)
{
	if (now_ns - r->step_ns < STEP_NS)
		return r->error;
	r->step_ns = now_ns;
	return recording_now(r);
}

void recording_names(struct recording *r)
{
	/*
	 * Record the names of the sites that were not named for this run's report, because another
	 * report of the recording may show them.
	 */
	contents_new_sites(r->contents, name_site, r);
}

void recording_ending(struct recording *r, uint64_t end_ns)
{
	struct contents_ending e = {
		.end_ns = end_ns,
		.crossing_cost_ns = r->env->crossing_cost_ns,
		.switch_cost_ns = r->env->switch_cost_ns,
		.switches_cost_ns = r->env->switches_cost_ns,
		.rested_ns = r->env->rested_ns,
		.sampling = r->env->sampling,
		.tracer_cpu_ns = r->env->tracer_cpu_ns,
		.produced = r->env->produced,
		.consumed = r->env->consumed,
		.nlosses = r->env->nlosses,
		.losses = r->env->losses,
		.nhangs = r->env->nhangs,
		.hangs = r->env->hangs,
		.nremarks = r->env->nremarks,
		.remarks = r->env->remarks,
	};

	contents_ending(r->contents, &e);
}

/* Return the name that the file has at present. */
static const char *name_of(const struct recording *r)
{
	return r->temporary ? r->temporary : r->path;
}

/* Remove the file if we created it and it is still empty. */
static void forget_file(const struct recording *r)
{
	struct stat own, there;

	if (r->file < 0)
		return;
	if (r->made && r->path && !fstat(r->file, &own) && !own.st_size &&
	    !lstat(name_of(r), &there) && there.st_ino == own.st_ino && there.st_dev == own.st_dev)
		output_remove(name_of(r));
	close(r->file);
}

int recording_close(struct recording *r, bool brag)
{
	bool kept;
	uint64_t bytes;
	int err;

	if (!r)
		return 0;
	kept = r->file < 0;
	err = r->contents ? flush(r) : r->error;
	bytes = r->contents ? contents_bytes(r->contents) : 0;
	if (r->contents)
		contents_close(r->contents);
	if (r->fd >= 0 && close(r->fd) && !err) {
		err = -errno;
		msg_error("cannot write the recording %s: %s", r->path, strerror(-err));
	}
	forget_file(r);
	if (brag && !err && bytes && kept)
		msg_verbose(1, "recorded %.1f %s: sbt-trace report %s",
			    (double)bytes / (bytes < 100000 ? 1e3 : 1e6),
			    bytes < 100000 ? "KB" : "MB", name_of(r));
	free(r->temporary);
	free(r->path);
	free(r);
	return err;
}
