// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/run_facts_live.h"

#include "capture/load_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/msg.h"
#include "base/remark.h"
#include "capture/diagnostics.h"
#include "ingest/ring.h"
#include "sites/family.h"
#include "target/proc.h"

/* --- callbacks of the report ------------------------------------------------------------------ */

static const struct site_name *env_site(void *ctx, uint32_t site)
{
	struct run_facts_live *p = ctx;

	return address_spaces_site(p->spaces, site);
}

static const char *env_barrier_name(void *ctx, const struct model_barrier *barrier)
{
	struct run_facts_live *p = ctx;

	return p->observer ? observer_barrier_name(p->observer, barrier) : NULL;
}

static struct address_space *address_space_of(const struct run_facts_live *p, uint32_t proc)
{
	const struct model_proc *m = model_proc(p->model, proc);

	return address_space_find(p->spaces, m->tgid, m->inc);
}

static const char *env_object_name(void *ctx, const struct model_barrier *barrier)
{
	struct run_facts_live *p = ctx;
	const struct address_space *space = address_space_of(p, barrier->proc);

	if (family_has(barrier->family, FAMILY_RULES) && rule_is_everybody(barrier->object))
		return "all callers";
	return space ? address_space_object_name(p->spaces, space, barrier->object) : NULL;
}

static const char *env_exit_detection(void *ctx, const struct model_proc *proc)
{
	struct run_facts_live *p = ctx;
	const struct address_space *space = address_space_find(p->spaces, proc->tgid, proc->inc);

	return space ? space->exit_detection : NULL;
}

static const char *env_untraced(void *ctx, const struct model_proc *proc)
{
	struct run_facts_live *p = ctx;
	const struct address_space *space = address_space_find(p->spaces, proc->tgid, proc->inc);
	const char *names = space ? address_space_untraced(p->spaces, space) : NULL;

	if (!names && ingest_waited_unseen(p->ingest, proc->tgid, proc->inc))
		names = "pthread_cond_wait";
	return names;
}

static bool env_tasks(void *ctx, const struct model_proc *proc)
{
	struct run_facts_live *p = ctx;
	const struct address_space *space = address_space_find(p->spaces, proc->tgid, proc->inc);

	return space && address_space_tasks(p->spaces, space);
}

static uint64_t env_looks(void *ctx, const struct model_proc *proc, uint64_t *paused_ns)
{
	const struct run_facts_live *p = ctx;

	*paused_ns = hot_paused_ns(p->hot, proc->tgid, proc->inc,
				   proc->exited ? proc->end_ns : now_ns());
	return hot_looks(p->hot, proc->tgid, proc->inc);
}

static const char *env_probe_group_name(void *ctx, const struct model_proc *proc,
					uint8_t probe_group)
{
	const struct run_facts_live *p = ctx;
	const char *name = family_probe_group_name(probe_group);

	(void)proc;
	return name ? name : attach_user_probe_group_name(p->attach, probe_group);
}

static bool is_by_exit(const struct run_facts_live *p, const struct address_space *space)
{
	return attach_only_exits(p->attach) || (space && space->by_exit);
}

/* Return whether the barrier is the end of a parallel region. */
static bool is_region(const struct model_barrier *b)
{
	return family_has(b->family, FAMILY_OPENMP) && b->kind == SBT_KIND_JOIN;
}

/*
 * Prices of pairs of probes, relative to the pair of a barrier function, as bpf_stats show: see
 * docs/internals/cost.md. A phase that ends with a parallel region has two pairs, one after the
 * other. The first is that of the runtime's function: its programs look up the region and its team.
 * The second is that of the outlined function.
 */
#define PAIR_OF_REGION	 1.3
#define PAIR_OF_OUTLINED 1.1
#define PAIR_OF_COND	 1.3

static void add_pairs(struct address_space_pairs *to, double pairs, bool stepped)
{
	to->pairs += pairs;
	to->handlers += pairs;
	to->stepped += stepped ? pairs : 0;
}

static const struct attach_price *price_of_pair(const struct run_facts_live *p,
						const struct address_space *space)
{
	return is_by_exit(p, space) ? &p->price_exit : &p->price;
}

/*
 * Count the probes of @n arrivals. If the price of an arrival is unknown, it counts as that of a
 * pair, which is too high.
 */
