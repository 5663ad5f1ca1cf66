/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * All callers of a stopped thread, from its registers and its memory: by the unwind tables of the
 * files, and by frame pointers through code without tables. What is learned about an address is
 * used for all threads.
 */
#ifndef SITES_WALK_H
#define SITES_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/address_space.h"
#include "symbols/stack.h"

struct walk; /* known facts about addresses */

/*
 * Copy up to @size bytes from @address of the thread's memory. Return the number of bytes; 0 or
 * less: none.
 */
typedef long (*walk_read_fn)(void *ctx, uint64_t address, void *to, size_t size);

/* A stack with its registers in @regs. */
struct walk_thread {
	/* Of the innermost frame: exact, and at least pc and sp are known. */
	struct stack_regs regs;
	/* The pc is behind the instruction of a system call. */
	bool in_call;
	/* All registers that functions save are wanted, which takes longer. */
	bool registers;
	walk_read_fn read;
	void *ctx;
	/*
	 * The real return addresses that pending return probes have replaced by their own,
	 * innermost first.
	 */
	const uint64_t *returns;
	uint32_t nreturns;
};

struct walk_frame {
	uint64_t address; /* of the call; innermost: where the thread is */
	uint32_t site; /* address_spaces_site() */
	struct stack_regs regs; /* the known registers of the frame */
	/* The caller's stack pointer after the call; 0: unknown. */
	uint64_t cfa;
};

/* @spaces must outlive it. Return 0 or -ENOMEM. */
int walk_new(struct address_spaces *spaces, struct walk **out);
void walk_free(struct walk *walk);
/*
 * Write *n <= @max frames, innermost first. *whole: the last frame is the thread's outermost frame.
 * The mappings of @space are used as they are. Each new address costs a question or two to the
 * symboliser's child. Return 0 or -ENOMEM.
 */
int walk_up(struct walk *walk, struct address_space *space, const struct walk_thread *thread,
	    struct walk_frame *frames, uint32_t max, uint32_t *n, bool *whole);

#endif /* SITES_WALK_H */
