"""`homenode import`: a file of another format becomes a trace."""

import click

from homenode.cli.command import examples, format_option, json_option
from homenode.cli.output import echo, print_json
from homenode.cli.progress import Progress
from homenode.options.specs import plain_number


@click.command(
    "import",
    epilog=examples(
        "homenode import refs.parquet -o t.hnt",
        "printf '0 W 0x1000 4\\n1 R 0x1000 4\\n' | homenode import - --format text -o t.hnt",
        "(valgrind --tool=lackey --trace-mem=yes --log-fd=9 ./prog >&2) 9>&1 | "
        "homenode import - --format lackey -o t.hnt",
        "drrun -t drmemtrace -tool view -indir DIR 2>&1 | "
        "homenode import - --format drmemtrace -o t.hnt",
        "perf script -F comm,pid,tid,cpu,time,event,addr,data_src,ip | "
        "homenode import - --format perf -o t.hnt",
    ),
)
@click.argument("source", metavar="FILE|-")
@format_option("import", "Default: from the file's ending.")
@click.option("-o", "--output", required=True, metavar="T.hnt", help="The trace to write.")
@json_option
def import_(source: str, form: str | None, output: str, as_json: bool) -> None:
    """Turn a file of another format into a trace; compressed files are read as they are.

    Rows or lines are in the total order of the references. If one cannot be read, the error has
    its number, and no trace is written.
    """
    from homenode import Trace

    with Progress("importing") as progress:
        trace = Trace.import_(source, output, format=form, progress=progress)
    if as_json:
        print_json(trace.info)
        return
    echo(
        f"{output}: {plain_number(trace.references)} references by {trace.threads} threads, "
        f"{trace.bytes_per_reference:.3f} bytes a reference"
    )
    steps = trace.info["metadata"]["provenance"]
    notes = [note for note in steps if not note.startswith("import ")]
    if trace.info["metadata"].get("sampling"):
        notes = ["the trace holds samples: most references are missing", *notes]
    for note in notes:
        echo(f"note: {note}", err=True)
