/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What a call site is called: the plain facts, shared by all later rooms. Strings are untrusted. */
#ifndef SITES_SITE_H
#define SITES_SITE_H

#include <stdint.h>

/* One frame of a call site: [0] is where the call stands, the rest what it was inlined into. */
struct site_frame {
	const char *function; /* NULL unknown */
	const char *file; /* NULL unknown */
	uint32_t line; /* 0 unknown */
};

struct site_name {
	uint32_t nframes;
	const struct site_frame *frames;
	const char *module; /* path as mapped; NULL unknown */
	uint64_t offset; /* of the call in the module's file; run-time address if module is NULL */
	const char *build_id; /* hex; NULL unknown */
};

#endif /* SITES_SITE_H */
