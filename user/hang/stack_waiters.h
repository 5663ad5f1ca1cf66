/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Which threads are inside a barrier, told by their stacks alone: a frame in a barrier's function,
 * or a call of one that is not on the stack itself, because it went on to another in the place of
 * its return.
 */
#ifndef HANG_STACK_WAITERS_H
#define HANG_STACK_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

struct stack_waiters_arrival {
	const struct snapshot_thread *thread;
	const struct snapshot_frame *site; /* the program's call; NULL: its stack does not say */
};

/* Threads that wait for the same meeting, as far as can be told. */
struct stack_waiters_barrier {
	uint8_t family; /* enum sbt_family */
	uint8_t kind; /* enum sbt_kind */
	bool of_processes; /* one thread of each process comes: MPI */
	bool world; /* on MPI_COMM_WORLD; false: on another communicator, or not known */
	uint32_t pid; /* of the first */
	/* Address; 0: not known: then all that wait in this function are taken to be at one. */
	uint64_t object;
	uint32_t count; /* how many must come, by the object; 0 not known */
	char function[128]; /* that is called; as its file has it: untrusted */
	uint32_t n;
	struct stack_waiters_arrival *arrivals;
};

struct stack_waiters {
	uint32_t n;
	struct stack_waiters_barrier *barriers;
};

/*
 * Looks through @n snapshots of different processes, which must outlive the result, as must
 * @spaces. Returns 0 or -ENOMEM; stack_waiters_free() in any case.
 */
int stack_waiters_find(struct address_spaces *spaces, struct snapshots *snapshots,
		       const struct snapshot *const *looks, uint32_t n, struct stack_waiters *out);
void stack_waiters_free(struct stack_waiters *stack_waiters);

#endif /* HANG_STACK_WAITERS_H */
