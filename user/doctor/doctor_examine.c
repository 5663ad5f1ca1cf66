// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Run each trial in a process of its own. */
#include "doctor/doctor_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "doctor/installed_libs.h"

#define TRY_NS	  120000000000u /* emulated machines are slow */
#define LOG_BYTES (1u << 20) /* how many bytes of libbpf's messages are kept: the last ones */

/* Make a file in memory for messages about failures. */
static int make_log(void)
{
	return memfd_create("sbt-doctor", MFD_CLOEXEC);
}

static char *log_text(int fd)
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
	uint64_t begin = now_ns();
	int status;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		if (got < 0 && errno != EINTR)
			return SIGKILL;
		if (now_ns() - begin > TRY_NS)
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

static void try_main(struct doctor_facts *f, void (*trial)(struct doctor_facts *facts))
{
	int log = make_log(), ended;
	char *text;

	/* Without these rights, a trace would be refused, too. */
	if (!doctor_has_rights(f))
		goto out;
	ended = run_in_child(trial, f, log);
	if (ended) {
		f->trial = ended < 0 ? ended : -EINTR;
		f->trial_signal = ended > 0 ? ended : 0;
	}
	text = log >= 0 ? log_text(log) : NULL;
	if (text)
		doctor_read_log(text, f->trial_log, sizeof(f->trial_log));
	/*
	 * If a file could not be opened because too many were open, libbpf goes on and fails later
	 * with another error. Report the first error.
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

void doctor_examine(struct doctor_facts *f, void (*trial)(struct doctor_facts *facts))
{
	int log = make_log();

	doctor_begin(f);
	run_in_child(doctor_look, f, log);
	run_in_child(doctor_try, f, log);
	run_in_child(installed_libs_look, f, log);
	try_main(f, trial);
	if (log >= 0)
		close(log);
}
