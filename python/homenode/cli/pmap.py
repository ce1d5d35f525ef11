"""`homenode pmap`: the ACE's page manager over a trace."""

from collections.abc import Sequence
from typing import Any

import click

import homenode
from homenode.cli.command import examples
from homenode.cli.options import given_options, study_options
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.cli.totals import references
from homenode.options.specs import format_size, plain_number
from homenode.results.rows import columns_of, flat

_ACTION = texts("page is", "reference", "policy", "actions", "page becomes")
_KERNEL = ("faults", "copies", "syncs", "flushes")
_PARTS = ("faults", "zero_fills", "copies", "syncs", "flushes", "unmaps", "protects")


@click.command(
    epilog=examples(
        "homenode pmap t.hnt",
        "homenode pmap t.hnt --limit 2 --page-size 512",
        "homenode pmap t.hnt --policy all-global --json",
        "homenode pmap t.hnt --word-bytes 4",
        "homenode pmap --table",
    )
)
@click.argument("trace", metavar="T.hnt", required=False)
@study_options("pmap")
@click.option("--table", "show_table", is_flag=True, help="Print the table of actions and end.")
@result_options()
def pmap(
    trace: str | None,
    show_table: bool,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Run the ACE's page manager over a trace.

    The kernel keeps local memories coherent by removing mappings; a page that is invalidated more
    often than the limit allows is pinned in global memory. Prints the faults, the final states of
    pages, the kernel's time, and the pages that took most of it.
    """
    if show_table:
        _show_table(options["owner_copy"] or "flush", outputs)
        return
    if trace is None:
        raise click.UsageError("no trace given; name one, or give --table")
    outputs.check(trace)
    with Progress("managing pages") as progress:
        report = homenode.pmap(trace, progress=progress, **given_options(options))
    outputs.show(lambda: report, lambda: columns_of([flat(report)]), lambda: _print_report(report))


def _show_table(owner_copy: str, outputs: Outputs) -> None:
    from homenode.engines.pmap import page_actions

    outputs.check()
    rows = page_actions(owner_copy)
    outputs.show(lambda: rows, lambda: columns_of(rows), lambda: _print_actions(rows))


def _print_actions(rows: Sequence[dict[str, Any]]) -> None:
    print_table(_ACTION, map(_action, rows), "Actions at a fault")


def _action(row: dict[str, Any]) -> list[str]:
    """What is done at a fault: the columns `_ACTION`."""
    answer = row["answer"].upper()
    return [row["situation"], row["access"], answer, row["actions"], row["next"]]


def _print_report(report: dict[str, Any]) -> None:
    size, processors = format_size(report["page_size"]), report["processors"]
    what = f"{report['policy']}, limit {report['limit']}"
    title = f"{report['trace']}: {what}, {size} pages, {processors} processors"
    _print_counts(report, title)
    _print_cells(report["faults"])
    _print_time(report)
    if report["busiest"]:
        _print_busiest(report["busiest"])


def _print_counts(report: dict[str, Any], title: str) -> None:
    counts, states = report["counts"], report["final_states"]
    rows = [["pages", plain_number(report["pages"])]]
    rows += [[f"  ended {state}", plain_number(states[state])] for state in states]
    rows += [[name.replace("_", " "), plain_number(count)] for name, count in counts.items()]
    alpha = report["locality"]["alpha"]
    shown = "-" if alpha is None else f"{alpha:.4f}"
    rows.append(["alpha: local part of references to written pages", shown])
    print_table([*texts("count"), *numbers("")], rows, title)


def _print_cells(cells: Sequence[dict[str, Any]]) -> None:
    rows = [[*_action(row), plain_number(row["count"])] for row in cells if row["count"]]
    print_table([*_ACTION, *numbers("faults")], rows, "Faults")


def _print_time(report: dict[str, Any]) -> None:
    time, base = report["kernel_time"], report["all_global"]
    rows = [[name.replace("_", "-"), _seconds(time[f"{name}_s"])] for name in _PARTS]
    own, other = time["total_s"], base["kernel_time_s"]
    rows.append(["all of the kernel", _seconds(own)])
    rows.append(["all pages global: the kernel", _seconds(other)])
    rows.append(["references themselves", _seconds(report["reference_time_s"])])
    rows.append(["all pages global: references", _seconds(base["reference_time_s"])])
    if report["reference_time_s"]:
        share = (own - other) / report["reference_time_s"]
        rows.append(["kernel beyond all-global / references", f"{100 * share:.1f} %"])
    print_table([*texts("time on the ACE"), *numbers("seconds")], rows)


def _print_busiest(pages: Sequence[dict[str, Any]]) -> None:
    rows = [
        [
            page["address"],
            _objects(page["objects"]),
            page["final_state"],
            _seconds(page["kernel_time_s"]),
            *(plain_number(page["counts"][name]) for name in _KERNEL),
            # The ACE has no remote references.
            *references(page["counts"])[::2],
        ]
        for page in pages
    ]
    counted = numbers("kernel s", *_KERNEL, "local", "global")
    print_table([*texts("page", "objects", "ended"), *counted], rows, "Busiest pages")


def _objects(labels: Sequence[str]) -> str:
    if len(labels) <= 2:
        return ", ".join(labels) or "-"
    return f"{labels[0]}, {labels[1]} and {len(labels) - 2} more"


def _seconds(value: float) -> str:
    return f"{value:.6f}"
