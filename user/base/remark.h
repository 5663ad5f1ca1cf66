/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What a reader of the report must know beside its figures: what was asked for and not found, what was not seen or only in part.
 * One list for the run, in the order in which it was noted; every format of the report has it, and a recording.
 */
#ifndef BASE_REMARK_H
#define BASE_REMARK_H

#include <stdbool.h>
#include <stdint.h>

#define REMARKS_MAX 512 /* later ones are counted, and the last one says how many */

struct remark {
	const char *kind; /* lower_snake, ours: fields.c lists them */
	uint32_t pid; /* the process that it is about; 0: none in particular */
	const char *text; /* a sentence without its full stop; printable */
};

enum remark_say {
	REMARK_WARN, /* as a warning */
	REMARK_ERROR, /* likewise, without that word */
	REMARK_HINT, /* as a warning, and not with -q */
};

/* Note it, and print it at once as a warning: for what is found while the run goes on. */
void remark_warn(const char *kind, uint32_t pid, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Note it alone; remarks_say() prints it. */
void remark_note(enum remark_say say, const char *kind, uint32_t pid, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Is it an item of a list that the remark before it begins? */
bool remark_is_item(const struct remark *remark);
/* All that were noted: valid until the next is, or until remarks_forget(). */
const struct remark *remarks_all(uint32_t *n);
/* Print those from @from on that remark_note() has noted. */
void remarks_say(uint32_t from, bool quiet);
/* Forget those from @from on. */
void remarks_forget(uint32_t from);

#endif /* BASE_REMARK_H */
