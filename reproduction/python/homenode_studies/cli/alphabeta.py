"""`homenode alphabeta`: judges a placement by three user times."""

from collections.abc import Sequence
from typing import Any

import click

from homenode.cli.command import Value, WholeNumber, examples, json_option
from homenode.cli.output import echo
from homenode.options.values import real_number

_TYPED = {"t_global": "--global", "t_numa": "--numa", "t_local": "--local"}


class _Times(click.ParamType[list[float]]):
    """Seconds, one for each repetition."""

    name = "seconds"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Splits the text; anything other than numbers is a usage error."""
        try:
            found = [float(item) for item in value.split(",")]
        except ValueError:
            found = []
        if found and value.isascii():
            return found
        return self.fail(f"{value!r}: expected seconds, as in 67.4 or 67.4,67.6", param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The value as the help shows it."""
        return "S[,S...]"


@click.command(
    epilog=examples(
        "homenode alphabeta --global 636.9 --numa 415.6 --local 411.6",
        "homenode alphabeta --times runs.csv --ratio 1.7",
        "homenode alphabeta --measure --repeat 5 -- ./prog -t 32",
        "homenode alphabeta --trace t.hnt --limit 2",
        "homenode alphabeta --published",
    )
)
@click.argument("program", nargs=-1, metavar="[-- PROGRAM ARGS...]")
@click.option("--global", "t_global", type=_Times(), help="T_global: all writable data remote.")
@click.option("--numa", "t_numa", type=_Times(), help="T_numa: the placement to judge.")
@click.option("--local", "t_local", type=_Times(), help="T_local: everything in local memory.")
@click.option(
    "--ratio",
    type=Value(real_number),
    metavar="G/L",
    help="Time of a remote reference over that of a local one. Default: 2, the ACE's; with "
    "--measure the machine's own distances.",
)
@click.option("--times", metavar="FILE", help="CSV: program,T_global,T_numa,T_local[,ratio].")
@click.option("--measure", is_flag=True, help="Run PROGRAM under three placements by numactl.")
@click.option("--repeat", type=WholeNumber(min=1), default=3, show_default=True, metavar="N")
@click.option(
    "--local-command", metavar="'PROGRAM ARGS'", help="With --measure: the same with one thread."
)
@click.option("--trace", metavar="T.hnt", help="Simulate alpha: the ACE's page manager.")
@click.option("--page-size", default="4K", show_default=True, metavar="B", help="With --trace.")
@click.option("--limit", type=WholeNumber(min=0), default=4, show_default=True, metavar="N")
@click.option("--published", is_flag=True, help="Check tables 3.1 and 3.2 of Bolosky's thesis.")
@json_option
@click.pass_context
def alphabeta(
    context: click.Context, /, program: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Judge a placement by three user times.

    alpha is the fraction of references to writable data that were local, beta the fraction of user
    time that they would take if all memory were local, gamma the factor by which user time expands.
    If several times are given, their median is used. With printed results (--published, or columns
    alpha, beta and gamma in FILE) the exit code is 1 if some of these do not follow from the times.
    """
    typed = [option for name, option in _TYPED.items() if options[name] is not None]
    modes = [f"--{name}" for name in ("times", "measure", "trace", "published") if options[name]]
    if typed and len(typed) < len(_TYPED):
        lacking = [option for option in _TYPED.values() if option not in typed]
        raise click.UsageError(f"{', '.join(lacking)} missing: all three times are needed")
    modes += ["--global, --numa and --local"] * bool(typed)
    if len(modes) != 1:
        raise click.UsageError(
            f"{' and '.join(modes) or 'no times'} given; expected one of --global with --numa and "
            "--local, --times, --measure, --trace, --published"
        )
    if program and not options["measure"]:
        raise click.UsageError(f"{program[0]!r}: a program is run only with --measure")
    if options["published"]:
        context.exit(_published(as_json))
    elif options["times"]:
        context.exit(_from_file(options, as_json))
    elif options["measure"]:
        _measure(program, options, as_json)
    elif options["trace"]:
        _from_trace(options, as_json)
    else:
        _typed(options, as_json)


def _typed(options: dict[str, Any], as_json: bool) -> None:
    from homenode.cli.output import print_json
    from homenode_studies.alphabeta import RATIO, alpha_beta

    times = (options[name] for name in _TYPED)
    found = alpha_beta(*times, ratio=RATIO if options["ratio"] is None else options["ratio"])
    if as_json:
        print_json(found.describe())
    else:
        _print_rows([found.describe()])


def _from_file(options: dict[str, Any], as_json: bool) -> int:
    from homenode.cli.output import print_json
    from homenode_studies.alphabeta import read_csv

    rows = read_csv(options["times"], options["ratio"])
    if as_json:
        print_json(rows)
    else:
        _print_rows(rows)
    return int(any(row["differs"] for row in rows))


def _published(as_json: bool) -> int:
    from homenode.cli.output import print_json
    from homenode.cli.tables import print_table
    from homenode_studies.alphabeta import table_3_1, table_3_2

    times, system = table_3_1(), table_3_2()
    if as_json:
        print_json({"table_3_1": times, "table_3_2": system})
    else:
        _print_rows(times, "Table 3.1: alpha, beta and gamma from its own times")
        cells = [
            [
                *(row["program"], row["S_numa"], row["S_global"], f"{row['delta_s']:.1f}"),
                *(row["T_numa"], f"{100 * row['overhead']:.1f} %", _differs(row)),
            ]
            for row in system
        ]
        words = ("S_numa", "S_global", "ΔS", "T_numa", "ΔS/T_numa")
        headings = [("program", False), *((word, True) for word in words), ("differs", False)]
        print_table(headings, cells, "Table 3.2: system time of placement, seconds")
    return int(any(row["differs"] for row in times + system))


def _measure(program: tuple[str, ...], options: dict[str, Any], as_json: bool) -> None:
    import shlex

    from homenode.cli.output import print_json
    from homenode.cli.progress import Progress
    from homenode_studies.alphabeta import measure

    local = options["local_command"]
    with Progress("measuring", "runs") as progress:
        found = measure(
            program,
            local_command=shlex.split(local) if local else None,
            ratio=options["ratio"],
            repeat=options["repeat"],
            progress=progress,
        )
    if as_json:
        print_json(found.describe())
        return
    for name, command in found.commands.items():
        times = ", ".join(f"{seconds:.2f}" for seconds in found.user_s[name])
        echo(f"T_{name}: {times} s: {shlex.join(command)}")
    _print_rows([found.describe()])


def _from_trace(options: dict[str, Any], as_json: bool) -> None:
    from homenode.cli.output import print_json
    from homenode.cli.progress import Progress
    from homenode.cli.tables import print_facts
    from homenode_studies.alphabeta import from_trace

    with Progress("managing pages") as progress:
        found = from_trace(
            options["trace"], options["page_size"], limit=options["limit"], progress=progress
        )
    if as_json:
        print_json(found)
        return
    facts = [
        ("alpha, as simulated", _decimal(found["alpha"], 4)),
        ("references to written pages", f"{found['references_to_written_pages']:,}"),
        ("G/L for their reads and writes", _decimal(found["ratio"])),
        ("gamma at most (beta 1)", _decimal(found["gamma_most"])),
    ]
    print_facts(facts)


def _print_rows(rows: Sequence[dict[str, Any]], title: str | None = None) -> None:
    from homenode.cli.tables import print_table

    differing = any("differs" in row for row in rows)
    overhead = any(row["overhead"] is not None for row in rows)
    named = any(row["program"] for row in rows)
    words = ["T_global", "T_numa", "T_local", "G/L", "alpha", "beta", "gamma"]
    headings = [("program", False)] * named + [(word, True) for word in words]
    headings += [("ΔS/T_numa", True)] * overhead + [("differs", False)] * differing
    cells = [
        [row["program"]] * named
        + [f"{row[name]:.10g}" for name in ("t_global", "t_numa", "t_local")]
        + [f"{row['ratio']:.10g}"]
        + [_decimal(row[name]) for name in ("alpha", "beta", "gamma")]
        + ([f"{100 * row['overhead']:.1f} %" if row["overhead"] is not None else "-"] * overhead)
        + [_differs(row)] * differing
        for row in rows
    ]
    print_table(headings, cells, title)
    for row in rows:
        for note in row["notes"]:
            echo(f"note: {row['program']}{': ' * bool(row['program'])}{note}", err=True)


def _differs(row: dict[str, Any]) -> str:
    return "; ".join(f"{name} {what}" for name, what in row.get("differs", {}).items())


def _decimal(value: float | None, places: int = 2) -> str:
    return "na" if value is None else f"{value:.{places}f}"
