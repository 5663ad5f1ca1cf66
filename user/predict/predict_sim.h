/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The simulation: threads compute on processors, wait at barriers and request data from each other
 * (section 3.3 of the paper, see predict.h).
 *
 * A thread computes in bursts. A burst is its recorded computing, times MipsRatio, plus the
 * thread's own cost of its next op. A processor runs one thread, or serves one message. Waiting
 * messages are served before ready threads. A thread that waits for a barrier or for data leaves
 * its processor to other threads. Each thread has a home: the processor that a fixed distribution
 * gives it, even if threads run on any free processor. A thread's data are at its home.
 */
#ifndef PREDICT_PREDICT_SIM_H
#define PREDICT_PREDICT_SIM_H

#include "predict/predict_internal.h"

/* Kinds of events, and the meaning of their subject. */
enum sim_kind {
	/* a processor ends its slice; ignored if the processor's generation has changed */
	SIM_RUN_END,
	SIM_READY, /* a thread stops waiting */
	SIM_ARRIVED, /* a message arrives */
	SIM_SERVED, /* a processor has served its message */
	/* a processor polls for messages; ignored if the processor's generation has changed */
	SIM_LOOKS,
};

enum sim_message_kind { SIM_REQUEST, SIM_ANSWER, SIM_DATA };

struct sim_message {
	enum sim_message_kind kind;
	uint32_t thread; /* thread that requests or sends data */
	uint32_t to; /* processor that serves the message */
	uint32_t back; /* processor of the request's sender */
	uint32_t bytes; /* size of the data */
	uint32_t next; /* next message in a processor's queue, or in the list of unused messages */
};

struct sim_queue {
	uint32_t head, tail; /* head is PREDICT_NONE if the queue is empty */
};

struct sim_thread {
	uint64_t next; /* index of the next step */
	double left; /* rest of the burst, ns */
	double arrive; /* arrival at its last episode */
	double since; /* it has been ready, or waited for data, since this time */
	double released; /* release of its last episode */
	/* Sums of the current phase, since `released`. */
	double work, access, queued, entered;
	double waited; /* waiting for a processor since its last departure */
	double past_work, past_waited; /* sums of the phase before its last episode */
	uint32_t home, last; /* processors: the home, and where the thread ran last */
	uint32_t link; /* next thread in a queue, or in the list of an episode's arrived threads */
	/* the episode with a departure not yet reported; PREDICT_NONE if none */
	uint32_t left_episode;
	enum predict_op op;
	uint32_t what, bytes;
	bool ended;
};

struct sim_processor {
	uint32_t thread; /* thread that it runs or will resume; PREDICT_NONE if none */
	uint32_t last; /* thread that it ran last; PREDICT_NONE if none */
	uint32_t serving; /* message that it serves; PREDICT_NONE if none */
	uint32_t generation; /* generation of its valid SIM_RUN_END and SIM_LOOKS events */
	uint32_t idle; /* its index in the list of idle processors; PREDICT_NONE if busy */
	bool looks; /* a SIM_LOOKS is queued */
	double since, slice; /* begin of the slice, and computing until SIM_RUN_END, ns */
	struct sim_queue threads, messages;
};

struct sim_episode {
	uint32_t narrived;
	uint32_t first; /* head of the list of arrived threads; valid if .narrived is not 0 */
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
	bool fixed; /* each thread stays at its home */
	bool shared; /* there are more threads than processors */
	uint32_t nprocessors, nidle, ended;
	struct sim_queue ready; /* ready threads; unused if `fixed` is set */
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

/* --- predict_processor.c: threads on processors ----------------------------------------------- */

void sim_post(struct sim *s, double t, enum sim_kind kind, uint32_t subject, uint32_t generation);
void sim_put_thread(struct sim *s, struct sim_queue *q, uint32_t thread);
/* Return PREDICT_NONE if the queue is empty. */
uint32_t sim_take_thread(struct sim *s, struct sim_queue *q);
/* Return the queue of ready threads that this processor may run. */
struct sim_queue *sim_queue_of(struct sim *s, uint32_t processor);
/* Return the number of polls during @computing: one after each interval but the last. */
double sim_looks_in(const struct sim *s, double computing);
/*
 * Run the processor's thread to the end of its burst or quantum. @overhead is the part of the burst
 * that does not count for the quantum.
 */
void sim_run_on(struct sim *s, uint32_t processor, double overhead);
/* Return the computing time of the slice up to now, without polls for messages. */
double sim_computed(const struct sim *s, const struct sim_processor *p);
/*
 * Begin the thread's next step. Its burst begins with @before ns for the end of the previous op,
 * such as leaving a barrier.
 */
void sim_next_step(struct sim *s, struct sim_thread *t, const struct predict_thread *steps,
		   double before);
void sim_start_thread(struct sim *s, uint32_t processor, uint32_t thread);
/*
 * Serve the first message of the processor's queue. The service begins with @before ns for the
 * interrupt, if there is one.
 */
void sim_serve_next(struct sim *s, uint32_t processor, double before);
/* Choose what the processor does next: messages, then its own thread, then a ready thread. */
void sim_go_on(struct sim *s, uint32_t processor);
/*
 * Run a ready thread on its last processor if that processor is idle, otherwise on any idle
 * processor. If no processor is idle, queue the thread.
 */
void sim_ready(struct sim *s, uint32_t thread);

/* --- predict_message.c: remote data ----------------------------------------------------------- */

void sim_send(struct sim *s, struct sim_message msg, uint32_t from, double bytes);
/* Interrupt the processor's computing to serve messages. The interrupt itself takes @before ns. */
void sim_interrupt(struct sim *s, uint32_t processor, double before);
void sim_arrived(struct sim *s, uint32_t message);
/* End the service of the processor's message. */
void sim_served(struct sim *s, uint32_t processor);

#endif /* PREDICT_PREDICT_SIM_H */
