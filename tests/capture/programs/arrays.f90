! Fortran: an allocatable array of a derived type, a variable of a module, a common block.
module grid
  implicit none
  type cell
     integer(8) :: count
     real(8) :: value
  end type cell
  integer(8) :: sums(4)
  type(cell), allocatable :: cells(:)
  real(8), allocatable :: field(:), weights(:)
  integer(8), allocatable :: counts(:)
end module grid

subroutine fill(n)
  use grid
  implicit none
  integer, intent(in) :: n
  allocate(cells(n)) ! line: cells
  allocate(field(64), weights(64), &
           counts(8)) ! line: several
end subroutine fill

program arrays
  use grid
  use omp_lib
  implicit none
  integer(8) :: hits, misses
  common /shared/ hits, misses
  integer :: round, me

  call fill(4)
  hits = 0
  cells(:)%count = 0
  sums = 0
  field = 1; weights = 2; counts = 0
  !$omp parallel num_threads(4) private(round, me)
  me = omp_get_thread_num() + 1
  do round = 1, 60
     cells(me)%count = cells(me)%count + 1
     sums(me) = sums(me) + 1
     field(me) = field(me) + weights(round)
     counts(me) = counts(me) + 1
     !$omp atomic
     hits = hits + 1
  end do
  !$omp end parallel
  print *, cells(1)%count, sums(2), hits, sum(field), sum(counts)
end program arrays
