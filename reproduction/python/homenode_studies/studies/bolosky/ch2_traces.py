"""Chapter 2: what our traces are like, beside what the thesis says of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.engines.picture import picture
from homenode_studies.studies.bolosky import THESIS
from homenode_studies.studies.programs import CALIBRATION
from homenode_studies.studies.published import row as published_row
from homenode_studies.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode_studies.studies.context import StudyContext
    from homenode_studies.studies.programs import Program
    from homenode_studies.studies.tables import Row

FACTOR = 2.0
"""How far our programs may be from the thesis's in length and in pages, either way."""
_MILLION = 1e6
_COLUMNS = (
    "program",
    "references_millions",
    "private_millions",
    "file_megabytes",
    "bytes_per_reference",
    "read_share",
)


def described(context: StudyContext) -> list[Row]:
    """What table 2.1 says of each trace, and the share of its busiest processor."""
    return [_describe(context, program) for program in context.programs]


def _describe(context: StudyContext, program: Program) -> Row:
    trace = context.trace(program)
    info = trace.info
    references = info["references"]
    private = 0 if program.private == "shared" else info["private"]
    rows = info["rows_per_thread"]
    return {
        "program": program.name,
        "style": program.style,
        "references_millions": (references - private) / _MILLION,
        "private_millions": private / _MILLION,
        "file_megabytes": info["bytes"] / _MILLION,
        "bytes_per_reference": info["bytes_per_reference"],
        "read_share": _read_share(context, program),
        "busiest": max(rows) / max(sum(rows), 1),
    }


def _read_share(context: StudyContext, program: Program) -> float:
    """The share of reads in what is neither private nor synchronisation."""
    private = "shared" if program.private == "shared" else "exclude"
    with context.watch(f"counting reads of {program.name}") as step:
        seen = picture(
            context.trace(program), stretches=1, slices=1, private=private, progress=step
        )
    rows = seen.data["map"]["rows"]
    reads, writes = (sum(sum(row[kind]) for row in rows) for kind in ("reads", "writes"))
    return reads / max(reads + writes, 1)


def table(traces: Sequence[Row]) -> Table:
    """Table 2.1 from our traces, with its own columns."""
    rows = [{name: row[name] for name in _COLUMNS} for row in traces if row["style"] != CALIBRATION]
    return Table(
        "table-2.1", "traces: references in millions, size in the file, share of reads", rows
    )


def beside(traces: Sequence[Row], managed: Sequence[Row]) -> Table:
    """Our traces beside the thesis's: length, private share, pages and busiest processor.

    Args:
        traces: from `described`.
        managed: what the page manager found, of which ``pages`` is used.
    """
    pages = {row["program"]: row["pages"] for row in managed}
    rows = [_beside(row, pages[row["program"]]) for row in traces if row["style"] != CALIBRATION]
    return Table(
        "traces-beside",
        "length, private share, pages and busiest processor, beside the thesis's",
        rows,
        "References in millions, private ones included; the thesis counts words of 4 bytes, as "
        "ours are unless --word-bytes says otherwise. A ratio is ours over the thesis's. "
        f"`within`: all ratios of the row lie between 1/{FACTOR:g} and {FACTOR:g}. Pages of 4 KB "
        "are all that the program touches, stacks and private ones included; the thesis says how "
        "large the data are for those programs only that have a number there, and of those of "
        "Presto not how large Presto is.",
    )


def _beside(ours: Row, pages: int) -> Row:
    theirs = published_row(THESIS.name, "table-2.1", ours["program"]) or {}
    data = published_row(THESIS.name, "section-2.2", ours["program"]) or {}
    counts = {"references": _all(ours), "pages": pages}
    printed = {"references": _all(theirs) if theirs else None, "pages": data.get("pages")}
    ratios = {name: ratio(counts[name], printed[name]) for name in counts}
    return {
        "program": ours["program"],
        "references": counts["references"],
        "thesis": printed["references"],
        "ratio": ratios["references"],
        "private": _private(ours),
        "private thesis": _private(theirs) if theirs else None,
        "pages": pages,
        "pages thesis": printed["pages"],
        "pages ratio": ratios["pages"],
        "busiest": ours["busiest"],
        "busiest thesis": data.get("busiest"),
        "within": "yes" if all(map(within, ratios.values())) else "no",
    }


def ratio(ours: float, theirs: float | None) -> float | None:
    """Ours over the thesis's, where it has a number."""
    return ours / theirs if theirs else None


def within(found: float | None) -> bool:
    """Whether a ratio is within `FACTOR` of one; what the thesis does not say always is.

    >>> within(0.5), within(2.1), within(None)
    (True, False, True)
    """
    return found is None or 1 / FACTOR <= found <= FACTOR


def _all(row: dict[str, Any]) -> float:
    return float(row["references_millions"] + row["private_millions"])


def _private(row: dict[str, Any]) -> float:
    return float(row["private_millions"] / max(_all(row), 1 / _MILLION))
