/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The simulation: threads compute on processors, meet at barriers and ask each other for data (section 3.3 of the
 * paper).
 *
 * A thread computes in bursts: what it computed as recorded, times MipsRatio, and what its next op costs it
 * itself. A processor runs one thread, or serves one message; messages that wait are served before threads that
 * are ready. Threads that wait, for a barrier or for data, leave their processor to others. Data belong to a
 * thread's home, which is the processor that a fixed distribution would give it, even where threads go wherever
 * there is room.
 */
#ifndef PREDICT_PREDICT_SIM_H
#define PREDICT_PREDICT_SIM_H

#include "predict/predict_internal.h"

enum sim_kind {
	SIM_RUN_END, /* of processor `who`, if it is still that generation */
	SIM_READY, /* thread `who` waits no longer */
	SIM_ARRIVED, /* message `who` */
	SIM_SERVED, /* the message that processor `who` serves */
	SIM_LOOKS, /* processor `who`, for messages, if it is still that generation */
};

enum sim_message_kind { SIM_REQUEST, SIM_ANSWER, SIM_DATA };

struct sim_message {
	enum sim_message_kind kind;
	uint32_t thread; /* who asked */
	uint32_t to; /* processor */
	uint32_t back; /* processor of who asked */
	uint32_t bytes; /* of the answer */
	uint32_t next; /* in a processor's queue, or free */
};

struct sim_queue {
	uint32_t head, tail; /* PREDICT_NONE: empty */
};

struct sim_thread {
	uint64_t next; /* step */
	double left; /* of the burst */
	double arrive, since; /* at a meeting; asked for data, or ready, since */
	double released; /* its last meeting */
	double work, access, queued, entered; /* since then, for the phase that will have ended */
	double waited; /* for a processor, since it left that meeting */
	double past_work, past_waited; /* of the phase that ended there */
	uint32_t home, last; /* processors */
	uint32_t link; /* the next in a queue, or at the meeting */
	uint32_t left_episode; /* which it has not been told to have left */
	enum predict_op op;
	uint32_t what, bytes;
	bool ended;
};

struct sim_processor {
	uint32_t thread; /* that it runs, or will go on with; PREDICT_NONE */
	uint32_t last; /* that it ran before */
	uint32_t serving; /* message; PREDICT_NONE */
	uint32_t generation; /* of what its SIM_RUN_END and SIM_LOOKS are about */
	uint32_t idle; /* its place among the idle ones; PREDICT_NONE */
	bool looks; /* a SIM_LOOKS is to come */
	double since, slice; /* it runs; computing until SIM_RUN_END */
	struct sim_queue threads, messages;
};

struct sim_episode {
	uint32_t come, first;
};

struct sim {
	const struct predict_input *in;
	const struct predict_machine *m;
	struct predict_net net;
	struct predict_heap heap;
	struct predict_run *out;
	predict_crossing *crossing;
	void *ctx;
	double now;
	bool fixed; /* threads stay with their homes */
	bool shared; /* more threads than processors */
	uint32_t nprocessors, nidle, ended;
	struct sim_queue ready; /* unless fixed */
	struct sim_thread *threads;
	struct sim_processor *processors;
	struct sim_episode *episodes;
	struct sim_message *messages;
	uint32_t nmessages, cap_messages, unused;
	uint32_t *idle;
	uint32_t *order;
	struct predict_arrival *members;
	double *scratch;
	int err;
};

/* --- predict_processor.c: threads on processors ----------------------------------------------------- */

void sim_post(struct sim *s, double t, enum sim_kind kind, uint32_t who, uint32_t generation);
void sim_put_thread(struct sim *s, struct sim_queue *q, uint32_t thread);
/* PREDICT_NONE: the queue is empty. */
uint32_t sim_take_thread(struct sim *s, struct sim_queue *q);
/* Of those that are ready, the ones that this processor may take. */
struct sim_queue *sim_queue_of(struct sim *s, uint32_t processor);
/* Looks for messages that @computing contains: one after each interval but the last. */
double sim_looks_in(const struct sim *s, double computing);
/* Runs its thread on, or its next turn; @changes: what of the burst is no turn of the thread. */
void sim_run_on(struct sim *s, uint32_t processor, double changes);
/* What it has computed of the burst by now, looks for messages taken out. */
double sim_computed(const struct sim *s, const struct sim_processor *p);
/* Its next step; @before: what it has to do first, ns. */
void sim_next_step(struct sim *s, struct sim_thread *t, const struct predict_thread *steps,
		   double before);
void sim_start_thread(struct sim *s, uint32_t processor, uint32_t thread);
/* The first message of its queue, @before ns from now. */
void sim_serve_next(struct sim *s, uint32_t processor, double before);
/* It has nothing to do: messages first, then what it was doing, then who is ready. */
void sim_go_on(struct sim *s, uint32_t processor);
/* A thread may run: where it ran last if there is room, else anywhere. */
void sim_ready(struct sim *s, uint32_t thread);

/* --- predict_message.c: remote data --------------------------------------------------------------- */

void sim_send(struct sim *s, struct sim_message msg, uint32_t from, double bytes);
/* A processor puts its computing aside, to serve what has come. */
void sim_interrupt(struct sim *s, uint32_t processor, double before);
void sim_arrived(struct sim *s, uint32_t message);
/* The message that the processor was serving is done with. */
void sim_served(struct sim *s, uint32_t processor);

#endif /* PREDICT_PREDICT_SIM_H */
