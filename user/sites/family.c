// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/family.h"

#include "base/array.h"
#include "elf/exits.h"

#include <stdio.h>
#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#define GLIBC_PROCESS_SHARED 128u /* FUTEX_PRIVATE_FLAG, which glibc stores inverted */
#define GLIBC_COUNT_MAX	     0x7fffffffu /* pthread_barrier_init() refuses larger counts */
#define MUSL_PROCESS_SHARED  0x80000000u

#define COUNT_UNKNOWN "the number of members is not known"
#define INTERPRETED   "the interpreter's own code runs on after the release"

const struct family family_table[SBT_FAMILIES] = {
	/* for functions in which threads wait for their turn (TURN) */
	[SBT_FAMILY_NONE] = { NULL, 0, EXITS_FOLLOW_ALL, NULL },
	[SBT_FAMILY_PTHREAD] = { "pthread",
				 FAMILY_LIBC_OBJECT | FAMILY_PLAIN_CALL | FAMILY_INFERRED,
				 EXITS_FOLLOW_NONE, NULL },
	[SBT_FAMILY_GOMP] = { "gomp",
			      FAMILY_OPENMP | FAMILY_PLAIN_CALL | FAMILY_COUNT_BEFORE_FUTEX |
				      FAMILY_INFERRED_IN_TEAM,
			      EXITS_FOLLOW_OUTSIDE, NULL },
	[SBT_FAMILY_LIBOMP] = { "libomp", FAMILY_OPENMP | FAMILY_PLAIN_CALL | FAMILY_SERIAL_REGIONS,
				EXITS_FOLLOW_OUTSIDE,
				"after the release, threads yield their CPUs and wake each other "
				"one by one" },
	[SBT_FAMILY_MPI] = { "mpi", FAMILY_RANKS | FAMILY_PLAIN_CALL, EXITS_FOLLOW_OUTSIDE,
			     "a rank leaves when messages of other ranks have reached it, which "
			     "may be before or long after the last arrival" },
	[SBT_FAMILY_STD] = { "std", FAMILY_CXX, EXITS_FOLLOW_ALL,
			     "the arrival calls no function that could have a probe: only the "
			     "wait after it is seen, and not every thread waits" },
	[SBT_FAMILY_USDT] = { "usdt", FAMILY_MARKERS, EXITS_FOLLOW_ALL, COUNT_UNKNOWN },
	[SBT_FAMILY_USER] = { "user", FAMILY_RULES, EXITS_FOLLOW_ALL, COUNT_UNKNOWN },
	[SBT_FAMILY_COND] = { "cond", FAMILY_COND_VAR, EXITS_FOLLOW_NONE, COUNT_UNKNOWN },
	[SBT_FAMILY_FUTEX] = { "futex", FAMILY_FUTEX_WORD, EXITS_FOLLOW_ALL, COUNT_UNKNOWN },
	[SBT_FAMILY_FORKJOIN] = { "forkjoin", FAMILY_JOINS, EXITS_FOLLOW_ALL,
				  "the end of a thread is its departure" },
	[SBT_FAMILY_ABSL] = { "absl", FAMILY_PLAIN_CALL, EXITS_FOLLOW_ALL,
			      "the mutex of the barrier holds threads up after the release" },
	[SBT_FAMILY_PYTHON] = { "python", FAMILY_INTERPRETED, EXITS_FOLLOW_ALL, INTERPRETED },
	[SBT_FAMILY_PYTHON_COND] = { "python-condition", FAMILY_INTERPRETED | FAMILY_COND_VAR,
				     EXITS_FOLLOW_ALL, INTERPRETED },
};

#define LIBRARY(begin_, family_, ...)                               \
	{                                                           \
		.begin = (begin_), .family = (family_), __VA_ARGS__ \
	}

/* The first row that matches a file name applies. */
const struct family_library family_libraries[] = {
	LIBRARY("libc.so", SBT_FAMILY_PTHREAD, .files = { "libc.so.6", "ld-musl-*.so.1" },
		.name = "libc", .function = "pthread_barrier_wait", .debug_package = "libc6-dbg"),
	LIBRARY("libc-", SBT_FAMILY_PTHREAD),
	LIBRARY("ld-musl", SBT_FAMILY_PTHREAD),
	LIBRARY("libpthread", SBT_FAMILY_PTHREAD),
	LIBRARY("libgomp-plugin", SBT_FAMILY_GOMP, .helper = true),
	/* Python packages contain copies with other names: "libgomp-a34b3233.so.1.0.0". */
	LIBRARY("libgomp", SBT_FAMILY_GOMP, .files = { "libgomp.so.1" }, .name = "libgomp",
		.function = "GOMP_barrier", .debug_package = "libgomp1-dbgsym"),
	LIBRARY("libompi", SBT_FAMILY_MPI, .helper = true), /* Open MPI */
	LIBRARY("libomptarget", SBT_FAMILY_LIBOMP, .helper = true),
	LIBRARY("libomp", SBT_FAMILY_LIBOMP, .files = { "libomp.so.5", "libomp.so" },
		.name = "libomp", .function = "__kmpc_barrier",
		.debug_package = "libomp5-14-dbgsym"),
	LIBRARY("libiomp", SBT_FAMILY_LIBOMP),
	LIBRARY("libmpi", SBT_FAMILY_MPI,
		.files = { "libmpi.so*", "libmpich.so*", "libmpi_mt.so*" }),
	LIBRARY("libopen-pal", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libopen-rte", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("mca_", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libpmi", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libhwloc", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libucs", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libucp", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libuct", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libfabric", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libevent", SBT_FAMILY_MPI, .helper = true),
	LIBRARY("libstdc++.so", SBT_FAMILY_STD),
	LIBRARY("libc++.so", SBT_FAMILY_STD),
	LIBRARY("libc++abi", SBT_FAMILY_STD, .helper = true),
	LIBRARY("libboost_thread", SBT_FAMILY_COND),
};

