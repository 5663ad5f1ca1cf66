// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/untraced.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/in_line.h"
#include "sites/family.h"

#define NAMES_SHOWN 4

/*
 * Calls of MPI that may wait for another rank: all functions of MPI 4.1 except those that the
 * standard calls local or nonblocking. Operations that every rank must enter before any rank leaves
 * are barriers (sites/family.c) and are traced. Calls that only start a transfer (MPI_Isend) return
 * at once. MPI_Init and MPI_Finalize are not listed, because every program calls them.
 * MPI_Comm_free and MPI_Comm_set_info are not listed, because no library waits in them, although
 * all ranks must call them. The names that a user knows best are first, because a report shows only
 * a few. A poll (MPI_Test) in a loop is also a wait.
 */
static const char *const mpi_functions[] = {
	"Recv",
	"Send",
	"Wait",
	"Waitall",
	"Sendrecv",
	"Bcast",
	"Reduce",
	"Gather",
	"Scatter",
	"Waitany",
	"Waitsome",
	"Ssend",
	"Rsend",
	"Sendrecv_replace",
	"Probe",
	"Mprobe",
	"Mrecv",
	"Iprobe",
	"Improbe",
	"Test",
	"Testall",
	"Testany",
	"Testsome",
	"Gatherv",
	"Scatterv",
	"Scan",
	"Exscan",
	"Neighbor_allgather",
	"Neighbor_allgatherv",
	"Neighbor_alltoall",
	"Neighbor_alltoallv",
	"Neighbor_alltoallw",
	"Win_fence",
	"Win_wait",
	"Win_test",
	"Win_start",
	"Win_complete",
	"Win_lock",
	"Win_lock_all",
	"Win_unlock",
	"Win_unlock_all",
	"Win_flush",
	"Win_flush_all",
	"Win_flush_local",
	"Win_flush_local_all",
	"Win_create",
	"Win_create_dynamic",
	"Win_allocate",
	"Win_allocate_shared",
	"Win_free",
	"Win_set_info",
	"File_open",
	"File_close",
	"File_read_all",
	"File_write_all",
	"File_read_at_all",
	"File_write_at_all",
	"File_read_ordered",
	"File_write_ordered",
	"File_read_shared",
	"File_write_shared",
	"File_seek_shared",
	"File_get_position_shared",
	"File_set_view",
	"File_set_size",
	"File_preallocate",
	"File_sync",
	"File_set_atomicity",
	"File_set_info",
	"File_read_all_begin",
	"File_read_all_end",
	"File_write_all_begin",
	"File_write_all_end",
	"File_read_at_all_begin",
	"File_read_at_all_end",
	"File_write_at_all_begin",
	"File_write_at_all_end",
	"File_read_ordered_begin",
	"File_read_ordered_end",
	"File_write_ordered_begin",
	"File_write_ordered_end",
	"Comm_create_group",
	"Comm_create_from_group",
	"Comm_spawn",
	"Comm_spawn_multiple",
	"Comm_accept",
	"Comm_connect",
	"Comm_disconnect",
	"Comm_join",
	"Intercomm_create",
	"Intercomm_create_from_groups",
	"Intercomm_merge",
	"Session_finalize",
	"Request_get_status",
	"Request_get_status_all",
	"Request_get_status_any",
	"Request_get_status_some",
	"Parrived",
	"Buffer_detach",
	"Buffer_flush",
	"Comm_detach_buffer",
	"Comm_flush_buffer",
	"Session_detach_buffer",
	"Session_flush_buffer",
	"Barrier_init",
	"Bcast_init",
	"Reduce_init",
	"Allreduce_init",
	"Gather_init",
	"Gatherv_init",
	"Scatter_init",
	"Scatterv_init",
	"Allgather_init",
	"Allgatherv_init",
	"Alltoall_init",
	"Alltoallv_init",
	"Alltoallw_init",
	"Reduce_scatter_init",
	"Reduce_scatter_block_init",
	"Scan_init",
	"Exscan_init",
	"Neighbor_allgather_init",
	"Neighbor_allgatherv_init",
	"Neighbor_alltoall_init",
	"Neighbor_alltoallv_init",
	"Neighbor_alltoallw_init",
};

/*
 * Calls of OpenMP in which a thread waits for its turn. GCC's runtime has some of these functions,
 * and LLVM's has all of them. The Fortran names end with an underscore. A poll (omp_test_lock) in a
 * loop is also a wait.
 */
static const char *const openmp_functions[] = {
	"GOMP_critical_start",
	"GOMP_critical_name_start",
	"GOMP_ordered_start",
	"omp_set_lock",
	"omp_set_nest_lock",
	"__kmpc_critical",
	"__kmpc_critical_with_hint",
	"__kmpc_ordered",
	"omp_test_lock",
	"omp_test_nest_lock",
	"GOMP_atomic_start",
	"GOMP_doacross_wait",
	"GOMP_doacross_ull_wait",
	"__kmpc_doacross_wait",
	"__kmpc_set_lock",
	"__kmpc_set_nest_lock",
};

/*
 * LLVM's runtime leaves the function `from` by a jump to the function `to`, so a probe on `to` also
 * traces `from`.
 */
static const struct {
	const char *from, *to;
} openmp_jumps[] = {
	{ "omp_set_lock", "__kmpc_set_lock" },
	{ "omp_set_nest_lock", "__kmpc_set_nest_lock" },
};

#define MPI_FUNCTIONS	 (sizeof(mpi_functions) / sizeof(mpi_functions[0]))
#define OPENMP_FUNCTIONS (sizeof(openmp_functions) / sizeof(openmp_functions[0]))

