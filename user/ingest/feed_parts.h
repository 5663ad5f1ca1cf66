/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Convert the parts of a phase from the kernel's record to the model's form. */
#ifndef INGEST_FEED_PARTS_H
#define INGEST_FEED_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "sbt/record.h"

/*
 * Fill in *d from the data that follow @c in its record. Return false if no data follow.
 * @fault_outside_ns is the cost of a page fault outside its handler. @self is the tid of the
 * tracer's thread: a wait for a CPU on which this thread ran is interference.
 */
bool feed_parts(const struct sbt_crossing *c, uint64_t fault_outside_ns, uint32_t self,
		struct model_detail *d);

#endif /* INGEST_FEED_PARTS_H */
