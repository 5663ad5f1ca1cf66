/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * MPI: find the communicator that a handle of a process refers to. A handle is local to its
 * process. It is mapped to a key that all ranks share. For MPI_COMM_WORLD, the key is the job. For
 * a communicator that was made from another one, the key combines the other communicator, the
 * ordinal of the call on it, and the colour. MPI requires that all ranks make these calls in the
 * same order.
 */
#ifndef INGEST_RANKS_H
#define INGEST_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "sbt/record.h"
#include "sites/module.h"
#include "target/job.h"

struct ranks;

int ranks_new(struct ranks **out);
void ranks_free(struct ranks *ranks);

/* Addresses of the predefined communicators of Open MPI in a process; 0 if there are none. */
struct ranks_handles {
	/* several addresses, because a program may contain copies of these objects */
	uint64_t world[4], self[4], null[4];
	/* true: handles are these addresses; false: handles are numbers, as in MPICH */
	bool addresses;
};

/* Note a process that maps MPI, each time its mappings are read. Return 0 or -ENOMEM. */
int ranks_see(struct ranks *ranks, uint32_t tgid, uint32_t inc, const struct job *job,
	      const struct ranks_handles *handles);
/* Add the predefined communicators in @module, mapped at @entry, to @handles. */
void ranks_find_handles(const struct module *module, const struct maps_entry *entry,
			struct ranks_handles *handles);
/*
 * Note that the process began while it was traced, so that all its calls are known. Return 0 or
 * -ENOMEM.
 */
int ranks_began(struct ranks *ranks, uint32_t tgid, uint32_t inc);
/*
 * Note that the first crossings of the process were not recorded, so its number of calls is
 * unknown. Return 0 or -ENOMEM.
 */
int ranks_missed(struct ranks *ranks, uint32_t tgid, uint32_t inc);
/* Forget a process that has ended. */
void ranks_forget(struct ranks *ranks, uint32_t tgid, uint32_t inc);

/*
 * Process each crossing, in order, before the model gets it. For MPI, fill in the communicator, its
 * size, the rank, and the ordinal of the call. Return 0 or -ENOMEM.
 */
int ranks_crossing(struct ranks *ranks, const struct sbt_crossing *c, struct model_crossing *out);

/* The known facts about a handle of a process. */
struct ranks_comm {
	uint64_t shared; /* see model_crossing.shared; 0 if the communicator is unknown */
	uint32_t size; /* 0 unknown */
	uint32_t rank; /* rank of the process in its job; UINT32_MAX if unknown */
};

void ranks_look(struct ranks *ranks, uint32_t tgid, uint32_t inc, uint64_t handle,
		struct ranks_comm *out);
/*
 * Call @each for each process of the same job, including this one. @rank is UINT32_MAX if unknown.
 */
void ranks_each(const struct ranks *ranks, uint32_t tgid, uint32_t inc,
		void (*each)(void *ctx, uint32_t tgid, uint32_t rank), void *ctx);

struct ranks_sums {
	uint64_t unknown; /* number of crossings at communicators that were created unseen */
	uint64_t no_job; /* number of crossings by processes of unknown jobs */
	/*
	 * number of crossings by processes that ended, or replaced their program, before their job
	 * could be read
	 */
	uint64_t unseen;
	uint32_t elsewhere; /* number of ranks of the traced jobs that are on other machines */
};

void ranks_sums(const struct ranks *ranks, struct ranks_sums *out);

#endif /* INGEST_RANKS_H */
