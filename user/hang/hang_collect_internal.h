/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Declarations shared by the hang_collect*.c files. */
#ifndef HANG_HANG_COLLECT_INTERNAL_H
#define HANG_HANG_COLLECT_INTERNAL_H

#include <time.h>

#include "hang/hang_collect.h"
#include "hang/locks.h"

struct hang_collect {
	struct address_spaces *spaces;
	struct snapshots *snapshots;
	struct locks *locks;
	struct report_env env; /* names barriers */
};

/* A process that was examined twice. */
struct hang_collect_process {
	uint32_t pid;
	bool incomplete; /* it has more threads than were examined */
	struct address_space *space;
	uint32_t n, narrived; /* the first .narrived of .tids have arrived at a barrier */
	uint32_t *tids;
	/*
	 * first look at arrived threads, first look at other threads, and second look at all
	 * threads; NULL: no such threads
	 */
	struct snapshot *arrived, *others, *again;
	/* second look at the threads in an MPI call, with their stacks; NULL: no such threads */
	struct snapshot *calls_again;
	uint32_t nreturns;
	int *returns; /* by thread of .calls_again: result of regs_count_returns(), or -errno */
	uint32_t slot; /* slot of .returns[0], for regs_count_returns() */
	/*
	 * by thread of .calls_again: true if the thread has, or may have, returned from that call
	 */
	bool *left;
};

struct hang_collect_answer {
	struct hang_input in;
	struct hang_collect_process *processes;
	uint32_t nprocesses, processes_cap;
	struct hang_thread *threads;
	struct lock_wait *locks; /* by thread */
	struct hang_barrier *barriers;
	struct hang_arrival **arrivals; /* by barrier */
	void **arenas; /* by barrier: memory that holds its names */
	/*
	 * index of the MPI call that hang_collect_add_circle() added as a barrier; HANG_NONE: none
	 */
	uint32_t circle;
	/* members of barrier .circle: the arrived and the missing thread */
	struct hang_member *both;
	uint64_t interval_ns; /* time between the two looks */
};

/* hang_collect_threads.c */
/*
 * Append a thread of an examined process. @first is the thread in the first look, with its stack if
 * that was read. The thread's entry in a->locks was filled from @first. Return 0 or -ENOMEM.
 */
int hang_collect_add_thread(struct hang_collect *s, struct hang_collect_answer *a,
			    const struct hang_collect_question *q,
			    const struct hang_collect_process *p,
			    const struct snapshot_thread *first);
/* Set .holder of the threads that wait for a rank. */
void hang_collect_add_peers(struct hang_collect_answer *a);
/* Mark OpenMP workers with only runtime frames as idle: they wait for the next region. */
void hang_collect_mark_idle(struct hang_collect_answer *a);

/* hang_collect_barriers.c */
/* Return the process if it was examined, or NULL. */
const struct hang_collect_process *hang_collect_find_process(const struct hang_collect_answer *a,
							     uint32_t pid);
/* Fill the barrier with this index, and mark stale arrivals in *from. Return 0 or -errno. */
int hang_collect_add_barrier(struct hang_collect *s, struct hang_collect_answer *a,
			     const struct hang_collect_barrier *from, uint32_t index);

/* hang_collect_circle.c */
/*
 * Find ranks that wait for messages from each other in a cycle, and fill .circle. Call this after
 * all barriers are added. Return 0 or -ENOMEM.
 */
int hang_collect_add_circle(struct hang_collect *s, struct hang_collect_answer *a);

#endif /* HANG_HANG_COLLECT_INTERNAL_H */
