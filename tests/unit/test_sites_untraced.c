// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/in_line.h"
#include "sites/untraced.h"

static struct untraced calls_of(const char *symbol)
{
	struct untraced calls = { 0 };

	untraced_add(&calls, symbol);
	return calls;
}

static uint64_t untraced_bit(const char *symbol)
{
	return calls_of(symbol).mpi;
}

static const char *names_of(uint64_t mpi, uint64_t openmp, char names[UNTRACED_NAMES])
{
	struct untraced calls = { .mpi = mpi, .openmp = openmp };

	return untraced_names(&calls, names);
}

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
	assert_string_equal(names_of(untraced_bit("MPI_Recv"), 0, names), "MPI_Recv");
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
	assert_string_equal(names_of(0, 0, names), "");
	assert_string_equal(names_of(two, 0, names), "MPI_Recv and MPI_Send");
	assert_string_equal(names_of(three, 0, names), "MPI_Recv, MPI_Send and MPI_Bcast");
	assert_string_equal(names_of(UINT64_MAX, 0, names),
			    "MPI_Recv, MPI_Send, MPI_Wait, MPI_Waitall and 60 more");
}

/* OpenMP's functions have bits of their own, and Fortran's spelling has the same. */
static void openmp(void **state)
{
	static const char *const other[] = {
		"GOMP_critical_end", "omp_set_lockx", "omp_unset_lock", "omp_set_lock__",
		"__kmpc_barrier",    "omp_",	      "GOMP_",		"__kmpc_"
	};
	struct untraced lock = calls_of("omp_set_lock_"), both = calls_of("__kmpc_critical");
	char names[UNTRACED_NAMES];
	size_t i;

	(void)state;
	assert_true(lock.openmp && !lock.mpi);
	assert_true(lock.openmp == calls_of("omp_set_lock").openmp);
	assert_true(lock.openmp == calls_of("omp_set_lock@@OMP_3.0").openmp);
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_true(!calls_of(other[i]).openmp && !calls_of(other[i]).mpi);
	untraced_join(&both, &lock);
	assert_string_equal(names_of(0, both.openmp, names), "omp_set_lock and __kmpc_critical");
	assert_string_equal(names_of(untraced_bit("MPI_Recv"), both.openmp, names),
			    "MPI_Recv, omp_set_lock and __kmpc_critical");
}

/* Waits for a turn are measured where there are probes: these functions are then not untraced. */
static void turns(void **state)
{
	struct untraced calls = calls_of("omp_set_lock_"), test = calls_of("omp_test_lock");
	struct untraced seen = { 0 }, unseen = calls_of("omp_set_nest_lock");
	char names[UNTRACED_NAMES];

	(void)state;
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

/* Waits of C++20 in line come first, and are the ones that may be barriers. */
static void in_line(void **state)
{
	struct untraced in = { .in_line = true }, calls = calls_of("MPI_Recv");
	char names[UNTRACED_NAMES];

	(void)state;
	untraced_join(&calls, &in);
	assert_string_equal(untraced_names(&calls, names),
			    "std::barrier, std::latch or std::atomic::wait() (in line); MPI_Recv");
	assert_memory_equal(names, IN_LINE_NAMES, strlen(IN_LINE_NAMES));
	assert_string_equal(untraced_names(&in, names),
			    "std::barrier, std::latch or std::atomic::wait() (in line)");
	calls.mpi = calls.openmp = UINT64_MAX;
	assert_true(strlen(untraced_names(&calls, names)) < UNTRACED_NAMES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings), cmocka_unit_test(sentences), cmocka_unit_test(openmp),
		cmocka_unit_test(turns),     cmocka_unit_test(in_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
