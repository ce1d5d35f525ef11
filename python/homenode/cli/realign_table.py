"""What re-alignment did, as tables."""

from typing import Any

from homenode.cli.tables import numbers, print_facts, print_table, texts
from homenode.options.specs import format_size, plain_number


def print_report(report: dict[str, Any]) -> None:
    """Prints what re-alignment did, with the ten objects of which most words moved."""
    before, after, gone = report["before"], report["after"], report["gone"]
    number = plain_number
    print_facts(
        [
            ("words moved", f"{number(report['words_moved'])}, {number(report['moves'])} moves"),
            (
                "memory",
                f"{number(report['new_pages'])} new pages of {number(report['page_size'])} bytes: "
                f"{number(report['new_bytes'])} bytes",
            ),
            (
                "pages referenced",
                f"{number(report['pages_before'])} before, {number(report['pages_after'])} after",
            ),
            (
                "falsely shared",
                f"{number(before['references'])} references before, "
                f"{number(after['references'])} after"
                + ("" if gone is None else f": {gone:.1%} gone"),
            ),
        ]
    )
    if not report["objects"]:
        return
    rows = [
        (_label(row), row["kind"] or "unknown", number(row["ranges"]), number(row["words_moved"]))
        for row in ({"kind": None, **row} for row in report["objects"][:10])
    ]
    print_table([*texts("object", "kind"), *numbers("ranges", "words moved")], rows)


def _label(row: dict[str, Any]) -> str:
    if row["kind"] == "stack":
        return f"thread {row['thread']}"
    return " ".join(filter(None, (row["name"], row["allocated_at"]))) or "-"


def print_sizes(reports: dict[int, dict[str, Any]]) -> None:
    """Prints what re-alignment did at several block sizes, one line each."""
    number = plain_number
    moved = numbers("words moved", "moves", "new pages", "new bytes")
    columns = [*texts("page size"), *moved, *numbers("falsely shared", "after", "gone")]
    cells = [
        [
            format_size(size),
            *(number(report[name]) for name in ("words_moved", "moves", "new_pages", "new_bytes")),
            *(number(report[name]["references"]) for name in ("before", "after")),
            "-" if report["gone"] is None else f"{report['gone']:.1%}",
        ]
        for size, report in reports.items()
    ]
    print_table(columns, cells, "re-alignment; references to falsely shared pages before and after")
