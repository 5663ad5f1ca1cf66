/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Progress of long work: one line on a terminal, shown after half a second and erased at the end. A
 * thread draws it, so the work itself is not interrupted.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

struct progress;

/*
 * Create a progress line on @fd, which remains the caller's. Return NULL if @fd is not a terminal
 * that can erase a line; all functions below then do nothing.
 */
struct progress *progress_new(int fd);
/* Erase the line and free all. */
void progress_free(struct progress *progress);
/*
 * Begin a work, as "reading x". Unprintable bytes are shown as \xNN, and a line that is too wide is
 * cut. Inside other work, show this text until its progress_end(); the seconds count from the start
 * of the outermost work. For one thread only.
 */
void progress_begin(struct progress *progress, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *progress);

#endif /* BASE_PROGRESS_H */
