// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* What comes before tracing: what the words ask for, whether anything is to be traced, and by whom, if we are one of several ranks. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/msg.h"
#include "cmd/cmd.h"
#include "cmd/trace_internal.h"
#include "sites/reader.h"
#include "target/job.h"

int trace_cannot_run(const struct options *o, int err)
{
	msg_error("cannot run %s: %s", o->command[0],
		  err == -ENOENT ? "command not found" : strerror(-err));
	return EXIT_FAILED;
}

/* SBT_NO_DEBUG: as if we were not there. */
static int run_untraced(const struct options *o)
{
	struct launch_user user;
	struct launch l;
	int status, err;

	if (o->mode != OPTIONS_COMMAND) {
		msg_warn("SBT_NO_DEBUG is set: nothing is traced");
		return 0;
	}
	err = launch_find_user(o->user, &user);
	if (!err)
		err = launch_prepare(o->command, &user, &l);
	if (!err)
		err = launch_go(&l);
	if (err) {
		msg_error("cannot run %s: %s", o->command[0], strerror(-err));
		return EXIT_FAILED;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(l.pid, &status, 0) < 0 && errno == EINTR)
		;
	err = launch_result(&l);
	if (err < 0)
		return trace_cannot_run(o, err);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Does COMMAND carry the markers of include/sbt/sbt.h? Then it takes the library's options, too. */
static bool has_marks(const struct options *o)
{
	const char *path = getenv("PATH"), *end;
	char file[PATH_MAX];

	if (o->mode != OPTIONS_COMMAND)
		return false;
	if (strchr(o->command[0], '/'))
		return reader_file_has_marks(o->command[0], "sbt");
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path,
				     o->command[0]) < sizeof(file) &&
		    !access(file, X_OK))
			return reader_file_has_marks(file, "sbt");
	}
	return false;
}

/* Of @own nothing will come: what it was to hold is in @first, another file. */
static void tell_elsewhere(const struct job *job, const char *what, const char *own,
			   const char *first)
{
	struct stat a, b;

	if (!own ||
	    (!stat(own, &a) && !stat(first, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino))
		return;
	if (*first)
		msg_warn("rank %u is %s together with all ranks on this machine in %s; %s is not "
			 "written",
			 job->rank, what, first, own);
	else
		msg_warn("rank %u is traced by the sbt-trace of the first rank on this machine, "
			 "which was told of no such file: %s is not written",
			 job->rank, own);
}

/* Of a rank left alone: FILE.RANK. */
static int own_files(struct trace *t, uint32_t rank)
{
	struct options *o = &t->options;

	if (o->output && !t->only_record) {
		if (asprintf(&t->own_output, "%s.%u", o->output, rank) < 0)
			return -ENOMEM;
		o->output = t->own_output;
	}
	if (o->record) {
		if (asprintf(&t->own_record, "%s.%u", o->record, rank) < 0)
			return -ENOMEM;
		o->record = t->own_record;
	}
	return 0;
}

/* Hands this process over: does not come back if all is well. */
static int follow_first(struct trace *t, const struct job *job, int *status)
{
	struct handover_told told;
	struct launch_user user;
	int err = handover_follow(job, &told);

	if (!err) {
		tell_elsewhere(job, "recorded", t->options.record, told.record);
		if (!t->only_record)
			tell_elsewhere(job, "reported on", t->options.output, told.output);
		err = launch_find_user(t->options.user, &user);
		if (!err)
			err = launch_here(t->options.command, &user);
		*status = trace_cannot_run(&t->options, err);
		return -1;
	}
	msg_warn("rank %u is traced on its own: the sbt-trace of the first rank here %s", job->rank,
		 err == -ECONNABORTED ? "gave up" : "was not there");
	/* Not into the same file. */
	return own_files(t, job->rank);
}

int trace_meet_ranks(struct trace *t, int *status)
{
	struct job job;
	int err;

	if (t->options.mode != OPTIONS_COMMAND || job_read(getpid(), &job) ||
	    !handover_wanted(&job))
		return 0;
	if (job.local_rank)
		return follow_first(t, &job, status);
	err = handover_listen(&job, &t->handover);
	if (err)
		msg_warn("the other ranks cannot be traced in one report: %s", strerror(-err));
	return 0;
}

/* sbt-trace record: what is printed of what happens goes nowhere. */
static int record_only(struct trace *t)
{
	struct options *o = &t->options;

	t->only_record = true;
	if (!o->output || o->record) {
		msg_error("record: where to? -o FILE");
		return -EINVAL;
	}
	if (o->format != EMIT_TEXT) {
		msg_error("record writes a recording: --json and --csv are report's");
		return -EINVAL;
	}
	if (o->aggregate) {
		msg_error("record writes single crossings: --aggregate has none");
		return -EINVAL;
	}
	o->record = o->output;
	o->output = "/dev/null";
	return 0;
}

int trace_read_words(struct trace *t, int argc, char **argv, enum options_help what)
{
	int err;

	switch (options_parse(argc, argv, what, &t->options)) {
	case OPTIONS_DONE:
		return 0;
	case OPTIONS_WRONG:
		return EXIT_USAGE;
	case OPTIONS_FAILED:
		return EXIT_FAILED;
	case OPTIONS_GO:
		break;
	}
	if (what == OPTIONS_HELP_RECORD && record_only(t))
		return EXIT_USAGE;
	err = has_marks(&t->options) ? options_read_words(&t->options) : 0;
	if (!err && t->options.no_debug)
		return run_untraced(&t->options);
	if (!err)
		err = counting_read(t->options.events_from, t->options.events, &t->counting);
	return !err ? -1 : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}
