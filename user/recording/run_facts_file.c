// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/run_facts_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "sites/family.h"

/* sbt-trace has fewer kinds of losses, but an invalid file may claim more. */
#define LOSSES_MOST 64

/* --- what the report asks --------------------------------------------------------------------- */

static const struct contents_answer *find(const struct run_facts_file *r,
					  struct contents_question q)
{
	return merge_find(r->merge, &q);
}

static const char *find_text(const struct run_facts_file *r, struct contents_question q)
{
	const struct contents_answer *a = find(r, q);

	return a ? a->text : NULL;
}

static const struct site_name *env_site(void *ctx, uint32_t site)
{
	struct run_facts_file *r = ctx;

	return merge_site_name(r->merge, site);
}

static const char *env_barrier_name(void *ctx, const struct model_barrier *barrier)
{
	struct run_facts_file *r = ctx;

	return observer_barrier_name(r->observer, barrier);
}

static const char *env_object_name(void *ctx, const struct model_barrier *b)
{
	struct run_facts_file *r = ctx;
	const struct model_proc *p = model_proc(r->model, b->proc);

	return find_text(r, (struct contents_question){ CONTENTS_OBJECT, b->family, p->tgid, p->inc,
							b->object });
}

static const char *env_exit_detection(void *ctx, const struct model_proc *p)
{
	return find_text(
		ctx, (struct contents_question){ CONTENTS_EXIT_DETECTION, 0, p->tgid, p->inc, 0 });
}

static const char *env_untraced(void *ctx, const struct model_proc *p)
{
	return find_text(ctx,
			 (struct contents_question){ CONTENTS_UNTRACED, 0, p->tgid, p->inc, 0 });
}

static bool env_tasks(void *ctx, const struct model_proc *p)
{
	return find(ctx, (struct contents_question){ CONTENTS_UNTRACED, 1, p->tgid, p->inc, 0 }) !=
	       NULL;
}

static double look_number(struct run_facts_file *r, const struct model_proc *p, uint8_t which)
{
	const struct contents_answer *a =
		find(r, (struct contents_question){ CONTENTS_LOOKS, which, p->tgid, p->inc, 0 });

	return a && a->number >= 0 && a->number < 1e18 ? a->number : 0;
}

static uint64_t env_looks(void *ctx, const struct model_proc *p, uint64_t *paused_ns)
{
	*paused_ns = (uint64_t)look_number(ctx, p, 1);
	return (uint64_t)look_number(ctx, p, 0);
}

static const char *env_probe_group_name(void *ctx, const struct model_proc *p, uint8_t probe_group)
{
	const char *name =
		find_text(ctx, (struct contents_question){ CONTENTS_PROBE_GROUP, 0, p->tgid, p->inc,
							   probe_group });

	if (!name && probe_group >= SBT_PROBE_GROUPS_USER)
		return "a function of unknown name";
	return name ? name : family_probe_group_name(probe_group);
}

static double env_crossing_cost(void *ctx, const struct model_proc *p)
{
	struct run_facts_file *r = ctx;
	const struct contents_answer *a =
		find(r, (struct contents_question){ CONTENTS_PRICE, 0, p->tgid, p->inc, 0 });

	return a ? a->number : r->env.crossing_cost_ns;
}

static const char *find_task(void *ctx, uint32_t tid)
{
	return find_text(ctx, (struct contents_question){ CONTENTS_TASK, 0, 0, 0, tid });
}

static const char *find_lock(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	return find_text(ctx, (struct contents_question){ CONTENTS_LOCK, 0, tgid, inc, addr });
}

static const char *find_mapping(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	return find_text(ctx, (struct contents_question){ CONTENTS_MAPPING, 0, tgid, inc, addr });
}

static const char *find_file(void *ctx, uint64_t inode, bool *has_ends)
{
	const char *name =
		find_text(ctx, (struct contents_question){ CONTENTS_FILE, 0, 0, 0, inode });

	*has_ends |= name && (!strcmp(name, CAUSE_PIPE) || !strcmp(name, CAUSE_SOCKET));
	return name;
}

static uint32_t find_stack(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
			   uint32_t max)
{
	struct run_facts_file *r = ctx;
	struct contents_question q = {
		.kind = CONTENTS_STACK, .tgid = tgid, .inc = inc, .what = key
	};

	return merge_stack(r->merge, &q, sites, max);
}

