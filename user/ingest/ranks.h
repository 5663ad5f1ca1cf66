/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * MPI: which communicator a process means by a handle. A handle is a number of the process's own; for its
 * meetings to be known as those of all its ranks it is turned into what they have in common: the job for
 * MPI_COMM_WORLD; for a communicator made of another one, that one, the how-manieth call on it that made one, and
 * the colour. All ranks make these calls in the same order: MPI asks it of them.
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

/* Where the communicators that exist from the beginning are in Open MPI, in a process; 0: not there. */
struct ranks_handles {
	uint64_t world[4], self[4], null[4]; /* a program may have copies of its own */
	bool addresses; /* handles are these; else numbers, as MPICH has them */
};

/* A process that has MPI mapped, each time that it is looked at. Returns 0 or -ENOMEM. */
int ranks_see(struct ranks *ranks, uint32_t tgid, uint32_t inc, const struct job *job,
	      const struct ranks_handles *handles);
/* Adds what a module mapped at @entry has of them. */
void ranks_find_handles(const struct module *module, const struct maps_entry *entry,
			struct ranks_handles *handles);
/* All that the process has done since it began is known: it began when tracing had begun. */
int ranks_began(struct ranks *ranks, uint32_t tgid, uint32_t inc);
/* Its first crossings were not recorded: how many calls there were is not known. */
int ranks_missed(struct ranks *ranks, uint32_t tgid, uint32_t inc);
/* It has ended. */
void ranks_forget(struct ranks *ranks, uint32_t tgid, uint32_t inc);

/*
 * Every crossing, in order, before the model gets it. Fills in what is known of MPI's: who else meets there, how many
 * they are, the rank, which call on the communicator it is. Returns 0 or -ENOMEM.
 */
int ranks_crossing(struct ranks *ranks, const struct sbt_crossing *c, struct model_crossing *out);

/* What a handle of a process means, as far as is known; changes nothing. */
struct ranks_comm {
	uint64_t
		shared; /* as struct model_crossing has it; 0: not known which communicator it is */
	uint32_t size; /* 0 not known */
	uint32_t rank; /* of the process in its job; UINT32_MAX not known */
};

void ranks_look(struct ranks *ranks, uint32_t tgid, uint32_t inc, uint64_t handle,
		struct ranks_comm *out);
/* Calls @each for the processes of the same job, itself too. */
void ranks_each(const struct ranks *ranks, uint32_t tgid, uint32_t inc,
		void (*each)(void *ctx, uint32_t tgid, uint32_t rank), void *ctx);

struct ranks_sums {
	uint64_t unknown; /* crossings of communicators whose making nobody saw */
	uint64_t no_job; /* of processes of which it is not known what job they are of */
	uint64_t
		unseen; /* of those that had ended, or run another program, before that could be asked */
	uint32_t elsewhere; /* ranks of jobs that are not on this machine */
};

void ranks_sums(const struct ranks *ranks, struct ranks_sums *out);

#endif /* INGEST_RANKS_H */
