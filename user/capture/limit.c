// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/limit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/ceiling.h"
#include "analyse/cost.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/msg.h"
#include "base/number.h"
#include "sites/family.h"
#include "target/proc.h"

#define LOOK_NS	 1000000000ULL
/* A process with less thread time than this since the last look is skipped at this look. */
#define LEAST_NS (LOOK_NS / 2)
/*
 * Maximum time to wait until threads have left barriers that are about to be detached. It must be
 * long enough for a thread inside a barrier to get a CPU. It must be short, because the rings are
 * not read during the wait.
 */
#define LEAVE_NS 50000000ULL

/* Data of one process, at the index that the process has in the model. */
struct watched {
	uint32_t inc; /* differs when another process reuses the index */
	uint64_t crossings; /* number of all crossings at the last look */
	/* these members of `sums` as they were at the last look */
	uint64_t switches, slept, faults, interference_ns;
	struct model_sums sums; /* sums at this look */
	/* by probe group: number of crossings at the last look */
	uint64_t by_probe_group[SBT_PROBE_GROUPS];
	uint64_t now[SBT_PROBE_GROUPS]; /* by probe group: number of crossings at this look */
	uint64_t probe_groups;
	uint64_t detached; /* probe groups that are not traced any more */
	uint32_t group;
	uint64_t time_ns; /* thread time since the last look */
	bool gone; /* tracing of the whole process was stopped */
};

/*
 * A detached process, or detached probe groups of a process, with earlier events that have not been
 * processed yet.
 */
struct leaving {
	uint32_t tgid, inc;
	struct model_detached detached;
	/* the detaching is complete after all events up to this time have been processed */
	uint64_t known_ns;
};

struct limit {
	struct limit_env env;
	uint64_t look_ns; /* time of the last look */
	double read_ns; /* cost of reading in ns per crossing, as returned by read_ns() */
	struct watched *procs;
	uint32_t nprocs, cap_procs;
	struct leaving *leaving;
	uint32_t nleaving, cap_leaving;
	/* probe groups that were removed from all processes, and why */
	struct model_detached *removed;
	uint32_t nremoved, cap_removed;
	/* for each probe group: the groups that it shares episodes with */
	uint64_t crossed_with[SBT_PROBE_GROUPS];
	/*
	 * The probe group under which each barrier's crossings are counted; SBT_PROBE_GROUPS: none
	 * yet.
	 */
	uint8_t *stands;
	uint32_t nstands;
	int error;
};

int limit_new(const struct limit_env *env, uint64_t now, struct limit **out)
{
	struct limit *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	*l = (struct limit){ .env = *env, .look_ns = now };
	return 0;
}

void limit_free(struct limit *l)
{
	if (!l)
		return;
	free(l->procs);
	free(l->leaving);
	free(l->removed);
	free(l->stands);
	free(l);
}

/* --- collecting the figures ------------------------------------------------------------------- */

