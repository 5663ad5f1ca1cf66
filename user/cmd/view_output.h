/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Where the commands that read recordings write their result. */
#ifndef CMD_VIEW_OUTPUT_H
#define CMD_VIEW_OUTPUT_H

#include <stdio.h>

#include "cmd/options.h"
#include "emit/emit.h"

/*
 * Open the output of @o, let @print write, and close it. @print returns 0, or another number after
 * a message. Return the exit status; a message was printed for all but 0.
 */
int view_write(const struct options *o, int (*print)(FILE *out, void *ctx), void *ctx);
/* Return how to print to @out, which view_write() opened for @o. */
struct emit_options view_options(const struct options *o, FILE *out);
/* Like view_write(), but @print prints with @emit, in the format of @o. */
int view_print(const struct options *o, void (*print)(struct emit *emit, const void *ctx),
	       const void *ctx);

/*
 * If the user named no recording, add the default file. @both: add the earlier recording before it.
 * Return 0; -EINVAL after a message if there is no such file; or -ENOMEM after a message.
 */
int view_default_files(struct command_line *line, bool both);

/*
 * Check that no output file is one of the recordings that are read, which it would destroy. Return
 * 0, or -EINVAL after a message.
 */
int view_spare_files(const struct command_line *line);

#endif /* CMD_VIEW_OUTPUT_H */
