/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the caller of a function. The BPF programs do so by rules that are made here. For calls that
 * have no rules yet, the same walk is done here over a sample of the stack. Both walks must find
 * the same caller; otherwise the first crossings would have a different call site from later
 * crossings.
 */
#ifndef SITES_CALLERS_H
#define SITES_CALLERS_H

#include "sbt/probe.h"
#include "sites/address_space.h"

#define CALLERS_MAX 20 /* maximum number of return addresses in one chain: SBT_CHAIN_MAX */

/*
 * What is known about the code before one return address. Strings are untrusted, and valid until
 * callers_free().
 */
struct caller_code {
	/* SBT_FRAME_LAST if the caller cannot be found; `why` has the reason. */
	struct sbt_frame_rule rule;
	const char *why; /* a clause of a sentence, or NULL */
	/*
	 * Number of the function that contains the call. Functions that are inlined there do not
	 * count, and parts that a compiler split off have the number of their function. 0: unknown.
	 */
	uint64_t function;
	const char *name; /* name of that function, or NULL */
	/*
	 * The code belongs to a runtime or starts threads, so the function that it calls is the
	 * first function of a thread.
	 */
	bool outer;
	bool inlined; /* the call is in a function that was inlined there */
};

struct callers;

int callers_new(struct address_spaces *spaces, struct callers **out);
void callers_free(struct callers *callers);

/*
 * Return how to find the caller of the function that contains the call before @ip. @ip may also
 * follow a system call. Unknown code costs a question to the symboliser's child: tens of
 * microseconds, more for a new file. NULL: out of memory.
 */
const struct caller_code *callers_rule(struct callers *callers, struct address_space *space,
				       uint64_t ip);
/*
 * Like callers_rule(), with the members that depend on the function's name filled in. Debug
 * information may have to be read for this.
 */
const struct caller_code *callers_code(struct callers *callers, struct address_space *space,
				       uint64_t ip);
/* Return why there is no call before @ip, or NULL if there is one. */
const char *callers_no_call(struct callers *callers, struct address_space *space, uint64_t ip);
/*
 * Find a function that has left the stack by a tail call. The call before @ip called the searched
 * function. But the frame below, at @below (0: the probed function), belongs to another function,
 * to which the searched function jumped. Return a return address in the searched function, as if
 * its first instruction had made the call to the frame below. Return 0 if there is no such
 * function.
 */
uint64_t callers_between(struct callers *callers, struct address_space *space, uint64_t below,
			 uint64_t ip);
/*
 * Walk up @sample as bpf/callers.bpf.c does. Write return addresses to @ips (CALLERS_MAX entries),
 * beginning with the address in the sample itself. Return their number, at least 1. @use is called
 * with each rule that was used, so that the rule can be given to the BPF programs.
 */
uint32_t callers_follow(struct callers *callers, struct address_space *space,
			const struct sbt_callers *sample, uint64_t *ips,
			void (*use)(void *ctx, const struct sbt_callers *sample, uint64_t ip,
				    const struct sbt_frame_rule *rule),
			void *ctx);

#endif /* SITES_CALLERS_H */
