// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// ROUNDS episodes on each of several communicators, one after the other in every round. They are
// the world, a duplicate, halves of the ranks, a communicator of two ranks, and each rank alone.
// The communicator of two is made anew for each quarter of the rounds. Nonblocking collectives are
// in between. The phases differ, and last up to MICROSECONDS.
#include <mpi.h>

#include <stdlib.h>
#include <unistd.h>

static unsigned int microseconds;

#define ON(name)                                                                        \
	static void __attribute__((noinline)) on_##name(MPI_Comm comm, int rank, int i) \
	{                                                                               \
		usleep(microseconds *(unsigned int)((rank * 5 + i * 3) % 7) / 7);       \
		MPI_Barrier(comm);                                                      \
		__asm__ volatile("# " #name); /* gives each function different code */  \
	}

ON(world)
ON(dup)
ON(half)
ON(anew)
ON(self)

int main(int argc, char **argv)
{
	int rank, rounds = argc > 1 ? atoi(argv[1]) : 20, i, one, sum;
	MPI_Comm dup, half, anew = MPI_COMM_NULL;
	MPI_Request request;

	microseconds = argc > 2 ? (unsigned int)atoi(argv[2]) : 300;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
	for (i = 0; i < rounds; i++) {
		while (argc > 3 && i == 4 && access(argv[3], F_OK))
			usleep(10000);
		on_world(MPI_COMM_WORLD, rank, i);
		MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup, &request);
		on_dup(dup, rank, i);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		on_half(half, rank, i);
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (i % (rounds / 4) == 0) {
			if (anew != MPI_COMM_NULL)
				MPI_Comm_free(&anew);
			MPI_Comm_split(dup, rank / 2, -rank, &anew);
		}
		on_anew(anew, rank, i);
		/* Rank 0 crosses its own communicator more often than the other ranks do. */
		for (one = 0; one < (rank ? 1 : 3); one++)
			on_self(MPI_COMM_SELF, rank, i);
	}
	MPI_Finalize();
	return 0;
}
