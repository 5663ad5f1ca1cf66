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
#include <unistd.h>

#include "attach/rights.h"
#include "base/clock.h"
#include "target/proc.h"

#define HIGH_FD	    1000
#define LOOKS	    50
#define LOOK_US	    20000
/* Wait for the guard's exit for up to END_LOOKS intervals of END_LOOK_US: 1 s in all. */
#define END_LOOKS   1000
#define END_LOOK_US 1000

/*
 * A process that was stopped because of copied code is normally resumed long before this time (ns)
 * is over.
 */
#define COPY_NS 10000000000u

/* Return whether the process is stopped and is a child of @parent (0: any parent). */
static bool stopped(uint32_t pid, int parent)
{
	char buf[512], state = 0;
	const char *line;
	int ppid = 0;

	if (proc_read(buf, sizeof(buf), "/proc/%u/status", pid) <= 0)
		return false;
	line = strstr(buf, "\nState:");
	if (!line || sscanf(line, "\nState: %c", &state) != 1 || state != 'T')
		return false;
	line = strstr(buf, "\nPPid:");
	return !parent || (line && sscanf(line, "\nPPid: %d", &ppid) == 1 && ppid == parent);
}

/*
 * Return whether our programs may have stopped the process: it was not examined yet, or it may have
 * copied code recently.
 */
static bool may_be_stopped(const struct sbt_proc *proc)
{
	if (proc->flags & SBT_PROC_FRESH)
		return true;
	return proc->copies &&
	       (uint16_t)(SBT_COPIED_AT(now_ns()) - proc->copied) <= SBT_COPIED_AT(COPY_NS);
}

/*
 * Resume the processes that our BPF programs have stopped: @parent's children (0: all processes).
 */
static void resume_stopped(int procs, int parent)
{
	struct sbt_proc proc;
	uint32_t key, next;
	bool first = true;

	while (!bpf_map_get_next_key(procs, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (!bpf_map_lookup_elem(procs, &key, &proc) && may_be_stopped(&proc) &&
		    stopped(key, parent))
			kill((pid_t)key, SIGCONT);
	}
}

/*
 * Close all descriptors except @procs and @parent. If the descriptor of a probe stayed open in this
 * child, the probe would stay attached after sbt-trace's exit.
 */
static int keep_two(int *procs, int *parent)
{
	/* Duplicate both descriptors to high numbers that cannot collide, then to 0 and 1. */
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
		 * sbt-trace ends normally. COMMAND must not remain stopped, because sbt-trace's
		 * caller may wait for it. So look once for stopped processes: sbt-trace may have
		 * ended before it read the event that reports the stop. Only COMMAND, which is our
		 * sibling, can be stopped.
		 */
		resume_stopped(procs, getppid());
		_exit(0);
	}
	/*
	 * Look several times. The kernel closes the pipe after the links of the programs. But a
	 * process that the programs stopped at the last moment may appear as stopped only a little
	 * later.
	 */
	for (i = 0; i < LOOKS; i++) {
		resume_stopped(procs, 0);
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
	 * The guard acts when the write end is closed, which the kernel does when sbt-trace exits.
	 * The kernel closes files in the order of their numbers, and closing links takes time. So
	 * give the write end a high number: it is then closed after the links.
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
	/*
	 * If the guard has already exited, the pipe has no reader and write() fails: nothing is
	 * left to do. If the guard was stopped, resume it. If it still does not exit, kill it.
	 */
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
