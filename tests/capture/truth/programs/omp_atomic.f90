! kind: OpenMP
! expect: sums written=3200 read=6400
! compile: gcc; O0 O2
! with: -fno-inline -fopenmp
! why: 100 updates in each of 4 threads, on elements of their own: a load and one exchange each.
module sums_of_threads
  use iso_c_binding
  real(c_double), bind(c) :: sums(4)
end module

program omp_atomic
  use sums_of_threads
  use omp_lib
  integer :: i, t
  !$omp parallel num_threads(4) private(i, t)
  t = omp_get_thread_num() + 1
  do i = 1, 100
    !$omp atomic
    sums(t) = sums(t) + 0.5d0
  end do
  !$omp end parallel
end program
