! kind: Fortran arrays and texts
! expect: a written=8000 read=0
! expect: b written=8000 read=8000
! compile: gcc; O0 O2
! with: -fno-inline
! why: b is set as a whole, then a = b copies it; both belong to the module.
module arrays
  use iso_c_binding
  integer(c_long), bind(c) :: a(1000), b(1000)
contains
  subroutine set
    b = 7
  end subroutine
  subroutine copy
    a = b
  end subroutine
end module

program own_arrays
  use arrays
  call set
  call copy
end program
