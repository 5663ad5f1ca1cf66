// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Arrange the model's figures in the order in which people read them. */
#include "analyse/conceptual.h"
#include "analyse/cost.h"
#include "analyse/hang_report.h"
#include "analyse/internal.h"
#include "analyse/activity.h"
#include "analyse/places.h"
#include "analyse/openmp.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/in_line.h"
#include "base/number.h"
#include "sbt/record.h"
#include "sites/family.h"

/* The phases of a thread may exceed those of its episodes by this factor: see barrier_least(). */
#define LEAST_WITHIN 1.02

struct build {
	struct arena *arena;
	const struct model *model;
	const struct report_env *env;
	struct report *out;
	struct name_table ids;
	struct model_proc *procs; /* state at the end of the report; indexed as in the model */
	struct model_thread *threads; /* state at the end of the report; indexed as in the model */
	uint32_t *position; /* indexed by thread; MODEL_NONE if not assigned yet */
	uint32_t npositions; /* number of positions of all processes */
	struct efficiency_work *scratch; /* indexed by position, zeroed between uses */
};

struct report_times report_times(struct arena *a, const struct model_stat *s, int *err)
{
	uint32_t *hist;

	if (!s->n)
		return TIMES_UNKNOWN;
	hist = arena_alloc(a, sizeof(s->hist));
	if (hist)
		memcpy(hist, s->hist, sizeof(s->hist));
	else
		*err = -ENOMEM;
	return (struct report_times){
		.n = s->n,
		.sum = s->sum,
		.min = s->min,
		.max = s->max,
		.mean = s->mean,
		.stddev = model_stat_stddev(s),
		.hist = hist,
	};
}

static double share_of(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

static double at_most_one(double share)
{
	return share > 1 ? 1 : share;
}

/* --- barriers -------------------------------------------------------------------------------- */

static const char *thread_comm(struct build *b, const struct model_thread *t, int *err)
{
	char *s;

	if (!t->comm[0])
		return NULL;
	s = arena_string(b->arena, t->comm);
	if (!s)
		*err = -ENOMEM;
	return s;
}

static void fill_sums(struct build *b, const struct model_sums *s, struct report_thread *out,
		      int *err)
{
	out->parts = parts_of(s);
	out->ncounters = parts_counters_n(b->env);
	out->counters = counters_of(b->arena, b->env, s, err);
}

static int thread_cmp(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	return NUMBER_COMPARE(x->index, y->index);
}

bool report_ranked(const struct report_thread *threads, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!threads[i].ranked || (i && threads[i].index == threads[i - 1].index))
			return false;
	return n > 0;
}

int threads_by_index(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	return x->index != y->index ? NUMBER_COMPARE(x->index, y->index)
				    : NUMBER_COMPARE(x->tid, y->tid);
}

static int barrier_threads(struct build *b, const struct model_barrier *mb,
			   struct report_barrier *out)
{
	const struct model_thread *t;
	struct report_thread *rt;
	int err = 0;

	out->threads = arena_alloc(b->arena, (mb->nthreads + 1) * sizeof(*out->threads));
	if (!out->threads)
		return -ENOMEM;
	array_for_each (bt, mb->threads, mb->nthreads) {
		rt = &out->threads[out->nthreads++];
		*rt = (struct report_thread){
			.index = MODEL_NONE,
			.crossings = bt->crossings,
			.wait_ns = bt->wait_ns,
			.wait_max_ns = bt->wait_max_ns,
			.waits = bt->waits,
			.wait_squares = bt->wait_squares,
			.idle_ns = bt->undeparted ? REPORT_UNKNOWN : bt->idle_ns,
			.work_ns = bt->work_n ? bt->work_ns : REPORT_UNKNOWN,
			.last = bt->last,
			.last_share = share_of((double)bt->last, (double)mb->episodes),
		};
		if (bt->thread != MODEL_NONE) {
			t = &b->threads[bt->thread];
			rt->tid = t->tid;
			/*
			 * Prefer the number at this barrier. The threads of an MPI rank may have
			 * other numbers at their own barriers.
			 */
			rt->index = bt->place != MODEL_NONE  ? bt->place
				    : t->place != MODEL_NONE ? t->place
							     : t->ordinal;
			rt->comm = thread_comm(b, t, &err);
			rt->ranked =
				family_has(mb->family, FAMILY_RANKS) && bt->place != MODEL_NONE;
		}
		fill_sums(b, &bt->sums, rt, &err);
		if (bt->thread != MODEL_NONE && bt->last > out->last_count) {
			out->last_tid = rt->tid;
			out->last_index = rt->index;
			out->last_known = true;
			out->last_comm = rt->comm;
			out->last_count = bt->last;
			out->last_share = rt->last_share;
		}
	}
	qsort(out->threads, out->nthreads, sizeof(*out->threads), thread_cmp);
	out->ranked = mb->shared && report_ranked(out->threads, out->nthreads);
	return err;
}

/*
 * Return phase time x members, summed over the episodes that end at this barrier and have a known
 * phase. Set *wait to the waits in these episodes.
 */
static uint64_t thread_time(const struct model_barrier *mb, uint64_t *wait)
{
	uint64_t sum = 0;

	*wait = 0;
	if (mb->summed) {
		*wait = mb->wait.sum;
		return mb->summed_thread_ns;
	}
	array_for_each (p, mb->phases, mb->nphases) {
		sum += p->thread_ns;
		*wait += p->wait_ns;
	}
	return sum;
}

