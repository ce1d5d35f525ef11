"""Brackets of prices without a clock: other turns of one trace."""

import json
from pathlib import Path

import pytest

import homenode as hn
from homenode.errors import ConfigError
from support.command import Command


@pytest.fixture
def counters(tmp_path: Path) -> hn.Trace:
    """Two threads that write neighbouring words, recorded in turns of 100 references."""
    turn = [0] * 100 + [1] * 100
    address = [0x1000] * 100 + [0x1004] * 100
    return hn.Trace.from_numpy(
        thread=turn * 20, kind="W", address=address * 20, path=tmp_path / "t.hnt"
    )


def test_a_bracket_holds_the_trace_and_each_of_its_orders(counters: hn.Trace) -> None:
    [row] = hn.interleavings(counters, "numa", "migrate", 64)
    assert row["orders"] == 4
    orders = [counters]
    orders += [hn.transform("reinterleave", counters, quantum=quantum) for quantum in (1, 30, 1000)]
    costs = [hn.simulate(order, "numa", "migrate", 64).rows[0]["mcpr"] for order in orders]
    assert (row["min"], row["max"]) == (min(costs), max(costs))
    assert row["max"] > 10 * row["min"]


def test_the_table_says_that_prices_depend_on_the_turns(
    counters: hn.Trace, homenode: Command
) -> None:
    command = ("simulate", counters.path, "--machine", "numa", "--policy", "migrate,random")
    common = (*command, "--block-size", "64")
    shown = homenode(*common)
    assert shown.code == 0
    assert "MCPR when threads take turns of 1 to 1,000 references" in shown.out
    assert "prices without a clock depend on the order of the trace" in shown.err
    without = homenode(*common, "--no-interleavings")
    assert "take turns" not in without.out + without.err
    rows = json.loads(homenode(*common, "--json", "--interleavings").out)
    assert rows[0]["interleavings"]["largest"] > 10 * rows[0]["interleavings"]["least"]
    assert "interleavings" not in json.loads(homenode(*common, "--json").out)[0]


@pytest.mark.parametrize("machine", ["bus-smp", "spr-2s-lines", "dash-mesh"])
def test_only_prices_have_bounds(counters: hn.Trace, homenode: Command, machine: str) -> None:
    said = f"is for machines with prices of references, such as spr-2s, not for {machine}"
    refused = homenode("simulate", counters.path, "--machine", machine, "--interleavings")
    assert (refused.code, refused.out) == (2, "")
    assert f"error: --interleavings {said}" in refused.err
    with pytest.raises(ConfigError, match=f"^interleavings {said}"):
        hn.interleavings(counters, machine, "optimal", 64)
    assert homenode("simulate", counters.path, "--machine", machine, "--no-interleavings").code == 0


def test_with_a_clock_the_turns_leave_no_mark(counters: hn.Trace, homenode: Command) -> None:
    found = hn.sensitivity(counters, "spr-2s-lines,numa", "migrate", 64, reinterleave=2, quantum=1)
    [cycles] = found.cycles
    assert (cycles["orders"], cycles["spread"], cycles["machine"]) == (3, 0.0, "spr-2s-lines")
    assert cycles["mean"] == hn.lines(counters).time["cycles"]
    assert found.rows[0]["spread"] > 1
    alone = hn.sensitivity(counters, "spr-2s-lines", reinterleave=1)
    assert (alone.rows, alone.rankings) == ([], [])
    shown = homenode("sensitivity", counters.path, "--reinterleave", "2", "--quantum", "1")
    assert "mean cycles" in shown.out
    assert "0.0%" in shown.out
