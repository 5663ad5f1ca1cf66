// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The simulation: episodes, events, setup and end. */
#include "predict/predict_sim.h"

#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- episodes --------------------------------------------------------------------------------- */

/* Fill s->members with the episode's members, sorted by thread. Return their number. */
static uint32_t collect_members(struct sim *s, const struct sim_episode *episode)
{
	uint32_t n = 0, i = episode->first, k;

	if (episode->narrived == s->in->nthreads) {
		for (n = 0; n < s->in->nthreads; n++)
			s->order[n] = n;
	} else {
		for (; i != PREDICT_NONE; i = s->threads[i].link)
			s->order[n++] = i;
		qsort(s->order, n, sizeof(*s->order), number_compare_u32);
	}
	for (k = 0; k < n; k++)
		s->members[k] = (struct predict_arrival){
			.thread = s->order[k],
			.home = s->threads[s->order[k]].home,
			.arrive_ns = s->threads[s->order[k]].arrive,
		};
	return n;
}

static void account_thread(struct predict_phase *ph, struct sim_thread *t)
{
	ph->work_ns += t->work;
	ph->access_ns += t->access;
	ph->queue_ns += t->queued;
	ph->barrier_ns += t->entered;
	t->work = t->access = t->queued = t->entered = 0;
}

/* Release all members of an episode at the arrival of its last thread, @last. */
static void release_members(struct sim *s, uint32_t episode, uint32_t last)
{
	struct predict_phase *ph = &s->out->phases[s->in->episodes[episode].site];
	uint32_t n = collect_members(s, &s->episodes[episode]);
	double exit_time =
		(enum predict_barrier)s->m->barrier == PREDICT_FREE ? 0 : s->m->exit_time;

	ph->episodes++;
	ph->time_ns += s->now - s->threads[last].released;
	predict_barrier_leave(&s->net, s->members, n, s->scratch);
	array_for_each (a, s->members, n) {
		struct sim_thread *t = &s->threads[a->thread];

		t->past_work = t->work + t->entered;
		t->past_waited = t->waited;
		account_thread(ph, t);
		ph->wait_ns += s->now - a->arrive_ns;
		ph->barrier_ns += a->leave_ns - s->now + exit_time;
		t->released = s->now;
		t->left_episode = episode;
		sim_next_step(s, t, &s->in->threads[a->thread], exit_time);
		sim_post(s, a->leave_ns, SIM_READY, a->thread, 0);
	}
}

static void arrive(struct sim *s, uint32_t thread)
{
	struct sim_thread *t = &s->threads[thread];
	uint32_t episode = t->what;
	struct sim_episode *e = &s->episodes[episode];

	t->arrive = s->now;
	t->link = e->narrived++ ? e->first : PREDICT_NONE;
	e->first = thread;
	if (e->narrived == s->in->episodes[episode].n)
		release_members(s, episode, thread);
}

/* --- events ----------------------------------------------------------------------------------- */

static void report_end(struct sim *s, const struct sim_thread *t)
{
	struct predict_crossed c = {
		.thread = (uint32_t)(t - s->threads),
		.episode = PREDICT_NONE,
		.processor = t->last,
		.arrive_ns = s->now,
		.depart_ns = s->now,
		.work_ns = t->work,
		.queue_ns = t->waited,
	};

	if (s->crossing)
		s->crossing(s->ctx, &c);
}

static void end_thread(struct sim *s, struct sim_thread *t)
{
	struct predict_phase *tail = &s->out->phases[s->in->nsites];

	report_end(s, t);
	account_thread(tail, t);
	t->ended = true;
	s->ended++;
	if (s->now < s->out->time_ns)
		return;
	s->out->time_ns = s->now;
	tail->time_ns = s->now - t->released; /* tail of the thread that ends last */
	tail->episodes = 1;
}

/*
 * If the data are in another cluster, send the message of the thread's op. Return whether the
 * thread continues without waiting.
 */
