// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/untraced.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/in_line.h"
#include "sites/family.h"

#define NAMES_SHOWN 4

/*
 * Calls of MPI that may wait for another rank. Those that every rank must enter before any rank leaves are barriers
 * (sites/family.c) and are traced. Calls that only begin a transfer (MPI_Isend) return at once. The most telling names
 * come first, because a report shows the first few. A poll (MPI_Test) in a loop is a wait, too.
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
	"Win_create",
	"Win_allocate",
	"Win_free",
	"File_open",
	"File_close",
	"File_read_all",
	"File_write_all",
	"File_read_at_all",
	"File_write_at_all",
	"File_read_ordered",
	"File_write_ordered",
	"Comm_spawn",
	"Comm_accept",
	"Comm_connect",
	"Intercomm_create",
	"Intercomm_merge",
};

/*
 * Calls of OpenMP in which a thread waits for its turn. GCC's runtime has them by these names, LLVM's has all of them.
 * Fortran's have an underscore at the end. A poll (omp_test_lock) in a loop is a wait, too.
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

/* LLVM's runtime leaves the first by a jump to the second, which is as good a place. */
static const struct {
	const char *from, *to;
} openmp_jumps[] = {
	{ "omp_set_lock", "__kmpc_set_lock" },
	{ "omp_set_nest_lock", "__kmpc_set_nest_lock" },
};

#define MPI_FUNCTIONS	 (sizeof(mpi_functions) / sizeof(mpi_functions[0]))
#define OPENMP_FUNCTIONS (sizeof(openmp_functions) / sizeof(openmp_functions[0]))

_Static_assert(MPI_FUNCTIONS <= 64 && OPENMP_FUNCTIONS <= 64, "one bit each");

/* What may follow the name of a function: large counts in C, Fortran's underscores, and the module mpi_f08. */
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

static uint64_t mpi_bit(const char *symbol)
{
	size_t i, len, all;

	symbol += *symbol == 'p' || *symbol == 'P';
	if (strncasecmp(symbol, "mpi", 3) != 0)
		return 0;
	symbol += 3;
	symbol += *symbol == 'r';
	if (*symbol++ != '_')
		return 0;
	all = strcspn(symbol, "@");
	for (i = 0; i < MPI_FUNCTIONS; i++) {
		len = strlen(mpi_functions[i]);
		if (all >= len && !strncasecmp(symbol, mpi_functions[i], len) &&
		    is_ending(symbol + len, all - len))
			return 1ULL << i;
	}
	return 0;
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
	size_t i, len = strcspn(symbol, "@");

	for (i = 0; i < sizeof(openmp_jumps) / sizeof(openmp_jumps[0]); i++)
		if (strlen(openmp_jumps[i].from) == len &&
		    !strncmp(openmp_jumps[i].from, symbol, len) &&
		    probed->openmp & openmp_bit(openmp_jumps[i].to))
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
	/* Compilers call them under these names alone. */
	calls->tasks |= has_role(symbol, SBT_ROLE_TASK);
	calls->mpi |= mpi_bit(symbol);
	calls->openmp |= openmp_bit(symbol);
}

void untraced_join(struct untraced *to, const struct untraced *from)
{
	to->mpi |= from->mpi;
	to->openmp |= from->openmp;
	to->tasks |= from->tasks;
	to->in_line |= from->in_line;
}

const char *untraced_names(const struct untraced *calls, char out[UNTRACED_NAMES])
{
	unsigned int n = (unsigned int)(__builtin_popcountll(calls->mpi) +
					__builtin_popcountll(calls->openmp));
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

		if (!((mpi ? calls->mpi : calls->openmp) & 1ULL << at))
			continue;
		len += snprintf(out + len, UNTRACED_NAMES - (size_t)len, "%s%s%s", before,
				mpi ? "MPI_" : "", mpi ? mpi_functions[at] : openmp_functions[at]);
		before = ++shown + 1 == n ? " and " : ", ";
	}
	if (n > most)
		snprintf(out + len, UNTRACED_NAMES - (size_t)len, " and %u more", n - most);
	return out;
}
