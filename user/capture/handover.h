/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * mpirun sbt-trace COMMAND: as many sbt-traces as ranks. The first rank's on a machine traces all of them; the others
 * hand their process over to it, wait until it is ready, and then become COMMAND themselves, so that whatever
 * launched them is still the parent of its ranks. They meet at a socket that is named after job and user.
 */
#ifndef CAPTURE_HANDOVER_H
#define CAPTURE_HANDOVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "target/job.h"

#define HANDOVER_MAX 4096 /* ranks on one machine */

struct handover {
	int listener; /* -1: none */
	size_t expected; /* ranks that are to come */
	size_t n;
	struct handover_rank {
		pid_t pid;
		int fd;
	} * ranks;
};

/* Is this process one of several ranks on this machine? */
bool handover_wanted(const struct job *job);

/* The first rank: others may come from now on. Returns 0, -EADDRINUSE, -errno. */
int handover_listen(const struct job *job, struct handover *out);
/* Waits until all have come, some seconds at most. Returns 0, or -ETIMEDOUT: those that did are in ranks. */
int handover_collect(struct handover *h);
/*
 * They are traced: they may begin, and are told where what is traced of them goes: a recording and a report, each a path or NULL.
 * Those that come later are turned away.
 */
void handover_go(struct handover *h, const char *record, const char *output);
void handover_close(struct handover *h);

/* Where the first one puts what it traces; "" nowhere. */
struct handover_events {
	char record[PATH_MAX], output[PATH_MAX];
};

/*
 * Another rank: 0 once it is traced and is to execute its command; -ENOENT if the first one was not there, or
 * -ECONNABORTED if it gave up.
 */
int handover_follow(const struct job *job, struct handover_events *reported);

#endif /* CAPTURE_HANDOVER_H */