static void add_arrivals(const struct run_facts_live *p, struct address_space *space, double n,
			 bool stepped)
{
	const struct attach_price *pair = price_of_pair(p, space), *one = &p->price_arrival;

	space->pairs.pairs += one->ns < pair->ns ? n * one->ns / pair->ns : n;
	space->pairs.handlers +=
		one->handler_ns < pair->handler_ns ? n * one->handler_ns / pair->handler_ns : n;
	space->pairs.stepped += stepped ? n : 0;
}

/* Count the probes that a barrier's crossings hit. */
static void count_pairs(const struct run_facts_live *p, const struct model_barrier *b,
			struct address_space *space)
{
	bool stepped =
		p->stepped && b->family < SBT_FAMILIES && space->stepped[b->family] & 1u << b->kind;
	struct address_space_pairs *out = &space->pairs;
	double n = (double)(b->crossings - b->inferred);

	out->crossings += b->crossings;
	add_arrivals(p, space, (double)b->inferred, stepped);
	if (!is_region(b)) {
		add_pairs(out, family_has(b->family, FAMILY_COND_VAR) ? PAIR_OF_COND * n : n,
			  stepped);
		return;
	}
	add_pairs(out, PAIR_OF_REGION * n, stepped);
	stepped = p->stepped && b->nsites && address_spaces_site_stepped(p->spaces, b->sites[0]);
	add_pairs(out, PAIR_OF_OUTLINED * n, stepped);
}

/* Count the probes that the crossings of each process hit. */
static void count_all_pairs(const struct run_facts_live *p)
{
	struct address_space *space;
	uint32_t i;

	for (i = 0; i < model_nprocs(p->model); i++) {
		space = address_space_of(p, i);
		if (space)
			space->pairs = (struct address_space_pairs){ 0 };
	}
	for (i = 0; i < model_nbarriers(p->model); i++) {
		const struct model_barrier *b = model_barrier(p->model, i);

		space = b->proc == MODEL_NONE ? NULL : address_space_of(p, b->proc);
		if (space)
			count_pairs(p, b, space);
	}
}

/*
 * Return the counts of a process, or those of one crossing if it has none. In a process that was
 * not examined, any instruction may be stepped.
 */
static struct address_space_pairs pairs_of(const struct run_facts_live *p,
					   const struct address_space *space)
{
	struct address_space_pairs one = { 1, 1, !space && p->stepped, 1 };

	return space && space->pairs.crossings ? space->pairs : one;
}

/* The least number of handler times that give a usable mean. */
#define SPENT_LEAST 8

/*
 * Return the cost of a crossing relative to the calibration; 1: unknown. Between crossings, a
 * program fills the caches, other threads share the core, and the host runs other machines. So the
 * handler time of real crossings is compared with that of the calibration. Processes with too few
 * crossings use the mean of all processes.
 */
static double dearer(const struct run_facts_live *p, const struct address_space *space)
{
	const struct address_space_pairs pairs = pairs_of(p, space);
	double least_ns = price_of_pair(p, space)->handler_ns *
			  (pairs.handlers < pairs.crossings ? pairs.handlers / pairs.crossings : 1);
	uint64_t ns = p->handler_ns, n = p->spent;

	if (space && space->spent >= SPENT_LEAST) {
		ns = space->handler_ns;
		n = space->spent;
	}
	return n >= SPENT_LEAST && least_ns > 0 ? (double)ns / (double)n / least_ns : 1;
}

static double env_crossing_cost(void *ctx, const struct model_proc *proc)
{
	struct run_facts_live *p = ctx;
	const struct address_space *space = address_space_find(p->spaces, proc->tgid, proc->inc);
	struct address_space_pairs n = pairs_of(p, space);
	double ns = price_of_pair(p, space)->ns * n.pairs;

	if (!is_by_exit(p, space) && n.stepped > 0)
		ns += (p->price_stepped.ns - p->price.ns) * n.stepped;
	return ns / (double)n.crossings * dearer(p, space);
}

double run_facts_live_price(struct run_facts_live *p, const struct model_proc *proc)
{
	return env_crossing_cost(p, proc);
}