const uint32_t family_nlibraries = sizeof(family_libraries) / sizeof(family_libraries[0]);

const struct family_library *family_library(const char *file)
{
	array_for_each (library, family_libraries, family_nlibraries)
		if (!strncmp(file, library->begin, strlen(library->begin)))
			return library;
	return NULL;
}

bool family_library_has(const char *file, unsigned int traits)
{
	const struct family_library *library = family_library(file);

	return library && !library->helper && family_has(library->family, traits);
}

uint64_t family_probe_groups_with(unsigned int traits)
{
	uint64_t groups = 0;
	uint32_t i;

	for (i = 0; i < SBT_FAMILIES; i++)
		if (family_has((uint8_t)i, traits))
			groups |= SBT_PROBE_GROUP(i);
	return groups;
}

_Static_assert(SBT_FAMILIES <= SBT_PROBE_GROUPS_NAMED, "a probe group for each family");

static const char *const family_kinds[SBT_KINDS] = {
	[SBT_KIND_EXPLICIT] = "explicit",
	[SBT_KIND_LOOP] = "loop",
	[SBT_KIND_SECTIONS] = "sections",
	[SBT_KIND_SINGLE] = "single",
	[SBT_KIND_TASK] = "task",
	[SBT_KIND_JOIN] = "join",
	[SBT_KIND_COLLECTIVE] = "collective",
	[SBT_KIND_PHASE] = "phase",
	[SBT_KIND_SEMAPHORE] = "semaphore",
	[SBT_KIND_JOIN_ALL] = "join",
};

#define TEAM                        \
	{                           \
		.how = SBT_ARG_TEAM \
	}
/*
 * The first 8 bytes of argument 0, a struct ident_t, which describes a source location. The upper
 * half contains its flags.
 */
#define IDENT FAMILY_ARGUMENT_AS(0, .flags = SBT_ARG_POINTED)
/* The first two arguments are the region's function and its data. */
#define GOMP_REGION                                                                    \
	SBT_FAMILY_GOMP, SBT_KIND_JOIN, SBT_ROLE_REGION, .object = FAMILY_ARGUMENT(0), \
							 .words = FAMILY_ARGUMENT(1)

#define GOMP_TASK SBT_FAMILY_GOMP, SBT_KIND_TASK, SBT_ROLE_TASK, .words_offset = 0
#define KMPC_TASK SBT_FAMILY_LIBOMP, SBT_KIND_TASK, SBT_ROLE_TASK, .words_offset = 0

/*
 * The columns of a function in which threads wait for their turn, for both runtimes. Such a thread
 * is not at a barrier, so there is no family.
 */
#define TURN SBT_FAMILY_NONE, SBT_KIND_EXPLICIT, SBT_ROLE_TURN, .words_offset = 0

#define KMPC_REDUCE(what_)                                                          \
	SBT_FAMILY_LIBOMP, SBT_KIND_LOOP, SBT_ROLE_BARRIER,                         \
		.object = TEAM, .what = { .how = SBT_ARG_CONST, .value = (what_) }, \
		.flags = SBT_SPEC_REDUCE, .probe_group = "__kmpc_reduce"

#define FORKJOIN SBT_FAMILY_FORKJOIN, SBT_KIND_JOIN, SBT_ROLE_COND_WAIT
#define JOIN_ALL                                                    \
	SBT_FAMILY_FORKJOIN, SBT_KIND_JOIN_ALL, SBT_ROLE_COND_WAIT, \
		.object = { .how = SBT_ARG_NONE }

#define SEMAPHORE \
	SBT_FAMILY_COND, SBT_KIND_SEMAPHORE, SBT_ROLE_SEM_WAIT, .object = FAMILY_ARGUMENT(0)

/* clang-format off: one function per row */
/*
 * MPI: the operations that no rank leaves before all ranks have arrived. Operations that some ranks
 * leave earlier (MPI_Bcast, MPI_Reduce, MPI_Gather, MPI_Scatter, MPI_Scan and similar) are not in
 * the table: time in them is not a wait for the last arriver. In C, a function has two names; the
 * PMPI_ name has the same address in most libraries. In Fortran, a function has the names that
 * compilers and the module mpi_f08 derive, and its arguments are references. A library's Fortran
 * functions call its C functions; both calls together are one crossing. If MPI_Comm is an int
 * (MPICH), user space drops the upper half of the register.
 */
