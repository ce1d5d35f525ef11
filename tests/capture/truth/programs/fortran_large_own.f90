! kind: Fortran arrays and texts
! expect: a written=16000 read=0
! expect: b written=0 read=16000
! compile: gcc; O0 O2
! with: -fno-inline
! why: a = b of the module's own arrays of 16,000 bytes is one copy and must not count twice.
module arrays
  use iso_c_binding
  real(c_double), bind(c) :: a(2000), b(2000)
contains
  subroutine copy
    a = b
  end subroutine
end module

program large_own
  use arrays
  call copy
end program
