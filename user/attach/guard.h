/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * If sbt-trace is killed while it has stopped a process to examine it, another process must resume
 * it. This is the guard, a small child that waits for sbt-trace's exit and then resumes processes
 * that are still stopped. The guard keeps no probe attached.
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
 * Let the guard resume COMMAND if it is still stopped, and wait for the guard's exit. Call this
 * after attach_stop() and the last events. It may be called more than once.
 */
void guard_stop(struct guard *guard);

#endif /* ATTACH_GUARD_H */
