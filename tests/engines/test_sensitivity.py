"""The order of the threads: several recordings, orders made of one, spreads and rankings."""

import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.engines.sensitivity import compare, ranking, spread
from homenode.results.result import Result
from support.command import Command


def _writes(path: Path, threads: list[int]) -> str:
    """Threads that write one word, in this order."""
    hn.Trace.from_numpy(thread=threads, kind="W", address=64, path=path)
    return str(path)


def test_an_order_that_passes_a_word_around_costs_more(tmp_path: Path) -> None:
    grouped = _writes(tmp_path / "a.hnt", [0] * 40 + [1] * 40)
    finely = _writes(tmp_path / "b.hnt", [0, 1] * 40)
    result = hn.sensitivity([grouped, finely], "prices:r=15,R=59", "optimal,first-touch", 64)
    alone = [
        hn.simulate(trace, "prices:r=15,R=59", "optimal,first-touch", 64).rows
        for trace in (grouped, finely)
    ]
    for row, one, other in zip(result.rows, *alone, strict=True):
        assert row["policy"] == one["policy"]
        assert (row["min"], row["max"]) == tuple(sorted((one["mcpr"], other["mcpr"])))
        assert row["spread"] == (row["max"] - row["min"]) / row["mean"]
    assert result.rows[0]["spread"] > 0.5
    assert [order["references"] for order in result.orders] == [80, 80]


def test_orders_are_made_of_one_trace_and_repeat(trace: hn.Trace) -> None:
    def found(seed: int) -> hn.SensitivityResult:
        return hn.sensitivity(
            trace, "numa", "optimal,migrate", 64, reinterleave=2, quantum=7, seed=seed
        )

    def timed() -> hn.SensitivityResult:
        return hn.sensitivity(trace, "spr-2s-lines", reinterleave=1, seed=3)

    first = found(3)
    assert [order["made"] is None for order in first.orders] == [True, False, False]
    assert "seed=4 quantum=7" in first.orders[2]["made"]
    assert len({order["checksum"] for order in first.orders}) == 3
    assert first.to_dict() == found(3).to_dict()
    assert timed().to_dict() == timed().to_dict()
    assert first.rows != found(8).rows


def test_the_picture_spans_from_least_to_most(tmp_path: Path) -> None:
    grouped = _writes(tmp_path / "a.hnt", [0] * 40 + [1] * 40)
    finely = _writes(tmp_path / "b.hnt", [0, 1] * 40)
    found = hn.sensitivity([grouped, finely], "prices:r=15,R=59", "optimal,first-touch", 64)
    [panel] = found.plot().axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a, b"]
    bars = [bar.get_segments()[0] for bar in panel.collections]
    drawn = [(float(bar[0][0]), float(bar[1][0])) for bar in bars]
    assert drawn == [(row["min"], row["max"]) for row in found.rows]
    infinite = hn.SensitivityResult([{**found.rows[0], "mean": None}], [], found.orders, {}, {})
    with pytest.raises(hn.ConfigError, match="no finite cost"):
        infinite.plot()


def test_costs_without_end_have_no_spread() -> None:
    assert spread([1.0, float("inf")])["spread"] is None
    assert ranking({"a": [1.0, 2.0], "b": [float("inf"), 1.0]})["policies"] == ["a"]
    rows, _ = compare(
        [Result([{"machine": "m", "block_size": 4, "policy": "p", "mcpr": None}]) for _ in "ab"]
    )
    assert rows[0]["mean"] is None


