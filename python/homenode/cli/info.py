"""`homenode info`: the contents of a trace."""

import json
from typing import Any

import click

from homenode import _core
from homenode.cli.command import examples
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.tables import print_facts
from homenode.options.specs import plain_number
from homenode.results.rows import columns_of, flat

_PROCESSES_SHOWN = 32


@click.command(
    epilog=examples("homenode info t.hnt", "homenode info t.hnt --json | jq .references")
)
@click.argument("trace", metavar="T.hnt")
@click.option("--lines", is_flag=True, help="With --json, add the table of source lines.")
@result_options()
def info(trace: str, lines: bool, outputs: Outputs) -> None:
    """Describe a trace: references, threads, order, sizes, address ranges."""
    outputs.check(trace)
    facts = json.loads(_core.trace_info(trace, lines))
    outputs.show(lambda: facts, lambda: columns_of([_row(facts)]), lambda: _print(trace, facts))


def _row(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts as one flat row: of lists of dictionaries, which may be long, their length."""
    row = flat({k: v for k, v in facts.items() if k != "metadata"})
    for name, value in facts["metadata"].items():
        is_long = isinstance(value, list) and any(isinstance(one, dict) for one in value)
        row |= flat({name: len(value) if is_long else value}, "metadata_")
    return row


def _print(trace: str, facts: dict[str, Any]) -> None:
    print_facts(describe(trace, facts))


def describe(path: str, info: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts of ``homenode info`` as names and values for people."""
    total = info["references"]
    run = info["metadata"]
    each = info["bytes_per_reference"]
    size = f"{plain_number(info['bytes'])} bytes" + (f", {each:.3f} a reference" if each else "")
    facts = [
        ("trace", path),
        ("program", " ".join([run["program"], *run["arguments"]]).strip() or "unknown"),
        ("references", plain_number(total)),
        ("threads", plain_number(info["threads"])),
        ("file", f"{size}, {plain_number(info['chunks'])} chunks, format {info['format_version']}"),
    ]
    everything = total + info["fetches"]
    facts += [
        (name, f"{plain_number(info[name])} ({_percent(info[name], everything)})")
        for name in ("reads", "writes", "atomics", "private", "sync", "kernel", "fetches")
        if info[name] or name in {"reads", "writes"}
    ]
    if run.get("sampling"):
        facts.insert(2, ("samples", f"{run['sampling']}; all counts are of samples"))
    if total:
        facts.append(("addresses", f"{info['addr_low']:#x} to {info['addr_high']:#x}"))
    columns = [name for name, there in info["columns"].items() if there]
    facts.append(("columns", ", ".join(["thread, kind, address, size", *columns])))
    facts += [(name, str(run[name])) for name in ("method", "order", "tool") if run[name]]
    facts += _ranges(run["ranges"])
    facts += _processes(run.get("processes", []))
    if run["provenance"]:
        facts.append(("provenance", "; ".join(run["provenance"])))
    return [*facts, ("events", plain_number(info["events"])), ("checksum", str(info["checksum"]))]


def _ranges(ranges: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Address ranges by what they are: how many, and how many bytes."""
    if not ranges:
        return []
    kinds: dict[str, tuple[int, int]] = {}
    for entry in ranges:
        count, size = kinds.get(entry["kind"], (0, 0))
        kinds[entry["kind"]] = (count + 1, size + entry["size"])
    text = "; ".join(
        f"{count} {kind} ({size:,} bytes)" for kind, (count, size) in sorted(kinds.items())
    )
    return [("ranges", text)]


def _processes(processes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The first processes of a whole system: number and names."""
    if not processes:
        return []
    shown = [f"{entry['pid']} {', then '.join(entry['names'])}" for entry in processes]
    more = len(shown) - _PROCESSES_SHOWN
    text = "; ".join(shown[:_PROCESSES_SHOWN])
    return [("processes", text + (f"; and {more} more, see --json" if more > 0 else ""))]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"
