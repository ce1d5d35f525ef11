"""How the `homenode` command starts and ends.

Exit codes: 0 ok, 1 findings or failed checks, 2 usage or bad input, 130 interrupted, 143 ended;
of `homenode record`, the recorded program's; of the compilers, theirs.
"""

import signal
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType
from typing import Any

from homenode.cli.streams import open_standard_streams

__all__ = ["LANGUAGES", "main"]

LANGUAGES = {"cc": "c", "c++": "c++", "fortran": "fortran"}
"""The commands that compile, and what."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    """Ends like Ctrl-C: what is half-written is removed on the way out."""
    from homenode.cli.failure import Terminated

    raise Terminated


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code; never raises for bad input."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal whose encoding lacks a character shows a question mark instead of failing.
            stream.reconfigure(errors="replace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        outcome = _run(words)
        sys.stdout.flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 2
    except BaseException as error:
        from homenode.cli.failure import report_failure

        return report_failure(error)
    return outcome if isinstance(outcome, int) else 0


def _run(words: list[str]) -> Any:
    # A build starts a compiler for every file; the command line takes longer to load than a file to
    # compile.
    if words and words[0] in LANGUAGES:
        from homenode.capture import compilers

        return compilers.compile(LANGUAGES[words[0]], words[1:])
    from homenode.cli.app import cli

    return cli.main(words, prog_name="homenode", standalone_mode=False)
