/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Who called a function: the rules by which the kernel's side finds it, and the same walk over a sample of the stack,
 * for the calls of which it had not been told yet. Both come to the same, or the first crossings would have another site.
 */
#ifndef SITES_CALLERS_H
#define SITES_CALLERS_H

#include "sbt/probe.h"
#include "sites/address_space.h"

#define CALLERS_MAX 13 /* return addresses of one chain; SBT_CHAIN_MAX */

/* What is known of the code in front of one return address. Strings are untrusted, and kept until callers_free(). */
struct caller_code {
	struct sbt_frame_rule
		rule; /* SBT_FRAME_LAST too where none can be told; then why says so */
	const char *why; /* half a sentence; NULL */
	uint64_t
		function; /* that it is in, not what is inlined there; parts split off are the same; 0 not known */
	const char *name; /* of that; NULL */
	bool outer; /* it is the runtime's: what it calls is the first function of a thread, or the like */
	bool inlined; /* the call itself is in a function that was inlined there */
};

struct callers;

int callers_new(struct address_spaces *spaces, struct callers **out);
void callers_free(struct callers *callers);

/*
 * How to find who called the function that a call returns to at @ip; of a system call, behind which @ip is, too. A question
 * to the symboliser's child when it is new: tens of microseconds, more where the file is. NULL: out of memory.
 */
const struct caller_code *callers_rule(struct callers *callers, struct address_space *space,
				       uint64_t ip);
/* The same, with its function and what follows from its name, which may take debug information to be read. */
const struct caller_code *callers_code(struct callers *callers, struct address_space *space,
				       uint64_t ip);
/* NULL, or why there is no call in front of @ip. */
const char *callers_no_call(struct callers *callers, struct address_space *space, uint64_t ip);
/*
 * The call that returns to @ip is of a function that is not the one in which @below is (0: the one that was probed), but
 * has called that in the place of its return, and is gone from the stack. Returns an address in it, as if its first
 * instruction had been that call; 0: there is none.
 */
uint64_t callers_between(struct callers *callers, struct address_space *space, uint64_t below,
			 uint64_t ip);
/*
 * Follows @sample up, as bpf/callers.bpf.c does: into @ips, of CALLERS_MAX, its own first. Returns how many, at least 1.
 * @tell is given each rule that it went by, for the kernel's side to know.
 */
uint32_t callers_follow(struct callers *callers, struct address_space *space,
			const struct sbt_callers *sample, uint64_t *ips,
			void (*tell)(void *ctx, const struct sbt_callers *sample, uint64_t ip,
				     const struct sbt_frame_rule *rule),
			void *ctx);

#endif /* SITES_CALLERS_H */
