/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Samples of threads on a CPU: find the callers in the copy of each sample's stack, and keep each
 * different stack once, under a key.
 */
#ifndef INGEST_STACK_SAMPLES_H
#define INGEST_STACK_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/record.h"
#include "sites/address_space.h"

#define STACK_SAMPLES_FRAMES 64 /* maximum number of frames of a stack that are kept */

struct stack_samples;

/* Return 0 and *out, or -ENOMEM. @spaces must outlive the result. */
int stack_samples_new(struct address_spaces *spaces, struct stack_samples **out);
void stack_samples_free(struct stack_samples *samples);
/*
 * Return the key of the sample's stack, or 0 if it is unknown. The stack may end early: copies
 * of stacks are short, and only rules that are kept are used for the steps to callers. Python
 * functions take the place of the interpreter's own frames.
 */
uint64_t stack_samples_take(struct stack_samples *samples, struct address_space *space,
			    const struct sbt_sample *sample);
/*
 * Write the sites of the stack, innermost first: for report_env.site. Return how many were written;
 * 0: no such stack.
 */
uint32_t stack_samples_stack(const struct stack_samples *samples, uint64_t key, uint32_t *sites,
			     uint32_t max);

#endif /* INGEST_STACK_SAMPLES_H */
