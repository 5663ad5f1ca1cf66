/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Finds why the last thread of an episode was late. For waits that are passed on from barrier to
 * barrier, also finds the phases in which they began (delay costs, delay.c). This code does no I/O.
 * It takes every finished episode, in the order of the calls of model_ops.episode. Memory use does
 * not depend on the number of episodes.
 */
#ifndef ANALYSE_CAUSE_H
#define ANALYSE_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/report.h"
#include "model/model.h"

/*
 * The parts of a lateness. Each part is the last thread's value minus that of a typical member (the
 * reference). The sum of the parts is exactly the lateness.
 */
enum cause_kind {
	CAUSE_WORK, /* more time on a CPU; used if the next two cannot be distinguished */
	CAUSE_MORE_WORK, /* more instructions, at the reference's pace */
	CAUSE_SLOWER_WORK, /* the rest of the additional time on a CPU */
	CAUSE_CPU, /* runnable, but waiting for a CPU */
	CAUSE_LOCK,
	CAUSE_GIL, /* the global interpreter lock of Python */
	CAUSE_IO,
	CAUSE_FAULT, /* page faults: blocked, or handling them on a CPU */
	CAUSE_SLEEP,
	CAUSE_THROTTLED,
	CAUSE_STEAL, /* the host took the CPU away from this virtual machine */
	CAUSE_OTHER, /* blocked for another reason */
	CAUSE_RELEASED_LATE, /* the thread left the preceding barrier later */
	CAUSE_UNATTRIBUTED,
	CAUSE_KINDS,
	CAUSE_NONE = CAUSE_KINDS,
};

/* A cause and its name ("more work"), which JSON and text use. */
struct cause_row {
	enum cause_kind kind;
	const char *name;
};

/* Return the row of a cause, or NULL for CAUSE_NONE. */
const struct cause_row *cause_row(enum cause_kind kind);
/* Return the name of a cause, or NULL for CAUSE_NONE. */
const char *cause_name(enum cause_kind kind);
/* Return true if @kind is the dominant cause. */
bool cause_is(const struct report_cause *cause, enum cause_kind kind);

/*
 * Names of files that connect threads. A recording stores only the names of files. In a recording,
 * a file connects threads if it has one of these names.
 */
#define CAUSE_PIPE   "a pipe" /* an unnamed pipe */
#define CAUSE_SOCKET "a socket"

/* The look-ups in struct cause_env: X(member). See REPORT_QUESTIONS. */
#define CAUSE_QUESTIONS(X) X(task) X(lock) X(mapping) X(file) X(stack)

/*
 * Look-ups that the caller provides. Each look-up of a name returns NULL if the name is unknown.
 * The code that calls a look-up copies the string at once.
 */
struct cause_env {
	void *ctx;
	/* Return the name of any task, traced or not ("stress-ng"). The name is untrusted. */
	const char *(*task)(void *ctx, uint32_t tid);
	/* Return the symbol or another name of the lock at @addr in the process. */
	const char *(*lock)(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr);
	/*
	 * Return the name of the mapping that contains @addr, for example the path of a file,
	 * "[heap]" or "anonymous memory".
	 */
	const char *(*mapping)(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr);
	/*
	 * Return the name of the file with this inode number, on which a thread was blocked. An
	 * unnamed pipe is CAUSE_PIPE, and a socket is CAUSE_SOCKET. Set *@has_ends if the file
	 * connects threads, as an unnamed pipe and a socket do; otherwise leave it unchanged.
	 */
	const char *(*file)(void *ctx, uint64_t inode, bool *has_ends);
	/*
	 * Write the call sites of the stack that has this key (model_block.stack), innermost first,
	 * as numbers for report_env.site. Return how many were written.
	 */
	uint32_t (*stack)(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
			  uint32_t max);
	/*
	 * Indices of the counters that count instructions and cycles; MODEL_NONE if there is no
	 * such counter.
	 */
	uint32_t instructions, cycles;
};

