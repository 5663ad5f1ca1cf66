/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The files that a run is drawn into: Chrome's trace, the HTML report, folded stacks. */
#ifndef CMD_PICTURES_H
#define CMD_PICTURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyse/report.h"
#include "model/model.h"

/* Where to; NULL: not wanted. */
struct pictures_paths {
	const char *chrome, *html, *folded;
};

struct pictures; /* opaque */

/*
 * Opens the files; one that cannot be made is told at once. Returns 0 and *out (NULL: none is wanted), or a negative
 * errno, told.
 */
int pictures_open(struct pictures **out, const struct pictures_paths *paths);
/*
 * Before the first episode. @env and @title (the command; NULL unknown) and @name (the recording) must live until pictures_end().
 * @predicted: for how many processors it is a prediction; 0: it was measured. Returns 0, or a negative
 * errno, told.
 */
int pictures_begin(struct pictures *pictures, const struct report_env *env, uint64_t start_ns,
		   const char *title, const char *name, uint32_t predicted);
/* @ctx is the pictures. An error is kept for pictures_end(). */
void pictures_episode(void *ctx, const struct model *model, const struct model_episode *episode);
/*
 * Another recording's report beside it, for what the page compares; both must live until pictures_end(). Returns 0, or
 * -ENOMEM, told.
 */
int pictures_beside(struct pictures *pictures, const char *name, const struct report *report,
		    uint32_t predicted);
/* Of the finished model. Returns 0, or the first error, told. */
int pictures_end(struct pictures *pictures, const struct model *model, const struct report *report);
/*
 * Closes the files. What was begun and not ended is no whole file, and is removed if it is a regular one. NULL is
 * allowed.
 */
void pictures_free(struct pictures *pictures);

/*
 * A page that one call draws: of a comparison, a series, a prediction. @draw returns 0 or a negative errno. What is no
 * whole file is removed if it is a regular one. @path NULL: none is wanted. Returns 0, or a negative errno, told.
 */
int pictures_page(const char *path, int (*draw)(FILE *file, const void *ctx), const void *ctx);
/* Whether such a page could be drawn at all; called before the work. Returns 0 or -ENOSYS, told. */
int pictures_page_possible(const char *path);

#endif /* CMD_PICTURES_H */
