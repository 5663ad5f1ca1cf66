// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/handover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * Ranks of a job start within moments of each other. No rank waits longer than this for another
 * rank to connect or to listen.
 */
#define COME_MS	 5000
#define RETRY_MS 20

static uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

bool handover_wanted(const struct job *job)
{
	return job->key && job->local_rank != JOB_NONE && job->local_size != JOB_NONE &&
	       job->local_size > 1 && job->local_size <= HANDOVER_MAX &&
	       job->local_rank < job->local_size;
}

/* Fill in an abstract socket address. Its name disappears when its last socket is closed. */
static socklen_t address_of(const struct job *job, struct sockaddr_un *address)
{
	int n;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
		     "sbt-trace/job/%u/%016llx", (unsigned int)geteuid(),
		     (unsigned long long)job->key);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Any process may bind such a name, so check that the peer runs as the same user, or as root. */
static int peer(int fd, pid_t *pid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (cred.uid != geteuid() && cred.uid != 0)
		return -EPERM;
	*pid = cred.pid;
	return 0;
}

int handover_listen(const struct job *job, struct handover *out)
{
	struct sockaddr_un address;
	socklen_t len = address_of(job, &address);
	int err;

	memset(out, 0, sizeof(*out));
	out->expected = job->local_size - 1;
	out->ranks = calloc(out->expected, sizeof(*out->ranks));
	if (!out->ranks) {
		out->listener = -1;
		return -ENOMEM;
	}
	out->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (out->listener >= 0 && !bind(out->listener, (const struct sockaddr *)&address, len) &&
	    !listen(out->listener, HANDOVER_MAX))
		return 0;
	err = -errno;
	handover_close(out);
	return err;
}

static void take_one(struct handover *h)
{
	struct handover_rank rank = { .fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC) };
	size_t i;

	if (rank.fd < 0)
		return;
	if (peer(rank.fd, &rank.pid) || rank.pid <= 0) {
		close(rank.fd);
		return;
	}
	for (i = 0; i < h->n && h->ranks[i].pid != rank.pid; i++)
		;
	if (i < h->n)
		close(rank.fd);
	else
		h->ranks[h->n++] = rank;
}

int handover_collect(struct handover *h)
{
	uint64_t end = now_ms() + COME_MS, now;
	int n;

	while (h->n < h->expected) {
		struct pollfd p = { .fd = h->listener, .events = POLLIN };

		now = now_ms();
		if (now >= end)
			return -ETIMEDOUT;
		n = poll(&p, 1, (int)(end - now));
		if (n < 0)
			return -errno;
		if (n)
			take_one(h);
	}
	return 0;
}

/* Make the path independent of the working directory. */
static void put_path(const char *path, char out[PATH_MAX])
{
	memset(out, 0, PATH_MAX);
	if (path && !realpath(path, out))
		snprintf(out, PATH_MAX, "%s", path);
}

void handover_go(struct handover *h, const char *record, const char *output)
{
	struct {
		char go;
		struct handover_files files;
	} message = { .go = 'g' };
	size_t i;

	put_path(record, message.files.record);
	put_path(output, message.files.output);
	for (i = 0; i < h->n; i++) {
		/* A rank that has ended meanwhile needs no message. */
		if (send(h->ranks[i].fd, &message, sizeof(message), MSG_NOSIGNAL) < 0)
			continue;
	}
	handover_close(h);
}

void handover_close(struct handover *h)
{
	if (h->listener >= 0)
		close(h->listener);
	h->listener = -1;
	while (h->n)
		close(h->ranks[--h->n].fd);
	free(h->ranks);
	h->ranks = NULL;
}

static int connect_first(const struct job *job)
{
	struct sockaddr_un address;
	socklen_t len = address_of(job, &address);
	uint64_t end = now_ms() + COME_MS;
	pid_t pid;
	int fd;

	do {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		if (!connect(fd, (const struct sockaddr *)&address, len) && !peer(fd, &pid))
			return fd;
		close(fd);
		usleep(RETRY_MS * 1000);
	} while (now_ms() < end);
	return -ENOENT;
}

/* Read @size bytes, or fewer at the end of the stream. */
static size_t read_all(int fd, void *to, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while (have < size) {
		n = read(fd, (char *)to + have, size - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

int handover_follow(const struct job *job, struct handover_files *files)
{
	int fd = connect_first(job);
	char c = 0;
	bool go;

	memset(files, 0, sizeof(*files));
	if (fd < 0)
		return fd;
	go = read_all(fd, &c, 1) == 1 && c == 'g';
	/* An sbt-trace of another version may send nothing after this character. */
	if (go && read_all(fd, files, sizeof(*files)) != sizeof(*files))
		memset(files, 0, sizeof(*files));
	files->record[PATH_MAX - 1] = files->output[PATH_MAX - 1] = '\0';
	close(fd);
	return go ? 0 : -ECONNABORTED;
}
