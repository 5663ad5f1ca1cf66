/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Tables of where threads' time went and of what was counted, for people. */
#ifndef EMIT_ACCOUNT_H
#define EMIT_ACCOUNT_H

#include "emit/fields.h"
#include "emit/textout.h"

/* Some threads: fields_rec_thread's or fields_rec_member's structs. */
struct account {
	const struct emit_record *record;
	const void *rows;
	uint32_t n;
	uint32_t ends; /* only so many of the first and the last are shown; 0: all */
	uint32_t ncounters; /* of all of them together */
	const struct report_counter *counters;
};

/* Whether there is anything to say of where their time went. */
bool account_known(const struct account *account, const struct fields_context *context);
/*
 * Where it went, or what was counted (outside barriers, and a row for inside), or both: in one
 * table if it fits. Nothing where nothing is known.
 */
void account_parts(struct textout *t, const struct account *account, unsigned indent,
		   const struct fields_context *context);
void account_counters(struct textout *t, const struct account *account, unsigned indent,
		      const struct fields_context *context);
void account_both(struct textout *t, const struct account *account, unsigned indent,
		  const struct fields_context *context);
/* The counters of one thread. */
uint32_t account_values(const struct emit_record *record, const void *row,
			const struct report_counter **counters,
			const struct fields_context *context);
/* A column's or row's name for a counter, printable (to be freed); NULL when out of memory. */
char *account_name(const struct report_counter *counter);

#endif /* EMIT_ACCOUNT_H */
