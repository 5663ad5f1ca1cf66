/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the threads inside barriers by their stacks alone. Such a stack has a frame in a barrier
 * function, or contains a call of a barrier function that has no frame because it ended in a tail
 * call.
 */
#ifndef HANG_STACK_WAITERS_H
#define HANG_STACK_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

struct stack_waiters_arrival {
	const struct snapshot_thread *thread;
	const struct snapshot_frame *site; /* the program's call; NULL: not on the stack */
};

/* Threads that wait for the same episode, as far as this can be known. */
struct stack_waiters_barrier {
	uint8_t family; /* enum sbt_family */
	uint8_t kind; /* enum sbt_kind */
	bool of_processes; /* one thread of each process arrives: MPI */
	bool world; /* the call is on MPI_COMM_WORLD; false: on another communicator, or unknown */
	uint32_t pid; /* process of the first thread */
	/*
	 * Address of the barrier object; 0: unknown. Then all threads in .function count as being
	 * at one barrier.
	 */
	uint64_t object;
	uint32_t count; /* number of threads that must arrive, read from the object; 0: unknown */
	char function[128]; /* name of the called function, from the ELF file: untrusted */
	uint32_t n, cap;
	struct stack_waiters_arrival *arrivals;
};

struct stack_waiters {
	uint32_t n, cap;
	struct stack_waiters_barrier *barriers;
};

/*
 * Search @n snapshots of different processes. The snapshots and @spaces must outlive the result.
 * Return 0 or -ENOMEM. Call stack_waiters_free() in any case.
 */
int stack_waiters_find(struct address_spaces *spaces, struct snapshots *snapshots,
		       const struct snapshot *const *looks, uint32_t n, struct stack_waiters *out);
void stack_waiters_free(struct stack_waiters *stack_waiters);

#endif /* HANG_STACK_WAITERS_H */
