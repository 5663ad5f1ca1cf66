// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbols/child_internal.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* longest wait for an answer; it is long because other tasks may take most of the child's CPU */
#define LONGEST_MS 60000
#define SLICE_MS   2 /* interval between two checks of the child's CPU time */
#define STEP_NS	   100000 /* CPU time (ns) that counts as progress of the child */
/*
 * Longest wait for a child to exit. A killed child exits at once. If this process may not kill the
 * child, the kernel kills it when this process exits (PR_SET_PDEATHSIG).
 */
#define END_MS	   1000

static int64_t now_ms(void)
{
	return (int64_t)(now_ns() / 1000000);
}

uint64_t child_cpu_ns(const struct child *child)
{
	struct timespec ts;
	clockid_t clock;

	if (child->sock < 0 || clock_getcpuclockid(child->pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void child_stop(struct child *child)
{
	struct pollfd pfd = { .fd = child->pidfd, .events = POLLIN };
	int64_t now = now_ms(), end = now + END_MS;
	siginfo_t info;

	if (child->sock >= 0)
		close(child->sock);
	child->sock = -1;
	if (child->pidfd < 0)
		return;
	syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
	while (now < end && poll(&pfd, 1, (int)(end - now)) < 0 && errno == EINTR)
		now = now_ms();
	waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED | WNOHANG);
	close(child->pidfd);
	child->pidfd = -1;
}

int child_start(struct child *child, const struct child_kind *kind)
{
	pid_t parent = getpid(), pid;
	int pair[2], err;

	if (child->sock >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(pair[0]);
		close(pair[1]);
		return err;
	}
	if (!pid)
		child_live(kind, pair[1], parent);
	close(pair[1]);
	child->sock = pair[0];
	child->pid = pid;
	child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (child->pidfd < 0) {
		err = -errno;
		close(child->sock); /* the child exits when it reads the end of its input */
		child->sock = -1;
		waitpid(pid, NULL, WNOHANG);
		return err;
	}
	return 0;
}

int child_send(int sock, const struct iovec *parts, size_t n, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = n };
	struct cmsghdr *cmsg;

	if (fd >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/*
 * Return -EDQUOT if the child has used too much CPU time, -ETIMEDOUT if it makes no progress or
 * takes too long, or 0 to continue waiting.
 */
static int impatience(const struct child *child, struct child_patience *p)
{
	int64_t now = now_ms();
	uint64_t cpu = child_cpu_ns(child);

	if (cpu > p->begin_ns && cpu - p->begin_ns > p->most_ns)
		return -EDQUOT;
	if (cpu >= p->seen_ns + STEP_NS) {
		p->seen_ns = cpu;
		p->progress_ms = now;
	}
	return now - p->progress_ms >= p->silent_ms || now - p->begin_ms >= LONGEST_MS ? -ETIMEDOUT
										       : 0;
}

int child_wait(const struct child *child, struct child_patience *p)
{
	struct pollfd pfd = { .fd = child->sock, .events = POLLIN };
	int ready, err;

	if (!p->begun) {
		p->begin_ms = p->progress_ms = now_ms();
		p->begin_ns = p->seen_ns = child_cpu_ns(child);
		p->begun = true;
	}
	for (;;) {
		/*
		 * Check the limits even if a message is ready, because a child may send messages
		 * without end.
		 */
		err = impatience(child, p);
		if (err)
			return err;
		ready = poll(&pfd, 1, SLICE_MS);
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready > 0)
			return 0;
		if (p->idle)
			p->idle(p->idle_ctx);
	}
}

int child_identify(int fd, struct child_file *out, uid_t *owner)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	*out = (struct child_file){ .dev = st.st_dev,
				    .ino = st.st_ino,
				    .size = (uint64_t)st.st_size,
				    .mtime_s = st.st_mtim.tv_sec,
				    .mtime_ns = st.st_mtim.tv_nsec };
	if (owner)
		*owner = st.st_uid;
	return 0;
}
