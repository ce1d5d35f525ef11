"""The `homenode` command: its list of subcommands."""

from importlib import import_module
from types import ModuleType
from typing import Any

import click

from homenode.cli.failure import report_failure

# Name -> (module, one line for the overview). The modules load only when their command runs. Each
# has the command, or all of its commands by name, under its own name. Those of `STUDIES` are in
# homenode-studies.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "Record real programs, simulate every policy, write a report."),
    "record": ("record", "Run a program and record its memory references."),
    "cc": ("compilers", "Compile C so that the program can be recorded."),
    "c++": ("compilers", "Compile C++ so that the program can be recorded."),
    "fortran": ("compilers", "Compile Fortran so that the program can be recorded."),
    "import": ("import_", "Turn a file of another format into a trace."),
    "export": ("export", "Write the references of a trace in another format."),
    "info": ("info", "Describe a trace: references, threads, sizes."),
    "repair": ("repair", "Rescue the complete part of a cut-off trace."),
    "compact": ("compact", "Write traces again in fewer bytes, losslessly."),
    "transform": ("transform", "Make a trace from a trace: perturb, select, split."),
    "simulate": ("simulate", "Replay a trace under machines, policies and block sizes."),
    "run": ("run", "Run a program on a simulated machine, which schedules its threads."),
    "check-protocol": (
        "check_protocol",
        "Explore everything that a coherence protocol can do.",
    ),
    "explain": (
        "explain",
        "Print a coherence protocol's table and step through references.",
    ),
    "sensitivity": ("sensitivity", "Measure how much results depend on the order of the threads."),
    "optimal": ("optimal", "Find the best placement, with its certificate, moves and curve."),
    "tlb": ("tlb", "Count the misses of translation lookaside buffers."),
    "pmap": ("pmap", "Run the ACE's page manager over a trace: faults, moves, kernel time."),
    "alphabeta": ("alphabeta", "Judge a placement by three user times: alpha, beta, gamma."),
    "sharing": ("sharing", "Show what false sharing costs, and who shares what."),
    "picture": ("picture", "Draw who references which memory when."),
    "advise": ("advise", "Suggest what to align, pad, group, split or place, with the gain."),
    "synthetic": ("synthetic", "Make a trace from a formula or from published statistics."),
    "report": ("report", "Write one HTML file that explains traces and policies."),
    "workloads": ("workloads", "Build or record the programs and servers of the studies."),
    "study": ("study", "Regenerate a publication's tables and figures; judge its claims."),
    "list": ("list_", "List machines, policies, formats and so on."),
}

STUDIES = frozenset({"alphabeta", "workloads", "study"})
"""The commands that homenode-studies has."""

ALIASES = {"workload": "workloads"}
"""Names that work but are not listed, and those of the commands."""

_EXAMPLES = """\b
Examples:
  homenode demo
  homenode cc -O2 -g -pthread prog.c -o prog
  homenode record -o t.hnt -- ./prog
  homenode simulate t.hnt --machine numa --policy optimal,ace --block-size 64-8192
  homenode report t.hnt -o report.html
"""


class _Overview(click.Group):
    """A group that shows its subcommands without loading them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = COMMANDS[cmd_name][0]
        module = _of_studies(name) if cmd_name in STUDIES else import_module(f"homenode.cli.{name}")
        found = getattr(module, name)
        command: click.Command = found[cmd_name] if isinstance(found, dict) else found
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args:
            args = [ALIASES.get(args[0], args[0]), *args[1:]]
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(
                f"there is no command {args[0]!r}{_nearest(args[0])}; "
                "`homenode --help` lists all commands"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # Click would end with 1, which here means findings.
            raise SystemExit(report_failure(error)) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _of_studies(name: str) -> ModuleType:
    from homenode import reproduction

    return reproduction.module(f"cli.{name}")


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import homenode

        click.echo(f"homenode {homenode.__version__}")
        ctx.exit()


@click.group(
    cls=_Overview,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
def cli() -> None:
    """Replay a program's memory references under any placement policy, on any machine.

    Capture the references of a real parallel program, replay them, see how far each policy is from
    the best any policy could have done, and learn which data structures to change.
    """
