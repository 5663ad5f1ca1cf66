/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The report for people: the answer first, then what it rests on, then what is missing from it. */
#ifndef EMIT_SUMMARY_H
#define EMIT_SUMMARY_H

#include "emit/fields.h"
#include "emit/textout.h"

void summary_print(struct textout *t, const struct report *report,
		   const struct fields_context *context);

/* Its parts that are about barriers: detail.c. */
void detail_barriers(struct textout *t, const struct report *report,
		     const struct fields_context *context);
void detail_each(struct textout *t, const struct report *report,
		 const struct fields_context *context);
void detail_conceptuals(struct textout *t, const struct report *report,
			const struct fields_context *context);
void detail_transitions(struct textout *t, const struct report *report,
			const struct fields_context *context);
/* Whether the barrier's part of the report's lost time is worth a look. */
bool detail_weighty(const struct report *report, const struct report_barrier *barrier);
/*
 * Tables of threads, and of @counters of all of them: each thread, or of many what is typical and
 * what stands out.
 */
void detail_threads(struct textout *t, const struct report_thread *threads, uint32_t n,
		    const struct report_counter *counters, uint32_t ncounters,
		    const struct fields_context *context);

#endif /* EMIT_SUMMARY_H */