static void barrier_longest(struct build *b, const struct model_barrier *mb,
			    struct report_barrier *out)
{
	uint32_t i;

	for (i = 0; i < MODEL_LONGEST && mb->longest[i].phase_ns; i++) {
		out->longest[i] = mb->longest[i];
		out->longest[i].release_ns -= b->out->start_ns;
	}
	out->nlongest = i;
}

/*
 * Set the cause of the barrier's late episodes, where their additional work was, the delay costs,
 * and the counters of its threads.
 */
static int barrier_causes(struct build *b, const struct model_barrier *mb,
			  struct report_barrier *out)
{
	const struct causes *causes = b->env->causes;
	double weight[CAUSE_KINDS], lost, thread_ns;
	struct model_sums sums = { 0 };
	struct places_words where;
	int err = 0;

	array_for_each (t, mb->threads, mb->nthreads)
		model_sums_join(&sums, &t->sums);
	out->ncounters = parts_counters_n(b->env);
	out->counters = counters_of(b->arena, b->env, &sums, &err);
	out->cause.share = NAN;
	out->delay_direct_ns = out->delay_passed_ns = REPORT_UNKNOWN;
	if (err || !causes)
		return err;
	if (!mb->nested)
		delay_of(causes_delay(causes), out->index, &out->delay_direct_ns,
			 &out->delay_passed_ns);
	causes_weights(causes, out->index, weight, &lost, &thread_ns);
	/* In a balanced barrier, chance decides which thread is late, and where it was. */
	if (lost >= VERDICT_LITTLE * thread_ns)
		err = places_of(causes_places(causes), out->index, verdict_alike(out), b->env,
				b->arena, &out->places);
	if (!err && b->env->functions)
		err = places_functions(causes_places(causes), out->index, b->env, b->arena,
				       &out->functions, &out->nfunctions);
	if (err)
		return err;
	places_words(&out->places, &where);
	return causes_site(causes, out->index, b->arena, &where, &out->cause);
}

/*
 * Set the times that the phases need at least, by the work of the threads on CPUs. This is known if
 * the same threads cross the barrier in all episodes, and if the phases of each of them are the
 * phases of the episodes.
 */
static void barrier_least(const struct report_env *env, struct report_barrier *out)
{
	uint64_t sum = 0, most = 0, phases = out->phase_ns.n ? out->phase_ns.sum : 0, even;
	uint32_t at_once = out->participants < env->ncpus ? out->participants : env->ncpus;

	if (!at_once || out->nthreads != out->participants)
		return;
	array_for_each (t, out->threads, out->nthreads) {
		uint64_t ns = t->parts.oncpu_ns;

		if (ns == REPORT_UNKNOWN || t->work_ns == REPORT_UNKNOWN ||
		    (double)t->work_ns + (double)t->wait_ns > LEAST_WITHIN * (double)phases)
			return;
		sum += ns;
		most = ns > most ? ns : most;
	}
	even = sum / at_once;
	out->cpu_even_ns = even;
	out->cpu_least_ns = even > most ? even : most;
}

static bool has_tasks(const struct build *b, const struct model_proc *p)
{
	return b->env->tasks && b->env->tasks(b->env->ctx, p);
}

static int barrier_fill(struct build *b, uint32_t index, struct report_barrier *out)
{
	const struct model_barrier *mb = model_barrier(b->model, index);
	uint64_t elapsed = b->procs[mb->proc].elapsed_ns, time, wait;
	int err = name_barrier(b->arena, b->model, b->env, b->ids.ids[index], index, out);

	if (err)
		return err;
	detached_barrier(&b->procs[mb->proc], mb, out);
	out->episodes = mb->episodes;
	out->incomplete = mb->incomplete;
	out->ambiguous = mb->ambiguous;
	out->crossings = mb->crossings;
	out->unmet = mb->unmet;
	out->summed = mb->summed;
	out->participants = mb->team_max;
	out->participants_min = mb->episodes ? mb->team_min : 0;
	out->phase_ns = report_times(b->arena, &mb->phase, &err);
	out->barrier_ns = report_times(b->arena, &mb->barrier, &err);
	out->wait_ns = report_times(b->arena, &mb->wait, &err);
	out->release_ns = report_times(b->arena, &mb->release, &err);
	out->lost_ns = mb->wait.sum;
	out->last_share = NAN;
	if (!err)
		err = barrier_threads(b, mb, out);
	if (err)
		return err;
	/* Without the waits, each member would be faster by the sum of the waits / members. */
	out->gain_ns = mb->team_max ? mb->wait.sum / mb->team_max : 0;
	out->share = mb->phase.n ? share_of((double)mb->phase.sum, (double)elapsed) : NAN;
	time = thread_time(mb, &wait);
	out->imbalance = at_most_one(share_of((double)wait, (double)time));
	out->release_share = at_most_one(share_of((double)mb->release.sum, (double)time));
	efficiency_barrier(mb, b->position, b->scratch, &out->load_balance, &out->serialisation);
	barrier_longest(b, mb, out);
	barrier_least(b->env, out);
	err = barrier_causes(b, mb, out);
	if (!err)
		verdict_barrier(out);
	if (!err && openmp_is_barrier(mb) && has_tasks(b, &b->procs[mb->proc]))
		tasks_barrier(out);
	return err;
}

