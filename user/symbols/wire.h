/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Serialisation in both directions with the same calls: wire_number() writes the variable or reads
 * it. Input is untrusted: a value out of bounds makes the whole input bad, and everything after it
 * reads as 0.
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
/* Transfer a text that fits into @size bytes with its NUL. A longer text is cut when written. */
void wire_text(struct wire *w, char *text, size_t size);
/*
 * Transfer a text of up to @max bytes. When read, it is malloc'ed, and NULL only if the input is
 * bad.
 */
void wire_long_text(struct wire *w, char **text, size_t max);
void wire_free(struct wire *w);

/* Transfer a variable of any integer type, or bool. */
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
