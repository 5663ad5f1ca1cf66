/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Recordings as diff and series want them: many of them, each as the report that it makes. */
#ifndef COMPARE_RECORDING_SET_H
#define COMPARE_RECORDING_SET_H

#include <stdint.h>

#include "analyse/batches.h"
#include "analyse/report.h"
#include "compare/compare.h"

struct compare_recording {
	struct report report;
	struct batches batches; /* of its barriers */
	const char *command; /* what was recorded, joined by spaces; NULL unknown */
	void *owner; /* of what the report and command point into */
};

/*
 * Reads one recording to its end. Returns 0 and fills *out, to be released by compare_recording_free(); or -errno, and has said
 * in a sentence what is wrong with the file.
 */
int compare_recording_load(const char *path, struct compare_recording *out);
void compare_recording_free(struct compare_recording *r);

/* A list of them, in order. */
struct recording_set {
	uint32_t n;
	struct compare_recording *all;
	const struct report **reports; /* of all, for who compares them */
	const struct batches **batches; /* of all, likewise */
	struct compare_input *inputs; /* their names */
};

/* Loads @n files; the first that cannot be read ends it. Returns 0 or -errno; *out is to be released in any case. */
int recording_set_load(char *const *paths, uint32_t n, struct recording_set *out);
void recording_set_free(struct recording_set *r);

#endif /* COMPARE_RECORDING_SET_H */
