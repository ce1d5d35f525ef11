! expect: from written=32 read=32
! expect: to written=32 read=0
! compile: gcc; O0 O2
! why: 32 letters are set and then copied.
module words
  use iso_c_binding
  character(kind=c_char, len=1), bind(c) :: from(32), to(32)
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
