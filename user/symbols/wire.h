/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Write or read a sequence of values with the same calls: wire_number() writes the variable, or
 * reads it if wire.reads is set. Input is untrusted: if a value is out of bounds, the whole input
 * is bad, and this value and everything after it reads as 0.
 */
#ifndef SYMBOLS_WIRE_H
#define SYMBOLS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	uint8_t *bytes; /* malloc'ed */
	size_t len, cap;
	size_t at; /* read position */
	bool reads;
	bool bad; /* the input is invalid, or there was no memory */
};

void wire_number(struct wire *w, uint64_t *value, uint64_t max);
/*
 * Write or read a text of less than @size bytes. A longer text is cut when it is written, and is
 * bad input when it is read.
 */
void wire_text(struct wire *w, char *text, size_t size);
/*
 * Write or read a text of up to @max bytes. When reading, *@text is set to a copy, to be freed, or
 * to NULL if the input is bad.
 */
void wire_long_text(struct wire *w, char **text, size_t max);
void wire_free(struct wire *w);

/*
 * Write or read a variable of any integer type or of type bool. @max: the greatest valid value when
 * it is read.
 */
#define WIRE(w, variable, max)                                 \
	do {                                                   \
		uint64_t wire_value = (uint64_t)(variable);    \
                                                               \
		wire_number((w), &wire_value, (max));          \
		(variable) = (__typeof__(variable))wire_value; \
	} while (0)
#define WIRE_BOOL(w, variable) WIRE(w, variable, 1)
#define WIRE_TEXT(w, array)    wire_text(w, array, sizeof(array))

#endif /* SYMBOLS_WIRE_H */