static int note_procs(struct limit *l)
{
	uint32_t n = model_nprocs(l->env.model), i;

	if (grow_zeroed(l->procs, l->cap_procs, n))
		return -ENOMEM;
	l->nprocs = n;
	for (i = 0; i < n; i++) {
		if (l->procs[i].inc != model_proc(l->env.model, i)->inc)
			memset(&l->procs[i], 0, sizeof(l->procs[i]));
		l->procs[i].inc = model_proc(l->env.model, i)->inc;
		l->procs[i].group = i;
		l->procs[i].probe_groups = 0;
		l->procs[i].time_ns = 0;
		l->procs[i].sums = model_proc(l->env.model, i)->folded.sums;
		memset(l->procs[i].now, 0, sizeof(l->procs[i].now));
	}
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Add up, for each process, the time since the last look of its threads that cross barriers. */
static void note_times(struct limit *l, uint64_t until)
{
	const struct report_env *env = run_facts_live_env(l->env.run_facts_live);
	uint32_t i, n = model_nthreads(l->env.model);

	for (i = 0; i < n; i++) {
		const struct model_thread *t = model_thread(l->env.model, i);
		uint64_t from = later(t->start_ns, l->look_ns);
		uint64_t to = t->exited && t->end_ns < until ? t->end_ns : until;

		if (t->proc >= l->nprocs)
			continue;
		model_sums_join(&l->procs[t->proc].sums, &t->sums);
		if (t->crossings && to > from)
			l->procs[t->proc].time_ns += to - from;
	}
	for (i = 0; i < l->nprocs; i++)
		l->procs[i].time_ns = cost_available(l->procs[i].time_ns,
						     number_less(until, l->look_ns), env->ncpus);
}

static uint32_t group_of(const struct limit *l, uint32_t proc)
{
	while (l->procs[proc].group != proc)
		proc = l->procs[proc].group;
	return proc;
}

static int grow_stands(struct limit *l)
{
	uint32_t had = l->nstands;
	int err = grow(l->stands, l->nstands, model_nbarriers(l->env.model));

	if (!err)
		memset(l->stands + had, SBT_PROBE_GROUPS, l->nstands - had);
	return err;
}

/*
 * Probe groups through which threads cross the same barrier are detached together. Count the
 * barrier under one of these groups. Use the same group at every look, because the crossings since
 * the last look are the difference of two counts.
 */
static void note_probe_groups(struct limit *l, uint32_t barrier, uint64_t probe_groups)
{
	uint64_t left;

	for (left = probe_groups; left; left &= left - 1)
		l->crossed_with[__builtin_ctzll(left)] |= probe_groups;
	/* The index may have belonged to another barrier. */
	if (probe_groups && (l->stands[barrier] == SBT_PROBE_GROUPS ||
			     !(probe_groups & SBT_PROBE_GROUP(l->stands[barrier]))))
		l->stands[barrier] = (uint8_t)__builtin_ctzll(probe_groups);
}

static void note_crossings(struct limit *l, uint32_t proc, uint32_t barrier, uint64_t n)
{
	uint64_t probe_groups = model_barrier(l->env.model, barrier)->probe_groups;

	if (!probe_groups)
		return;
	l->procs[proc].probe_groups |= probe_groups;
	l->procs[proc].now[l->stands[barrier]] += n;
}

/* Note a barrier that several processes share. */
static void note_shared(struct limit *l, uint32_t barrier, const struct model_barrier *b)
{
	uint32_t proc;

	array_for_each (t, b->threads, b->nthreads) {
		uint32_t thread = t->thread;

		proc = thread == MODEL_NONE ? MODEL_NONE : model_thread(l->env.model, thread)->proc;
		if (proc >= l->nprocs)
			continue;
		note_crossings(l, proc, barrier, t->crossings);
		if (!(l->procs[proc].detached & b->probe_groups))
			l->procs[group_of(l, proc)].group = group_of(l, b->proc);
	}
}

/*
 * Note the probe groups that each process crosses, and the processes that cross barriers together.
 */
static void note_barriers(struct limit *l)
{
	uint32_t i, n = model_nbarriers(l->env.model);

	for (i = 0; i < n; i++) {
		const struct model_barrier *b = model_barrier(l->env.model, i);

		if (b->proc >= l->nprocs)
			continue;
		note_probe_groups(l, i, b->probe_groups);
		if (b->shared)
			note_shared(l, i, b);
		else
			note_crossings(l, b->proc, i, b->crossings);
	}
}

/*
 * Return all probe groups that must be detached with @probe_groups, because they share probes or
 * episodes with them.
 */
static uint64_t probe_groups_with(const struct limit *l, uint32_t tgid, uint64_t probe_groups)
{
	uint64_t before, left;

	do {
		before = probe_groups;
		probe_groups = attach_probe_groups_with(l->env.attach, tgid, probe_groups);
		for (left = probe_groups; left; left &= left - 1)
			probe_groups |= l->crossed_with[__builtin_ctzll(left)];
	} while (probe_groups != before);
	return probe_groups;
}

/*
 * Return the probe groups that are detached only with the whole process: markers, if they name
 * phases. Without the markers the phases would end, and the report would not show why.
 */
static uint64_t never_alone(const struct limit *l, uint32_t proc)
{
	bool phases = conceptual_marks(run_facts_live_env(l->env.run_facts_live)->conceptual, proc);

	return phases ? family_probe_groups_with(FAMILY_MARKERS) : 0;
}

/*
 * Return the probe group to consider at position @n. The order matters, because each group
 * is counted only in the first set that contains it. Futexes come first: they can be detached alone
 * or with any other group. Functions come before their family, because they can be detached with or
 * without the family.
 */
static uint8_t probe_group_at(uint32_t n)
{
	return n ? (uint8_t)(SBT_PROBE_GROUPS - n)
		 : (uint8_t)__builtin_ctzll(family_probe_groups_with(FAMILY_FUTEX_WORD));
}

static void fill_sets(const struct limit *l, uint32_t proc, struct ceiling_process *out)
{
	const struct watched *w = &l->procs[proc];
	uint64_t done = w->detached, with, left;
	uint32_t i;

	for (i = 0; i < SBT_PROBE_GROUPS; i++) {
		struct ceiling_set *set = &out->sets[out->nsets];
		uint64_t probe_group = SBT_PROBE_GROUP(probe_group_at(i));

		if (done & probe_group || !(out->probe_groups & probe_group))
			continue;
		with = probe_groups_with(l, out->tgid, probe_group);
		if (!(with & never_alone(l, proc))) {
			*set = (struct ceiling_set){ .probe_groups = with & out->probe_groups };
			for (left = with & ~done; left; left &= left - 1)
				set->crossings +=
					number_less(w->now[__builtin_ctzll(left)],
						    w->by_probe_group[__builtin_ctzll(left)]);
			out->nsets++;
		}
		done |= with;
	}
}

/*
 * Return the number of crossings since the last look that have a known, still traced probe group.
 */
static uint64_t known_crossings(const struct watched *w)
{
	uint64_t known = 0;
	uint32_t i;

	for (i = 0; i < SBT_PROBE_GROUPS; i++)
		if (!(w->detached & SBT_PROBE_GROUP(i)))
			known += number_less(w->now[i], w->by_probe_group[i]);
	return known;
}

/* Add the crossings that were lost, or not processed yet, in proportion to the known crossings. */
static void spread_lost(uint64_t known, struct ceiling_process *out)
{
	uint32_t i;

	for (i = 0; i < out->nsets && known && out->crossings > known; i++)
		out->sets[i].crossings = (uint64_t)((double)out->sets[i].crossings *
						    (double)out->crossings / (double)known);
}

/*
 * Return the cost in ns of reading events, per crossing since the last look. sbt-trace reads the
 * events of all processes, and may take the CPU from any thread to do so. All crossings therefore
 * share the cost equally.
 */
static double read_ns(const struct limit *l)
{
	const struct report_env *env = run_facts_live_env(l->env.run_facts_live);
	uint64_t crossings = 0;
	double cost = 0;
	uint32_t i;

	for (i = 0; i < l->nprocs; i++) {
		const struct model_proc *p = model_proc(l->env.model, i);
		const struct watched *w = &l->procs[i];
		struct cost_input since = {
			.switch_ns = NAN,
			.interference_ns = number_less(w->sums.interference_ns, w->interference_ns),
			.threads_ns = w->time_ns,
			.elapsed_ns = w->time_ns,
			.members = report_members(p),
			.ncpus = env->ncpus,
		};

		/* Skip the sum of a program's merged processes: each of them has been counted. */
		if (p->processes > 1)
			continue;
		crossings += number_less(p->crossings + p->lost, w->crossings);
		cost += cost_estimate(&since).interference_ns;
	}
	return crossings ? cost / (double)crossings : 0;
}

/*
 * Set the cost of context switches and of page faults. Add the cost of sleeping, spread over all
 * crossings, to the price of a crossing.
 */
static void fill_switches(const struct limit *l, const struct watched *w,
			  struct ceiling_process *out)
{
	const struct report_env *env = run_facts_live_env(l->env.run_facts_live);
	struct cost_input slept = {
		.switch_ns = env->switch_cost_ns,
		.crossings = out->crossings,
		.slept = number_less(w->sums.slept, w->slept),
	};
	struct cost_input other = {
		.switch_ns = env->switch_cost_ns,
		.switches = number_less(w->sums.switches, w->switches),
		.faults = number_less(w->sums.faults, w->faults),
	};
	double slept_ns = cost_estimate(&slept).switches_ns;

	out->other_ns = cost_estimate(&other).switches_ns;
	if (out->crossings)
		out->price_ns += slept_ns / (double)out->crossings;
}

static void fill(struct limit *l, uint32_t proc, struct ceiling_process *out)
{
	const struct model_proc *p = model_proc(l->env.model, proc);
	struct watched *w = &l->procs[proc];
	double price = run_facts_live_price(l->env.run_facts_live, p);
	uint64_t probe_groups =
		probe_groups_with(l, p->tgid, w->probe_groups & ~w->detached) & ~w->detached;
	/*
	 * This is an estimate: crossings counted as lost may still arrive, and one counted loss may
	 * stand for several crossings.
	 */
	uint64_t crossings = number_less(p->crossings + p->lost, w->crossings), gone = 0;
	uint64_t known = known_crossings(w);
	uint32_t i;

	for (i = 0; i < SBT_PROBE_GROUPS; i++)
		if (w->detached & SBT_PROBE_GROUP(i))
			gone += number_less(w->now[i], w->by_probe_group[i]);
	*out = (struct ceiling_process){
		.tgid = p->tgid,
		.group = group_of(l, proc),
		.probe_groups = probe_groups,
		.own = attach_own_probe_groups(l->env.attach, p->tgid, probe_groups),
		.crossings = number_less(crossings, gone),
		.time_ns = w->time_ns,
		.price_ns = w->time_ns < LEAST_NS ? NAN : price,
		.excluded_ns = run_facts_live_price_excluded(l->env.run_facts_live, p),
	};
	fill_switches(l, w, out);
	out->price_ns += l->read_ns;
	fill_sets(l, proc, out);
	spread_lost(known, out);
	/*
	 * It is not known yet which probe groups were crossed, so acting now would detach all of
	 * them. The next look will show the groups.
	 */
	if (out->crossings && !known)
		out->price_ns = NAN;
}

/* --- detaching -------------------------------------------------------------------------------- */

/* Write a list such as "pthread, user (hot)". */
static void name_probe_groups(const struct limit *l, const struct model_proc *p,
			      uint64_t probe_groups, char *out, size_t size)
{
	const struct report_env *env = run_facts_live_env(l->env.run_facts_live);
	size_t n = 0;
	uint8_t i;

	*out = '\0';
	for (i = 0; i < SBT_PROBE_GROUPS && n < size; i++) {
		uint8_t family = family_of_probe_group(i);
		/*
		 * Look up the name even if it is not printed: the look-up writes it to the
		 * recording.
		 */
		const char *name = probe_groups & SBT_PROBE_GROUP(i)
					   ? env->probe_group_name(env->ctx, p, i)
					   : NULL;

		/*
		 * Skip the probe group if it is not in the list, or if its whole family is in the
		 * list.
		 */
		if (!(probe_groups & SBT_PROBE_GROUP(i)) ||
		    (family != i && probe_groups & SBT_PROBE_GROUP(family)))
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s%s%.60s%s", n ? ", " : "",
				      family_name(family) ? family_name(family) : "?",
				      name ? " (" : "", name ? name : "", name ? ")" : "");
	}
}

