/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * If sbt-trace is killed while a process is stopped for examination, another process must resume
 * the stopped process. The guard does this: it is a small child that waits for sbt-trace's exit and
 * then resumes processes that are still stopped. The guard holds no descriptor of a probe, so it
 * keeps no probe attached.
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
