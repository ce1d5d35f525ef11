"""Standard streams that the caller closed."""

from __future__ import annotations

import os
import sys


def open_standard_streams() -> None:
    """Opens the null device in place of each standard stream that is closed.

    Else the next file that is opened would get its number, and be written to by whatever prints,
    the recorded program included.
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