static bool access_data(struct sim *s, uint32_t thread)
{
	struct sim_thread *t = &s->threads[thread];
	uint32_t home = s->threads[t->what].home;
	struct sim_message msg = {
		.kind = t->op == PREDICT_READ ? SIM_REQUEST : SIM_DATA,
		.thread = thread,
		.to = home,
		.back = t->home,
		.bytes = t->bytes,
	};

	if (s->m->access_free || predict_net_distance(&s->net, t->home, home) != PREDICT_FAR)
		return true;
	sim_send(s, msg, t->home, t->op == PREDICT_READ ? s->m->request_size : t->bytes);
	t->since = s->now;
	return t->op == PREDICT_WRITE;
}

/*
 * Do the op at the end of a burst. Return whether the thread continues with its next burst at once.
 */
static bool do_op(struct sim *s, uint32_t thread)
{
	struct sim_thread *t = &s->threads[thread];

	switch (t->op) {
	case PREDICT_MEET:
		arrive(s, thread);
		return false;
	case PREDICT_READ:
	case PREDICT_WRITE:
		if (!access_data(s, thread))
			return false;
		sim_next_step(s, t, &s->in->threads[thread], 0);
		return true;
	case PREDICT_DELAY:
		sim_post(s, s->now + (double)s->in->threads[thread].steps[t->next - 1].ns,
			 SIM_READY, thread, 0);
		sim_next_step(s, t, &s->in->threads[thread], 0);
		return false;
	case PREDICT_END:
		end_thread(s, t);
		return false;
	}
	return false;
}

static void run_end(struct sim *s, uint32_t processor)
{
	struct sim_processor *p = &s->processors[processor];
	uint32_t thread = p->thread;
	struct sim_thread *t = &s->threads[thread];

	t->left = fmax(0, t->left - p->slice);
	p->generation++;
	p->looks = false;
	if (t->left > 0) {
		/* The thread's quantum is over: run the next ready thread, if there is one. */
		if (sim_queue_of(s, processor)->head != PREDICT_NONE) {
			t->since = s->now;
			sim_put_thread(s, sim_queue_of(s, processor), thread);
			p->thread = PREDICT_NONE;
			sim_start_thread(s, processor,
					 sim_take_thread(s, sim_queue_of(s, processor)));
			return;
		}
	} else if (!do_op(s, thread)) {
		p->thread = PREDICT_NONE;
		sim_go_on(s, processor);
		return;
	}
	sim_run_on(s, processor, 0);
}

static void handle_event(struct sim *s, const struct predict_event *e)
{
	struct sim_processor *p;

	switch ((enum sim_kind)e->kind) {
	case SIM_RUN_END:
		if (s->processors[e->subject].generation == e->generation)
			run_end(s, e->subject);
		break;
	case SIM_READY:
		sim_ready(s, e->subject);
		break;
	case SIM_ARRIVED:
		sim_arrived(s, e->subject);
		break;
	case SIM_SERVED:
		sim_served(s, e->subject);
		break;
	case SIM_LOOKS:
		p = &s->processors[e->subject];
		if (p->generation == e->generation && p->serving == PREDICT_NONE)
			sim_interrupt(s, e->subject, 0);
		break;
	}
}

/* --- setup and end ---------------------------------------------------------------------------- */

static uint32_t home_of(const struct sim *s, uint32_t thread)
{
	if (s->nprocessors >= s->in->nthreads)
		return thread;
	if ((enum predict_scheduler)s->m->scheduler == PREDICT_CYCLIC)
		return thread % s->nprocessors;
	return (uint32_t)((uint64_t)thread * s->nprocessors / s->in->nthreads);
}

static int check_steps(const struct predict_input *in)
{
	array_for_each (t, in->threads, in->nthreads) {
		array_for_each (s, t->steps, t->n) {
			if ((s->op == PREDICT_READ || s->op == PREDICT_WRITE) &&
			    s->what >= in->nthreads)
				return -EINVAL;
		}
	}
	return 0;
}

