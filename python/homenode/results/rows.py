"""`Rows`: the base of every result, a list of dictionaries and their provenance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from homenode.errors import of_extra

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
    import pyarrow as pa


class Rows:
    """Rows of results, for people, data frames and JSON.

    Attributes:
        rows: one dictionary a row, with exactly the fields that the command's ``--json`` prints.
        configuration: the options of the call.
        provenance: everything that the rows depend on: trace, options, version.
        run_summary: of a live program, its exit and counts.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        configuration: dict[str, Any] | None = None,
        provenance: dict[str, Any] | None = None,
    ) -> None:
        self.rows = list(rows)
        self.configuration = dict(configuration or {})
        self.provenance = dict(provenance or {})
        self.run_summary: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.rows)} rows)"

    def _repr_html_(self) -> str:
        """The first rows as a table, for notebooks."""
        from homenode.results.html import table

        return table(self.columns(), repr(self))

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row without dictionaries in it."""
        return row

    def _heading(self) -> Iterable[str]:
        """The first columns, which are there even without a row."""
        return ()

    def columns(self) -> dict[str, list[Any]]:
        """The rows as flat columns; a row that lacks one has ``None`` there."""
        return columns_of([self._flat(row) for row in self.rows], self._heading())

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows as flat dictionaries, each with every column."""
        columns = self.columns()
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]

    def to_arrow(self) -> pa.Table:
        """The flat rows as a table."""
        import pyarrow as pa

        return pa.table(self.columns())

    def to_pandas(self) -> pd.DataFrame:
        """The flat rows as a data frame.

        Raises:
            ConfigError: when pandas is missing (``pip install 'homenode[pandas]'``).
        """
        with of_extra("pandas", "pandas"):
            import pandas as pd

        return pd.DataFrame(self.columns())

    def to_json(self) -> str:
        """The JSON array that the command's ``--json`` prints."""
        return json.dumps(self.rows, indent=2)

    def document(self) -> Any:
        """What the command's ``--json`` prints, before it is text."""
        return self.rows

    def write(self, path: str | os.PathLike[str], form: str | None = None) -> None:
        """Writes the result to a file, which appears when it is complete.

        Args:
            path: the file, a device or a pipe; ``-`` is standard output.
            form: ``json``, ``csv``, ``parquet`` or ``txt``; by default what the suffix says.

        Raises:
            ConfigError: when the format is unknown.
            OSError: when the file cannot be written.
        """
        from homenode.results import writers
        from homenode.results.writers.content import Content

        writer = writers.of_suffix(path) if form is None else writers.named(form)
        writers.write(Content(self.document, self.columns), path, writer)


def columns_of(rows: Sequence[dict[str, Any]], heading: Iterable[str] = ()) -> dict[str, list[Any]]:
    """Flat rows as columns; a row that lacks one has ``None`` there.

    Args:
        rows: flat dictionaries.
        heading: the first columns, which are there even without a row.
    """
    names = dict.fromkeys((*heading, *(name for row in rows for name in row)))
    return {name: [row.get(name) for row in rows] for name in names}


def flat(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A row of single values: members of dictionaries are columns, lists are JSON.

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
