/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * From what a crossing says of its callers to its site: with --frames, and for barriers written by hand, whose site is who
 * called them.
 */
#ifndef INGEST_CALLSITE_H
#define INGEST_CALLSITE_H

#include "attach/attach.h"
#include "sites/address_space.h"

struct callsites;

/* @frames: callers up that a site is. */
int callsites_new(struct attach *attach, struct address_spaces *spaces, struct callsites **out);
void callsites_free(struct callsites *c);
void callsites_set_frames(struct callsites *c, uint32_t frames);

/* A sample, of which the crossings that follow have the name. Returns 0 or -ENOMEM. */
int callsites_sample(struct callsites *c, struct address_space *space,
		     const struct sbt_callers *sample);
/* How to step from the frame of the function at @ip to its caller's. The kernel side then needs no samples there. */
struct callsites_frame_rule {
	uint32_t tgid, inc;
	uint64_t ip;
	struct sbt_frame_rule rule;
};

/* Pass each rule that samples have shown since the last call to @apply, in order. */
void callsites_take_frame_rules(struct callsites *c,
				void (*apply)(void *ctx, const struct callsites_frame_rule *rule),
				void *ctx);
/* The crossing has been fed, or is none: its sample is not needed any longer. */
void callsites_done(struct callsites *c, const struct sbt_crossing *crossing);

/* The site of a call of a barrier's function: sbt_crossing.ip as an address, or the name of its callers. */
uint32_t callsites_function(struct callsites *c, struct address_space *space, uint64_t ip);
/*
 * A candidate of what may be a barrier written by hand: the program's own call in which it waits, or with @wake wakes
 * others, is *site. Returns 0 or -ENOMEM.
 */
int callsites_consider(struct callsites *c, struct address_space *space,
		       const struct sbt_crossing *crossing, bool wake, uint32_t *site);
/* The same of a wait on a semaphore: functions that do nothing else do not count. *above: who called it, ADDRESS_SPACE_SITE_NONE not known. */
uint32_t callsites_semaphore(struct callsites *c, struct address_space *space,
			     const struct sbt_crossing *crossing, uint32_t *above);
/* The space is about to be forgotten. */
void callsites_forget(struct callsites *c, const struct address_space *space);
/* Is a thread's, or a program's, first function what waits or wakes at this site, as far as has been seen? */
bool callsites_first(struct callsites *c, uint32_t site);
/* The site of the same, found to be a barrier's. */
uint32_t callsites_found(struct callsites *c, struct address_space *space,
			 const struct sbt_crossing *crossing);
/* How often fewer callers could be told, and why the first time: half a sentence, "" if not known. */
uint64_t callsites_short(const struct callsites *c, const char **why);

/* Crossings at barriers written by hand of which nobody knows who called them: there was no room for their stacks. */
uint64_t callsites_unsampled(const struct callsites *c);

#endif /* INGEST_CALLSITE_H */
