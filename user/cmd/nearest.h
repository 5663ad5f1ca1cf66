/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Find the known word that a mistyped word was probably meant to be. */
#ifndef CMD_NEAREST_H
#define CMD_NEAREST_H

struct nearest {
	const char *word;
	const char *best; /* NULL: no candidate is similar enough */
	/*
	 * distance of best; if there is no best, the smallest distance that is too large to be
	 * similar
	 */
	unsigned distance;
};

/*
 * Return the number of characters to insert, delete, replace or swap with their neighbour to turn
 * @a into @b. Return UINT_MAX if a word is longer than 63 characters.
 */
unsigned nearest_distance(const char *a, const char *b);

/*
 * Begin a search. A candidate is similar if it differs from @word in at most one character, or in a
 * third of the characters of @word if that is more.
 */
struct nearest nearest_to(const char *word);
/* Take @candidate if it is nearer than all candidates before. */
void nearest_try(struct nearest *nearest, const char *candidate);

#endif /* CMD_NEAREST_H */