#define MPI_INT(n) FAMILY_ARGUMENT_AS(n, .size = 4, .flags = SBT_ARG_POINTED)
#define MPI_C(name, kind_, comm, ...)                                                   \
	{                                                                               \
		name, SBT_FAMILY_MPI, kind_, SBT_ROLE_BARRIER,                          \
			.words_offset = 0, .object = FAMILY_ARGUMENT(comm), __VA_ARGS__ \
	}
#define MPI_F(name, kind_, comm, ...)                                           \
	{                                                                       \
		name, SBT_FAMILY_MPI, kind_, SBT_ROLE_BARRIER,                  \
			.words_offset = 0, .object = MPI_INT(comm), __VA_ARGS__ \
	}
#define MPI_IN_C(name, kind, comm, ...) \
	MPI_C("MPI_" name, kind, comm, __VA_ARGS__), MPI_C("PMPI_" name, kind, comm, __VA_ARGS__)
#define MPI_IN_FORTRAN(upper, lower, kind, comm, ...)                   \
	MPI_F("mpi_" lower "_", kind, comm, __VA_ARGS__),               \
		MPI_F("mpi_" lower, kind, comm, __VA_ARGS__),           \
		MPI_F("mpi_" lower "__", kind, comm, __VA_ARGS__),      \
		MPI_F("MPI_" upper, kind, comm, __VA_ARGS__),           \
		MPI_F("pmpi_" lower "_", kind, comm, __VA_ARGS__),      \
		MPI_F("mpi_" lower "_f08_", kind, comm, __VA_ARGS__),   \
		MPI_F("mpi_" lower "_f08ts_", kind, comm, __VA_ARGS__), \
		MPI_F("pmpi_" lower "_f08_", kind, comm, __VA_ARGS__),  \
		MPI_F("pmpir_" lower "_f08_", kind, comm, __VA_ARGS__), \
		MPI_F("pmpir_" lower "_f08ts_", kind, comm, __VA_ARGS__)
#define MPI_SYNC(name, upper, lower, kind, comm)                \
	MPI_IN_C(name, kind, comm, .probe_group = "MPI_" name), \
		MPI_IN_FORTRAN(upper, lower, kind, comm, .probe_group = "MPI_" name)
#define MPI_DATA(name, upper, lower, comm)                                                  \
	MPI_SYNC(name, upper, lower, SBT_KIND_COLLECTIVE, comm),                            \
		MPI_IN_C(name "_c", SBT_KIND_COLLECTIVE, comm, .probe_group = "MPI_" name), \
		MPI_F("mpi_" lower "_f08ts_large_", SBT_KIND_COLLECTIVE, comm,              \
		      .probe_group = "MPI_" name)
/*
 * These functions make a communicator of all ranks (ONE), of the ranks of each colour (COLOURS), or
 * of unknown ranks (PARTS).
 */
#define MPI_MAKES_ONE(name, upper, lower, made)                                \
	MPI_IN_C(name, SBT_KIND_COLLECTIVE, 0, .words = FAMILY_ARGUMENT(made), \
		 .flags = SBT_SPEC_MAKES),                                     \
		MPI_IN_FORTRAN(upper, lower, SBT_KIND_COLLECTIVE, 0,           \
			       .words = FAMILY_ARGUMENT(made), .flags = SBT_SPEC_MAKES)
#define MPI_MAKES_COLOURS(name, upper, lower, made)                                  \
	MPI_IN_C(name, SBT_KIND_COLLECTIVE, 0, .words = FAMILY_ARGUMENT(made),       \
		 .what = FAMILY_ARGUMENT_AS(1, .size = 4), .flags = SBT_SPEC_MAKES), \
		MPI_IN_FORTRAN(upper, lower, SBT_KIND_COLLECTIVE, 0,                 \
			       .words = FAMILY_ARGUMENT(made), .what = MPI_INT(1),   \
			       .flags = SBT_SPEC_MAKES)
#define MPI_UNKNOWN                                             \
	{                                                       \
		.how = SBT_ARG_CONST, .value = SBT_WHAT_UNKNOWN \
	}
#define MPI_MAKES_PARTS(name, upper, lower, made)                                   \
	MPI_IN_C(name, SBT_KIND_COLLECTIVE, 0, .words = FAMILY_ARGUMENT(made),      \
		 .what = MPI_UNKNOWN, .flags = SBT_SPEC_MAKES),                     \
		MPI_IN_FORTRAN(upper, lower, SBT_KIND_COLLECTIVE, 0,                \
			       .words = FAMILY_ARGUMENT(made), .what = MPI_UNKNOWN, \
			       .flags = SBT_SPEC_MAKES)
