/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Name the tasks, locks, files and stacks that delayed threads, for analyse/cause.h. */
#ifndef CAPTURE_CAUSE_NAMES_H
#define CAPTURE_CAUSE_NAMES_H

#include "analyse/cause.h"
#include "attach/attach.h"
#include "capture/counting.h"
#include "ingest/stack_samples.h"
#include "sites/address_space.h"

struct cause_names;

/*
 * Return 0 and *out, or -ENOMEM. All arguments must outlive *out. @samples may be NULL.
 */
int cause_names_new(const struct attach *attach, struct address_spaces *spaces,
		    const struct stack_samples *samples, const struct counting *counting,
		    const struct report_env *env, struct cause_names **out);
void cause_names_free(struct cause_names *cause_names);
/* Return the callbacks. The caller may replace callbacks before the first episode only. */
struct cause_env *cause_names_env(struct cause_names *cause_names);
/* Return the causes. Every episode must be passed to them. */
struct causes *cause_names_causes(const struct cause_names *cause_names);

#endif /* CAPTURE_CAUSE_NAMES_H */
