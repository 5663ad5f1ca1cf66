! SPDX-License-Identifier: GPL-2.0-only
! Copyright (c) 2026 The sbt-trace authors
!
! Ranks in Fortran that cross MPI_Barrier and wait for rank 0 in MPI_Bcast and MPI_Reduce, called
! through the module mpi.
program mpi_waitf
	use mpi
	implicit none
	integer :: rank, error, i, mine, total

	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	do i = 1, 20
		mine = rank
		call MPI_Bcast(mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
		call MPI_Reduce(mine, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
		call MPI_Barrier(MPI_COMM_WORLD, error)
	end do
	call MPI_Finalize(error)
end program mpi_waitf
