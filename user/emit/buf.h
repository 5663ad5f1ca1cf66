/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A string that grows. A failed allocation sets @failed, which the caller checks once at the end.
 */
#ifndef EMIT_BUF_H
#define EMIT_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf {
	char *s; /* NUL-terminated; NULL if nothing was added yet */
	size_t len, cap;
	bool failed;
};

void buf_add(struct buf *buf, const char *bytes, size_t len);
void buf_str(struct buf *buf, const char *s);
void buf_char(struct buf *buf, char c);
/* Add @n blanks. */
void buf_pad(struct buf *buf, size_t n);
#define BUF_DIGITS 20 /* number of digits of UINT64_MAX */
/*
 * Write @u with at least @n digits to @out. Return the end of the digits. printf() would be too
 * slow: JSON and tables consist mostly of numbers.
 */
char *buf_digits(char *out, uint64_t u, unsigned n);
/* Add a number in decimal. */
void buf_uint(struct buf *buf, uint64_t u);
void buf_int(struct buf *buf, int64_t i);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add a finite number with @digits significant digits and a decimal point in every locale. */
void buf_real(struct buf *buf, double d, int digits);
/*
 * Write the string to @file and empty it. Return 0, -ENOMEM if buf->failed is set, or the error of
 * the write.
 */
int buf_write(struct buf *buf, FILE *file);
/* Flush @file. Return 0, or the first error of its writes. */
int buf_flush(FILE *file);
/* Empty the string but keep its memory. */
void buf_clear(struct buf *buf);
void buf_free(struct buf *buf);

#endif /* EMIT_BUF_H */
