! kind: Fortran arrays and texts
! expect: a written=16000 read=0
! expect: b written=0 read=16000
! compile: gcc; O0 O2
! with: -fno-inline
! why: a = b of 16,000 bytes is one call of the library, whose vectors overlap by under 2 %.
module arrays
  use iso_c_binding
  real(c_double), bind(c) :: a(2000), b(2000)
contains
  subroutine copy(x, y)
    real(c_double), intent(out) :: x(2000)
    real(c_double), intent(in) :: y(2000)
    x = y
  end subroutine
end module

program large_array
  use arrays
  call copy(a, b)
end program
