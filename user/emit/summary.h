/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Print the report for people: the main finding, the data behind it, then what is missing. */
#ifndef EMIT_SUMMARY_H
#define EMIT_SUMMARY_H

#include "emit/fields.h"
#include "emit/textout.h"

#define SUMMARY_COST_MAX 0.05 /* a cost of tracing above this share of thread time is a warning */

void summary_print(struct textout *t, const struct report *report,
		   const struct fields_context *context);

/* Return the number of lost records of all kinds; 0 if it is not known. */
uint64_t summary_lost_records(const struct report *report);

/* The parts about barriers, in detail.c. */
void detail_barriers(struct textout *t, const struct report *report,
		     const struct fields_context *context);
void detail_each(struct textout *t, const struct report *report,
		 const struct fields_context *context);
void detail_conceptuals(struct textout *t, const struct report *report,
			const struct fields_context *context);
void detail_transitions(struct textout *t, const struct report *report,
			const struct fields_context *context);
/* Return whether the barrier's share of the report's lost time is large enough to show. */
bool detail_weighty(const struct report *report, const struct report_barrier *barrier);
/*
 * Print tables of threads, and of their @counters together: a row per thread, or for many threads
 * typical values and outliers.
 */
void detail_threads(struct textout *t, const struct report_thread *threads, uint32_t n,
		    const struct report_counter *counters, uint32_t ncounters,
		    const struct fields_context *context);

#endif /* EMIT_SUMMARY_H */
