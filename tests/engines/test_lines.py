"""Where present-day processors wait: `hn.lines`, `sharing` on such machines, and their output."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import ConfigError
from homenode.trace.info import TraceInfo
from support.command import Command


def _counters(path: Path | None = None, distance: int = 8, size: int = 4) -> hn.Trace:
    """Two threads with counters beside each other."""
    turns = 400
    return hn.Trace.from_numpy(
        thread=[0, 0, 1, 1] * turns,
        kind=["R", "W", "R", "W"] * turns,
        address=[0x10000, 0x10000, 0x10000 + distance, 0x10000 + distance] * turns,
        size=size,
        path=path,
    )


def test_counters_side_by_side_are_waited_for_and_counters_apart_are_not() -> None:
    beside, apart = hn.lines(_counters()), hn.lines(_counters(distance=64))
    assert beside.time["false_sharing_share"] > 0.9
    assert apart.time["waits"]["false_sharing"] == {"transactions": 0, "cycles": 0}
    assert beside.time["cycles"] > 20 * apart.time["cycles"]
    for found in (beside, apart):
        time = found.time
        waited = sum(waits["cycles"] for waits in time["waits"].values())
        assert time["processor_cycles"] == time["busy_cycles"] + waited
        assert sum(row["share"] for row in found) == pytest.approx(
            waited / time["processor_cycles"]
        )


def test_adjacent_bytes_are_not_a_shared_word() -> None:
    found = hn.lines(_counters(distance=1, size=1))
    assert found.time["waits"]["true_sharing"]["transactions"] <= 2
    assert found.time["waits"]["false_sharing"]["transactions"] > 100
    # All bytes of a word, each of which both threads use.
    both = hn.Trace.from_numpy(
        thread=[0, 0, 1, 1] * 400, kind=["R", "W"] * 800, address=[0x10000] * 1600
    )
    assert hn.lines(both).time["waits"]["false_sharing"]["transactions"] <= 2


def test_contention_makes_memory_slower_and_nothing_else() -> None:
    thread = [i % 8 for i in range(8000)]
    trace = hn.Trace.from_numpy(
        thread=thread, kind="R", address=[0x100000 * t + 64 * i for i, t in enumerate(thread)]
    )
    free, held = (hn.lines(trace, contention=kind) for kind in ("none", "modelled"))
    assert held.time["cycles"] > free.time["cycles"]
    assert held.time["waits"]["cold"]["transactions"] == free.time["waits"]["cold"]["transactions"]


def test_sharing_answers_for_both_kinds_of_machine(homenode: Command, tmp_path: Path) -> None:
    trace = _counters(tmp_path / "t.hnt")
    found = json.loads(homenode("sharing", trace.path, "--json").out)
    assert [one["machine"] for one in found["lines"]] == ["spr-2s-lines"]
    assert {row["machine"] for row in found["rows"]} == {"cc"}
    only = json.loads(homenode("sharing", trace.path, "--machine", "genoa-2s-lines", "--json").out)
    assert (only["rows"], only["detail"]) == ([], None)
    shown = homenode("sharing", trace.path, "--machine", "spr-2s-lines").out
    assert "waits for lines of which they share no data" in " ".join(shown.split())
    with pytest.raises(ConfigError, match="has caches and a bus"):
        hn.lines(trace, machine="bus-smp")


def test_signatures_and_help_have_every_option() -> None:
    for function, option in [
        (hn.simulate, "realign"),
        (hn.advise, "out"),
        (hn.lines, "contention"),
        (hn.simulate, "miss_rule"),
        (hn.simulate, "homes"),
    ]:
        parameters = inspect.signature(function).parameters
        assert option in parameters
        assert f"{option}: " in (function.__doc__ or "")
        assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert inspect.signature(hn.advise).parameters["sync"].default == "include"
    assert inspect.signature(hn.simulate).parameters["sync"].default == "exclude"


def test_results_show_themselves_in_notebooks() -> None:
    found = hn.advise(_counters(), "cc", "migrate", 64)
    page = found._repr_html_()
    assert page.startswith("<table>")
    assert "pad" in page
    assert "&lt;b&gt;" in TraceInfo(program="<b>")._repr_html_()
    assert _counters()._repr_html_().startswith("<pre>")
    drawn = hn.picture(_counters())
    assert "<svg" in drawn._repr_html_()
    assert len(repr(drawn)) < 100


def test_the_facts_of_a_trace_fit_a_screen() -> None:
    info = _counters().info
    shown = repr(info)
    assert len(shown.splitlines()) < 40
    assert max(len(line) for line in shown.splitlines()) <= 100
    assert json.loads(json.dumps(info)) == dict(info)


@pytest.mark.parametrize("kind", ["none", "modelled"])
def test_contention_is_refused_where_there_are_no_links(homenode: Command, kind: Any) -> None:
    trace = hn.synthetic("t-s", references=100)
    said = f"contention {kind}: bus-smp has no links"
    for machines in ("bus-smp", "spr-2s-lines,bus-smp"):
        refused = homenode("simulate", trace.path, "--machine", machines, "--contention", kind)
        assert (refused.code, refused.out) == (2, "")
        assert f"error: --{said}" in refused.err
    lines = {"protocol": "mesi", "machine": "spr-2s-lines"}
    for points in ([{"protocol": "mesi"}], [lines, {"protocol": "mesi"}]):
        with pytest.raises(ConfigError, match=f"^{said}"):
            hn.simulate(trace, points=points, contention=kind)
    assert hn.simulate(trace, points=[lines], contention=kind).rows
