// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "test_check.h"
#include "base/in_line.h"
#include "sites/family.h"
#include "sites/untraced.h"

static struct untraced calls_of(const char *symbol)
{
	struct untraced calls = { 0 };

	untraced_add(&calls, symbol);
	return calls;
}

static const char *names_of(struct untraced calls, char names[UNTRACED_NAMES])
{
	return untraced_names(&calls, names);
}

static struct untraced both_of(struct untraced calls, const char *symbol)
{
	untraced_add(&calls, symbol);
	return calls;
}

static bool is_same(const char *a, const char *b)
{
	struct untraced x = calls_of(a), y = calls_of(b);

	return !memcmp(x.mpi, y.mpi, sizeof(x.mpi)) && x.openmp == y.openmp;
}

/* One function has one bit in all languages, and no other function has this bit. */
static void spellings(void **state)
{
	static const char *const recv[] = { "MPI_Recv",	       "PMPI_Recv",	"mpi_recv_",
					    "mpi_recv",	       "mpi_recv__",	"MPI_RECV",
					    "pmpi_recv_",      "mpi_recv_f08_", "mpi_recv_f08ts_",
					    "pmpir_recv_f08_", "MPI_Recv_c",	"MPI_Recv@VERS_1" };
	static const char *const other[] = { "MPI_Irecv",     "MPI_Recv_init", "MPI_Barrier",
					     "MPI_Allreduce", "mpi_receive_",  "recv",
					     "MPI",	      "PMPI",	       "",
					     "MPI_",	      "MPI_Comm_free", "MPI_Win_post" };
	struct untraced calls;
	char names[UNTRACED_NAMES];

	assert_string_equal(names_of(calls_of("MPI_Recv"), names), "MPI_Recv");
	for (size_t i = 0; i < sizeof(recv) / sizeof(recv[0]); i++)
		assert_true(is_same(recv[i], "MPI_Recv"));
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		calls = calls_of(other[i]);
		assert_false(untraced_has_mpi(&calls));
	}
	assert_false(is_same("MPI_Waitall", "MPI_Wait"));
}

static void sentences(void **state)
{
	char names[UNTRACED_NAMES];
	struct untraced two = both_of(calls_of("MPI_Recv"), "MPI_Send");
	struct untraced three = both_of(two, "MPI_Bcast");
	struct untraced far = both_of(calls_of("MPI_Comm_create_group"), "MPI_Recv");
	struct untraced all = { .mpi = { UINT64_MAX, UINT64_MAX } };

	assert_string_equal(names_of((struct untraced){ 0 }, names), "");
	assert_string_equal(names_of(two, names), "MPI_Recv and MPI_Send");
	assert_string_equal(names_of(three, names), "MPI_Recv, MPI_Send and MPI_Bcast");
	assert_string_equal(names_of(far, names), "MPI_Recv and MPI_Comm_create_group");
	assert_string_equal(names_of(all, names),
			    "MPI_Recv, MPI_Send, MPI_Wait, MPI_Waitall and 124 more");
}

/*
 * Every function that the MPI standard (4.1) calls neither local nor nonblocking, and every polling
 * function, is traced or reported, with Fortran spellings.
 */
static void all_that_wait(void **state)
{
	static const char *const waiting[] = {
		"Allgather",
		"Allgather_init",
		"Allgatherv",
		"Allgatherv_init",
		"Allreduce",
		"Allreduce_init",
		"Alltoall",
		"Alltoall_init",
		"Alltoallv",
		"Alltoallv_init",
		"Alltoallw",
		"Alltoallw_init",
		"Barrier",
		"Barrier_init",
		"Bcast",
		"Bcast_init",
		"Buffer_detach",
		"Buffer_flush",
		"Cart_create",
		"Cart_sub",
		"Comm_accept",
		"Comm_connect",
		"Comm_create",
		"Comm_create_from_group",
		"Comm_create_group",
		"Comm_detach_buffer",
		"Comm_disconnect",
		"Comm_dup",
		"Comm_dup_with_info",
		"Comm_flush_buffer",
		"Comm_join",
		"Comm_spawn",
		"Comm_spawn_multiple",
		"Comm_split",
		"Comm_split_type",
		"Dist_graph_create",
		"Dist_graph_create_adjacent",
		"Exscan",
		"Exscan_init",
		"File_close",
		"File_get_position_shared",
		"File_open",
		"File_preallocate",
		"File_read_all",
		"File_read_all_begin",
		"File_read_all_end",
		"File_read_at_all",
		"File_read_at_all_begin",
		"File_read_at_all_end",
		"File_read_ordered",
		"File_read_ordered_begin",
		"File_read_ordered_end",
		"File_read_shared",
		"File_seek_shared",
		"File_set_atomicity",
		"File_set_info",
		"File_set_size",
		"File_set_view",
		"File_sync",
		"File_write_all",
		"File_write_all_begin",
		"File_write_all_end",
		"File_write_at_all",
		"File_write_at_all_begin",
		"File_write_at_all_end",
		"File_write_ordered",
		"File_write_ordered_begin",
		"File_write_ordered_end",
		"File_write_shared",
		"Gather",
		"Gather_init",
		"Gatherv",
		"Gatherv_init",
		"Graph_create",
		"Improbe",
		"Intercomm_create",
		"Intercomm_create_from_groups",
		"Intercomm_merge",
		"Iprobe",
		"Mprobe",
		"Mrecv",
		"Neighbor_allgather",
		"Neighbor_allgather_init",
		"Neighbor_allgatherv",
		"Neighbor_allgatherv_init",
		"Neighbor_alltoall",
		"Neighbor_alltoall_init",
		"Neighbor_alltoallv",
		"Neighbor_alltoallv_init",
		"Neighbor_alltoallw",
		"Neighbor_alltoallw_init",
		"Parrived",
		"Probe",
		"Recv",
		"Reduce",
		"Reduce_init",
		"Reduce_scatter",
		"Reduce_scatter_block",
		"Reduce_scatter_block_init",
		"Reduce_scatter_init",
		"Request_get_status",
		"Request_get_status_all",
		"Request_get_status_any",
		"Request_get_status_some",
		"Rsend",
		"Scan",
		"Scan_init",
		"Scatter",
		"Scatter_init",
		"Scatterv",
		"Scatterv_init",
		"Send",
		"Sendrecv",
		"Sendrecv_replace",
		"Session_detach_buffer",
		"Session_finalize",
		"Session_flush_buffer",
		"Ssend",
		"Test",
		"Testall",
		"Testany",
		"Testsome",
		"Wait",
		"Waitall",
		"Waitany",
		"Waitsome",
		"Win_allocate",
		"Win_allocate_shared",
		"Win_complete",
		"Win_create",
		"Win_create_dynamic",
		"Win_fence",
		"Win_flush",
		"Win_flush_all",
		"Win_flush_local",
		"Win_flush_local_all",
		"Win_free",
		"Win_lock",
		"Win_lock_all",
		"Win_set_info",
		"Win_start",
		"Win_test",
		"Win_unlock",
		"Win_unlock_all",
		"Win_wait",
	};
	static const char *const spellings[] = { "MPI_%s", "PMPI_%s", "mpi_%s_", "pmpi_%s_",
						 "mpi_%s_f08_" };
	char symbol[64];

	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		for (size_t k = 0; k < sizeof(spellings) / sizeof(spellings[0]); k++) {
			struct untraced calls;

			snprintf(symbol, sizeof(symbol), spellings[k], waiting[i]);
			for (size_t c = 0; k >= 2 && symbol[c]; c++)
				symbol[c] = (char)tolower(symbol[c]);
			calls = calls_of(symbol);
			if (untraced_has_mpi(&calls) == (family_function(symbol, NULL) != NULL))
				fail_msg("%s is not in one of both lists", symbol);
		}
}

