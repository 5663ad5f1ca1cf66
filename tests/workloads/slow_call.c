// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A library to preload, which slows down sbt-trace. It delays sbt-trace by SLOW_MS milliseconds
// once, when it first passes a file named SLOW_FILE to its reader. It also delays each poll() of a
// single descriptor, as in waits for names, by SLOW_POLL milliseconds.
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static int done;

static void nap(const char *ms)
{
	if (ms)
		usleep((useconds_t)atoi(ms) * 1000);
}

static int is_named(int fd, const char *name)
{
	char link[64], path[4096];
	const char *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = 0;
	slash = strrchr(path, '/');
	return slash && !strcmp(slash + 1, name);
}

static int passes(const struct msghdr *msg, const char *name)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return is_named(fd, name);
}

ssize_t sendmsg(int sock, const struct msghdr *msg, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int);
	const char *name = getenv("SLOW_FILE");

	*(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
	if (name && passes(msg, name) && !__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		nap(getenv("SLOW_MS"));
	return real(sock, msg, flags);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int);

	*(void **)&real = dlsym(RTLD_NEXT, "poll");
	if (n == 1)
		nap(getenv("SLOW_POLL"));
	return real(fds, n, timeout);
}