static const struct family_function family_rows[] = {
	{ "pthread_barrier_wait", SBT_FAMILY_PTHREAD, SBT_KIND_EXPLICIT, SBT_ROLE_BARRIER,
	  .words_offset = 8, .object = FAMILY_ARGUMENT(0) },
	{ "pthread_barrier_init", SBT_FAMILY_PTHREAD, SBT_KIND_EXPLICIT, SBT_ROLE_MAKER,
	  .words_offset = 0 },
	{ "GOMP_barrier", SBT_FAMILY_GOMP, SBT_KIND_EXPLICIT, SBT_ROLE_BARRIER, .object = TEAM,
	  .probe_group = "GOMP_barrier" },
	{ "GOMP_barrier_cancel", SBT_FAMILY_GOMP, SBT_KIND_EXPLICIT, SBT_ROLE_BARRIER,
	  .object = TEAM, .probe_group = "GOMP_barrier" },
	{ "GOMP_loop_end", SBT_FAMILY_GOMP, SBT_KIND_LOOP, SBT_ROLE_BARRIER, .object = TEAM,
	  .probe_group = "GOMP_loop_end" },
	{ "GOMP_loop_end_cancel", SBT_FAMILY_GOMP, SBT_KIND_LOOP, SBT_ROLE_BARRIER, .object = TEAM,
	  .probe_group = "GOMP_loop_end" },
	{ "GOMP_sections_end", SBT_FAMILY_GOMP, SBT_KIND_SECTIONS, SBT_ROLE_BARRIER, .object = TEAM,
	  .probe_group = "GOMP_sections_end" },
	{ "GOMP_sections_end_cancel", SBT_FAMILY_GOMP, SBT_KIND_SECTIONS, SBT_ROLE_BARRIER,
	  .object = TEAM, .probe_group = "GOMP_sections_end" },
	/*
	 * The two calls of a single construct with copyprivate. The thread that executes the
	 * construct gets NULL from the first call, without waiting. It waits for the other threads
	 * in the second call.
	 */
	{ "GOMP_single_copy_start", SBT_FAMILY_GOMP, SBT_KIND_SINGLE, SBT_ROLE_BARRIER,
	  .object = TEAM, .flags = SBT_SPEC_WAITED, .probe_group = "GOMP_single_copy" },
	/* The other members of the team are in the function above, where departures are seen. */
	{ "GOMP_single_copy_end", SBT_FAMILY_GOMP, SBT_KIND_SINGLE, SBT_ROLE_BARRIER,
	  .object = TEAM, .probe_group = "GOMP_single_copy", .seen = true },
	{ "GOMP_parallel", GOMP_REGION },
	{ "GOMP_parallel_loop_static", GOMP_REGION },
	{ "GOMP_parallel_loop_dynamic", GOMP_REGION },
	{ "GOMP_parallel_loop_guided", GOMP_REGION },
	{ "GOMP_parallel_loop_runtime", GOMP_REGION },
	{ "GOMP_parallel_loop_nonmonotonic_dynamic", GOMP_REGION },
	{ "GOMP_parallel_loop_nonmonotonic_guided", GOMP_REGION },
	{ "GOMP_parallel_loop_nonmonotonic_runtime", GOMP_REGION },
	{ "GOMP_parallel_loop_maybe_nonmonotonic_runtime", GOMP_REGION },
	{ "GOMP_parallel_sections", GOMP_REGION },
	{ "GOMP_parallel_reductions", GOMP_REGION },
	{ "GOMP_task", GOMP_TASK },
	{ "GOMP_taskloop", GOMP_TASK },
	{ "GOMP_taskloop_ull", GOMP_TASK },
	{ "*._omp_fn.*", SBT_FAMILY_GOMP, SBT_KIND_JOIN, SBT_ROLE_OUTLINED,
	  .object = FAMILY_ARGUMENT(0) },
	{ "__kmpc_barrier", SBT_FAMILY_LIBOMP, SBT_KIND_EXPLICIT, SBT_ROLE_BARRIER, .object = TEAM,
	  .words = IDENT, .probe_group = "__kmpc_barrier" },
	{ "__kmpc_cancel_barrier", SBT_FAMILY_LIBOMP, SBT_KIND_EXPLICIT, SBT_ROLE_BARRIER,
	  .object = TEAM, .words = IDENT, .probe_group = "__kmpc_barrier" },
	{ "__kmpc_copyprivate", SBT_FAMILY_LIBOMP, SBT_KIND_SINGLE, SBT_ROLE_BARRIER,
	  .object = TEAM, .probe_group = "__kmpc_copyprivate" },
	{ "__kmpc_reduce", KMPC_REDUCE(SBT_REDUCE_BEGIN) },
	{ "__kmpc_reduce_nowait", KMPC_REDUCE(SBT_REDUCE_ONLY) },
	{ "__kmpc_end_reduce", KMPC_REDUCE(SBT_REDUCE_END) },
	{ "__kmpc_fork_call", SBT_FAMILY_LIBOMP, SBT_KIND_JOIN, SBT_ROLE_REGION,
	  .object = FAMILY_ARGUMENT(2), .words = FAMILY_ARGUMENT(3),
	  .index = FAMILY_ARGUMENT_AS(1, .size = 4) },
	{ "__kmpc_omp_task_alloc", KMPC_TASK },
	{ "__kmpc_omp_target_task_alloc", KMPC_TASK },
	{ "*.omp_outlined*", SBT_FAMILY_LIBOMP, SBT_KIND_JOIN, SBT_ROLE_OUTLINED,
	  .object = FAMILY_ARGUMENT(2),
	  .index = FAMILY_ARGUMENT_AS(1, .size = 4, .flags = SBT_ARG_POINTED | SBT_ARG_SIGNED) },
	/* The Fortran versions of these functions call the C versions. */
	{ "GOMP_critical_start", TURN },
	{ "GOMP_critical_name_start", TURN },
	{ "GOMP_ordered_start", TURN },
	{ "GOMP_atomic_start", TURN },
	{ "GOMP_doacross_wait", TURN },
	{ "GOMP_doacross_ull_wait", TURN },
	{ "omp_set_lock", TURN },
	{ "omp_set_nest_lock", TURN },
	{ "__kmpc_critical", TURN },
	{ "__kmpc_critical_with_hint", TURN },
	{ "__kmpc_ordered", TURN },
	{ "__kmpc_doacross_wait", TURN },
	{ "__kmpc_set_lock", TURN },
	{ "__kmpc_set_nest_lock", TURN },
	{ "pthread_cond_wait", SBT_FAMILY_COND, SBT_KIND_EXPLICIT, SBT_ROLE_COND_WAIT,
	  .object = FAMILY_ARGUMENT(0) },
	{ "pthread_cond_timedwait", SBT_FAMILY_COND, SBT_KIND_EXPLICIT, SBT_ROLE_COND_WAIT,
	  .object = FAMILY_ARGUMENT(0) },
	{ "pthread_cond_clockwait", SBT_FAMILY_COND, SBT_KIND_EXPLICIT, SBT_ROLE_COND_WAIT,
	  .object = FAMILY_ARGUMENT(0) },
	{ "pthread_cond_broadcast", SBT_FAMILY_COND, SBT_KIND_EXPLICIT, SBT_ROLE_COND_WAKE,
	  .object = FAMILY_ARGUMENT(0) },
	{ "sem_wait", SEMAPHORE },
	{ "sem_timedwait", SEMAPHORE },
	{ "sem_clockwait", SEMAPHORE },
	{ "pthread_join", FORKJOIN, .object = FAMILY_ARGUMENT(0) },
	{ "pthread_timedjoin_np", FORKJOIN, .object = FAMILY_ARGUMENT(0) },
	{ "pthread_clockjoin_np", FORKJOIN, .object = FAMILY_ARGUMENT(0) },
	{ "thrd_join", FORKJOIN, .object = FAMILY_ARGUMENT(0) },
	/* std::thread::join(): the first member of std::thread is the pthread_t. */
	{ "_ZNSt6thread4joinEv", FORKJOIN,
	  .object = FAMILY_ARGUMENT_AS(0, .flags = SBT_ARG_POINTED) },
	/*
	 * std::thread::park(), in which Rust's thread::scope() waits for its threads. This function
	 * gets probes only in programs that use scopes.
	 */
	{ "_RN*3std6thread*4park", JOIN_ALL },
	{ "_ZN3std6thread*4park17h*", JOIN_ALL },
	/*
	 * absl::Barrier::Block(), in any inline namespace. Two numbers follow the mutex in the
	 * object: the threads still to arrive, and at byte 12 the threads still to leave. While
	 * threads are still arriving, the second number is the team's size.
	 */
	{ "_ZN4absl*7Barrier5BlockEv", SBT_FAMILY_ABSL, SBT_KIND_EXPLICIT, SBT_ROLE_BARRIER,
	  .object = FAMILY_ARGUMENT(0),
	  .words = FAMILY_ARGUMENT_AS(0, .size = 4, .flags = SBT_ARG_POINTED | SBT_ARG_ADDS,
				      .value = 12) },
	MPI_SYNC("Barrier", "BARRIER", "barrier", SBT_KIND_EXPLICIT, 0),
	MPI_DATA("Allreduce", "ALLREDUCE", "allreduce", 5),
	MPI_DATA("Allgather", "ALLGATHER", "allgather", 6),
	MPI_DATA("Allgatherv", "ALLGATHERV", "allgatherv", 7),
	MPI_DATA("Alltoall", "ALLTOALL", "alltoall", 6),
	MPI_DATA("Alltoallv", "ALLTOALLV", "alltoallv", 8),
	MPI_DATA("Alltoallw", "ALLTOALLW", "alltoallw", 8),
	MPI_DATA("Reduce_scatter", "REDUCE_SCATTER", "reduce_scatter", 5),
	MPI_DATA("Reduce_scatter_block", "REDUCE_SCATTER_BLOCK", "reduce_scatter_block", 5),
	MPI_MAKES_ONE("Comm_dup", "COMM_DUP", "comm_dup", 1),
	MPI_MAKES_ONE("Comm_dup_with_info", "COMM_DUP_WITH_INFO", "comm_dup_with_info", 2),
	MPI_MAKES_ONE("Comm_create", "COMM_CREATE", "comm_create", 2),
	MPI_MAKES_ONE("Cart_create", "CART_CREATE", "cart_create", 5),
	MPI_MAKES_ONE("Graph_create", "GRAPH_CREATE", "graph_create", 5),
	MPI_MAKES_ONE("Dist_graph_create", "DIST_GRAPH_CREATE", "dist_graph_create", 8),
	MPI_MAKES_ONE("Dist_graph_create_adjacent", "DIST_GRAPH_CREATE_ADJACENT",
		      "dist_graph_create_adjacent", 9),
	MPI_MAKES_COLOURS("Comm_split", "COMM_SPLIT", "comm_split", 3),
	MPI_MAKES_COLOURS("Comm_split_type", "COMM_SPLIT_TYPE", "comm_split_type", 4),
	MPI_MAKES_PARTS("Cart_sub", "CART_SUB", "cart_sub", 2),
};
/* clang-format on */

