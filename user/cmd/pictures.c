// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/pictures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/msg.h"
#include "base/number.h"
#include "base/output.h"
#include "emit/chrome.h"
#include "emit/folded.h"
#include "emit/html.h"

enum { CHROME, HTML, FOLDED, STACKS, LATE, FILES };

struct pictures {
	const char *paths[FILES];
	FILE *files[FILES];
	struct chrome *chrome;
	struct html *html;
	const struct report_env *env;
	int errors[FILES]; /* the first error of each file; 0: none */
	struct html_run *beside;
	/* number of processors that each of @beside is predicted for; 0: measured */
	uint32_t *processors;
	uint32_t nbeside, cap_beside, cap_processors;
	/* number of processors that the run itself is predicted for; 0: measured */
	uint32_t predicted;
	bool ended;
};

/* Print that the file cannot be written, because of @err. Return @err. */
static int cannot(const struct pictures *p, unsigned which, int err)
{
	msg_error("cannot write %s: %s", p->paths[which], strerror(-err));
	return err;
}

int pictures_page_possible(const char *path)
{
	if (!path || html_available())
		return 0;
	msg_error("--html %s: %s", path, html_missing());
	return -ENOSYS;
}

int pictures_open(struct pictures **out, const struct pictures_paths *paths)
{
	struct pictures *p;
	unsigned i;
	int err;

	*out = NULL;
	if (!paths->chrome && !paths->html && !paths->folded && !paths->folded_stacks &&
	    !paths->folded_late)
		return 0;
	err = pictures_page_possible(paths->html);
	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p) {
		msg_error("out of memory");
		return -ENOMEM;
	}
	p->paths[CHROME] = paths->chrome;
	p->paths[HTML] = paths->html;
	p->paths[FOLDED] = paths->folded;
	p->paths[STACKS] = paths->folded_stacks;
	p->paths[LATE] = paths->folded_late;
	for (i = 0; i < FILES; i++) {
		if (!p->paths[i])
			continue;
		p->files[i] = output_open(p->paths[i]);
		if (!p->files[i]) {
			err = cannot(p, i, -errno);
			pictures_free(p);
			return err;
		}
	}
	*out = p;
	return 0;
}

int pictures_begin(struct pictures *p, const struct report_env *env, uint64_t start_ns,
		   const char *title, const char *name, uint32_t predicted)
{
	const struct html_options options = {
		.title = title, .name = name, .start_ns = start_ns, .env = env
	};
	int err = 0;

	p->predicted = predicted;
	p->env = env;
	if (p->files[CHROME])
		err = chrome_begin(&p->chrome, p->files[CHROME], env, start_ns, CHROME_LEAN);
	if (err)
		return cannot(p, CHROME, err);
	if (p->files[HTML])
		err = html_begin(&p->html, p->files[HTML], &options);
	return err ? cannot(p, HTML, err) : 0;
}

void pictures_episode(void *ctx, const struct model *model, const struct model_episode *episode)
{
	struct pictures *p = ctx;

	if (p->chrome && !p->errors[CHROME])
		p->errors[CHROME] = chrome_episode(p->chrome, model, episode);
	if (p->html && !p->errors[HTML])
		p->errors[HTML] = html_episode(p->html, model, episode);
}

int pictures_beside(struct pictures *p, const char *name, const struct report *report,
		    uint32_t predicted)
{
	if (grow(p->processors, p->cap_processors, p->nbeside + 1) ||
	    grow(p->beside, p->cap_beside, p->nbeside + 1)) {
		msg_error("out of memory");
		return -ENOMEM;
	}
	p->processors[p->nbeside] = predicted;
	p->beside[p->nbeside++] = (struct html_run){ .name = name, .report = report };
	return 0;
}

/* --- speedup ---------------------------------------------------------------------------------- */

/* Return the team that lost most, as at the top of the page; NULL: there is none. */
static const struct report_process *team_of(const struct report *r)
{
	if (r->ngroups)
		return &r->groups[0].all;
	return r->nprocesses ? &r->processes[0] : NULL;
}

static int by_processors(const void *a, const void *b)
{
	const struct html_point *x = a, *y = b;

	return NUMBER_COMPARE(x->processors, y->processors);
}

/* One curve: measured runs by number of threads, or predictions by processors. */
struct drawn {
	struct html_point *points; /* points, with room for all runs */
	uint32_t n;
	char name[64];
};

static void add_point(struct drawn *d, uint32_t processors, const struct report *r)
{
	const struct report_process *team = team_of(r);

	if (!team || !team->threads || !team->elapsed_ns || team->elapsed_ns == REPORT_UNKNOWN)
		return;
	if (!processors)
		processors = team->threads;
	array_for_each (p, d->points, d->n) {
		if (p->processors != processors)
			continue;
		/* Of several runs with the same number of processors, take the fastest. */
		if (team->elapsed_ns < p->time_ns)
			p->time_ns = team->elapsed_ns;
		return;
	}
	d->points[d->n++] =
		(struct html_point){ .processors = processors, .time_ns = team->elapsed_ns };
}

static void make_curve(struct drawn *d, bool predicted, struct html_point base,
		       struct html_curve *curves, uint32_t *n)
{
	const char *what = predicted ? "recordings" : "measured";
	uint32_t i;

	if (!d->n)
		return;
	for (i = 0; i < d->n; i++)
		d->points[i].speedup = (double)base.time_ns / (double)d->points[i].time_ns;
	if (base.processors == 1)
		snprintf(d->name, sizeof(d->name), "%s", what);
	else
		snprintf(d->name, sizeof(d->name), "%s, against %u threads", what, base.processors);
	curves[(*n)++] = (struct html_curve){
		.name = d->name, .predicted = predicted, .n = d->n, .points = d->points
	};
}

