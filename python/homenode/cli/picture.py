"""`homenode picture`: who references which memory when, as an SVG file."""

from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode.cli.command import examples, json_option
from homenode.cli.options import given_options, options_named, study_options
from homenode.cli.output import echo, print_json
from homenode.cli.progress import Progress
from homenode.files import check_output, write_text

if TYPE_CHECKING:
    from homenode.cli.picture_pages import PagePicture
    from homenode.engines.picture import SharingPicture

OF_PAGES = {
    "machines": "Draw who fills which page of this machine with a directory (homenode list "
    "machines), instead of who references what when. Default, with --home: dash-mesh.",
    "protocols": "Of pages: the protocol (homenode list protocols). Default: dash.",
    "homes": "Of pages: which node is the home of each (homenode list homes). "
    "Default: first-touch.",
}
"""Options of a picture of pages and their homes, with their help."""


@click.command(
    epilog=examples(
        "homenode picture t.hnt -o sharing.svg",
        "homenode picture t.hnt --block-size 4K --slices 100 -o pages.svg",
        "homenode picture t.hnt --json | jq '.slices[0]'",
        "homenode picture t.hnt --machine dash-mesh --home first-use -o homes.svg",
    )
)
@click.argument("trace", metavar="T.hnt")
@click.option("-o", "--output", metavar="FILE.svg", help="The SVG file to write.")
@study_options("picture")
@options_named("directory", OF_PAGES)
@json_option
def picture(trace: str, output: str | None, as_json: bool, **options: Any) -> None:
    """Draw who references which memory when.

    Memory runs across, only what is referenced; Time runs down. A cell used by one processor has
    its colour, full if it writes and pale if it only reads; grey cells are read by several, black
    ones are used by several and written.

    With a machine that has a directory (--machine dash-mesh) the picture shows which nodes fill
    which page, and its home: pages run across, those of one object together, and nodes down.
    """
    from homenode.cli.picture_pages import pages

    if output is None and not as_json:
        raise click.UsageError("say where to write the picture: -o FILE.svg; or print --json")
    if output is not None:
        check_output(output, trace)
    given = given_options(options)
    found: SharingPicture | PagePicture
    if any(name in given for name in OF_PAGES):
        found = pages(trace, given)
    else:
        with Progress("looking who references what") as progress:
            found = homenode.picture(trace, progress=progress, **given)
    if output is not None:
        size = write_text(output, found.svg())
    if as_json:
        print_json(found.to_dict())
    else:
        echo(f"{output}: {size:,} bytes")
