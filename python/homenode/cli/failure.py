"""How the command line fails: one line that says what, where and what to do, and an exit code."""

import errno
import os
import sys
import traceback

import click

from homenode.cli.output import echo
from homenode.sanitize import sanitized

INTERNAL_ERROR = 70
BROKEN_PIPE = 141
INTERRUPTED = 130
TERMINATED = 143
BAD_INPUT = 2


class Terminated(KeyboardInterrupt):
    """The program received SIGTERM."""


def report_failure(error: BaseException) -> int:
    """Prints `error` as one line on standard error and returns the exit code for it."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        echo("homenode: interrupted; nothing was left half-written", err=True)
        # Click raises its Abort from what interrupted it.
        asked = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
        return TERMINATED if asked else INTERRUPTED
    if isinstance(error, BrokenPipeError):
        # The reader closed the pipe, as in `homenode info t.hnt | head -1`. Without this, the
        # interpreter would report the same error when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    message = _explain(error)
    if message is None:
        return _internal(error)
    _say(message)
    return BAD_INPUT


def _explain(error: BaseException) -> str | None:
    """The message for the user; `None` for an error of homenode itself."""
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, OSError):
        return _system(error)
    if type(error).__name__ in {"TraceError", "ConfigError"}:
        return str(getattr(error, "on_command_line", error))
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; install it, for example with pip install {error.name}"
    return None


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split()).removesuffix(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    if isinstance(error, click.UsageError) and context is not None and "--help" not in message:
        message += f"; see {context.command_path} --help"
    return message


def _system(error: OSError) -> str:
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    remedy = _BY_NUMBER.get(error.errno or 0) or _REMEDIES.get(type(error), "")
    return ": ".join([*names[:1], reason]) + remedy


_BY_NUMBER = {
    errno.ENOSPC: "; make room and start again",
    errno.EROFS: "; choose a place that you may read and write",
}
_REMEDIES: dict[type[OSError], str] = {
    FileNotFoundError: "; check the name and that the folder exists",
    PermissionError: "; choose a place that you may read and write",
    IsADirectoryError: "; name a file, not a folder",
    NotADirectoryError: "; check the folder part of the name",
}


def _internal(error: BaseException) -> int:
    _say(
        f"internal error: {type(error).__name__}: {error}; this is our fault: please report it "
        "with the command and the output of HOMENODE_TRACEBACK=1"
    )
    if os.environ.get("HOMENODE_TRACEBACK"):
        traceback.print_exception(error)
    return INTERNAL_ERROR


def _say(message: str) -> None:
    echo(f"homenode: error: {sanitized(message)}", err=True)
