/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The callers of a thread that stands still, from its registers and its memory, as deep as they go:
 * by the unwind tables of the files, by frame pointers through code that has none. What is learned
 * of an address serves all threads that come by it.
 */
#ifndef SITES_WALK_H
#define SITES_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/address_space.h"
#include "symbols/stack.h"

struct walk; /* what has been learned */

/*
 * Copies up to @size bytes from @address of the thread's memory: how many there were, 0 or less:
 * none.
 */
typedef long (*walk_read_fn)(void *ctx, uint64_t address, void *to, size_t size);

/* A stack whose registers are in @regs. */
struct walk_thread {
	struct stack_regs regs; /* of the innermost frame: pc and sp are known at least; exact */
	bool in_call; /* the pc is behind the instruction of a system call */
	bool registers; /* all registers that functions save are wanted, which takes longer */
	walk_read_fn read;
	void *ctx;
	/*
	 * Where calls really return to, innermost first, that a pending return probe has put its
	 * own address in the place of.
	 */
	const uint64_t *returns;
	uint32_t nreturns;
};

struct walk_frame {
	uint64_t address; /* of the call; innermost: where the thread stands */
	uint32_t site; /* address_spaces_site() */
	struct stack_regs regs; /* as the frame has them, those that are known */
	uint64_t cfa; /* its caller's stack pointer after the call; 0 unknown */
};

/* @spaces must outlive it. Returns 0 or -ENOMEM. */
int walk_new(struct address_spaces *spaces, struct walk **out);
void walk_free(struct walk *walk);
/*
 * *n <= @max frames, innermost first. *whole: the last is the outermost of the thread. The mappings
 * are taken as @space has them. Takes a question or two to the symboliser's child for each address
 * that is new. Returns 0 or -ENOMEM.
 */
int walk_up(struct walk *walk, struct address_space *space, const struct walk_thread *thread,
	    struct walk_frame *frames, uint32_t max, uint32_t *n, bool *whole);

#endif /* SITES_WALK_H */
