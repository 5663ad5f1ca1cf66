/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The call of MPI that a thread is in, read from its stack: which function, called from where, on which communicator and for
 * which other rank. Nothing was traced: the arguments are where the library keeps them during its own calls.
 */
#ifndef HANG_MPI_CALL_H
#define HANG_MPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "sites/address_space.h"
#include "sites/walk.h"

struct mpi_call {
	const char *name; /* "MPI_Recv", static; NULL: it is in no such call */
	uint32_t caller; /* index of the walk's frame that called it; UINT32_MAX unknown */
	uint64_t site; /* the address of that call */
	uint64_t cfa; /* of the function's frame: the same call has the same */
	bool collective; /* all ranks of the communicator call it */
	bool world; /* on MPI_COMM_WORLD; false: on another one, or not known */
	int32_t peer; /* the rank in the communicator that it waits for; negative: any, none, or not known */
};

/* A stack as walk_up() gave it, with all registers. */
struct mpi_stack {
	struct address_spaces *spaces;
	struct address_space *space;
	const struct walk_frame *frames; /* innermost first */
	uint32_t n;
	walk_read_fn read;
	void *ctx; /* of read */
};

/* Has one of these frames code of an MPI library? Only then mpi_call_find() can find anything. */
bool mpi_call_likely(const struct mpi_stack *stack);
/* Find the call that the thread waits in. @out->name is NULL where it is in none that waits for other ranks. */
void mpi_call_find(const struct mpi_stack *stack, struct mpi_call *out);

/* Is @handle MPI_COMM_WORLD in this process, in C? */
bool mpi_call_is_world(struct address_spaces *spaces, const struct address_space *space,
		       uint64_t handle);

#endif /* HANG_MPI_CALL_H */
