"""Tables for transforms of a whole system, and of several traces."""

from typing import Any

from homenode.cli.tables import numbers, print_facts, print_table, texts
from homenode.options.specs import plain_number


def print_mix(report: dict[str, Any]) -> None:
    """Prints the processes of a mix, and which part of the recording is not in it."""
    number = plain_number
    counts = numbers("user", "kernel", "private pages", "waits", "made way")
    columns = [*numbers("thread", "process"), *texts("name"), *counts]
    cells = [
        [
            *(str(row["thread"]), str(row["pid"]), _name(row)),
            *(number(row["references"][mode]) for mode in ("user", "kernel")),
            number(row["private_pages"]),
            *(number(row["switches"][why]) for why in ("waits", "preemptions")),
        ]
        for row in report["processes"]
    ]
    print_table(columns, cells, "references in user mode and in the kernel")
    pages, out, references = report["pages"], report["left_out"], report["references"]
    total = references["user"] + references["kernel"]
    part = references["kernel"] / total if total else 0
    others = out["others"]["user"] + out["others"]["kernel"]
    facts = [
        ("kernel", f"{part:.1%} of {number(total)} references"),
        (
            "pages",
            f"{number(pages['all'])} of {number(pages['bytes'])} bytes, {number(pages['shared'])} "
            f"shared by processes; {number(report['frames_renamed'])} with a new address because "
            "another process had them before",
        ),
        (
            "left out",
            f"{number(out['idle'])} references of idle processors, {number(others)} of "
            f"{number(out['processes'])} other processes ({number(out['others']['kernel'])} in the "
            f"kernel), {number(out['after_the_end'])} after the end",
        ),
    ]
    if report["cut_at_pages"]:
        cut = f"{number(report['cut_at_pages'])} references end with their page"
        facts.append(("straddling", cut))
    if areas := report["processor_areas"]:
        own = f"{number(areas['own'])} references to the processor's own, "
        facts.append(("kernel areas", f"{own}{number(areas['others'])} to those of others"))
    if not report["switches_told_apart"]:
        why = "the trace does not tell who waits from who makes way: all are taken to wait"
        facts.append(("switches", why))
    parallel = [str(row["thread"]) for row in report["processes"] if row["parallel"]]
    if parallel:
        facts.append(("several threads", f"in {', '.join(parallel)}: one after the other here"))
    print_facts(facts)


def print_merger(report: dict[str, Any]) -> None:
    """Prints the processes of a mix of several traces."""
    number = plain_number
    counts = numbers("threads", "references", "private", "moved by")
    columns = [*numbers("process"), *texts("trace", "program"), *counts]
    cells = [
        [
            *(", ".join(map(str, row["pids"])), row["trace"], row["program"] or "-"),
            _threads(row["first_thread"], row["threads"]),
            *(number(row["references"]), number(row["private_references"])),
            f"{row['offset']:#x}",
        ]
        for row in report["processes"]
    ]
    print_table(columns, cells, "processes of the mix")
    if report["shared"]:
        ranges = ", ".join(f"{low:#x}-{high:#x}" for low, high in report["shared"])
        print_facts([("shared", f"{ranges} at the same place for all")])


def _threads(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}" if count else "-"


def _name(row: dict[str, Any]) -> str:
    return row["names"][-1] if row["names"] else "-"
