// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/enclose.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

/*
 * maximum number of lines with waits, and of lines with wakings, in one function; further lines are
 * ignored
 */
#define LINES_MAX  16
/*
 * maximum number of call sites of waits, and of wakings, in one function; further call sites are
 * not distinguished
 */
#define PLACES_MAX 16

struct places {
	uint32_t n;
	uint32_t site[PLACES_MAX];
};

struct function {
	struct places waits, wakes, callers;
	bool first; /* the first function of a thread */
	bool inlined; /* a wait or a waking is in a function that was inlined into this one */
	bool large; /* contains more code than a barrier */
	bool macro; /* a wait and a waking are on one line */
	uint64_t wait_line[LINES_MAX], wake_line[LINES_MAX];
	uint32_t nwait_lines, nwake_lines;
	bool decided, up;
};

struct enclose {
	struct hash functions; /* -> struct function */
};

struct enclose *enclose_new(void)
{
	return calloc(1, sizeof(struct enclose));
}

void enclose_free(struct enclose *e)
{
	if (!e)
		return;
	hash_free_ptrs(&e->functions);
	free(e);
}

static void places_add(struct places *p, uint32_t site)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (p->site[i] == site)
			return;
	if (p->n < PLACES_MAX)
		p->site[p->n++] = site;
}

/* Return the index of the program's own innermost call among @n steps. */
static uint32_t own_step(const struct enclose_step *steps, uint32_t n)
{
	uint32_t i = 0;

	while (i + 1 < n && steps[i].through)
		i++;
	return i;
}

static struct function *function_of(const struct enclose *e, const struct enclose_step *step)
{
	return step->function ? hash_get_ptr(&e->functions, step->function) : NULL;
}

static bool has_line(const uint64_t *lines, uint32_t n, uint64_t line)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (lines[i] == line)
			return true;
	return false;
}

static void note_line(struct function *f, uint64_t line, bool wake)
{
	uint64_t *lines = wake ? f->wake_line : f->wait_line;
	uint32_t *n = wake ? &f->nwake_lines : &f->nwait_lines;

	if (!line)
		return;
	f->macro |= wake ? has_line(f->wait_line, f->nwait_lines, line)
			 : has_line(f->wake_line, f->nwake_lines, line);
	if (!has_line(lines, *n, line) && *n < LINES_MAX)
		lines[(*n)++] = line;
}

static int note(struct enclose *e, const struct enclose_step *steps, uint32_t n, uint32_t i,
		bool wake)
{
	struct function *f = function_of(e, &steps[i]);

	if (!steps[i].function)
		return 0;
	if (!f) {
		f = hash_new_ptr(&e->functions, steps[i].function, sizeof(*f));
		if (!f)
			return -ENOMEM;
	}
	places_add(wake ? &f->wakes : &f->waits, steps[i].site);
	f->inlined |= steps[i].inlined;
	f->large |= steps[i].large;
	note_line(f, steps[i].line, wake);
	if (i + 1 >= n || steps[i + 1].outer || !steps[i + 1].function)
		f->first = true;
	else
		places_add(&f->callers, steps[i + 1].site);
	return 0;
}

int enclose_note(struct enclose *e, const struct enclose_step *steps, uint32_t n, bool wake,
		 bool helpers)
{
	uint32_t own = own_step(steps, n);
	int err = note(e, steps, n, own, wake);

	if (!err && helpers && own + 1 < n && !steps[own + 1].outer)
		err = note(e, steps, n, own + 1, wake);
	return err;
}

/*
 * Return whether the function waits and wakes by different calls. If both have a single call site,
 * the function calls a helper that both waits and wakes.
 */
static bool waits_and_wakes(const struct function *f)
{
	return f && f->waits.n && f->wakes.n &&
	       (f->waits.n > 1 || f->wakes.n > 1 || f->waits.site[0] != f->wakes.site[0]);
}

static void decide(struct function *f)
{
	f->decided = true;
	f->up = !f->first && !f->macro && !f->large && f->callers.n && f->callers.n >= f->waits.n &&
		(f->callers.n > 1 || !f->inlined);
}

uint32_t enclose_site(struct enclose *e, const struct enclose_step *steps, uint32_t n, bool helpers,
		      bool *through)
{
	uint32_t i = own_step(steps, n);
	struct function *f;

	*through = false;
	if (helpers && i + 1 < n && !waits_and_wakes(function_of(e, &steps[i])) &&
	    waits_and_wakes(function_of(e, &steps[i + 1])))
		i++;
	f = function_of(e, &steps[i]);
	if (!f)
		return i;
	if (!f->decided)
		decide(f);
	if (!f->up || i + 1 >= n || steps[i + 1].outer)
		return i;
	*through = true;
	return i + 1;
}
