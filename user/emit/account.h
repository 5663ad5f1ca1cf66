/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Print tables for people: the parts of threads' time, and the threads' counters. */
#ifndef EMIT_ACCOUNT_H
#define EMIT_ACCOUNT_H

#include "emit/fields.h"
#include "emit/textout.h"

/*
 * The threads to show: an array of the structs that @record describes (fields_rec_thread or
 * fields_rec_member).
 */
struct account {
	const struct emit_record *record;
	const void *rows;
	uint32_t n;
	/* show only this many of the first and of the last threads; 0: show all */
	uint32_t ends;
	uint32_t ncounters; /* number of @counters, which are sums over all threads; 0: not given */
	const struct report_counter *counters;
};

/* Return whether anything is known about how the threads spent their time. */
bool account_known(const struct account *account, const struct fields_context *context);
/*
 * Print the parts of the threads' time (account_parts), the counters (account_counters), or both
 * (account_both, in one table if it fits). Counters count outside barriers; an extra row has the
 * counts inside. Nothing is printed if nothing is known.
 */
void account_parts(struct textout *t, const struct account *account, unsigned indent,
		   const struct fields_context *context);
void account_counters(struct textout *t, const struct account *account, unsigned indent,
		      const struct fields_context *context);
void account_both(struct textout *t, const struct account *account, unsigned indent,
		  const struct fields_context *context);
/*
 * Return the counter's name, printable and short enough for a heading (to be freed), or NULL when
 * out of memory.
 */
char *account_name(const struct report_counter *counter);

#endif /* EMIT_ACCOUNT_H */