#define FAMILY_ROWS (sizeof(family_rows) / sizeof(family_rows[0]))

static bool row_matches(const struct family_function *row, const char *symbol)
{
	size_t len;

	if (row->role == SBT_ROLE_OUTLINED) {
		/*
		 * strstr() is faster than a pattern. clang -g splits the function in two. Only the
		 * outer one is called by the runtime, so skip the inner one.
		 */
		if (!strstr(symbol, row->family == SBT_FAMILY_GOMP ? "._omp_fn." : ".omp_outlined"))
			return false;
		return !strstr(symbol, "_debug__") && !strstr(symbol, ".cold");
	}
	/* Fast path: most names differ in the first letter. */
	if (row->symbol[0] != symbol[0] && row->symbol[0] != '*')
		return false;
	if (strchr(row->symbol, '*'))
		return !fnmatch(row->symbol, symbol, 0);
	/* Linkers append versions to names in .symtab: "name@@GLIBC_2.34". */
	len = strlen(row->symbol);
	return !strncmp(row->symbol, symbol, len) && (!symbol[len] || symbol[len] == '@');
}

/*
 * Names of probe groups, beginning with number SBT_PROBE_GROUPS_NAMED. Append only, because
 * recordings contain the numbers.
 */
static const struct {
	const char *name;
	uint8_t family;
} family_probe_groups[] = {
	{ "MPI_Barrier", SBT_FAMILY_MPI },
	{ "MPI_Allreduce", SBT_FAMILY_MPI },
	{ "MPI_Allgather", SBT_FAMILY_MPI },
	{ "MPI_Allgatherv", SBT_FAMILY_MPI },
	{ "MPI_Alltoall", SBT_FAMILY_MPI },
	{ "MPI_Alltoallv", SBT_FAMILY_MPI },
	{ "MPI_Alltoallw", SBT_FAMILY_MPI },
	{ "MPI_Reduce_scatter", SBT_FAMILY_MPI },
	{ "MPI_Reduce_scatter_block", SBT_FAMILY_MPI },
	{ "GOMP_barrier", SBT_FAMILY_GOMP },
	{ "GOMP_loop_end", SBT_FAMILY_GOMP },
	{ "GOMP_sections_end", SBT_FAMILY_GOMP },
	{ "GOMP_single_copy", SBT_FAMILY_GOMP },
	{ "__kmpc_barrier", SBT_FAMILY_LIBOMP },
	{ "__kmpc_copyprivate", SBT_FAMILY_LIBOMP },
	{ "__kmpc_reduce", SBT_FAMILY_LIBOMP },
};

