// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Ranks that hang because their calls do not match: mpi_mismatch KIND. After some barriers the last
// rank calls a different collective from the others (bcast, reduce, allreduce), or waits for a
// message that rank 0 does not send (recv). Or all ranks wait for messages of each other in a cycle
// (cycle, ssend, sendrecv, irecv). With "pingpong" nothing hangs: two ranks exchange messages all
// the time, and are mostly in MPI_Recv(). Prints "# member RANK PID" for each rank.
#include "common.h"

#include <mpi.h>

#define ROUNDS 10
#define WORLD  MPI_COMM_WORLD /* a short name, for lines with marks */

static void nap(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Tests look for these lines by the HERE marks. */
/* clang-format off */
ONE_COPY static void odd_one(const char *kind, int size)
{
	int mine = 1, sum = 0;

	if (!strcmp(kind, "bcast"))
		MPI_Bcast(&mine, 1, MPI_INT, 0, WORLD); /* HERE: bcast */
	else if (!strcmp(kind, "reduce"))
		MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, size - 1, WORLD); /* HERE: reduce */
	else if (!strcmp(kind, "allreduce"))
		MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, WORLD); /* HERE: allreduce */
	else
		MPI_Recv(&mine, 1, MPI_INT, 0, 7, WORLD, MPI_STATUS_IGNORE); /* HERE: recv */
}

ONE_COPY static void circle(const char *kind, int rank, int size)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size, mine = 1, theirs;

	if (!strcmp(kind, "ssend")) {
		MPI_Ssend(&mine, 1, MPI_INT, next, 7, WORLD); /* HERE: ssend */
		MPI_Recv(&theirs, 1, MPI_INT, before, 7, WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(kind, "sendrecv")) {
		/*
		 * Each rank sends to the next, and waits for a message that the next rank sends to
		 * another rank.
		 */
		MPI_Sendrecv(&mine, 1, MPI_INT, next, 7, /* HERE: sendrecv */
			     &theirs, 1, MPI_INT, next, 7,
			     WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(kind, "irecv")) {
		MPI_Request request;

		MPI_Irecv(&theirs, 1, MPI_INT, next, 7, WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* HERE: irecv */
		MPI_Send(&mine, 1, MPI_INT, before, 7, WORLD);
	} else {
		MPI_Recv(&theirs, 1, MPI_INT, next, 7, WORLD, MPI_STATUS_IGNORE); /* HERE: cycle */
		MPI_Send(&mine, 1, MPI_INT, before, 7, WORLD);
	}
}

/* clang-format on */
static void ping_pong(int rank)
{
	int ball = 0;

	while (rank < 2) {
		if (!rank)
			MPI_Send(&ball, 1, MPI_INT, 1, 7, WORLD);
		MPI_Recv(&ball, 1, MPI_INT, !rank, 7, WORLD, MPI_STATUS_IGNORE);
		if (rank)
			MPI_Send(&ball, 1, MPI_INT, 0, 7, WORLD);
	}
	pause();
}

int main(int argc, char **argv)
{
	int rank, size;

	if (argc != 2)
		die("usage: mpi_mismatch "
		    "bcast|reduce|allreduce|recv|cycle|ssend|sendrecv|irecv|pingpong");
	stopgap(STOPGAP_SECONDS);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	printf("# member %d %d\n", rank, getpid());
	fflush(stdout);
	for (int i = 0; i < ROUNDS; i++) {
		nap(1000000);
		MPI_Barrier(WORLD);
	}
	if (!strcmp(argv[1], "pingpong"))
		ping_pong(rank);
	else if (!strcmp(argv[1], "cycle") || !strcmp(argv[1], "ssend") ||
		 !strcmp(argv[1], "sendrecv") || !strcmp(argv[1], "irecv"))
		circle(argv[1], rank, size);
	else if (rank == size - 1)
		odd_one(argv[1], size);
	MPI_Barrier(WORLD); /* HERE: barrier */
	MPI_Finalize();
	return 0;
}
