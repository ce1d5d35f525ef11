"""`homenode list`: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from homenode.cli.command import BlockSizes, examples, flattened, table_options

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS = ("machines", "policies", "protocols", "workloads", "studies", "tlbs", "formats")


@click.command(
    "list",
    epilog=examples(
        "homenode list machines --block-size 64,4K",
        "homenode list policies --json",
        "homenode list formats",
    ),
)
@click.argument("kind", type=click.Choice(_KINDS))
@click.option(
    "--block-size",
    "block_sizes",
    type=BlockSizes(),
    multiple=True,
    callback=flattened,
    help="With machines: their prices at these block sizes (64, 4K, 64-8192).",
)
@table_options
def list_(
    kind: str,
    block_sizes: list[int],
    as_json: bool,
    csv: str | None,
    parquet: str | None,
) -> None:
    """List what there is: names, what they mean, and prices of machines."""
    from homenode.catalogue import table
    from homenode.cli.output import print_json, write_csv, write_parquet

    rows = table(kind)
    if kind == "machines" and block_sizes:
        rows = [row | {"prices": _prices(row["name"], block_sizes)} for row in rows]
    if csv is not None:
        write_csv(_flat(rows), csv)
    if parquet is not None:
        write_parquet(_flat(rows), parquet)
    if as_json:
        print_json(rows)
    elif csv is None and parquet is None:
        _print(kind, rows)


def _prices(name: str, block_sizes: list[int]) -> list[dict[str, Any]]:
    import json

    from homenode import _core

    prices: list[dict[str, Any]] = json.loads(_core.machine_prices(name, block_sizes))
    return prices


def _flat(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row an entry, or one a machine and block size when prices were asked for."""
    flat = []
    for row in rows:
        plain = {k: _text(v) for k, v in row.items() if k != "prices"}
        flat += [plain | price for price in row["prices"]] if "prices" in row else [plain]
    return flat


def _text(value: Any) -> Any:
    return ", ".join(str(item) for item in value) if isinstance(value, list) else value


def _print(kind: str, rows: list[dict[str, Any]]) -> None:
    from homenode.cli.output import number, print_table

    if not rows:
        click.echo(f"This version has no {kind}.")
        return
    if "prices" in rows[0]:
        prices = list(rows[0]["prices"][0])
        print_table(
            [("machine", False), *((name.replace("_", " "), True) for name in prices)],
            [
                [row["name"], *(_cell(price[name], number) for name in prices)]
                for row in rows
                for price in row["prices"]
            ],
        )
        return
    print_table(
        [(kind, False), ("what it is", False)],
        [[row["name"], row.get("summary", "")] for row in rows],
    )


def _cell(value: Any, number: Any) -> str:
    return value if isinstance(value, str) else number(value)


COMMANDS = {"list": list_}
