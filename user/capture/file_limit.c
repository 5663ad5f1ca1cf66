// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/file_limit.h"

#include <sys/resource.h>

/*
 * Every examined file stays open, so that symbols can be read from it after it was deleted. With -a
 * there are many such files.
 */
void file_limit_raise(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}
