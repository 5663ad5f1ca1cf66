/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Recordings as diff and series want them: many of them, each as the report that it makes. */
#ifndef RECORDING_RECORDING_SET_H
#define RECORDING_RECORDING_SET_H

#include <stdint.h>

#include "analyse/blocks.h"
#include "analyse/report.h"
#include "emit/emit.h"

struct recorded {
	struct report report;
	struct blocks blocks; /* of its barriers */
	const char *command; /* what was recorded, joined by spaces; NULL unknown */
	void *owner; /* of what the report and command point into */
};

/*
 * Reads one recording to its end. Returns 0 and fills *out, to be released by recorded_free(); or -errno, and has said
 * in a sentence what is wrong with the file.
 */
int recorded_load(const char *path, struct recorded *out);
void recorded_free(struct recorded *r);

/* A list of them, in order. */
struct recordings {
	uint32_t n;
	struct recorded *all;
	const struct report **reports; /* of all, for who compares them */
	const struct blocks **blocks; /* of all, likewise */
	struct emit_input *inputs; /* their names */
};

/* Loads @n files; the first that cannot be read ends it. Returns 0 or -errno; *out is to be released in any case. */
int recordings_load(char *const *paths, uint32_t n, struct recordings *out);
void recordings_free(struct recordings *r);

/* --- what both commands' options have in common */

struct recordings_output {
	const char *path; /* NULL: stdout */
	enum emit_format format;
};

/*
 * Opens what is written to, lets @print write, and says what went wrong. @command: for messages. Returns 0 or an exit
 * status.
 */
int recordings_print(const struct recordings_output *o,
		     void (*print)(struct emit *emit, const void *ctx), const void *ctx);
/* A help text to stdout. Returns an exit status. */
int recordings_help(const char *text);
/* A number of per cent, 0 and more. Returns 0 and the share, or -EINVAL. */
int recordings_percent(const char *s, double *share);
/* @arg of @option: a number of seconds from the start of tracing, 0 and more. Returns 0, or -EINVAL, told. */
int recordings_seconds(const char *option, const char *arg, double *out);
/* Adds the words of @list, cut in place at its commas, to *words. Returns 0, -EINVAL (one is empty) or -ENOMEM. */
int recordings_words(char *list, const char ***words, uint32_t *n);

/*
 * Would to write @output destroy one of the @n recordings? @output may be NULL, or not there. Returns 0, or -EINVAL, told.
 */
int recordings_spare(const char *output, const char *const *paths, uint32_t n);

#endif /* RECORDING_RECORDING_SET_H */
