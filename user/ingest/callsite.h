/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Turn the callers in a crossing's record into its call site. This is needed with --frames, and for
 * hand-written barriers, which are named by the function that calls them.
 */
#ifndef INGEST_CALLSITE_H
#define INGEST_CALLSITE_H

#include "attach/attach.h"
#include "sites/address_space.h"

struct callsites;

/* Return 0 and *out, or -ENOMEM. Both arguments must outlive the result. */
int callsites_new(struct attach *attach, struct address_spaces *spaces, struct callsites **out);
void callsites_free(struct callsites *c);
void callsites_set_frames(struct callsites *c, uint32_t frames);

/* Unwind a sample. The following crossings refer to the sample by its name. Return 0 or -ENOMEM. */
int callsites_sample(struct callsites *c, struct address_space *space,
		     const struct sbt_callers *sample);
/*
 * A rule to step from the frame of the function at @ip to the frame of its caller. With this rule,
 * the kernel side needs no samples of that function.
 */
struct callsites_frame_rule {
	uint32_t tgid, inc;
	uint64_t ip;
	struct sbt_frame_rule rule;
};

/* Pass to @apply, in order, each rule that was found since the last call. */
void callsites_take_frame_rules(struct callsites *c,
				void (*apply)(void *ctx, const struct callsites_frame_rule *rule),
				void *ctx);
/*
 * Drop the samples of callers that belong to this crossing. Call this when the crossing has been
 * fed, or turned out to be no crossing of a barrier.
 */
void callsites_done(struct callsites *c, const struct sbt_crossing *crossing);

/*
 * Return the site of a call to a barrier function. @ip is sbt_crossing.ip, which is an address or
 * the name of a chain of callers.
 */
uint32_t callsites_function(struct callsites *c, struct address_space *space, uint64_t ip);
/*
 * Note a hand-written candidate barrier. Store in *site the program's own innermost call in which
 * the thread waits or, with @wake, wakes other threads. Return 0 or -ENOMEM.
 */
int callsites_consider(struct callsites *c, struct address_space *space,
		       const struct sbt_crossing *crossing, bool wake, uint32_t *site);
/*
 * Return the site of a wait on a semaphore, above functions that only wrap the wait. Store the site
 * of the caller in *above, or ADDRESS_SPACE_SITE_NONE if it is unknown.
 */
uint32_t callsites_semaphore(struct callsites *c, struct address_space *space,
			     const struct sbt_crossing *crossing, uint32_t *above);
/* Drop all data that refer to @space, before it is freed. */
void callsites_forget(struct callsites *c, const struct address_space *space);
/*
 * Return whether the first function of a thread or program is known to wait or wake at this site.
 */
bool callsites_first(struct callsites *c, uint32_t site);
/* Return the site of a candidate that turned out to be a barrier. */
uint32_t callsites_found(struct callsites *c, struct address_space *space,
			 const struct sbt_crossing *crossing);
/*
 * Return the site of a join that ended a fork-join round: the innermost call that is not in the C
 * library or the C++ library. Names are looked up.
 */
uint32_t callsites_join(struct callsites *c, struct address_space *space,
			const struct sbt_crossing *crossing);
/*
 * Return how often fewer callers were found than --frames asks for. Store the reason of the first
 * such case in *why: part of a sentence, or "" if unknown.
 */
uint64_t callsites_short(const struct callsites *c, const char **why);

/*
 * Return the number of crossings at hand-written barriers with unknown callers, because a buffer
 * had no room for their stacks.
 */
uint64_t callsites_unsampled(const struct callsites *c);

#endif /* INGEST_CALLSITE_H */
