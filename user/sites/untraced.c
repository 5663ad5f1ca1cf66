// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/untraced.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAMES_SHOWN 4

/*
 * Calls of MPI that may wait for another rank. Those that every rank must enter before any rank leaves are barriers
 * (sites/family.c) and are traced. Calls that only begin a transfer (MPI_Isend) return at once. The most telling names
 * come first, because a report shows the first few. A poll (MPI_Test) in a loop is a wait, too.
 */
static const char *const functions[] = {
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

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

_Static_assert(FUNCTIONS <= 64, "one bit each");

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

uint64_t untraced_bit(const char *symbol)
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
	for (i = 0; i < FUNCTIONS; i++) {
		len = strlen(functions[i]);
		if (all >= len && !strncasecmp(symbol, functions[i], len) &&
		    is_ending(symbol + len, all - len))
			return 1ULL << i;
	}
	return 0;
}

const char *untraced_names(uint64_t bits, char out[UNTRACED_NAMES])
{
	unsigned int n = (unsigned int)__builtin_popcountll(bits), shown = 0;
	unsigned int most = n > NAMES_SHOWN + 1 ? NAMES_SHOWN : n;
	const char *before = "";
	int len = 0;
	size_t i;

	*out = '\0';
	for (i = 0; i < FUNCTIONS && shown < most; i++) {
		if (!(bits & 1ULL << i))
			continue;
		len += snprintf(out + len, UNTRACED_NAMES - (size_t)len, "%sMPI_%s", before,
				functions[i]);
		before = ++shown + 1 == n ? " and " : ", ";
	}
	if (n > most)
		snprintf(out + len, UNTRACED_NAMES - (size_t)len, " and %u more", n - most);
	return out;
}
