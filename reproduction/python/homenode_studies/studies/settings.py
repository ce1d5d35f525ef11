"""Settings of simulated machines, and what their results have besides."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from homenode.results.result import Result
from homenode_studies.studies.tables import Row


@dataclass(frozen=True)
class SettingFields:
    """One configuration of a simulation; its fields are what studies vary."""

    @classmethod
    def of(cls, row: Row) -> Self:
        """The setting in the columns of a row."""
        return cls(**{name: type(one)(row[name]) for name, one in cls().fields().items()})

    def fields(self) -> dict[str, Any]:
        """As columns of a row."""
        return asdict(self)

    def changed(self, **changes: Any) -> Self:
        """The same with some things changed."""
        return replace(self, **changes)


def without(row: Row, *columns: str) -> Row:
    """A row without these columns, the order and the path of the trace."""
    return {name: value for name, value in row.items() if name not in {*columns, "trace", "order"}}


def digest(file: Path) -> str:
    """Identifies what a file contains, wherever it lies."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def parameters(result: Result, part: str, published: Iterable[Row]) -> list[Row]:
    """The rows of a published table of parameters, from the machine of a simulation.

    Args:
        result: of the simulation.
        part: where its provenance has the machine's own parameters.
        published: each with a name, and a field of the outcome or of the machine.
    """
    record = result.provenance["machines"][0]
    model = {**result.rows[0], **record[part], "page_bytes": record["page_bytes"]}
    return [
        {"parameter": row["parameter"], "ours": _found(model, str(row["field"]))}
        for row in published
    ]


def _found(model: dict[str, Any], path: str) -> Any:
    value: Any = model
    for name in path.split("."):
        value = value[name]
    return value
