/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Children without privileges, which read files of unknown origin for the tracer and are asked over a socket: nobody's user id, no
 * capabilities, few system calls, limits of memory and CPU time, and none of the tracer's descriptors and shared memory. What
 * one says may come from a file that took it over. Shared by the symboliser and the reader of modules.
 */
#ifndef SYMBOLS_CHILD_H
#define SYMBOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct child {
	int sock; /* -1: there is none */
	int pidfd;
	pid_t pid;
};

#define CHILD_NONE                      \
	(struct child)                  \
	{                               \
		.sock = -1, .pidfd = -1 \
	}

/* What one of a kind may do, and how it lives. */
struct child_kind {
	const char *name; /* as ps shows it */
	bool first; /* it has the tracer's priority: what waits for it is held, or missed */
	bool opens; /* it may open files, to be read */
	bool network; /* and ask servers: no system call is refused then */
	uint64_t data; /* bytes of memory of its own */
	void (*run)(
		void *ctx,
		int sock); /* its life; what it is born with is a copy of all that the tracer has */
	void *ctx;
};

/* 0 (one that runs already is kept), or -errno. */
int child_start(struct child *child, const struct child_kind *kind);
/* Ends it and waits for that, at most a second. None: nothing happens. */
void child_stop(struct child *child);
/* CPU time so far. */
uint64_t child_cpu_ns(const struct child *child);
/* One message with a descriptor (-1: none). Returns 0 or -errno: it has ended. */
int child_send(int sock, const struct iovec *parts, size_t n, int fd);

/* How long an answer is waited for. */
struct child_patience {
	int silent_ms; /* that it may neither answer nor take CPU time: it was stopped, or waits for a disk */
	uint64_t most_ns; /* of CPU time */
	void (*idle)(void *ctx); /* called again and again meanwhile; NULL */
	void *idle_ctx;
	/* Of child_wait(). */
	bool begun;
	int64_t begin_ms, progress_ms;
	uint64_t begin_ns, seen_ns;
};

/*
 * Until there is a message of it, or its end. Returns 0, -ETIMEDOUT, or -EDQUOT: it takes too much. The same @patience goes on
 * with the next message of one answer.
 */
int child_wait(const struct child *child, struct child_patience *patience);

/* Which state of which file: a rebuilt program is another one. */
struct child_file {
	uint64_t dev;
	uint64_t ino;
	uint64_t size;
	int64_t mtime_s;
	int64_t mtime_ns;
};

/* Of an open file, and its owner (may be NULL). Returns 0, -EBADMSG (no regular file, which could keep a child for ever) or -errno. */
int child_identify(int fd, struct child_file *out, uid_t *owner);

/* --- in the child --------------------------------------------------------------------------------- */

/* The next message: its length, and the descriptor that came along, or -1. 0: nobody asks any more. */
size_t child_receive(int sock, const struct iovec *parts, size_t n, int *fd);
/* Gives the next answer @seconds of CPU time. It is ended by SIGXCPU when it has used them up. */
void child_limit_cpu(unsigned int seconds);

#endif /* SYMBOLS_CHILD_H */
