"""`homenode picture`: who references which memory when, as an SVG file."""

from __future__ import annotations

from typing import Any

import click

from homenode.cli.command import examples, json_option
from homenode.cli.options import given_options, study_options
from homenode.cli.output import echo


@click.command(
    epilog=examples(
        "homenode picture t.hnt -o sharing.svg",
        "homenode picture t.hnt --block-size 4K --slices 100 -o pages.svg",
        "homenode picture t.hnt --json | jq '.slices[0]'",
    )
)
@click.argument("trace", metavar="T.hnt")
@click.option("-o", "--output", metavar="FILE.svg", help="The SVG file to write.")
@study_options("picture")
@json_option
def picture(trace: str, output: str | None, as_json: bool, **options: Any) -> None:
    """Draw who references which memory when.

    Memory runs across, only what is referenced; Time runs down. A cell has the colour of the
    processor that is alone in it, full if it writes and pale if it reads; grey is read by several,
    black is used by several and written.
    """
    import homenode
    from homenode.cli.output import print_json
    from homenode.cli.progress import Progress
    from homenode.files import check_output, replacing

    if output is None and not as_json:
        raise click.UsageError("say where to write the picture: -o FILE.svg; or print --json")
    if output is not None:
        check_output(output, trace)
    with Progress("looking who references what") as progress:
        found = homenode.picture(trace, progress=progress, **given_options(options))
    if output is not None:
        text = found.svg().encode()
        with replacing(output) as file:
            file.write(text)
    if as_json:
        print_json(found.to_dict())
    else:
        echo(f"{output}: {len(text):,} bytes")


COMMANDS = {"picture": picture}