struct blame;

/* Return NULL when out of memory. @env and @report_env (names of sites) must outlive the result. */
struct causes *causes_new(const struct cause_env *env, const struct report_env *report_env);
void causes_free(struct causes *causes);
/* Fold one barrier or process into another, as model_ops does. Return 0 or -ENOMEM. */
int causes_fold_barrier(struct causes *causes, uint32_t from, uint32_t into);
int causes_fold_process(struct causes *causes, uint32_t from, uint32_t into);

/*
 * Add one episode to the blame of its site and to the @nmore blames of @more, which come from
 * conceptual_blames(). If @out is not NULL, write the cause of this episode to it. The culprit and
 * the frames are valid until the next call. out->nparts is 0 if nothing is known, for example for
 * an incomplete episode. Return 0 or -ENOMEM.
 */
int causes_episode(struct causes *causes, const struct model *model,
		   const struct model_episode *episode, struct blame *const *more, uint32_t nmore,
		   struct report_cause *out);

/* Add a sample of a thread on a CPU. Return 0 or -ENOMEM. */
int causes_sample(struct causes *causes, const struct model *model, uint32_t thread,
		  const struct model_sample *sample);
/* Return the number of samples of a process. */
uint64_t causes_samples(const struct causes *causes, uint32_t proc);
/* Add what a thread did that crossed no barrier. Return 0 or -ENOMEM. */
int causes_activity(struct causes *causes, const struct model *model, uint32_t thread,
		    const struct model_activity *activity);
/* Return the activities, for analyse/activity.h. */
const struct activities *causes_activities(const struct causes *causes);
/* Return the samples by place, for analyse/places.h. */
const struct places *causes_places(const struct causes *causes);

/*
 * Set weight[] to the lost time of a barrier by cause, in ns. Set *lost to all of its lost time,
 * including episodes without a named cause. Set *thread_ns to the sum of phase time x members. All
 * values are 0 if nothing is known.
 */
void causes_weights(const struct causes *causes, uint32_t barrier, double weight[CAUSE_KINDS],
		    double *lost, double *thread_ns);

/*
 * Write one sentence that says why threads are late at a barrier, over all its episodes. Write ""
 * if unknown.
 */
void causes_sentence(const struct causes *causes, uint32_t barrier, char *out, size_t size);

/* Why one member of an episode arrived later than the reference. */
struct cause_member {
	/* CAUSE_NONE: the member did not arrive late, or the cause is not known */
	enum cause_kind dominant;
	uint64_t lateness_ns; /* from the reference's arrival to this arrival */
	/* the dominant part; it exceeds lateness_ns if other parts are below 0 */
	uint64_t dominant_ns;
	/*
	 * the call site at which the thread was blocked for longest, if it was blocked for the
	 * dominant cause (CAUSE_GIL: where the holder of the GIL was); if it was on a CPU for
	 * longer, the site with most samples, if this is the latest episode; MODEL_NONE if unknown
	 */
	uint32_t site;
	/*
	 * if the last arriver was on a CPU for longer: the call site at which the last arrivers of
	 * this barrier were for longer than their references, over the late episodes so far;
	 * MODEL_NONE if unknown
	 */
	uint32_t more_site;
};

/*
 * Return the member with which the members of this episode are compared, or NULL if causes cannot
 * be known (incomplete, nested, OpenMP tasks). @causes is NULL if no causes were recorded.
 */
const struct model_member *cause_reference(const struct causes *causes, const struct model *model,
					   const struct model_episode *episode);
/*
 * Return why @member of the episode arrived later than @ref, which comes from cause_reference() and
 * may be NULL.
 */
struct cause_member cause_of_member(const struct causes *causes, const struct model *model,
				    const struct model_episode *episode,
				    const struct model_member *ref,
				    const struct model_member *member);

#endif /* ANALYSE_CAUSE_H */