static int sim_init(struct sim *s, uint32_t processors)
{
	uint32_t n = s->in->nthreads, i;

	s->nprocessors = processors;
	s->fixed = processors >= n || (enum predict_scheduler)s->m->scheduler != PREDICT_GLOBAL;
	s->shared = n > processors;
	s->ready.head = PREDICT_NONE;
	s->unused = PREDICT_NONE;
	predict_net_init(&s->net, s->m, processors);
	s->threads = calloc(n + 1, sizeof(*s->threads));
	s->processors = calloc(processors, sizeof(*s->processors));
	s->episodes = calloc((size_t)s->in->nepisodes + 1, sizeof(*s->episodes));
	s->idle = calloc(processors, sizeof(*s->idle));
	s->order = calloc(n + 1, sizeof(*s->order));
	s->members = calloc(n + 1, sizeof(*s->members));
	s->scratch = calloc(2 * (size_t)n + 2, sizeof(*s->scratch));
	s->out->nphases = s->in->nsites + 2;
	s->out->phases = calloc(s->out->nphases, sizeof(*s->out->phases));
	if (!s->threads || !s->processors || !s->episodes || !s->idle || !s->order || !s->members ||
	    !s->scratch || !s->out->phases)
		return -ENOMEM;
	/* The list is used from its end, so processor 0 is used first. */
	for (i = 0; i < processors; i++) {
		s->idle[i] = processors - 1 - i;
		s->processors[i] = (struct sim_processor){
			.thread = PREDICT_NONE,
			.last = PREDICT_NONE,
			.serving = PREDICT_NONE,
			.idle = processors - 1 - i,
			.threads.head = PREDICT_NONE,
			.messages.head = PREDICT_NONE,
		};
	}
	s->nidle = processors;
	for (i = 0; i < n; i++) {
		s->threads[i].home = s->threads[i].last = home_of(s, i);
		s->threads[i].left_episode = PREDICT_NONE;
	}
	return 0;
}

static void sim_free(struct sim *s)
{
	free(s->threads);
	free(s->processors);
	free(s->episodes);
	free(s->idle);
	free(s->order);
	free(s->members);
	free(s->scratch);
	free(s->messages);
	free(s->heap.events);
}

/* Compute for @ns on one processor, before the threads begin or after all have ended. */
static void run_alone(struct sim *s, uint64_t ns)
{
	struct predict_phase *ph = &s->out->phases[s->in->nsites + 1];
	double t = (double)ns * s->m->mips_ratio;

	if (!ns)
		return;
	ph->episodes++;
	ph->time_ns += t;
	ph->work_ns += t;
	s->now += t;
}

static void sum_phases(struct predict_run *out)
{
	array_for_each (p, out->phases, out->nphases) {
		out->work_ns += p->work_ns;
		out->access_ns += p->access_ns;
	}
}

int predict_simulate(const struct predict_input *in, const struct predict_machine *m,
		     uint32_t processors, predict_crossing *crossing, void *ctx,
		     struct predict_run *out)
{
	struct sim s = { .in = in, .m = m, .out = out, .crossing = crossing, .ctx = ctx };
	struct predict_event e;
	uint32_t i;
	char why[256];
	int err;

	memset(out, 0, sizeof(*out));
	if (!processors || processors > PREDICT_PROCESSORS_MAX ||
	    predict_machine_check(m, why, sizeof(why)) || check_steps(in))
		return -EINVAL;
	err = sim_init(&s, processors);
	if (!err)
		run_alone(&s, in->before_ns);
	for (i = 0; !err && i < in->nthreads; i++) {
		s.threads[i].released = s.now;
		sim_next_step(&s, &s.threads[i], &in->threads[i], 0);
		sim_ready(&s, i);
	}
	while (!err && !s.err && predict_heap_pop(&s.heap, &e)) {
		s.now = e.t;
		out->events++;
		handle_event(&s, &e);
	}
	err = err ? err : s.err;
	if (!err && s.ended < in->nthreads)
		err = -EDEADLK;
	if (!err) {
		/*
		 * The last messages may have arrived after the last thread ended. The run ends with
		 * that thread.
		 */
		s.now = out->time_ns;
		run_alone(&s, in->after_ns);
		out->time_ns = s.now;
		sum_phases(out);
	}
	sim_free(&s);
	if (err)
		predict_run_free(out);
	return err;
}

void predict_run_free(struct predict_run *run)
{
	free(run->phases);
	memset(run, 0, sizeof(*run));
}
