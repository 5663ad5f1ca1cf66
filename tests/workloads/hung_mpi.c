// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Ranks that hang at MPI_Barrier() because the last rank does not arrive: hung_mpi KIND.
// "finalize": it is in MPI_Finalize(). "pipe": it reads from an empty pipe. "gone": it has ended
// (make mpirun continue without it). Prints "# member RANK PID" for each rank and "# missing
// PID" for the last one.
#include "common.h"

#include <mpi.h>

#define ROUNDS 20

static void say(const char *what, int number)
{
	if (number < 0)
		printf("# %s %d\n", what, getpid());
	else
		printf("# %s %d %d\n", what, number, getpid());
	fflush(stdout);
}

ONE_COPY static void leave(const char *kind)
{
	char byte;
	int fd[2];

	say("missing", -1);
	if (!strcmp(kind, "finalize")) {
		MPI_Finalize(); /* HERE: finalize */
		exit(0);
	}
	if (!strcmp(kind, "gone"))
		_exit(0);
	if (pipe(fd))
		die("pipe: %s", strerror(errno));
	if (read(fd[0], &byte, 1) < 0) /* HERE: pipe */
		die("read: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	int rank, size;

	if (argc != 2)
		die("usage: hung_mpi finalize|pipe|gone");
	stopgap(STOPGAP_SECONDS);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	say("member", rank);
	for (int i = 0; i <= ROUNDS; i++) {
		if (i == ROUNDS && rank == size - 1)
			leave(argv[1]);
		MPI_Barrier(MPI_COMM_WORLD); /* HERE: barrier */
	}
	MPI_Finalize();
	return 0;
}