double run_facts_live_price_excluded(struct run_facts_live *p, const struct model_proc *proc)
{
	const struct address_space *space = address_space_find(p->spaces, proc->tgid, proc->inc);
	struct address_space_pairs n = pairs_of(p, space);
	double stepping = 0;

	/* The kernel steps the instruction for every process that hits the probe. */
	if (is_by_exit(p, space))
		stepping = p->price_exit.ns - p->price.ns;
	else if (n.stepped > 0)
		stepping = (p->price_stepped.ns - p->price.ns) * n.stepped / n.pairs;
	return (p->price_excluded + (stepping > 0 ? stepping : 0)) * n.pairs / (double)n.crossings *
	       dearer(p, space);
}

/* The losses, in the order of the counts in count_losses(), which fills in the last field. */
static const struct report_loss losses[RUN_FACTS_LIVE_LOSSES] = {
	{ "ring_full", "the buffers were full: the reader did not get the CPU in time", 0 },
	{ "no_thread_slot", "more threads than there are slots for", 0 },
	{ "no_process_slot", "more processes than there are slots for", 0 },
	{ "not_examined", "first crossings of a program before it was known how to trace it", 0 },
	{ "event_ring_full", "beginnings and ends of threads and processes, buffer full", 0 },
	{ "tail_ring_full", "what threads did after their last barrier, buffer full", 0 },
	{ "mark_ring_full", "beginnings and ends of phases that the program marks, buffer full",
	  0 },
	{ "candidate_lost",
	  "waits and wake-ups of candidate barriers: no slot, or no room in a buffer", 0 },
	{ "wait_unprobed",
	  "waits or wake-ups at barriers that no probe saw, as in processes that had just "
	  "started: these episodes are missing or incomplete",
	  0 },
	{ "wait_uncounted",
	  "barriers of processes that were already running when the waits of their threads were "
	  "probed: the first episodes may be missing",
	  0 },
	{ "caller_unknown",
	  "crossings of hand-written barriers that are reported at their own call site, as the "
	  "buffer had no room for the caller",
	  0 },
	{ "no_sum_slot", "more threads at more barriers than the kernel's sums have room for", 0 },
	{ "place_untold",
	  "crossings of last arrivers that exited before they departed, for example because "
	  "another thread called exec: sums note the call site only at the departure",
	  0 },
	{ "barrier_given_up",
	  "waits and wake-ups at condition variables and futexes, and ends of joined threads, that "
	  "were dropped before they were known to belong to a barrier, or because the other "
	  "threads were unknown",
	  0 },
	{ "probed_late",
	  "processes that may have crossed barriers before the probes of their files were "
	  "attached: their first crossings may be missing",
	  0 },
	{ "mapped_unseen",
	  "reports of code that processes mapped, buffer full: processes that ended soon "
	  "afterwards may be missing",
	  0 },
	{ "candidate_not_examined",
	  "waits and wake-ups of candidate barriers, in a program before it was known how to trace "
	  "it, or in a process that ended before its shared memory was known",
	  0 },
};

void run_facts_live_init(struct run_facts_live *p, const struct options *options,
			 struct attach *attach, struct stream *stream, struct modules *modules,
			 struct address_spaces *spaces)
{
	static const struct attach_price none = { NAN, NAN };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	p->options = options;
	p->attach = attach;
	p->stream = stream;
	p->modules = modules;
	p->spaces = spaces;
	p->price = p->price_stepped = p->price_exit = p->price_arrival = p->shown = none;
	p->price_excluded = NAN;
	memcpy(p->losses, losses, sizeof(losses));
	p->env = (struct report_env){
		.ctx = p,
		.family_name = family_name,
		.kind_name = family_kind_name,
		.probe_group_family = family_of_probe_group,
		.crossing_cost_ns = NAN,
		.switch_cost_ns = NAN,
		.switches_cost_ns = REPORT_UNKNOWN,
		.rested_ns = REPORT_UNKNOWN,
		.sampling = { REPORT_UNKNOWN, REPORT_UNKNOWN, REPORT_UNKNOWN },
		.ncpus = cpus > 0 ? (uint32_t)cpus : 0,
		.tracer_cpu_ns = REPORT_UNKNOWN,
		.losses = p->losses,
		.nlosses = RUN_FACTS_LIVE_LOSSES,
		.aggregate = options->aggregate,
	};
#define ANSWER(question) p->env.question = env_##question;
	REPORT_QUESTIONS(ANSWER)
#undef ANSWER
}

