/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report as one HTML file with pictures, which a browser draws without a network. The file
 * contains its data as JSON (the records of --json, and the timeline), a charting library with its
 * licence, and a script. The page may load nothing else. Episodes are drawn into a grid as they are
 * reported (emit/grid.h). As long as there are few crossings, each crossing is also kept.
 */
#ifndef EMIT_HTML_H
#define EMIT_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyse/report.h"
#include "model/model.h"

/* Another recording, to compare with the one in the timeline. */
struct html_run {
	const char *name; /* untrusted */
	const struct report *report;
};

struct html_point {
	uint32_t processors; /* or threads */
	uint64_t time_ns;
	double speedup; /* NAN: unknown */
};

/* A curve of the speedup by number of processors. */
struct html_curve {
	const char *name; /* untrusted */
	bool predicted; /* predicted, not measured */
	uint32_t n;
	const struct html_point *points; /* by processors */
};

struct html_options {
	const char *title; /* a command or a file; NULL: unknown; untrusted */
	const char *name; /* name of this run among others; NULL: the title; untrusted */
	uint64_t start_ns; /* time at which tracing started */
	/* names call sites and families; NULL: neither is named, and causes are unknown */
	const struct report_env *env;
};

struct html; /* opaque */

/*
 * Return whether sbt-trace was built with the charting library. Without it, html_begin() returns
 * -ENOSYS.
 */
bool html_available(void);
/* Return a sentence that says why the library is missing, and what to do. */
const char *html_missing(void);
/*
 * Begin a page. The caller keeps @file and the strings of @options until html_end(). Return 0,
 * -ENOSYS or -ENOMEM.
 */
int html_begin(struct html **out, FILE *file, const struct html_options *options);
/* Add an episode, in the model's order. Return 0 or -ENOMEM. */
int html_episode(struct html *h, const struct model *model, const struct model_episode *e);
/*
 * Write the page and free @h. @report describes the finished @model; if both are NULL, write
 * nothing. Return 0, -ENOMEM, or the error of a write.
 */
int html_end(struct html *h, const struct model *model, const struct report *report,
	     const struct html_run *runs, uint32_t nruns, const struct html_curve *curves,
	     uint32_t ncurves);

#endif /* EMIT_HTML_H */
