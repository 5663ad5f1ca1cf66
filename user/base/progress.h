/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Show that sbt-trace is busy with long work: one line on a terminal, shown after half a second and
 * erased at the end. A separate thread draws the line, so the work itself is not interrupted.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

struct progress;

/*
 * Create a progress line on @fd, which still belongs to the caller. Return NULL if @fd is not a
 * terminal that can erase a line. With NULL, all functions below do nothing.
 */
struct progress *progress_new(int fd);
/* Erase the line and free everything. */
void progress_free(struct progress *progress);
/*
 * Begin a piece of work, described as "reading x". Unprintable bytes are shown as \xNN, and a line
 * that is too wide is cut. Calls can be nested: then the text of the innermost piece is shown until
 * its progress_end(), and the seconds count from the start of the outermost piece. Only one thread
 * may call these functions.
 */
void progress_begin(struct progress *progress, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *progress);

#endif /* BASE_PROGRESS_H */
