// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sites/untraced.h"

/* One function has one bit in all languages, and no other function has it. */
static void spellings(void **state)
{
	static const char *const recv[] = { "MPI_Recv",	       "PMPI_Recv",	"mpi_recv_",
					    "mpi_recv",	       "mpi_recv__",	"MPI_RECV",
					    "pmpi_recv_",      "mpi_recv_f08_", "mpi_recv_f08ts_",
					    "pmpir_recv_f08_", "MPI_Recv_c",	"MPI_Recv@VERS_1" };
	static const char *const other[] = { "MPI_Irecv",     "MPI_Recv_init", "MPI_Barrier",
					     "MPI_Allreduce", "mpi_receive_",  "recv",
					     "MPI",	      "PMPI",	       "",
					     "MPI_" };
	char names[UNTRACED_NAMES];
	size_t i;

	(void)state;
	assert_string_equal(untraced_names(untraced_bit("MPI_Recv"), names), "MPI_Recv");
	for (i = 0; i < sizeof(recv) / sizeof(recv[0]); i++)
		assert_true(untraced_bit(recv[i]) == untraced_bit("MPI_Recv"));
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_true(untraced_bit(other[i]) == 0);
	assert_true(untraced_bit("MPI_Waitall") != untraced_bit("MPI_Wait"));
}

static void sentences(void **state)
{
	char names[UNTRACED_NAMES];
	uint64_t two = untraced_bit("MPI_Recv") | untraced_bit("MPI_Send");
	uint64_t three = two | untraced_bit("MPI_Bcast");

	(void)state;
	assert_string_equal(untraced_names(0, names), "");
	assert_string_equal(untraced_names(two, names), "MPI_Recv and MPI_Send");
	assert_string_equal(untraced_names(three, names), "MPI_Recv, MPI_Send and MPI_Bcast");
	assert_string_equal(untraced_names(UINT64_MAX, names),
			    "MPI_Recv, MPI_Send, MPI_Wait, MPI_Waitall and 60 more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings),
		cmocka_unit_test(sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