static int barrier_cmp(const void *a, const void *b)
{
	const struct report_barrier *x = a, *y = b;
	uint64_t tx = x->phase_ns.n ? x->phase_ns.sum : 0, ty = y->phase_ns.n ? y->phase_ns.sum : 0;

	/* Nested barriers are not part of any sum, so sort them last. */
	if (x->nested != y->nested)
		return NUMBER_COMPARE(x->nested, y->nested);
	if (x->lost_ns != y->lost_ns)
		return NUMBER_COMPARE(y->lost_ns, x->lost_ns);
	return tx != ty ? NUMBER_COMPARE(ty, tx) : NUMBER_COMPARE(x->index, y->index);
}

static int build_barriers(struct build *b)
{
	struct report *out = b->out;
	uint32_t i, n = model_nbarriers(b->model);
	int err = 0;

	/*
	 * Threads without a position crossed only nested barriers, or have a life of length 0. Give
	 * each of them its own position.
	 */
	for (i = 0; i < model_nthreads(b->model); i++)
		if (b->position[i] == MODEL_NONE)
			b->position[i] = b->npositions++;
	out->barriers = arena_alloc(b->arena, (n + 1) * sizeof(*out->barriers));
	b->scratch = arena_alloc(b->arena, (b->npositions + 1) * sizeof(*b->scratch));
	if (!out->barriers || !b->scratch)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		if (model_barrier(b->model, i)->proc != MODEL_NONE)
			err = barrier_fill(b, i, &out->barriers[out->nbarriers++]);
	if (!err)
		err = name_tell_apart(out->barriers, out->nbarriers);
	if (!err)
		qsort(out->barriers, out->nbarriers, sizeof(*out->barriers), barrier_cmp);
	return err;
}

/* --- phases ---------------------------------------------------------------------------------- */

static const struct report_barrier *barrier_by_index(uint32_t *where, const struct report *r,
						     uint32_t index)
{
	return &r->barriers[where[index]];
}

static int phase_cmp(const void *a, const void *b)
{
	const struct report_phase *x = a, *y = b;
	int c;

	if (x->phase_ns.sum != y->phase_ns.sum)
		return NUMBER_COMPARE(y->phase_ns.sum, x->phase_ns.sum);
	c = strcmp(x->to_id, y->to_id);
	return c ? c : strcmp(x->from_id, y->from_id);
}

static int phase_fill(struct build *b, uint32_t *where, const struct report_barrier *to,
		      const struct model_phase *ph, struct report_phase *out)
{
	const struct model_barrier *mb = model_barrier(b->model, to->index);
	const struct report_barrier *from;
	int err = 0;

	out->pid = to->pid;
	memcpy(out->to_id, to->id, sizeof(out->to_id));
	memcpy(out->to, to->label, sizeof(out->to));
	if (ph->from == MODEL_NONE) {
		/*
		 * In a report on part of a run, the first phase begins at the start of the time
		 * window.
		 */
		snprintf(out->from, sizeof(out->from), "%s",
			 b->env->extent.window ? "window" : "start");
	} else {
		from = barrier_by_index(where, b->out, ph->from);
		memcpy(out->from_id, from->id, sizeof(out->from_id));
		memcpy(out->from, from->label, sizeof(out->from));
	}
	out->occurrences = ph->time.n;
	out->phase_ns = report_times(b->arena, &ph->time, &err);
	out->lost_ns = ph->wait_ns;
	out->share = share_of((double)ph->time.sum, (double)b->procs[mb->proc].elapsed_ns);
	out->imbalance = at_most_one(share_of((double)ph->wait_ns, (double)ph->thread_ns));
	return err;
}

static int build_phases(struct build *b)
{
	struct report *out = b->out;
	const struct model_barrier *mb;
	uint32_t i, j, n = 0, *where;
	int err = 0;

	where = arena_alloc(b->arena, ((size_t)model_nbarriers(b->model) + 1) * sizeof(*where));
	for (i = 0; i < model_nbarriers(b->model); i++)
		n += model_barrier(b->model, i)->nphases;
	out->phases = arena_alloc(b->arena, (n + 1) * sizeof(*out->phases));
	if (!where || !out->phases)
		return -ENOMEM;
	for (i = 0; i < out->nbarriers; i++)
		where[out->barriers[i].index] = i;
	for (i = 0; i < out->nbarriers && !err; i++) {
		mb = model_barrier(b->model, out->barriers[i].index);
		for (j = 0; j < mb->nphases && !err; j++)
			err = phase_fill(b, where, &out->barriers[i], &mb->phases[j],
					 &out->phases[out->nphases++]);
	}
	if (!err)
		qsort(out->phases, out->nphases, sizeof(*out->phases), phase_cmp);
	return err;
}

/* --- processes ------------------------------------------------------------------------------- */

/*
 * If a thread's end is its arrival (fork-join), return how long the thread waits after its end. The
 * time inside barriers does not include this wait.
 */
static uint64_t waits_after_end(uint64_t wait_ns, uint64_t inside_ns)
{
	return number_less(wait_ns, inside_ns);
}

