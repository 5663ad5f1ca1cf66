/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What a call site is called: the plain facts, shared by all later rooms. Strings are untrusted. */
#ifndef SITES_SITE_H
#define SITES_SITE_H

#include <stdbool.h>
#include <stdint.h>

/* One frame of a call site: [0] is where the call stands, the rest what it was inlined into. */
struct site_frame {
	const char *function; /* NULL unknown */
	const char *file; /* NULL unknown */
	uint32_t line; /* 0 unknown */
	uint32_t
		declared; /* a number for where the function is declared: names of lambdas are all alike; 0 unknown */
};

struct site_name {
	uint32_t nframes;
	const struct site_frame *frames;
	const char *module; /* path as mapped; NULL unknown */
	uint64_t offset; /* of the call in the module's file; run-time address if module is NULL */
	const char *build_id; /* hex; NULL unknown */
	const char *label; /* what the program calls it; NULL: nothing */
	const char *
		through; /* the function called there, in which the barrier is written; NULL: none */
	bool loop; /* the program says that it is in a loop: of interest as a sum */
};

#endif /* SITES_SITE_H */
