// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * sbt-trace doctor: try each feature on this machine, and print what to do about missing features.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/msg.h"
#include "capture/file_limit.h"
#include "capture/load_options.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view_output.h"
#include "doctor/doctor.h"
#include "doctor/doctor_facts.h"
#include "doctor/installed_libs.h"
#include "emit/emit.h"

#define TRY_SECONDS 120 /* emulated machines are slow */
#define LOG_BYTES   (1u << 20) /* bytes of libbpf's messages that are kept, from their end */

/* --- in a process of its own ------------------------------------------------------------------ */

/* Make a file in memory for messages about failures. */
static int make_log(void)
{
	return memfd_create("sbt-doctor", MFD_CLOEXEC);
}

static char *read_log(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END), from = size > LOG_BYTES ? size - LOG_BYTES : 0;
	char *log = malloc(LOG_BYTES + 1);
	ssize_t n;

	if (!log)
		return NULL;
	n = size > 0 ? pread(fd, log, LOG_BYTES, from) : 0;
	log[n > 0 ? n : 0] = '\0';
	return log;
}

static int wait_for(pid_t pid)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	struct timespec begin, now;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		if (got < 0 && errno != EINTR)
			return SIGKILL;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec > TRY_SECONDS)
			kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

/*
 * Run @job in a child process. Whatever the job leaves open ends with the child. If the child
 * hangs, it is killed. Return 0, the signal that killed the child, or -errno.
 */
static int run_in_child(void (*job)(struct doctor_facts *facts), struct doctor_facts *shared,
			int log)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (log >= 0)
			dup2(log, STDERR_FILENO);
		job(shared);
		_exit(0);
	}
	return wait_for(pid);
}

/* --- the main job ----------------------------------------------------------------------------- */

static void drain_nothing(void *ctx)
{
	(void)ctx;
}

/* Read default options; the variables of the SBT library must not change what doctor finds. */
static enum options_result default_options(struct command_line *line)
{
	char name[] = "sbt-trace", option[] = "-p", value[] = "1";
	char *argv[] = { name, option, value, NULL };

	clearenv();
	return options_parse(line, 3, argv);
}

static void watch_itself(struct doctor_facts *f, struct attach *attach)
{
	f->crossing_ns = attach_calibrate_quick(attach, drain_nothing, NULL).ns;
	f->trial = isnan(f->crossing_ns) ? DOCTOR_UNSEEN : 0;
	if (attach_accounts(attach))
		f->iterator = attach_account_found(attach);
}

/* Load the BPF programs as for a trace, and probe sbt-trace itself. */
static void trial(struct doctor_facts *f)
{
	struct counting none = { 0 };
	struct attach_options ao;
	struct attach *attach;
	struct command_line line = { .command = COMMAND_TRACE };
	int err;

	f->trial = -EINVAL;
	if (default_options(&line) != OPTIONS_GO)
		return;
	load_options_fill(&line.options, &none, &ao);
	ao.verbose = 2; /* libbpf prints its messages */
	err = attach_new(&ao, &attach, f->trial_why, sizeof(f->trial_why));
	options_free(&line);
	f->trial = err;
	if (err)
		return;
	snprintf(f->method, sizeof(f->method), "%s", attach_method_name(attach_method(attach)));
	snprintf(f->method_why, sizeof(f->method_why), "%s", attach_reason(attach));
	f->accounts = attach_accounts(attach);
	snprintf(f->accounts_why, sizeof(f->accounts_why), "%s", attach_account_reason(attach));
	watch_itself(f, attach);
	attach_free(attach);
}

static bool has_rights(const struct doctor_facts *f)
{
	uint32_t i;

	for (i = 0; i < f->nrights && (f->rights[i].there || !f->rights[i].needed); i++)
		;
	return i == f->nrights;
}

static void try_main(struct doctor_facts *f)
{
	int log = make_log(), ended;
	char *text;

	/* Without these rights, a trace would be refused, too. */
	if (!has_rights(f))
		goto out;
	ended = run_in_child(trial, f, log);
	if (ended) {
		f->trial = ended < 0 ? ended : -EINTR;
		f->trial_signal = ended > 0 ? ended : 0;
	}
	text = log >= 0 ? read_log(log) : NULL;
	if (text)
		doctor_read_log(text, f->trial_log, sizeof(f->trial_log));
	/*
	 * If a file could not be opened because too many were open, libbpf goes on and fails later
	 * with another error. Report the first.
	 */
	if (text && f->trial && strstr(text, strerror(EMFILE))) {
		f->trial = -EMFILE;
		snprintf(f->trial_log, sizeof(f->trial_log), "%s", strerror(EMFILE));
	}
	free(text);
out:
	if (log >= 0)
		close(log);
}

static void examine(struct doctor_facts *f)
{
	int log = make_log();

	doctor_begin(f);
	file_limit_raise();
	run_in_child(doctor_look, f, log);
	run_in_child(doctor_try, f, log);
	run_in_child(installed_libs_look, f, log);
	try_main(f);
	if (log >= 0)
		close(log);
}

/* --- the command ------------------------------------------------------------------------------ */

static void print(struct emit *emit, const void *ctx)
{
	emit_doctor(emit, ctx);
}

static int diagnose(struct command_line *line)
{
	struct doctor_facts *facts;
	struct doctor *doctor;
	int status = EXIT_FAILED;

	if (line->files.n) {
		msg_error("doctor: unexpected word %s (see sbt-trace doctor --help)",
			  line->files.words[0]);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	facts = mmap(NULL, sizeof(*facts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	doctor = malloc(sizeof(*doctor));
	if (facts == MAP_FAILED || !doctor) {
		msg_error("%s", strerror(ENOMEM));
		goto out;
	}
	examine(facts);
	doctor_diagnose(facts, doctor);
	status = view_print(&line->options, print, doctor);
	if (doctor->verdict.state != DOCTOR_YES)
		status = EXIT_FAILED;
out:
	free(doctor);
	if (facts != MAP_FAILED)
		munmap(facts, sizeof(*facts));
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_DOCTOR }, argc, argv,
			   diagnose);
}
