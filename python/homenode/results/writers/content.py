"""The content that writers get, and the entries of their table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from homenode.results.rows import columns_of


@dataclass(frozen=True, slots=True)
class Content:
    """Results, computed only in the form that a writer needs."""

    document: Callable[[], Any]
    """The JSON document."""
    rows: Callable[[], list[dict[str, Any]]]
    """Rows without dictionaries in them, for tables of data."""
    text: Callable[[], str] | None = None
    """Tables as text; None for a plain table of the rows."""

    def columns(self) -> dict[str, list[Any]]:
        """The rows as columns; a row that lacks one has ``None`` there."""
        return columns_of(self.rows())


@dataclass(frozen=True, slots=True)
class Writer:
    """A format of results."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    """Suffixes of file names that select it; messages name the first."""
    write: Callable[[Content, IO[bytes]], None]
