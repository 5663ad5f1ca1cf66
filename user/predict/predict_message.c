// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Messages: how they are sent, cross the network, are queued, and are served with one of three
 * policies.
 */
#include "base/grow.h"
#include "predict/predict_sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static uint32_t new_message(struct sim *s)
{
	uint32_t i = s->unused;

	if (i != PREDICT_NONE) {
		s->unused = s->messages[i].next;
		return i;
	}
	if (grow(s->messages, s->cap_messages, s->nmessages + 1)) {
		s->err = -ENOMEM;
		return PREDICT_NONE;
	}
	return s->nmessages++;
}

void sim_send(struct sim *s, struct sim_message msg, uint32_t from, double bytes)
{
	uint32_t i = new_message(s);

	if (i == PREDICT_NONE)
		return;
	s->messages[i] = msg;
	s->out->messages++;
	sim_post(s, s->now + predict_net_transit(&s->net, from, msg.to, bytes), SIM_ARRIVED, i, 0);
	s->net.inflight++;
}

void sim_interrupt(struct sim *s, uint32_t processor, double before)
{
	struct sim_processor *p = &s->processors[processor];
	struct sim_thread *t = &s->threads[p->thread];

	t->left = fmax(0, t->left - sim_computed(s, p));
	p->generation++;
	p->looks = false;
	sim_serve_next(s, processor, before);
}

/* Serve a message at a busy processor: now, at the next poll, or when its thread waits. */
static void arrived_busy(struct sim *s, uint32_t processor)
{
	struct sim_processor *p = &s->processors[processor];
	double period, look;

	switch ((enum predict_service)s->m->service) {
	case PREDICT_INTERRUPT:
		sim_interrupt(s, processor, s->m->interrupt_time);
		break;
	case PREDICT_POLL:
		period = s->m->poll_interval + s->m->poll_time;
		look = floor((s->now - p->since) / period) + 1;
		if (p->looks || look > sim_looks_in(s, p->slice))
			break;
		p->looks = true;
		sim_post(s, p->since + look * period, SIM_LOOKS, processor, p->generation);
		break;
	case PREDICT_NO_INTERRUPT:
		break;
	}
}

void sim_arrived(struct sim *s, uint32_t message)
{
	uint32_t processor = s->messages[message].to;
	struct sim_processor *p = &s->processors[processor];

	s->net.inflight--;
	s->messages[message].next = PREDICT_NONE;
	if (p->messages.head == PREDICT_NONE)
		p->messages.head = message;
	else
		s->messages[p->messages.tail].next = message;
	p->messages.tail = message;
	if (p->serving != PREDICT_NONE)
		return;
	if (p->thread == PREDICT_NONE)
		sim_serve_next(s, processor, 0);
	else
		arrived_busy(s, processor);
}

void sim_served(struct sim *s, uint32_t processor)
{
	struct sim_processor *p = &s->processors[processor];
	struct sim_message msg = s->messages[p->serving];
	struct sim_thread *t;

	s->messages[p->serving].next = s->unused;
	s->unused = p->serving;
	p->serving = PREDICT_NONE;
	sim_go_on(s, processor);
	if (msg.kind == SIM_REQUEST) {
		sim_send(s,
			 (struct sim_message){
				 .kind = SIM_ANSWER, .thread = msg.thread, .to = msg.back },
			 processor, msg.bytes);
	} else if (msg.kind == SIM_ANSWER) {
		t = &s->threads[msg.thread];
		t->access += s->now - t->since;
		sim_next_step(s, t, &s->in->threads[msg.thread], 0);
		sim_ready(s, msg.thread);
	}
}
