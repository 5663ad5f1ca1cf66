// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MAX 1000 /* columns; a larger number in COLUMNS is a mistake */

unsigned terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long n;
	char *end;

	if (!isatty(fd))
		return 0;
	if (columns && *columns >= '0' && *columns <= '9') {
		n = strtoul(columns, &end, 10);
		if (!*end && n && n <= WIDTH_MAX)
			return (unsigned)n;
	}
	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

bool terminal_colour(int fd)
{
	return isatty(fd) && !getenv("NO_COLOR");
}
