/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* sbt-trace list BINARY, list -p PID: where barriers could be traced there, and what cannot be seen. */
#ifndef CAPTURE_BARRIERS_H
#define CAPTURE_BARRIERS_H

#include <stdbool.h>

#include "emit/buf.h"
#include "sites/rule.h"

struct barriers_options {
	const char *binary; /* else */
	int pid;
	bool json;
	struct rules *rules; /* -b */
};

/*
 * Puts it in @out: a table for people, or one JSON object a line. Returns 0, or -errno: the program or process cannot
 * be looked at, and a sentence has been printed.
 */
int barriers_list(const struct barriers_options *options, struct buf *out);

#endif /* CAPTURE_BARRIERS_H */
