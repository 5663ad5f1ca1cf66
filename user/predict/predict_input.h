/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * From what was recorded to what the prediction needs: of each thread's phases the time that it computed, tracing's own
 * cost taken out, and who met whom. Pure. The episodes are given one by one, in the order in which the model finishes
 * them; kept are 16 bytes a crossing and 16 a meeting.
 *
 * What was made of a phase:
 *   on a CPU             computing, less the price of a crossing and what the host took of this guest's CPU
 *   ready, not running   dropped: it was for a lack of CPUs here
 *   asleep, I/O, pages   a delay that needs no processor, as long there
 *   waiting for a lock, throttled   dropped, and said
 *   not accounted for    all of it computing, and said
 *   before workers start of what their first thread computed: a serial part, which they wait for (a guess; the same
 *                        where a parallel region begins, up to the call that begins it, if that is known)
 *   the process without any thread that meets, before the first and after the last: serial parts, by the clock
 * Incomplete episodes are no meetings: what their members computed is added to their next phase.
 */
#ifndef PREDICT_PREDICT_INPUT_H
#define PREDICT_PREDICT_INPUT_H

#include "predict/predict.h"
#include "analyse/report.h"
#include "model/message.h"
#include "model/model.h"

/* Sums over all threads, ns unless said otherwise. */
struct predict_facts {
	uint64_t recorded_ns; /* from the first start to the last end of threads that met */
	/* Before and after that, while another thread of theirs was there: in the input as its serial parts. */
	uint64_t before_ns, after_ns;
	bool windowed; /* only what was in a window: without tails and serial parts */
	uint32_t cut; /* threads whose first phase began before the window: it is left out */
	uint64_t crossings, episodes; /* that are in */
	uint64_t left_out; /* episodes that are not: incomplete */
	uint64_t ambiguous; /* meetings whose members are a guess */
	uint64_t rivals; /* meetings where it is not certain who came last */
	uint64_t unknown; /* crossings whose phase is not known: they computed nothing before it */
	uint64_t messages; /* remote reads and writes that are in */
	uint64_t strangers; /* of which it is not known whose data: left out */
	uint64_t forks; /* begins of parallel parts that were worked out */
	uint64_t computing_ns;
	uint64_t wall_ns; /* of that, not accounted for: by the clock on the wall */
	uint64_t delay_ns;
	uint64_t runq_ns, lock_ns, throttled_ns, unattributed_ns; /* dropped */
	uint64_t steal_ns, cost_ns; /* taken out */
	bool cost_known;
	uint32_t detached_parts; /* processes of which some barriers were (--cost-limit) */
	uint32_t
		tasks; /* processes that run OpenMP tasks: what is computed in their barriers is not in the input */
	uint32_t detached; /* processes that were traced up to some moment only (--cost-limit) */
};

struct predict_feed;

/* @env: what a crossing costs; may be NULL, and must outlive the feed. NULL: out of memory. */
struct predict_feed *predict_feed_new(const struct report_env *env);
/*
 * Before the first episode: only a window of the recording is fed, from @from_ns to @to_ns of CLOCK_MONOTONIC (or what
 * the recording has). What began before it is left out, and what comes after the last meeting.
 */
void predict_feed_window(struct predict_feed *f, uint64_t from_ns, uint64_t to_ns);
void predict_feed_free(struct predict_feed *f);
/* The next episode. 0, -ENOMEM or -E2BIG; after that nothing but predict_feed_free(). */
int predict_feed_episode(struct predict_feed *f, const struct model *model,
			 const struct model_episode *ep);
/*
 * Of @thread of the model, in the order of its messages, and before the episode that ends its phase. 0 or -ENOMEM.
 */
int predict_feed_message(struct predict_feed *f, const struct model *model, uint32_t thread,
			 const struct model_message *message);
/*
 * After model_finish(): the tails. The input is then whole: its sites are the model's barriers, and one more, where
 * parallel parts begin (model_nbarriers()), if there are such. The same.
 */
int predict_feed_finish(struct predict_feed *f, const struct model *model);
const struct predict_input *predict_feed_input(const struct predict_feed *f);
const struct predict_facts *predict_feed_facts(const struct predict_feed *f);
/* The model's thread that a thread of the input is, with its number then: the place may be another's since. */
uint32_t predict_feed_thread(const struct predict_feed *f, uint32_t thread, uint32_t *tid);

#endif /* PREDICT_PREDICT_INPUT_H */
