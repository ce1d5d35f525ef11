"""`homenode report`: one HTML file that explains traces and policies."""

from __future__ import annotations

from typing import Any

import click

from homenode.cli.command import examples, json_option
from homenode.cli.options import given_options, study_options
from homenode.cli.output import echo


@click.command(
    epilog=examples(
        "homenode report t.hnt -o report.html",
        "homenode report a.hnt b.hnt --machine cc+,numa --block-size 64-8192 -o report.html",
    )
)
@click.argument("traces", nargs=-1, required=True, metavar="T.hnt...")
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The HTML file to write.",
)
@click.option("--title", help="The question at the top of the report.")
@study_options("simulate")
@json_option
def report(
    traces: tuple[str, ...], output: str, title: str | None, as_json: bool, **options: Any
) -> None:
    """Write one self-contained HTML file that explains traces and policies.

    It shows every policy beside the best possible, the effect of block size, the dearest blocks
    with their source lines, and who touches what. It needs no network and works in any browser.
    """
    import shlex
    import sys

    from homenode.cli.output import print_json
    from homenode.cli.progress import Progress
    from homenode.cli.simulate import run
    from homenode.errors import ConfigError
    from homenode.files import check_output, replacing
    from homenode.report.build import render, study
    from homenode.trace import Trace

    check_output(output, *traces)
    usual = {"machines": ["numa", "cc+", "dsm+"], "block_sizes": [64 << i for i in range(8)]}
    chosen = usual | given_options(options)
    studies = []
    outcomes: list[dict[str, Any]] = []
    configuration: dict[str, Any] = {}
    for path in traces:
        if not Trace.open(path).references:
            raise ConfigError(
                f"{path}: there are no data references, so there is nothing to report"
            )
        result = run(path, chosen)
        outcomes += result.rows
        configuration = result.configuration
        with Progress("looking for the dearest blocks") as progress:
            studies.append(study(Trace.open(path), result, progress=progress))
    html = render(
        studies,
        title=title or "How far from the best possible?",
        command=shlex.join(["homenode", *sys.argv[1:]]),
        configuration=configuration,
    )
    with replacing(output) as file:
        file.write(html.encode())
    if as_json:
        print_json({"report": output, "bytes": len(html.encode()), "outcomes": outcomes})
    else:
        echo(f"{output}: {len(studies)} program(s), {len(html.encode()) // 1024} KB")


COMMANDS = {"report": report}
