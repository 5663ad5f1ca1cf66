! SPDX-License-Identifier: GPL-2.0-only
! Copyright (c) 2026 The sbt-trace authors
!
! A communicator made and used in Fortran: the ranks of one parity cross 20 times, then all ranks
! cross 5 times.
program mpi_split
	implicit none
	include 'mpif.h'
	integer :: rank, half, ierr, i, one, total

	call MPI_Init(ierr)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
	call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half, ierr)
	do i = 1, 20
		call MPI_Barrier(half, ierr)
	end do
	one = 1
	do i = 1, 5
		call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
	end do
	call MPI_Finalize(ierr)
end program mpi_split
