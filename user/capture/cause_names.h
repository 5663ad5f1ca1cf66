/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Who and what held threads up, by name: what analyse/cause.h asks for, from where it is known. */
#ifndef CAPTURE_CAUSE_NAMES_H
#define CAPTURE_CAUSE_NAMES_H

#include "analyse/cause.h"
#include "attach/attach.h"
#include "capture/counting.h"
#include "sites/space.h"

struct why;

/* Returns 0 and *out, or -ENOMEM. All that is given must outlive it. */
int why_new(const struct attach *attach, struct spaces *spaces, const struct counting *counting,
	    const struct report_env *env, struct why **out);
void why_free(struct why *why);
/* Whom the causes ask: theirs, to be listened to before the first episode. */
struct cause_env *why_env(struct why *why);
/* To be fed with every episode. */
struct causes *why_causes(const struct why *why);

#endif /* CAPTURE_CAUSE_NAMES_H */
