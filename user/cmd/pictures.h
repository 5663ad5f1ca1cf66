/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The files that a run is drawn into: a timeline for Chrome and Perfetto, a page, folded stacks. */
#ifndef CMD_PICTURES_H
#define CMD_PICTURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyse/report.h"
#include "model/model.h"

/* Paths of the files; NULL: not wanted. */
struct pictures_paths {
	const char *chrome, *html, *folded, *folded_stacks, *folded_late;
};

struct pictures; /* opaque */

/*
 * Open the files. Return 0 and *out, which is NULL if no file is wanted; or a negative errno, after
 * a message.
 */
int pictures_open(struct pictures **out, const struct pictures_paths *paths);
/*
 * Begin the pictures, before the first episode. @env, @title (the command; NULL: unknown) and @name
 * (of the recording) must live until pictures_end(). @predicted: the number of processors that the
 * run is predicted for; 0: it was measured. Return 0, or a negative errno after a message.
 */
int pictures_begin(struct pictures *pictures, const struct report_env *env, uint64_t start_ns,
		   const char *title, const char *name, uint32_t predicted);
/*
 * Draw an episode. @ctx is a struct pictures. If drawing fails, pictures_end() returns the error.
 */
void pictures_episode(void *ctx, const struct model *model, const struct model_episode *episode);
/*
 * Add the report of another recording, for the page to compare with. Name and report must live
 * until pictures_end(). Return 0, or -ENOMEM after a message.
 */
int pictures_beside(struct pictures *pictures, const char *name, const struct report *report,
		    uint32_t predicted);
/*
 * Draw what needs the finished model, and close the files. Return 0, or the first error after a
 * message.
 */
int pictures_end(struct pictures *pictures, const struct model *model, const struct report *report);
/*
 * Close the files. Regular files that are not complete are removed. @pictures may be NULL.
 */
void pictures_free(struct pictures *pictures);

/*
 * Write a page with one call of @draw, which returns 0 or a negative errno. A regular file that is
 * not complete is removed. @path NULL: no page is wanted. Return 0, or a negative errno after a
 * message.
 */
int pictures_page(const char *path, int (*draw)(FILE *file, const void *ctx), const void *ctx);
/*
 * If @path is not NULL, check that this sbt-trace can write pages. Call this before all other work.
 * Return 0, or -ENOSYS after a message.
 */
int pictures_page_possible(const char *path);

#endif /* CMD_PICTURES_H */