void run_facts_live_counting(struct run_facts_live *p, const struct counting *counting)
{
	p->counting = counting;
	p->env.ncounters = counting->n;
	p->env.counters = counting->names;
	p->env.nuncounted = counting->nabsent;
	p->env.uncounted = counting->absent;
}

void run_facts_live_account(struct run_facts_live *p, struct causes *causes)
{
	p->env.causes = causes;
	if (!proc_cpu_nodes(&p->cpu_node, &p->env.ncpu_node))
		p->env.cpu_node = p->cpu_node;
}

void run_facts_live_free(struct run_facts_live *p)
{
	free(p->cpu_node);
}

const struct report_env *run_facts_live_env(const struct run_facts_live *p)
{
	return &p->env;
}

/* --- counting --------------------------------------------------------------------------------- */

void run_facts_live_prices(struct run_facts_live *p, struct attach_price price)
{
	if (attach_only_exits(p->attach))
		p->price_exit = price;
	else
		p->price = price;
	p->shown = price;
}

void run_facts_live_price_arrival(struct run_facts_live *p, struct attach_price price)
{
	p->price_arrival = price;
}

int run_facts_live_prices_all(struct run_facts_live *p, void (*drain)(void *ctx), void *ctx)
{
	struct attach_price price;

	p->price_excluded = attach_calibrate_excluded(p->attach, drain, ctx);
	price = attach_calibrate_quick(p->attach, drain, ctx);
	if (isnan(price.ns))
		return -ENOTSUP;
	run_facts_live_prices(p, price);
	if (!attach_only_exits(p->attach)) {
		p->price_stepped = attach_calibrate(p->attach, true, false, drain, ctx);
		p->price_exit = attach_calibrate(p->attach, false, true, drain, ctx);
	}
	/* Until it is known whether any probe is stepped, count_pairs() examines each barrier. */
	p->stepped = true;
	return 0;
}

void run_facts_live_base(struct run_facts_live *p)
{
	attach_counts(p->attach, &p->base);
	p->produced_base = attach_produced(p->attach, &p->base);
	tracker_unseen(p->tracker, &p->late_base, &p->unseen_base);
	p->consumed_base = ring_consumed(p->stream);
}

static void count_records(struct run_facts_live *p)
{
	attach_counts(p->attach, &p->last);
	p->env.produced = attach_produced(p->attach, &p->last) - p->produced_base;
	p->env.consumed = ring_consumed(p->stream) - p->consumed_base;
	if (p->options->aggregate)
		p->env.consumed += attach_summed(p->attach);
}

/* Add up the handler times of all processes, and find the mean cost of a crossing. */
static void price_all(struct run_facts_live *p)
{
	uint32_t i, n = model_nprocs(p->model);
	const struct model_proc *proc;
	const struct address_space *space;
	double price, sum = 0;
	uint64_t crossings = 0;

	count_all_pairs(p);
	p->handler_ns = p->spent = 0;
	for (i = 0; i < n; i++) {
		space = address_space_of(p, i);
		p->handler_ns += space ? space->handler_ns : 0;
		p->spent += space ? space->spent : 0;
	}
	for (i = 0; i < n; i++) {
		proc = model_proc(p->model, i);
		price = env_crossing_cost(p, proc);
		if (isnan(price))
			continue;
		sum += price * (double)proc->crossings;
		crossings += proc->crossings;
	}
	p->env.crossing_cost_ns = crossings ? sum / (double)crossings : p->shown.ns;
}

const struct report_env *run_facts_live_priced(struct run_facts_live *p)
{
	if (!p->ended)
		count_records(p);
	price_all(p);
	p->env.switch_cost_ns = attach_switch_ns(&p->base, &p->last);
	if (isfinite(p->env.switch_cost_ns)) {
		p->env.switches_cost_ns = attach_switches_ns(&p->base, &p->last);
		p->env.rested_ns = p->last.rested_ns - p->base.rested_ns;
	}
	if (attach_sample_ns(p->attach))
		p->env.sampling = (struct report_sampling){
			.samples = p->last.samples - p->base.samples,
			.lost = p->last.lost_sample - p->base.lost_sample,
			.cost_ns = p->last.sampling_ns - p->base.sampling_ns,
		};
	return &p->env;
}

