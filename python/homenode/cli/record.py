"""`homenode record`: run a program and record its memory references."""

from __future__ import annotations

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
@json_option
def record(
    command: tuple[str, ...], output: str, via: str, order: str, quantum: int, as_json: bool
) -> None:
    """Run a program and record its memory references.

    The program must be compiled and linked with homenode cc, homenode c++ or homenode fortran. Its
    own output and input are untouched; its exit code is reported, not returned.
    """
    import json

    from homenode import _core
    from homenode.cli.output import print_facts, print_json
    from homenode.cli.progress import Progress
    from homenode.files import refuse_folder

    options = {
        "argv": list(command),
        "output": output,
        "via": via,
        "order": order,
        "quantum": quantum,
    }
    refuse_folder(output)
    with Progress("recording") as progress:
        summary = json.loads(_core.record(json.dumps(options), progress))
    if as_json:
        print_json(summary)
        return
    print_facts((name.replace("_", " "), _plain(value)) for name, value in summary.items())


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


COMMANDS = {"record": record}
