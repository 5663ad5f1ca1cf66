/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Where running threads are: one sample of each by the kernel's clock, with registers and stack.
 * Nobody is stopped.
 */
#ifndef ATTACH_SAMPLE_H
#define ATTACH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/stack.h"

#define SAMPLE_STACK_BYTES 49152 /* at most; the record has to stay below 64 KiB */
#define SAMPLE_MOST	   256 /* threads at once: each needs a ring */

struct sample {
	uint32_t tid; /* set by the caller */
	bool taken; /* else nothing below is */
	struct stack_regs regs;
	uint64_t sp; /* address of bytes[0] */
	uint8_t *bytes; /* sample_release() frees them */
	size_t len;
};

/*
 * Waits until each of the @n threads has been sampled, at most @wait_ms. One that did not get a CPU
 * in that time, or that we may not look at, has none. Returns how many were taken, or -errno if
 * none could be asked for: -EACCES, -EPERM (perf_event_paranoid), -ENOSYS.
 */
int sample_take(struct sample *samples, uint32_t n, int wait_ms);
void sample_release(struct sample *samples, uint32_t n);

/*
 * Pure: a record of the ring, @size bytes, as perf_event_open(2) has it. False: no sample with
 * registers of 64 bits.
 */
bool sample_parse(const void *record, size_t size, struct sample *out);

#endif /* ATTACH_SAMPLE_H */
