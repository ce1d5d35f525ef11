! kind: Fortran arrays and texts
! expect: words::from written=32 read=32
! expect: words::to written=32 read=0
! expect O0 qemu: words::from written=32 read=64
! expect O0 qemu: words::to written=64 read=0
! compile: gcc; O0 O2
! with: -fno-inline
! why: 32 letters are set and copied; where the library copies them, its two halves overlap.
module words
  character(len=32) :: from, to
contains
  subroutine set(x)
    character(len=32), intent(out) :: x
    x = "thirty-two letters, counted once"
  end subroutine
  subroutine copy(x, y)
    character(len=32), intent(out) :: x
    character(len=32), intent(in) :: y
    x = y
  end subroutine
end module

program letters
  use words
  call set(from)
  call copy(to, from)
end program
