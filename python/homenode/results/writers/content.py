"""What writers are given, and what an entry of their table is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from homenode.results.rows import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Content:
    """Results, made only in the forms that writers ask for."""

    document: Callable[[], Any]
    """What JSON has."""
    rows: Callable[[], list[dict[str, Any]]]
    """Rows without dictionaries in them, for tables of data."""
    text: Callable[[], str] | None = None
    """What people read; None if it is a plain table of the rows."""

    def columns(self) -> dict[str, list[Any]]:
        """The rows as columns; a row that lacks one has ``None`` there."""
        return columns_of(self.rows())


@dataclass(frozen=True, slots=True)
class Writer:
    """A format of results."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    """Ends of names that choose it, the first one in messages."""
    write: Callable[[Content, IO[bytes]], None]
