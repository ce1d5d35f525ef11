"""`homenode compact`: write traces again in fewer bytes."""

from typing import Any

import click

from homenode.cli.command import WholeNumber, examples, json_option
from homenode.cli.output import print_json
from homenode.cli.progress import Progress
from homenode.cli.tables import print_facts


@click.command(
    epilog=examples(
        "homenode compact t.hnt",
        "homenode compact t.hnt -o small.hnt",
        "homenode compact --level 19 *.hnt",
    )
)
@click.argument("traces", metavar="T.hnt...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="U.hnt",
    help="The trace to write. Default: each trace is replaced, if that makes it smaller.",
)
@click.option(
    "--level",
    type=WholeNumber(1, 22),
    metavar="N",
    help="Level of zstd; higher is smaller and slower to write. Default: 12; commands that make "
    "traces write them at 3.",
)
@json_option
def compact(traces: tuple[str, ...], output: str | None, level: int | None, as_json: bool) -> None:
    """Write traces again in fewer bytes: the same references, events and metadata.

    Results from a compacted trace are the same, and it is read as fast. A trace is replaced only
    when the new one is complete and its checksum has been compared; until then the old one stays.
    """
    if output is not None and len(traces) > 1:
        raise click.UsageError("-o goes with one trace; without it each of them is replaced")
    reports = [_compact(trace, output, level) for trace in traces]
    if as_json:
        print_json(reports if len(reports) > 1 else reports[0])
        return
    for report in reports:
        print_facts(_facts(report))


def _compact(trace: str, output: str | None, level: int | None) -> dict[str, Any]:
    from homenode.trace.compacting import write_compact

    with Progress("compacting") as progress:
        return write_compact(trace, output, level, progress)


def _facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The line for the user.

    >>> _facts({"path": "t.hnt", "references": 1000, "bytes_before": 900, "bytes": 300,
    ...         "written": True, "checksum": "00"})[2]
    ('bytes', '300, before 900 (33 %)')
    """
    before, now = report["bytes_before"], report["bytes"]
    share = f" ({100 * now / before:.0f} %)" if report["written"] else "; it is small already"
    per_reference = now / max(report["references"], 1)
    return [
        ("trace", report["path"]),
        ("references", f"{report['references']:,}"),
        ("bytes", f"{now:,}, before {before:,}{share}"),
        ("bytes a reference", f"{per_reference:.4f}"),
        ("checksum", report["checksum"]),
    ]
