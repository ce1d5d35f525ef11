"""`homenode repair`: rescue the complete part of a cut-off trace."""

import json
from pathlib import Path

import click

from homenode import _core
from homenode.cli.command import examples, json_option
from homenode.cli.output import print_json
from homenode.cli.progress import Progress
from homenode.cli.tables import print_facts, summary
from homenode.files import check_replaceable


@click.command(epilog=examples("homenode repair t.hnt.partial", "homenode repair bad.hnt -o t.hnt"))
@click.argument("trace", metavar="T.hnt")
@click.option(
    "-o",
    "--output",
    metavar="U.hnt",
    help="The trace to write. Default: the name without .partial, or with .repaired.hnt.",
)
@json_option
def repair(trace: str, output: str | None, as_json: bool) -> None:
    """Rescue the complete part of a trace whose writer was stopped, or that was damaged.

    Every chunk that passes its checksum is kept, in order, up to the first that does not. The input
    is not changed.
    """
    target = output or default_output(trace)
    check_replaceable(target, trace)
    with Progress("repairing", "bytes") as progress:
        found = json.loads(_core.repair(trace, target, progress))
    if as_json:
        print_json({"trace": trace, "output": target, **found})
        return
    print_facts(summary({"rescued_to": target, **found}))


def default_output(trace: str) -> str:
    """The default path of a repaired trace.

    >>> default_output("run/t.hnt.partial"), default_output("t.hnt")
    ('run/t.hnt', 't.repaired.hnt')
    """
    path = Path(trace)
    if path.suffix == ".partial":
        return str(path.with_suffix(""))
    return str(path.with_name(f"{path.stem}.repaired.hnt"))
