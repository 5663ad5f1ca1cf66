/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find all callers of a thread from its registers and its memory. Use the unwind tables of files,
 * and frame pointers for code without tables. Rules that are found for an address are used for all
 * threads.
 */
#ifndef SITES_WALK_H
#define SITES_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/address_space.h"
#include "symbols/stack.h"

struct walk; /* opaque; contains the rules for known addresses */

/*
 * Copy up to @size bytes from @address of the thread's memory. Return the number of bytes, or 0 or
 * less if none can be read.
 */
typedef long (*walk_read_fn)(void *ctx, uint64_t address, void *to, size_t size);

/* The registers of a thread, and how to read its stack. */
struct walk_thread {
	/* Registers of the innermost frame. They are exact, and at least pc and sp are known. */
	struct stack_regs regs;
	/* The pc is after a system call instruction. */
	bool in_call;
	/* Also find the registers that functions save, which takes longer. */
	bool registers;
	/*
	 * For many samples: ask the symboliser only for rules, which are kept. The walk ends at
	 * code that needs more, except that a frame pointer is used. In code of no file, the call
	 * site of a frame is the start of the mapping.
	 */
	bool quick;
	walk_read_fn read;
	void *ctx;
	/* The real return addresses that pending return probes have replaced, innermost first. */
	const uint64_t *returns;
	uint32_t nreturns;
};

struct walk_frame {
	uint64_t address; /* address in the call; innermost frame: the thread's instruction */
	uint32_t site; /* address_spaces_site() */
	struct stack_regs regs; /* the known registers of the frame */
	/* The caller's stack pointer after the call; 0: unknown. */
	uint64_t cfa;
};

/* Return 0 and *@out, or -ENOMEM. @spaces must outlive the result. */
int walk_new(struct address_spaces *spaces, struct walk **out);
void walk_free(struct walk *walk);
/* Return how often the symboliser was asked for a rule. */
uint64_t walk_questions(const struct walk *walk);
/*
 * Write *n <= @max frames, innermost first. *whole: the last frame is the thread's outermost frame.
 * Mark @space as gone or as_known during the call, so that its mappings are not read again. Each
 * new address costs one or two questions to the symboliser's child, unless a known rule is also for
 * that address. Return 0 or -ENOMEM.
 */
int walk_up(struct walk *walk, struct address_space *space, const struct walk_thread *thread,
	    struct walk_frame *frames, uint32_t max, uint32_t *n, bool *whole);

#endif /* SITES_WALK_H */
