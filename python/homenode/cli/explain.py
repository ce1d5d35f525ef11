"""`homenode explain`: a coherence protocol's table, and a walk through references."""

import shlex
from collections.abc import Sequence
from typing import Any

import click

import homenode
from homenode.cli.command import examples, json_option
from homenode.cli.explain_text import print_protocols
from homenode.cli.options import given_options, study_options
from homenode.cli.output import echo, print_json
from homenode.cli.progress import Progress
from homenode.files import check_output, write_text
from homenode.options.declared import options_of


@click.command(
    epilog=examples(
        "homenode explain mesi",
        "homenode explain pscr --html pscr.html",
        "homenode explain --all --example migratory --html protocols.html",
        "homenode explain mesi amsd --trace t.hnt --references 40 --html t.html",
        "homenode explain dragon --json | jq '.protocols[0].walk.steps[0]'",
        "homenode explain dash dash:pointers=2 --html dash.html",
        "homenode explain dash --example '0 R a0; 1 W a0; 2 R a0' --home fixed:node=2",
        "homenode explain sdd --html sdd.html",
        "homenode explain sdd --example '1 R a0 &; 2 R a0 &; 3 R a0 &; 4 R a0' --buffers 1",
        "homenode explain lrc --html lrc.html",
        "homenode explain lrc --example '0 W a0; 1 R a0; 0 rel; 1 acq; 1 R a0'",
    )
)
@click.argument("protocols", metavar="[PROTOCOL]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All protocols of a bus, side by side.")
@click.option("--html", metavar="FILE", help="Write an HTML page for stepping back and forth.")
@click.option("--trace", metavar="T.hnt", help="Walk through the references of a trace instead.")
@study_options("explain")
@json_option
def explain(
    protocols: tuple[str, ...], everything: bool, html: str | None, as_json: bool, **options: Any
) -> None:
    """Explain coherence protocols: their tables, and an example step by step.

    Prints the meaning of each state, the actions of a cache in it and the reactions of the others;
    then a short example, one line a reference, with the states of all caches, the bus transactions,
    the supplier of the data and the kind of sharing. With --html, the page shows it step by step in
    a browser.

    For a protocol with a directory it prints the tables of both controllers, the cache's and the
    home's, and every message of each reference: its sender and receiver, its effects, and the
    directory's entry afterwards.

    Where the directory is a list of copies, it is shown from its head on, with the cycles for which
    the processor of each reference waits. After a reference with & the next one begins before it
    completes, so that buffers fill and proxies combine reads.

    For a protocol that keeps pages coherent it prints the tables of a page at a node, of the
    pending releases of a node, and of a page at its home; an example also has acquires and releases
    (acq and rel), at which such a protocol acts.

    In an example each cache has room for one block of 16 bytes, so that replacements occur. With a
    trace, caches and blocks are the machine's, and references to blocks that are not followed are
    left out, so that only followed blocks replace each other.
    """
    names = _named(protocols, everything)
    trace, example = options.pop("trace"), options["example"]
    _check_use(trace, example)
    if html is not None:
        check_output(html, *([] if trace is None else [trace]))
    with Progress("looking for the references") as progress:
        found = homenode.explain(names, trace, progress=progress, **given_options(options))
    if html is not None:
        size = write_text(html, found.html(_command(names, trace, options)))
    if as_json:
        print_json(found.to_dict())
    elif html is not None:
        echo(f"{html}: {size:,} bytes")
    else:
        print_protocols(found.to_dict())


def _named(protocols: Sequence[str], everything: bool) -> list[str]:
    """The protocols to explain."""
    known = [row["name"] for row in homenode.table("protocols")]
    others = [row["name"] for row in homenode.table("directory-protocols")]
    if everything and protocols:
        raise click.UsageError("name protocols or say --all, not both")
    if not everything and not protocols:
        raise click.UsageError(
            f"say which protocol: {', '.join(known)}; or --all; or with a directory: "
            f"{', '.join(others)}"
        )
    return known if everything else list(protocols)


def _check_use(trace: str | None, example: str | None) -> None:
    """Refuses options that need a trace, and those that exclude one."""
    given = click.get_current_context().get_parameter_source
    default = click.core.ParameterSource.DEFAULT
    if trace is not None and example is not None:
        raise click.UsageError("--example and --trace are two things to walk through: choose one")
    if trace is None:
        for name in ("references", "blocks"):
            if given(name) is not default:
                flag = options_of("explain")[name].flag
                raise click.UsageError(f"{flag} is about a trace: name one with --trace")


def _command(names: Sequence[str], trace: str | None, options: dict[str, Any]) -> str:
    """The command line that makes the page again."""
    words = ["homenode", "explain", *names]
    given = click.get_current_context().get_parameter_source
    if trace is not None:
        words += ["--trace", trace]
    declared = options_of("explain")
    for name, value in options.items():
        if given(name) is click.core.ParameterSource.DEFAULT:
            continue
        for one in value if isinstance(value, tuple) else [value]:
            words += [str(declared[name].flag), str(one)]
    return shlex.join([*words, "--html", "page.html"])
