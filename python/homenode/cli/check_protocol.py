"""`homenode check-protocol`: whether coherence protocols keep their promises."""

from typing import Any

import click

import homenode
from homenode.cli.command import WholeNumber, examples
from homenode.cli.output import echo
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.tables import numbers, print_table, texts
from homenode.results.rows import columns_of, flat


@click.command(
    "check-protocol",
    epilog=examples(
        "homenode check-protocol",
        "homenode check-protocol mesi pscr",
        "homenode check-protocol dash --nodes 4",
        "homenode check-protocol sdd sdd+proxies",
        "homenode check-protocol amsd --json",
    ),
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--nodes",
    type=WholeNumber(min=2),
    metavar="N",
    default=None,
    help="With a directory: maximum number of nodes, 2 to 4; 4 take half a minute for dash, lrc is "
    "explored with 3 at most. Default: 3, 2 of lrc and 4 of sdd.",
)
@result_options()
def check_protocol(names: tuple[str, ...], nodes: int | None, outputs: Outputs) -> int:
    """Explore a coherence protocol exhaustively; without a NAME, all of them.

    Every sequence of reads, writes and replacements in up to 4 caches with one block of two words
    is tried; with a directory, every order in which messages between some nodes can arrive. It is
    checked that there is one writer or owner at a time, every read returns the last write, every
    state can be entered and left, no processor waits forever, and nothing happens that the protocol
    declares impossible. With +proxies reads may go through another node. A fault is shown with the
    shortest sequence that leads to it; the exit code is then 1.
    """
    outputs.check()
    reports = homenode.check_protocols(list(names), nodes)
    outputs.show(
        lambda: reports,
        lambda: columns_of([flat(report) for report in reports]),
        lambda: _print(reports),
    )
    return int(any(report["findings"] for report in reports))


def _print(reports: list[dict[str, Any]]) -> None:
    for among, tried in (("caches", "events"), ("nodes", "steps")):
        some = [report for report in reports if among in report]
        if some:
            _print_numbers(some, among, tried)
    for report in reports:
        for finding in report["findings"]:
            echo(f"{report['protocol']}: {finding['message']}")
            for number, step in enumerate(finding["steps"], 1):
                echo(f"  {number}. {step}")


def _print_numbers(reports: list[dict[str, Any]], among: str, tried: str) -> None:
    counts = ("states", "cells", "impossible", "situations", tried)
    print_table(
        [*texts("protocol"), *numbers(*counts), *texts("findings")],
        [
            [
                report["protocol"],
                *(f"{report[name]:,}" for name in counts),
                str(len(report["findings"]) or "none"),
            ]
            for report in reports
        ],
        f"Everything that can happen in up to {max(report[among] for report in reports)} {among}",
    )
