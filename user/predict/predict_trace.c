// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The steps of the threads, and their ideal parallel time. */
#include "predict/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"

int predict_add_thread(struct predict_input *in)
{
	if (in->nthreads == PREDICT_THREADS_MAX)
		return -E2BIG;
	if (grow_zeroed(in->threads, in->cap_threads, in->nthreads + 1))
		return -ENOMEM;
	return (int)in->nthreads++;
}

int predict_add_episode(struct predict_input *in, uint32_t site, uint32_t *out)
{
	if (in->nepisodes >= UINT32_MAX / 2)
		return -E2BIG;
	if (grow(in->episodes, in->cap_episodes, in->nepisodes + 1))
		return -ENOMEM;
	in->episodes[in->nepisodes] = (struct predict_episode){ .site = site };
	if (site >= in->nsites)
		in->nsites = site + 1;
	*out = in->nepisodes++;
	return 0;
}

static bool step_known(const struct predict_input *in, enum predict_op op, uint32_t what)
{
	switch (op) {
	case PREDICT_MEET:
		return what < in->nepisodes;
	case PREDICT_READ:
	case PREDICT_WRITE:
		/* The thread may be added later: predict_simulate() checks this again. */
		return what < PREDICT_THREADS_MAX;
	default:
		return true;
	}
}

int predict_add_step(struct predict_input *in, uint32_t thread, enum predict_op op, uint64_t ns,
		     uint32_t what, uint32_t bytes)
{
	struct predict_thread *t;

	if (thread >= in->nthreads || bytes > PREDICT_BYTES_MAX || !step_known(in, op, what))
		return -EINVAL;
	t = &in->threads[thread];
	if (grow(t->steps, t->cap, t->n + 1))
		return -ENOMEM;
	t->steps[t->n++] = (struct predict_step){
		.ns = ns, .what = what, .bytes = bytes, .op = (uint32_t)op & 7
	};
	if (op == PREDICT_MEET)
		in->episodes[what].n++;
	return 0;
}

void predict_input_free(struct predict_input *in)
{
	array_for_each (t, in->threads, in->nthreads)
		free(t->steps);
	free(in->threads);
	free(in->episodes);
	memset(in, 0, sizeof(*in));
}

/* --- translation ------------------------------------------------------------------------------ */

struct translate {
	const struct predict_input *in;
	struct {
		uint64_t next; /* index of the next step */
		double t;
		uint32_t waits; /* next thread waiting at the same episode; PREDICT_NONE if none */
	} * threads;
	struct {
		uint32_t narrived;
		uint32_t first; /* the waiting thread that arrived last; head of the list */
		double last; /* time of the last arrival */
	} * episodes;
	uint32_t *ready, nready;
	double *released;
};

/* Let all members continue at the time of the last arrival. */
static void translate_release(struct translate *tr, uint32_t episode)
{
	uint32_t i = tr->episodes[episode].first, next;

	for (; i != PREDICT_NONE; i = next) {
		next = tr->threads[i].waits;
		tr->threads[i].t = tr->episodes[episode].last;
		tr->ready[tr->nready++] = i;
	}
	if (tr->released)
		tr->released[episode] = tr->episodes[episode].last;
}

static void translate_arrive(struct translate *tr, uint32_t i, uint32_t episode)
{
	double t = tr->threads[i].t;

	if (!tr->episodes[episode].narrived++)
		tr->episodes[episode].first = PREDICT_NONE;
	tr->threads[i].waits = tr->episodes[episode].first;
	tr->episodes[episode].first = i;
	if (t > tr->episodes[episode].last)
		tr->episodes[episode].last = t;
	if (tr->episodes[episode].narrived == tr->in->episodes[episode].n)
		translate_release(tr, episode);
}

/*
 * Run a thread up to its next episode. Each event keeps its recorded distance from the event before
 * it. Return whether the thread has ended.
 */
static bool translate_thread(struct translate *tr, uint32_t i)
{
	const struct predict_thread *t = &tr->in->threads[i];

	while (tr->threads[i].next < t->n) {
		const struct predict_step *s = &t->steps[tr->threads[i].next++];

		tr->threads[i].t += (double)s->ns;
		if (s->op == PREDICT_MEET) {
			translate_arrive(tr, i, s->what);
			return false;
		}
	}
	return true;
}

int predict_translate(const struct predict_input *in, double *released, double *total_ns)
{
	struct translate tr = { .in = in, .released = released };
	uint32_t i, ended = 0;
	int err = -ENOMEM;

	*total_ns = 0;
	tr.threads = calloc(in->nthreads + 1, sizeof(*tr.threads));
	tr.episodes = calloc(in->nepisodes + 1, sizeof(*tr.episodes));
	tr.ready = calloc(in->nthreads + 1, sizeof(*tr.ready));
	if (!tr.threads || !tr.episodes || !tr.ready)
		goto out;
	for (i = 0; i < in->nthreads; i++)
		tr.ready[tr.nready++] = i;
	while (tr.nready) {
		i = tr.ready[--tr.nready];
		if (!translate_thread(&tr, i))
			continue;
		ended++;
		if (tr.threads[i].t > *total_ns)
			*total_ns = tr.threads[i].t;
	}
	err = ended < in->nthreads ? -EDEADLK : 0;
	*total_ns += (double)in->before_ns + (double)in->after_ns;
out:
	free(tr.threads);
	free(tr.episodes);
	free(tr.ready);
	return err;
}
