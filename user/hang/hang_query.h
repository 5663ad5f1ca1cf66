/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Build the question about a barrier that hangs: its arrivals, the threads of the last episode, the
 * team that its runtime declares, and the threads' numbers in reports.
 */
#ifndef HANG_HANG_QUERY_H
#define HANG_HANG_QUERY_H

#include "hang/hang_env.h"
#include "hang/hang_collect.h"
#include "hang/arrivals.h"

/* Append the barrier of a group to @question, which has room for it. Return 0 or -errno. */
int hang_query_add_barrier(const struct hang_env *env, const struct arrivals *arrivals,
			   uint32_t group, struct hang_collect_question *question);
/* Return whether a barrier of the question involves this process. */
bool hang_query_is_of(const struct hang_collect_question *question, uint32_t pid);
/* Add the report numbers of the threads of the question's processes. Return 0 or -ENOMEM. */
int hang_query_add_numbers(const struct hang_env *env, struct hang_collect_question *question);

#endif /* HANG_HANG_QUERY_H */