/* Add work to the sums. A wait for a turn or for a team is not work. */
static void add_useful(struct efficiency_sums *sums, uint64_t outside_ns,
		       const struct model_sums *of)
{
	uint64_t ns = efficiency_useful(outside_ns, of->turn_ns, of->begin_ns);

	sums->sum_ns += ns;
	if (ns > sums->max_ns)
		sums->max_ns = ns;
}

static int process_member(struct build *b, const struct model_thread *t, struct report_process *out,
			  struct efficiency_sums *sums, struct model_sums *spent)
{
	struct report_thread *rt = &out->members[out->nmembers++];
	int err = 0;

	*rt = (struct report_thread){
		.tid = t->tid,
		.index = t->place != MODEL_NONE ? t->place : t->ordinal,
		.comm = thread_comm(b, t, &err),
		.crossings = t->crossings,
		.wait_ns = t->wait_ns,
		.waits = t->waits,
		.wait_squares = t->wait_squares,
		.idle_ns = t->idle_ns,
		.work_ns = t->outside_ns,
		.start_ns = t->start_ns,
		.until_ns = t->end_ns + waits_after_end(t->wait_ns, t->idle_ns + t->unknown_ns),
		.away_ns = t->away_ns,
		.last = t->last,
		.last_share = share_of((double)t->last, (double)out->episodes),
	};
	fill_sums(b, &t->sums, rt, &err);
	model_sums_join(spent, &t->sums);
	out->outside_ns += t->outside_ns;
	out->wait_ns += t->wait_ns;
	add_useful(sums, t->outside_ns, &t->sums);
	return err;
}

/* Add the threads that exited long ago and are kept only as a sum. */
static int process_folded(struct build *b, const struct model_proc *p, struct report_process *out,
			  struct efficiency_sums *sums, struct model_sums *spent)
{
	struct report_thread *rt;
	int err = 0;

	if (!p->folded.threads)
		return 0;
	rt = &out->members[out->nmembers++];
	*rt = (struct report_thread){
		.index = MODEL_NONE,
		.crossings = p->folded.crossings,
		.wait_ns = p->folded.wait_ns,
		.idle_ns = p->folded.idle_ns,
		.work_ns = p->folded.outside_ns,
		.until_ns = p->folded.life_ns +
			    waits_after_end(p->folded.wait_ns,
					    p->folded.idle_ns + p->folded.unknown_ns),
		.position = MODEL_NONE,
		.last = p->folded.last,
		.last_share = share_of((double)p->folded.last, (double)out->episodes),
	};
	out->outside_ns += rt->work_ns;
	out->wait_ns += rt->wait_ns;
	sums->sum_ns +=
		efficiency_useful(rt->work_ns, p->folded.sums.turn_ns, p->folded.sums.begin_ns);
	if (p->folded.outside_max_ns > sums->max_ns)
		sums->max_ns = p->folded.outside_max_ns;
	fill_sums(b, &p->folded.sums, rt, &err);
	model_sums_join(spent, &p->folded.sums);
	return err;
}

uint32_t report_members(const struct model_proc *p)
{
	uint64_t mean = p->episodes_joined
				? (p->crossings + p->episodes_joined / 2) / p->episodes_joined
				: p->nthreads_crossed;

	return mean < p->nthreads_crossed ? (uint32_t)mean : p->nthreads_crossed;
}

/* Return the time that the samples of a process took, ns. */
static double sampling_cost(const struct report_env *env, uint32_t proc)
{
	const struct report_sampling *s = &env->sampling;
	uint64_t n = env->causes ? causes_samples(env->causes, proc) : 0;

	return n && s->samples && s->samples != REPORT_UNKNOWN
		       ? (double)n * (double)s->cost_ns / (double)s->samples
		       : 0;
}

static void process_cost(struct build *b, const struct model_proc *p,
			 const struct model_sums *spent, struct report_process *out)
{
	const struct report_env *env = b->env;
	struct cost_input in = {
		.crossing_ns = env->crossing_cost ? env->crossing_cost(env->ctx, p)
						  : env->crossing_cost_ns,
		.switch_ns = env->switch_cost_ns,
		.samples_ns = sampling_cost(env, out->index),
		.crossings = out->crossings + conceptual_marks(env->conceptual, out->index),
		.slept = spent->slept,
		.switches = spent->switches,
		.faults = spent->faults,
		.interference_ns = spent->interference_ns,
		.no_cpu_ns = spent->runq_ns + spent->steal_ns,
		.threads_ns = out->outside_ns,
		.elapsed_ns = out->elapsed_ns,
		.members = report_members(p),
		.ncpus = env->ncpus,
	};
	struct cost cost;

	out->looks = env->looks ? env->looks(env->ctx, p, &out->paused_ns) : 0;
	in.looks = out->looks;
	/*
	 * The cost is compared with the time of phases. A phase lasts from release to release, so
	 * add the waits.
	 */
	array_for_each (m, out->members, out->nmembers)
		in.threads_ns += m->idle_ns + waits_after_end(m->wait_ns, m->idle_ns);
	cost = cost_estimate(&in);
	out->cost_ns = REPORT_UNKNOWN;
	out->cost_share = NAN;
	out->crossing_cost_ns = in.crossing_ns;
	out->cost_interference_ns = env->causes ? spent->interference_ns : REPORT_UNKNOWN;
	if (isnan(cost.ns))
		return;
	out->cost_ns = number_whole(cost.ns);
	out->cost_share = share_of((double)out->cost_ns,
				   (double)cost_available(in.threads_ns, in.elapsed_ns, in.ncpus));
	out->cost_limited = cost.limited;
	out->cost_rough = out->threads > 1 && (!env->causes || spent->slept) &&
			  out->outside_ns / REPORT_ROUGH_NS < out->crossings;
}

