// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "predict/predict_report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analyse/internal.h"
#include "base/number.h"

#define NOTES_MAX 24
#define AS_FAST	  1.02 /* a time up to this multiple of the shortest time is about as fast */
#define LITTLE	  0.001 /* a time below this share of the recorded time gets no note */

/* --- figures ---------------------------------------------------------------------------------- */

static uint64_t whole(double ns)
{
	return ns >= 0 && ns < 9e18 ? (uint64_t)llround(ns) : REPORT_UNKNOWN;
}

static const char *site_id(const struct prediction_source *s, uint32_t site)
{
	return site < s->nsites ? s->sites[site].id : NULL;
}

static const char *site_label(const struct prediction_source *s, uint32_t site)
{
	if (site < s->nsites)
		return s->sites[site].label;
	if (site < s->in->nsites)
		return "start of a parallel part";
	return site == s->in->nsites ? "after the last barrier" : "one thread alone";
}

static const char *const limits[] = {
	[PREDICT_BY_WORK] = "work",
	[PREDICT_BY_DELAY] = "sleep or I/O",
	[PREDICT_BY_SERIAL] = "a serial part",
	[PREDICT_BY_THREADS] = "too few threads",
	[PREDICT_BY_BALANCE] = "imbalance",
	[PREDICT_BY_BARRIER] = "barriers",
	[PREDICT_BY_ACCESS] = "remote data",
};

static int phase_cmp(const void *a, const void *b)
{
	const struct prediction_phase *x = a, *y = b;

	return NUMBER_COMPARE(y->time_ns, x->time_ns);
}

static int fill_phases(struct arena *a, const struct prediction_source *s,
		       const struct predict_point *pt, struct prediction *out)
{
	uint32_t i;

	out->phases = arena_alloc(a, ((size_t)pt->run.nphases + 1) * sizeof(*out->phases));
	if (!out->phases)
		return -ENOMEM;
	for (i = 0; i < pt->run.nphases; i++) {
		const struct predict_phase *p = &pt->run.phases[i];

		if (!p->episodes || (i == s->in->nsites && p->time_ns < 1))
			continue;
		out->phases[out->nphases++] = (struct prediction_phase){
			.id = site_id(s, i),
			.label = site_label(s, i),
			.episodes = p->episodes,
			.time_ns = whole(p->time_ns),
			.share = pt->run.time_ns > 0 ? p->time_ns / pt->run.time_ns : NAN,
			.work_ns = whole(p->work_ns),
			.wait_ns = whole(p->wait_ns),
			.barrier_ns = whole(p->barrier_ns),
			.access_ns = whole(p->access_ns),
			.queue_ns = whole(p->queue_ns),
		};
	}
	qsort(out->phases, out->nphases, sizeof(*out->phases), phase_cmp);
	return 0;
}

static const char *barrier_model(const struct predict_machine *m)
{
	const struct predict_param *p;

	for (p = predict_params; p->name; p++)
		if (p->offset == offsetof(struct predict_machine, barrier))
			return p->words[(size_t)m->barrier];
	return NULL;
}

static int fill_point(struct arena *a, const struct prediction_source *s, const char *machine,
		      const struct predict_point *pt, struct prediction *out)
{
	*out = (struct prediction){
		.machine = machine,
		.barrier_model = barrier_model(s->machine),
		.processors = pt->processors,
		.threads = s->in->nthreads,
		.time_ns = whole(pt->run.time_ns),
		.speedup = pt->speedup,
		.efficiency = pt->efficiency,
		.limit = site_id(s, pt->limit),
		.limit_label = site_label(s, pt->limit),
		.because = limits[pt->why],
		.balanced_ns = whole(pt->balanced_ns),
		.barrier_free_ns = whole(pt->barrier_free_ns),
		.access_free_ns =
			isnan(pt->access_free_ns) ? REPORT_UNKNOWN : whole(pt->access_free_ns),
	};
	return fill_phases(a, s, pt, out);
}

/* --- notes ------------------------------------------------------------------------------------ */

struct notes {
	struct arena *a;
	uint32_t most;
	struct predictions *out;
	int err;
};

