! OpenMP in Fortran, with a dynamic schedule and output inside of a critical section.
program trap
  use omp_lib
  implicit none
  integer :: i, total
  integer(omp_lock_kind) :: lock
  real(8) :: x(1000), y(1000)
  total = 0
  call omp_init_lock(lock)
  !$omp parallel do schedule(dynamic, 7)
  do i = 1, 1000
    x(i) = i
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp critical
  total = total + 1
  print '(a)', 'inside'
  !$omp end critical
  call omp_set_lock(lock)
  total = total + 1
  call omp_unset_lock(lock)
  !$omp end parallel
  y = x * 2
  print '(i0,1x,f0.1)', total, sum(y)
end program trap
