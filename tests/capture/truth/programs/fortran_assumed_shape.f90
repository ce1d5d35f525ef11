! kind: Fortran arrays and texts
! expect: a written=4000 read=4000
! expect: b written=4000 read=4000
! compile: gcc; O0 O2 O3-v3
! with: -fno-inline
! why: b is set, a = b + 1 reads it, and the sum of a reads a; the shapes come with the arguments.
module arrays
  use iso_c_binding
  integer(c_int), bind(c) :: a(1000), b(1000)
contains
  subroutine set(x)
    integer(c_int), intent(out) :: x(:)
    x = 2
  end subroutine
  subroutine add(x, y)
    integer(c_int), intent(out) :: x(:)
    integer(c_int), intent(in) :: y(:)
    x = y + 1
  end subroutine
  integer function total(x)
    integer(c_int), intent(in) :: x(:)
    total = sum(x)
  end function
end module

program assumed_shape
  use arrays
  call set(b)
  call add(a, b)
  if (total(a) /= 3000) error stop
end program
