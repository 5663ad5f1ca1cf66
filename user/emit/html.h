/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report as one HTML file: pictures that a browser draws without a network. It carries its data as JSON (the
 * records of --json, and the timeline), a charting library with its licence, and a page that may load nothing else.
 * The timeline is drawn into a grid as the episodes come by (emit/grid.h); as long as they are few, each crossing
 * is kept, too.
 */
#ifndef EMIT_HTML_H
#define EMIT_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyse/report.h"
#include "model/model.h"

/* Another recording, beside the one that the timeline shows: for what is compared. */
struct html_run {
	const char *name; /* untrusted */
	const struct report *report;
};

struct html_point {
	uint32_t processors; /* or threads */
	uint64_t time_ns;
	double speedup; /* NAN unknown */
};

/* How fast it is on how many processors. */
struct html_curve {
	const char *name; /* untrusted */
	bool predicted; /* not measured */
	uint32_t n;
	const struct html_point *points; /* by processors */
};

struct html_options {
	const char *title; /* a command or a file; NULL unknown; untrusted */
	const char *name; /* of this run beside others; NULL: the title; untrusted */
	uint64_t start_ns; /* when tracing began */
};

struct html; /* opaque */

/* Whether the program was built with the charting library: else html_begin() says -ENOSYS. */
bool html_available(void);
/* A sentence about why not, and what to do. */
const char *html_missing(void);
/* @file and the strings of @options stay the caller's until html_end(). Returns 0, -ENOSYS or -ENOMEM. */
int html_begin(struct html **out, FILE *file, const struct html_options *options);
/* In the order in which the model gives them. Returns 0 or -ENOMEM. */
int html_episode(struct html *h, const struct model *model, const struct model_episode *e);
/*
 * Writes the page and frees @h. @report is of @model, which is finished; both NULL: given up, nothing is written.
 * Returns 0, or -ENOMEM or the error of a write.
 */
int html_end(struct html *h, const struct model *model, const struct report *report,
	     const struct html_run *runs, uint32_t nruns, const struct html_curve *curves,
	     uint32_t ncurves);

#endif /* EMIT_HTML_H */
