/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What is asked of a barrier that hangs: who has come, who met there before, who is to come as its runtime has it, and what
 * reports call it and them.
 */
#ifndef HANG_HANG_QUERY_H
#define HANG_HANG_QUERY_H

#include "hang/hang_env.h"
#include "hang/hang_collect.h"
#include "hang/arrivals.h"

/* Appends the barrier of a group to a question that has room for it. Returns 0 or -errno. */
int hang_query_add_barrier(const struct hang_env *env, const struct arrivals *arrivals,
			   uint32_t group, struct hang_collect_question *question);
/* Has a barrier of the question to do with this process? */
bool hang_query_is_of(const struct hang_collect_question *question, uint32_t pid);
/* What reports call the threads of these processes. Returns 0 or -ENOMEM. */
int hang_query_add_numbers(const struct hang_env *env, struct hang_collect_question *question);

#endif /* HANG_HANG_QUERY_H */
