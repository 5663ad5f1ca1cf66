/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What threads did that crossed no barrier: how their time was spent, in which functions they were
 * on a CPU, and where they waited longest. A report without any barrier shows this. This code does
 * no I/O. Memory use is bounded: the times of threads that do not fit are added up.
 */
#ifndef ANALYSE_ACTIVITY_H
#define ANALYSE_ACTIVITY_H

#include "model/model.h"

struct activities;
struct arena;
struct cause_env;
struct places;
struct report;
struct report_env;

/* Return NULL when out of memory. @env must outlive the result. */
struct activities *activities_new(const struct cause_env *env);
void activities_free(struct activities *activities);
/* Count a sample of a thread, with its chain from places_chain(). Return 0 or -ENOMEM. */
int activities_sample(struct activities *activities, const struct model_sample *sample,
		      uint32_t chain);
/* Add what a thread did. Return 0 or -ENOMEM. */
int activities_add(struct activities *activities, const struct model_thread *thread,
		   const struct model_activity *activity);
/*
 * Fill the list of activities of @out: threads with much time on a CPU, and then with long waits,
 * first. @a owns it. Return 0 or -ENOMEM.
 */
int activities_report(const struct activities *activities, const struct places *places,
		      const struct report_env *env, struct arena *a, struct report *out);

#endif /* ANALYSE_ACTIVITY_H */
