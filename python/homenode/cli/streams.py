"""Standard streams that the caller closed."""

import os
import sys


def open_standard_streams() -> None:
    """Opens the null device in place of each closed standard stream.

    Otherwise the next file opened would get its number, and all output to that stream, the recorded
    program's too, would be written to it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            os.dup2(opened, number)
            if opened != number:
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
