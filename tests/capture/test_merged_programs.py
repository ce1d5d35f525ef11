"""Recordings of several programs as one mix, on machines on a bus."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import homenode as hn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Builder, Recorder

_PROTOCOLS = ["mesi", "amsd", "pscr", "moesi", "dragon"]


def _counts(row: dict[str, Any]) -> Counter[str]:
    """The row's counts by name."""
    named = {f"miss {name}": count for name, count in row["misses"].items()}
    named |= row["transactions"] | {"references": row["references"], "hits": row["hits"]}
    return Counter(named)


def _alone(paths: Sequence[Path], protocol: str) -> Counter[str]:
    """The sum of the counts of each program on a machine of its own."""
    rows = [
        hn.simulate(path, "bus-smp", protocols=protocol, order="trace").rows[0] for path in paths
    ]
    return sum((_counts(row) for row in rows), Counter())


def test_programs_run_side_by_side(build: Builder, record: Recorder) -> None:
    paths = [record(build(f"{name}.c")).path for name in ("conditions", "locked", "pthreads")]
    mix = hn.transform("merge", [*paths, paths[1]], quantum=50)
    threads = [hn.Trace.open(path).threads for path in paths]
    assert mix.threads == sum(threads) + threads[1]
    assert min(threads) > 1
    references = sum(hn.Trace.open(path).references for path in [*paths, paths[1]])
    assert mix.references == references
    for scheduler in ("random", "affinity"):
        timed = hn.simulate(
            mix, "bus-smp", protocols=_PROTOCOLS, scaling="1,2,4", scheduler=scheduler
        )
        assert [row["forced"] for row in timed] == [0] * 15
        assert {row["references"] for row in timed} == {timed.rows[0]["references"]}
    assert (
        timed.rows[0]["references"]
        == hn.simulate(mix, "bus-smp", protocols="mesi", order="trace").rows[0]["references"]
    )


def test_who_shares_nothing_misses_as_if_alone(build: Builder, record: Recorder) -> None:
    paths = [record(build(f"{name}.c")).path for name in ("locked", "conditions")]
    paths.append(paths[0])
    mix = hn.transform("merge", paths, private="keep")
    for protocol in _PROTOCOLS:
        # A processor for each thread: it executes the same as when the program ran alone.
        together = hn.simulate(mix, "bus-smp", protocols=protocol, order="trace").rows[0]
        assert _counts(together) == _alone(paths, protocol), protocol
