// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool buf_room(struct buf *buf, size_t more)
{
	size_t cap = buf->cap ? buf->cap : 256;
	char *s;

	if (buf->failed)
		return false;
	while (cap - buf->len <= more)
		cap *= 2;
	if (cap == buf->cap)
		return true;
	s = realloc(buf->s, cap);
	if (!s) {
		buf->failed = true;
		return false;
	}
	buf->s = s;
	buf->cap = cap;
	return true;
}

void buf_add(struct buf *buf, const char *bytes, size_t len)
{
	if (!buf_room(buf, len))
		return;
	memcpy(buf->s + buf->len, bytes, len);
	buf->len += len;
	buf->s[buf->len] = '\0';
}

void buf_str(struct buf *buf, const char *s)
{
	buf_add(buf, s, strlen(s));
}

void buf_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	/* clang-tidy 14 loses sight of va_start() when it is given several files. */
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0) {
		buf->failed = true;
		return;
	}
	if (!buf_room(buf, n))
		return;
	va_start(args, fmt);
	vsnprintf(buf->s + buf->len, (size_t)n + 1, fmt, args);
	va_end(args);
	buf->len += n;
}

void buf_real(struct buf *buf, double d, int digits)
{
	char s[64];
	char *c;

	snprintf(s, sizeof(s), "%.*g", digits, d);
	for (c = s; *c; c++)
		if (!strchr("0123456789+-e", *c))
			*c = '.';
	buf_str(buf, s);
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->s)
		*buf->s = '\0';
}

void buf_free(struct buf *buf)
{
	free(buf->s);
	*buf = (struct buf){ 0 };
}
