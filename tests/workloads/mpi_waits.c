// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Ranks that wait for each other in calls other than barriers: mpi_waits KIND ROUNDS [silent]. In
// each round rank 0 sleeps for 2 ms, and the other ranks wait for it in a call of that kind. Then
// each rank sleeps for 4 ms, and all cross a barrier. Kinds: recv, wait, bcast, gather, scatter,
// sendrecv; built with -DMAKERS: create_group and shared_window. With "silent" the ranks cross no
// barrier. Built without -DCALL_THEM and -DMAKERS, the program only calls barriers. Prints "#
// waited RANK NS": the time in these calls by the program's own clock.
#include "common.h"

#include <mpi.h>

#define FIRST_NS 2000000
#define REST_NS	 4000000

static void nap(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

#ifdef CALL_THEM
static void meet(const char *kind, int rank, int size)
{
	int mine = rank, theirs = -1, all[64] = { 0 };
	MPI_Request request;

	if (!strcmp(kind, "recv") || !strcmp(kind, "wait")) {
		for (int i = 1; !rank && i < size; i++)
			MPI_Send(&mine, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
		if (rank && !strcmp(kind, "recv")) {
			MPI_Recv(&theirs, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank) {
			MPI_Irecv(&theirs, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	} else if (!strcmp(kind, "bcast")) {
		MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (!strcmp(kind, "gather")) {
		MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
	} else if (!strcmp(kind, "scatter")) {
		MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (!strcmp(kind, "sendrecv")) {
		MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		die("unknown kind %s", kind);
	}
}
#elif defined(MAKERS)
static void meet(const char *kind, int rank, int size)
{
	int *memory;
	MPI_Group group;
	MPI_Comm comm;
	MPI_Win window;

	(void)rank;
	(void)size;
	if (!strcmp(kind, "create_group")) {
		MPI_Comm_group(MPI_COMM_WORLD, &group);
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
		MPI_Comm_free(&comm);
		MPI_Group_free(&group);
	} else if (!strcmp(kind, "shared_window")) {
		MPI_Win_allocate_shared(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
					&window);
		MPI_Win_free(&window);
	} else {
		die("unknown kind %s", kind);
	}
}
#endif

int main(int argc, char **argv)
{
	int rank, size, silent = argc == 4 && !strcmp(argv[3], "silent"),
			rounds = argc == 3 + silent ? atoi(argv[2]) : 0;
	uint64_t waited = 0, from;

	if (rounds < 1)
		die("usage: mpi_waits "
		    "recv|wait|bcast|gather|scatter|sendrecv|create_group|shared_window|none "
		    "ROUNDS [silent]");
	stopgap(STOPGAP_SECONDS);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		if (!rank)
			nap(FIRST_NS);
		from = now_ns();
#if defined(CALL_THEM) || defined(MAKERS)
		meet(argv[1], rank, size);
#endif
		waited += now_ns() - from;
		nap(REST_NS);
		if (!silent)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("# waited %d %llu\n", rank, (unsigned long long)waited);
	MPI_Finalize();
	return 0;
}