static void note(struct notes *n, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void note(struct notes *n, const char *kind, const char *fmt, ...)
{
	struct prediction_note *to = &n->out->notes[n->out->nnotes];
	char text[1024];
	va_list ap;

	if (n->err || n->out->nnotes == n->most)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	to->kind = kind;
	to->text = arena_string(n->a, text);
	if (!to->text)
		n->err = -ENOMEM;
	else
		n->out->nnotes++;
}

#define WARN(n, ...)   note(n, "warning", __VA_ARGS__)
#define ASSUME(n, ...) note(n, "assumption", __VA_ARGS__)

/* Return whether @ns is large enough for a note, compared with the recorded time of all threads. */
static bool counts(const struct predict_facts *f, uint64_t ns)
{
	return (double)ns >
	       LITTLE * (double)(f->computing_ns + f->delay_ns + f->runq_ns + f->lock_ns);
}

static const char *time_of(char out[32], uint64_t ns)
{
	text_time((int64_t)ns, out);
	return out;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Warn if the order of events could differ on the target, and if parts of the input are unknown. */
static void warn_of_input(struct notes *n, const struct predict_facts *f)
{
	char t[32];

	if (counts(f, f->lock_ns))
		WARN(n,
		     "Threads waited %s for locks (%.0f %% of their computing time). These waits "
		     "are left out, so the predicted times are too short by the lock waits on the "
		     "target, and the order of events could change.",
		     time_of(t, f->lock_ns),
		     100 * (double)f->lock_ns / fmax((double)f->computing_ns, 1));
	if (f->tasks)
		WARN(n,
		     "Threads run tasks in the barriers of %u process%s. Their computing there is "
		     "unknown "
		     "and left out, so the times are too short, and the limit may be a different "
		     "one.",
		     f->tasks, f->tasks == 1 ? "" : "es");
	if (f->rivals)
		WARN(n,
		     "The last arriver of %llu episode%s is uncertain: the order of events could "
		     "differ.",
		     (unsigned long long)f->rivals, plural(f->rivals));
	if (f->ambiguous)
		WARN(n,
		     "The members of %llu episode%s are a guess (more threads than the barrier's "
		     "count): on the target, other threads could be the members.",
		     (unsigned long long)f->ambiguous, plural(f->ambiguous));
	if (f->left_out)
		WARN(n,
		     "%llu incomplete episode%s left out: no thread waits there in the prediction.",
		     (unsigned long long)f->left_out, f->left_out == 1 ? " is" : "s are");
	if (f->strangers)
		WARN(n,
		     "%llu remote access%s left out, because the thread that owns the data is "
		     "unknown (SBT_THREAD gives a thread its number).",
		     (unsigned long long)f->strangers, f->strangers == 1 ? " is" : "es are");
	if (f->unknown)
		WARN(n, "%llu phase%s of unknown duration %s as 0.", (unsigned long long)f->unknown,
		     plural(f->unknown), f->unknown == 1 ? "counts" : "count");
	if (f->wall_ns)
		WARN(n,
		     "%s of the computing is wall-clock time, which includes waiting for a CPU. "
		     "Record without --no-causes.",
		     time_of(t, f->wall_ns));
	if (counts(f, f->unattributed_ns))
		WARN(n, "%s of thread time could not be attributed, and is left out.",
		     time_of(t, f->unattributed_ns));
}

static void warn_of_use(struct notes *n, const struct prediction_source *s)
{
	const struct predict_result *r = s->result;

	if (r->n && r->points[r->n - 1].processors > s->in->nthreads)
		WARN(n,
		     "The recorded %u thread%s cannot use more than %u processor%s. A run with "
		     "more threads would divide the work differently.",
		     s->in->nthreads, plural(s->in->nthreads), s->in->nthreads,
		     plural(s->in->nthreads));
}

static void assume_threads(struct notes *n, const struct prediction_source *s)
{
	static const char *const how[] = {
		"any free processor runs the next ready thread",
		"each processor has a fixed block of threads",
		"threads are assigned to processors round-robin and stay there",
	};
	const struct predict_machine *m = s->machine;
	char quantum[32];

	ASSUME(n,
	       "The prediction is for the %u thread%s that crossed barriers. Each does on the "
	       "target what it did in the recorded run, in the same order. On the target, work "
	       "that is distributed at run time may go to other threads.",
	       s->in->nthreads, plural(s->in->nthreads));
	ASSUME(n,
	       "Computing takes %g times as long as recorded (MipsRatio), whatever runs at the "
	       "same time: shared caches and memory, and hardware threads of one core, are not "
	       "modelled.",
	       m->mips_ratio);
	/*
	 * Only times were recorded, perhaps on few processors, so it is unknown which processor
	 * owned a cache line.
	 */
	ASSUME(n, "Shared memory costs no more on the target: a recording does not show the time "
		  "to move cache lines between processors.");
	if (m->quantum > 0)
		ASSUME(n,
		       "With fewer processors than threads, %s, in turns of %s. A thread that "
		       "waits at a barrier leaves its processor to other threads.",
		       how[(size_t)m->scheduler], time_of(quantum, whole(m->quantum)));
	else
		ASSUME(n, "With fewer processors than threads, %s, until the thread waits.",
		       how[(size_t)m->scheduler]);
}

static void assume_times(struct notes *n, const struct predict_facts *f)
{
	char t[32], u[32];

	if (f->cost_known)
		ASSUME(n,
		       "The cost of tracing (%s, from the cost of a crossing) is subtracted from "
		       "the computing.",
		       time_of(t, f->cost_ns));
	else
		ASSUME(n, "The cost of tracing is unknown, and computing times still include it.");
	ASSUME(n, "Waiting for a CPU in the recorded run (%s) is dropped.", time_of(t, f->runq_ns));
	if (f->delay_ns)
		ASSUME(n,
		       "Sleep, I/O and page faults (%s) take as long on the target, without a "
		       "processor.",
		       time_of(t, f->delay_ns));
	if (f->steal_ns || f->throttled_ns)
		ASSUME(n, "Steal time (%s) and cgroup throttling (%s) are dropped.",
		       time_of(t, f->steal_ns), time_of(u, f->throttled_ns));
	if (f->before_ns + f->after_ns > 0)
		ASSUME(n,
		       "For %s before the barrier threads began, and %s after they had ended, "
		       "one thread was alone: all of that time counts as computing on one "
		       "processor.",
		       time_of(t, f->before_ns), time_of(u, f->after_ns));
	if (f->windowed)
		ASSUME(n,
		       "Only a part of the recording is used: what %u thread%s did before its "
		       "first episode, and everything after its last episode, is left out.",
		       f->cut, plural(f->cut));
	if (f->detached)
		ASSUME(n,
		       "%u process%s not traced to %s end (--cost-limit): the prediction is for "
		       "the traced time only, as if the run had ended when tracing stopped.",
		       f->detached, f->detached == 1 ? " was" : "es were",
		       f->detached == 1 ? "its" : "their");
	if (f->detached_parts)
		ASSUME(n,
		       "Some barriers of %u process%s were not traced to the end (--cost-limit): "
		       "later work and waits there count as computing.",
		       f->detached_parts, f->detached_parts == 1 ? "" : "es");
	if (f->forks)
		ASSUME(n,
		       "%llu start%s of a parallel part %s not recorded, but guessed: before each "
		       "start, one thread computes and the other threads wait.",
		       (unsigned long long)f->forks, plural(f->forks),
		       f->forks == 1 ? "was" : "were");
}

static void assume_machine(struct notes *n, const struct prediction_source *s)
{
	const struct predict_machine *m = s->machine;
	const char *model = barrier_model(m);
	bool data = s->result->n && !isnan(s->result->points[0].access_free_ns);

	ASSUME(n, "Barriers follow the model %s%s, with the parameters of machine %s.", model,
	       m->by_msgs != 0 ? ", with messages" : "", m->name);
	if (s->facts->messages)
		ASSUME(n,
		       "%llu remote reads and writes, from the program's markers (SBT_READ, "
		       "SBT_WRITE).",
		       (unsigned long long)s->facts->messages);
	if (data)
		ASSUME(n, "Data are at the processor that a fixed distribution gives their thread. "
			  "Messages share the network by a factor (Contention): no link is "
			  "simulated.");
	else
		ASSUME(n, "The recording has no remote data (the program has no SBT_READ and "
			  "SBT_WRITE): they cost nothing here.");
}

static int fill_notes(struct arena *a, const struct prediction_source *s, struct predictions *out)
{
	struct notes n = { .a = a, .most = NOTES_MAX, .out = out };

	out->notes = arena_alloc(a, NOTES_MAX * sizeof(*out->notes));
	if (!out->notes)
		return -ENOMEM;
	warn_of_input(&n, s->facts);
	warn_of_use(&n, s);
	assume_threads(&n, s);
	assume_times(&n, s->facts);
	assume_machine(&n, s);
	return n.err;
}

/* --- one recording ---------------------------------------------------------------------------- */

static uint32_t find_best(const struct predictions *p)
{
	uint32_t i, fastest = 0;

	for (i = 1; i < p->n; i++)
		if (p->all[i].time_ns < p->all[fastest].time_ns)
			fastest = i;
	for (i = 0; i < fastest; i++)
		if ((double)p->all[i].time_ns <= AS_FAST * (double)p->all[fastest].time_ns)
			return i;
	return fastest;
}

int predictions_build(const struct prediction_source *s, struct predictions *out)
{
	struct arena *a = arena_new();
	const char *machine;
	uint32_t i;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (!a)
		return -ENOMEM;
	out->arena = a;
	out->serial_ns = whole(s->result->serial_ns);
	out->ideal_ns = whole(s->result->ideal_ns);
	out->recorded_ns = s->facts->recorded_ns;
	machine = arena_string(a, s->machine->name);
	out->all = arena_alloc(a, ((size_t)s->result->n + 1) * sizeof(*out->all));
	if (!machine || !out->all)
		err = -ENOMEM;
	for (i = 0; i < s->result->n && !err; i++)
		err = fill_point(a, s, machine, &s->result->points[i], &out->all[out->n++]);
	if (!err)
		err = fill_notes(a, s, out);
	if (err) {
		predictions_free(out);
		return err;
	}
	out->recordings = 1;
	out->best = find_best(out);
	return 0;
}

/* --- several recordings ----------------------------------------------------------------------- */

static int point_cmp(const void *a, const void *b)
{
	const struct prediction *x = a, *y = b;

	if (x->threads != y->threads)
		return NUMBER_COMPARE(x->threads, y->threads);
	if (x->processors != y->processors)
		return NUMBER_COMPARE(x->processors, y->processors);
	return strcmp(x->recording, y->recording);
}

static bool says(const struct predictions *p, const struct prediction_note *note)
{
	uint32_t i;

	for (i = 0; i < p->nnotes; i++)
		if (!strcmp(p->notes[i].text, note->text))
			return true;
	return false;
}

/*
 * Add a note of @of[@which]. A note that all predictions have is added once, for the first
 * prediction.
 */
static void join_note(struct notes *n, const struct predictions *of, const char *const *names,
		      uint32_t count, uint32_t which, const struct prediction_note *text)
{
	uint32_t i, all = 0;

	for (i = 0; i < count; i++)
		all += says(&of[i], text);
	if (all == count && !which)
		note(n, text->kind, "%s", text->text);
	else if (all < count)
		note(n, text->kind, "%s: %s", names[which], text->text);
}

static void join_notes(struct notes *n, const struct predictions *of, const char *const *names,
		       uint32_t count, const char *kind)
{
	uint32_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < of[i].nnotes; k++)
			if (!strcmp(of[i].notes[k].kind, kind))
				join_note(n, of, names, count, i, &of[i].notes[k]);
}

/*
 * Join the points. Their speedup is relative to one processor in the recording with the fewest
 * threads.
 */
static void join_points(const struct predictions *of, const char *const *names, uint32_t n,
			struct predictions *out)
{
	uint32_t i, k, fewest = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; k < of[i].n; k++) {
			out->all[out->n] = of[i].all[k];
			out->all[out->n++].recording = names[i];
		}
		if (of[i].n && (!of[fewest].n || of[i].all[0].threads < of[fewest].all[0].threads))
			fewest = i;
	}
	qsort(out->all, out->n, sizeof(*out->all), point_cmp);
	out->serial_ns = of[fewest].serial_ns;
	out->recorded_ns = of[fewest].recorded_ns;
	out->ideal_ns = REPORT_UNKNOWN;
	array_for_each (p, out->all, out->n) {
		p->speedup = p->time_ns ? (double)out->serial_ns / (double)p->time_ns : NAN;
		p->efficiency = p->speedup / p->processors;
	}
}

int predictions_join(const struct predictions *of, const char *const *names, uint32_t n,
		     struct predictions *out)
{
	struct notes notes = { .out = out };
	uint32_t i, points = 0;

	memset(out, 0, sizeof(*out));
	out->arena = notes.a = arena_new();
	if (!out->arena)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		points += of[i].n;
		notes.most += of[i].nnotes;
	}
	out->recordings = n;
	out->all = arena_alloc(out->arena, ((size_t)points + 1) * sizeof(*out->all));
	out->notes = arena_alloc(out->arena, ((size_t)notes.most + 1) * sizeof(*out->notes));
	if (!out->all || !out->notes) {
		predictions_free(out);
		return -ENOMEM;
	}
	join_points(of, names, n, out);
	join_notes(&notes, of, names, n, "warning");
	join_notes(&notes, of, names, n, "assumption");
	if (notes.err) {
		predictions_free(out);
		return notes.err;
	}
	out->best = find_best(out);
	return 0;
}

void predictions_free(struct predictions *p)
{
	arena_free(p->arena);
	memset(p, 0, sizeof(*p));
}
