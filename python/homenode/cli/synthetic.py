"""`homenode synthetic`: traces with known false sharing, or with published statistics."""

from typing import Any

import click

import homenode
from homenode.cli.command import WholeNumber, examples, json_option
from homenode.cli.output import echo, print_json
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.options.specs import plain_number

_SERVERS = "servers"
_OUTPUT = click.option("-o", "--output", required=True, metavar="T.hnt", help="The trace to write.")


class _Kinds(click.Group):
    """A group with a subcommand for each trace of the table, and one for statistics."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*(row["name"] for row in homenode.table("synthetic")), _SERVERS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _SERVERS:
            return servers
        rows = homenode.table("synthetic")
        row = next((row for row in rows if row["name"] == cmd_name), None)
        return None if row is None else _closed_form(row)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            raise click.UsageError(
                f"there is no synthetic trace {args[0]!r}; there are {', '.join(names)}", ctx
            )
        return super().resolve_command(ctx, args)


@click.command(
    cls=_Kinds,
    no_args_is_help=False,
    epilog=examples(
        "homenode synthetic t-s --processors 8 --words 1024 --references 8192 -o t.hnt",
        "homenode synthetic servers --from foglia-ec --scale 40 -o t.hnt",
        "homenode list synthetic",
    ),
)
def synthetic() -> None:
    """Make a trace from a formula or from published statistics.

    t-f costs fragmentation only, t-s false sharing only, t-gamma lost grouping only (thesis section
    7.1.6); servers makes a multiprogrammed workload with the statistics of a file.
    """


def _closed_form(row: dict[str, Any]) -> click.Command:
    """The subcommand of a trace whose false sharing is known in closed form."""
    name = row["name"]

    def run(output: str, processors: int, words: int, references: int, as_json: bool) -> None:
        trace = homenode.synthetic(
            name, output, processors=processors, words=words, references=references
        )
        if as_json:
            print_json({"name": name, "trace": str(trace.path), "references": trace.references})
        else:
            echo(f"{trace.path}: {plain_number(trace.references)} references")

    run.__doc__ = f"{row['summary'][0].upper()}{row['summary'][1:]}.\n\nSource: {row['source']}."
    run = json_option(run)
    for flag, least, default, metavar, text in (
        ("--references", 1, 1024, "N", "References."),
        ("--words", 1, 16, "S", "Words of four bytes in the one block, a power of two."),
        ("--processors", 2, 4, "P", "Processors."),
    ):
        kind = WholeNumber(min=least)
        add = click.option(
            flag, type=kind, default=default, show_default=True, metavar=metavar, help=text
        )
        run = add(run)
    run = _OUTPUT(run)
    return click.command(name, epilog=examples(f"homenode synthetic {name} -o t.hnt"))(run)


def _pair(given: str) -> tuple[str, str]:
    key, equals, value = given.partition("=")
    if not equals:
        raise click.BadParameter(f"{given!r} is not KEY=VALUE, such as sessions.accesses=24")
    return key, value


@click.command(
    _SERVERS,
    epilog=examples(
        "homenode synthetic servers --from foglia-ec --scale 40 -o t.hnt",
        "homenode synthetic servers --from mine.toml --seed 2 -o t.hnt --json",
        "homenode synthetic servers --from foglia-ec --set sessions.accesses=24 -o t.hnt",
        "homenode list servers",
    ),
)
@click.option(
    "--from",
    "statistics",
    required=True,
    metavar="FILE.toml",
    help="The statistics: a file, or a name of homenode list servers.",
)
@_OUTPUT
@click.option(
    "--scale",
    type=WholeNumber(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="Divide all references and blocks by this.",
)
@click.option(
    "--references",
    type=WholeNumber(min=1),
    metavar="N",
    help="References and fetches of the trace, instead of the file's.",
)
@click.option("--seed", type=WholeNumber(min=0), metavar="N", help="Instead of the file's.")
@click.option(
    "--set",
    "values",
    multiple=True,
    callback=lambda _context, _option, given: dict(map(_pair, given)),
    metavar="KEY=VALUE",
    help="A value instead of the file's, such as sessions.accesses=24 or group.Apache.kernel=20; "
    "may be given several times.",
)
@json_option
def servers(
    statistics: str,
    output: str,
    scale: int,
    references: int | None,
    seed: int | None,
    values: dict[str, str],
    as_json: bool,
) -> None:
    """Make the trace of a multiprogrammed server from statistics.

    The file states for each group of processes its references, its shares of code, writes and
    shared data, and its blocks. The trace has all of them; the table printed is what it was made
    to have.
    """
    with Progress("making references", growing=output, quiet=as_json) as progress:
        trace = homenode.servers(
            statistics,
            output,
            scale=scale,
            references=references,
            seed=seed,
            values=values,
            progress=progress,
        )
    report = trace.report or {}
    if as_json:
        print_json({"trace": str(trace.path), "from": statistics, **report})
        return
    _print(report)
    echo(f"{trace.path}: {plain_number(report['references'])} references and fetches")


def _print(report: dict[str, Any]) -> None:
    shares = ("code", "data_write", "shared_access", "shared_write", "kernel")
    counts = ("processes", "references", "distinct_blocks", "shared_blocks")
    heads = [
        *texts("group"),
        *numbers("processes", "references", "blocks", "shared"),
        *numbers("code %", "writes %", "shared %", "shared writes %", "kernel %"),
    ]
    rows = [
        [
            group["name"],
            *(plain_number(group[count]) for count in counts),
            *(f"{group[share]:g}" for share in shares),
        ]
        for group in report["groups"]
    ]
    rows.append(["all", *(plain_number(report[count]) for count in counts), *([""] * len(shares))])
    print_table(heads, rows)
