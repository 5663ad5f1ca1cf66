/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What takes long says what it is doing: one line on a terminal, once half a second has gone by, and erased when it is
 * over. A thread draws it, so that the work itself has nothing to do with it.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

struct progress;

/* For @fd, which stays the caller's. NULL: it is no terminal that can erase a line; all below do nothing with that. */
struct progress *progress_new(int fd);
/* Erases what is there. */
void progress_free(struct progress *progress);
/*
 * Work begins, as "reading x"; what cannot be printed is shown as \xNN, and what is too wide is cut. Within other work
 * it is that of which is told until its progress_end(), counted from where the outer one began. One thread only.
 */
void progress_begin(struct progress *progress, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *progress);

#endif /* BASE_PROGRESS_H */
