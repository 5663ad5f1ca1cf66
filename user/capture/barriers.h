/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* sbt-trace list BINARY and list -p PID: list the traceable barriers and what cannot be traced. */
#ifndef CAPTURE_BARRIERS_H
#define CAPTURE_BARRIERS_H

#include <stdbool.h>

#include "emit/buf.h"
#include "sites/rule.h"

struct barriers_options {
	const char *binary; /* NULL: use pid */
	int pid;
	bool json;
	struct rules *rules; /* -b */
};

/*
 * Append the list to @out, as a table or as one JSON object a line. Return 0 or -errno: the program
 * or process cannot be read, and a message has been printed.
 */
int barriers_list(const struct barriers_options *options, struct buf *out);

#endif /* CAPTURE_BARRIERS_H */
