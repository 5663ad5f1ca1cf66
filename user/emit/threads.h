/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Print for people where the threads of a process are. Threads at the same place are grouped. */
#ifndef EMIT_THREADS_H
#define EMIT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"

struct textout;

/* Where a thread is. Strings are untrusted; NULL: unknown. */
struct emit_thread {
	uint32_t pid, tid;
	const char *comm;
	enum hang_state state;
	const char *blocked_on; /* what it is blocked on, in words */
	const char *syscall, *wchan;
	const char *registers; /* how its registers were read */
	uint64_t oncpu_ns, runq_ns; /* ns since its start; MODEL_UNKNOWN: unknown */
	bool sampled; /* it was running: the stack is a sample */
	bool truncated; /* the outermost function is not among the frames */
	uint32_t nframes;
	const struct hang_frame *frames; /* innermost first */
};

void threads_print(struct textout *t, uint32_t pid, const char *comm,
		   const struct emit_thread *threads, uint32_t n);

#endif /* EMIT_THREADS_H */
