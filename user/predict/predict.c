// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * For each number of processors, simulate the run and its variants (what-ifs), and find the limit.
 */
#include "predict/predict_internal.h"

#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A change that gains less than this share of a phase does not show the phase's limit. */
#define LITTLE 0.02
/* A phase is limited by sleep if it would be shorter by more than this share without sleep. */
#define MOST   0.5
/* A phase is serial if, on average, fewer threads than this compute in it. */
#define SERIAL 1.25

/* --- changed inputs --------------------------------------------------------------------------- */

static bool accesses(const struct predict_step *s)
{
	return s->op == PREDICT_READ || s->op == PREDICT_WRITE;
}

static bool computes(const struct predict_step *s)
{
	return s->op != PREDICT_DELAY;
}

static bool sleeps(const struct predict_step *s)
{
	return s->op == PREDICT_DELAY;
}

static bool has_steps(const struct predict_input *in, bool (*is)(const struct predict_step *s))
{
	array_for_each (t, in->threads, in->nthreads)
		array_for_each (step, t->steps, t->n)
			if (is(step))
				return true;
	return false;
}

/*
 * Call @each for every thread and every interval that ends at one of its episodes. @steps[@n] are
 * the steps since the preceding episode, including the arrival at this episode. @sum is the time of
 * the steps for which @counts returns true.
 */
static void each_interval(struct predict_input *in, double *mean,
			  void (*each)(struct predict_input *in, struct predict_step *steps,
				       uint64_t n, double sum, double *mean),
			  bool (*counts)(const struct predict_step *s))
{
	uint64_t k, from;
	double work;

	array_for_each (t, in->threads, in->nthreads) {
		work = 0;
		for (k = from = 0; k < t->n; k++) {
			if (counts(&t->steps[k]))
				work += (double)t->steps[k].ns;
			if (t->steps[k].op != PREDICT_MEET)
				continue;
			each(in, &t->steps[from], k + 1 - from, work, mean);
			from = k + 1;
			work = 0;
		}
	}
}

static void add_mean(struct predict_input *in, struct predict_step *steps, uint64_t n, double work,
		     double *mean)
{
	uint32_t episode = steps[n - 1].what;

	mean[episode] += work / in->episodes[episode].n;
}

static void set_mean(struct predict_input *in, struct predict_step *steps, uint64_t n, double work,
		     double *mean)
{
	double wanted = mean[steps[n - 1].what];
	uint64_t k;

	(void)in;
	if (work <= 0) {
		steps[n - 1].ns = (uint64_t)llround(wanted);
		return;
	}
	for (k = 0; k < n; k++)
		if (computes(&steps[k]))
			steps[k].ns = (uint64_t)llround((double)steps[k].ns * wanted / work);
}

/*
 * Do the same as set_mean() for delays. The first delay of the interval gets the mean, and the
 * others get 0. copy_steps() has made sure that there is a delay.
 */
static void set_mean_delay(struct predict_input *in, struct predict_step *steps, uint64_t n,
			   double delay, double *mean)
{
	double wanted = mean[steps[n - 1].what];

	(void)in;
	(void)delay;
	array_for_each (s, steps, n) {
		if (!sleeps(s))
			continue;
		s->ns = (uint64_t)llround(wanted);
		wanted = 0;
	}
}

/*
 * Copy a thread's steps. If @room is set, add a delay of 0 to each interval without a delay, so
 * that set_mean_delay() can set it. Return 0 or -ENOMEM.
 */
static int copy_steps(const struct predict_thread *from, bool room, struct predict_thread *to)
{
	uint64_t k, extra = 0;
	bool slept = false;

	for (k = 0; room && k < from->n; k++)
		extra += from->steps[k].op == PREDICT_MEET;
	to->steps = calloc(from->n + extra + 1, sizeof(*to->steps));
	if (!to->steps)
		return -ENOMEM;
	for (k = 0; k < from->n; k++) {
		slept = slept || sleeps(&from->steps[k]);
		if (from->steps[k].op == PREDICT_MEET) {
			if (room && !slept)
				to->steps[to->n++].op = PREDICT_DELAY;
			slept = false;
		}
		to->steps[to->n++] = from->steps[k];
	}
	return 0;
}

/* Copy @in and its steps with copy_steps(). Return 0 or -ENOMEM. */
static int copy_input(const struct predict_input *in, bool room, struct predict_input *out)
{
	*out = (struct predict_input){ .nsites = in->nsites,
				       .nepisodes = in->nepisodes,
				       .before_ns = in->before_ns,
				       .after_ns = in->after_ns };
	out->threads = calloc((size_t)in->nthreads + 1, sizeof(*out->threads));
	out->episodes = calloc((size_t)in->nepisodes + 1, sizeof(*out->episodes));
	if (!out->threads || !out->episodes)
		return -ENOMEM;
	if (in->nepisodes)
		memcpy(out->episodes, in->episodes, in->nepisodes * sizeof(*out->episodes));
	array_for_each (t, in->threads, in->nthreads)
		if (copy_steps(t, room, &out->threads[out->nthreads++]))
			return -ENOMEM;
	return 0;
}

