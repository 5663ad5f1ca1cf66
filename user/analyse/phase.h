/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Shared only by phases between barriers (conceptual.c) and phases between markers (user_phases.c).
 */
#ifndef ANALYSE_PHASE_H
#define ANALYSE_PHASE_H

#include "analyse/internal.h"

/* The share of one thread in one occurrence, or in all occurrences. */
struct share {
	uint32_t thread; /* index in the model */
	uint32_t tid; /* shows if another thread has taken over the index */
	uint64_t crossings, last;
	uint64_t work_ns, wait_ns, wait_max_ns, idle_ns;
	uint64_t ideal_ns; /* for one occurrence: time of the longest path up to here */
	uint64_t whole_ns; /* for all occurrences: work in occurrences with completely known work */
	struct model_sums sums;
};

struct shares {
	uint32_t n, cap;
	struct share *all;
	uint32_t nplaces;
	uint32_t *places; /* indexed by thread: index in `all` plus 1; 0 if not in `all` */
};

/* One occurrence of a phase. */
struct occurrence {
	bool unknown; /* the work of a thread is unknown */
	uint64_t start_ns;
	uint64_t episodes, incomplete;
	struct shares shares;
};

/* All finished occurrences in one process. */
struct phase {
	struct model_stat time;
	uint64_t unfinished; /* occurrences without a recorded end */
	uint64_t episodes, incomplete;
	/* elapsed time and longest path, summed over occurrences with completely known work */
	uint64_t whole_ns, ideal_ns;
	struct shares shares;
	struct blame blame; /* blame of every episode inside */
};

struct phase_build {
	const struct report_env *env;
	const struct model_thread *threads; /* indexed as in the model */
	/* Indexed by thread. Threads that run one after another share a position. */
	const uint32_t *position;
	struct arena *arena;
};

/* Return the time of a member inside the barrier, or MODEL_UNKNOWN if its departure is unknown. */
static inline uint64_t member_inside(const struct model_member *m)
{
	return m->depart_ns != MODEL_UNKNOWN && m->depart_ns >= m->arrive_ns
		       ? m->depart_ns - m->arrive_ns
		       : MODEL_UNKNOWN;
}

/* Return the share of a thread, or NULL when out of memory. */
struct share *share_of(struct shares *s, uint32_t thread, uint32_t tid);
void shares_free(struct shares *s);

void occurrence_begin(struct occurrence *o, uint64_t start_ns);
/*
 * Add the thread's work up to its arrival @m. If this work began before the occurrence, add only
 * the time inside the occurrence. How the thread spent that time is then unknown.
 */
void occurrence_work(struct occurrence *o, const struct model_member *m, struct share *t);
/* Add the wait of member @i. */
void occurrence_wait(const struct model_episode *ep, uint32_t i, struct share *t);
/* Count an episode inside the occurrence. */
void occurrence_count(struct occurrence *o, const struct model_episode *ep);

/* Add a finished occurrence. Return 0 or -ENOMEM. */
int phase_end(struct phase *p, const struct occurrence *o, uint64_t end_ns);
void phase_free(struct phase *p);
/*
 * Fill in @out except for its name. @open is the number of occurrences that are open at the end.
 * Return 0 or -ENOMEM.
 */
int phase_out(const struct phase_build *b, const struct phase *p, uint32_t open,
	      const struct model_proc *mp, struct report_conceptual *out);

#endif /* ANALYSE_PHASE_H */
