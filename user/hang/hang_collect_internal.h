/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of an inquest share. Nobody else includes it. */
#ifndef HANG_HANG_COLLECT_INTERNAL_H
#define HANG_HANG_COLLECT_INTERNAL_H

#include <time.h>

#include "hang/hang_collect.h"
#include "hang/locks.h"

struct hang_collect {
	struct address_spaces *spaces;
	struct snapshots *snapshots;
	struct locks *locks;
	struct report_env env; /* to name barriers */
};

/* One process, looked at twice. */
struct hang_collect_process {
	uint32_t pid;
	bool partly; /* it has more threads than were looked at */
	struct address_space *space;
	uint32_t n, narrived; /* of them, those that have come to a barrier: first in .tids */
	uint32_t *tids;
	struct snapshot *arrived, *others, *again; /* NULL: nobody */
	/* Of those that wait in MPI: with their stacks again; NULL: nobody. */
	struct snapshot *calls_again;
	uint32_t nreturns;
	int *returns; /* of each thread in .calls_again: regs_count_returns(), or -errno */
	uint32_t slot; /* of the first of them */
	bool *left; /* of each: it has returned from that call meanwhile, or this is not known */
};

struct hang_collect_answer {
	struct hang_input in;
	struct hang_collect_process *looked;
	uint32_t nlooked;
	struct hang_thread *threads;
	struct lock_seen *locks; /* by thread */
	struct hang_barrier *barriers;
	struct hang_arrival **arrivals; /* by barrier */
	void **arenas; /* by barrier: their names */
	uint32_t
		circle; /* the barrier's place is taken by a call of MPI: hang_collect_add_circle(); HANG_NONE */
	struct hang_member *both; /* who is there, and who is missing */
	uint64_t apart_ns;
};

/* inquest_threads.c */
/* Appends a thread of a process that was looked at. Returns 0 or -ENOMEM. */
int hang_collect_add_thread(struct hang_collect *s, struct hang_collect_answer *a,
			    const struct hang_collect_question *q,
			    const struct hang_collect_process *p,
			    const struct snapshot_thread *first);
/* Which threads those wait for that wait for a rank. */
void hang_collect_add_peers(struct hang_collect_answer *a);
/* Workers of OpenMP that are in nothing but the runtime wait for the next region. */
void hang_collect_mark_idle(struct hang_collect_answer *a);

/* inquest_barriers.c */
/* The process, if it was looked at; NULL. */
const struct hang_collect_process *hang_collect_looked(const struct hang_collect_answer *a,
						       uint32_t pid);
/* Fills the barrier of this index, and notes who of the arrived has left it. Returns 0 or -errno. */
int hang_collect_add_barrier(struct hang_collect *s, struct hang_collect_answer *a,
			     const struct hang_collect_barrier *from, uint32_t index);

/* inquest_circle.c */
/* Looks for ranks that wait for one another's messages: .circle. Behind all barriers. Returns 0 or -ENOMEM. */
int hang_collect_add_circle(struct hang_collect *s, struct hang_collect_answer *a);

#endif /* HANG_HANG_COLLECT_INTERNAL_H */
