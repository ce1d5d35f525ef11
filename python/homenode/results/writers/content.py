"""What writers are given, and what an entry of their table is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

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
        rows = self.rows()
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}


@dataclass(frozen=True, slots=True)
class Writer:
    """A format of results."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    """Ends of names that choose it, the first one in messages."""
    write: Callable[[Content, IO[bytes]], None]


def flat(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A row of single values: dictionaries become columns, lists become JSON.

    >>> flat({"name": "t", "misses": {"cold": 3, "replacement": 0}, "sizes": [64, 128]})
    {'name': 't', 'misses_cold': 3, 'misses_replacement': 0, 'sizes': '[64, 128]'}
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}_")
        else:
            found[prefix + name] = json.dumps(value) if isinstance(value, list | tuple) else value
    return found