int run_facts_file_begin(struct run_facts_file *r, struct merge *merge)
{
	const struct contents_session *s = contents_began(merge_contents(merge, 0));
	const struct session *session = &s->session;
	uint32_t i, n = session->ncounters < MODEL_COUNTERS_MAX ? session->ncounters
								: MODEL_COUNTERS_MAX;

	r->merge = merge;
	for (i = 0; i < n; i++)
		r->counters[i] = session->counters[i].name ? session->counters[i].name : "?";
	r->env = (struct report_env){
		.ctx = r,
		.family_name = family_name,
		.kind_name = family_kind_name,
		.probe_group_family = family_of_probe_group,
		.crossing_cost_ns = NAN,
		.switch_cost_ns = NAN,
		.switches_cost_ns = REPORT_UNKNOWN,
		.rested_ns = REPORT_UNKNOWN,
		.sampling = { REPORT_UNKNOWN, REPORT_UNKNOWN, REPORT_UNKNOWN },
		.tracer_cpu_ns = REPORT_UNKNOWN,
		.ncounters = n,
		.counters = r->counters,
		.nuncounted = session->nuncounted,
		.uncounted = session->uncounted,
		.ncpus = s->ncpus,
		.ncpu_node = s->ncpu_node,
		.cpu_node = s->ncpu_node ? s->cpu_node : NULL,
	};
#define ANSWER(question) r->env.question = env_##question;
	REPORT_QUESTIONS(ANSWER)
#undef ANSWER
	r->cause_env = (struct cause_env){
		.ctx = r,
		.instructions = s->instructions < n ? s->instructions : MODEL_NONE,
		.cycles = s->cycles < n ? s->cycles : MODEL_NONE,
	};
#define ANSWER(question) r->cause_env.question = find_##question;
	CAUSE_QUESTIONS(ANSWER)
#undef ANSWER
	if (!s->accounted)
		return 0;
	r->causes = causes_new(&r->cause_env, &r->env);
	r->env.causes = r->causes;
	return r->causes ? 0 : -ENOMEM;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* All recordings have the same list of losses, except if another version wrote them. */
static int add_losses(struct run_facts_file *r, const struct contents_ending *e)
{
	uint32_t k;

	array_for_each (l, e->losses, e->nlosses) {
		if (!l->cause || !l->text)
			continue;
		for (k = 0; k < r->env.nlosses && strcmp(r->losses[k].cause, l->cause) != 0; k++)
			;
		if (k == LOSSES_MOST)
			continue;
		if (k == r->env.nlosses) {
			if (grow(r->losses, r->cap_losses, k + 1))
				return -ENOMEM;
			r->losses[r->env.nlosses++] = (struct report_loss){ l->cause, l->text, 0 };
		}
		r->losses[k].count += l->count;
	}
	r->env.losses = r->losses;
	return 0;
}

static int add_hangs(struct run_facts_file *r, const struct contents_ending *e, uint64_t to_ns)
{
	uint32_t i;

	if (!e->nhangs)
		return 0;
	if (grow(r->hangs, r->cap_hangs, (size_t)r->env.nhangs + e->nhangs))
		return -ENOMEM;
	r->env.hangs = r->hangs;
	for (i = 0; i < e->nhangs; i++)
		if (e->hangs[i].since_ns < to_ns)
			r->hangs[r->env.nhangs++] = e->hangs[i];
	return 0;
}

int run_facts_file_remarks(struct run_facts_file *r, const struct remark *more, uint32_t n)
{
	if (!n)
		return 0;
	if (grow(r->remarks, r->cap_remarks, (size_t)r->env.nremarks + n))
		return -ENOMEM;
	memcpy(r->remarks + r->env.nremarks, more, n * sizeof(*more));
	r->env.remarks = r->remarks;
	r->env.nremarks += n;
	return 0;
}

/* Add @more to *sum. Either may be unknown, because not all recordings contain the number. */
static void add_known(uint64_t *sum, uint64_t more)
{
	if (more != REPORT_UNKNOWN)
		*sum = more + (*sum == REPORT_UNKNOWN ? 0 : *sum);
}

static int take_ending(struct run_facts_file *r, const struct contents_ending *e, uint64_t to_ns)
{
	int err = add_losses(r, e);

	if (!err)
		err = add_hangs(r, e, to_ns);
	if (!err)
		err = run_facts_file_remarks(r, e->remarks, e->nremarks);
	r->env.produced += e->produced;
	r->env.consumed += e->consumed;
	if (isnan(r->env.crossing_cost_ns))
		r->env.crossing_cost_ns = e->crossing_cost_ns;
	if (isnan(r->env.switch_cost_ns))
		r->env.switch_cost_ns = e->switch_cost_ns;
	add_known(&r->env.switches_cost_ns, e->switches_cost_ns);
	add_known(&r->env.rested_ns, e->rested_ns);
	add_known(&r->env.sampling.samples, e->sampling.samples);
	add_known(&r->env.sampling.lost, e->sampling.lost);
	add_known(&r->env.sampling.cost_ns, e->sampling.cost_ns);
	add_known(&r->env.tracer_cpu_ns, e->tracer_cpu_ns);
	return err;
}

/* Return whether probes were in all processes that ran the probed files. */
static bool was_for_all(const struct session *s)
{
	array_for_each (probe, s->probes, s->nprobes)
		if (probe->scope && !strcmp(probe->scope, "inode"))
			return true;
	return false;
}

int run_facts_file_end(struct run_facts_file *r, uint64_t end_ns, uint64_t crossings,
		       uint64_t to_ns)
{
	uint32_t i, ended = 0, n = merge_count(r->merge);
	int err = 0;

	r->env.end_ns = end_ns;
	r->env.cut = merge_state(r->merge) != CONTENTS_INTACT;
	for (i = 0; i < n && !err; i++) {
		const struct contents_ending *e = contents_ended(merge_contents(r->merge, i));

		r->env.for_all |=
			was_for_all(&contents_began(merge_contents(r->merge, i))->session);
		ended += e != NULL;
		err = e ? take_ending(r, e, to_ns) : 0;
	}
	/* How many records a truncated recording would have is unknown. */
	if (ended < n)
		r->env.produced = r->env.consumed = crossings;
	return err;
}

void run_facts_file_free(struct run_facts_file *r)
{
	causes_free(r->causes);
	free(r->losses);
	free(r->hangs);
	free(r->remarks);
}