/*
 * Compute a curve of the measured runs and a curve of the predicted runs. Measured speedups are
 * relative to the run with the fewest threads. Predicted speedups are relative to the prediction
 * for one processor, or else to that measured run, or else to the prediction for the fewest
 * processors. Return the number of curves, 0 if there are fewer than two points.
 */
static uint32_t draw_curves(const struct pictures *p, const struct report *r, struct drawn drawn[2],
			    struct html_curve curves[2])
{
	struct html_point base = { 0 };
	uint32_t i, n = 0;

	add_point(&drawn[p->predicted > 0], p->predicted, r);
	for (i = 0; i < p->nbeside; i++)
		add_point(&drawn[p->processors[i] > 0], p->processors[i], p->beside[i].report);
	if (drawn[0].n + drawn[1].n < 2)
		return 0;
	for (i = 0; i < 2; i++)
		qsort(drawn[i].points, drawn[i].n, sizeof(*drawn[i].points), by_processors);
	if (drawn[0].n)
		base = drawn[0].points[0];
	make_curve(&drawn[0], false, base, curves, &n);
	if (drawn[1].n && (drawn[1].points[0].processors == 1 || !drawn[0].n))
		base = drawn[1].points[0];
	make_curve(&drawn[1], true, base, curves, &n);
	return n;
}

static int end_html(struct pictures *p, const struct model *model, const struct report *report)
{
	struct html_point *points = calloc(2 * (p->nbeside + 1ul), sizeof(*points));
	struct drawn drawn[2] = { { .points = points },
				  { .points = points ? points + p->nbeside + 1 : NULL } };
	struct html_curve curves[2];
	uint32_t n = 0;
	int err;

	if (!points && !p->errors[HTML])
		p->errors[HTML] = -ENOMEM;
	if (points)
		n = draw_curves(p, report, drawn, curves);
	err = html_end(p->html, model, p->errors[HTML] ? NULL : report, p->beside, p->nbeside,
		       curves, n);
	free(points);
	return err;
}

/* Close the file. Return the first error of its writer, or that of closing. */
static int close_file(struct pictures *p, unsigned which)
{
	FILE *f = p->files[which];

	p->files[which] = NULL;
	errno = 0;
	if (f && fclose(f) && !p->errors[which])
		p->errors[which] = errno ? -errno : -EIO;
	return p->errors[which];
}

static void warn_thinned(const struct pictures *p)
{
	struct chrome_thinned t;

	if (p->errors[CHROME] || !chrome_thinned(p->chrome, &t))
		return;
	if (t.together_ns)
		msg_warn("%s: the run is too long to draw in full: counters and parts of phases "
			 "end at %.3f s, and from %.3f s on many crossings are drawn as one "
			 "(%" PRIu64 " of them): use report --from and --to to draw a part in full",
			 p->paths[CHROME], (double)t.lean_ns / 1e9, (double)t.together_ns / 1e9,
			 t.crossings);
	else
		msg_warn("%s: the run is too long to draw in full: counters and parts of phases "
			 "end at %.3f s: use report --from and --to to draw a part in full",
			 p->paths[CHROME], (double)t.lean_ns / 1e9);
}

int pictures_end(struct pictures *p, const struct model *model, const struct report *report)
{
	int err = 0, one;
	unsigned i;

	p->ended = true;
	if (p->chrome) {
		warn_thinned(p);
		one = chrome_end(p->chrome, p->errors[CHROME] ? NULL : model, report->end_ns);
		p->chrome = NULL;
		if (!p->errors[CHROME])
			p->errors[CHROME] = one;
	}
	if (p->html) {
		one = end_html(p, model, report);
		p->html = NULL;
		if (!p->errors[HTML])
			p->errors[HTML] = one;
	}
	if (p->files[FOLDED])
		p->errors[FOLDED] = folded_print(p->files[FOLDED], report);
	if (p->files[STACKS])
		p->errors[STACKS] = folded_stacks(p->files[STACKS], report, p->env, false);
	if (p->files[LATE])
		p->errors[LATE] = folded_stacks(p->files[LATE], report, p->env, true);
	for (i = 0; i < FILES; i++) {
		one = close_file(p, i);
		if (one)
			cannot(p, i, one);
		if (one && !err)
			err = one;
	}
	return err;
}

static void remove_part(const char *path, FILE *f)
{
	struct stat st;

	if (!fstat(fileno(f), &st) && S_ISREG(st.st_mode))
		unlink(path);
}

void pictures_free(struct pictures *p)
{
	unsigned i;

	if (!p)
		return;
	if (p->chrome)
		chrome_end(p->chrome, NULL, 0);
	if (p->html)
		html_end(p->html, NULL, NULL, NULL, 0, NULL, 0);
	for (i = 0; i < FILES; i++) {
		if (!p->files[i])
			continue;
		if (!p->ended)
			remove_part(p->paths[i], p->files[i]);
		fclose(p->files[i]);
	}
	free(p->beside);
	free(p->processors);
	free(p);
}

/* --- pages that one call draws ---------------------------------------------------------------- */

int pictures_page(const char *path, int (*draw)(FILE *file, const void *ctx), const void *ctx)
{
	FILE *f;
	int err;

	if (!path)
		return 0;
	f = output_open(path);
	err = f ? draw(f, ctx) : -errno;
	if (f && err)
		remove_part(path, f);
	errno = 0;
	if (f && fclose(f) && !err)
		err = errno ? -errno : -EIO;
	if (err)
		msg_error("cannot write %s: %s", path, strerror(-err));
	return err;
}