void run_facts_live_counts(struct run_facts_live *p)
{
	count_records(p);
	p->ended = true;
}

void run_facts_live_calibrate(struct run_facts_live *p, bool stepped, void (*drain)(void *ctx),
			      void *ctx)
{
	bool exits = false;
	uint32_t i;

	p->stepped = stepped;
	for (i = 0; i < model_nprocs(p->model) && !exits; i++) {
		const struct address_space *space = address_space_of(p, i);

		exits = space && space->by_exit;
	}
	if (stepped && !attach_only_exits(p->attach)) {
		p->price_stepped = attach_calibrate(p->attach, true, false, drain, ctx);
		p->shown = p->price_stepped;
	}
	if (exits)
		p->price_exit = attach_calibrate(p->attach, stepped, true, drain, ctx);
}

/* Fill in the counts, in the order of the table. @late and @unseen are from tracker_unseen(). */
static void count_losses(struct run_facts_live *p, uint64_t late, uint64_t unseen)
{
	const struct sbt_counts *b = &p->base, *n = &p->last;
	const uint64_t counts[RUN_FACTS_LIVE_LOSSES] = {
		n->lost_ring - b->lost_ring,
		n->lost_thread - b->lost_thread,
		n->lost_process - b->lost_process,
		n->lost_early - b->lost_early,
		n->lost_event - b->lost_event,
		n->lost_tail - b->lost_tail,
		n->lost_mark - b->lost_mark,
		n->lost_candidate - b->lost_candidate,
		ingest_unseen(p->ingest).waits + tracker_unprobed(p->tracker),
		ingest_unseen(p->ingest).uncounted,
		p->ingest ? feed_unsampled(ingest_feed(p->ingest)) : 0,
		n->lost_sum - b->lost_sum,
		n->lost_no_site - b->lost_no_site,
		ingest_unseen(p->ingest).given_up,
		late - p->late_base,
		unseen - p->unseen_base,
		n->lost_candidate_early - b->lost_candidate_early + ingest_unshared(p->ingest),
	};
	uint32_t i;

	for (i = 0; i < RUN_FACTS_LIVE_LOSSES; i++)
		p->losses[i].count = counts[i];
}

static void fill_counts(struct run_facts_live *p)
{
	uint64_t late, unseen;

	if (p->options->aggregate &&
	    *family_list(modules_left_out(p->modules), p->left_out, sizeof(p->left_out)))
		p->env.left_out = p->left_out;
	run_facts_live_priced(p);
	tracker_unseen(p->tracker, &late, &unseen);
	count_losses(p, late, unseen);
}

static void name_thread(struct run_facts_live *p, uint32_t index)
{
	const struct model_thread *t = model_thread(p->model, index);
	const struct model_proc *proc;
	char comm[16];

	/* An empty slot: its thread was merged into sums. */
	if (t->proc == MODEL_NONE)
		return;
	proc = model_proc(p->model, t->proc);
	if (t->exited || proc_comm((int)proc->tgid, (int)t->tid, comm))
		return;
	model_name_thread(p->model, proc->tgid, proc->inc, t->tid, comm);
}

void run_facts_live_folded(struct run_facts_live *p, const struct model_proc *from,
			   const struct model_proc *into)
{
	struct hot_name one = { from->tgid, from->inc }, sum = { into->tgid, into->inc };
	const struct address_space *space = address_space_find(p->spaces, from->tgid, from->inc);
	struct address_space *to = address_space_find(p->spaces, into->tgid, into->inc);

	if (space && to) {
		to->handler_ns += space->handler_ns;
		to->spent += space->spent;
	}
	/*
	 * If memory runs out, the cost estimate omits the hits of this process that were no
	 * crossings.
	 */
	if (p->hot)
		hot_fold(p->hot, &one, &sum);
}

void run_facts_live_hangs(struct run_facts_live *p, struct hang_monitor *hang_monitor,
			  uint64_t now_ns)
{
	p->env.hangs = hang_monitor_last(hang_monitor, now_ns, &p->env.nhangs);
}

void run_facts_live_names(struct run_facts_live *p)
{
	uint32_t i;

	for (i = 0; i < model_nthreads(p->model); i++)
		name_thread(p, i);
}