def test_kendalls_tau_counts_pairs() -> None:
    """Six pairs; the second order exchanges the two best and the two worst."""
    costs = {"a": [1.0, 2.1], "b": [2.0, 1.2], "c": [3.0, 4.1], "d": [4.0, 3.2]}
    found = ranking(costs)
    assert found["policies"] == ["a", "b", "c", "d"]
    assert (found["tau_mean"], found["tau_min"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert [swap["policies"] for swap in found["swaps"]] == [["a", "b"], ["c", "d"]]
    equal = ranking({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    assert (equal["tau_min"], equal["swaps"]) == (1.0, [])


def test_other_orders_are_made_of_a_single_trace(trace: hn.Trace) -> None:
    found = hn.sensitivity(trace)
    assert [row["machine"] for row in found.cycles] == ["spr-2s-lines"]
    assert {row["orders"] for row in (*found.rows, *found.cycles)} == {5}
    assert len(hn.sensitivity(trace, reinterleave=1).orders) == 2


def test_faulty_questions_are_refused_with_a_remedy(trace: hn.Trace, tmp_path: Path) -> None:
    with pytest.raises(hn.ConfigError, match="no trace was given"):
        hn.sensitivity([])
    fewer = _writes(tmp_path / "a.hnt", [0, 1])
    with pytest.raises(hn.ConfigError, match="give processors"):
        hn.sensitivity([str(trace.path), fewer])
    with pytest.raises(hn.ConfigError, match="no option colour"):
        hn.sensitivity(trace, reinterleave=1, colour=2)  # type: ignore[call-arg]
    other = hn.sensitivity([str(trace.path), fewer], "numa", "ace", 64, processors=4)
    assert len(other.rows) == 1


@pytest.mark.parametrize(
    ("option", "value", "flag"),
    [
        ("policies", "ace", "--policy"),
        ("block_sizes", "128", "--block-size"),
        ("filter", "none", "--filter"),
        ("force", True, "--force"),
        ("realign", True, None),
    ],
)
def test_an_option_that_no_machine_uses_is_refused(
    trace: hn.Trace, homenode: Command, option: str, value: Any, flag: str | None
) -> None:
    said = ": spr-2s-lines has a clock, caches and lines of its own; leave the option out, or "
    with pytest.raises(hn.ConfigError, match=f"^{option}{said}"):
        hn.sensitivity(trace, "spr-2s-lines", reinterleave=1, **{option: value})
    if flag is not None:
        words = [flag] if value is True else [flag, value]
        done = homenode("sensitivity", trace.path, "--machine", "spr-2s-lines", *words)
        assert (done.code, done.out) == (2, "")
        assert f"error: {flag}{said}choose machines with prices, such as spr-2s" in done.err


def test_options_of_machines_with_prices_are_theirs(trace: hn.Trace) -> None:
    machines = "spr-2s-lines,numa"
    found = hn.sensitivity(trace, machines, "ace", 128, reinterleave=1, filter="none")
    assert [row["block_size"] for row in found.cycles] == [64]
    assert [(row["policy"], row["block_size"]) for row in found.rows] == [("ace", 128)]
    used = {"processors": 4, "private": "shared", "sync": "exclude", "threads": 1}
    alone = hn.sensitivity(trace, "spr-2s-lines", reinterleave=1, **used)  # type: ignore[arg-type]
    assert alone.configuration["processors"] == 4


def test_the_command_prints_tables_and_verdicts(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    words = ("sensitivity", trace.path, "--reinterleave", 2, "--block-size", "64,4K")
    policies = ("--policy", "optimal,migrate,first-touch")
    done = homenode(*words, *policies)
    assert done.code == 0, done.err
    assert "3 orders" in done.out
    assert done.out.count("ranking:") == 2
    found = json.loads(homenode(*words, *policies, "--json").out)
    assert [len(found[name]) for name in ("orders", "rows", "rankings")] == [3, 6, 2]
    assert homenode(*words, *policies, "--csv", tmp_path / "o.csv").code == 0
    assert (tmp_path / "o.csv").read_text().startswith("machine,block_size,")
    clocked = homenode("sensitivity", trace.path, "--reinterleave", 2, "-o", "-", "--format", "csv")
    heading, *lines = clocked.out.splitlines()
    assert {"cycles_mean", "mean"} <= set(heading.split(","))
    assert lines[0].startswith("spr-2s-lines,64,mesi,3,")
    alone = homenode("sensitivity", trace.path)
    assert alone.code == 0
    assert "5 orders" in alone.out