/*
 * Return the cost as a share of the available thread time. If the prices are too high, as when
 * other programs disturbed their measurement, the sum exceeds this time: then the share is 1.
 */
static double cost_share(const struct ceiling_verdict *v)
{
	return v->share < 1 ? v->share : 1;
}

static void report_detached(const struct model_proc *p, const struct limit *l,
			    const struct ceiling_verdict *v, const struct model_detached *detached)
{
	double at = (double)(detached->t_ns - model_start(l->env.model)) / 1e9;
	char why[96], what[512] = "";

	if (detached->probe_groups != MODEL_DETACHED_WHOLE) {
		size_t n = (size_t)snprintf(what, sizeof(what), "at the barriers of ");

		name_probe_groups(l, p, detached->probe_groups, what + n, sizeof(what) - n);
	}
	if (detached->because)
		snprintf(why, sizeof(why),
			 "it is detached together with process %u, where tracing took",
			 detached->because);
	else
		snprintf(why, sizeof(why), "tracing took");
	msg_warn("--cost-limit %.3g: process %u (%s) is traced up to %.3f s only%s%s: %s %s "
		 "%.3g %% of its thread time%s%s",
		 100 * l->env.limit, p->tgid, p->comm[0] ? p->comm : "?", at, *what ? ", " : "",
		 what, why, v->share > 1 ? "at most" : "about", 100 * cost_share(v),
		 *what ? ", most of it at these barriers; its other barriers are still traced" : "",
		 v->way == CEILING_EXCLUDE ? "; its probes stay, as other processes use them" : "");
}

