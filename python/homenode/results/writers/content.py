"""The content that writers get, and the entries of their table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class Content:
    """Results, computed only in the form that a writer needs."""

    document: Callable[[], Any]
    """The JSON document."""
    columns: Callable[[], dict[str, list[Any]]]
    """Rows without dictionaries in them, by column, for tables of data."""
    text: Callable[[], str] | None = None
    """Tables as text; None for a plain table of the rows."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A format of results."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    """Suffixes of file names that select it; messages name the first."""
    write: Callable[[Content, IO[bytes]], None]
