/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Unprivileged child processes that read untrusted files for the tracer, and send their answers
 * over a socket. They run with user id 65534, without capabilities, with few system calls, limited
 * memory and CPU time, and without the tracer's descriptors and shared memory. A file may take over
 * the child that reads it, so a child's answers are untrusted, too. The symboliser and the reader
 * of modules use such children.
 */
#ifndef SYMBOLS_CHILD_H
#define SYMBOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct child {
	int sock; /* -1: no child */
	int pidfd;
	pid_t pid;
};

#define CHILD_NONE                      \
	(struct child)                  \
	{                               \
		.sock = -1, .pidfd = -1 \
	}

/* A kind of child: the code that it runs, and what it may do. */
struct child_kind {
	const char *name; /* name in ps */
	/*
	 * The child keeps the tracer's raised priority. Until such a child answers, processes are
	 * stopped, or events are missed.
	 */
	bool first;
	bool opens; /* may open files for reading */
	bool network; /* may also contact servers (its system calls are then not filtered) */
	uint64_t data; /* limit of the child's private memory, bytes */
	/* The function that the child runs. Its memory is a copy of the tracer's private memory. */
	void (*run)(void *ctx, int sock);
	void *ctx;
};

/* Start the child, unless it is already running. Return 0 or -errno. */
int child_start(struct child *child, const struct child_kind *kind);
/* Kill the child and wait for its exit, at most a second. Do nothing if there is none. */
void child_stop(struct child *child);
/* Return the child's CPU time so far, ns. */
uint64_t child_cpu_ns(const struct child *child);
/* Send one message with a descriptor (-1: none). Return 0, or -errno if the child has exited. */
int child_send(int sock, const struct iovec *parts, size_t n, int fd);

/* Limits for the wait for an answer. */
struct child_patience {
	/*
	 * Longest time in which the child neither answers nor uses CPU time. A child that exceeds
	 * this time was probably stopped, or waits for a disk.
	 */
	int silent_ms;
	uint64_t most_ns; /* limit of CPU time for the answer */
	void (*idle)(void *ctx); /* called repeatedly during the wait; NULL: none */
	void *idle_ctx;
	/* Internal to child_wait(). */
	bool begun;
	int64_t begin_ms, progress_ms;
	uint64_t begin_ns, seen_ns;
};

/*
 * Wait for a message from the child, or for its exit. Return 0, -ETIMEDOUT, or -EDQUOT if the child
 * uses too much CPU time. Pass the same @patience for all messages of one answer.
 */
int child_wait(const struct child *child, struct child_patience *patience);

/*
 * The identity and state of a file. After a program was built again, its file counts as another
 * file.
 */
struct child_file {
	uint64_t dev;
	uint64_t ino;
	uint64_t size;
	int64_t mtime_s;
	int64_t mtime_ns;
};

/*
 * Identify an open file, and its owner unless @owner is NULL. Return 0 or -errno. -EBADMSG: this is
 * not a regular file, and reading such a file could block a child forever.
 */
int child_identify(int fd, struct child_file *out, uid_t *owner);

/* --- in the child ----------------------------------------------------------------------------- */

/*
 * Receive the next message. Return its length, or 0 if the tracer has closed the socket. Set *@fd
 * to the descriptor that was sent with it, or -1.
 */
size_t child_receive(int sock, const struct iovec *parts, size_t n, int *fd);
/*
 * Limit the next answer to @seconds of CPU time. A child that exceeds this limit is ended by
 * SIGXCPU.
 */
void child_limit_cpu(unsigned int seconds);

#endif /* SYMBOLS_CHILD_H */
