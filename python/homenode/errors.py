"""The two kinds of errors for users, and how Python code raises them with a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode._core import ConfigError, TraceError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ConfigError", "TraceError", "trace_error"]


def trace_error(message: str, path: str | Path) -> TraceError:
    """An error about the input file `path`; `message` says what is wrong and what to do."""
    error = TraceError(f"{path}: {message}")
    error.path = str(path)
    return error