#define FAMILY_PROBE_GROUPS (sizeof(family_probe_groups) / sizeof(family_probe_groups[0]))

_Static_assert(FAMILY_PROBE_GROUPS <= SBT_PROBE_GROUPS_USER - SBT_PROBE_GROUPS_NAMED,
	       "the groups of the user's rules follow them");

uint8_t family_probe_group(const struct family_function *f)
{
	uint8_t i;

	for (i = 0; f->probe_group && i < FAMILY_PROBE_GROUPS; i++)
		if (!strcmp(family_probe_groups[i].name, f->probe_group))
			return (uint8_t)(SBT_PROBE_GROUPS_NAMED + i);
	return f->family;
}

const char *family_probe_group_name(uint8_t probe_group)
{
	return probe_group >= SBT_PROBE_GROUPS_NAMED &&
			       probe_group < SBT_PROBE_GROUPS_NAMED + FAMILY_PROBE_GROUPS
		       ? family_probe_groups[probe_group - SBT_PROBE_GROUPS_NAMED].name
		       : NULL;
}

uint8_t family_of_probe_group(uint8_t probe_group)
{
	if (family_probe_group_name(probe_group))
		return family_probe_groups[probe_group - SBT_PROBE_GROUPS_NAMED].family;
	return probe_group < SBT_PROBE_GROUPS_USER ? probe_group : SBT_FAMILY_USER;
}

/*
 * Return whether @symbol may belong to MPI. Most rows are for MPI, and they are last in the table.
 * Few symbols belong to MPI, so most look-ups can skip these rows.
 */
static bool may_be_mpi(const char *symbol)
{
	size_t p = symbol[0] == 'p' || symbol[0] == 'P';

	return !strncasecmp(symbol + p, "mpi", 3);
}

