"""Invented outcomes in the form that the engines print, for tests of reports about them."""

from typing import Any

POLICIES = ("optimal", "optimal-no-replication", "ace", "delay", "migrate", "best-static")


def outcome(policy: str, total: float | None, **change: Any) -> dict[str, Any]:
    """One outcome of 1,000 accesses whose cost beyond local is half remote, half moves."""
    beyond = None if total is None else (total - 1000) / 2
    row = {
        "trace": "t.hnt",
        "machine": "numa",
        "policy": policy,
        "block_size": 4096,
        "processors": 8,
        "references": 1000,
        "accesses": 1000,
        "counts": {"local_reads": 900, "remote_reads": 100, "remote_moves": 7},
        "cost": {
            "local": 1000,
            "remote": beyond,
            "global": 0,
            "remote_moves": beyond,
            "global_moves": 0,
        },
        "total_cost": total,
        "mcpr": None if total is None else total / 1000,
    }
    return row | change


def matrix(machines: tuple[str, ...], sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Every policy on every machine at every size; cost grows with policy, machine and size."""
    return [
        outcome(
            policy,
            None
            if (machine, policy) == ("dsm", "delay")
            else 1000 * (1 + (p + 1) * (m + 1) * (s + 1) / 4),
            machine=machine,
            block_size=size,
        )
        for m, machine in enumerate(machines)
        for p, policy in enumerate(POLICIES)
        for s, size in enumerate(sizes)
    ]


def costs() -> dict[str, Any]:
    """Where the cost comes from, in the form of the analysis: two objects, two blocks, a map."""
    site = {"function": "work", "file": "/src/sorbyr.c", "line": 42}
    words = {"private": 0, "read_shared": 2, "truly_shared": 14}
    lines = [site | {"reads": 90, "writes": 10, "threads": 3}]
    grid = {"kind": "static", "name": "grid", "label": "grid"}
    heap = {"kind": "heap", "name": "", "allocated_at": site, "label": "heap, sorbyr.c:42"}
    use = {"offsets": [0, 63], "reads": 90, "writes": 10}
    block = {
        "cost": 300,
        "extra_cost": 200,
        "share": 0.5,
        "counts": {},
        "words": words,
        "references": words,
        "threads": [{"thread": t, "reads": 30, "writes": 3} for t in range(3)],
    }
    whole = {
        "bytes": 4096,
        "cost": 300,
        "extra_cost": 200,
        "share": 0.5,
        "reads": 90,
        "writes": 10,
        "processors": 3,
    }
    return {
        "block_size": 4096,
        "processors": 3,
        "blocks": 2,
        "accesses": 1000,
        "cost": 600,
        "extra_cost": 400,
        "worst": [
            block
            | {"address": "0x1000", "sharing": "false-sharing", "objects": [grid | use]}
            | {"lines": lines},
            block
            | {"address": "0x2000", "sharing": "true-sharing", "objects": [heap | use]}
            | {"lines": [], "share": None},
        ],
        "objects": [grid | whole, heap | whole],
        "map": {
            "row_bytes": 64,
            "rows": [
                {
                    "address": f"{0x1000 + 64 * i:#x}",
                    "object": "grid" if i < 40 else "heap, sorbyr.c:42",
                    "reads": [10 * (i + 1) * (p == i // 20 or i > 50) for p in range(3)],
                    "writes": [i * (p == 1 and i > 55) for p in range(3)],
                }
                for i in range(60)
            ],
        },
    }
