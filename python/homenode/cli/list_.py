"""`homenode list`: the names that options take."""

import json
from typing import Any

import click

from homenode import _core, catalogue
from homenode.cli.command import Choice, examples, list_option
from homenode.cli.output import echo
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.tables import numbers, print_table, texts
from homenode.options.kinds import KINDS
from homenode.options.specs import format_size, plain_number
from homenode.results.rows import columns_of

# Transactions of smaller blocks take no whole number of cycles.
_LEAST_BLOCK_ON_BUS = 16


@click.command(
    "list",
    help="List names with their meanings, and prices of machines.\n\n"
    f"KIND is one of {', '.join(catalogue.KINDS)}.",
    epilog=examples(
        "homenode list machines --block-size 64,4K",
        "homenode list policies --json",
        "homenode list formats",
    ),
)
@click.argument("kind", type=Choice(catalogue.KINDS), metavar="KIND")
@click.option(
    "--block-size",
    "block_sizes",
    **list_option(KINDS["block-sizes"]),
    help="With machines: their prices at these block sizes (64, 4K, 64-8192).",
)
@result_options()
def list_(
    kind: str,
    block_sizes: list[int],
    outputs: Outputs,
) -> None:
    """Lists the names of one kind."""
    outputs.check()
    rows = catalogue.table(kind)
    if kind == "machines" and block_sizes:
        rows = [price for row in rows for price in _prices(row, block_sizes)]
    outputs.show(lambda: rows, lambda: columns_of(_flat(rows)), lambda: _print(kind, rows))


def _prices(row: dict[str, Any], block_sizes: list[int]) -> list[dict[str, Any]]:
    """A machine at each of the block sizes that it can have."""
    least = _LEAST_BLOCK_ON_BUS if row["model"] == "bus" else 0
    sizes = [size for size in block_sizes if size >= least]
    prices: list[dict[str, Any]] = json.loads(_core.machine_prices(row["name"], sizes))
    return prices if sizes else []


def _flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: _text(value) for name, value in row.items()} for row in rows]


def _text(value: Any) -> Any:
    """A list or a dictionary as one text, so that every cell of a table is a single value."""
    if isinstance(value, dict):
        return json.dumps(value)
    if not isinstance(value, list | tuple):
        return value
    return ", ".join(str(item["name"] if isinstance(item, dict) else item) for item in value)


def _print(kind: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        echo(f"This version has no {kind}.")
    elif kind == "machines":
        _print_machines(rows)
    else:
        print_table(texts(kind, "what it is"), [[row["name"], row["summary"]] for row in rows])


def _print_machines(rows: list[dict[str, Any]]) -> None:
    lacking = {"r": "∞", "R": "∞", "g": "-", "G": "-"}
    print_table(
        [*texts("machines"), *numbers("block", *lacking), *texts("what it is")],
        [
            [
                row["name"],
                format_size(row["block_size"]),
                *(_price(row, name, none) for name, none in lacking.items()),
                row["summary"],
            ]
            for row in rows
        ],
        "Prices in units of a local reference",
    )


def _price(row: dict[str, Any], name: str, lacking: str) -> str:
    """A price; a machine that prices events has none of these."""
    if row["model"] != "placement":
        return "-"
    return lacking if row[name] is None else plain_number(row[name])
