"""`homenode synthetic`: traces whose false sharing is known in closed form."""

import click

import homenode
from homenode.cli.command import WholeNumber, examples, json_option
from homenode.cli.output import echo, print_json
from homenode.options.specs import plain_number


@click.command(
    epilog=examples(
        "homenode synthetic t-f -o t.hnt",
        "homenode synthetic t-s --processors 8 --words 1024 --references 8192 -o t.hnt",
        "homenode list synthetic",
    )
)
@click.argument("name", metavar="NAME")
@click.option("-o", "--output", required=True, metavar="T.hnt", help="The trace to write.")
@click.option("--processors", type=WholeNumber(min=2), default=4, show_default=True, metavar="P")
@click.option(
    "--words",
    type=WholeNumber(min=1),
    default=16,
    show_default=True,
    metavar="S",
    help="Words of four bytes in the one block, a power of two.",
)
@click.option("--references", type=WholeNumber(min=1), default=1024, show_default=True, metavar="N")
@json_option
def synthetic(
    name: str, output: str, processors: int, words: int, references: int, as_json: bool
) -> None:
    """Make a trace of writes to one block whose false sharing is known in closed form.

    t-f costs fragmentation only, t-s false sharing only, t-gamma lost grouping only (thesis section
    7.1.6).
    """
    trace = homenode.synthetic(
        name, output, processors=processors, words=words, references=references
    )
    if as_json:
        print_json({"name": name, "trace": str(trace.path), "references": trace.references})
    else:
        echo(f"{trace.path}: {plain_number(trace.references)} references")
