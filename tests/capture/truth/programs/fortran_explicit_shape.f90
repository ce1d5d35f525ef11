! kind: Fortran arrays and texts
! expect: a written=8000 read=0
! expect: b written=8000 read=8000
! compile: gcc; O0 O2
! with: -fno-inline
! why: b is set and then copied to a, as dummy arguments whose shape is written down.
module arrays
  use iso_c_binding
  integer(c_long), bind(c) :: a(1000), b(1000)
contains
  subroutine set(x)
    integer(c_long), intent(out) :: x(1000)
    x = 0
  end subroutine
  subroutine copy(x, y)
    integer(c_long), intent(out) :: x(1000)
    integer(c_long), intent(in) :: y(1000)
    x = y
  end subroutine
end module

program explicit_shape
  use arrays
  call set(b)
  call copy(a, b)
end program
