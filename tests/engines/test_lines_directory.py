"""Answers about lines from machines with a directory: `hn.lines`, `sharing`, `advise`."""

import json
from pathlib import Path

import pytest

import homenode as hn
from homenode import ConfigError
from support.command import Command

TODAY = ("spr-2s-directory", "genoa-8n-directory", "graviton2-mesh")


def _counters(path: Path | None = None, distance: int = 8) -> hn.Trace:
    """Two threads that each count in 64 records, in shared lines or in lines of their own.

    An owner of a line uses it until another thread's request arrives through its home: with one
    line only, it would do so dozens of times.
    """
    turns = [(turn % 64) * 128 for turn in range(800)]
    first = [0x20000, 0x30000]
    counted = [0x10000 + at + other for at in turns for other in (0, 0, distance, distance)]
    return hn.Trace.from_numpy(
        thread=[0, 1] + [0, 0, 1, 1] * len(turns),
        kind=["W", "W"] + ["R", "W", "R", "W"] * len(turns),
        address=first + counted,
        size=8,
        path=path,
    )


@pytest.mark.parametrize("machine", [*TODAY, "dash-mesh"])
def test_counters_side_by_side_are_waited_for_and_counters_apart_are_not(machine: str) -> None:
    beside = hn.lines(_counters(), machine=machine)
    apart = hn.lines(_counters(distance=64), machine=machine)
    assert beside.facts["protocol"] == "dash"
    assert beside.time["false_sharing_share"] > 0.7
    assert apart.time["waits"]["false_sharing"] == {"transactions": 0, "cycles": 0}
    assert apart.time["waits"]["true_sharing"] == {"transactions": 0, "cycles": 0}
    assert beside.time["cycles"] > 3 * apart.time["cycles"]
    for found in (beside, apart):
        time = found.time
        waited = sum(waits["cycles"] for waits in time["waits"].values())
        assert time["processor_cycles"] == time["busy_cycles"] + waited


def test_where_the_page_is_decides_what_a_line_costs() -> None:
    """Two threads of a socket take longer for their line if its page is in the other socket."""
    trace = _counters()
    near, far = (
        hn.lines(trace, machine="genoa-8n-directory", processors=64, home=f"fixed:node={home}")
        for home in (0, 7)
    )
    assert far.time["cycles"] > 1.25 * near.time["cycles"]


def test_a_home_is_for_machines_with_a_directory(homenode: Command) -> None:
    trace = _counters()
    with pytest.raises(ConfigError, match="--home random: on spr-2s-lines"):
        hn.lines(trace, machine="spr-2s-lines", home="random")
    with pytest.raises(ConfigError, match="its pages go by allocations, which a change of data"):
        hn.lines(trace, machine="spr-2s-directory", home="allocator")
    with pytest.raises(ConfigError, match="chosen by a first run; say --home first-touch"):
        hn.lines(trace, machine="spr-2s-directory", home="best-static")
    with pytest.raises(ConfigError, match="no line is waited for; say --protocol dash"):
        hn.lines(trace, machine="dash-mesh", protocol="lrc")
    with pytest.raises(ConfigError, match="cc has no directory"):
        hn.sharing(trace, "cc", 64, home="random")
    for wrong, about in (
        (["--order", "trace"], "processors share memories"),
        (["--protocol", "lrc"], "processors share memories"),
    ):
        refused = homenode("simulate", trace.path, "--machine", TODAY[0], *wrong)
        assert refused.code == 2
        assert about in refused.err


def test_advice_follows_and_says_what_it_saves(homenode: Command, tmp_path: Path) -> None:
    path = tmp_path / "counters.hnt"
    trace = _counters(path)
    for machine in TODAY:
        found = hn.advise(trace, machine)
        assert found.points[0]["unit"] == "cycles"
    said = homenode("sharing", path, "--machine", TODAY[1], "--home", "round-robin", "--json")
    line = json.loads(said.out)["lines"][0]
    assert line["machine"] == TODAY[1]
    assert line["provenance"]["home"] == "round-robin"
    assert line["provenance"]["machines"][0]["directory"]["topology"]["shared"]["sockets"] == 2


def test_a_report_answers_with_the_machine_that_was_chosen(
    homenode: Command, tmp_path: Path
) -> None:
    path, page = tmp_path / "counters.hnt", tmp_path / "report.html"
    _counters(path)
    assert homenode("report", path, "--machine", f"{TODAY[1]},numa", "-o", page).code == 0
    assert f"On {TODAY[1]} the program takes" in page.read_text(encoding="utf-8")
    both = homenode("report", path, "--machine", ",".join(TODAY), "-o", page)
    assert both.code == 2
    assert "one machine answers about cache lines" in both.err


def test_homes_with_hindsight_are_those_of_memories() -> None:
    """Counts of processors in a first run are added up for the memory that they share."""
    found = hn.simulate(
        _counters(), protocols="dash", machines=[TODAY[1]], homes=["best-static", "optimal-static"]
    )
    assert [row["home"] for row in found] == ["best-static", "optimal-static"]
    assert all(row["local_fills"] > 0 for row in found)
