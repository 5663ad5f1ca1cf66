// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "sites/family.h"

/* Handles of MPICH and of all libraries with its ABI, and handles of Open MPI in Fortran. */
#define MPICH_WORLD	0x44000000u
#define MPICH_SELF	0x44000001u
#define MPICH_NULL	0x04000000u
#define OPENMPI_F_WORLD 0u
#define OPENMPI_F_SELF	1u
#define OPENMPI_F_NULL	2u
#define OPENMPI_F_MAX	0xffffffu /* maximum handle of Open MPI in Fortran; addresses are larger */
/* the colour of a rank that joins no new communicator, in MPICH and Open MPI */
#define MPI_UNDEFINED_C ((uint32_t)-32766)

/* A communicator, which all its ranks share. */
struct comm {
	uint64_t key;
	uint32_t size; /* 0 unknown */
	uint32_t members; /* number of ranks that got a handle for the communicator */
	/* the call that made the communicator; NULL if it exists from the beginning */
	struct making *making;
};

/*
 * A process that began while it was traced. Either all its crossings were recorded, or the first
 * are missing.
 */
enum { BEGAN_COMPLETE = 1, BEGAN_MISSED };

/* A collective MPI call that makes new communicators. */
struct making {
	uint32_t done; /* number of ranks that returned from the call */
	uint32_t of; /* number of ranks that will return; 0 if unknown */
};

struct process {
	uint32_t tgid, inc;
	struct job job;
	struct ranks_handles handles;
	bool began; /* the process was traced from its beginning */
	bool missed; /* a record was lost, so its number of calls is unknown */
	/*
	 * the process abandoned a call, and it is unknown whether the other ranks count that call
	 */
	bool left;
	uint64_t number; /* number of the process, from 1; part of hash keys */
	struct process *next;
};

struct ranks {
	struct process *processes;
	struct hash by_process; /* (tgid, inc) -> struct process */
	struct hash began; /* (tgid, inc) -> BEGAN_* */
	struct hash by_handle; /* (process, handle) -> struct comm; 0 if unknown */
	struct hash by_key; /* key of the communicator -> struct comm */
	struct hash calls; /* (process, communicator) -> number of calls that made communicators */
	struct hash rounds; /* (process, communicator) -> number of crossings */
	struct hash making_of; /* (communicator, number of the call) -> struct making */
	struct hash seqs; /* (process, tid) -> number of its last crossing */
	struct ranks_sums sums;
	uint64_t nprocesses;
};

