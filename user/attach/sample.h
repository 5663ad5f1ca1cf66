/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Positions of running threads: one sample of each thread, taken when a timer of its CPU time
 * expires, with registers and stack. No thread is stopped.
 */
#ifndef ATTACH_SAMPLE_H
#define ATTACH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/stack.h"

/* maximum size of a stack sample; a perf record must stay below 64 KiB */
#define SAMPLE_STACK_BYTES 49152
#define SAMPLE_MOST	   256 /* maximum number of threads at a time: each needs a ring */

struct sample {
	uint32_t tid; /* set by the caller */
	bool taken; /* false: all members below are unset */
	struct stack_regs regs;
	uint64_t sp; /* address of bytes[0] */
	uint8_t *bytes; /* sample_release() frees them */
	size_t len;
};

/*
 * Wait until each of the @n threads was sampled, at most @wait_ms. A thread has no sample if it got
 * no CPU in that time, or if we may not sample it. Return the number of samples, or -errno if no
 * thread could be sampled: -EACCES, -EPERM (perf_event_paranoid), -ENOSYS.
 */
int sample_take(struct sample *samples, uint32_t n, int wait_ms);
void sample_release(struct sample *samples, uint32_t n);

/*
 * Parse a record of @size bytes from the ring, see perf_event_open(2). Pure. Return false if the
 * record is not a sample with 64-bit registers.
 */
bool sample_parse(const void *record, size_t size, struct sample *out);

#endif /* ATTACH_SAMPLE_H */
