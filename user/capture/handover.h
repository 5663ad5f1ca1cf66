/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * mpirun sbt-trace COMMAND starts one sbt-trace for each rank. The sbt-trace of the first rank on a
 * machine traces all local ranks. Every other sbt-trace hands its process over to the first, waits
 * until the first is ready, and then executes COMMAND. So the launcher is still the parent of its
 * ranks. The other ranks connect to a socket that is named after the job and the user.
 */
#ifndef CAPTURE_HANDOVER_H
#define CAPTURE_HANDOVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "target/job.h"

#define HANDOVER_MAX 4096 /* maximum number of ranks on one machine */

struct handover {
	int listener; /* -1: none */
	size_t expected; /* number of ranks that should connect, without the first rank */
	size_t n;
	struct handover_rank {
		pid_t pid;
		int fd;
	} * ranks;
};

/* Return whether this process is one of several ranks on this machine. */
bool handover_wanted(const struct job *job);

/* Listen for other ranks, as the first rank. Return 0, -EADDRINUSE or -errno. */
int handover_listen(const struct job *job, struct handover *out);
/*
 * Wait until all ranks have connected, for at most a few seconds. Return 0, -ETIMEDOUT, or -EINTR
 * after a signal; @h->ranks holds the ranks that connected.
 */
int handover_collect(struct handover *h);
/*
 * Let the traced ranks execute COMMAND. Send them the paths of their recording and report; NULL:
 * none. Ranks that connect later are rejected.
 */
void handover_go(struct handover *h, const char *record, const char *output);
void handover_close(struct handover *h);

/* Paths of the files that the first rank writes; "": no such file. */
struct handover_files {
	char record[PATH_MAX], output[PATH_MAX];
};

/*
 * Hand over this process, which is not the first rank. Return 0 once it is traced and must execute
 * its command, -ENOENT if the first rank does not listen, or -ECONNABORTED if the first rank gave
 * up.
 */
int handover_follow(const struct job *job, struct handover_files *files);

#endif /* CAPTURE_HANDOVER_H */
