"""Figures 1 to 5, and policies of homes beyond the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode_studies.studies.marchetti import HARDWARE, SOFTWARE
from homenode_studies.studies.marchetti import measures as m
from homenode_studies.studies.marchetti.claims_policies import replicated
from homenode_studies.studies.marchetti.matrix import (
    BLOCKS,
    HOMES,
    OPTIMUM,
    PAPER_CASE,
    WITH,
    WITHOUT,
    Setting,
)
from homenode_studies.studies.tables import Axis, Figure, Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from homenode_studies.studies.marchetti.runs import Runs

_SHORT = {HARDWARE: "hw", SOFTWARE: "sw"}
_PARTS = {
    "busy": "busy",
    "read_stall": "reads",
    "write_stall": "writes",
    "sync_stall": "synchronisation",
    "os_stall": "operating system",
}
_SIZE = "64 processors and 64-byte blocks. hw and sw: coherence in hardware and software; +: with "
_PLACED = _SIZE + "placement."


def figures(runs: Runs) -> list[Figure]:
    """Every figure."""
    return [
        _times(runs),
        _activity(runs),
        _fill_times(runs),
        _blocks(runs),
        *_replication(runs),
        _homes(runs),
        _locality(runs),
    ]


def _cases(runs: Runs) -> list[tuple[str, Setting]]:
    """The bars of figures 1 to 3."""
    return [
        (f"{_SHORT[protocol]}{sign}", Setting(protocol=protocol, home=home))
        for protocol in runs.protocols()
        for sign, home in (("", WITHOUT), ("+", WITH))
    ]


def _note(runs: Runs) -> str:
    nodes = runs.rows[0]["processors"]
    return _PLACED.replace("64 processors", f"{nodes} processors", 1)


def _times(runs: Runs) -> Figure:
    rows: list[Row] = []
    for program in runs.programs():
        first = m.cycles(runs.at(program, PAPER_CASE))
        for bar, setting in _cases(runs):
            found = runs.at(program, setting)
            whole = 100 * m.cycles(found) / first
            rows += [
                {"series": said, "x": program, "bar": bar, "y": whole * m.part(found, name)}
                for name, said in _PARTS.items()
            ]
    return _stacks(
        "figure-1",
        "normalised execution times",
        rows,
        "% of hardware without placement",
        _note(runs),
    )


def _activity(runs: Runs) -> Figure:
    rows: list[Row] = []
    for what, value in (("fills", m.local_fills), ("write-backs", m.local_write_backs)):
        rows += _values(runs, what, lambda row, value=value: 100 * value(row))  # type: ignore[misc]
    note = _note(runs)
    return _bars("figure-2", "local cache activity", rows, "% local", note)


def _fill_times(runs: Runs) -> Figure:
    rows = _values(runs, "", m.fill_time)
    return _bars("figure-3", "mean time of a fill", rows, "cycles", _note(runs))


def _values(runs: Runs, what: str, value: m.Value) -> list[Row]:
    return [
        {"series": f"{what} {case}".strip(), "x": program, "y": _or_zero(value, row)}
        for case, setting in _cases(runs)
        for program in runs.programs()
        for row in (runs.at(program, setting),)
    ]


def _or_zero(value: m.Value, row: Row) -> float:
    """A share of zero references is drawn as zero."""
    from homenode_studies.studies.tables import Missing

    try:
        return value(row)
    except Missing:
        return 0.0


def _blocks(runs: Runs) -> Figure:
    rows: list[Row] = [
        {
            "series": "time with placement",
            "x": program,
            "bar": str(block),
            "y": 100 * m.changed(runs, program, m.cycles, PAPER_CASE.changed(block_size=block)),
        }
        for program in runs.programs()
        for block in BLOCKS
    ]
    note = "Coherence in hardware; below each bar the block size in bytes."
    up = "% of the time without placement, same block size"
    return _stacks("figure-4", "execution times with placement by block size", rows, up, note)


def _replication(runs: Runs) -> list[Figure]:
    if SOFTWARE not in runs.protocols():
        return []
    rows = [
        {"series": kind, "x": program, "y": 100 / relative}
        for program in runs.programs()
        for kind, relative in replicated(runs, program).items()
    ]
    note = "Coherence in software, first-use, one cycle per word everywhere; 100: no replication."
    title = "relative performance with replication of pages"
    return [_bars("figure-5", title, rows, "% of the performance without", note)]


def _homes(runs: Runs) -> Figure:
    rows = _over_homes(
        runs,
        lambda row, least: m.cycles(row) / m.cycles(least),
    )
    note = "Beyond the paper. Coherence in hardware; the time under optimal-static is 1."
    title, up = "time under every policy of homes", Axis("times", limit=2.0)
    return Figure("figure-homes", title, "bars", rows, Axis(""), up, note=note)


def _locality(runs: Runs) -> Figure:
    rows = _over_homes(runs, lambda row, _least: 100 * m.local_fills(row))
    note = "Beyond the paper. Coherence in hardware."
    title = "local fills under every policy of homes"
    return _bars("figure-homes-fills", title, rows, "% of the fills", note)


def _over_homes(runs: Runs, value: Callable[[Row, Row], float]) -> list[Row]:
    return [
        {
            "series": home,
            "x": program,
            "y": value(
                runs.at(program, Setting(home=home)), runs.at(program, Setting(home=OPTIMUM))
            ),
        }
        for program in runs.programs()
        for home in HOMES
    ]


def _stacks(name: str, title: str, rows: list[Row], up: str, note: str) -> Figure:
    return Figure(name, title, "stacks", rows, Axis(""), Axis(up, limit=0), note=note)


def _bars(name: str, title: str, rows: list[Row], up: str, note: str) -> Figure:
    return Figure(name, title, "bars", rows, Axis(""), Axis(up), note=note)
