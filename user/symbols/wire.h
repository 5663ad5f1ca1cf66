/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Values to bytes, and back. One function says both: wire_number() writes the variable, or reads it. What is read is not trusted:
 * what is out of its bounds makes the whole bad, and all that follows is 0.
 */
#ifndef SYMBOLS_WIRE_H
#define SYMBOLS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	uint8_t *bytes; /* malloc'ed */
	size_t len, cap;
	size_t at; /* of what is read */
	bool reads;
	bool bad; /* what was read makes no sense; or out of memory */
};

void wire_number(struct wire *w, uint64_t *value, uint64_t max);
/* Of up to @size bytes with its end. Cut to that when it is written. */
void wire_text(struct wire *w, char *text, size_t size);
/* Of any length up to @max; malloc'ed when it is read, never NULL unless the whole is bad. */
void wire_long_text(struct wire *w, char **text, size_t max);
void wire_free(struct wire *w);

/* A variable of any integer type, or bool. */
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
