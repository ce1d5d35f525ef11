"""The effects of re-alignment: memory, false sharing, and the objects whose words moved.

The paper gives no numbers; section 3.4 only says that there is almost no false sharing afterwards.
"""

from collections.abc import Sequence
from typing import Any

from homenode_studies.studies.tables import Row, Table

_PAGE = 4096
_NAMED = 6
"""Objects of a program that the table names."""


def summary(reports: Sequence[Row]) -> list[Row]:
    """The re-alignment of every program for every page size, without the objects."""
    return [
        {
            "program": report["program"],
            "page": report["page_size"].bit_length() - 1,
            "windows": report["windows"],
            "words moved": report["words_moved"],
            "moves": report["moves"],
            "new MB": report["new_bytes"] / 1e6,
            "pages, times": report["pages_after"] / max(report["pages_before"], 1),
            "falsely shared before": report["before"]["references"],
            "after": report["after"]["references"],
            "gone": report["gone"],
        }
        for report in reports
    ]


def tables(reports: Sequence[Row]) -> list[Table]:
    """The tables of this study that the paper does not have."""
    return [
        Table(
            "realignment",
            "memory cost of re-alignment, and false sharing removed",
            summary(reports),
            "Not a table of the paper. Falsely shared: references to pages that are falsely shared "
            "in their window. New memory is that of all windows, because each begins new pages.",
        ),
        Table(
            "moved-objects",
            f"objects moved, for pages of {_PAGE} bytes",
            [row for report in reports if report["page_size"] == _PAGE for row in _named(report)],
            "Not a table of the paper. Words of several objects can move together.",
        ),
    ]


def _named(report: Row) -> list[Row]:
    total = max(report["words_moved"], 1)
    return [
        {
            "program": report["program"],
            "object": _object(item),
            "words moved": item["words_moved"],
            "share of all": item["words_moved"] / total,
        }
        for item in report["objects"][:_NAMED]
    ]


def _object(item: dict[str, Any]) -> str:
    """A symbol, the line that allocated a block, or the stack of a thread."""
    if item["name"]:
        return f"{item['kind']} {item['name']}"
    if item["allocated_at"]:
        return f"{item['kind']} of {item['allocated_at']}"
    thread = item.get("thread")
    return str(item["kind"]) if thread is None else f"{item['kind']} of thread {thread}"
