/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The name of a call site: plain facts that several rooms share. Strings are untrusted. */
#ifndef SITES_SITE_H
#define SITES_SITE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One frame of a call site: [0] is the function that contains the call, and the next frames are the
 * functions into which it was inlined.
 */
struct site_frame {
	const char *function; /* NULL: unknown */
	const char *file; /* NULL: unknown */
	uint32_t line; /* 0: unknown */
	/*
	 * Identifies where the function is declared, to distinguish lambdas, which all have the
	 * same name. 0: unknown.
	 */
	uint32_t declared;
};

struct site_name {
	uint32_t nframes;
	const struct site_frame *frames;
	const char *module; /* path as mapped; NULL: unknown */
	/*
	 * Offset of the call in the module's file. If `module` is NULL: the call's address in the
	 * process.
	 */
	uint64_t offset;
	const char *build_id; /* hexadecimal; NULL: unknown */
	const char *label; /* name that a marker of the program gives the call site, or NULL */
	/* The called function that contains the barrier, or NULL. */
	const char *through;
	/*
	 * According to its marker, the call site is in a loop, so only the sum of its episodes is
	 * of interest.
	 */
	bool loop;
	/*
	 * Where the function around `offset` begins, if the file has no name for it but its unwind
	 * tables list it: an offset as `offset`. 0: unknown.
	 */
	uint64_t function;
};

#endif /* SITES_SITE_H */
