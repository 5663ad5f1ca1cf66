/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What commands that read recordings have in common: values of options, and where the result goes. */
#ifndef CMD_VIEW_OPTIONS_H
#define CMD_VIEW_OPTIONS_H

#include <stdint.h>

#include "base/options.h"
#include "emit/emit.h"

struct view_output {
	const char *path; /* NULL: stdout */
	enum emit_format format;
};

/*
 * Opens what is written to, lets @print write, and says what went wrong. @command: for messages. Returns 0 or an exit
 * status.
 */
int view_print(const struct view_output *o, void (*print)(struct emit *emit, const void *ctx),
	       const void *ctx);
/* A help text to stdout. Returns an exit status. */
int view_help(const char *text);
/* A number of per cent, 0 and more. Returns 0 and the share, or -EINVAL. */
int view_percent(const char *s, double *share);
/* @arg of @option: a number of seconds from the start of tracing, 0 and more. Returns 0, or -EINVAL, told. */
int view_seconds(const char *option, const char *arg, double *out);
/* Adds the words of @list, cut in place at its commas, to *words. Returns 0, -EINVAL (one is empty) or -ENOMEM. */
int view_words(char *list, const char ***words, uint32_t *n);

/*
 * Would to write @output destroy one of the @n recordings? @output may be NULL, or not there. Returns 0, or -EINVAL, told.
 */
int view_spare(const char *output, const char *const *paths, uint32_t n);

#endif /* CMD_VIEW_OPTIONS_H */
