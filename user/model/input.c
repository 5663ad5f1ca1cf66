// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * While a tap is set, all input of the model except sums passes through model_take(), so a recorder
 * gets it there.
 */
#include <errno.h>

#include "model/internal.h"

static int take_mark(struct model *m, const struct model_mark *mark)
{
	uint32_t thread = model_find_thread(m, mark->tgid, mark->inc, mark->tid);

	return m->ops.mark && thread != MODEL_NONE ? m->ops.mark(m->ops.ctx, m, thread, mark) : 0;
}

static int take_message(struct model *m, const struct model_message *msg)
{
	uint32_t thread = model_find_thread(m, msg->tgid, msg->inc, msg->tid);

	return m->ops.message && thread != MODEL_NONE ? m->ops.message(m->ops.ctx, m, thread, msg)
						      : 0;
}

static int take_sample(struct model *m, const struct model_sample *sample)
{
	uint32_t thread = model_find_thread(m, sample->tgid, sample->inc, sample->tid);

	/* A running thread may have been found without the model. It may be added at the end. */
	return m->ops.sample ? m->ops.sample(m->ops.ctx, m, thread, sample) : 0;
}

static int take_activity(struct model *m, const struct model_activity *activity)
{
	uint32_t thread = model_find_thread(m, activity->tgid, activity->inc, activity->tid);

	return m->ops.activity && thread != MODEL_NONE
		       ? m->ops.activity(m->ops.ctx, m, thread, activity)
		       : 0;
}

static int take(struct model *m, const struct model_input *in)
{
	switch (in->type) {
	case MODEL_INPUT_CROSSING:
		return take_crossing(m, in->crossing);
	case MODEL_INPUT_PROCESS:
		return take_process(m, in->tgid, in->inc, in->process.parent_tgid,
				    in->process.parent_inc, in->t_ns, in->process.seen,
				    in->process.comm);
	case MODEL_INPUT_THREAD:
		return take_thread(m, in->tgid, in->inc, in->tid, in->t_ns);
	case MODEL_INPUT_FOUND:
		return take_found(m, in->tgid, in->inc, in->tid, in->found.inside);
	case MODEL_INPUT_END_THREAD:
		return take_end_thread(m, in->tgid, in->inc, in->tid, in->t_ns,
				       in->end_thread.comm);
	case MODEL_INPUT_END_PROCESS:
		return take_end_process(m, in->tgid, in->inc, in->t_ns);
	case MODEL_INPUT_NAME:
		return take_name(m, in->tgid, in->inc, in->tid, in->name.comm);
	case MODEL_INPUT_TAIL:
		return take_tail(m, in->tgid, in->inc, in->tid, in->t_ns, in->tail.detail);
	case MODEL_INPUT_PENDING:
		return take_pending(m, in->tgid, in->inc, in->tid, in->pending.object, in->t_ns);
	case MODEL_INPUT_JOINED:
		return take_joined(m, in);
	case MODEL_INPUT_PROGRAM:
		return take_program(m, in->tgid, in->inc, in->program.program);
	case MODEL_INPUT_ADVANCE:
		return take_advance(m, in->t_ns);
	case MODEL_INPUT_DETACHED:
		return take_detached(m, in);
	case MODEL_INPUT_DETACHED_PART:
		return take_detached_part(m, in);
	case MODEL_INPUT_MARK:
		return take_mark(m, in->mark);
	case MODEL_INPUT_MESSAGE:
		return take_message(m, in->message);
	case MODEL_INPUT_SAMPLE:
		return take_sample(m, in->sample);
	case MODEL_INPUT_ACTIVITY:
		return take_activity(m, in->activity);
	case MODEL_INPUT_FINISH:
		return take_finish(m, in->t_ns);
	default:
		return -EINVAL;
	}
}

int model_take(struct model *m, const struct model_input *in)
{
	int err = take(m, in);

	if (!err && m->tap)
		m->tap(m->tap_ctx, in);
	return err;
}

void model_tap(struct model *m, void (*tap)(void *ctx, const struct model_input *input), void *ctx)
{
	m->tap = tap;
	m->tap_ctx = ctx;
}

int model_add_crossing(struct model *m, const struct model_crossing *crossing)
{
	struct model_input in;

	/* This is the fast path: there are millions of crossings, and rarely a tap. */
	if (!m->tap)
		return take_crossing(m, crossing);
	in = (struct model_input){ .type = MODEL_INPUT_CROSSING, .crossing = crossing };
	return model_take(m, &in);
}

