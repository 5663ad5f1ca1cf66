/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A process that is stopped while we examine it must be resumed if we are killed at that moment. A
 * small child waits for our exit and then resumes processes that are still stopped. It keeps no
 * probe alive.
 */
#ifndef ATTACH_GUARD_H
#define ATTACH_GUARD_H

#include "attach/attach.h"

struct guard {
	int fd;
	int pid; /* 0: none */
};

/* Start the guard. Return 0 or -errno. */
int guard_start(const struct attach *attach, struct guard *out);
/*
 * After attach_stop() and the last events: let the guard resume COMMAND if it is still stopped, and
 * wait for the guard's exit. May be called again.
 */
void guard_stop(struct guard *guard);

#endif /* ATTACH_GUARD_H */