/* Return how long a process lived, or REPORT_UNKNOWN if its start or its end was not seen. */
static uint64_t life_of(const struct build *b, const struct model_proc *p)
{
	if (p->processes > 1)
		return p->life_ns;
	if (b->env->extent.window || !p->start_seen || !p->exited ||
	    p->detached.t_ns != MODEL_UNKNOWN || p->end_ns == MODEL_UNKNOWN)
		return REPORT_UNKNOWN;
	return p->end_ns > p->start_ns ? p->end_ns - p->start_ns : REPORT_UNKNOWN;
}

static void process_facts(struct build *b, const struct model_proc *p, uint32_t index,
			  struct report_process *out)
{
	const struct report_env *env = b->env;
	/*
	 * If a process ran before tracing and start_ns is later than the start of tracing, start_ns
	 * is its first recorded crossing.
	 */
	bool late = !p->start_seen && p->processes == 1 && p->start_ns > model_start(b->model);

	*out = (struct report_process){
		.index = index,
		.pid = p->tgid,
		.parent = p->parent == MODEL_NONE ? 0 : b->procs[p->parent].tgid,
		.exited = p->exited && p->detached.t_ns == MODEL_UNKNOWN,
		.start_seen = p->start_seen,
		.counted_from_ns = late ? p->start_ns : REPORT_UNKNOWN,
		.elapsed_ns = p->elapsed_ns,
		.life_ns = life_of(b, p),
		.processes = p->processes,
		.ideal_ns = p->ideal_ns,
		.threads = p->nthreads_crossed,
		.episodes = p->episodes_joined,
		.incomplete = p->incomplete_joined,
		.ambiguous = p->ambiguous_joined,
		.crossings = p->crossings,
		.unmet = p->unmet,
		.arrivals_unseen = p->arrivals_unseen,
		.departures_unknown = p->departures_unknown,
		.summed = p->summed,
		.abandoned = p->abandoned,
		.lost = p->lost,
		.exit_detection = env->exit_detection ? env->exit_detection(env->ctx, p) : NULL,
		.untraced = env->untraced ? env->untraced(env->ctx, p) : NULL,
		.tasks = has_tasks(b, p),
	};
}

/* Set TALP's efficiencies. All are NAN if the barriers do not belong to OpenMP. */
static void process_openmp(const struct build *b, const struct model_proc *p, uint32_t index,
			   const uint32_t *members, uint32_t n, struct report_process *out)
{
	uint32_t at_once = p->processes > 1 ? n : out->positions;
	struct efficiency_omp_ratios ratios;
	struct efficiency_omp times;

	out->omp_load_balance = out->omp_scheduling = NAN;
	out->omp_start = out->omp_serialisation = out->omp_turns = NAN;
	/* The teams of threads that are kept as a sum are unknown. */
	if (!out->episodes || out->tasks || !b->env->openmp || p->folded.threads || p->nparts ||
	    !openmp_times(b->env->openmp, index, b->threads, members, n, at_once, p->elapsed_ns,
			  &times))
		return;
	ratios = efficiency_openmp(&times);
	out->omp_load_balance = ratios.load_balance;
	out->omp_scheduling = ratios.scheduling;
	out->omp_start = ratios.start;
	out->omp_serialisation = ratios.serialisation;
	if (times.turns_ns || !out->untraced)
		out->omp_turns = ratios.turns;
}

/*
 * @members holds thread indices in the order of out->members. The positions in b->position[] are
 * unique among all processes.
 */
static int process_positions(struct build *b, const uint32_t *members, uint32_t n,
			     struct report_process *out)
{
	int err = positions_assign(out->members, n, &out->positions);
	uint32_t i;

	for (i = 0; i < n && !err; i++)
		if (out->members[i].position != MODEL_NONE)
			b->position[members[i]] = b->npositions + out->members[i].position;
	b->npositions += out->positions;
	return err;
}

/*
 * Return true if all barriers of the process come from user rules and have one thread each, so that
 * they are not really barriers.
 */
static bool is_alone(const struct model *m, uint32_t process)
{
	bool alone = false;
	uint32_t i;

	for (i = 0; i < model_nbarriers(m); i++) {
		const struct model_barrier *b = model_barrier(m, i);

		if (b->proc != process)
			continue;
		if (!family_has(b->family, FAMILY_RULES) || b->team_max > 1)
			return false;
		alone |= b->episodes > 0;
	}
	return alone;
}

/* @members holds the @n threads of the process. */
static int process_fill(struct build *b, uint32_t index, const uint32_t *members, uint32_t n,
			struct report_process *out)
{
	const struct model_proc *p = &b->procs[index];
	struct efficiency_sums sums = {
		.n = p->nthreads_crossed,
		.ideal_ns = p->ideal_ns,
		.elapsed_ns = p->elapsed_ns,
	};
	struct model_sums spent = { 0 };
	uint32_t i;
	int err = 0;

