! kind: Fortran arrays and texts
! expect: a written=4000 read=4000
! compile: gcc; O0 O2
! with: -fno-inline
! why: every second of 1,000 numbers of 8 bytes gets the value of its neighbour.
module arrays
  use iso_c_binding
  integer(c_long), bind(c) :: a(1000)
contains
  subroutine spread_out(x)
    integer(c_long), intent(inout) :: x(1000)
    x(2:1000:2) = x(1:999:2)
  end subroutine
end module

program section
  use arrays
  call spread_out(a)
end program
