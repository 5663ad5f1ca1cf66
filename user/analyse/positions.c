// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Efficiencies of threads that live for only a part of the run. A thread loses nothing before its
 * start and after its end, so its work is compared with its life. Threads with disjoint lives run
 * one after another at one position. The workers of consecutive fork-join rounds are therefore
 * compared as one permanent team.
 */
#include "analyse/internal.h"
#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * A thread may take over another thread's position in the last 1/FOLLOWS_PART of that thread's
 * life, because a thread's end may be recorded after the start of the thread that replaces it.
 */
#define FOLLOWS_PART 16

static uint64_t life_of(const struct report_thread *t)
{
	return number_less(number_less(t->until_ns, t->start_ns), t->away_ns);
}

/* The begin or end of a thread. */
struct moment {
	uint64_t t_ns;
	uint32_t thread;
	bool begins;
};

static int moment_cmp(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return NUMBER_COMPARE(x->t_ns, y->t_ns);
	return x->begins != y->begins ? NUMBER_COMPARE(x->begins, y->begins)
				      : NUMBER_COMPARE(x->thread, y->thread);
}

/*
 * Write the sorted begins and ends of the threads to @m. Leave out entries that stand for a sum of
 * threads. The time of each end is made earlier by 1/@part of the thread's life. Return the number
 * of moments.
 */
static uint32_t moments_of(const struct report_thread *threads, uint32_t n, uint64_t part,
			   struct moment *m)
{
	uint32_t i, k = 0;

	for (i = 0; i < n; i++) {
		const struct report_thread *t = &threads[i];

		if (!t->tid || t->until_ns <= t->start_ns)
			continue;
		m[k++] = (struct moment){ t->start_ns, i, true };
		m[k++] = (struct moment){ t->until_ns - (t->until_ns - t->start_ns) / part, i,
					  false };
	}
	if (k)
		qsort(m, k, sizeof(*m), moment_cmp);
	return k;
}

int positions_assign(struct report_thread *threads, uint32_t n, uint32_t *positions)
{
	struct moment *m = calloc(2 * (size_t)n + 1, sizeof(*m));
	bool *taken = calloc(n + 1u, sizeof(*taken));
	uint32_t i, nmoments, first = 0; /* no position below `first` is free */

	*positions = 0;
	for (i = 0; i < n; i++)
		threads[i].position = MODEL_NONE;
	nmoments = m && taken ? moments_of(threads, n, FOLLOWS_PART, m) : 0;
	for (i = 0; i < nmoments; i++) {
		uint32_t *at = &threads[m[i].thread].position;

		if (!m[i].begins) {
			taken[*at] = false;
			if (*at < first)
				first = *at;
			continue;
		}
		while (taken[first])
			first++;
		taken[first] = true;
		*at = first;
		if (first >= *positions)
			*positions = first + 1;
	}
	free(m);
	free(taken);
	return m && taken ? 0 : -ENOMEM;
}

/*
 * Set shared[i] to the time for which thread i lived at the same time as other threads. Set
 * *several_ns to the time with at least two threads. Return 0 or -ENOMEM.
 */
static int share_lives(const struct report_thread *threads, uint32_t n, uint64_t *shared,
		       uint64_t *several_ns)
{
	struct moment *m = calloc(2 * (size_t)n + 1, sizeof(*m));
	uint32_t i, nmoments, now = 0;
	uint64_t sum = 0, before = 0;

	if (!m)
		return -ENOMEM;
	nmoments = moments_of(threads, n, UINT64_MAX, m);
	for (i = 0; i < nmoments; i++) {
		uint64_t *of = &shared[m[i].thread];

		if (now > 1)
			sum += m[i].t_ns - before;
		before = m[i].t_ns;
		now = m[i].begins ? now + 1 : now - 1;
		*of = m[i].begins ? sum : sum - *of;
	}
	free(m);
	*several_ns = sum;
	return 0;
}

/* Sums over the threads that run one after another at one position. */
struct position {
	uint64_t lost_ns, shared_ns;
};

static int shared_cmp(const void *a, const void *b)
{
	const struct position *x = a, *y = b;

	return NUMBER_COMPARE(x->shared_ns, y->shared_ns);
}