	process_facts(b, p, index, out);
	out->comm = p->comm[0] ? arena_string(b->arena, p->comm) : NULL;
	out->members = arena_alloc(b->arena, (n + 2) * sizeof(*out->members));
	if (!out->members || (p->comm[0] && !out->comm))
		return -ENOMEM;
	err = detached_process(b->arena, b->env, p, out);
	for (i = 0; i < n && !err; i++)
		err = process_member(b, &b->threads[members[i]], out, &sums, &spent);
	if (!err)
		err = process_positions(b, members, n, out);
	if (!err)
		err = process_folded(b, p, out, &sums, &spent);
	if (err)
		return err;
	qsort(out->members, out->nmembers, sizeof(*out->members), thread_cmp);
	process_openmp(b, p, index, members, n, out);
	/*
	 * Count an OpenMP team as complete from the start, because serial parts also lose the time
	 * of threads that do not exist yet. GCC's runtime ends and creates threads when teams
	 * shrink and grow. The team's size is therefore the largest number of threads that existed
	 * at the same time.
	 */
	if (isfinite(out->omp_serialisation)) {
		if (p->processes <= 1)
			err = positions_sums(out->members, out->nmembers, out->positions, &sums);
		out->efficiency = efficiency_of(&sums);
	} else {
		err = positions_efficiency(out->members, out->nmembers, out->positions, &sums,
					   &out->efficiency);
	}
	if (err)
		return err;
	/*
	 * The efficiencies are unknown without a complete episode, if barriers were detached, if
	 * participants are unknown, or if there is no real barrier.
	 */
	if (!out->episodes || out->detached_some || out->unmet ||
	    (out->nmembers > 1 && is_alone(b->model, index)))
		out->efficiency = EFFICIENCY_UNKNOWN;
	/* If processes are kept as a sum, the late threads are unknown. */
	if (p->processes > 1)
		out->efficiency = (struct report_efficiency){
			.parallel = out->efficiency.parallel,
			.load_balance = NAN,
			.serialisation = NAN,
			.transfer = NAN,
			.communication = NAN,
		};
	tasks_process(out, &spent);
	efficiency_losses(&out->efficiency, &out->lost_static, &out->lost_rotating,
			  &out->lost_transfer);
	process_cost(b, p, &spent, out);
	out->useful_oncpu = efficiency_oncpu(&spent);
	out->ncounters = parts_counters_n(b->env);
	out->counters = counters_of(b->arena, b->env, &spent, &err);
	return err;
}

static int process_cmp(const void *a, const void *b)
{
	const struct report_process *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return NUMBER_COMPARE(y->wait_ns, x->wait_ns);
	if (x->outside_ns != y->outside_ns)
		return NUMBER_COMPARE(y->outside_ns, x->outside_ns);
	return NUMBER_COMPARE(x->index, y->index);
}

int threads_by_process(struct arena *a, const struct model *model,
		       const struct model_thread *threads, uint32_t **start, uint32_t **order)
{
	uint32_t i, p, nprocs = model_nprocs(model), n = model_nthreads(model), *fill;

	*start = arena_alloc(a, ((size_t)nprocs + 2) * sizeof(**start));
	fill = arena_alloc(a, ((size_t)nprocs + 2) * sizeof(*fill));
	*order = arena_alloc(a, ((size_t)n + 1) * sizeof(**order));
	if (!*start || !fill || !*order)
		return -ENOMEM;
	array_for_each (t, threads, n)
		if (t->crossings && t->proc < nprocs)
			(*start)[t->proc + 1]++;
	for (p = 0; p < nprocs; p++)
		(*start)[p + 1] += (*start)[p];
	memcpy(fill, *start, ((size_t)nprocs + 1) * sizeof(*fill));
	for (i = 0; i < n; i++)
		if (threads[i].crossings && threads[i].proc < nprocs)
			(*order)[fill[threads[i].proc]++] = i;
	return 0;
}

static int build_processes(struct build *b)
{
	struct report *out = b->out;
	uint32_t i, n = model_nprocs(b->model), *start, *order, *where;
	const struct model_barrier *mb;
	struct report_process *p;
	uint64_t wait;
	int err = threads_by_process(b->arena, b->model, b->threads, &start, &order);

	if (err)
		return err;
	where = arena_alloc(b->arena, (n + 1) * sizeof(*where));
	out->processes = arena_alloc(b->arena, (n + 1) * sizeof(*out->processes));
	if (!where || !out->processes)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++) {
		where[i] = MODEL_NONE;
		if (!b->procs[i].crossings)
			continue;
		where[i] = out->nprocesses;
		err = process_fill(b, i, order + start[i], start[i + 1] - start[i],
				   &out->processes[out->nprocesses++]);
	}
	if (err)
		return err;
	for (i = 0; i < model_nbarriers(b->model); i++) {
		mb = model_barrier(b->model, i);
		if (mb->proc == MODEL_NONE || mb->nested || where[mb->proc] == MODEL_NONE)
			continue;
		p = &out->processes[where[mb->proc]];
		p->release_ns += mb->release.sum;
		p->phase_thread_ns += thread_time(mb, &wait);
		p->phase_wait_ns += wait;
	}
	qsort(out->processes, out->nprocesses, sizeof(*out->processes), process_cmp);
	return 0;
}

