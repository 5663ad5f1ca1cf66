// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for MPI: gen_openmpi and gen_mpich are built from this file. Run them with the
// mpirun of each, with one rank for each member. In the log, the site is the kind's number, and the
// thread is the rank. --kind: barrier, allreduce, ..., each a collective that no rank leaves before
// all have arrived; pbarrier calls the profiling name; ibarrier calls MPI_Ibarrier and MPI_Wait;
// `all` uses these kinds alternately. With --teams 2 each half of the ranks has its own
// communicator (made by one MPI_Comm_split of all). The kinds bcast, reduce and scan do not
// synchronise. They are not in `all`, and have no --log. The kind `two` is not in `all`, either. It
// calls MPI_Barrier. Before each barrier, each rank repeats MPI_Allreduce on itself alone for 5 ms,
// and calls it once on all ranks. Every 150 times all ranks continue with a duplicate of the
// communicator. At the end, each rank but 0 calls MPI_Send to pass its log to rank 0. With FORTRAN
// the calls are those of gen_mpif.f90, through mpif.h or, with f08 in the kind's name, through
// mpi_f08.
#include "gen_core.h"

#include <mpi.h>

#define MAX_RANKS 64

static struct {
	MPI_Comm comm; /* communicator of this rank's team */
	int size;
	int in[MAX_RANKS], out[MAX_RANKS], ones[MAX_RANKS], places[MAX_RANKS];
} mpi;

static void must_mpi(int rc, const char *what)
{
	if (rc != MPI_SUCCESS)
		die("%s: error %d", what, rc);
}

#ifdef FORTRAN

void f_barrier(int comm);
void f_allreduce(int comm, int in, int *out);
void f_alltoall(int comm, const int *in, int *out);
void f08_barrier(int comm);
void f08_allreduce(int comm, int in, int *out);

#define FIRST_LOOSE UINT32_MAX
#define TWO	    UINT32_MAX

static const char *const kinds[] = { "barrier",	     "allreduce", "alltoall", "f08barrier",
				     "f08allreduce", "all",	  NULL };

static int handle(void)
{
	return (int)MPI_Comm_c2f(mpi.comm);
}

GEN_SITE(0, (f_barrier(handle()), member == 0))
GEN_SITE(1, (f_allreduce(handle(), 1, mpi.out), member == 0))
GEN_SITE(2, (f_alltoall(handle(), mpi.in, mpi.out), member == 0))
GEN_SITE(3, (f08_barrier(handle()), member == 0))
GEN_SITE(4, (f08_allreduce(handle(), 1, mpi.out), member == 0))

static gen_site *const sites[] = { site_0, site_1, site_2, site_3, site_4 };

#else

#define FIRST_LOOSE 11
#define TWO	    14

static const char *const kinds[] = { "barrier",
				     "allreduce",
				     "alltoall",
				     "allgather",
				     "allgatherv",
				     "alltoallv",
				     "alltoallw",
				     "reduce_scatter",
				     "reduce_scatter_block",
				     "pbarrier",
				     "ibarrier",
				     "bcast",
				     "reduce",
				     "scan",
				     "two",
				     "all",
				     NULL };

static int alltoallw(void)
{
	MPI_Datatype types[MAX_RANKS];
	int bytes[MAX_RANKS];

	for (int i = 0; i < mpi.size; i++) {
		types[i] = MPI_INT;
		bytes[i] = i * (int)sizeof(int);
	}
	return MPI_Alltoallw(mpi.in, mpi.ones, bytes, types, mpi.out, mpi.ones, bytes, types,
			     mpi.comm);
}

