// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Steps before tracing: decide whether this sbt-trace traces at all, and which of the sbt-trace
 * processes of a job traces its ranks.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/msg.h"
#include "capture/capture_internal.h"
#include "recording/default_file.h"
#include "target/job.h"

int capture_cannot_run(const struct options *o, int err)
{
	msg_error("cannot run %s: %s", o->command[0],
		  err == -ENOENT    ? "command not found"
		  : err == -ELIBACC ? "its interpreter or loader does not exist"
				    : strerror(-err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

int capture_run_untraced(const struct options *o)
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
		return capture_cannot_run(o, err);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Warn that @own is not written, because another sbt-trace writes @first ("": no file) instead. Do
 * nothing if both are the same file, or if the user named no file.
 */
static void report_elsewhere(const struct job *job, const char *what, const char *own,
			     const char *first)
{
	struct stat a, b;

	if (!own || (*first && !strcmp(own, DEFAULT_FILE)) ||
	    (!stat(own, &a) && !stat(first, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino))
		return;
	if (*first)
		msg_warn("rank %u is %s together with all ranks on this machine in %s; %s is not "
			 "written",
			 job->rank, what, first, own);
	else
		msg_warn("rank %u is traced by the sbt-trace of the first rank on this machine, "
			 "which writes no such file: %s is not written",
			 job->rank, own);
}

/* Use FILE.RANK for the files of a rank that is traced on its own. */
static int own_files(struct capture *c, uint32_t rank)
{
	struct options *o = &c->options;

	if (o->output && !c->options.only_record) {
		if (asprintf(&c->own_output, "%s.%u", o->output, rank) < 0)
			return -ENOMEM;
		o->output = c->own_output;
	}
	if (o->record) {
		if (asprintf(&c->own_record, "%s.%u", o->record, rank) < 0)
			return -ENOMEM;
		o->record = c->own_record;
	}
	return 0;
}

/*
 * Let the sbt-trace of the first rank trace this process, and execute COMMAND. Return 0 if that
 * sbt-trace does not take the process. If the result is not 0, exit with *status.
 */
static int follow_first(struct capture *c, const struct job *job, int *status)
{
	struct handover_files files;
	struct launch_user user;
	int err = handover_follow(job, &files);

	if (!err) {
		report_elsewhere(job, "recorded", c->options.record, files.record);
		if (!c->options.only_record)
			report_elsewhere(job, "reported on", c->options.output, files.output);
		err = launch_find_user(c->options.user, &user);
		if (!err)
			err = launch_here(c->options.command, &user);
		*status = capture_cannot_run(&c->options, err);
		return -1;
	}
	msg_warn("rank %u is traced on its own: the sbt-trace of the first rank on this machine %s",
		 job->rank, err == -ECONNABORTED ? "gave up" : "did not answer");
	/* Do not write the same file as another rank. */
	return own_files(c, job->rank);
}

int capture_meet_ranks(struct capture *c, int *status)
{
	struct job job;
	int err;

	if (c->options.mode != OPTIONS_COMMAND || job_read(getpid(), &job) ||
	    !handover_wanted(&job))
		return 0;
	if (job.local_rank)
		return follow_first(c, &job, status);
	err = handover_listen(&job, &c->handover);
	if (err)
		msg_warn("the other ranks cannot be traced in one report: %s", strerror(-err));
	return 0;
}