/* For each thread of a process, update its longest wait with its waits at a barrier. */
static void add_longest_waits(struct report_process *p, const struct report_barrier *b)
{
	array_for_each (from, b->threads, b->nthreads) {
		struct report_thread *to =
			from->index < p->nmembers ? &p->members[from->index] : NULL;
		uint32_t j;

		/*
		 * Usually the index of a thread is its array position. If not, search the first
		 * members.
		 */
		for (j = 0; (!to || to->tid != from->tid) && j < p->nmembers && j < 64; j++)
			to = &p->members[j];
		if (to && to->tid == from->tid && from->wait_max_ns > to->wait_max_ns)
			to->wait_max_ns = from->wait_max_ns;
	}
}

/* The contribution of a process's barriers to its verdict. */
struct classified {
	const struct report_barrier *top; /* barrier with the largest loss */
	struct verdict_shares shares;
};

/*
 * Return the index in the report of each process of the model, or MODEL_NONE if it is not in the
 * report.
 */
static uint32_t *where_processes(struct build *b)
{
	uint32_t i, n = model_nprocs(b->model),
		    *where = arena_alloc(b->arena, (n + 1) * sizeof(*where));

	for (i = 0; where && i < n; i++)
		where[i] = MODEL_NONE;
	for (i = 0; where && i < b->out->nprocesses; i++)
		where[b->out->processes[i].index] = i;
	return where;
}

/* The barriers are sorted, so the first barrier of a process has its largest loss. */
static int classify_processes(struct build *b)
{
	struct report *out = b->out;
	uint32_t i, *where = where_processes(b);
	struct classified *all = arena_alloc(b->arena, (out->nprocesses + 1) * sizeof(*all));
	struct hash hung = { 0 };
	uint64_t yes;
	int err = where && all ? 0 : -ENOMEM;

	for (i = 0; i < out->nhangs && !err; i++)
		err = hash_put(&hung, out->hangs[i].pid, 1);
	if (err)
		goto out;
	for (i = 0; i < out->nbarriers; i++) {
		const struct report_barrier *barrier = &out->barriers[i];
		uint32_t at = where[model_barrier(b->model, barrier->index)->proc];

		if (at != MODEL_NONE && *barrier->advice)
			verdict_costs(&out->processes[at], out->barriers[i].advice,
				      sizeof(out->barriers[i].advice));
		if (barrier->nested || at == MODEL_NONE)
			continue;
		add_longest_waits(&out->processes[at], barrier);
		if (!all[at].top && barrier->lost_ns)
			all[at].top = barrier;
		verdict_share(&all[at].shares, barrier, out->processes[at].wait_ns);
	}
	for (i = 0; i < out->nprocesses; i++) {
		struct report_process *p = &out->processes[i];
		const struct report_barrier *top = all[i].top;

		out->ndetached += p->detached_ns != REPORT_UNKNOWN;
		out->ntasks += p->tasks;
		out->ndetached_parts += p->detached_ns == REPORT_UNKNOWN && p->ndetached_groups;

		p->hung = hash_get(&hung, p->pid, &yes);
		all[i].shares.top = top ? share_of((double)top->lost_ns, (double)p->wait_ns) : NAN;
		verdict_process(p, top, &all[i].shares);
	}
out:
	hash_free(&hung);
	return err;
}

/* --- the complete report --------------------------------------------------------------------- */

/* List the places of all barriers. */
static int build_places(struct build *b)
{
	struct report *out = b->out;
	uint32_t n = 0;

	array_for_each (barrier, out->barriers, out->nbarriers)
		n += barrier->places.n;
	out->places = arena_alloc(b->arena, (n + 1) * sizeof(*out->places));
	if (!out->places)
		return -ENOMEM;
	array_for_each (barrier, out->barriers, out->nbarriers) {
		array_for_each (place, barrier->places.places, barrier->places.n) {
			place->barrier = barrier->id;
			place->pid = barrier->pid;
			out->places[out->nplaces++] = *place;
		}
	}
	return 0;
}

static int build_losses(struct build *b)
{
	const struct report_env *env = b->env;
	struct report *out = b->out;

	out->nlosses = env->nlosses;
	out->losses = arena_alloc(b->arena, (env->nlosses + 1) * sizeof(*out->losses));
	if (!out->losses)
		return -ENOMEM;
	if (env->nlosses)
		memcpy(out->losses, env->losses, env->nlosses * sizeof(*out->losses));
	out->hangs = env->hangs;
	out->nhangs = env->hangs ? env->nhangs : 0;
	out->nuncounted = env->nuncounted;
	out->uncounted = arena_alloc(b->arena, (env->nuncounted + 1) * sizeof(*out->uncounted));
	if (!out->uncounted)
		return -ENOMEM;
	if (env->nuncounted)
		memcpy(out->uncounted, env->uncounted, env->nuncounted * sizeof(*out->uncounted));
	out->produced = env->produced;
	out->consumed = env->consumed;
	out->lost = number_less(env->produced, env->consumed);
	out->cut = env->cut;
	out->lossless = !out->cut && !out->lost && !model_totals(b->model)->lost;
	array_for_each (l, out->losses, out->nlosses)
		out->lossless &= !l->count;
	return 0;
}

