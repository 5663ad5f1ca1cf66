/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Why the last thread of an episode was late (the design's model, "Why a thread was late"), and where waits
 * began that were passed on from barrier to barrier (delay costs). Pure. Fed with every finished episode,
 * in the order in which the model hands them out; memory does not grow with their number.
 */
#ifndef ANALYSE_CAUSE_H
#define ANALYSE_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/report.h"
#include "model/model.h"

/* The parts of a lateness. Each is the last thread's minus the reference's; they add up to it exactly. */
enum cause_kind {
	CAUSE_WORK, /* on a CPU longer; more or slower work, which nothing tells apart */
	CAUSE_MORE_WORK, /* by its instructions, at the reference's pace */
	CAUSE_SLOWER_WORK, /* the rest of the time on a CPU */
	CAUSE_CPU, /* runnable, waited for a CPU */
	CAUSE_LOCK,
	CAUSE_IO,
	CAUSE_FAULT, /* page faults: blocked, or on a CPU handling them */
	CAUSE_SLEEP,
	CAUSE_THROTTLED,
	CAUSE_STEAL, /* the host of this guest ran something else on its CPU */
	CAUSE_OTHER, /* blocked for another reason */
	CAUSE_RELEASED_LATE, /* it left the barrier before later */
	CAUSE_UNATTRIBUTED,
	CAUSE_KINDS,
	CAUSE_NONE = CAUSE_KINDS,
};

/* A cause and its name: "more work", ...: for JSON and for people. */
struct cause_row {
	enum cause_kind kind;
	const char *name;
};

/* Return the row of a cause; NULL: CAUSE_NONE. */
const struct cause_row *cause_row(enum cause_kind kind);
/* Return its name; NULL: CAUSE_NONE. */
const char *cause_name(enum cause_kind kind);
/* Is this cause the dominant one? */
bool cause_is(const struct report_cause *cause, enum cause_kind kind);

/* Who and what: looked up by the caller, NULL where unknown. Strings are copied at once. */
struct cause_env {
	void *ctx;
	/* The name of any task, traced or not, by its number ("stress-ng"); untrusted. */
	const char *(*task)(void *ctx, uint32_t tid);
	/* The symbol or another name of the lock at @addr in the process. */
	const char *(*lock)(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr);
	/* The mapping that @addr lies in: a file's path, "[heap]", "anonymous memory". */
	const char *(*mapping)(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr);
	/* The file with this inode number that a thread was blocked on: its name, "a pipe". */
	const char *(*file)(void *ctx, uint64_t inode);
	/* The call sites of a stack, innermost first, for report_env.site; their number. */
	uint32_t (*stack)(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
			  uint32_t max);
	/* Which counter counts instructions and which cycles: index, or MODEL_NONE. */
	uint32_t instructions, cycles;
};

struct blame;

/* NULL: out of memory. @env and @report_env (for the sites' names) must outlive it. */
struct causes *causes_new(const struct cause_env *env, const struct report_env *report_env);
void causes_free(struct causes *causes);
/* model_ops.barrier_folded and process_folded. Return 0 or -ENOMEM. */
int causes_fold_barrier(struct causes *causes, uint32_t from, uint32_t into);
int causes_fold_process(struct causes *causes, uint32_t from, uint32_t into);

/*
 * Takes in one episode: its site's blame, and that of @more[@nmore] too (conceptual_blames()). @out, if not NULL, is filled for it, names and text included, and its culprit and
 * frames are valid until the next call; nparts is 0 where nothing can be said (incomplete, or not accounted for).
 * Returns 0 or -ENOMEM.
 */
int causes_episode(struct causes *causes, const struct model *model,
		   const struct model_episode *episode, struct blame *const *more, uint32_t nmore,
		   struct report_cause *out);

/*
 * What each cause has come to of a barrier's lost time so far, in ns: weight[]; *lost is all of it, that of episodes of
 * which no cause is named included. *thread_ns: their threads' time. All 0 where nothing is known.
 */
void causes_weights(const struct causes *causes, uint32_t barrier, double weight[CAUSE_KINDS],
		    double *lost, double *thread_ns);

/* Why a barrier's threads are late, in a sentence about all its episodes so far; "" if there is none. */
void causes_sentence(const struct causes *causes, uint32_t barrier, char *out, size_t size);

#endif /* ANALYSE_CAUSE_H */