/* --- the session record ----------------------------------------------------------------------- */

struct probes {
	struct run_facts_live *run_facts_live;
	struct session_probe *probes;
	uint32_t n, cap;
	/* in some file, the place where its OpenMP runtime keeps the size of a team is unknown */
	bool unsized;
};

/*
 * Return whether probes are for all processes. The kernel can neither probe a child before it runs,
 * nor attach a session probe to a single process.
 */
static bool is_for_all(const struct run_facts_live *p)
{
	return p->options->follow || p->options->mode == OPTIONS_SYSTEM ||
	       !attach_for_one(p->attach);
}

static void add_probe(void *ctx, struct module *m)
{
	struct probes *c = ctx;
	uint32_t i;

	for (i = 0; m->attached && i < m->nplaces; i++) {
		const struct module_probe_site *probe_site = &m->places[i];

		/* Markers of remote data only have a probe if there is a recording. */
		if (probe_site->error || (probe_site->spec.role == SBT_ROLE_MARK_ACCESS &&
					  !c->run_facts_live->recording))
			continue;
		if (grow(c->probes, c->cap, c->n + 1))
			return;
		if (probe_site->spec.role == SBT_ROLE_BARRIER &&
		    family_has(probe_site->spec.family, FAMILY_INFERRED_IN_TEAM))
			c->unsized |= !probe_site->spec.team_size.known;
		c->probes[c->n++] = (struct session_probe){
			.family = family_name(probe_site->spec.family),
			.binary = m->path,
			.symbol = probe_site->symbol,
			.method = attach_method_name(attach_method(c->run_facts_live->attach)),
			.offset = probe_site->offset,
			.scope = is_for_all(c->run_facts_live) ? "inode" : "process",
			.insn = probe_site->entry.insn.text,
			.why = *attach_reason(c->run_facts_live->attach)
				       ? attach_reason(c->run_facts_live->attach)
				       : probe_site->entry.why,
		};
	}
}

/*
 * Return how the departures of the family's barriers are inferred, or (*seen) why they are not.
 * @unsized: as in struct probes.
 */
static const char *why_departures(const struct run_facts_live *p, uint8_t family, bool unsized,
				  bool *seen)
{
	bool in_team = family_has(family, FAMILY_INFERRED_IN_TEAM);
	const char *why = load_options_seen_why(p->options);

	*seen = true;
	if (why)
		return why;
	if (!attach_infers(p->attach))
		return "this kernel cannot account for the time of threads";
	if (in_team && unsized && attach_only_exits(p->attach))
		return "where the number of a team's threads is in memory is not known, and only "
		       "session probes can choose the method at each arrival";
	*seen = false;
	if (in_team && unsized)
		return "from the second barrier of a region on, the number of its threads is "
		       "known; the first one and the end of a region are seen, and all barriers "
		       "once a program has created tasks";
	if (in_team)
		return "libgomp's memory shows the number of the team's threads; the end of a "
		       "region is seen, regions that began before tracing are seen, and so are all "
		       "barriers once a program has created tasks";
	if (family_has(family, FAMILY_INFERRED))
		return "glibc's barrier holds the number of its threads; in other libraries they "
		       "are seen, because threads may wait again after the release";
	*seen = true;
	return family_table[family].why_seen;
}

static struct session_departures departures_of(const struct run_facts_live *p, uint8_t family,
					       bool unsized)
{
	struct session_departures out = { .family = family_name(family) };
	bool seen;

	out.why = why_departures(p, family, unsized, &seen);
	out.method = seen ? "seen" : "inferred";
	return out;
}

static bool has_probes_of(const struct probes *probes, const char *family)
{
	uint32_t i;

	for (i = 0; family && i < probes->n; i++)
		if (strcmp(probes->probes[i].family, family) == 0)
			return true;
	return false;
}

/* Describe each family that has probes. */
static uint32_t fill_departures(const struct run_facts_live *p, const struct probes *probes,
				struct session_departures out[SBT_FAMILIES])
{
	uint32_t family, n = 0;

	for (family = 0; family < SBT_FAMILIES; family++) {
		if (!has_probes_of(probes, family_name((uint8_t)family)))
			continue;
		out[n] = departures_of(p, (uint8_t)family, probes->unsized);
		msg_verbose(p->options->verbose, "departures of %s: %s: %s", out[n].family,
			    out[n].method, out[n].why);
		n++;
	}
	return n;
}

