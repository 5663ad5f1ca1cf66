// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The figures said in a sentence, and what to do about them in another. */
#include "analyse/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	char *buf;
	size_t size, n;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	if (t->n + 1 >= t->size)
		return;
	va_start(args, fmt);
	/* clang-tidy 14 loses sight of va_start() when it is given several files. */
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	n = vsnprintf(t->buf + t->n, t->size - t->n, fmt, args);
	va_end(args);
	if (n > 0)
		t->n += (size_t)n < t->size - t->n ? (size_t)n : t->size - t->n - 1;
}

static int percent(double share)
{
	return isnan(share) ? 0 : (int)(100 * share + 0.5);
}

/* Of the time that a thread spends in phases that end here, what it spends waiting. */
static double wait_share(const struct report_thread *t)
{
	double all;

	if (t->work_ns == REPORT_UNKNOWN)
		return NAN;
	all = (double)t->wait_ns + (double)t->work_ns;
	return all > 0 ? (double)t->wait_ns / all : NAN;
}

/* Threads go by their small numbers within a process; across processes only the tid tells them apart. */
static uint32_t number_of(const struct report_thread *t, bool shared)
{
	return shared || t->index == MODEL_NONE ? t->tid : t->index;
}

static int tid_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* "thread 12", "threads 12-15, 18": at most a few, the rest as a number. */
static void add_threads(struct text *t, uint32_t *tids, uint32_t n)
{
	uint32_t i, j, shown = 0;

	qsort(tids, n, sizeof(*tids), tid_cmp);
	add(t, n == 1 ? "thread " : "threads ");
	for (i = 0; i < n; i = j + 1) {
		for (j = i; j + 1 < n && tids[j + 1] == tids[j] + 1; j++)
			;
		if (shown++ == 3) {
			add(t, " and %u more", n - i);
			return;
		}
		add(t, i ? ", %u" : "%u", tids[i]);
		if (j > i)
			add(t, j == i + 1 ? ", %u" : "-%u", tids[j]);
	}
}

struct group {
	uint32_t *tids;
	uint32_t n;
	double min, max;
};

static void group_add(struct group *g, uint32_t tid, double share)
{
	if (!g->n || share < g->min)
		g->min = share;
	if (!g->n || share > g->max)
		g->max = share;
	g->tids[g->n++] = tid;
}

static void add_group(struct text *t, const struct group *g, const char *verb)
{
	add_threads(t, g->tids, g->n);
	add(t, *verb ? " %s" : "%s", verb);
	if (percent(g->min) == percent(g->max))
		add(t, " %d %%", percent(g->max));
	else
		add(t, " %d-%d %%", percent(g->min), percent(g->max));
}

/* Who idles and who works: the threads that wait for more than the mean share, and the others. */
static void add_idlers(struct text *t, const struct report_thread *threads, uint32_t n, bool shared)
{
	struct group idle = { 0 }, busy = { 0 };
	double mean = 0, share;
	uint32_t i, known = 0;

	for (i = 0; i < n; i++) {
		share = wait_share(&threads[i]);
		if (!isnan(share) && threads[i].tid) {
			mean += share;
			known++;
		}
	}
	if (known < 2)
		return;
	mean /= known;
	idle.tids = calloc(2 * (size_t)known, sizeof(*idle.tids));
	if (!idle.tids)
		return;
	busy.tids = idle.tids + known;
	for (i = 0; i < n; i++) {
		share = wait_share(&threads[i]);
		if (isnan(share) || !threads[i].tid)
			continue;
		group_add(share > mean ? &idle : &busy, number_of(&threads[i], shared), share);
	}
	if (idle.n && busy.n) {
		add(t, "; ");
		add_group(t, &idle, idle.n == 1 ? "waits" : "wait");
		add(t, idle.n == 1 ? " of its time, " : " of their time, ");
		add_group(t, &busy, "");
	}
	free(idle.tids);
}

/* Static, rotating, or both: by the shares of time lost to each. */
static enum report_pattern split(double lost_static, double lost_rotating)
{
	double sum = lost_static + lost_rotating;

	if (isnan(sum) || sum <= 0)
		return REPORT_MIXED_LOSS;
	if (lost_static >= sum * 2 / 3)
		return REPORT_STATIC;
	if (lost_rotating >= sum * 2 / 3)
		return REPORT_ROTATING;
	return REPORT_MIXED_LOSS;
}

