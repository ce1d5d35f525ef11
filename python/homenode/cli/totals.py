"""The number of references of a run, and their total cost, by which two versions are compared."""

from collections.abc import Sequence
from typing import Any

from homenode.cli.output import echo
from homenode.cli.tables import print_facts
from homenode.options.specs import plain_number, unique

WHERE = ("local", "remote", "global")


def print_references(rows: Sequence[dict[str, Any]], provenance: dict[str, Any]) -> None:
    """Prints the number of references, and how many of them reached memory."""
    filtered = provenance.get("cache_filter")
    if filtered is None:
        counts = " or ".join(plain_number(count) for count in unique(r["references"] for r in rows))
        echo(f"{provenance['trace']}: {counts} references")
        return
    made, passed = filtered["references"], filtered["let_through"]
    echo(
        f"{provenance['trace']}: {plain_number(made)} references, of which {plain_number(passed)} "
        f"({share(passed, made)}) reach memory;\nthe others hit in a cache of "
        f"{filtered['cache']} in front of each processor (--filter none takes all)"
    )


def print_filter(report: dict[str, Any]) -> None:
    """Prints how many references passed the caches."""
    made = report["references"]
    print_facts(
        [
            ("caches", f"{report['cache']} in front of each of {report['processors']}"),
            *(
                (key.replace("_", " "), f"{plain_number(report[key])} ({share(report[key], made)})")
                for key in ("hits", "misses", "first_writes")
            ),
        ]
    )


def print_frames(report: dict[str, Any]) -> None:
    """Prints which page frames several processes used one after the other, and the writes."""
    writes, all_writes = report["writes"], sum(report["writes"].values())
    recycled, moved = report["recycled_frames"], report["moved_references"]
    print_facts(
        [
            ("frames", plain_number(report["frames"])),
            ("recycled", f"{plain_number(recycled)} ({share(recycled, report['frames'])})"),
            ("new frames", plain_number(report["new_frames"])),
            ("moved", f"{plain_number(moved)} references ({share(moved, report['references'])})"),
            ("writes", f"{plain_number(all_writes)} to frames of several processes"),
            *(
                (key.replace("_", " "), f"{plain_number(number)} ({share(number, all_writes)})")
                for key, number in writes.items()
            ),
        ]
    )


def share(part: int, whole: int) -> str:
    """A part in percent.

    >>> share(1, 3), share(0, 0)
    ('33 %', '0 %')
    """
    return f"{100 * part / max(whole, 1):.2g} %"


def references(counts: dict[str, int]) -> list[str]:
    """The references by where they are served: the columns `WHERE`."""
    return [
        plain_number(counts.get(f"{where}_reads", 0) + counts.get(f"{where}_writes", 0))
        for where in WHERE
    ]


def mcpr(row: dict[str, Any], field: str = "mcpr") -> str:
    """The mean cost per reference of a row."""
    return plain_number(row[field]) if row["accesses"] else "-"


def unit_of(row: dict[str, Any]) -> str:
    """The unit of a row's whole cost: that of its machine.

    >>> unit_of({"total_ns": 1.5}), unit_of({"latency": {}}), unit_of({})
    ('ns', 'cycles', 'cost')
    """
    return "ns" if "total_ns" in row else "cycles" if "latency" in row else "cost"


def total(row: dict[str, Any]) -> str:
    """The whole cost of a row in its unit; of machines without one, in local references."""
    if not row["accesses"]:
        return "-"
    if "total_ns" in row:
        return plain_number(row["total_ns"])
    if "latency" in row:
        cycles = row["latency"]["total"]
        return plain_number(None if cycles is None else cycles * row["accesses"])
    return plain_number(row["total_cost"])