/* OpenMP's functions have their own bits, shared by the Fortran spellings. */
static void openmp(void **state)
{
	static const char *const other[] = {
		"GOMP_critical_end", "omp_set_lockx", "omp_unset_lock", "omp_set_lock__",
		"__kmpc_barrier",    "omp_",	      "GOMP_",		"__kmpc_"
	};
	struct untraced lock = calls_of("omp_set_lock_"), both = calls_of("__kmpc_critical");
	char names[UNTRACED_NAMES];

	assert_true(lock.openmp && !untraced_has_mpi(&lock));
	assert_true(lock.openmp == calls_of("omp_set_lock").openmp);
	assert_true(lock.openmp == calls_of("omp_set_lock@@OMP_3.0").openmp);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_true(is_same(other[i], ""));
	untraced_join(&both, &lock);
	assert_string_equal(names_of(both, names), "omp_set_lock and __kmpc_critical");
	assert_string_equal(names_of(both_of(both, "MPI_Recv"), names),
			    "MPI_Recv, omp_set_lock and __kmpc_critical");
}

/*
 * Waits for a turn are measured if their functions have probes. Such functions do not count as
 * untraced.
 */
static void turns(void **state)
{
	struct untraced calls = calls_of("omp_set_lock_"), test = calls_of("omp_test_lock");
	struct untraced seen = { 0 }, unseen = calls_of("omp_set_nest_lock");
	char names[UNTRACED_NAMES];

	assert_true(untraced_has_turns(&calls) && !untraced_has_turns(&test));
	untraced_join(&calls, &test);
	untraced_join(&calls, &unseen);
	untraced_add(&calls, "MPI_Recv");
	untraced_drop_turns(&calls, &unseen);
	assert_string_equal(untraced_names(&calls, names),
			    "MPI_Recv, omp_set_nest_lock and omp_test_lock");
	assert_false(untraced_jumps("omp_set_lock", &seen));
	untraced_add(&seen, "__kmpc_set_lock");
	assert_true(untraced_jumps("omp_set_lock@@VERSION", &seen));
	assert_false(untraced_jumps("omp_set_nest_lock", &seen));
	assert_false(untraced_jumps("omp_set_lockx", &seen));
}

/* Inlined waits of C++20 are named first. Among the untraced waits, only these may be barriers. */
static void in_line(void **state)
{
	struct untraced in = { .in_line = true }, calls = calls_of("MPI_Recv");
	char names[UNTRACED_NAMES];

	untraced_join(&calls, &in);
	assert_string_equal(untraced_names(&calls, names),
			    "std::barrier, std::latch or std::atomic::wait() (in line); MPI_Recv");
	assert_memory_equal(names, IN_LINE_NAMES, strlen(IN_LINE_NAMES));
	assert_string_equal(untraced_names(&in, names),
			    "std::barrier, std::latch or std::atomic::wait() (in line)");
	memset(calls.mpi, 0xff, sizeof(calls.mpi));
	calls.openmp = UINT64_MAX;
	assert_true(strlen(untraced_names(&calls, names)) < UNTRACED_NAMES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings), cmocka_unit_test(all_that_wait),
		cmocka_unit_test(sentences), cmocka_unit_test(openmp),
		cmocka_unit_test(turns),     cmocka_unit_test(in_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
