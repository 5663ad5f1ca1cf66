/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Where a thread's phase went, as the kernel's record tells it and as the model takes it. */
#ifndef INGEST_FEED_PARTS_H
#define INGEST_FEED_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "sbt/record.h"

/*
 * What follows @c in its record: false if nothing does. @fault_outside_ns: what each page fault takes beside the time
 * measured in its handler. @self: the thread of ours that runs while others are traced.
 */
bool feed_parts(const struct sbt_crossing *c, uint64_t fault_outside_ns, uint32_t self,
		struct model_detail *d);

#endif /* INGEST_FEED_PARTS_H */
