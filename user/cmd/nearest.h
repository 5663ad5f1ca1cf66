/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The known word that a mistyped one was probably meant to be. */
#ifndef CMD_NEAREST_H
#define CMD_NEAREST_H

struct nearest {
	const char *word;
	const char *best; /* NULL: no word tried is similar enough */
	unsigned distance; /* of best; before that, the first distance that is too large */
};

/*
 * Return the number of characters to insert, delete, replace or swap with their neighbour to make
 * @b of @a. Words longer than 63 characters are UINT_MAX from any other.
 */
unsigned nearest_distance(const char *a, const char *b);

/*
 * Begin a search: words are similar if at most every third character of @word differs, one at
 * least.
 */
struct nearest nearest_to(const char *word);
/* Take @candidate if it is nearer than those before. */
void nearest_try(struct nearest *nearest, const char *candidate);

#endif /* CMD_NEAREST_H */
