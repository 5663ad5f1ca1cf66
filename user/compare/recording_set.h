/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Read a list of recordings into their reports, for diff and series. */
#ifndef COMPARE_RECORDING_SET_H
#define COMPARE_RECORDING_SET_H

#include <stdint.h>

#include "analyse/batches.h"
#include "analyse/report.h"
#include "compare/compare.h"

struct compare_recording {
	struct report report;
	struct batches batches; /* batches of its barriers */
	const char *command; /* recorded command line; NULL if unknown */
	void *owner; /* owns the data of .report and .command */
};

/*
 * Read one recording. Fill *out, which compare_recording_free() frees. Return 0, or -errno after an
 * error message.
 */
int compare_recording_load(const char *path, struct compare_recording *out);
void compare_recording_free(struct compare_recording *r);

struct recording_set {
	uint32_t n;
	struct compare_recording *all; /* in the order of the files */
	const struct report **reports; /* indexed by recording */
	const struct batches **batches; /* indexed by recording */
	struct compare_input *inputs; /* indexed by recording */
};

/*
 * Read @n files, up to the first that cannot be read. Return 0 or -errno. Call recording_set_free()
 * in any case.
 */
int recording_set_load(char *const *paths, uint32_t n, struct recording_set *out);
void recording_set_free(struct recording_set *r);

#endif /* COMPARE_RECORDING_SET_H */
