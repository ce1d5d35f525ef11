"""`homenode export`: the references of a trace in another format."""

import click

from homenode.cli.command import examples, format_option, json_option
from homenode.cli.output import echo, print_json
from homenode.cli.progress import Progress
from homenode.options.specs import plain_number


@click.command(
    epilog=examples(
        "homenode export t.hnt -o refs.parquet",
        "homenode export t.hnt --format text -o - | head",
    )
)
@click.argument("trace", metavar="T.hnt")
@format_option("export", "Default: from the ending of the output.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write, or -.")
@json_option
def export(trace: str, form: str | None, output: str, as_json: bool) -> None:
    """Write the references of a trace in another format."""
    from homenode import ConfigError, Trace
    from homenode.options.tables import KEEPING_EVENTS
    from homenode.trace.trace import format_of

    if as_json and output == "-":
        raise ConfigError("--json and -o - would both write to standard output; name a file")
    opened = Trace.open(trace)
    with Progress("exporting") as progress:
        opened.export(output, format=form, progress=progress)
    keeps = format_of(output, form, "export") in KEEPING_EVENTS
    left_out = 0 if keeps else opened.info["events"]
    if as_json:
        written = {"trace": trace, "output": output, "references": opened.references}
        print_json(written | {"events_left_out": left_out})
    elif output != "-":
        echo(f"{output}: {plain_number(opened.references)} references")
    if left_out and not as_json:
        formats = " and ".join(sorted(KEEPING_EVENTS))
        # To the error stream, as the output may be on the other one.
        echo(
            f"note: {plain_number(left_out)} events (locks, barriers, allocations, marks, ...) are "
            f"not in it; {formats} keep them",
            err=True,
        )