/*
 * Make a copy in which all members of an episode compute for the same time, and sleep for the same
 * time, before the episode. Return 0 or -ENOMEM.
 */
static int balance(const struct predict_input *in, struct predict_input *out)
{
	double *mean = calloc((size_t)in->nepisodes + 1, sizeof(*mean));
	int err = mean ? copy_input(in, has_steps(in, sleeps), out) : -ENOMEM;

	if (err)
		goto out;
	each_interval(out, mean, add_mean, computes);
	each_interval(out, mean, set_mean, computes);
	memset(mean, 0, ((size_t)in->nepisodes + 1) * sizeof(*mean));
	each_interval(out, mean, add_mean, sleeps);
	each_interval(out, mean, set_mean_delay, sleeps);
out:
	free(mean);
	if (err)
		predict_input_free(out);
	return err;
}

/* Make a copy in which no thread sleeps. Return 0 or -ENOMEM. */
static int awaken(const struct predict_input *in, struct predict_input *out)
{
	int err = copy_input(in, false, out);
	uint64_t k;
	uint32_t i;

	for (i = 0; !err && i < out->nthreads; i++)
		for (k = 0; k < out->threads[i].n; k++)
			if (sleeps(&out->threads[i].steps[k]))
				out->threads[i].steps[k].ns = 0;
	if (err)
		predict_input_free(out);
	return err;
}

/* --- limits ----------------------------------------------------------------------------------- */

struct what_if {
	const struct predict_input *in, *balanced;
	const struct predict_input *awake; /* NULL if no thread sleeps in `in` */
	struct predict_machine barrier_free, access_free;
	bool accesses;
};

/*
 * Return the site where most processor time is lost. If hardly any is lost, return the site with
 * the longest phases.
 */
static uint32_t limiting(const struct predict_run *run, uint32_t processors)
{
	uint32_t i, most = 0, longest = 0;
	double lost, most_lost = -INFINITY;

	for (i = 0; i < run->nphases; i++) {
		const struct predict_phase *p = &run->phases[i];

		lost = processors * p->time_ns - p->work_ns;
		if (lost > most_lost) {
			most_lost = lost;
			most = i;
		}
		if (p->time_ns > run->phases[longest].time_ns)
			longest = i;
	}
	return most_lost > LITTLE * processors * run->time_ns ? most : longest;
}

/*
 * Simulate a changed input or machine. Set *time_ns to the time of the run, and *gain to the time
 * by which the limiting phase is shorter. Return the same as predict_simulate().
 */
static int gain_of(const struct predict_input *in, const struct predict_machine *m,
		   const struct predict_point *pt, uint64_t *events, double *time_ns, double *gain)
{
	struct predict_run run;
	int err = predict_simulate(in, m, pt->processors, NULL, NULL, &run);

	if (err)
		return err;
	*time_ns = run.time_ns;
	*gain = pt->run.phases[pt->limit].time_ns - run.phases[pt->limit].time_ns;
	*events += run.events;
	predict_run_free(&run);
	return 0;
}

static void note_gain(struct predict_point *pt, double gain, double *best, enum predict_limit why)
{
	if (gain <= *best)
		return;
	*best = gain;
	pt->why = why;
}

/* Return the limit of a phase that no change makes faster. */
static enum predict_limit by_itself(const struct predict_point *pt, const struct what_if *w,
				    bool delay)
{
	const struct predict_phase *p = &pt->run.phases[pt->limit];

	if (delay)
		return PREDICT_BY_DELAY;
	if (pt->processors > 1 && p->work_ns < SERIAL * p->time_ns)
		return PREDICT_BY_SERIAL;
	return pt->processors > w->in->nthreads ? PREDICT_BY_THREADS : PREDICT_BY_WORK;
}

static int what_if(const struct what_if *w, const struct predict_machine *m,
		   struct predict_point *pt, uint64_t *events)
{
	double time = pt->run.phases[pt->limit].time_ns, best = LITTLE * time, gain = 0, awake_ns;
	int err = 0;

