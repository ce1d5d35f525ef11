"""The tables of the results of engines: made for an engine, or the columns that it declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.tables import print_table
from homenode.options.specs import plain_number
from homenode.options.tables import engines

if TYPE_CHECKING:
    from homenode.results.result import Result


def print_result(engine: str, result: Result) -> None:
    """Prints the result of an engine."""
    from homenode.cli import bus_table, directory_table, simulate

    made = {
        "simulate": simulate.print_result,
        "bus": bus_table.print_result,
        "directory": directory_table.print_result,
    }
    if engine in made:
        made[engine](result)
    else:
        _print_columns(engines()[engine]["columns"], result)


def _print_columns(columns: list[dict[str, str]], result: Result) -> None:
    cells = [[_cell(row[column["field"]]) for column in columns] for row in result]
    numbers = [
        bool(result.rows) and not isinstance(result.rows[0][column["field"]], str)
        for column in columns
    ]
    headings = [column["heading"] for column in columns]
    print_table(list(zip(headings, numbers, strict=True)), cells, None)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else plain_number(value)
