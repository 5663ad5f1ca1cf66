/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Read a thread's current MPI call from its stack: the function, its call site, communicator and
 * peer rank. This needs no tracing: the arguments are read from the registers and the stack, where
 * the library keeps them during its own calls.
 */
#ifndef HANG_MPI_CALL_H
#define HANG_MPI_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "sites/address_space.h"
#include "sites/walk.h"

struct mpi_call {
	const char *name; /* such as "MPI_Recv", never freed; NULL: the thread is in no such call */
	uint32_t caller; /* index of the frame that made the call; UINT32_MAX: unknown */
	uint64_t site; /* address of the call */
	uint64_t cfa; /* canonical frame address of the function, which identifies the call */
	bool collective; /* all ranks of the communicator call it */
	bool world; /* the call is on MPI_COMM_WORLD; false: on another communicator, or unknown */
	int32_t peer; /* peer rank in the communicator; negative: any, none, or unknown */
};

/* A stack from walk_up(), with all registers. */
struct mpi_stack {
	struct address_spaces *spaces;
	struct address_space *space;
	const struct walk_frame *frames; /* innermost first */
	uint32_t n;
	walk_read_fn read;
	void *ctx; /* for .read */
};

/* Return whether a frame is in an MPI library. Otherwise mpi_call_find() finds nothing. */
bool mpi_call_likely(const struct mpi_stack *stack);
/*
 * Find the MPI call in which the thread waits. @out->name is NULL if the thread is in no call that
 * waits for other ranks.
 */
void mpi_call_find(const struct mpi_stack *stack, struct mpi_call *out);

/* Return whether @handle is C's MPI_COMM_WORLD in this process. */
bool mpi_call_is_world(struct address_spaces *spaces, const struct address_space *space,
		       uint64_t handle);

#endif /* HANG_MPI_CALL_H */