static const char *advice(enum report_pattern pattern)
{
	switch (pattern) {
	case REPORT_STATIC:
		return "Divide the work anew: by cost rather than by count, or dealt out in turn "
		       "(cyclic).";
	case REPORT_ROTATING:
		return "Another thread is late each time, so new shares will not help: use fewer "
		       "barriers, or hand out the work dynamically.";
	case REPORT_MIXED_LOSS:
		return "Some threads have more to do, and who is late changes as well: repartition "
		       "first, then try fewer barriers or dynamic scheduling.";
	case REPORT_COSTLY:
		return "The barrier itself is dear: use fewer or cheaper barriers, longer phases, "
		       "and no more threads than CPUs.";
	case REPORT_FEW:
		return "Trace for longer before acting on this.";
	case REPORT_BALANCED:
		break;
	}
	return "";
}

static enum report_pattern barrier_pattern(const struct report_barrier *b)
{
	double lost = isnan(b->imbalance) ? 0 : b->imbalance;
	double release = isnan(b->release_share) ? 0 : b->release_share;

	if (b->episodes < VERDICT_FEW)
		return REPORT_FEW;
	if (lost < VERDICT_LITTLE && release < VERDICT_LITTLE)
		return REPORT_BALANCED;
	if (release > lost)
		return REPORT_COSTLY;
	return split(1 - b->load_balance, b->load_balance * (1 - b->serialisation));
}

static uint32_t last_number(const struct report_barrier *b)
{
	uint32_t i;

	for (i = 0; i < b->nthreads; i++) {
		if (b->threads[i].tid == b->last_tid)
			return number_of(&b->threads[i], b->shared);
	}
	return b->last_tid;
}

static void add_last(struct text *t, const struct report_barrier *b)
{
	/* One among equals comes last that often by chance. */
	if (b->last_tid && b->episodes >= VERDICT_FEW && b->participants &&
	    b->last_share * b->participants > 1.5)
		add(t, "; thread %u comes last most often, %d %% of the time", last_number(b),
		    percent(b->last_share));
}

void verdict_barrier(struct report_barrier *b)
{
	struct text t = { .buf = b->verdict, .size = sizeof(b->verdict) };
	int lost = percent(b->imbalance), release = percent(b->release_share);

	b->pattern = barrier_pattern(b);
	switch (b->pattern) {
	case REPORT_FEW:
		if (!b->episodes)
			add(&t, "No complete episode was seen, so nothing can be said.");
		else
			add(&t,
			    "Rests on %llu complete episode%s only: %d %% of the threads' time "
			    "went into waiting",
			    (unsigned long long)b->episodes, b->episodes == 1 ? "" : "s", lost);
		if (b->episodes)
			add_last(&t, b);
		break;
	case REPORT_BALANCED:
		add(&t,
		    "Balanced: %d %% of the threads' time is lost waiting, %d %% in leaving the "
		    "barrier",
		    lost, release);
		break;
	case REPORT_COSTLY:
		add(&t,
		    "The barrier itself takes %d %% of the threads' time (%.1f \xc2\xb5s a "
		    "crossing "
		    "after the last arrival), waiting for others %d %%",
		    release, b->release_ns.mean / 1000, lost);
		break;
	case REPORT_STATIC:
		add(&t, "Static imbalance: %d %% of the threads' time is lost waiting", lost);
		if (b->last_tid)
			add(&t, "; thread %u is last in %d %% of the episodes", last_number(b),
			    percent(b->last_share));
		add_idlers(&t, b->threads, b->nthreads, b->shared);
		break;
	case REPORT_ROTATING:
		add(&t,
		    "Rotating imbalance: %d %% of the threads' time is lost waiting, for another "
		    "thread each time",
		    lost);
		add_last(&t, b);
		break;
	case REPORT_MIXED_LOSS:
		add(&t,
		    "Imbalance: %d %% of the threads' time is lost waiting, in part always for "
		    "the same threads",
		    lost);
		add_last(&t, b);
		add_idlers(&t, b->threads, b->nthreads, b->shared);
		break;
	}
	if (t.n && t.buf[t.n - 1] != '.')
		add(&t, ".");
	snprintf(b->advice, sizeof(b->advice), "%s", advice(b->pattern));
}

