/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* --aggregate: pass the kernel's sums to the model. */
#ifndef INGEST_FEED_SUMS_H
#define INGEST_FEED_SUMS_H

#include "attach/attach.h"
#include "model/model.h"
#include "sites/address_space.h"

/*
 * Add the activity of a thread at one call site. Call this at the end, before model_finish().
 * Return 0 or -errno.
 */
int feed_sums(struct attach *attach, struct address_spaces *spaces, struct model *model,
	      const struct sbt_sums *sums);

#endif /* INGEST_FEED_SUMS_H */
