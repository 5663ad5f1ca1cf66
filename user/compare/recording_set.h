/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Recordings as diff and series want them: many of them, each as the report that it makes. */
#ifndef COMPARE_RECORDING_SET_H
#define COMPARE_RECORDING_SET_H

#include <stdint.h>

#include "analyse/blocks.h"
#include "analyse/report.h"
#include "compare/compare.h"

struct recorded {
	struct report report;
	struct batches batches; /* of its barriers */
	const char *command; /* what was recorded, joined by spaces; NULL unknown */
	void *owner; /* of what the report and command point into */
};

/*
 * Reads one recording to its end. Returns 0 and fills *out, to be released by recorded_free(); or -errno, and has said
 * in a sentence what is wrong with the file.
 */
int recorded_load(const char *path, struct recorded *out);
void recorded_free(struct recorded *r);

/* A list of them, in order. */
struct recordings {
	uint32_t n;
	struct recorded *all;
	const struct report **reports; /* of all, for who compares them */
	const struct batches **batches; /* of all, likewise */
	struct compare_input *inputs; /* their names */
};

/* Loads @n files; the first that cannot be read ends it. Returns 0 or -errno; *out is to be released in any case. */
int recordings_load(char *const *paths, uint32_t n, struct recordings *out);
void recordings_free(struct recordings *r);

#endif /* COMPARE_RECORDING_SET_H */