_Static_assert(MPI_FUNCTIONS <= 64 * UNTRACED_WORDS && OPENMP_FUNCTIONS <= 64, "one bit each");

/*
 * Return whether @rest is a known ending after the name of a function: for large counts in C, for
 * Fortran, or for the module mpi_f08.
 */
static bool is_ending(const char *rest, size_t len)
{
	static const char *const endings[] = { "",     "_c",	  "_",
					       "__",   "_f08_",	  "_f08ts_",
					       "_f08", "_f08ts",  "_f08ts_large_",
					       "_c_",  "_f08_c_", "_f08ts_large" };
	size_t i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strlen(endings[i]) == len && !strncmp(rest, endings[i], len))
			return true;
	return false;
}

static void mpi_add(struct untraced *calls, const char *symbol)
{
	size_t i, len, all;

	symbol += *symbol == 'p' || *symbol == 'P';
	if (strncasecmp(symbol, "mpi", 3) != 0)
		return;
	symbol += 3;
	/*
	 * Some libraries add a letter to names of the module mpi_f08, and to functions that are not
	 * in the standard yet.
	 */
	symbol += *symbol == 'r' || *symbol == 'x' || *symbol == 'X';
	if (*symbol++ != '_')
		return;
	all = strcspn(symbol, "@");
	for (i = 0; i < MPI_FUNCTIONS; i++) {
		len = strlen(mpi_functions[i]);
		if (all >= len && !strncasecmp(symbol, mpi_functions[i], len) &&
		    is_ending(symbol + len, all - len))
			calls->mpi[i / 64] |= 1ULL << i % 64;
	}
}

static uint64_t openmp_bit(const char *symbol)
{
	size_t i, len, all = strcspn(symbol, "@");

	if (strncmp(symbol, "omp_", 4) != 0 && strncmp(symbol, "GOMP_", 5) != 0 &&
	    strncmp(symbol, "__kmpc_", 7) != 0)
		return 0;
	for (i = 0; i < OPENMP_FUNCTIONS; i++) {
		len = strlen(openmp_functions[i]);
		if (all >= len && !strncmp(symbol, openmp_functions[i], len) &&
		    (all == len || (all == len + 1 && symbol[len] == '_')))
			return 1ULL << i;
	}
	return 0;
}

static bool has_role(const char *symbol, uint8_t role)
{
	const struct family_function *f = NULL;

	while ((f = family_function(symbol, f)))
		if (f->role == role)
			return true;
	return false;
}

bool untraced_jumps(const char *symbol, const struct untraced *probed)
{
	size_t len = strcspn(symbol, "@");

	array_for_each (openmp_jump, openmp_jumps, sizeof(openmp_jumps) / sizeof(openmp_jumps[0]))
		if (strlen(openmp_jump->from) == len && !strncmp(openmp_jump->from, symbol, len) &&
		    probed->openmp & openmp_bit(openmp_jump->to))
			return true;
	return false;
}

static uint64_t turn_bits(void)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < OPENMP_FUNCTIONS; i++)
		if (has_role(openmp_functions[i], SBT_ROLE_TURN))
			bits |= 1ULL << i;
	return bits;
}

bool untraced_has_turns(const struct untraced *calls)
{
	return calls->openmp & turn_bits();
}

void untraced_drop_turns(struct untraced *calls, const struct untraced *unseen)
{
	calls->openmp &= ~turn_bits() | unseen->openmp;
}

void untraced_add(struct untraced *calls, const char *symbol)
{
	/* Functions that create tasks have only one name each, without variants. */
	calls->tasks |= has_role(symbol, SBT_ROLE_TASK);
	calls->semaphores |= has_role(symbol, SBT_ROLE_SEM_WAIT);
	mpi_add(calls, symbol);
	calls->openmp |= openmp_bit(symbol);
}

void untraced_join(struct untraced *to, const struct untraced *from)
{
	size_t i;

	for (i = 0; i < UNTRACED_WORDS; i++)
		to->mpi[i] |= from->mpi[i];
	to->openmp |= from->openmp;
	to->tasks |= from->tasks;
	to->in_line |= from->in_line;
	to->semaphores |= from->semaphores;
}

static unsigned int count_mpi(const struct untraced *calls)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < UNTRACED_WORDS; i++)
		n += (unsigned int)__builtin_popcountll(calls->mpi[i]);
	return n;
}

bool untraced_has_mpi(const struct untraced *calls)
{
	return count_mpi(calls);
}

const char *untraced_names(const struct untraced *calls, char out[UNTRACED_NAMES])
{
	unsigned int n = count_mpi(calls) + (unsigned int)__builtin_popcountll(calls->openmp);
	unsigned int most = n > NAMES_SHOWN + 1 ? NAMES_SHOWN : n, shown = 0;
	const char *before = "";
	int len = 0;
	size_t i;

	*out = '\0';
	if (calls->in_line)
		len = snprintf(out, UNTRACED_NAMES, "%s%s", IN_LINE_NAMES, n ? "; " : "");
	for (i = 0; i < MPI_FUNCTIONS + OPENMP_FUNCTIONS && shown < most; i++) {
		bool mpi = i < MPI_FUNCTIONS;
		size_t at = mpi ? i : i - MPI_FUNCTIONS;

		if (!((mpi ? calls->mpi[at / 64] : calls->openmp) & 1ULL << at % 64))
			continue;
		len += snprintf(out + len, UNTRACED_NAMES - (size_t)len, "%s%s%s", before,
				mpi ? "MPI_" : "", mpi ? mpi_functions[at] : openmp_functions[at]);
		before = ++shown + 1 == n ? " and " : ", ";
	}
	if (n > most)
		snprintf(out + len, UNTRACED_NAMES - (size_t)len, " and %u more", n - most);
	return out;
}
