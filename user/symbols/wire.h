/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Write or read a sequence of values with the same calls: wire_number() writes the variable, or
 * reads it if wire.reads is set. Input is untrusted: if a value is out of bounds, the whole input
 * is bad, and everything after the value reads as 0.
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
	bool bad; /* the input is invalid, or out of memory */
};

void wire_number(struct wire *w, uint64_t *value, uint64_t max);
/*
 * Transfer a text. It fits into @size bytes with its NUL; a longer text is cut when it is written.
 */
void wire_text(struct wire *w, char *text, size_t size);
/*
 * Transfer a text of up to @max bytes. A text that is read is allocated by malloc(); it is NULL
 * only if the input is bad.
 */
void wire_long_text(struct wire *w, char **text, size_t max);
void wire_free(struct wire *w);

/* Transfer a variable of any integer type or of type bool. @max: the greatest valid value. */
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
