// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/stack_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sbt/state.h"
#include "sites/walk.h"

#define LINK_REGISTER 30 /* arm64 */

/*
 * Maximum number of different stacks. When there are as many, as in a program that makes its code
 * while it runs, all later samples have unknown stacks: each new address takes memory.
 */
#define STACKS_MOST 65536

struct stack {
	uint32_t n;
	uint32_t sites[];
};

struct stack_samples {
	struct address_spaces *spaces;
	struct walk *walk;
	struct hash stacks; /* key -> struct stack */
	struct walk_frame frames[STACK_SAMPLES_FRAMES]; /* of the present sample */
	uint32_t sites[STACK_SAMPLES_FRAMES];
};

int stack_samples_new(struct address_spaces *spaces, struct stack_samples **out)
{
	struct stack_samples *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->spaces = spaces;
	err = walk_new(spaces, &s->walk);
	if (err) {
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

void stack_samples_free(struct stack_samples *s)
{
	if (!s)
		return;
	walk_free(s->walk);
	hash_free_ptrs(&s->stacks);
	free(s);
}

/* Read from the copy of the stack. */
static long read_copy(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct sbt_callers *sample = ctx;
	uint64_t at = address - sample->sp, len;

	len = sample->len < sizeof(sample->bytes) ? sample->len : sizeof(sample->bytes);
	if (address < sample->sp || at >= len)
		return 0;
	if (size > len - at)
		size = len - at;
	memcpy(to, sample->bytes + at, size);
	return (long)size;
}

static void registers_of(const struct sbt_callers *sample, struct stack_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	stack_set(regs, STACK_PC, stack_pc_of(sample->head.ip));
	stack_set(regs, STACK_SP, sample->sp);
	stack_set(regs, STACK_FP, sample->fp);
#if defined(__aarch64__)
	stack_set(regs, LINK_REGISTER, sample->link);
#endif
	regs->exact = 1;
}

/* Return the key of the stack in s->sites, or 0 when out of memory. Remember the stack. */
static uint64_t key_of(struct stack_samples *s, uint32_t n)
{
	struct stack *stack;
	uint64_t key = n;
	uint32_t i;

	for (i = 0; i < n; i++)
		key = hash_mix(key ^ hash_mix(s->sites[i] + 1));
	key = (key & ~SBT_CHAIN_NAME) | SBT_SAMPLE_NAME;
	/* Two stacks with the same 62-bit key are very unlikely. */
	if (hash_get_ptr(&s->stacks, key))
		return key;
	stack = hash_new_ptr(&s->stacks, key, sizeof(*stack) + n * sizeof(stack->sites[0]));
	if (!stack)
		return 0;
	stack->n = n;
	memcpy(stack->sites, s->sites, n * sizeof(stack->sites[0]));
	return key;
}

/* Return whether a native frame is one of the Python interpreter. */
static bool is_interpreter(struct stack_samples *s, struct address_space *space,
			   const struct walk_frame *frame)
{
	struct address_space_code at;

	return address_space_code(s->spaces, space, frame->address + 1, &at) &&
	       at.module == space->python;
}

/*
 * Write the sites of the stack to s->sites. If the thread executes Python functions, these follow
 * the native frames that they called, and the interpreter's own frames are left out. Return their
 * number.
 */
static uint32_t sites_of(struct stack_samples *s, struct address_space *space,
			 const struct sbt_sample *sample, uint32_t nframes)
{
	uint32_t i, n = 0, python = 0, site;
	bool innermost = false; /* the innermost Python function is known */

	if (space->python && sample->npython <= SBT_SAMPLE_PYTHON)
		python = sample->npython;
	for (i = 0; i < nframes; i++) {
		if (python && is_interpreter(s, space, &s->frames[i]))
			break;
		s->sites[n++] = s->frames[i].site;
	}
	for (i = 0; i < python && n < STACK_SAMPLES_FRAMES; i++) {
		/* A frame without code is one of a C function. */
		if (!sample->python[i].code)
			continue;
		site = address_space_python_code(s->spaces, space, &sample->python[i]);
		/* The time of a function that cannot be read, or is gone, is not its caller's. */
		if (site == ADDRESS_SPACE_SITE_NONE)
			return innermost ? n : 0;
		innermost = true;
		s->sites[n++] = site;
	}
	return n;
}

uint64_t stack_samples_take(struct stack_samples *s, struct address_space *space,
			    const struct sbt_sample *sample)
{
	struct walk_thread thread = {
		.quick = true,
		.read = read_copy,
		/* read_copy() only reads it */
		.ctx = (void *)(uintptr_t)&sample->callers,
	};
	uint64_t key = 0;
	uint32_t n = 0;
	bool whole;

	if (hash_count(&s->stacks) >= STACKS_MOST)
		return 0;
	registers_of(&sample->callers, &thread.regs);
	address_space_see_code(s->spaces, space, thread.regs.value[STACK_PC]);
	space->as_known = true;
	if (!walk_up(s->walk, space, &thread, s->frames, STACK_SAMPLES_FRAMES, &n, &whole))
		n = sites_of(s, space, sample, n);
	space->as_known = false;
	if (n)
		key = key_of(s, n);
	return key;
}

uint32_t stack_samples_stack(const struct stack_samples *s, uint64_t key, uint32_t *sites,
			     uint32_t max)
{
	const struct stack *stack = hash_get_ptr(&s->stacks, key);
	uint32_t n = stack ? stack->n : 0;

	if (n > max)
		n = max;
	if (n)
		memcpy(sites, stack->sites, n * sizeof(*sites));
	return n;
}
