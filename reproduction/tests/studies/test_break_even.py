"""The break-even of PSCR and MESI: worked by hand, by micro traces, and as a picture."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.foglia import EC, PAPER, break_even, dials, sweep
from homenode_studies.studies.foglia.break_even import OF_RECORDINGS, OF_STATISTICS, SESSIONS, Place
from homenode_studies.studies.foglia.break_even_picture import picture
from homenode_studies.studies.foglia.matrix import EXTENDED, SERVER
from homenode_studies.studies.tables import Missing

_TURNS = 40
_PROTOCOLS = ("mesi", "mesi-memory", "pscr", "pscr-memory")


def _bus_cycles(writes: int, block_size: int) -> dict[str, int]:
    """Two processors that take a block from each other: each reads it, then writes it."""
    turn = ["R", *("W" * writes)]
    trace = hn.Trace.from_numpy(
        thread=[number % 2 for number in range(_TURNS) for _ in turn],
        kind=turn * _TURNS,
        address=[0x1000] * len(turn) * _TURNS,
    )
    points = [
        {"protocol": protocol, "block_size": block_size, "processors": 2} for protocol in _PROTOCOLS
    ]
    found = hn.simulate(trace, points=points, order="trace")
    return {row["protocol"]: row["bus_cycles"] for row in found.flat_rows()}


@pytest.mark.parametrize(("block_size", "transfer"), [(32, 12), (128, 24)])
@pytest.mark.parametrize("writes", [1, 3, 4, 5, 6, 8])
def test_micro_traces_break_even_where_the_hand_calculation_does(
    writes: int, block_size: int, transfer: int
) -> None:
    cycles = _bus_cycles(writes, block_size)
    # The first processor fetches the block from memory and writes it alone.
    first = 56 + transfer
    assert cycles["mesi"] == first + (_TURNS - 1) * (transfer + 5)
    # The second one fetches it once; then both have it.
    assert cycles["pscr"] == first + transfer + (_TURNS - 1) * 5 * writes
    pscr_is_better = cycles["pscr"] < cycles["mesi"]
    assert pscr_is_better == (writes < break_even.break_even(block_size))
    # Where it is taken from it has been modified, so that memory supplies it under no protocol.
    assert [cycles[f"{name}-memory"] for name in ("mesi", "pscr")] == [
        cycles[name] for name in ("mesi", "pscr")
    ]


def _place(group: str, name: str, writes: float = 3.0) -> Place:
    return Place(group, name, writes, 0.5, 1.1)


def _row(protocol: str, **columns: Any) -> dict[str, Any]:
    setting = SERVER.changed(protocol=protocol)
    row = {"workload": EC, **setting.fields(), "stands_for": 1, "references": 1000, "gsp": 10.0}
    counts = {"transactions_invalidate": 30, "transactions_read_invalidate_cache": 10}
    return row | counts | {"transactions_write": 120} | columns


def test_places_are_computed_from_the_counts() -> None:
    points = [
        _row("mesi"),
        _row("pscr", gsp=12.0),
        _row(EXTENDED, gsp=13.0, transactions_write=80),
    ]
    plain, extended = break_even.places(OF_RECORDINGS, points)
    assert plain == Place(OF_RECORDINGS, EC, 3.0, 12.0, 1.2)
    assert (extended.writes, extended.ratio) == (2.0, 1.3)
    none = _row("mesi", transactions_invalidate=0, transactions_read_invalidate_cache=0)
    assert break_even.places(OF_RECORDINGS, [none, *points[1:]]) == []
    with pytest.raises(Missing, match="takeovers"):
        break_even.compared(OF_RECORDINGS, EC, none, points[1])


def test_the_paper_is_below_its_break_even() -> None:
    paper = break_even.of_paper()
    # 0.54 writes for 100 references; 0.32 / (7.4 / 2 x 25.5) = 0.34 % misses, half of them of
    # invalidated copies.
    assert paper.writes == pytest.approx(0.54 / 0.1696, rel=1e-3)
    assert 3.0 < paper.writes < break_even.break_even(128)
    assert paper.ratio == pytest.approx(14 / 11.3)


def test_the_picture_shows_every_place() -> None:
    found = [
        break_even.of_paper(),
        _place(OF_RECORDINGS, "DB", 30.0),
        _place(OF_STATISTICS, "DB"),
        _place(OF_STATISTICS, "DB, kernel's areas too"),
        *(_place(SESSIONS, f"EC-server, sessions of {n}", n) for n in (2, 4)),
    ]
    drawn = ET.fromstring(picture(found).svg)  # noqa: S314 - it is ours
    titles = [element.text or "" for element in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == len(found)
    assert titles[1] == (
        "DB (recorded): 1.100 with 30.0 writes for each takeover, 0.50 for 100 references"
    )
    table = break_even.table(found)
    assert [row["workload"] for row in table.rows] == [place.name for place in found]


def test_longer_sessions_have_more_writes_for_each_takeover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dials, "SCALE", 200)
    monkeypatch.setattr(dials, "_SESSION_LENGTHS", (2, 32))
    short, long = dials.sessions(StudyContext(PAPER, tmp_path, True, ()))
    assert (short.group, long.name) == (SESSIONS, "EC-server, sessions of 32")
    assert long.writes > 1.1 * short.writes
    assert long.ratio < short.ratio


def test_the_table_of_dials_has_a_row_for_each_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[dict[str, float]] = []

    def row(_: StudyContext, dial: str, value: str, values: dict[str, float]) -> dict[str, Any]:
        rows.append(dict(values))
        return {"dial": dial, "value": value, "PSCR / MESI": 1.256}

    monkeypatch.setattr(dials, "_row", row)
    table = dials.swept(StudyContext(PAPER, tmp_path, True, ()))
    assert len(table.rows) == 1 + sum(len(dial.values) for dial in dials.DIALS)
    assert {"group.Apache.shared_access": 3.68, "group.Apache.shared_write": 1.2}.items() <= (
        rows[13].items()
    )
    assert sweep.markdown(table).splitlines()[:3] == [
        "| dial | value | PSCR / MESI |",
        "|---|---|---|",
        "| as in the preset |  | 1.26 |",
    ]