const struct family_function *family_function(const char *symbol,
					      const struct family_function *after)
{
	const struct family_function *row = after ? after + 1 : family_rows;
	bool mpi = may_be_mpi(symbol);

	for (; row < family_rows + FAMILY_ROWS && (mpi || row->family != SBT_FAMILY_MPI); row++)
		if (row_matches(row, symbol))
			return row;
	return NULL;
}

static const struct {
	struct family_function function;
	struct family_mark_args args;
} family_marks[] = {
	{ { "enter", SBT_FAMILY_USDT, SBT_KIND_EXPLICIT, SBT_ROLE_MARK_ENTER, .words_offset = 0 },
	  { .object = 0, .index = 1, .file = 2, .line = 3, .name = 4, .what = 5, .words = 6 } },
	{ { "leave", SBT_FAMILY_USDT, SBT_KIND_EXPLICIT, SBT_ROLE_MARK_LEAVE, .words_offset = 0 },
	  { .object = 0,
	    .index = -1,
	    .file = -1,
	    .line = -1,
	    .name = -1,
	    .what = -1,
	    .words = -1 } },
	{ { "phase", SBT_FAMILY_USDT, SBT_KIND_PHASE, SBT_ROLE_MARK_PHASE, .words_offset = 0 },
	  { .object = -1, .index = -1, .file = 1, .line = 2, .name = 0, .what = 3, .words = -1 } },
	{ { "thread", SBT_FAMILY_USDT, SBT_KIND_EXPLICIT, SBT_ROLE_MARK_THREAD, .words_offset = 0 },
	  { .object = -1,
	    .index = 0,
	    .file = -1,
	    .line = -1,
	    .name = -1,
	    .what = -1,
	    .words = -1 } },
	{ { "access", SBT_FAMILY_USDT, SBT_KIND_EXPLICIT, SBT_ROLE_MARK_ACCESS, .words_offset = 0 },
	  { .object = 0, .index = -1, .file = -1, .line = -1, .name = -1, .what = 2, .words = 1 } },
};

#define FAMILY_MARKS (sizeof(family_marks) / sizeof(family_marks[0]))

#define IN_LINE(name, role_, flags_)                                         \
	{                                                                    \
		.symbol = (name), .family = SBT_FAMILY_STD, .role = (role_), \
		.kind = SBT_KIND_EXPLICIT, .flags = (flags_)                 \
	}
static const struct family_function family_in_line[] = {
	IN_LINE("std::barrier::wait", SBT_ROLE_MARK_ENTER, SBT_SPEC_PHASE),
	IN_LINE("std::barrier::wait", SBT_ROLE_MARK_LEAVE, 0),
	IN_LINE("std::latch::wait", SBT_ROLE_MARK_ENTER, SBT_SPEC_LATCH),
	IN_LINE("std::latch::wait", SBT_ROLE_MARK_LEAVE, 0),
};

#define FAMILY_IN_LINE (sizeof(family_in_line) / sizeof(family_in_line[0]))

const struct family_function *family_inline_wait(bool latch, bool end)
{
	return &family_in_line[2 * latch + end];
}

const struct family_function *family_numbered(uint32_t number)
{
	if (number < FAMILY_ROWS)
		return &family_rows[number];
	number -= FAMILY_ROWS;
	if (number < FAMILY_IN_LINE)
		return &family_in_line[number];
	number -= FAMILY_IN_LINE;
	return number < FAMILY_MARKS ? &family_marks[number].function : NULL;
}

bool family_number(const struct family_function *function, uint32_t *number)
{
	const struct family_function *row;

	for (*number = 0; (row = family_numbered(*number)); (*number)++)
		if (row == function)
			return true;
	return false;
}

const struct family_function *family_mark(const char *name)
{
	size_t i;

	for (i = 0; i < FAMILY_MARKS; i++)
		if (!strcmp(family_marks[i].function.symbol, name))
			return &family_marks[i].function;
	return NULL;
}

const struct family_mark_args *family_mark_args(const struct family_function *mark)
{
	array_for_each (family_mark, family_marks, FAMILY_MARKS)
		if (&family_mark->function == mark)
			return &family_mark->args;
	return NULL;
}

const struct family_function *family_outlined(uint8_t family)
{
	array_for_each (family_row, family_rows, FAMILY_ROWS)
		if (family_row->role == SBT_ROLE_OUTLINED && family_row->family == family)
			return family_row;
	return NULL;
}

/* Offsets in struct pt_regs of the registers that pass arguments. */
static const uint16_t x86_arguments[] = { 112, 104, 96, 88, 72, 64 };
#define X86_SP	      152
#define ARM_ARGUMENTS 8
#define ARM_SP	      248

