// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Communicators of all kinds, for four ranks: each function crosses barriers on one of them.
#include <mpi.h>

#include <unistd.h>

static void __attribute__((noinline)) cross(MPI_Comm comm, int n)
{
	while (n--) {
		usleep(200);
		MPI_Barrier(comm);
	}
}

#define ON(name, n)                                                    \
	static void __attribute__((noinline)) on_##name(MPI_Comm comm) \
	{                                                              \
		for (int i = 0; i < (n); i++) {                        \
			usleep(200);                                   \
			MPI_Barrier(comm);                             \
		}                                                      \
	}

ON(dup, 3)
ON(split, 5)
ON(split_of_dup, 7)
ON(split_anew, 9)
ON(split_type, 4)
ON(cart, 6)
ON(cart_sub, 8)
ON(create, 10)
ON(self, 2)

int main(int argc, char **argv)
{
	MPI_Comm dup, split, again, anew, node, cart, row, some;
	int rank, ranks, dims[2] = { 2, 2 }, periods[2] = { 0, 0 }, remain[2] = { 0, 1 },
			 first[3] = { 0, 1, 2 };
	MPI_Group all, three;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	cross(MPI_COMM_WORLD, 1);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	on_dup(dup);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : rank % 2, 0, &split);
	if (split != MPI_COMM_NULL)
		on_split(split);
	MPI_Comm_split(dup, rank / 2, 0, &again);
	on_split_of_dup(again);
	MPI_Comm_free(&again);
	MPI_Comm_split(dup, rank % 2, 0, &anew);
	on_split_anew(anew);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	on_split_type(node);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	on_cart(cart);
	MPI_Cart_sub(cart, remain, &row);
	on_cart_sub(row);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 3, first, &three);
	MPI_Comm_create(MPI_COMM_WORLD, three, &some);
	if (some != MPI_COMM_NULL)
		on_create(some);
	on_self(MPI_COMM_SELF);
	MPI_Finalize();
	return 0;
}