static int ibarrier(void)
{
	MPI_Request request;
	int rc = MPI_Ibarrier(mpi.comm, &request);

	return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

#define SITE(n, call) GEN_SITE(n, (must_mpi(call, kinds[n]), member == 0))
SITE(0, MPI_Barrier(mpi.comm))
SITE(1, MPI_Allreduce(mpi.in, mpi.out, 1, MPI_INT, MPI_SUM, mpi.comm))
SITE(2, MPI_Alltoall(mpi.in, 1, MPI_INT, mpi.out, 1, MPI_INT, mpi.comm))
SITE(3, MPI_Allgather(mpi.in, 1, MPI_INT, mpi.out, 1, MPI_INT, mpi.comm))
SITE(4, MPI_Allgatherv(mpi.in, 1, MPI_INT, mpi.out, mpi.ones, mpi.places, MPI_INT, mpi.comm))
SITE(5, MPI_Alltoallv(mpi.in, mpi.ones, mpi.places, MPI_INT, mpi.out, mpi.ones, mpi.places, MPI_INT,
		      mpi.comm))
SITE(6, alltoallw())
SITE(7, MPI_Reduce_scatter(mpi.in, mpi.out, mpi.ones, MPI_INT, MPI_SUM, mpi.comm))
SITE(8, MPI_Reduce_scatter_block(mpi.in, mpi.out, 1, MPI_INT, MPI_SUM, mpi.comm))
SITE(9, PMPI_Barrier(mpi.comm))
SITE(10, ibarrier())
SITE(11, MPI_Bcast(mpi.in, 1, MPI_INT, 0, mpi.comm))
SITE(12, MPI_Reduce(mpi.in, mpi.out, 1, MPI_INT, MPI_SUM, 0, mpi.comm))
SITE(13, MPI_Scan(mpi.in, mpi.out, 1, MPI_INT, MPI_SUM, mpi.comm))

ONE_COPY static void go_hot(void)
{
	static uint32_t times;
	uint64_t until = now_ns() + 5000000;

	do {
		for (int i = 0; i < 20; i++)
			MPI_Allreduce(mpi.in, mpi.out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	} while (now_ns() < until);
	MPI_Allreduce(mpi.in, mpi.out, 1, MPI_INT, MPI_SUM, mpi.comm);
	if (++times % 150 == 0)
		MPI_Comm_dup(mpi.comm, &mpi.comm);
}

ONE_COPY static int site_14(void *object, uint32_t member, struct gen_entry *e)
{
	(void)object;
	go_hot();
	gen_arrive(e);
	MPI_Barrier(mpi.comm);
	gen_depart(e);
	return member == 0;
}

static gen_site *const sites[] = { site_0,  site_1,  site_2,  site_3,  site_4,
				   site_5,  site_6,  site_7,  site_8,  site_9,
				   site_10, site_11, site_12, site_13, site_14 };

#endif

/* Send all crossings to rank 0, which writes the log. */
static void gather(uint32_t rank, uint32_t ranks)
{
	uint32_t first = rank ? rank : 1, end = rank ? rank + 1 : ranks;

	for (uint32_t i = first; i < end; i++) {
		for (int part = 0; part < 2; part++) {
			size_t size;
			void *p = gen_record(i, part, &size);

			if (rank)
				MPI_Send(p, (int)size, MPI_BYTE, 0, part, MPI_COMM_WORLD);
			else
				MPI_Recv(p, (int)size, MPI_BYTE, (int)i, part, MPI_COMM_WORLD,
					 MPI_STATUS_IGNORE);
		}
	}
}

static void run(uint32_t n)
{
	int rank;

	if (gen.logging && gen.kind >= FIRST_LOOSE && gen.kind < ARRAY_SIZE(sites) &&
	    gen.kind != TWO)
		die("gen_mpi: %s waits for no rank: no --log", kinds[gen.kind]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	mpi.comm = MPI_COMM_WORLD;
	if (gen.teams > 1)
		must_mpi(MPI_Comm_split(MPI_COMM_WORLD, rank / (int)(n / gen.teams), rank,
					&mpi.comm),
			 "MPI_Comm_split");
	MPI_Comm_size(mpi.comm, &mpi.size);
	for (int i = 0; i < MAX_RANKS; i++) {
		mpi.in[i] = mpi.ones[i] = 1;
		mpi.places[i] = i;
	}
	gen_member((uint32_t)rank);
	gather((uint32_t)rank, n);
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = MPI_NAME,
		.flavour = "MPI; run it by mpirun",
		.kinds = kinds,
		.can = GEN_CAN_TEAM | GEN_SITE_BY_KIND,
		.sites = FIRST_LOOSE < ARRAY_SIZE(sites) ? FIRST_LOOSE : ARRAY_SIZE(sites),
		.site = sites,
		.run = run,
	};
	int rank, ranks, status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > MAX_RANKS)
		die("gen_mpi: at most %d ranks", MAX_RANKS);
	gen_set_rank((uint32_t)rank, (uint32_t)ranks);
	status = gen_main(argc, argv, &family);
	MPI_Finalize();
	return status;
}
