/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What phases between barriers (conceptual.c) and between markers (user_phases.c) share. Nobody else includes it. */
#ifndef ANALYSE_PHASE_H
#define ANALYSE_PHASE_H

#include "analyse/internal.h"

/* What one thread did inside; of one occurrence, or of all. */
struct share {
	uint32_t thread; /* index */
	uint32_t tid; /* its place may be given to another */
	uint64_t crossings, last;
	uint64_t work_ns, wait_ns, wait_max_ns, idle_ns;
	uint64_t ideal_ns; /* one occurrence: its place on the longest path */
	uint64_t whole_ns; /* all: work in occurrences of which all work is known */
	struct model_sums sums;
};

struct shares {
	uint32_t n, cap;
	struct share *all;
	uint32_t nplaces;
	uint32_t *places; /* by the thread's index: where it is in `all`, plus 1; 0: it is not */
};

/* From one begin to its end. */
struct occurrence {
	bool unknown; /* some thread's work */
	uint64_t start_ns;
	uint64_t episodes, incomplete;
	struct shares shares;
};

/* All of them that have ended, in one process. */
struct phase {
	struct model_stat time;
	uint64_t unfinished; /* begun, and their end was never seen */
	uint64_t episodes, incomplete;
	uint64_t whole_ns, ideal_ns; /* T and T_ideal of occurrences of which all work is known */
	struct shares shares;
	struct blame blame; /* every episode inside */
};

struct phase_build {
	const struct report_env *env;
	const struct model_thread *threads; /* by index */
	const uint32_t *position; /* the same: threads that follow each other have the same */
	struct arena *arena;
};

/* Of the thread at this index; NULL: no memory. */
struct share *share_of(struct shares *s, uint32_t thread, uint32_t tid);
/* Leaves the memory for the next occurrence. */
void shares_empty(struct shares *s);
void shares_free(struct shares *s);

void occurrence_begin(struct occurrence *o, uint64_t start_ns);
/*
 * What its thread worked up to @m. Of a phase that began before the occurrence did, which its thread did not wait for,
 * no parts are known.
 */
void occurrence_work(struct occurrence *o, const struct model_member *m, struct share *t);
/* What came of it when it was there, as member @i. */
void occurrence_wait(const struct model_episode *ep, uint32_t i, struct share *t);
/* @ep lies in it. */
void occurrence_count(struct occurrence *o, const struct model_episode *ep);

/* Takes in an occurrence. Returns 0 or -ENOMEM. */
int phase_end(struct phase *p, const struct occurrence *o, uint64_t end_ns);
void phase_free(struct phase *p);
/* @out but for its name; @open: so many were when all ended. Returns 0 or -ENOMEM. */
int phase_out(const struct phase_build *b, const struct phase *p, uint32_t open,
	      const struct model_proc *mp, struct report_conceptual *out);

#endif /* ANALYSE_PHASE_H */