static int argument_of(const struct family_arg *from, uint16_t machine, struct sbt_arg *to)
{
	uint32_t n = from->number;

	to->how = from->how;
	to->size = from->size ? from->size : 8;
	to->flags = from->flags;
	to->disp = from->value;
	to->index = SBT_ARG_NO_REG;
	if (from->how != SBT_ARG_REG)
		return 0;
	if (machine == EM_X86_64) {
		if (n < sizeof(x86_arguments) / sizeof(x86_arguments[0])) {
			to->reg = x86_arguments[n];
		} else {
			/* Further arguments are on the stack, above the return address. */
			to->how = SBT_ARG_MEM;
			to->reg = X86_SP;
			to->disp = 8 * (int64_t)(n - 6 + 1);
		}
	} else if (machine == EM_AARCH64) {
		if (n < ARM_ARGUMENTS) {
			to->reg = (uint16_t)(8 * n);
		} else {
			to->how = SBT_ARG_MEM;
			to->reg = ARM_SP;
			to->disp = 8 * (int64_t)(n - ARM_ARGUMENTS);
		}
	} else {
		return -ENOTSUP;
	}
	if (!n && to->size == 8 && !to->flags)
		*to = (struct sbt_arg){ .how = SBT_ARG_FIRST };
	return 0;
}

int family_spec(const struct family_function *f, uint16_t machine, struct sbt_spec *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->family = f->family;
	out->kind = f->kind;
	out->role = f->role;
	out->flags = f->flags;
	out->rule = f->rule;
	out->words_offset = f->words_offset ? f->words_offset : SBT_WORDS_NONE;
	err = argument_of(&f->object, machine, &out->object);
	if (!err)
		err = argument_of(&f->words, machine, &out->words);
	if (!err)
		err = argument_of(&f->index, machine, &out->index);
	return err ? err : argument_of(&f->what, machine, &out->what);
}

const char *family_name(uint8_t family)
{
	return family < SBT_FAMILIES ? family_table[family].name : NULL;
}

uint8_t family_by_name(const char *name)
{
	uint32_t i;

	for (i = 0; i < SBT_FAMILIES; i++)
		if (family_table[i].name && !strcmp(family_table[i].name, name))
			return (uint8_t)i;
	return SBT_FAMILY_NONE;
}

const char *family_list(uint32_t bits, char *out, size_t size)
{
	size_t n = 0;
	uint8_t i;

	*out = '\0';
	for (i = 0; i < 32 && n < size; i++)
		if (bits & 1u << i && family_name(i))
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "",
					      family_name(i));
	return out;
}

const char *family_kind_name(uint8_t kind)
{
	return kind < SBT_KINDS ? family_kinds[kind] : NULL;
}

enum family_libc family_libc_of(bool glibc, bool musl)
{
	if (glibc == musl)
		return FAMILY_LIBC_UNKNOWN;
	return glibc ? FAMILY_LIBC_GLIBC : FAMILY_LIBC_MUSL;
}

/*
 * Words of glibc's barrier. Since 2.25: in, current_round, count, shared, out. Before: curr_event,
 * lock, left, init_count, private. The fourth word distinguishes these layouts, except for an old
 * barrier of exactly 128 threads.
 */
static struct family_team family_read_glibc(uint32_t third, uint32_t fourth)
{
	struct family_team team = { 0 };

	if (fourth == 0 || fourth == GLIBC_PROCESS_SHARED) {
		if (!third || third > GLIBC_COUNT_MAX)
			return team;
		team.count = third;
		team.sharing_known = true;
		team.process_shared = fourth == GLIBC_PROCESS_SHARED;
	} else {
		if (third > fourth || fourth > GLIBC_COUNT_MAX)
			return team;
		team.count = fourth;
	}
	team.known = true;
	return team;
}

/*
 * Words of musl's barrier: lock, waiters, limit. The limit is one less than the count; its top bit
 * means process-shared.
 */
static struct family_team family_read_musl(uint32_t limit)
{
	struct family_team team = { 0 };
	uint32_t less_one = limit & ~MUSL_PROCESS_SHARED;

	/*
	 * No initialized barrier has this value: pthread_barrier_init() refuses such a count (count
	 * - 1 > INT_MAX - 1).
	 */
	if (less_one == 0x7fffffffu)
		return team;
	team.known = true;
	team.count = less_one + 1;
	team.sharing_known = true;
	team.process_shared = limit & MUSL_PROCESS_SHARED;
	return team;
}

uint32_t family_waiting(enum family_libc libc, uint64_t first, uint64_t words)
{
	uint32_t shared = (uint32_t)(words >> 32);

	/* Only since glibc 2.25 the first two words are the numbers of arrivals. */
	if (libc != FAMILY_LIBC_GLIBC || (shared && shared != GLIBC_PROCESS_SHARED))
		return UINT32_MAX;
	return (uint32_t)first - (uint32_t)(first >> 32);
}

struct family_team family_read_words(uint8_t family, enum family_libc libc, uint64_t words)
{
	uint32_t third = (uint32_t)words, fourth = (uint32_t)(words >> 32);
	struct family_team unknown = { 0 };

	if (!family_has(family, FAMILY_LIBC_OBJECT)) {
		unknown.known = family && words && words <= UINT32_MAX;
		unknown.count = unknown.known ? (uint32_t)words : 0;
		return unknown;
	}
	switch (libc) {
	case FAMILY_LIBC_GLIBC:
		return family_read_glibc(third, fourth);
	case FAMILY_LIBC_MUSL:
		return family_read_musl(third);
	case FAMILY_LIBC_UNKNOWN:
		break;
	}
	return unknown;
}