static char *join(char *const words[])
{
	size_t len = 1;
	char *out, *at;
	int i;

	for (i = 0; words && words[i]; i++)
		len += strlen(words[i]) + 1;
	out = at = malloc(len);
	if (!out)
		return NULL;
	*at = '\0';
	for (i = 0; words && words[i]; i++)
		at += sprintf(at, "%s%s", i ? " " : "", words[i]);
	return out;
}

static char *join_watch(const struct options *o)
{
	char **words = calloc(o->nwatch + 1, sizeof(*words)), *out;
	size_t i;

	if (!words)
		return NULL;
	for (i = 0; i < o->nwatch; i++)
		words[i] = (char *)(uintptr_t)o->watch[i];
	out = join(words);
	free(words);
	return out;
}

void run_facts_live_session(struct run_facts_live *p, struct emit *emit, uint64_t start_ns,
			    uint64_t armed_ns)
{
	static const char *const modes[] = {
		[OPTIONS_COMMAND] = "command", [OPTIONS_PIDS] = "pid", [OPTIONS_SYSTEM] = "system"
	};
	const struct options *o = p->options;
	char *command = o->mode == OPTIONS_COMMAND ? join(o->command) : NULL;
	char *watch = join_watch(o), warn_time[32];
	struct session_departures departures[SBT_FAMILIES];
	struct probes probes = { .run_facts_live = p };
	struct utsname uts;
	struct session_setting settings[] = {
		{ "SBT_WATCH", watch && *watch ? watch : "(none)" },
		{ "SBT_WATCH_ALL", o->watch_all ? "1" : "0" },
		{ "SBT_WARNINGS", o->warnings ? "1" : "0" },
		{ "SBT_WARN_TIME", warn_time },
		{ "SBT_PHASE_TIMES", o->phase_times ? "1" : "0" },
		{ "SBT_NO_DEBUG", "0" },
	};
	struct session session = {
		.version = SBT_VERSION,
		.mode = modes[o->mode],
		.command = command,
		.clock_start_ns = start_ns,
		.banner = o->banner,
		.armed_ns = armed_ns,
		.settings = settings,
		.nsettings = sizeof(settings) / sizeof(settings[0]),
		.counters = p->counting->shown,
		.ncounters = p->counting->n,
		.uncounted = p->counting->absent,
		.nuncounted = p->counting->nabsent,
	};

	snprintf(warn_time, sizeof(warn_time), "%llu", (unsigned long long)(o->warn_ns / 1000000));
	modules_each(p->modules, add_probe, &probes);
	p->env.for_all = probes.n && is_for_all(p);
	session.departures = departures;
	session.ndepartures = fill_departures(p, &probes, departures);
	session.probes = probes.probes;
	session.nprobes = probes.n;
	session.kernel = uname(&uts) ? NULL : uts.release;
	emit_session(emit, &session);
	if (p->recording)
		recording_session(p->recording, &session, p->realtime_offset_ns);
	free(probes.probes);
	free(command);
	free(watch);
}

int run_facts_live_report(struct run_facts_live *p, struct emit *emit, uint64_t end_ns,
			  bool interim)
{
	struct report report;
	int err;

	fill_counts(p);
	if (interim)
		run_facts_live_names(p);
	p->env.end_ns = end_ns;
	p->env.interim = interim;
	p->env.remarks = remarks_all(&p->env.nremarks);
	p->env.tracer_cpu_ns = proc_own_cpu_ns();
	if (!interim)
		progress_begin(p->progress, "looking up names");
	err = report_build(p->model, &p->env, &report);
	if (!err && p->recording && !interim)
		recording_names(p->recording);
	if (!interim)
		progress_end(p->progress);
	if (err)
		return err;
	diagnostics_unnamed(p->spaces);
	p->env.remarks = remarks_all(&p->env.nremarks);
	report.remarks = p->env.remarks;
	report.nremarks = p->env.nremarks;
	emit_report(emit, &report);
	if (p->recording && !interim)
		recording_ending(p->recording, end_ns);
	report_free(&report);
	return emit_flush(emit);
}
