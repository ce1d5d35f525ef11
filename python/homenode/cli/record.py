"""`homenode record`: run a program and record its memory references."""

from __future__ import annotations

from typing import Any

import click

from homenode.cli.command import examples, json_option


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "homenode record -o t.hnt -- ./prog -p 8",
        "homenode record --order free -o t.hnt -- ./prog",
    ),
)
@click.argument("command", nargs=-1, required=True, metavar="PROGRAM [ARGS]...")
@click.option("-o", "--output", required=True, metavar="T.hnt", help="The trace to write.")
@click.option(
    "--via",
    type=click.Choice(["cc"]),
    default="cc",
    show_default=True,
    help="How references are caught: cc, a program built with homenode cc.",
)
@click.option(
    "--order",
    type=click.Choice(["deterministic", "free"]),
    default="deterministic",
    show_default=True,
    help="deterministic: one thread at a time, the same trace every run. free: in parallel.",
)
@click.option(
    "--quantum",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="Q",
    help="References a thread makes before the next thread's turn.",
)
@click.option(
    "--native", is_flag=True, help="First run the program as it is, and report the slowdown."
)
@json_option
def record(command: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run a program and record its memory references.

    The program must be compiled and linked with homenode cc, homenode c++ or homenode fortran. Its
    input and output are its own, so the summary goes to standard error; with --json the summary is
    on standard output and the program's goes to standard error. Its exit code is reported, not
    returned.
    """
    import json
    from contextlib import nullcontext

    from homenode import _core
    from homenode.cli.output import print_facts, print_json, programs_aside
    from homenode.cli.progress import Progress
    from homenode.files import check_replaceable

    options["argv"] = list(command)
    check_replaceable(options["output"], command[0])
    try:
        with Progress("recording") as progress, programs_aside() if as_json else nullcontext():
            summary = json.loads(_core.record(json.dumps(options), progress))
    except KeyboardInterrupt:
        click.echo(f"{options['output']} holds what was recorded until now", err=True)
        raise
    if as_json:
        print_json(summary)
        return
    facts = ((name.replace("_", " "), _plain(value)) for name, value in summary.items())
    print_facts(facts, aside=True)


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


COMMANDS = {"record": record}