static enum report_pattern process_pattern(const struct report_process *p)
{
	double imbalance = p->lost_static + p->lost_rotating;

	if (p->episodes < VERDICT_FEW || isnan(p->efficiency.parallel))
		return REPORT_FEW;
	if (1 - p->efficiency.parallel < VERDICT_LITTLE)
		return REPORT_BALANCED;
	if (p->lost_transfer > imbalance)
		return REPORT_COSTLY;
	return split(p->lost_static, p->lost_rotating);
}

/* Where most of it is, if one barrier has it. */
static void add_where(struct text *t, const struct report_barrier *top, double share)
{
	if (!top || isnan(share) || share < 0.4)
		return;
	if (share >= 0.995)
		add(t, ", all at %s", top->label);
	else if (share >= 0.9)
		add(t, ", nearly all at %s", top->label);
	else
		add(t, ", %d %% of that at %s", percent(share), top->label);
}

/* Of the time that its threads lived and of which something is known, what they waited. */
static double waiting_share(const struct report_process *p, double *lived)
{
	uint64_t time = p->outside_ns;
	uint32_t i;

	for (i = 0; i < p->nmembers; i++)
		time += p->members[i].idle_ns;
	*lived = p->threads && p->elapsed_ns ? (double)time / ((double)p->elapsed_ns * p->threads)
					     : NAN;
	return time ? (double)p->wait_ns / (double)time : NAN;
}

void verdict_process(struct report_process *p, const struct report_barrier *top, double share)
{
	struct text t = { .buf = p->verdict, .size = sizeof(p->verdict) };
	double lived, share_waiting = waiting_share(p, &lived);
	int waiting = percent(share_waiting);

	p->pattern = process_pattern(p);
	if (p->meets_others) {
		/* Its own efficiencies say nothing of meetings in which other processes take part. */
		p->pattern = share_waiting < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
		add(&t,
		    "%d %% of its threads' time is lost waiting at barriers. It meets other "
		    "processes there: who is late is told at the barrier, not here",
		    waiting);
		add(&t, ".");
		p->advice[0] = '\0';
		return;
	}
	if (p->pattern != REPORT_FEW && lived < VERDICT_LIVED) {
		/*
		 * The efficiencies count the time when a thread does not exist, or nothing is known of it, as lost:
		 * with threads that come and go they say nothing of imbalance.
		 */
		p->pattern = share_waiting < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
		add(&t,
		    "%d %% of the time of its threads, which come and go, is lost waiting at "
		    "barriers",
		    waiting);
		add_where(&t, top, share);
		add(&t, ". The efficiencies below count their absence as lost.");
		p->advice[0] = '\0';
		return;
	}
	switch (p->pattern) {
	case REPORT_FEW:
		add(&t, "Rests on %llu complete episode%s only", (unsigned long long)p->episodes,
		    p->episodes == 1 ? "" : "s");
		if (!isnan(p->efficiency.parallel))
			add(&t, ": %d %% of the threads' time is lost waiting at barriers",
			    waiting);
		break;
	case REPORT_BALANCED:
		add(&t, "Balanced: %d %% of the threads' time is spent outside barriers",
		    percent(p->efficiency.parallel));
		break;
	case REPORT_COSTLY:
		add(&t,
		    "%d %% of the threads' time goes into the barriers themselves, more than into "
		    "waiting for others (%d %%)",
		    percent(p->lost_transfer), waiting);
		break;
	case REPORT_ROTATING:
		add(&t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(&t, top, share);
		add(&t, ": another thread is late each time");
		break;
	case REPORT_STATIC:
		add(&t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(&t, top, share);
		add(&t, ": the same threads always have more to do");
		add_idlers(&t, p->members, p->nmembers, false);
		break;
	case REPORT_MIXED_LOSS:
		add(&t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(&t, top, share);
		add(&t, ": some threads have more to do, and who is late changes as well");
		add_idlers(&t, p->members, p->nmembers, false);
		break;
	}
	if (t.n && t.buf[t.n - 1] != '.')
		add(&t, ".");
	snprintf(p->advice, sizeof(p->advice), "%s", advice(p->pattern));
}
