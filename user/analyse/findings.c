// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Findings: facts that the data prove about the machine or its use, each in a sentence. Each
 * finding is based on sums over the whole run, so that single events do not matter.
 */
#include "analyse/internal.h"
#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Minimum mean number of threads that were ready to run but had no CPU. */
#define OVERSUBSCRIBED	0.25
/*
 * Minimum time in which threads spun while the last thread waited for a CPU, as a share of the time
 * from the first release to the last.
 */
#define SPINNING	0.02
/*
 * Minimum number of moves of threads to another CPU, per second of thread time and in total. The
 * scheduler's load balancing alone causes a few moves.
 */
#define MIGRATING	50.0
#define MIGRATIONS_MIN	20
/* Minimum number of moves of a process's threads to another NUMA node, per second and in total. */
#define NODE_MOVES	10.0
#define NODE_MOVES_MIN	20
/*
 * A CPU is slow if its clock rate is below SLOW_CPU times the median of all CPUs. The rate must be
 * based on at least SLOW_CPU_PHASES phases with SLOW_CPU_NS ns of CPU time.
 */
#define SLOW_CPU	0.8
#define SLOW_CPU_PHASES 20
#define SLOW_CPU_NS	10000000
/*
 * A throttled time of less than this, in ns, is no finding. The kernel's shortest quota period is
 * this long.
 */
#define THROTTLED_NS	1000000
#define NAMED_MOST	4 /* threads that are named one by one */

struct findings {
	struct arena *arena;
	const struct model *model;
	const struct report_env *env;
	const struct model_thread *threads;
	struct report *out;
	uint32_t cap;
	uint32_t *start, *order; /* results of threads_by_process() */
	/*
	 * crossings of barriers with a call site that is known only by its address; indexed by
	 * process
	 */
	uint64_t *bare;
};

static int add(struct findings *f, const char *kind, uint32_t pid, double figure, const char *fmt,
	       ...) __attribute__((format(printf, 5, 6)));

