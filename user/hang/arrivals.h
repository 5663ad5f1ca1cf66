/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Who has come to a barrier and not left, as the kernel side has it now; by the barriers at which they are.
 */
#ifndef HANG_ARRIVALS_H
#define HANG_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "hang/hang_env.h"
#include "model/model.h"
#include "sites/family.h"

/* An arrival that has not departed. */
struct arrival {
	uint32_t pid, inc, tid;
	uint64_t since_ns, object, ip, sp, words, shared;
	uint8_t family, kind, how;
	bool marked;
	uint32_t group; /* index of the first of its group */
};

/* Arrivals at one barrier. */
struct arrival_group {
	uint32_t first; /* index of the earliest arrival */
	uint32_t n;
};

struct arrivals {
	struct arrival *all; /* after arrivals_group(): by time */
	uint32_t n, cap;
	struct arrival_group *groups;
	uint32_t ngroups;
	const struct attach *attach; /* while they are looked at */
	struct hash stale; /* tid -> arrival that is none any more */
	bool failed; /* out of memory */
};

void arrivals_free(struct arrivals *arrivals);
/* Copies all arrivals that are at a meeting and not stale; no groups. Returns 0 or -ENOMEM. */
int arrivals_look(struct arrivals *arrivals, const struct hang_env *env);
/* Has one of them been there for @after_ns? */
bool arrivals_old(const struct arrivals *arrivals, uint64_t now_ns, uint64_t after_ns);
/* Which of them are at one barrier. Returns 0 or -errno. */
int arrivals_group(struct arrivals *arrivals, const struct hang_env *env);
/* It has left without a word: until it comes again it is in no barrier. Returns 0 or -ENOMEM. */
int arrivals_set_stale(struct arrivals *arrivals, uint32_t tid, uint64_t since_ns);
bool arrivals_is_stale(const struct arrivals *arrivals, uint32_t tid, uint64_t since_ns);
/* What the object's own words say of who meets there. */
struct family_team arrival_team(const struct hang_env *env, const struct arrival *arrival);
/* As the model knows arrivals. */
struct model_crossing arrival_crossing(const struct arrival *arrival);

#endif /* HANG_ARRIVALS_H */