static void name_threads(struct limit *l, uint32_t tgid, uint32_t inc)
{
	uint32_t i, n = model_nthreads(l->env.model);
	char comm[16];

	for (i = 0; i < n; i++) {
		const struct model_thread *t = model_thread(l->env.model, i);
		const struct model_proc *p;

		if (t->proc == MODEL_NONE || t->exited)
			continue;
		p = model_proc(l->env.model, t->proc);
		if (p->tgid == tgid && p->inc == inc && !proc_comm((int)tgid, (int)t->tid, comm))
			model_name_thread(l->env.model, tgid, inc, t->tid, comm);
	}
}

static uint32_t cost_ppm(const struct ceiling_verdict *v)
{
	return (uint32_t)(cost_share(v) * 1e6);
}

/*
 * Stop tracing a process, or some of its probe groups, from @t_ns on. Events before @t_ns have not
 * been processed yet.
 */
static int detached(struct limit *l, uint32_t proc, const struct ceiling_process *all,
		    const struct ceiling_verdict *v, uint64_t t_ns)
{
	const struct model_proc *p = model_proc(l->env.model, proc);
	bool whole = v->probe_groups == CEILING_WHOLE;
	int err = grow(l->leaving, l->cap_leaving, l->nleaving + 1);
	struct leaving *new;

	if (err)
		return err;
	new = &l->leaving[l->nleaving];
	*new = (struct leaving){
		.tgid = p->tgid,
		.inc = p->inc,
		.detached = { .t_ns = t_ns,
			      .cost_ppm = cost_ppm(v),
			      .limit_ppm = (uint32_t)lround(l->env.limit * 1e6),
			      .because = all[v->culprit].tgid == p->tgid ? 0 : all[v->culprit].tgid,
			      .probed = v->way == CEILING_EXCLUDE,
			      .probe_groups = v->probe_groups },
	};
	l->procs[proc].detached |= v->probe_groups;
	l->procs[proc].gone = whole;
	err = attach_exclude(l->env.attach, p->tgid, p->inc, v->probe_groups);
	/* The process has just ended or executed another program. */
	if (err == -ENOENT)
		return 0;
	if (!err)
		err = feed_cut(ingest_feed(l->env.ingest), p->tgid, p->inc, v->probe_groups, t_ns);
	if (err)
		return err;
	report_detached(p, l, v, &new->detached);
	l->nleaving++;
	if (!whole)
		return model_detached(l->env.model, p->tgid, p->inc, &new->detached);
	name_threads(l, p->tgid, p->inc);
	return 0;
}

