"""The two kinds of errors for users, and how Python code raises them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from homenode._core import ConfigError, TraceError

__all__ = ["ConfigError", "TraceError", "of_extra", "option_error", "trace_error"]


def option_error(name: str, flag: str | None, message: str) -> ConfigError:
    """An error about an option; the message begins with its name, as the caller writes it.

    Args:
        name: its name in Python.
        flag: its flag on the command line, if it has one.
        message: what is wrong and what to do, after the name.
    """
    error = ConfigError(f"{name}{message}")
    error.on_command_line = f"{flag or name}{message}"
    return error


def trace_error(message: str, path: str | Path) -> TraceError:
    """An error about the input file `path`; `message` says what is wrong and what to do."""
    error = TraceError(f"{path}: {message}")
    error.path = str(path)
    return error


@contextmanager
def of_extra(extra: str, package: str) -> Iterator[None]:
    """Imports in this block are of a package that only one of homenode's extras installs.

    Args:
        extra: the extra, as in ``pip install 'homenode[plot]'``.
        package: the package.

    Raises:
        ConfigError: when the package is missing, with what to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ConfigError(
            f"this needs {package}, which is not installed: pip install 'homenode[{extra}]'"
        ) from None