int model_add_process(struct model *m, uint32_t tgid, uint32_t inc, uint32_t parent_tgid,
		      uint32_t parent_inc, uint64_t t_ns, bool seen, const char *comm)
{
	struct model_input in = { .type = MODEL_INPUT_PROCESS,
				  .tgid = tgid,
				  .inc = inc,
				  .t_ns = t_ns,
				  .process = { parent_tgid, parent_inc, seen, comm } };

	return model_take(m, &in);
}

int model_add_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns)
{
	struct model_input in = {
		.type = MODEL_INPUT_THREAD, .tgid = tgid, .inc = inc, .tid = tid, .t_ns = t_ns
	};

	return model_take(m, &in);
}

int model_add_found(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t inside)
{
	struct model_input in = {
		.type = MODEL_INPUT_FOUND, .tgid = tgid, .inc = inc, .tid = tid, .found = { inside }
	};

	return model_take(m, &in);
}

int model_end_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		     const char *comm)
{
	struct model_input in = { .type = MODEL_INPUT_END_THREAD,
				  .tgid = tgid,
				  .inc = inc,
				  .tid = tid,
				  .t_ns = t_ns,
				  .end_thread = { comm } };

	return model_take(m, &in);
}

int model_end_process(struct model *m, uint32_t tgid, uint32_t inc, uint64_t t_ns)
{
	struct model_input in = {
		.type = MODEL_INPUT_END_PROCESS, .tgid = tgid, .inc = inc, .t_ns = t_ns
	};

	return model_take(m, &in);
}

int model_add_program(struct model *m, uint32_t tgid, uint32_t inc, uint64_t program)
{
	struct model_input in = {
		.type = MODEL_INPUT_PROGRAM, .tgid = tgid, .inc = inc, .program = { program }
	};

	return model_take(m, &in);
}

int model_name_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, const char *comm)
{
	struct model_input in = {
		.type = MODEL_INPUT_NAME, .tgid = tgid, .inc = inc, .tid = tid, .name = { comm }
	};

	return model_take(m, &in);
}

int model_add_tail(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		   const struct model_detail *detail)
{
	struct model_input in = { .type = MODEL_INPUT_TAIL,
				  .tgid = tgid,
				  .inc = inc,
				  .tid = tid,
				  .t_ns = t_ns,
				  .tail = { detail } };

	return model_take(m, &in);
}

int model_add_pending(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t object,
		      uint64_t arrive_ns)
{
	struct model_input in = { .type = MODEL_INPUT_PENDING,
				  .tgid = tgid,
				  .inc = inc,
				  .tid = tid,
				  .t_ns = arrive_ns,
				  .pending = { object } };

	return model_take(m, &in);
}

int model_add_joined(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t for_ns,
		     uint64_t until_ns, uint64_t after_ns)
{
	struct model_input in = { .type = MODEL_INPUT_JOINED,
				  .tgid = tgid,
				  .inc = inc,
				  .tid = tid,
				  .t_ns = until_ns,
				  .joined = { for_ns, after_ns } };

	return model_take(m, &in);
}

int model_advance(struct model *m, uint64_t t_ns)
{
	struct model_input in = { .type = MODEL_INPUT_ADVANCE, .t_ns = t_ns };

	return model_take(m, &in);
}

int model_detached(struct model *m, uint32_t tgid, uint32_t inc,
		   const struct model_detached *detached)
{
	bool whole = detached->probe_groups == MODEL_DETACHED_WHOLE;
	struct model_input in = { .type = whole ? MODEL_INPUT_DETACHED : MODEL_INPUT_DETACHED_PART,
				  .tgid = tgid,
				  .inc = inc,
				  .t_ns = detached->t_ns,
				  .detached = { .cost_ppm = detached->cost_ppm,
						.limit_ppm = detached->limit_ppm,
						.because = detached->because,
						.probed = detached->probed,
						.probe_groups = detached->probe_groups } };

	return model_take(m, &in);
}

int model_add_mark(struct model *m, const struct model_mark *mark)
{
	struct model_input in = { .type = MODEL_INPUT_MARK, .mark = mark };

	return model_take(m, &in);
}

int model_add_message(struct model *m, const struct model_message *message)
{
	struct model_input in = { .type = MODEL_INPUT_MESSAGE, .message = message };

	return model_take(m, &in);
}

int model_add_sample(struct model *m, const struct model_sample *sample)
{
	struct model_input in = { .type = MODEL_INPUT_SAMPLE, .sample = sample };

	return model_take(m, &in);
}

int model_add_activity(struct model *m, const struct model_activity *activity)
{
	struct model_input in = { .type = MODEL_INPUT_ACTIVITY, .activity = activity };

	return model_take(m, &in);
}

int model_finish(struct model *m, uint64_t end_ns)
{
	struct model_input in = { .type = MODEL_INPUT_FINISH, .t_ns = end_ns };

	return model_take(m, &in);
}
