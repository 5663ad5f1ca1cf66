// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Text shared by the causes of an episode and the causes of a site. */
#include "analyse/internal.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX  32
#define PERCENT_MAX 1e9

static int part_cmp(const void *a, const void *b)
{
	const struct report_part *x = a, *y = b;

	return NUMBER_COMPARE(y->ns, x->ns);
}

void cause_set_parts(const int64_t *parts, struct report_cause *out)
{
	unsigned k;

	for (k = 0; k < CAUSE_KINDS; k++)
		if (parts[k])
			out->parts[out->nparts++] = (struct report_part){
				.name = cause_name(k),
				.ns = parts[k],
			};
	qsort(out->parts, out->nparts, sizeof(out->parts[0]), part_cmp);
}

int cause_set_frames(struct arena *a, const struct cause_env *env,
		     const struct report_env *report_env, const struct stack_ref *ref,
		     struct report_cause *out)
{
	struct report_callsite *frames;
	uint32_t sites[FRAMES_MAX], n = 0, i;
	int err = 0;

	if (ref->stack && env->stack)
		n = env->stack(env->ctx, ref->tgid, ref->inc, ref->stack, sites, FRAMES_MAX);
	if (n > FRAMES_MAX)
		n = FRAMES_MAX;
	if (!n)
		return 0;
	frames = arena_alloc(a, n * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = name_callsite(a, report_env, sites[i], &frames[i]);
	if (err)
		return err;
	out->frames = frames;
	out->nframes = n;
	return 0;
}

int text_percent(double share)
{
	/* A share that was read from a recording may be any number. */
	return isnan(share) ? 0 : (int)fmax(-PERCENT_MAX, fmin(100 * share + 0.5, PERCENT_MAX));
}

void text_time(int64_t ns, char out[32])
{
	double t = (double)ns;

	if (t >= 1e9)
		snprintf(out, 32, "%.2f s", t / 1e9);
	else if (t >= 1e6)
		snprintf(out, 32, "%.1f ms", t / 1e6);
	else if (t >= 1e3)
		snprintf(out, 32, "%.1f \xc2\xb5s", t / 1e3);
	else
		snprintf(out, 32, "%.0f ns", t);
}

void cause_end_text(struct report_cause *out, double share, const char *clause)
{
	size_t size = sizeof(out->text);

	if (clause && share >= CAUSE_SECOND && strlen(out->text) + strlen(clause) + 32 < size)
		name_append(out->text, size, "; %d %% because %s.", text_percent(share), clause);
	else
		name_append(out->text, size, ".");
}
