"""Chapter 2: properties of our traces, compared with those of the thesis's traces."""

from collections.abc import Sequence
from typing import Any

from homenode.engines.picture import picture
from homenode_studies.studies.bolosky import THESIS
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.programs import CALIBRATION, Program
from homenode_studies.studies.published import row as published_row
from homenode_studies.studies.tables import Row, Table

FACTOR = 2.0
"""The factor by which our programs may differ from the thesis's in length and in pages."""
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
    """The columns of table 2.1 for each trace, and the share of its busiest processor."""
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
    """The share of reads among references that are neither private nor synchronisation."""
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
    """Our traces compared with the thesis's: length, private share, pages and busiest processor.

    Args:
        traces: from `described`.
        managed: the results of the page manager, of which ``pages`` is used.
    """
    pages = {row["program"]: row["pages"] for row in managed}
    rows = [_beside(row, pages[row["program"]]) for row in traces if row["style"] != CALIBRATION]
    return Table(
        "traces-beside",
        "length, private share, pages and busiest processor, compared with the thesis's",
        rows,
        "References in millions, including private ones, in words of 4 bytes as in the thesis, "
        "unless --word-bytes says otherwise. A ratio is ours over the thesis's. `within`: all "
        f"ratios of the row lie between 1/{FACTOR:g} and {FACTOR:g}. Pages of 4 KB include all "
        "pages that the program touches, even stacks and private ones; the thesis gives the sizes "
        "of the data only for the programs with a number, and those of the Presto programs without "
        "Presto itself.",
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
    """Our value over the thesis's, if it has one."""
    return ours / theirs if theirs else None


def within(found: float | None) -> bool:
    """Whether a ratio is within `FACTOR` of one; true if the thesis has no value.

    >>> within(0.5), within(2.1), within(None)
    (True, False, True)
    """
    return found is None or 1 / FACTOR <= found <= FACTOR


def _all(row: dict[str, Any]) -> float:
    return float(row["references_millions"] + row["private_millions"])


def _private(row: dict[str, Any]) -> float:
    return float(row["private_millions"] / max(_all(row), 1 / _MILLION))