/* Copy the state of all processes and threads at the end of the report. */
static int snapshot(struct build *b)
{
	uint32_t i, np = model_nprocs(b->model), nt = model_nthreads(b->model);

	b->procs = arena_alloc(b->arena, (np + 1) * sizeof(*b->procs));
	b->threads = arena_alloc(b->arena, (nt + 1) * sizeof(*b->threads));
	b->position = arena_alloc(b->arena, (nt + 1) * sizeof(*b->position));
	if (!b->procs || !b->threads || !b->position)
		return -ENOMEM;
	for (i = 0; i < np; i++)
		model_proc_at(b->model, i, b->env->end_ns, &b->procs[i]);
	for (i = 0; i < nt; i++) {
		model_thread_at(b->model, i, b->env->end_ns, &b->threads[i]);
		b->position[i] = MODEL_NONE;
	}
	return name_ids(b->arena, b->model, b->env, model_nbarriers(b->model), &b->ids);
}

/*
 * Mark losses as unknown if this part of the run has no complete episode, or if participants are
 * unknown.
 */
static void forget_losses(struct report *out)
{
	array_for_each (p, out->processes, out->nprocesses) {
		out->unmet += p->unmet;
		out->arrivals_unseen += p->arrivals_unseen;
		out->departures_unknown += p->departures_unknown;
		if (p->unmet)
			p->wait_ns = p->release_ns = REPORT_UNKNOWN;
	}
	array_for_each (b, out->barriers, out->nbarriers) {
		if (b->wait_ns.n || (!out->extent.window && !b->unmet))
			continue;
		b->lost_ns = b->gain_ns = REPORT_UNKNOWN;
		array_for_each (t, b->threads, b->nthreads) {
			t->wait_ns = t->wait_max_ns = REPORT_UNKNOWN;
			if (b->unmet)
				t->idle_ns = REPORT_UNKNOWN;
		}
	}
}

/* Return the number of processes with code that may wait at untraced barriers. */
static uint32_t count_untraced(const struct report *out)
{
	uint32_t n = 0;

	array_for_each (p, out->processes, out->nprocesses)
		n += p->untraced && !strncmp(p->untraced, IN_LINE_NAMES, strlen(IN_LINE_NAMES));
	return n;
}

/*
 * Return true if there is a remark of this kind: "unread" (files with unknown barriers),
 * "untraced" (processes that cross no barrier but may wait untraced), "copied" (processes that ran
 * a copy of code), ...
 */
static bool has_remark(const struct report *report, const char *kind)
{
	uint32_t i;

	for (i = 0; i < report->nremarks; i++)
		if (!strcmp(report->remarks[i].kind, kind))
			return true;
	return false;
}

int report_build(const struct model *model, const struct report_env *env, struct report *out)
{
	struct build b = { .model = model, .env = env, .out = out };
	const struct model_totals *totals = model_totals(model);
	int err;

	*out = (struct report){
		.start_ns = model_start(model),
		.end_ns = env->end_ns,
		.interim = env->interim,
		.extent = env->extent,
		.episodes = totals->episodes,
		.incomplete = totals->incomplete,
		.ambiguous = totals->ambiguous,
		.crossings = totals->crossings,
		.crossing_cost_ns = env->crossing_cost_ns,
		.switch_cost_ns = env->switch_cost_ns,
		.switches_cost_ns = env->switches_cost_ns,
		.rested_ns = env->rested_ns,
		.sampling = env->sampling,
		.samples_outside = env->causes && env->sampling.samples != REPORT_UNKNOWN
					   ? places_left(causes_places(env->causes))
					   : REPORT_UNKNOWN,
		.tracer_cpu_ns = env->tracer_cpu_ns,
		.for_all = env->for_all,
		.accounted = env->causes != NULL,
		.aggregate = env->aggregate,
		.left_out = env->left_out,
		.remarks = env->remarks,
		.nremarks = env->nremarks,
		.ncpus = env->ncpus,
	};
	b.arena = arena_new();
	if (!b.arena)
		return -ENOMEM;
	out->arena = b.arena;
	err = snapshot(&b);
	if (!err)
		err = build_losses(&b);
	if (!err)
		err = build_processes(&b);
	if (!err)
		err = build_barriers(&b);
	if (!err)
		err = build_places(&b);
	if (!err && env->causes && !out->nbarriers)
		err = activities_report(causes_activities(env->causes), causes_places(env->causes),
					env, b.arena, out);
	if (!err)
		err = build_phases(&b);
	if (!err && env->conceptual)
		err = conceptual_report(env->conceptual, env, b.procs, b.threads, b.position,
					b.arena, out);
	if (!err)
		err = groups_build(b.arena, model, b.procs, b.threads, out);
	if (!err)
		err = classify_processes(&b);
	if (!err)
		err = findings_build(b.arena, model, env, b.threads, out);
	forget_losses(out);
	tasks_forget(out);
	out->nuntraced = count_untraced(out);
	out->waits_unseen = has_remark(out, "untraced");
	out->complete = out->lossless && !has_remark(out, "unread") && !has_remark(out, "copied") &&
			!has_remark(out, "ranks_gone") && !has_remark(out, "trapped") &&
			!has_remark(out, "regions_unseen") && !has_remark(out, "runtime_unseen") &&
			!out->ndetached && !out->ndetached_parts && !out->unmet &&
			!out->arrivals_unseen && !out->departures_unknown && !out->left_out &&
			!out->ntasks && !out->nuntraced && !out->waits_unseen;
	if (err)
		report_free(out);
	return err;
}

void report_free(struct report *report)
{
	arena_free(report->arena);
	memset(report, 0, sizeof(*report));
}
