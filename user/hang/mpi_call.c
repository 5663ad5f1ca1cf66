// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/mpi_call.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "ingest/ranks.h"
#include "elf/held_args.h"
#include "sites/module.h"

#define PASSED_ON    3 /* maximum number of nested functions in which one argument is searched */
#define INNER_FRAMES 8
#define MPICH_WORLD  0x44000000u
#define NO_ARGUMENT  (-1)
#define ANY_FRAME    UINT32_MAX

/*
 * Calls that wait for other ranks, with the argument numbers of the peer rank and the communicator
 * from the MPI standard.
 */
static const struct {
	const char *name;
	int8_t peer, comm;
	bool collective;
} calls[] = {
	{ "MPI_Recv", 3, 5, false },
	{ "MPI_Send", 3, 5, false },
	{ "MPI_Ssend", 3, 5, false },
	{ "MPI_Rsend", 3, 5, false },
	{ "MPI_Probe", 0, 2, false },
	{ "MPI_Mprobe", 0, 2, false },
	{ "MPI_Sendrecv", 8, 10, false },
	{ "MPI_Sendrecv_replace", 5, 7, false },
	{ "MPI_Wait", NO_ARGUMENT, NO_ARGUMENT, false },
	{ "MPI_Waitall", NO_ARGUMENT, NO_ARGUMENT, false },
	{ "MPI_Waitany", NO_ARGUMENT, NO_ARGUMENT, false },
	{ "MPI_Waitsome", NO_ARGUMENT, NO_ARGUMENT, false },
	{ "MPI_Barrier", NO_ARGUMENT, 0, true },
	{ "MPI_Bcast", NO_ARGUMENT, 4, true },
	{ "MPI_Reduce", NO_ARGUMENT, 6, true },
	{ "MPI_Allreduce", NO_ARGUMENT, 5, true },
	{ "MPI_Gather", NO_ARGUMENT, 7, true },
	{ "MPI_Gatherv", NO_ARGUMENT, 8, true },
	{ "MPI_Scatter", NO_ARGUMENT, 7, true },
	{ "MPI_Scatterv", NO_ARGUMENT, 8, true },
	{ "MPI_Allgather", NO_ARGUMENT, 6, true },
	{ "MPI_Allgatherv", NO_ARGUMENT, 7, true },
	{ "MPI_Alltoall", NO_ARGUMENT, 6, true },
	{ "MPI_Alltoallv", NO_ARGUMENT, 8, true },
	{ "MPI_Alltoallw", NO_ARGUMENT, 8, true },
	{ "MPI_Scan", NO_ARGUMENT, 5, true },
	{ "MPI_Exscan", NO_ARGUMENT, 5, true },
	{ "MPI_Reduce_scatter", NO_ARGUMENT, 5, true },
	{ "MPI_Reduce_scatter_block", NO_ARGUMENT, 5, true },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* --- names ------------------------------------------------------------------------------------ */

/* Return the frame's real function, not one inlined into it, or NULL. */
static const char *function_of(const struct mpi_stack *s, uint32_t i)
{
	const struct site_name *name = address_spaces_site(s->spaces, s->frames[i].site);

	return name && name->nframes ? name->frames[name->nframes - 1].function : NULL;
}

static bool is_mpi(const struct mpi_stack *s, uint32_t i)
{
	const char *name = function_of(s, i);

	if (!name)
		return false;
	name += *name == 'P' || *name == 'p';
	return !strncasecmp(name, "mpi_", 4) || !strncasecmp(name, "mpir_", 5);
}

/*
 * Return the index in calls[] of the function with the MPI or PMPI name @name, or -1. If @fortran,
 * @name is a name that a Fortran compiler derives from the name in C.
 */
static int row_of(const char *name, bool fortran)
{
	size_t i, len;

	if (!name)
		return -1;
	name += *name == 'P' || (fortran && *name == 'p');
	for (i = 0; i < CALLS; i++) {
		len = strlen(calls[i].name);
		if (fortran ? !strncasecmp(name, calls[i].name, len) &&
				      (!name[len] || !strcmp(name + len, "_") ||
				       !strcmp(name + len, "__") || !strncmp(name + len, "_f08", 4))
			    : !strcmp(name, calls[i].name))
			return (int)i;
	}
	return -1;
}

/* --- arguments -------------------------------------------------------------------------------- */

static bool value_in(const struct mpi_stack *s, const struct walk_frame *f,
		     const struct held_arg *arg, uint64_t *value)
{
	uint64_t at;

	*value = 0;
	if (arg->how == HELD_IN_REGISTER && stack_knows(&f->regs, arg->reg)) {
		*value = f->regs.value[arg->reg];
		return true;
	}
	if (arg->how == HELD_ON_STACK && f->cfa)
		at = f->cfa;
	else if (arg->how == HELD_AT_REGISTER && stack_knows(&f->regs, arg->reg))
		at = f->regs.value[arg->reg];
	else
		return false;
	return s->read(s->ctx, at + (uint64_t)(int64_t)arg->offset, value, arg->size) ==
	       (long)arg->size;
}

/*
 * Find where the function of frame @i keeps its arguments. The innermost frame is in no call, so
 * nothing is known about it.
 */
static bool held_by(const struct mpi_stack *s, uint32_t i, struct held_arg held[HELD_ARGS_MAX])
{
	struct address_space_code at;

	return i && i < s->n &&
	       address_space_code(s->spaces, s->space, s->frames[i].address + 1, &at) &&
	       module_held_args(at.module, at.vaddr, held);
}

/*
 * Read argument @n of the function of frame @i. If the function only passes the argument on, search
 * the inner frames.
 */
static bool argument(const struct mpi_stack *s, uint32_t i, int n, uint64_t *value)
{
	struct held_arg held[HELD_ARGS_MAX];
	int depth;

	for (depth = 0; depth < PASSED_ON && n >= 0 && n < HELD_ARGS_MAX; depth++, i--) {
		if (!held_by(s, i, held))
			return false;
		if (value_in(s, &s->frames[i], &held[n], value))
			return true;
		n = held[n].passed;
	}
	return false;
}

/*
 * Find the communicator's handle in MPICH's inner functions, which have a pointer to the
 * communicator's object instead. Every object begins with its own handle, in which bits 26 to 29
 * hold the value 1 for a communicator.
 */
static bool inner_communicator(const struct mpi_stack *s, uint32_t i, uint64_t *handle)
{
	struct held_arg held[HELD_ARGS_MAX];
	uint32_t first = i, word;
	uint64_t value;
	int n;

	for (; i && first - i < INNER_FRAMES; i--) {
		if (!held_by(s, i, held))
			continue;
		for (n = 0; n < HELD_ARGS_MAX; n++) {
			if (!value_in(s, &s->frames[i], &held[n], &value) || !value ||
			    s->read(s->ctx, value, &word, sizeof(word)) != (long)sizeof(word) ||
			    word >> 30 == 0 || (word >> 26 & 15) != 1)
				continue;
			*handle = word;
			return true;
		}
	}
	return false;
}

bool mpi_call_is_world(struct address_spaces *spaces, const struct address_space *space,
		       uint64_t handle)
{
	struct ranks_handles handles = { .addresses = false };
	int k;

	array_for_each (e, space->maps.entries, space->maps.n) {
		const struct module *m = e->exec ? address_space_module(spaces, space, e) : NULL;

		if (m)
			ranks_find_handles(m, e, &handles);
	}
	if (!handles.addresses)
		return (uint32_t)handle == MPICH_WORLD;
	for (k = 0; k < 4; k++)
		if (handles.world[k] && handles.world[k] == handle)
			return true;
	return false;
}

/* --- the call --------------------------------------------------------------------------------- */

bool mpi_call_likely(const struct mpi_stack *s)
{
	struct address_space_code at;

	array_for_each (f, s->frames, s->n)
		if (address_space_code(s->spaces, s->space, f->address + 1, &at) && at.module->mpi)
			return true;
	return false;
}

void mpi_call_find(const struct mpi_stack *s, struct mpi_call *out)
{
	uint32_t i, outer = ANY_FRAME, in_c = ANY_FRAME;
	uint64_t value;
	int row;

	*out = (struct mpi_call){ .caller = ANY_FRAME, .peer = -1 };
	for (i = 0; i < s->n; i++)
		if (is_mpi(s, i))
			outer = i;
	if (outer == ANY_FRAME)
		return;
	/* A Fortran function calls the C function, which takes its arguments by value. */
	for (i = outer + 1; i-- > 0 && in_c == ANY_FRAME;)
		if (row_of(function_of(s, i), false) >= 0)
			in_c = i;
	row = in_c != ANY_FRAME ? row_of(function_of(s, in_c), false)
				: row_of(function_of(s, outer), true);
	if (row < 0)
		return;
	out->name = calls[row].name;
	out->collective = calls[row].collective;
	if (outer + 1 < s->n) {
		out->caller = outer + 1;
		out->site = s->frames[outer + 1].address;
	}
	if (in_c == ANY_FRAME)
		return;
	out->cfa = s->frames[in_c].cfa;
	if (calls[row].comm >= 0 && (argument(s, in_c, calls[row].comm, &value) ||
				     (in_c && inner_communicator(s, in_c - 1, &value))))
		out->world = mpi_call_is_world(s->spaces, s->space, value);
	if (calls[row].peer >= 0 && argument(s, in_c, calls[row].peer, &value))
		out->peer = (int32_t)value;
}