/*
 * Return the smallest share of its time that any position loses, or NAN if there is no position.
 * Leave out positions that are used for less than half of the median time, because the sample is
 * too small.
 */
static double least_lost(struct position *all, uint32_t n)
{
	uint32_t i, first = 0;
	double least = NAN;

	if (n)
		qsort(all, n, sizeof(*all), shared_cmp);
	while (first < n && !all[first].shared_ns)
		first++;
	for (i = first; i < n; i++) {
		if (all[i].shared_ns >= all[first + (n - first - 1) / 2].shared_ns / 2)
			least = fmin(least, (double)all[i].lost_ns / (double)all[i].shared_ns);
	}
	return least;
}

static double clip(double x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/*
 * Return the efficiencies. @lost is the smallest loss of any position, as a share of the time in
 * which it overlaps others (least_lost()). @shared is the share of the lives that overlaps other
 * lives. @several_ns is the elapsed time with several threads.
 */
static struct report_efficiency product(const struct efficiency_sums *s, uint64_t life_ns,
					double lost, double shared, uint64_t several_ns)
{
	struct report_efficiency e = EFFICIENCY_UNKNOWN;
	double barriers;

	if (!life_ns)
		return e;
	e.parallel = clip((double)s->sum_ns / (double)life_ns);
	e.communication = isnan(lost) ? e.parallel : fmax(clip(1 - lost * shared), e.parallel);
	e.load_balance = e.communication > 0 ? e.parallel / e.communication : NAN;
	if (s->ideal_ns == MODEL_UNKNOWN)
		return e;
	barriers = several_ns ? (double)number_less(s->elapsed_ns, s->ideal_ns) / (double)several_ns
			      : 0;
	e.transfer = fmax(clip(1 - barriers * shared), e.communication);
	e.serialisation = e.transfer > 0 ? e.communication / e.transfer : NAN;
	return e;
}

int positions_efficiency(const struct report_thread *threads, uint32_t n, uint32_t positions,
			 const struct efficiency_sums *sums, struct report_efficiency *out)
{
	struct position *all = calloc(positions + 1u, sizeof(*all));
	uint64_t *shared = calloc(n + 1u, sizeof(*shared));
	uint64_t several = 0, life_ns = 0, single_ns = 0, shared_ns = 0;
	int err = all && shared ? share_lives(threads, n, shared, &several) : -ENOMEM;
	uint32_t i;

	for (i = 0; i < n && !err; i++) {
		const struct report_thread *t = &threads[i];
		uint64_t life = life_of(t), beside = number_less(shared[i], t->away_ns);

		life_ns += life;
		if (t->position == MODEL_NONE)
			continue;
		/* If no two threads ever lived at the same time, use the complete life. */
		if (!several)
			beside = life;
		single_ns += life;
		shared_ns += beside;
		all[t->position].shared_ns += beside;
		all[t->position].lost_ns += number_less(
			life, efficiency_useful(t->work_ns, t->parts.turn_ns, t->parts.begin_ns));
	}
	if (!err)
		/*
		 * Assume that threads that are kept as a sum overlapped other threads as much as
		 * the single threads did.
		 */
		*out = product(sums, life_ns, least_lost(all, positions),
			       single_ns ? (double)shared_ns / (double)single_ns : 0,
			       several ? several : sums->elapsed_ns);
	free(all);
	free(shared);
	return err;
}

int positions_sums(const struct report_thread *threads, uint32_t n, uint32_t positions,
		   struct efficiency_sums *sums)
{
	uint64_t *useful = calloc(positions + 1u, sizeof(*useful));

	if (!useful)
		return -ENOMEM;
	sums->n = positions;
	sums->max_ns = 0;
	array_for_each (t, threads, n) {
		if (t->position == MODEL_NONE)
			continue;
		useful[t->position] +=
			efficiency_useful(t->work_ns, t->parts.turn_ns, t->parts.begin_ns);
		if (useful[t->position] > sums->max_ns)
			sums->max_ns = useful[t->position];
	}
	free(useful);
	return 0;
}
