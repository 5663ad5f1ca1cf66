! SPDX-License-Identifier: GPL-2.0-only
! Copyright (c) 2026 The sbt-trace authors
!
! The collectives of gen_mpi.c, called from Fortran: mpif.h's interface, then mpi_f08's.
subroutine f_barrier(comm) bind(c, name="f_barrier")
  use iso_c_binding
  implicit none
  include 'mpif.h'
  integer(c_int), value :: comm
  integer :: error
  call MPI_Barrier(comm, error)
end subroutine

subroutine f_allreduce(comm, in, out) bind(c, name="f_allreduce")
  use iso_c_binding
  implicit none
  include 'mpif.h'
  integer(c_int), value :: comm, in
  integer(c_int) :: out
  integer :: mine, error
  mine = in
  call MPI_Allreduce(mine, out, 1, MPI_INTEGER, MPI_SUM, comm, error)
end subroutine

subroutine f_alltoall(comm, in, out) bind(c, name="f_alltoall")
  use iso_c_binding
  implicit none
  include 'mpif.h'
  integer(c_int), value :: comm
  integer(c_int) :: in(*), out(*)
  integer :: error
  call MPI_Alltoall(in, 1, MPI_INTEGER, out, 1, MPI_INTEGER, comm, error)
end subroutine

subroutine f08_barrier(comm) bind(c, name="f08_barrier")
  use iso_c_binding
  use mpi_f08
  implicit none
  integer(c_int), value :: comm
  type(MPI_Comm) :: c
  c%MPI_VAL = comm
  call MPI_Barrier(c)
end subroutine

subroutine f08_allreduce(comm, in, out) bind(c, name="f08_allreduce")
  use iso_c_binding
  use mpi_f08
  implicit none
  integer(c_int), value :: comm, in
  integer(c_int) :: out
  type(MPI_Comm) :: c
  integer :: mine
  c%MPI_VAL = comm
  mine = in
  call MPI_Allreduce(mine, out, 1, MPI_INTEGER, MPI_SUM, c)
end subroutine
