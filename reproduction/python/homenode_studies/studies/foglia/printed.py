"""The paper's numbers, in the form of our results.

So the same function computes a claim from its tables and from our results, and the rule is applied
to its tables first.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from homenode_studies.studies.claims import Claim
from homenode_studies.studies.foglia import EC, PAPER, footprints, tables
from homenode_studies.studies.foglia.matrix import Setting
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Missing, Row

_REFERENCES = 130_000_000
"""References of a workload (section 4); for groups of its processes only shares are printed."""
_PER_CENT = 100


class PrintedRow(dict[str, Any]):
    """A printed row, which lacks most counts of a run."""

    def __missing__(self, name: str) -> Any:
        raise Missing(f"the paper does not print {name}")


def at_scalability(claim: Claim, setting: Setting, column: str) -> Claim:
    """A claim about a machine's scalability, with a column of table 5."""

    def printed(_: Evidence) -> float:
        for machine, row in _table_5().items():
            # A scalability is that of a machine with any number of processors.
            if machine.changed(processors=setting.processors) == setting:
                return float(row[column])
        raise Missing("table 5 does not have that machine")

    return replace(claim, own=printed)


@cache
def paper() -> Evidence:
    """The paper's tables, and the points of its figures that the text states."""
    printed = published(PAPER.name)
    shared = [_shared(row) for row in printed["table-3"]]
    rows = {"points": _points(), "footprints": _footprints(), "table-3": shared}
    return Evidence({**printed, **rows}, printed)


def _points() -> list[Row]:
    """Power and bus utilisation; if text and table 5 differ, the table's values."""
    powers, buses = (
        tables.printed_numbers(name) | {setting: row[name] for setting, row in _table_5().items()}
        for name in ("gsp", "bus_utilisation")
    )
    found: list[Row] = []
    for setting, power in powers.items():
        row = PrintedRow(setting.fields(), workload=EC, gsp=power)
        row["processor_utilisation"] = power / setting.processors
        if setting in buses:
            row["bus_utilisation"] = buses[setting] / _PER_CENT
        found.append(row)
    return found


@cache
def _table_5() -> dict[Setting, Row]:
    return {tables.setting_of(row): row for row in published(PAPER.name)["table-5"]}


def _shared(row: Row) -> Row:
    """The paper calls blocks shared if they need coherence, that is, if they are written."""
    return row | {f"written_{name}": row[name] for name in ("shared_blocks", "shared_access")}


def _footprints() -> list[Row]:
    """Tables 2 and 3 as counts."""
    printed = published(PAPER.name)
    names = {
        f"{application} ({workload})": (workload, application)
        for workload, application in footprints.OF_TABLE_2
    }
    found = []
    for row in printed["table-2"]:
        workload, application = names.get(row["workload"], (EC, row["workload"]))
        found.append(_counts(row, workload, application))
    return found + [_counts(row, row["workload"], footprints.ALL) for row in printed["table-3"]]


def _counts(row: Row, workload: str, application: str) -> Row:
    one = _REFERENCES / _PER_CENT
    return PrintedRow(
        workload=workload,
        application=application,
        with_kernel=True,
        references=_REFERENCES,
        processes=row["processes"],
        distinct_blocks=row["distinct_blocks"],
        fetches=one * row["code"],
        writes=one * row["data_write"],
        shared_blocks=row["shared_blocks"],
        shared_references=one * row["shared_access"],
        shared_writes=one * row["shared_write"],
        written_shared_blocks=row["shared_blocks"],
        written_shared_references=one * row["shared_access"],
        kernel=0,
    )
