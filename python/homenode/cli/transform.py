"""`homenode transform`: a trace made from a trace. One subcommand for each entry of the table."""

from typing import Any

import click

import homenode
from homenode.cli.command import examples, json_option
from homenode.cli.mix_table import print_merger, print_mix
from homenode.cli.output import echo, print_json
from homenode.cli.progress import Progress
from homenode.cli.realign_table import print_report
from homenode.cli.totals import print_filter, print_frames
from homenode.options.specs import plain_number

_EXAMPLES = {
    "local": ["homenode transform local t.hnt -o u.hnt --seed 7"],
    "gap": ["homenode transform gap t.hnt -o u.hnt --seed 7 --every 30000 --length 4000"],
    "reinterleave": ["homenode transform reinterleave t.hnt -o u.hnt --seed 7 --quantum 100"],
    "select": [
        "homenode transform select t.hnt -o u.hnt --time 1000000-2000000",
        "homenode transform select t.hnt -o u.hnt --from first-thread",
        "homenode transform select t.hnt -o u.hnt --from init-done --threads 0,2-4",
        "homenode transform select t.hnt -o u.hnt --from function:solve --until marker:solved",
        "homenode transform select t.hnt -o u.hnt --address 0x1000-0x2000",
        "homenode transform select t.hnt -o u.hnt --kernel without --pids 1200-",
    ],
    "drop-sync": ["homenode transform drop-sync t.hnt -o u.hnt"],
    "common-areas": ["homenode transform common-areas mixes/ec.hnt -o one-copy.hnt"],
    "own-frames": ["homenode transform own-frames mixes/ec.hnt -o own.hnt"],
    "rotate": ["homenode transform rotate mixes/ec.hnt -o later.hnt --seed 2"],
    "words": [
        "homenode transform words t.hnt -o u.hnt --word-bytes 4",
        "homenode transform words t.hnt -o u.hnt",
    ],
    "filter": [
        "homenode transform filter t.hnt -o u.hnt --cache 2M:16:64",
        "homenode transform filter t.hnt -o u.hnt --cache 64M:16:64 --processors 2",
    ],
    "processors": [
        "homenode transform processors t.hnt -o u.hnt --count 4",
        "homenode transform processors t.hnt -o u.hnt --map 0,0,1,1",
    ],
    "processes": [
        "homenode transform processes system.hnt -o mix.hnt",
        "homenode transform processes system.hnt -o mix.hnt --processes apache2=13,postgres=8,ls",
        "homenode transform processes system.hnt -o mix.hnt --references 1000000",
    ],
    "merge": [
        "homenode transform merge a.hnt b.hnt c.hnt -o mix.hnt",
        "homenode transform merge a.hnt a.hnt -o mix.hnt --quantum 1000 --private keep",
        "homenode transform merge a.hnt b.hnt -o mix.hnt --shared 0x7f0000000000-0x7f0000100000",
    ],
    "realign": [
        "homenode transform realign t.hnt -o u.hnt --page-size 4096",
        "homenode transform realign t.hnt -o u.hnt --page-size 64K --window 100000",
        "homenode transform realign t.hnt -o u.hnt --page-size 4K --private shared",
    ],
    "split": ["homenode transform split t.hnt -o u.hnt --at phase"],
}


class _Kinds(click.Group):
    """A group with a subcommand for each transform, made on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row["name"] for row in _rows()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = next((row for row in _rows() if row["name"] == cmd_name), None)
        return None if row is None else _command(row)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            raise click.UsageError(
                f"there is no transform {args[0]!r}; there are {', '.join(names)}", ctx
            )
        return super().resolve_command(ctx, args)


@click.command(
    cls=_Kinds,
    no_args_is_help=False,
    epilog=examples(
        "homenode transform local t.hnt -o u.hnt --seed 7",
        "homenode transform select t.hnt -o u.hnt --from first-thread",
        "homenode transform gap --help",
    ),
)
def transform() -> None:
    """Make a trace from a trace: perturb the order, select a part, move data, split, merge.

    The transform and all its parameters are recorded in the provenance of the new trace
    (homenode info).
    """


def _rows() -> list[dict[str, Any]]:
    from homenode.catalogue import table

    return table("transforms")


def _command(row: dict[str, Any]) -> click.Command:
    """The subcommand of one transform, with an option for each parameter."""
    kind, pieces = row["name"], row["pieces"]

    def run(
        trace: str | tuple[str, ...], output: str, as_json: bool, **parameters: str | None
    ) -> None:
        _run((kind, pieces), (trace, output), as_json, parameters)

    run.__doc__ = f"{row['summary'][0].upper()}{row['summary'][1:]}.\n\nSource: {row['source']}."
    several = "; the traces get a number before the ending" if pieces else ""
    run = json_option(run)
    for parameter in reversed(row["parameters"]):
        default = f" Default: {parameter['default']}." if parameter["default"] else ""
        doc = parameter["doc"]
        add = click.option(
            f"--{parameter['name']}",
            metavar=parameter["form"],
            help=f"{doc[0].upper()}{doc[1:]}.{default}",
        )
        run = add(run)
    output = click.option(
        "-o",
        "--output",
        required=True,
        metavar="U.hnt",
        help=f"The trace to write{several}.",
    )
    if row["several"]:
        trace = click.argument("trace", metavar="T.hnt...", nargs=-1, required=True)
    else:
        trace = click.argument("trace", metavar="T.hnt")
    run = trace(output(run))
    return click.command(kind, epilog=examples(*_EXAMPLES[kind]))(run)


def _run(
    which: tuple[str, bool],
    files: tuple[str | tuple[str, ...], str],
    as_json: bool,
    parameters: dict[str, str | None],
) -> None:
    (kind, pieces), (trace, output) = which, files
    with Progress("transforming") as progress:
        if pieces:
            made = homenode.split(str(trace), output, progress=progress, **parameters)
        else:
            made = [homenode.transform(kind, trace, output, progress=progress, **parameters)]
    if as_json:
        print_json(
            {
                **({"trace": trace} if isinstance(trace, str) else {"traces": trace}),
                "transform": kind,
                "outputs": [
                    {
                        "output": str(piece.path),
                        "references": piece.references,
                        "checksum": piece.checksum,
                        "provenance": piece.metadata["provenance"],
                        **({"report": piece.report} if piece.report else {}),
                    }
                    for piece in made
                ],
            }
        )
        return
    tables = {"processes": print_mix, "merge": print_merger, "realign": print_report}
    tables["own-frames"] = print_frames
    tables["filter"] = print_filter
    for piece in made:
        echo(f"{piece.path}: {plain_number(piece.references)} references")
        if piece.report:
            tables[kind](piece.report)
