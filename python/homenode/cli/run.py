"""`homenode run`: an execution-driven simulation of a program."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode import _core
from homenode.cli.command import Choice, examples
from homenode.cli.engine_tables import print_result
from homenode.cli.options import emulator_options, given_options, run_options
from homenode.cli.output import echo, exit_code, print_notes, programs_aside
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.tables import print_facts, summary
from homenode.engines.live import MACHINE
from homenode.errors import ConfigError
from homenode.files import check_replaceable

if TYPE_CHECKING:
    from homenode.results.result import Result


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "homenode run --machine bus-smp --protocol mesi -- ./prog -p 8",
        "homenode run --machine dash-mesh --protocol dash --processors 16 -- ./prog -p 16",
        "homenode run --machine alite --slack 0 -o t.hnt -- ./prog",
        "homenode run --machine bus-smp --protocol mesi --cache-size 64K --json -- ./prog",
        "homenode run --via qemu --machine bus-smp --protocol mesi -- pigz -k -p 4 some-file",
    ),
)
@click.argument("command", nargs=-1, required=True, metavar="PROGRAM [ARGS]...")
@click.option(
    "--via",
    type=Choice(["cc", "qemu"]),
    default="cc",
    show_default=True,
    help="How references are recorded: cc, a program built with homenode cc; qemu, any program.",
)
@emulator_options
@run_options
@result_options({"hnt": "the trace, in simulated order"})
def run(
    command: tuple[str, ...],
    outputs: Outputs,
    **options: Any,
) -> int:
    """Run a program on a simulated machine, which schedules its threads.

    The program must be built with homenode cc, homenode c++ or homenode fortran; with --via qemu it
    may be any unmodified 64-bit Linux program for x86-64, aarch64 or riscv64. The thread with the
    least simulated time runs, so that work queues, spinning and barriers react to the machine's
    latencies; locks, barriers, conditions, semaphores and joins cost what they cost on that
    machine, and clocks, sleeps and time-outs are in simulated time.

    The output is that of homenode simulate. The machine is one of those with a clock (bus-smp,
    which is the default, spr-2s-lines, dash-mesh, alite), by default with 8 processors, one
    protocol and one cache; the home of a page is where it is first touched.

    The program's input and output are its own, so the summary of the run goes to standard error;
    with --json the program's output goes there as well. The exit code is the program's, or 128 plus
    the signal's number if a signal ended it; homenode's own failures end with 2.
    """
    outputs.check(command[0])
    result = _run(command, outputs.own, given_options(options), aside=outputs.as_json)
    engine = _core.engine_of(result.configuration["machines"])
    if outputs.own is not None:
        _note_threads(result, options["expected_threads"])
    if not outputs.as_json:
        shown = {k: v for k, v in result.run_summary.items() if v not in (None, "")}
        print_facts(summary(shown), aside=True)

    def text() -> None:
        print_result(engine, result)
        print_notes(result.provenance)

    outputs.show(result.document, result.columns, text)
    return exit_code(result.run_summary)


def _run(
    command: tuple[str, ...], output: str | None, options: dict[str, Any], *, aside: bool
) -> Result:
    if output is not None:
        check_replaceable(output, command[0])
    machines = options.pop("machines", [MACHINE])
    if len(machines) != 1:
        raise ConfigError("a program runs on one machine at a time: say one --machine")
    protocols = options.pop("protocols", None)
    with (
        Progress("running", quiet=aside) as progress,
        programs_aside() if aside else nullcontext(),
    ):
        return homenode.run(
            command,
            protocols or None,
            machine=machines[0],
            output=output,
            progress=progress,
            **options,
        )


def _note_threads(result: Result, expected: int | None) -> None:
    """Prints a note if a replay of the trace may assign threads to other processors."""
    known, threads = expected or result.rows[0]["processors"], result.run_summary["threads"]
    if threads > result.rows[0]["processors"] and threads != known:
        echo(
            f"note: the program had {threads} threads at a time, and {known} were expected: a "
            "replay of the trace may give them to other processors; with --expected-threads "
            f"{threads} it does not",
            err=True,
        )
