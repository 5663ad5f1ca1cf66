/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of an inquest share. Nobody else includes it. */
#ifndef HANG_HANG_COLLECT_INTERNAL_H
#define HANG_HANG_COLLECT_INTERNAL_H

#include <time.h>

#include "hang/hang_collect.h"
#include "hang/locks.h"

struct inquest {
	struct spaces *spaces;
	struct snapshots *snapshots;
	struct locks *locks;
	struct report_env env; /* to name barriers */
};

/* One process, looked at twice. */
struct inquest_process {
	uint32_t pid;
	bool partly; /* it has more threads than were looked at */
	struct space *space;
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

struct inquest_answer {
	struct hang_input in;
	struct inquest_process *looked;
	uint32_t nlooked;
	struct hang_thread *threads;
	struct lock_seen *locks; /* by thread */
	struct hang_barrier *barriers;
	struct hang_arrival **arrivals; /* by barrier */
	void **arenas; /* by barrier: their names */
	uint32_t
		circle; /* the barrier's place is taken by a call of MPI: inquest_add_circle(); HANG_NONE */
	struct hang_member *both; /* who is there, and who is missing */
	uint64_t apart_ns;
};

/* In ns. */
uint64_t inquest_clock(clockid_t clock);

/* inquest_threads.c */
/* Appends a thread of a process that was looked at. Returns 0 or -ENOMEM. */
int inquest_add_thread(struct inquest *s, struct inquest_answer *a,
		       const struct inquest_question *q, const struct inquest_process *p,
		       const struct snapshot_thread *first);
/* Which threads those wait for that wait for a rank. */
void inquest_add_peers(struct inquest_answer *a);
/* Workers of OpenMP that are in nothing but the runtime wait for the next region. */
void inquest_mark_idle(struct inquest_answer *a);

/* inquest_barriers.c */
/* The process, if it was looked at; NULL. */
const struct inquest_process *inquest_looked(const struct inquest_answer *a, uint32_t pid);
/* Fills the barrier of this index, and notes who of the arrived has left it. Returns 0 or -errno. */
int inquest_add_barrier(struct inquest *s, struct inquest_answer *a,
			const struct inquest_barrier *from, uint32_t index);

/* inquest_circle.c */
/* Looks for ranks that wait for one another's messages: .circle. Behind all barriers. Returns 0 or -ENOMEM. */
int inquest_add_circle(struct inquest *s, struct inquest_answer *a);

#endif /* HANG_HANG_COLLECT_INTERNAL_H */