struct insiders {
	const struct attach *attach;
	const struct ceiling_process *all;
	const struct ceiling_verdict *v;
	uint32_t n, inside;
};

static void count_inside(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	struct insiders *in = ctx;
	uint32_t i;

	(void)tid;
	for (i = 0; i < in->n; i++)
		if (in->all[i].tgid == thread->tgid && in->v[i].probe_groups != CEILING_WHOLE &&
		    in->v[i].probe_groups & SBT_PROBE_GROUP(attach_probe_group(
						    in->attach, thread->family, thread->spec)))
			in->inside++;
}

/*
 * Wait a moment until threads have left the barriers that are about to be detached, so that most
 * departures are seen. Do not wait for a process that is detached as a whole.
 */
static void let_leave(struct limit *l, const struct ceiling_process *all,
		      const struct ceiling_verdict *v, uint32_t n)
{
	struct insiders in = { l->env.attach, all, v, n, 1 };
	struct timespec moment = { .tv_nsec = 200000 };
	uint64_t until = now_ns() + LEAVE_NS;

	while (in.inside && now_ns() < until) {
		in.inside = 0;
		attach_each_pending(l->env.attach, count_inside, &in);
		if (in.inside)
			nanosleep(&moment, NULL);
	}
}

/* Note probe groups that were removed from all processes, for mark_others(). */
static int note_removed(struct limit *l, const struct ceiling_process *all,
			const struct ceiling_verdict *v, uint32_t n, uint64_t probe_groups,
			uint64_t t_ns)
{
	int err = grow(l->removed, l->cap_removed, l->nremoved + 1);
	uint32_t i = 0;

	if (err)
		return err;
	while (i < n && v[i].way != CEILING_ALL)
		i++;
	if (i < n)
		l->removed[l->nremoved++] = (struct model_detached){
			.t_ns = t_ns,
			.cost_ppm = cost_ppm(&v[i]),
			.limit_ppm = (uint32_t)lround(l->env.limit * 1e6),
			.because = all[v[i].culprit].tgid,
			.probe_groups = probe_groups,
		};
	return 0;
}

