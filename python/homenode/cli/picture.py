"""`homenode picture`: who references which memory when, as an SVG file."""

from __future__ import annotations

from typing import Any

import click

from homenode.cli.command import examples, json_option


@click.command(
    epilog=examples(
        "homenode picture t.hnt -o sharing.svg",
        "homenode picture t.hnt --block-size 4K --slices 100 -o pages.svg",
        "homenode picture t.hnt --json | jq '.slices[0]'",
    )
)
@click.argument("trace", metavar="T.hnt")
@click.option("-o", "--output", metavar="FILE.svg", help="The SVG file to write.")
@click.option(
    "--stretches",
    type=click.IntRange(min=1),
    default=120,
    show_default=True,
    metavar="N",
    help="Most stretches of memory side by side.",
)
@click.option(
    "--slices",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    metavar="N",
    help="Slices of Time one below the other.",
)
@click.option(
    "--block-size",
    default="64",
    show_default=True,
    metavar="B",
    help="The least that a stretch covers; doubled until the stretches are few enough.",
)
@click.option("--title", help="What stands above the picture. Default: the command recorded.")
@click.option(
    "--processors",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processors; thread i runs on i mod N. Default: the trace's threads.",
)
@click.option(
    "--private",
    type=click.Choice(["exclude", "shared"]),
    default="exclude",
    show_default=True,
    help="Leave out references to private memory, or draw them like all others.",
)
@click.option(
    "--sync",
    type=click.Choice(["exclude", "include"]),
    default="exclude",
    show_default=True,
    help="Leave out references to synchronisation variables, or draw them.",
)
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
        found = homenode.picture(trace, progress=progress, **options)
    if output is not None:
        text = found.svg().encode()
        with replacing(output) as file:
            file.write(text)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(f"{output}: {len(text):,} bytes")


COMMANDS = {"picture": picture}
