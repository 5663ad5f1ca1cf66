/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Print messages of sbt-trace to stderr: one sentence per line, with control characters escaped. */
#ifndef BASE_MSG_H
#define BASE_MSG_H

#include <stdarg.h>

/*
 * Print "sbt-trace: ", then "warning: " (only msg_warn()), then the sentence. Bytes that could
 * control the terminal are printed as \xNN.
 */
void msg_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void msg_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Do the same as msg_error(), but only if @verbose is not 0 (-v). */
void msg_verbose(int verbose, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* BASE_MSG_H */