/* Mark the removed probe groups as detached in all processes that might have hit them later. */
static int mark_others(struct limit *l)
{
	struct model_detached detached;
	uint32_t i, k;
	int err = 0;

	for (i = 0; l->nremoved && i < l->nprocs && !err; i++) {
		const struct model_proc *p = model_proc(l->env.model, i);

		for (k = 0; k < l->nremoved && !err && p->crossings; k++) {
			detached = l->removed[k];
			detached.probe_groups &= ~l->procs[i].detached;
			detached.probe_groups &= ~attach_own_probe_groups(l->env.attach, p->tgid,
									  detached.probe_groups);
			if (!detached.probe_groups || (p->exited && p->end_ns <= detached.t_ns))
				continue;
			l->procs[i].detached |= detached.probe_groups;
			err = model_detached(l->env.model, p->tgid, p->inc, &detached);
		}
	}
	return err;
}

static int remove_probes(struct limit *l, const struct ceiling_process *all,
			 const struct ceiling_verdict *v, uint32_t n, uint64_t probe_groups,
			 uint64_t t_ns)
{
	struct attach_removal *removals = calloc(n + 1, sizeof(*removals));
	uint32_t i, nremovals = 0;
	int err;

	if (!removals)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (v[i].way == CEILING_OWN || v[i].way == CEILING_ALL)
			removals[nremovals++] =
				(struct attach_removal){ all[i].tgid, v[i].probe_groups };
	if (probe_groups)
		removals[nremovals++] = (struct attach_removal){ 0, probe_groups };
	let_leave(l, all, v, n);
	err = nremovals ? attach_remove(l->env.attach, removals, nremovals) : 0;
	if (!err && probe_groups) {
		msg_warn("--cost-limit: the probes that this process hit are removed, so processes "
			 "that start later are not traced at these barriers either");
		err = note_removed(l, all, v, n, probe_groups, t_ns);
	}
	free(removals);
	return err;
}

static int act(struct limit *l, const uint32_t *procs, const struct ceiling_process *all,
	       const struct ceiling_verdict *v, uint32_t n, uint64_t probe_groups)
{
	uint32_t i, before = l->nleaving;
	uint64_t t_ns = now_ns();
	bool any = false;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (v[i].way == CEILING_KEEP)
			continue;
		err = detached(l, procs[i], all, &v[i], t_ns);
		any = true;
	}
	if (!err && any)
		err = remove_probes(l, all, v, n, probe_groups, t_ns);
	for (i = before; i < l->nleaving; i++)
		l->leaving[i].known_ns = now_ns();
	return err;
}

