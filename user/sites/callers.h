/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the caller of a function: rules for the BPF programs, and the same walk over a sample of the
 * stack for calls without rules so far. Both must find the same caller, or the first crossings
 * would have another call site.
 */
#ifndef SITES_CALLERS_H
#define SITES_CALLERS_H

#include "sbt/probe.h"
#include "sites/address_space.h"

#define CALLERS_MAX 13 /* return addresses in one chain; SBT_CHAIN_MAX */

/*
 * What is known of the code in front of one return address. Strings are untrusted, and live until
 * callers_free().
 */
struct caller_code {
	/* SBT_FRAME_LAST if there is no rule; `why` has the reason. */
	struct sbt_frame_rule rule;
	const char *why; /* a clause of a sentence, or NULL */
	/*
	 * Number for the function that contains the call, not for a function that is inlined there.
	 * Split-off parts have the same number. 0: unknown.
	 */
	uint64_t function;
	const char *name; /* name of that function, or NULL */
	/*
	 * The code is part of a runtime: the function that it calls is the first function of a
	 * thread.
	 */
	bool outer;
	bool inlined; /* the call is in a function that was inlined there */
};

struct callers;

int callers_new(struct address_spaces *spaces, struct callers **out);
void callers_free(struct callers *callers);

/*
 * Return how to find the caller of the function that a call returns to at @ip. @ip may also be
 * behind a system call. New code costs a question to the symboliser's child: tens of microseconds,
 * more for a new file. NULL: out of memory.
 */
const struct caller_code *callers_rule(struct callers *callers, struct address_space *space,
				       uint64_t ip);
/*
 * Return the same with the function and all that follows from its name, for which debug information
 * may have to be read.
 */
const struct caller_code *callers_code(struct callers *callers, struct address_space *space,
				       uint64_t ip);
/* Return why there is no call in front of @ip, or NULL if there is one. */
const char *callers_no_call(struct callers *callers, struct address_space *space, uint64_t ip);
/*
 * Find a function that has left the stack by a tail call. The call that returns to @ip calls it,
 * but the frame below, at @below (0: the probed function), belongs to another function, to which
 * the searched function jumped. Return an address in the function, as if its first instruction had
 * made that call, or 0 if there is none.
 */
uint64_t callers_between(struct callers *callers, struct address_space *space, uint64_t below,
			 uint64_t ip);
/*
 * Follow @sample up as bpf/callers.bpf.c does. Write return addresses to @ips (CALLERS_MAX
 * entries), beginning with the address in the sample itself. Return their number, at least 1. @use
 * is called with each rule that was used, to be passed to the kernel side.
 */
uint32_t callers_follow(struct callers *callers, struct address_space *space,
			const struct sbt_callers *sample, uint64_t *ips,
			void (*use)(void *ctx, const struct sbt_callers *sample, uint64_t ip,
				    const struct sbt_frame_rule *rule),
			void *ctx);

#endif /* SITES_CALLERS_H */