	if (w->awake)
		err = gain_of(w->awake, m, pt, events, &awake_ns, &gain);
	if (err)
		return err;
	pt->why = by_itself(pt, w, w->awake && gain > MOST * time);
	err = gain_of(w->balanced, m, pt, events, &pt->balanced_ns, &gain);
	if (err)
		return err;
	note_gain(pt, gain, &best, PREDICT_BY_BALANCE);
	err = gain_of(w->in, &w->barrier_free, pt, events, &pt->barrier_free_ns, &gain);
	if (err)
		return err;
	note_gain(pt, gain, &best, PREDICT_BY_BARRIER);
	pt->access_free_ns = NAN;
	if (!w->accesses)
		return 0;
	err = gain_of(w->in, &w->access_free, pt, events, &pt->access_free_ns, &gain);
	if (!err)
		note_gain(pt, gain, &best, PREDICT_BY_ACCESS);
	return err;
}

/* --- all numbers of processors ---------------------------------------------------------------- */

static int one_point(const struct what_if *w, const struct predict_machine *m, uint32_t processors,
		     struct predict_result *out, struct predict_point *pt)
{
	int err;

	pt->processors = processors;
	err = predict_simulate(w->in, m, processors, NULL, NULL, &pt->run);
	if (err)
		return err;
	out->events += pt->run.events;
	pt->speedup = pt->run.time_ns > 0 ? out->serial_ns / pt->run.time_ns : NAN;
	pt->efficiency = pt->speedup / processors;
	pt->limit = limiting(&pt->run, processors);
	return what_if(w, m, pt, &out->events);
}

static int serial_time(const struct predict_input *in, const struct predict_machine *m,
		       struct predict_result *out)
{
	struct predict_run run;
	int err = predict_simulate(in, m, 1, NULL, NULL, &run);

	if (err)
		return err;
	out->serial_ns = run.time_ns;
	out->work_ns = run.work_ns / m->mips_ratio;
	out->events += run.events;
	predict_run_free(&run);
	return 0;
}

int predict_run_all(const struct predict_input *in, const struct predict_machine *m,
		    const uint32_t *processors, uint32_t n, struct predict_result *out)
{
	struct predict_input balanced = { 0 }, awake = { 0 };
	struct what_if w = {
		.in = in, .balanced = &balanced, .barrier_free = *m, .access_free = *m
	};
	uint32_t i;
	int err;

	memset(out, 0, sizeof(*out));
	w.barrier_free.barrier = PREDICT_FREE;
	w.access_free.access_free = true;
	w.accesses = has_steps(in, accesses);
	err = predict_translate(in, NULL, &out->ideal_ns);
	if (!err)
		err = serial_time(in, m, out);
	if (!err)
		err = balance(in, &balanced);
	if (!err && has_steps(in, sleeps)) {
		err = awaken(in, &awake);
		w.awake = &awake;
	}
	if (err) {
		predict_input_free(&balanced);
		return err;
	}
	out->points = calloc((size_t)n + 1, sizeof(*out->points));
	err = out->points ? 0 : -ENOMEM;
	for (i = 0; i < n && !err; i++) {
		out->n++;
		err = one_point(&w, m, processors[i], out, &out->points[i]);
	}
	predict_input_free(&balanced);
	predict_input_free(&awake);
	if (err)
		predict_result_free(out);
	return err;
}

void predict_result_free(struct predict_result *r)
{
	array_for_each (p, r->points, r->n)
		predict_run_free(&p->run);
	free(r->points);
	memset(r, 0, sizeof(*r));
}

/* --- lists of numbers ------------------------------------------------------------------------- */

uint32_t predict_counts(uint32_t threads, uint32_t *out, uint32_t max)
{
	uint32_t n = 0, p;

	for (p = 1; n < max && p <= PREDICT_PROCESSORS_MAX; p *= 2) {
		if (n && threads > out[n - 1] && threads < p)
			out[n++] = threads;
		if (n == max)
			break;
		out[n++] = p;
		if (p > threads)
			break;
	}
	return n;
}

static int parse_count(const char **s, uint32_t *out)
{
	unsigned long v;
	char *end;

	if (**s < '0' || **s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(*s, &end, 10);
	if (errno || !v || v > PREDICT_PROCESSORS_MAX)
		return -EINVAL;
	*s = end;
	*out = (uint32_t)v;
	return 0;
}

int predict_counts_parse(const char *s, uint32_t *out, uint32_t max)
{
	uint32_t n = 0, kept = 0, i, from, to;

	do {
		if (parse_count(&s, &from))
			return -EINVAL;
		to = from;
		if (*s == '-') {
			s++;
			if (parse_count(&s, &to) || to < from)
				return -EINVAL;
		}
		for (; from <= to; from++) {
			if (n == max)
				return -E2BIG;
			out[n++] = from;
		}
	} while (*s++ == ',');
	if (s[-1])
		return -EINVAL;
	qsort(out, n, sizeof(*out), number_compare_u32);
	for (i = 0; i < n; i++)
		if (!kept || out[i] != out[kept - 1])
			out[kept++] = out[i];
	return (int)kept;
}