/* Add a finding. @fmt: its text. Return 0 or -ENOMEM. */
static int add(struct findings *f, const char *kind, uint32_t pid, double figure, const char *fmt,
	       ...)
{
	struct report *out = f->out;
	struct report_finding *more;
	va_list args;

	if (out->nfindings == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 8;
		more = arena_alloc(f->arena, f->cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		if (out->nfindings)
			memcpy(more, out->findings, out->nfindings * sizeof(*more));
		out->findings = more;
	}
	more = &out->findings[out->nfindings++];
	*more = (struct report_finding){ .kind = kind, .pid = pid, .figure = figure };
	va_start(args, fmt);
	/* clang-tidy 14 loses track of va_start() if it checks several files at once. */
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	vsnprintf(more->text, sizeof(more->text), fmt, args);
	va_end(args);
	return 0;
}

static int advise(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set the advice of the latest finding. Return 0 or -ENOMEM. */
static int advise(struct findings *f, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	f->out->findings[f->out->nfindings - 1].advice = arena_string(f->arena, text);
	return f->out->findings[f->out->nfindings - 1].advice ? 0 : -ENOMEM;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Report a process that --cost-limit detached. */
static int detached(struct findings *f, const struct report_process *p)
{
	char why[112];

	if (p->detached_ns == REPORT_UNKNOWN)
		return 0;
	if (p->detached_because)
		snprintf(why, sizeof(why),
			 "it shares probes with process %u, and tracing cost that process %.3g %% "
			 "of its thread time",
			 p->detached_because, 100 * p->detached_cost);
	else
		snprintf(why, sizeof(why), "tracing cost %.3g %% of its thread time",
			 100 * p->detached_cost);
	return add(
		f, "cost_limit", p->pid, p->detached_cost,
		"Traced only up to %.3f s: %s (estimated; --cost-limit %.3g). No figure includes "
		"what it did later.%s",
		(double)(p->detached_ns - f->out->start_ns) / 1e9, why, 100 * p->detached_limit,
		p->detached_probed ? " Its probes are still attached and cost it some time." : "");
}

/* Report barriers of a process that --cost-limit detached. */
static int detached_parts(struct findings *f, const struct report_process *p)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->ndetached_groups && !err; i++) {
		const struct report_detached *s = &p->detached_groups[i];
		char process[64] = "", what[96];

		if (s->because)
			snprintf(process, sizeof(process), "process %u, which shares the probes, ",
				 s->because);
		snprintf(what, sizeof(what), "%.20s%s%.60s%s", s->family, s->function ? " (" : "",
			 s->function ? s->function : "", s->function ? ")" : "");
		err = add(f, "cost_limit", p->pid, s->cost,
			  "Barriers of %s traced only up to %.3f s: tracing cost %s%.3g %% of its "
			  "thread time (estimated; --cost-limit %.3g). Later phases and work at "
			  "other barriers include the time at these barriers; efficiencies are "
			  "unknown.%s",
			  what, (double)(s->t_ns - f->out->start_ns) / 1e9, process, 100 * s->cost,
			  100 * s->limit, s->probed ? " Their probes are still attached." : "");
	}
	return err;
}

/* A thread of a process that may run on one CPU only. */
struct bound {
	uint32_t cpu;
	uint32_t number; /* report_thread.index; MODEL_NONE if unknown */
};

static int by_cpu(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	return x->cpu != y->cpu ? NUMBER_COMPARE(x->cpu, y->cpu)
				: NUMBER_COMPARE(x->number, y->number);
}

static uint32_t number_of(const struct report_process *p, uint32_t tid)
{
	array_for_each (m, p->members, p->nmembers)
		if (m->tid == tid)
			return m->index;
	return MODEL_NONE;
}

/*
 * Set *@out and *@n to the threads of the process that may run on one CPU only, sorted by that CPU.
 * Free *@out with free(). Return 0 or -ENOMEM.
 */
static int bound_threads(const struct findings *f, const struct report_process *p,
			 struct bound **out, uint32_t *n)
{
	bool known = f->env->causes && p->index < model_nprocs(f->model);
	uint32_t i, at, end = known ? f->start[p->index + 1] : 0;
	uint32_t first = known ? f->start[p->index] : 0;
	const struct model_thread *t;

	*n = 0;
	*out = calloc(end - first + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (i = first; i < end; i++) {
		t = &f->threads[f->order[i]];
		at = causes_pinned(f->env->causes, f->order[i], t->tid);
		if (at != MODEL_NONE)
			(*out)[(*n)++] = (struct bound){ at, number_of(p, t->tid) };
	}
	qsort(*out, *n, sizeof(**out), by_cpu);
	return 0;
}

/*
 * Set *@out to the number of CPUs on which the threads of the process may run, or the number of all
 * CPUs if unknown. Which CPUs a thread may use is known only if it is a single one. Therefore the
 * result is the larger one of two numbers: the CPUs of the least restricted thread, and the CPUs to
 * which single threads are bound. Return 0 or -ENOMEM.
 */
static int cpus_for(const struct findings *f, const struct report_process *p, uint32_t *out)
{
	uint32_t i, n, most = 0, bound = 0;
	struct bound *threads;
	int err = bound_threads(f, p, &threads, &n);

	if (err)
		return err;
	for (i = 0; i < n; i++)
		bound += !i || threads[i].cpu != threads[i - 1].cpu;
	free(threads);
	for (i = f->start[p->index]; i < f->start[p->index + 1]; i++)
		if (f->threads[f->order[i]].cpus_allowed > most)
			most = f->threads[f->order[i]].cpus_allowed;
	most = most > bound ? most : bound;
	*out = most && most < f->env->ncpus ? most : f->env->ncpus;
	return 0;
}

/*
 * Set *@out to the largest number of barrier-crossing threads of the process that existed at the
 * same time.
 */
static int at_once(const struct findings *f, const struct report_process *p, uint32_t *out)
{
	uint32_t i, j = 0, now, first = f->start[p->index], n = f->start[p->index + 1] - first;
	uint64_t *starts = arena_alloc(f->arena, (2 * (size_t)n + 1) * sizeof(*starts));
	uint64_t *ends;

	*out = 0;
	if (!starts)
		return -ENOMEM;
	ends = starts + n;
	for (i = 0; i < n; i++) {
		starts[i] = f->threads[f->order[first + i]].start_ns;
		ends[i] = f->threads[f->order[first + i]].end_ns;
	}
	qsort(starts, n, sizeof(*starts), number_compare_u64);
	qsort(ends, n, sizeof(*ends), number_compare_u64);
	for (i = 0; i < n; i++) {
		while (j < i && ends[j] <= starts[i])
			j++;
		now = i + 1 - j;
		if (now > *out)
			*out = now;
	}
	return 0;
}

static int oversubscribed(struct findings *f, const struct report_process *p)
{
	uint32_t cpus, most;
	uint64_t ready = 0;
	double mean;
	int err;

	array_for_each (m, p->members, p->nmembers) {
		const struct report_parts *parts = &m->parts;

		if (parts->runq_ns != REPORT_UNKNOWN)
			ready += parts->runq_ns;
		if (parts->late_ns != REPORT_UNKNOWN)
			ready += parts->late_ns;
	}
	if (!p->elapsed_ns)
		return 0;
	mean = (double)ready / (double)p->elapsed_ns;
	if (mean < OVERSUBSCRIBED)
		return 0;
	err = cpus_for(f, p, &cpus);
	if (err || !cpus || p->threads <= cpus)
		return err;
	err = at_once(f, p, &most);
	if (err || most <= cpus)
		return err;
	err = add(f, "oversubscribed", p->pid, mean,
		  "More threads than CPUs: of its %s%u threads%s on %u CPU%s, %.1f on average were "
		  "ready to run but had no CPU.",
		  most < p->threads ? "up to " : "", most, most < p->threads ? " at a time" : "",
		  cpus, cpus == 1 ? "" : "s", mean);
	return err ? err
		   : advise(f, "Use no more than %u thread%s%s.", cpus, cpus == 1 ? "" : "s",
			    cpus < f->env->ncpus ? ", or let them run on more CPUs" : "");
}

static int spinning(struct findings *f, const struct report_process *p)
{
	const struct cause_proc *c = f->env->causes ? causes_proc(f->env->causes, p->index) : NULL;
	char spun[32];

	/* A thread that is on a CPU inside a barrier may run OpenMP tasks instead of spinning. */
	if (!c || p->tasks || !c->spun_episodes || c->last_ns <= c->first_ns ||
	    (double)c->spun_ns < SPINNING * (double)(c->last_ns - c->first_ns))
		return 0;
	text_time((int64_t)c->spun_ns, spun);
	return add(
		f, "spinning", p->pid, seconds(c->spun_ns),
		"While the last thread waited for a CPU, other threads spun in barriers: for %s, "
		"in %llu of %llu episodes.",
		spun, (unsigned long long)c->spun_episodes, (unsigned long long)c->episodes);
}

/* Write "threads 0 and 1" or "4 of its 8 threads". Many or unknown threads are only counted. */
static void bound_words(const struct bound *t, uint32_t n, uint32_t all, char *out, size_t size)
{
	uint32_t i;

	*out = '\0';
	for (i = 0; i < n && t[i].number != MODEL_NONE; i++)
		;
	if (i < n || n > NAMED_MOST) {
		snprintf(out, size, "%u of its %u threads", n, all);
		return;
	}
	for (i = 0; i < n; i++)
		name_append(out, size, "%s%u",
			    !i		 ? "Threads "
			    : i + 1 == n ? " and "
					 : ", ",
			    t[i].number);
}

/*
 * Report threads of one process that may run on only one CPU, if it is the same CPU for all of
 * them.
 */
static int pinned(struct findings *f, const struct report_process *p)
{
	uint32_t i, j, n, most = 0, first = 0;
	struct bound *bound;
	char words[64];
	int err;

	if (!f->env->causes || f->env->ncpus < 2)
		return 0;
	err = bound_threads(f, p, &bound, &n);
	if (err)
		return err;
	for (i = 0; i < n; i = j) {
		for (j = i; j < n && bound[j].cpu == bound[i].cpu; j++)
			;
		if (j - i > most) {
			most = j - i;
			first = i;
		}
	}
	if (most >= 2) {
		bound_words(&bound[first], most, p->threads, words, sizeof(words));
		err = add(f, "pinned", p->pid, most,
			  "%s may run on CPU %u only, and share it. The machine has %u CPUs.",
			  words, bound[first].cpu, f->env->ncpus);
		if (!err && p->threads <= f->env->ncpus)
			err = advise(f, "Give each thread its own CPU (affinity).");
		else if (!err)
			err = advise(f,
				     "Let these threads run on other CPUs, too, or use no more "
				     "than %u threads, each on its own CPU (affinity).",
				     f->env->ncpus);
	}
	free(bound);
	return err;
}

/*
 * Return the CPU migrations of the process's threads per second of thread time, or 0 if there were
 * fewer than MIGRATIONS_MIN.
 */
static double migrations(const struct report_process *p)
{
	uint64_t moves = 0, time = 0;

	array_for_each (m, p->members, p->nmembers) {
		if (m->parts.migrations == REPORT_UNKNOWN || m->work_ns == REPORT_UNKNOWN)
			continue;
		moves += m->parts.migrations;
		time += m->work_ns + m->idle_ns;
	}
	return moves >= MIGRATIONS_MIN && time ? (double)moves / seconds(time) : 0;
}

static int migrating(struct findings *f, const struct report_process *p)
{
	const struct cause_proc *c = f->env->causes ? causes_proc(f->env->causes, p->index) : NULL;
	double moves = migrations(p), nodes = 0;

	if (c && c->node_moves >= NODE_MOVES_MIN && c->last_ns > c->first_ns)
		nodes = (double)c->node_moves / seconds(c->last_ns - c->first_ns);
	if (moves < MIGRATING && nodes < NODE_MOVES)
		return 0;
	if (nodes >= NODE_MOVES)
		return add(f, "migrating", p->pid, nodes,
			   "Its threads were moved to another NUMA node %.0f times per second, "
			   "away from their memory.",
			   nodes);
	return add(f, "migrating", p->pid, moves,
		   "Its threads were moved to another CPU %.0f times per second of thread time.",
		   moves);
}

static int throttled(struct findings *f, const struct report_process *p)
{
	uint64_t ns = 0;
	char stopped[32];

	array_for_each (m, p->members, p->nmembers) {
		uint64_t t = m->parts.blocked_ns[MODEL_BLOCKED_THROTTLED];

		ns += t == REPORT_UNKNOWN ? 0 : t;
	}
	if (ns < THROTTLED_NS)
		return 0;
	text_time((int64_t)ns, stopped);
	return add(f, "throttled", p->pid, seconds(ns),
		   "It reached the CPU quota of its cgroup: its threads were stopped for %s in "
		   "total.",
		   stopped);
}

/*
 * Return true if only the address of a call site is known, because it was in no file that the
 * process had mapped.
 */
static bool is_bare(const struct report_callsite *c)
{
	return !c->module && !c->function && !c->file && c->offset;
}

static bool has_bare(const struct report_barrier *b)
{
	array_for_each (c, b->callsites, b->ncallsites)
		if (is_bare(c))
			return true;
	return false;
}

static int bare_by_process(struct findings *f)
{
	const struct report_barrier *b = f->out->barriers;
	uint32_t i, proc;

	f->bare = arena_alloc(f->arena, ((size_t)model_nprocs(f->model) + 1) * sizeof(*f->bare));
	if (!f->bare)
		return -ENOMEM;
	for (i = 0; i < f->out->nbarriers; i++, b++) {
		proc = model_barrier(f->model, b->index)->proc;
		if (proc < model_nprocs(f->model) && has_bare(b))
			f->bare[proc] += b->crossings;
	}
	return 0;
}

/*
 * Report call sites that are known only by an address. Neither such a call site nor its id can be
 * found again in another process or run.
 */
static int site_unknown(struct findings *f, const struct report_process *p)
{
	uint64_t crossings = f->bare[p->index];

	if (!crossings)
		return 0;
	return add(f, "site_unknown", p->pid, (double)crossings,
		   "For %llu of its crossings, the call site is known only by an address, so the "
		   "id of the call site differs from run to run. The code there belongs to no "
		   "file, or was gone before it could be read: the process exited, ran another "
		   "program or unloaded a library.",
		   (unsigned long long)crossings);
}

/*
 * Report untraced functions in which the process may wait. Skip a process that belongs to a group:
 * the group is reported once, because its processes usually run the same program.
 */
static int untraced(struct findings *f, const struct report_process *p)
{
	if (!p->untraced || p->meets_others)
		return 0;
	return add(
		f, "untraced", p->pid, NAN,
		"Its code calls %s, in which it may wait for other threads or processes. These "
		"calls were not traced, or not all the time. Waits in them then count as work, so "
		"the efficiencies are upper limits.",
		p->untraced);
}

static int counted_from(struct findings *f, const struct report_process *p)
{
	double seconds;

	if (p->counted_from_ns == REPORT_UNKNOWN)
		return 0;
	seconds = p->counted_from_ns > f->out->start_ns
			  ? (double)(p->counted_from_ns - f->out->start_ns) / 1e9
			  : 0;
	return add(
		f, "counted_from", p->pid, seconds,
		"It crossed barriers, or may have done so, before its probes were attached or its "
		"program was examined. Its elapsed time and its efficiencies count from its first "
		"recorded crossing, %.3f s after tracing began, not from its start.",
		seconds);
}

static int arrivals_unseen(struct findings *f, const struct report_process *p)
{
	if (!p->arrivals_unseen)
		return 0;
	return add(f, "arrivals_unseen", p->pid, (double)p->arrivals_unseen,
		   "In %llu of its %llu crossings it waits at a std::latch for threads that only "
		   "count down there. These threads leave no trace: the waits for them are in no "
		   "figure of lost time, and it is unknown how evenly their work is divided.",
		   (unsigned long long)p->arrivals_unseen, (unsigned long long)p->crossings);
}

static int tasks(struct findings *f, const struct report_process *p)
{
	if (!p->tasks || p->meets_others)
		return 0;
	return add(
		f, "tasks", p->pid, p->parallel_most,
		"It runs OpenMP tasks, or may do so. The tasks that threads run while they wait in "
		"a barrier are work and are not traced: the time shown as lost at its barriers "
		"includes them.");
}

static bool cpu_known(const struct cause_cpu *c)
{
	return c && c->phases >= SLOW_CPU_PHASES && c->oncpu_ns >= SLOW_CPU_NS && c->cycles;
}

static double clock_of(const struct cause_cpu *c)
{
	return (double)c->cycles / (double)c->oncpu_ns;
}

/* Cycles per ns show how fast a CPU runs. Instructions per ns would depend on the work. */
static int slow_cpus(struct findings *f)
{
	const struct causes *causes = f->env->causes;
	uint32_t i, n = 0, ncpus = causes ? causes_ncpus(causes) : 0;
	double *clocks, median, own;
	int err = 0;

	if (!ncpus)
		return 0;
	clocks = calloc(ncpus, sizeof(*clocks));
	if (!clocks)
		return -ENOMEM;
	for (i = 0; i < ncpus; i++)
		if (cpu_known(causes_cpu(causes, i)))
			clocks[n++] = clock_of(causes_cpu(causes, i));
	qsort(clocks, n, sizeof(*clocks), number_compare_double);
	/* Use the upper median. With two CPUs, the slower is then compared with the faster. */
	median = n >= 2 ? clocks[n / 2] : 0;
	free(clocks);
	for (i = 0; i < ncpus && !err && n >= 2; i++) {
		if (!cpu_known(causes_cpu(causes, i)))
			continue;
		own = clock_of(causes_cpu(causes, i));
		if (own >= SLOW_CPU * median)
			continue;
		err = add(f, "slow_cpu", 0, own / median,
			  "CPU %u ran at %.2f GHz while threads computed there, other CPUs at %.2f "
			  "GHz: %.0f %% of their speed.",
			  i, own, median, 100 * own / median);
	}
	return err;
}

int findings_build(struct arena *a, const struct model *model, const struct report_env *env,
		   const struct model_thread *threads, struct report *out)
{
	static int (*const of_process[])(struct findings *, const struct report_process *) = {
		detached,  detached_parts, oversubscribed, spinning,	 pinned, migrating,
		throttled, site_unknown,   untraced,	   counted_from, tasks,	 arrivals_unseen,
	};
	struct findings f = {
		.arena = a, .model = model, .env = env, .threads = threads, .out = out
	};
	uint32_t i, j;
	int err = threads_by_process(a, model, threads, &f.start, &f.order);

	if (!err)
		err = bare_by_process(&f);
	array_for_each (p, out->processes, out->nprocesses)
		for (j = 0; j < sizeof(of_process) / sizeof(of_process[0]) && !err; j++)
			err = of_process[j](&f, p);
	for (i = 0; i < out->ngroups && !err; i++) {
		err = untraced(&f, &out->groups[i].all);
		if (!err)
			err = tasks(&f, &out->groups[i].all);
	}
	return err ? err : slow_cpus(&f);
}
