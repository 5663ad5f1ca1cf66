// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define LEAST 256 /* bytes of the first allocation */

/* Make room for @more bytes and a NUL. */
static bool buf_room(struct buf *buf, size_t more)
{
	size_t n = buf->len + more + 1;

	if (!buf->failed && n > buf->cap)
		buf->failed = grow(buf->s, buf->cap, n < LEAST ? LEAST : n) != 0;
	return !buf->failed;
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
	if (!buf_room(buf, 1))
		return;
	buf->s[buf->len++] = c;
	buf->s[buf->len] = '\0';
}

void buf_pad(struct buf *buf, size_t n)
{
	if (!buf_room(buf, n))
		return;
	memset(buf->s + buf->len, ' ', n);
	buf->len += n;
	buf->s[buf->len] = '\0';
}

char *buf_digits(char *out, uint64_t u, unsigned n)
{
	char s[BUF_DIGITS];
	size_t at = sizeof(s);

	while (u || sizeof(s) - at < n) {
		s[--at] = (char)('0' + u % 10);
		u /= 10;
	}
	memcpy(out, s + at, sizeof(s) - at);
	return out + sizeof(s) - at;
}

void buf_uint(struct buf *buf, uint64_t u)
{
	char s[BUF_DIGITS];
	const char *end = buf_digits(s, u, 1);

	buf_add(buf, s, (size_t)(end - s));
}

void buf_int(struct buf *buf, int64_t i)
{
	if (i < 0)
		buf_char(buf, '-');
	buf_uint(buf, i < 0 ? -(uint64_t)i : (uint64_t)i);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	size_t room;
	va_list args;
	int n;

	/* Usually the text fits without growing, so it is formatted only once. */
	if (!buf_room(buf, 0))
		return;
	room = buf->cap - buf->len;
	va_start(args, fmt);
	/* clang-tidy 14 does not see va_start() when it checks several files at once. */
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	n = vsnprintf(buf->s + buf->len, room, fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n >= room && buf_room(buf, (size_t)n)) {
		va_start(args, fmt);
		vsnprintf(buf->s + buf->len, (size_t)n + 1, fmt, args);
		va_end(args);
	}
	if (n < 0)
		buf->failed = true;
	/* On failure, the text ends where it did before. */
	if (buf->failed)
		buf->s[buf->len] = '\0';
	else
		buf->len += (size_t)n;
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

int buf_write(struct buf *buf, FILE *file)
{
	int err = buf->failed ? -ENOMEM : 0;

	errno = 0;
	if (!err && buf->len && fwrite(buf->s, 1, buf->len, file) != buf->len)
		err = errno ? -errno : -EIO;
	buf_clear(buf);
	return err;
}

int buf_flush(FILE *file)
{
	errno = 0;
	if (fflush(file) || ferror(file))
		return errno ? -errno : -EIO;
	return 0;
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
