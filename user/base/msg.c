// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

static void print(const char *prefix, const char *fmt, va_list args)
{
	char *raw = NULL, *safe = NULL;

	if (vasprintf(&raw, fmt, args) < 0)
		return;
	safe = text_printable(raw);
	fprintf(stderr, "sbt-trace: %s%s\n", prefix, safe ? safe : "out of memory");
	free(safe);
	free(raw);
}

void msg_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("", fmt, args);
	va_end(args);
}

void msg_warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("warning: ", fmt, args);
	va_end(args);
}

void msg_verbose(int verbose, const char *fmt, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, fmt);
	print("", fmt, args);
	va_end(args);
}
