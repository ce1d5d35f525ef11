"""`homenode record`: run a program and record its memory references."""

import json
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from homenode import _core
from homenode.cli.command import Choice, Value, WholeNumber, examples, json_option
from homenode.cli.options import emulator_options
from homenode.cli.output import echo, exit_code, print_json, programs_aside
from homenode.cli.progress import Progress
from homenode.cli.record_check import Comparison, check_option, print_check
from homenode.cli.tables import print_facts, summary
from homenode.files import check_replaceable
from homenode.options.values import whole_numbers

# Limits of the recorder.
_QUANTUM_MAX, _SEED_MAX = 10**9, (1 << 32) - 1


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "homenode record -o t.hnt -- ./prog -p 8",
        "homenode record --order logical --quantum 1 -o t.hnt -- ./prog",
        "homenode record --order free -o t.hnt -- ./prog",
        "homenode record --native-program ./plain -o t.hnt -- ./prog",
        "homenode record --check -o t.hnt -- ./prog -p 8",
        "homenode record --repeat 5 --quantum 50,200 -o t.hnt -- ./prog",
        "homenode record --via qemu -o pigz.hnt -- pigz -k -p 4 some-file",
        "homenode record --via qemu-system --kernel vmlinuz --initramfs i.gz -o t.hnt",
        "homenode record --via qemu --sysroot /usr/aarch64-linux-gnu -o t.hnt -- ./arm-prog",
    ),
)
@click.argument("command", nargs=-1, metavar="PROGRAM [ARGS]...")
@click.option("-o", "--output", required=True, metavar="T.hnt", help="The trace to write.")
@click.option(
    "--via",
    type=Choice(["cc", "qemu", "qemu-system"]),
    default="cc",
    show_default=True,
    help="How references are recorded: cc, a program built with homenode cc; qemu, any program; "
    "qemu-system, a kernel and all that runs on it.",
)
@click.option(
    "--order",
    type=Choice(["deterministic", "logical", "free"]),
    default="deterministic",
    show_default=True,
    help="deterministic: one thread at a time, the same trace every run. logical: in parallel, the "
    "same trace every run unless the program has data races, which are named. free: in parallel.",
)
@click.option(
    "--quantum",
    "quanta",
    type=Value(partial(whole_numbers, least=1, most=_QUANTUM_MAX)),
    default="100",
    show_default=True,
    metavar="Q,...",
    help="References a thread makes before the next thread's turn; several values make a recording "
    "each. In logical order 1 costs little more than 100.",
)
@click.option(
    "--seed",
    type=WholeNumber(0, _SEED_MAX),
    default=0,
    show_default=True,
    metavar="S",
    help="0: every turn is a quantum. Otherwise turns have random lengths with a quantum as their "
    "mean; the same seed gives the same trace.",
)
@click.option(
    "--repeat",
    type=WholeNumber(1, 10_000),
    default=1,
    show_default=True,
    metavar="K",
    help="Record K times, with seeds from S on, to see how much the order of the threads matters.",
)
@click.option(
    "--native",
    is_flag=True,
    help="First run the program uninstrumented, and report the slowdown. For ./prog this runs "
    "./prog.native, which homenode cc links with HOMENODE_NATIVE=1; with qemu the program itself.",
)
@click.option(
    "--native-program",
    metavar="FILE",
    help="With cc, the uninstrumented program to run first, or to check with; without --check it "
    "implies --native.",
)
@check_option
@click.option(
    "--fetches",
    is_flag=True,
    help="With qemu and qemu-system, also record where instructions are fetched.",
)
@emulator_options
@click.option("--kernel", metavar="K", help="With qemu-system, the Linux kernel to boot (x86-64).")
@click.option("--initramfs", metavar="I", help="With qemu-system, the file system to boot.")
@click.option(
    "--processors",
    type=WholeNumber(1, 255),
    default=4,
    show_default=True,
    help="With qemu-system, processors of the machine.",
)
@click.option(
    "--memory",
    "memory_mib",
    type=WholeNumber(64, 3072),
    default=512,
    show_default=True,
    metavar="MIB",
    help="With qemu-system, the machine's memory.",
)
@click.option(
    "--append", default="", metavar="WORDS", help="With qemu-system, further kernel parameters."
)
@click.option(
    "--repeatable",
    is_flag=True,
    help="With qemu-system (QEMU 10), time is counted in instructions: the same trace every run.",
)
@click.option(
    "--start-within",
    "start_within_s",
    type=WholeNumber(min=1, max=(1 << 32) - 1),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="With qemu-system, give up if recording has not begun after this time.",
)
@json_option
def record(command: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Run a program and record its memory references.

    The program must be compiled and linked with homenode cc, homenode c++ or homenode fortran; with
    --via qemu it may be any unmodified 64-bit Linux program for x86-64, aarch64 or riscv64, which
    QEMU's user-mode emulation (on Debian: apt install qemu-user) runs.

    With --via qemu-system, QEMU (on Debian: apt install qemu-system-x86) boots a kernel with an
    initramfs, in which /homenode/mark start and /homenode/mark stop delimit the recording; PROGRAM
    and ARGS are then further options for QEMU, for example a disk.

    The program's input and output are its own, so the summary goes to standard error; with --json
    the summary is on standard output and the program's goes to standard error. The exit code is the
    program's too, or 128 plus the signal's number if a signal ended it; homenode's own failures end
    with 2, a message and no trace. Several recordings, with --repeat or several quanta, go to
    t.q100.s0.hnt and so on: quantum 100, seed 0; homenode sensitivity compares them. Then the exit
    code is the first that is not 0.
    """
    _check_meant(click.get_current_context())
    options["argv"] = [*_kernel(options, command), *command]
    comparison = Comparison.asked(options)
    _find_native(options)
    recordings = _recordings(options)
    if comparison is not None:
        comparison.prepare(recordings)
    summaries = [_record(one, as_json) for one in recordings]
    check = None if comparison is None else comparison.run(recordings[0], quiet=as_json)
    if as_json:
        if check is not None:
            summaries[0]["check"] = check.as_dict()
        print_json(summaries if len(summaries) > 1 else summaries[0])
    else:
        for one in summaries:
            print_facts(summary(one), aside=True)
            _warn_of_races(one["races"])
            _warn_of_missing(one, options["via"])
        if check is not None:
            print_check(check)
    return next(filter(None, map(exit_code, summaries)), 0)


def _warn_of_races(places: list[str]) -> None:
    if places:
        more = f" and {len(places) - 1} more lines" if len(places) > 1 else ""
        echo(
            f"this program races at {places[0]}{more}; the order is one of several: for one that "
            "repeats, record with --order deterministic",
            err=True,
        )


def _warn_of_missing(made: dict[str, Any], via: str) -> None:
    """Says what the recording lacks: its end, other programs, children, accesses."""
    way = "" if via == "qemu" else "; --via qemu records it, too"
    if made["emulator_failed"]:
        echo(
            "QEMU itself failed, by an assertion of its own that it printed above, not this "
            "program: the trace ends there; try another version with --emulator, or --order free",
            err=True,
        )
    if made["executions"]:
        echo(f"what this program executed in its place (exec) is not recorded{way}", err=True)
    if count := made["unrecorded_children"]:
        children = "child process is" if count == 1 else "child processes are"
        echo(f"{count} {children} not recorded{way.replace('it', 'children')}", err=True)
    if made["unseen"]:
        echo(
            f"the accesses of {made['unseen']:,} executed instructions are missing, because QEMU "
            "does not show them (SVE of aarch64); without QEMU_CPU there are none",
            err=True,
        )


_OF_SYSTEM = "initramfs processors memory_mib append repeatable start_within_s".split()
# The --via values for which an option has a meaning; options for all of them are not listed.
_MEANT = {
    **dict.fromkeys(("order", "quanta", "seed", "repeat", "native"), ("cc", "qemu")),
    **dict.fromkeys(("native_program", "check"), ("cc",)),
    "sysroot": ("qemu",),
    **dict.fromkeys(("fetches", "emulator"), ("qemu", "qemu-system")),
    **dict.fromkeys(("kernel", *_OF_SYSTEM), ("qemu-system",)),
}


def _check_meant(context: click.Context) -> None:
    """Refuses options that the chosen way of recording would ignore."""
    via = context.params["via"]
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        ways = _MEANT.get(option.name or "")
        if option.name == "emulator" and context.params["check"]:
            ways = ("cc", "qemu", "qemu-system")
        if ways and via not in ways and source is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{option.opts[0]} goes with --via {' or '.join(ways)}, and has no meaning "
                f"with {via}: leave it out"
            )


def _kernel(options: dict[str, Any], command: tuple[str, ...]) -> list[str]:
    """Moves the options of whole systems to where the recorder expects them; the kernel, if any."""
    kernel = options.pop("kernel")
    system = {name: options.pop(name) for name in _OF_SYSTEM}
    if options["via"] != "qemu-system":
        if not command:
            raise click.UsageError("Missing argument 'PROGRAM [ARGS]...'.")
        return []
    if not kernel or not system["initramfs"]:
        raise click.UsageError("--via qemu-system needs --kernel and --initramfs")
    options["system"] = system
    return [kernel]


def _find_native(options: dict[str, Any]) -> None:
    """Finds the program to time, before recording."""
    given = options.pop("native_program")
    options["native"] = options["native"] or given is not None
    if options["native"] and options["via"] == "cc":
        from homenode.capture import native

        options["native_program"] = native.twin(options["argv"][0], given)


def _recordings(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The options of each recording."""
    output, first = options["output"], options["seed"]
    quanta, repeat = options.pop("quanta"), options.pop("repeat")
    if first + repeat - 1 > _SEED_MAX:
        raise click.UsageError(f"--seed {first} and --repeat {repeat}: the last seed is too large")
    if options["order"] != "deterministic" and first + repeat > 1:
        raise click.UsageError(
            f"--seed and --repeat make other orders only with --order deterministic, and none with "
            f"{options['order']}: leave them out, or record with several quanta"
        )
    turns = [(quantum, first + i) for quantum in quanta for i in range(repeat)]
    return [
        {
            **options,
            "quantum": quantum,
            "seed": seed,
            "output": output if len(turns) == 1 else str(_order_path(output, quantum, seed)),
        }
        for quantum, seed in turns
    ]


def _order_path(path: str, quantum: int, seed: int) -> Path:
    """Where the recording with this quantum and seed goes, of several that are called `path`.

    >>> _order_path("runs/t.hnt", 100, 2).as_posix()
    'runs/t.q100.s2.hnt'
    """
    whole = Path(path)
    return whole.with_name(f"{whole.stem}.q{quantum}.s{seed}{whole.suffix}")


def _ready(options: dict[str, Any]) -> AbstractContextManager[None]:
    """Prepares the emulator, if there is one; what does that is loaded for it alone."""
    if options["via"] == "cc":
        return nullcontext()
    from homenode.capture import recording

    return recording.ready(options)


def _record(options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    check_replaceable(options["output"], options["argv"][0])
    try:
        with (
            _ready(options),
            Progress(
                "recording", growing=f"{options['output']}.partial", quiet=as_json
            ) as progress,
            programs_aside() if as_json else nullcontext(),
        ):
            found: dict[str, Any] = json.loads(_core.record(json.dumps(options), progress))
    except KeyboardInterrupt:
        echo(f"{options['output']} holds what was recorded until now", err=True)
        raise
    return found