static int look(struct limit *l, uint64_t until)
{
	struct ceiling_process *all;
	struct ceiling_verdict *v;
	uint32_t *procs, i, n = 0;
	uint64_t probe_groups;
	int err = note_procs(l);

	if (!err)
		err = grow_stands(l);
	if (err)
		return err;
	run_facts_live_priced(l->env.run_facts_live);
	note_times(l, until);
	note_barriers(l);
	l->read_ns = read_ns(l);
	all = calloc(l->nprocs + 1, sizeof(*all));
	v = calloc(l->nprocs + 1, sizeof(*v));
	procs = calloc(l->nprocs + 1, sizeof(*procs));
	err = all && v && procs ? 0 : -ENOMEM;
	for (i = 0; i < l->nprocs && !err; i++) {
		const struct model_proc *p = model_proc(l->env.model, i);

		if (!p->exited && !l->procs[i].gone && p->crossings) {
			fill(l, i, &all[n]);
			procs[n++] = i;
		}
		l->procs[i].crossings = p->crossings + p->lost;
		l->procs[i].slept = l->procs[i].sums.slept;
		l->procs[i].switches = l->procs[i].sums.switches;
		l->procs[i].faults = l->procs[i].sums.faults;
		l->procs[i].interference_ns = l->procs[i].sums.interference_ns;
		memcpy(l->procs[i].by_probe_group, l->procs[i].now, sizeof(l->procs[i].now));
	}
	if (!err && n) {
		probe_groups = ceiling_decide(all, n, l->env.limit, v);
		err = act(l, procs, all, v, n, probe_groups);
	}
	if (!err)
		err = mark_others(l);
	free(all);
	free(v);
	free(procs);
	return err;
}

/* --- after all earlier events have been processed --------------------------------------------- */

struct inside {
	struct limit *limit;
	const struct leaving *leaving;
};

static void note_inside(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	const struct inside *in = ctx;
	uint64_t arrive_ns = __atomic_load_n(&thread->arrive_ns, __ATOMIC_ACQUIRE);
	int err;

	if (thread->tgid != in->leaving->tgid || thread->inc != in->leaving->inc || !arrive_ns ||
	    arrive_ns > in->leaving->detached.t_ns)
		return;
	err = model_add_pending(in->limit->env.model, thread->tgid, thread->inc, tid,
				thread->object, arrive_ns);
	if (err)
		in->limit->error = err;
}

static int leave(struct limit *l, const struct leaving *leaving)
{
	bool whole = leaving->detached.probe_groups == MODEL_DETACHED_WHOLE;
	struct inside inside = { l, leaving };
	int err;

	if (whole)
		ingest_each_inside(l->env.ingest, note_inside, &inside);
	ingest_end_probe_groups(l->env.ingest, leaving->tgid, leaving->inc,
				leaving->detached.probe_groups);
	if (!whole)
		return l->error;
	err = model_detached(l->env.model, leaving->tgid, leaving->inc, &leaving->detached);
	/*
	 * Older readers of the recording, which do not know --cost-limit, see this as the end of
	 * the process.
	 */
	if (!err)
		err = model_end_process(l->env.model, leaving->tgid, leaving->inc,
					leaving->detached.t_ns);
	return err ? err : l->error;
}

static int leave_all(struct limit *l, uint64_t until)
{
	uint32_t i, kept = 0;
	int err = 0;

	for (i = 0; i < l->nleaving && !err; i++) {
		if (l->leaving[i].known_ns < until)
			err = leave(l, &l->leaving[i]);
		else
			l->leaving[kept++] = l->leaving[i];
	}
	l->nleaving = kept;
	return err;
}

int limit_step(struct limit *l, uint64_t until)
{
	int err;

	if (!l)
		return 0;
	err = l->nleaving ? leave_all(l, until) : 0;
	if (err || until < l->look_ns + LOOK_NS)
		return err;
	err = look(l, until);
	l->look_ns = until;
	return err;
}

int limit_settle(struct limit *l)
{
	int err = l ? leave_all(l, UINT64_MAX) : 0;

	if (!err && l && l->nremoved)
		err = note_procs(l);
	return err || !l ? err : mark_others(l);
}
