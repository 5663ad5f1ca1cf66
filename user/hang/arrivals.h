/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Arrivals without a departure so far, read from the BPF side and grouped by barrier. */
#ifndef HANG_ARRIVALS_H
#define HANG_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "hang/hang_env.h"
#include "model/model.h"
#include "sites/family.h"

/* An arrival of a thread that has not departed yet. */
struct arrival {
	uint32_t pid, inc, tid;
	uint64_t since_ns, object, ip, sp;
	uint64_t words; /* raw barrier word; 0: not read */
	uint64_t shared; /* key of an object that processes share; 0: the object is private */
	uint8_t family, kind, how;
	bool marked;
	uint32_t group; /* index in .groups */
};

/* Arrivals at one barrier. */
struct arrival_group {
	uint32_t first; /* index of the earliest arrival */
	uint32_t n;
};

struct arrivals {
	struct arrival *all; /* after arrivals_group(): sorted by time */
	uint32_t n, cap;
	struct arrival_group *groups;
	uint32_t ngroups, cap_groups;
	const struct hang_env *env; /* set by arrivals_look(), for its callbacks */
	/* tid -> time of an arrival after which the thread left without a recorded departure */
	struct hash stale;
	bool failed; /* out of memory */
};

void arrivals_free(struct arrivals *arrivals);
/* Copy all arrivals at barriers, except stale arrivals. Do not group them. Return 0 or -ENOMEM. */
int arrivals_look(struct arrivals *arrivals, const struct hang_env *env);
/* Return whether at least one arrival is at least @after_ns old. */
bool arrivals_old(const struct arrivals *arrivals, uint64_t now_ns, uint64_t after_ns);
/* Group the arrivals by barrier. Return 0 or -errno. */
int arrivals_group(struct arrivals *arrivals, const struct hang_env *env);
/*
 * Mark the thread's arrival at @since_ns as stale: the thread has left the barrier without a
 * recorded departure, and is at no barrier until it arrives again. Return 0 or -ENOMEM.
 */
int arrivals_set_stale(struct arrivals *arrivals, uint32_t tid, uint64_t since_ns);
bool arrivals_is_stale(const struct arrivals *arrivals, uint32_t tid, uint64_t since_ns);
/* Return the team that the object's raw barrier word describes. */
struct family_team arrival_team(const struct hang_env *env, const struct arrival *arrival);
/* Return a crossing that identifies the arrival's barrier, for model_team(). */
struct model_crossing arrival_crossing(const struct arrival *arrival);

#endif /* HANG_ARRIVALS_H */