int ranks_new(struct ranks **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void ranks_free(struct ranks *r)
{
	if (!r)
		return;
	hash_free_ptrs(&r->by_process);
	hash_free(&r->began);
	hash_free(&r->by_handle);
	hash_free_ptrs(&r->by_key);
	hash_free(&r->calls);
	hash_free(&r->rounds);
	hash_free_ptrs(&r->making_of);
	hash_free(&r->seqs);
	free(r);
}

static uint64_t process_key(uint32_t tgid, uint32_t inc)
{
	return (uint64_t)tgid << 32 | inc;
}

static uint64_t pair(uint64_t a, uint64_t b)
{
	return hash_mix(a ^ hash_mix(b + 1));
}

/* --- processes -------------------------------------------------------------------------------- */

int ranks_began(struct ranks *r, uint32_t tgid, uint32_t inc)
{
	uint64_t key = process_key(tgid, inc), how;

	return hash_get(&r->began, key, &how) ? 0 : hash_put(&r->began, key, BEGAN_COMPLETE);
}

int ranks_missed(struct ranks *r, uint32_t tgid, uint32_t inc)
{
	return hash_put(&r->began, process_key(tgid, inc), BEGAN_MISSED);
}

void ranks_forget(struct ranks *r, uint32_t tgid, uint32_t inc)
{
	hash_del(&r->began, process_key(tgid, inc));
}

int ranks_see(struct ranks *r, uint32_t tgid, uint32_t inc, const struct job *job,
	      const struct ranks_handles *handles)
{
	struct process *p = hash_get_ptr(&r->by_process, process_key(tgid, inc));

	if (!p) {
		p = hash_new_ptr(&r->by_process, process_key(tgid, inc), sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->tgid = tgid;
		p->inc = inc;
		p->number = ++r->nprocesses;
		p->next = r->processes;
		r->processes = p;
	}
	if (!p->job.key)
		p->job = *job;
	p->handles = *handles;
	return 0;
}

static void add_handle(const struct module *m, enum module_handle which, uint64_t bias,
		       uint64_t out[4])
{
	uint64_t address = m->handles[which] + bias;
	int i;

	for (i = 0; i < 4 && out[i] && out[i] != address; i++)
		;
	if (i < 4 && m->handles[which])
		out[i] = address;
}

void ranks_find_handles(const struct module *m, const struct maps_entry *e,
			struct ranks_handles *handles)
{
	uint64_t vaddr, bias;

	if (!m->is_elf || !m->handles[MODULE_WORLD] || module_offset_to_vaddr(m, e->offset, &vaddr))
		return;
	bias = e->start - vaddr;
	handles->addresses = true;
	add_handle(m, MODULE_WORLD, bias, handles->world);
	add_handle(m, MODULE_SELF, bias, handles->self);
	add_handle(m, MODULE_NULL, bias, handles->null);
}

/* --- handles ---------------------------------------------------------------------------------- */

enum which { IS_MADE, IS_WORLD, IS_SELF, IS_NULL };

static bool is_one_of(const uint64_t addresses[4], uint64_t handle)
{
	int i;

	for (i = 0; i < 4 && addresses[i]; i++)
		if (addresses[i] == handle)
			return true;
	return false;
}

/* Reduce *handle to the bits that MPI uses. Return which predefined communicator it is, if any. */
static enum which which_is(const struct process *p, uint64_t *handle)
{
	if (!p->handles.addresses) {
		*handle = (uint32_t)*handle;
		return *handle == MPICH_WORLD  ? IS_WORLD
		       : *handle == MPICH_SELF ? IS_SELF
		       : *handle == MPICH_NULL ? IS_NULL
					       : IS_MADE;
	}
	if (is_one_of(p->handles.world, *handle) || *handle == OPENMPI_F_WORLD)
		return IS_WORLD;
	if (is_one_of(p->handles.self, *handle) || *handle == OPENMPI_F_SELF)
		return IS_SELF;
	if (is_one_of(p->handles.null, *handle) || *handle == OPENMPI_F_NULL)
		return IS_NULL;
	return IS_MADE;
}

static struct comm *comm_get(struct ranks *r, uint64_t key)
{
	struct comm *c = hash_get_ptr(&r->by_key, key);

	if (c)
		return c;
	c = hash_new_ptr(&r->by_key, key, sizeof(*c));
	if (c)
		c->key = key;
	return c;
}

/*
 * Return the number of ranks of the world on this machine, which are the ranks that can be seen; 0
 * if unknown.
 */
static uint32_t world_size(struct ranks *r, const struct job *job)
{
	if (job->size == JOB_NONE)
		return 0;
	if (job->local_size == JOB_NONE || !job->local_size || job->local_size >= job->size)
		return job->size;
	r->sums.elsewhere = job->size - job->local_size;
	return job->local_size;
}

/*
 * Return the key of the process's own communicator, which is unique among the recordings of all
 * ranks.
 */
static uint64_t self_key(const struct process *p)
{
	uint64_t process = process_key(p->tgid, p->inc);

	return pair(pair(p->job.key, p->job.rank), pair(process, 0x73656c66));
}

/*
 * Find the communicator for a handle. *out is NULL if the communicator cannot be known. Return 0 or
 * -ENOMEM.
 */
static int comm_of(struct ranks *r, const struct process *p, uint64_t handle, struct comm **out)
{
	*out = NULL;
	switch (which_is(p, &handle)) {
	case IS_WORLD:
		if (!p->job.key)
			return 0;
		*out = comm_get(r, pair(p->job.key, 0));
		if (*out && !(*out)->size)
			(*out)->size = world_size(r, &p->job);
		break;
	case IS_SELF:
		*out = comm_get(r, self_key(p));
		if (*out)
			(*out)->size = 1;
		break;
	case IS_NULL:
		return 0;
	case IS_MADE:
		*out = hash_get_ptr(&r->by_handle, pair(p->number, handle));
		return 0;
	}
	return *out ? 0 : -ENOMEM;
}

/* --- making ----------------------------------------------------------------------------------- */

static struct making *making_get(struct ranks *r, uint64_t key, uint32_t of)
{
	struct making *m = hash_get_ptr(&r->making_of, key);

	if (m)
		return m;
	m = hash_new_ptr(&r->making_of, key, sizeof(*m));
	if (m)
		m->of = of;
	return m;
}

/* Handle a rank's return from a call that makes communicators for the ranks of @parent. */
static int take_made(struct ranks *r, struct process *p, const struct sbt_crossing *c,
		     const struct comm *parent)
{
	bool readable = !(c->flags & SBT_CROSSING_NO_WORDS);
	uint64_t handle = c->handle, calls = 0, key;
	struct making *making;
	struct comm *comm;
	enum which which;

	/*
	 * If @c->object is small, it is a handle in Fortran, and so the new handle is a Fortran
	 * integer of four bytes, too.
	 */
	if (p->handles.addresses && c->object <= OPENMPI_F_MAX)
		handle = (uint32_t)handle;
	which = readable ? which_is(p, &handle) : IS_NULL;
	if (which == IS_MADE)
		hash_del(&r->by_handle, pair(p->number, handle));
	if (!parent)
		return 0;
	hash_get(&r->calls, pair(p->number, parent->key), &calls);
	if (hash_put(&r->calls, pair(p->number, parent->key), calls + 1))
		return -ENOMEM;
	if (!p->began || p->missed || c->made == SBT_WHAT_UNKNOWN)
		return 0;
	key = pair(parent->key, calls + 1);
	making = making_get(r, key, parent->size);
	if (!making)
		return -ENOMEM;
	making->done++;
	if (which != IS_MADE || c->made == MPI_UNDEFINED_C)
		return 0;
	comm = comm_get(r, pair(key, c->made));
	if (!comm)
		return -ENOMEM;
	comm->making = making;
	comm->members++;
	return hash_put_ptr(&r->by_handle, pair(p->number, handle), comm);
}

/* --- crossings -------------------------------------------------------------------------------- */

/*
 * Note in the process whether records of this thread, and so perhaps calls, were lost. Also note
 * whether a call that makes a communicator was abandoned. Return 0 or -ENOMEM.
 */
static int check_seq(struct ranks *r, struct process *p, const struct sbt_crossing *c)
{
	uint16_t left_making = SBT_CROSSING_ABANDONED | SBT_CROSSING_MAKES;
	uint64_t key = pair(p->number, c->tid), last = 0;

	hash_get(&r->seqs, key, &last);
	if (c->seq != last + 1 || (c->flags & left_making) == left_making)
		p->missed = true;
	return hash_put(&r->seqs, key, c->seq);
}

/*
 * Number the call on its communicator. MPI requires that all ranks make these calls in the same
 * order. The number shows which calls form an episode, even if not all members are known at that
 * time. One rank may return from the call that makes a communicator, and arrive at its first
 * barrier on this communicator, before another rank returns.
 */
static int number_call(struct ranks *r, struct process *p, const struct comm *comm,
		       const struct sbt_crossing *c, struct model_crossing *out)
{
	uint64_t key = pair(p->number, comm->key), rounds = 0;

	p->left |= (c->flags & SBT_CROSSING_ABANDONED) != 0;
	if (!p->began || p->missed || p->left)
		return 0;
	hash_get(&r->rounds, key, &rounds);
	if (rounds == UINT32_MAX)
		return 0;
	out->round = (uint32_t)++rounds;
	return hash_put(&r->rounds, key, rounds);
}

int ranks_crossing(struct ranks *r, const struct sbt_crossing *c, struct model_crossing *out)
{
	struct process *p = NULL;
	struct comm *comm = NULL;
	uint64_t began = 0;
	int err = 0;

	if (hash_count(&r->by_process))
		p = hash_get_ptr(&r->by_process, process_key(c->tgid, c->inc));
	if (p)
		err = check_seq(r, p, c);
	if (err || !family_has(c->family, FAMILY_RANKS))
		return err;
	out->count = 0;
	if (p) {
		hash_get(&r->began, process_key(c->tgid, c->inc), &began);
		p->began |= began != 0;
		p->missed |= began == BEGAN_MISSED;
		err = comm_of(r, p, c->object, &comm);
		if (!err && (c->flags & SBT_CROSSING_MAKES) && !(c->flags & SBT_CROSSING_ABANDONED))
			err = take_made(r, p, c, comm);
		if (err)
			return err;
		if (p->job.rank != JOB_NONE && p->job.rank < UINT16_MAX)
			out->place = (uint16_t)(p->job.rank + 1);
	}
	if (!comm) {
		r->sums.unknown += p && p->job.key;
		r->sums.unseen += !p;
		r->sums.no_job += p && !p->job.key;
		out->flags |= MODEL_CROSSING_PARTIAL;
		return 0;
	}
	out->shared = comm->key ? comm->key : 1;
	if (comm->making && comm->making->of && comm->making->done == comm->making->of)
		comm->size = comm->members;
	out->count = comm->size;
	return number_call(r, p, comm, c, out);
}

void ranks_look(struct ranks *r, uint32_t tgid, uint32_t inc, uint64_t handle,
		struct ranks_comm *out)
{
	const struct process *p = hash_get_ptr(&r->by_process, process_key(tgid, inc));
	struct comm *comm = NULL;

	*out = (struct ranks_comm){ .rank = UINT32_MAX };
	if (!p || comm_of(r, p, handle, &comm))
		return;
	if (p->job.rank != JOB_NONE)
		out->rank = p->job.rank;
	if (!comm)
		return;
	out->shared = comm->key ? comm->key : 1;
	out->size = comm->size;
}

void ranks_each(const struct ranks *r, uint32_t tgid, uint32_t inc,
		void (*each)(void *ctx, uint32_t tgid, uint32_t rank), void *ctx)
{
	const struct process *of = hash_get_ptr(&r->by_process, process_key(tgid, inc)), *p;

	for (p = r->processes; of && of->job.key && p; p = p->next)
		if (p->job.key == of->job.key)
			each(ctx, p->tgid, p->job.rank == JOB_NONE ? UINT32_MAX : p->job.rank);
}

void ranks_sums(const struct ranks *r, struct ranks_sums *out)
{
	*out = r->sums;
}
