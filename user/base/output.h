/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Files that sbt-trace writes. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Mode of new files. Only the owner can read them, because they may name other users' programs. A
 * file that already exists keeps its mode.
 */
#define OUTPUT_MODE 0600

/* Open @path for writing and truncate it. Return NULL with errno set on errors. */
static inline FILE *output_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, OUTPUT_MODE);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

#endif /* BASE_OUTPUT_H */
