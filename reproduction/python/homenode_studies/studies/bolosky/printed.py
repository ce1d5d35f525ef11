"""The thesis's numbers, in the form of our results.

So the same function computes a claim from its tables and from our results, and the rule is applied
to its tables first.
"""

from functools import cache

from homenode_studies.studies.bolosky import THESIS
from homenode_studies.studies.programs import listed
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Row

_PER_CENT = 100
_SIZES = {"numa_4k": 4096, "uncorrected": 128}
"""Columns of table 6.5 that are optimal costs on NUMA, and their block sizes."""


@cache
def thesis() -> Evidence:
    """The thesis's tables, and those of our results that can be derived from them."""
    printed = published(THESIS.name)
    rows = {"outcomes": _outcomes(), "traces": _traces(), "changes": _changes()}
    return Evidence({**printed, **rows}, printed)


def _outcomes() -> list[Row]:
    """Optimal costs on NUMA, from table 6.5."""
    return [
        {
            "program": row["program"],
            "style": styles()[str(row["program"])],
            "machine": "numa",
            "policy": "optimal",
            "block_size": size,
            "mcpr": row[column],
        }
        for row in published(THESIS.name)["table-6.5"]
        for column, size in _SIZES.items()
    ]


def _traces() -> list[Row]:
    """Table 2.1."""
    rows = published(THESIS.name)["table-2.1"]
    return [{**row, "style": styles()[str(row["program"])]} for row in rows]


def _changes() -> list[Row]:
    """Table 4.1, which has no signs."""
    return [
        {
            "program": row["program"],
            "filter": column.partition("_")[0],
            "machine": column.partition("_")[2],
            "policy": "optimal",
            "change": change / _PER_CENT,
        }
        for row in published(THESIS.name)["table-4.1"]
        for column, change in row.items()
        if column != "program"
    ]


@cache
def styles() -> dict[str, str]:
    """The programming style of each of the thesis's programs."""
    return {row["name"]: row["style"] for row in listed(THESIS)}
