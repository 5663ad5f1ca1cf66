// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Processors run bursts of threads and serve messages, one at a time. */
#include "predict/predict_sim.h"

#include <errno.h>
#include <math.h>

void sim_post(struct sim *s, double t, enum sim_kind kind, uint32_t subject, uint32_t generation)
{
	struct predict_event e = {
		.t = t, .kind = kind, .subject = subject, .generation = generation
	};

	if (predict_heap_push(&s->heap, e))
		s->err = -ENOMEM;
}

/* --- queues of threads ------------------------------------------------------------------------ */

void sim_put_thread(struct sim *s, struct sim_queue *q, uint32_t thread)
{
	s->threads[thread].link = PREDICT_NONE;
	if (q->head == PREDICT_NONE)
		q->head = thread;
	else
		s->threads[q->tail].link = thread;
	q->tail = thread;
}

uint32_t sim_take_thread(struct sim *s, struct sim_queue *q)
{
	uint32_t thread = q->head;

	if (thread != PREDICT_NONE)
		q->head = s->threads[thread].link;
	return thread;
}

struct sim_queue *sim_queue_of(struct sim *s, uint32_t processor)
{
	return s->fixed ? &s->processors[processor].threads : &s->ready;
}

/* --- bursts ----------------------------------------------------------------------------------- */

double sim_looks_in(const struct sim *s, double computing)
{
	if ((enum predict_service)s->m->service != PREDICT_POLL)
		return 0;
	return fmax(0, ceil(computing / s->m->poll_interval) - 1);
}

void sim_run_on(struct sim *s, uint32_t processor, double overhead)
{
	struct sim_processor *p = &s->processors[processor];
	double left = s->threads[p->thread].left;

	p->slice = s->shared && s->m->quantum > 0 ? fmin(left, s->m->quantum + overhead) : left;
	p->since = s->now;
	p->generation++;
	p->looks = false;
	sim_post(s, s->now + p->slice + sim_looks_in(s, p->slice) * s->m->poll_time, SIM_RUN_END,
		 processor, p->generation);
}

double sim_computed(const struct sim *s, const struct sim_processor *p)
{
	double t = s->now - p->since, period, looks;

	if ((enum predict_service)s->m->service != PREDICT_POLL)
		return fmin(t, p->slice);
	period = s->m->poll_interval + s->m->poll_time;
	looks = floor(t / period);
	return fmin(p->slice,
		    looks * s->m->poll_interval + fmin(t - looks * period, s->m->poll_interval));
}

/* Return the thread's own time for its op. */
static double op_cost(const struct sim *s, const struct sim_thread *t)
{
	const struct predict_machine *m = s->m;

	switch (t->op) {
	case PREDICT_MEET:
		return (enum predict_barrier)m->barrier == PREDICT_FREE ? 0 : m->entry_time;
	case PREDICT_READ:
	case PREDICT_WRITE:
		if (m->access_free)
			return 0;
		switch (predict_net_distance(&s->net, t->home, s->threads[t->what].home)) {
		case PREDICT_SAME:
			return 0;
		case PREDICT_CLUSTER:
			return m->cluster_startup + t->bytes * m->cluster_byte;
		case PREDICT_FAR:
			return m->build_time + m->startup_time;
		}
		return 0;
	default:
		return 0;
	}
}

void sim_next_step(struct sim *s, struct sim_thread *t, const struct predict_thread *steps,
		   double before)
{
	const struct predict_step *step;
	double work, cost;

	if (t->next == steps->n) {
		t->op = PREDICT_END;
		t->left = before;
		return;
	}
	step = &steps->steps[t->next++];
	t->op = (enum predict_op)step->op;
	t->what = step->what;
	t->bytes = step->bytes;
	work = t->op == PREDICT_DELAY ? 0 : (double)step->ns * s->m->mips_ratio;
	cost = op_cost(s, t);
	t->work += work;
	if (t->op == PREDICT_MEET)
		t->entered += cost;
	else
		t->access += cost;
	t->left = before + work + cost;
}

/* --- processors ------------------------------------------------------------------------------- */

static void not_idle(struct sim *s, struct sim_processor *p)
{
	uint32_t last;

	if (p->idle == PREDICT_NONE)
		return;
	last = s->idle[--s->nidle];
	s->idle[p->idle] = last;
	s->processors[last].idle = p->idle;
	p->idle = PREDICT_NONE;
}

/* Report that the thread leaves an episode @overhead ns from now. */
static void report_crossing(struct sim *s, uint32_t processor, uint32_t thread, double overhead)
{
	struct sim_thread *t = &s->threads[thread];
	double exit_time =
		(enum predict_barrier)s->m->barrier == PREDICT_FREE ? 0 : s->m->exit_time;
	struct predict_crossed c = {
		.thread = thread,
		.episode = t->left_episode,
		.processor = processor,
		.arrive_ns = t->arrive,
		.depart_ns = s->now + overhead + exit_time,
		.work_ns = t->past_work,
		.queue_ns = t->past_waited,
		.inside_queue_ns = s->now - t->since,
	};

	if (s->crossing)
		s->crossing(s->ctx, &c);
	t->left_episode = PREDICT_NONE;
	t->waited = 0;
}

void sim_start_thread(struct sim *s, uint32_t processor, uint32_t thread)
{
	struct sim_processor *p = &s->processors[processor];
	struct sim_thread *t = &s->threads[thread];
	double overhead = p->last != PREDICT_NONE && p->last != thread ? s->m->switch_time : 0;

	not_idle(s, p);
	t->queued += s->now - t->since;
	if (t->left_episode != PREDICT_NONE)
		report_crossing(s, processor, thread, overhead);
	else
		t->waited += s->now - t->since;
	t->left += overhead;
	t->last = processor;
	p->last = thread;
	p->thread = thread;
	sim_run_on(s, processor, overhead);
}

/* Return the processor time to serve the message. */
static double service_time(const struct sim *s, const struct sim_message *msg)
{
	return s->m->receive_time +
	       (msg->kind == SIM_REQUEST ? s->m->build_time + s->m->startup_time : 0);
}

void sim_serve_next(struct sim *s, uint32_t processor, double before)
{
	struct sim_processor *p = &s->processors[processor];
	double t;

	not_idle(s, p);
	p->serving = p->messages.head;
	p->messages.head = s->messages[p->serving].next;
	t = before + service_time(s, &s->messages[p->serving]);
	s->out->service_ns += t;
	sim_post(s, s->now + t, SIM_SERVED, processor, 0);
}

void sim_go_on(struct sim *s, uint32_t processor)
{
	struct sim_processor *p = &s->processors[processor];
	uint32_t thread;

	if (p->messages.head != PREDICT_NONE) {
		sim_serve_next(s, processor, 0);
	} else if (p->thread != PREDICT_NONE) {
		sim_run_on(s, processor, 0);
	} else {
		thread = sim_take_thread(s, sim_queue_of(s, processor));
		if (thread != PREDICT_NONE) {
			sim_start_thread(s, processor, thread);
		} else if (p->idle == PREDICT_NONE) {
			p->idle = s->nidle;
			s->idle[s->nidle++] = processor;
		}
	}
}

void sim_ready(struct sim *s, uint32_t thread)
{
	struct sim_thread *t = &s->threads[thread];
	uint32_t p = s->fixed ? t->home : t->last;

	t->since = s->now;
	if (s->processors[p].idle != PREDICT_NONE)
		sim_start_thread(s, p, thread);
	else if (!s->fixed && s->nidle)
		sim_start_thread(s, s->idle[s->nidle - 1], thread);
	else
		sim_put_thread(s, sim_queue_of(s, p), thread);
}
