/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Turn a recording into the input of the prediction: the computing time of each thread's phases,
 * without the cost of tracing, and the members of each episode. This code does no I/O. The episodes
 * are fed one by one, in the order in which the model finishes them. The input takes 16 bytes per
 * crossing and 16 bytes per episode.
 *
 * The parts of a phase are used as follows:
 *   on a CPU             computing, without the cost of a crossing and steal time
 *   ready, not running   dropped: the recorded machine had too few CPUs
 *   asleep, I/O, page faults   a delay without a processor, equally long on the target
 *   waiting for a lock, throttled   dropped, with a note
 *   not accounted for    counted as computing, with a note
 *   computing of a thread before it started its workers, or before it began a parallel region
 *                        (up to the call that begins it, if known)
 *                        a serial part, for which the workers wait (a guess)
 *   time of a process before the first of the threads that are members of episodes begins, and
 *   after the last of them ends
 *                        serial parts; all of this wall-clock time counts as computing
 * Incomplete episodes are not used: their members' computing is added to the members' next phase.
 */
#ifndef PREDICT_PREDICT_INPUT_H
#define PREDICT_PREDICT_INPUT_H

#include "predict/predict.h"
#include "analyse/report.h"
#include "model/message.h"
#include "model/model.h"

/* Sums over all threads, in ns unless a comment says otherwise. */
struct predict_facts {
	/* from the first start to the last end of the threads that are members of episodes */
	uint64_t recorded_ns;
	/*
	 * Time before and after recorded_ns in which another thread of these processes ran alone
	 * (the serial parts).
	 */
	uint64_t before_ns, after_ns;
	bool windowed; /* only a time window is used, without tails and serial parts */
	/*
	 * number of threads with a first phase that began before the window; this phase is left out
	 */
	uint32_t cut;
	uint64_t crossings, episodes; /* number of crossings and episodes that are used */
	uint64_t left_out; /* incomplete episodes, which are not used */
	uint64_t ambiguous; /* episodes with guessed members */
	uint64_t rivals; /* episodes with an uncertain last arriver */
	uint64_t unknown; /* crossings after a phase of unknown duration, which counts as 0 */
	uint64_t messages; /* remote reads and writes that are used */
	uint64_t strangers; /* remote accesses to data of unknown threads, which are left out */
	uint64_t forks; /* begins of parallel parts, which are not recorded but derived (a guess) */
	uint64_t computing_ns;
	uint64_t wall_ns; /* part of .computing_ns that is wall-clock time */
	uint64_t delay_ns;
	uint64_t runq_ns, lock_ns, throttled_ns, unattributed_ns; /* left out of the input */
	uint64_t steal_ns, cost_ns; /* subtracted from the computing */
	bool cost_known;
	uint32_t detached_parts; /* processes with some barriers detached by --cost-limit */
	uint32_t tasks; /* processes with OpenMP tasks: computing in their barriers is left out */
	uint32_t detached; /* processes not traced to the end (--cost-limit) */
};

struct predict_feed;

/*
 * @env has the cost of a crossing; it may be NULL, and must outlive the feed. Return NULL when out
 * of memory.
 */
struct predict_feed *predict_feed_new(const struct report_env *env);
/*
 * Use only the part of the recording from @from_ns to @to_ns (CLOCK_MONOTONIC), as far as this part
 * was recorded. Phases that began earlier, and all times after the last episode, are left out. Call
 * this before the first episode.
 */
void predict_feed_window(struct predict_feed *f, uint64_t from_ns, uint64_t to_ns);
void predict_feed_free(struct predict_feed *f);
/* Feed the next episode. Return 0, -ENOMEM or -E2BIG; after an error only free the feed. */
int predict_feed_episode(struct predict_feed *f, const struct model *model,
			 const struct model_episode *ep);
/*
 * Feed a message of the model's @thread. Feed the messages of a thread in order, and before the
 * episode that ends the phase in which they were sent. Return 0 or -ENOMEM.
 */
int predict_feed_message(struct predict_feed *f, const struct model *model, uint32_t thread,
			 const struct model_message *message);
/*
 * After model_finish(), feed the time after each thread's last episode. This completes the input.
 * Its sites are the model's barriers. If there are parallel parts, one more site,
 * model_nbarriers(), is for their begins. Return the same as predict_feed_episode().
 */
int predict_feed_finish(struct predict_feed *f, const struct model *model);
const struct predict_input *predict_feed_input(const struct predict_feed *f);
const struct predict_facts *predict_feed_facts(const struct predict_feed *f);
/*
 * Return the model's index of a thread of the input, and set *tid to the thread's tid. By now, the
 * index may belong to another thread.
 */
uint32_t predict_feed_thread(const struct predict_feed *f, uint32_t thread, uint32_t *tid);

#endif /* PREDICT_PREDICT_INPUT_H */
