// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/guard.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/rights.h"

#define HIGH_FD	    1000
#define LOOKS	    50
#define LOOK_US	    20000
/* How long it is waited for, each time: a second. */
#define END_LOOKS   1000
#define END_LOOK_US 1000

/* A process that is stopped because of a copy goes on long before. */
#define COPY_NS 10000000000u

/* Stopped, and a child of @parent (0: of anybody)? */
static bool stopped(uint32_t pid, int parent)
{
	char path[32], buf[512], state = 0;
	const char *line;
	int ppid = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	line = strstr(buf, "\nState:");
	if (!line || sscanf(line, "\nState: %c", &state) != 1 || state != 'T')
		return false;
	line = strstr(buf, "\nPPid:");
	return !parent || (line && sscanf(line, "\nPPid: %d", &ppid) == 1 && ppid == parent);
}

/* Our programs stop only a process that is marked as not yet examined, or one that may have copied code. */
static bool may_be_held(const struct sbt_proc *proc)
{
	struct timespec now;

	if (proc->flags & SBT_PROC_FRESH)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return proc->copies && (uint16_t)(SBT_COPIED_AT((uint64_t)now.tv_sec * 1000000000u +
							(uint64_t)now.tv_nsec) -
					  proc->copied) <= SBT_COPIED_AT(COPY_NS);
}

static void continue_held(int procs, int parent)
{
	struct sbt_proc proc;
	uint32_t key, next;
	bool first = true;

	while (!bpf_map_get_next_key(procs, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (!bpf_map_lookup_elem(procs, &key, &proc) && may_be_held(&proc) &&
		    stopped(key, parent))
			kill((pid_t)key, SIGCONT);
	}
}

/* Everything else is closed: an fd of a probe kept open here would keep the probe in its target. */
static int keep_two(int *procs, int *parent)
{
	/* Out of the way of each other, then to 0 and 1. */
	*procs = fcntl(*procs, F_DUPFD, 10);
	*parent = fcntl(*parent, F_DUPFD, 10);
	if (*procs < 0 || *parent < 0 || dup2(*procs, 0) < 0 || dup2(*parent, 1) < 0)
		return -errno;
	*procs = 0;
	*parent = 1;
	return syscall(SYS_close_range, 2u, ~0u, 0u) ? -errno : 0;
}

static void __attribute__((noreturn)) guard(int procs, int parent)
{
	sigset_t all;
	ssize_t n;
	char c;
	int i;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "sbt-guard");
	(void)rights_reduce(rights_for_guard());
	if (keep_two(&procs, &parent))
		_exit(1);
	if (chdir("/"))
		_exit(1);
	do
		n = read(parent, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1) {
		/*
		 * An orderly end, and its caller may now wait for COMMAND: one look, in case that the
		 * event which tells of the stop was not read. Only COMMAND can be held: our sister.
		 */
		continue_held(procs, getppid());
		_exit(0);
	}
	/*
	 * The pipe is among the last that the kernel closes for us, the programs' links before it; one that was
	 * stopped in the very last moment shows it a little later.
	 */
	for (i = 0; i < LOOKS; i++) {
		continue_held(procs, 0);
		usleep(LOOK_US);
	}
	_exit(0);
}

int guard_start(const struct attach *attach, struct guard *out)
{
	int fds[2], err, high;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (!pid) {
		close(fds[1]);
		guard(attach_procs_fd(attach), fds[0]);
	}
	close(fds[0]);
	/*
	 * The write end stays open as long as we live: its closing is the sign. Files are closed by their numbers, and a
	 * link takes its time: a high number comes after them all.
	 */
	high = fcntl(fds[1], F_DUPFD_CLOEXEC, HIGH_FD);
	if (high >= 0)
		close(fds[1]);
	out->fd = high >= 0 ? high : fds[1];
	out->pid = pid;
	return 0;
}

static bool has_ended(pid_t pid)
{
	int i;

	for (i = 0; i < END_LOOKS; i++) {
		if (waitpid(pid, NULL, WNOHANG))
			return true;
		usleep(END_LOOK_US);
	}
	return false;
}

void guard_stop(struct guard *guard)
{
	if (!guard->pid)
		return;
	/* If it has gone already there is nothing to tell it. One that somebody stopped goes on, and what does not is ended. */
	if (write(guard->fd, "q", 1) == 1 && !has_ended(guard->pid)) {
		kill(guard->pid, SIGCONT);
		if (!has_ended(guard->pid)) {
			kill(guard->pid, SIGKILL);
			has_ended(guard->pid);
		}
	}
	close(guard->fd);
	guard->pid = 0;
}
