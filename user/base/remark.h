/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Remarks: what a reader of the report must know besides the numbers, such as what the user
 * requested but sbt-trace did not find, and what was traced only partly or not at all. There is one
 * list per run, in the order in which the remarks were made. Every report format and the recording
 * contain it.
 */
#ifndef BASE_REMARK_H
#define BASE_REMARK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * maximum number of remarks; further remarks are only counted, and the last remark in the list
 * gives their number
 */
#define REMARKS_MAX 512

struct remark {
	const char *kind; /* a name in lower_snake_case; user/emit/fields.c lists all kinds */
	uint32_t pid; /* process that the remark is about; 0: no particular process */
	const char *text; /* a printable sentence without its full stop */
};

enum remark_say {
	REMARK_WARN, /* print it as a warning */
	REMARK_ERROR, /* print it without "warning: " */
	REMARK_HINT, /* print it as a warning, but not with -q */
};

/* Record a remark and print it at once as a warning. Call this during the run. */
void remark_warn(const char *kind, uint32_t pid, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Record a remark without printing it. remarks_say() prints it. */
void remark_note(enum remark_say how, const char *kind, uint32_t pid, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Return whether the remark is an item of a list. The remark before the first item introduces the
 * list.
 */
bool remark_is_item(const struct remark *remark);
/*
 * Return all remarks. They are valid until the next remark is recorded or remarks_forget() is
 * called.
 */
const struct remark *remarks_all(uint32_t *n);
/*
 * Print the remarks from index @from on that were not printed yet. @quiet: except those with
 * REMARK_HINT.
 */
void remarks_say(uint32_t from, bool quiet);
/*
 * Do the same for all remarks, but if no barrier was crossed, print few lines: what was seen,
 * without lists, and how many more remarks there are. The report has them all.
 */
void remarks_say_few(bool quiet);
/* Delete the remarks from index @from on. */
void remarks_forget(uint32_t from);

#endif /* BASE_REMARK_H */
