"""`homenode.advise` and its command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.errors import ConfigError, TraceError
from support import workloads
from support.command import Command


def _counters(path: Path | None = None) -> hn.Trace:
    """Two threads that each increment a counter of their own, side by side."""
    turns = range(40)
    return hn.Trace.from_numpy(
        thread=[i % 2 for i in turns],
        kind="W",
        address=[0x10000 + 8 * (i % 2) for i in turns],
        size=8,
        path=path,
    )


def test_the_gain_is_that_of_the_written_trace(tmp_path: Path) -> None:
    result = hn.advise(_counters(), "cc", "migrate", 64, out=tmp_path / "better.hnt")
    assert result.trace is not None
    row = hn.simulate(result.trace, "cc", "migrate", 64).rows[0]
    summary = result.summary
    assert (summary["cost_after"], summary["mcpr_after"]) == (row["total_cost"], row["mcpr"])
    assert (
        summary["cost_before"]
        == hn.simulate(_counters(), "cc", "migrate", 64).rows[0]["total_cost"]
    )
    assert sum(r["saved"] for r in result) == summary["cost_before"] - summary["cost_after"]
    assert (summary["advice"], summary["extra_bytes"]) == (1, 2 * 64 - 16)


def test_advice_on_an_unnamed_trace_names_addresses() -> None:
    (row,) = hn.advise(_counters(), "cc", "migrate", 64)
    assert (row["kind"], row["object"], row["object_kind"]) == ("pad", "memory at 0x10000", None)


def test_the_help_names_every_kind(homenode: Command) -> None:
    page = Path(__file__).parents[2] / "docs" / "advise.md"
    table = page.read_text(encoding="utf-8").split("## Kinds of advice")[1].split("\n## ")[0]
    kinds = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert len(kinds) == 7
    words = set(re.findall(r"[a-z-]+", homenode("advise", "--help").out))
    assert words >= set(kinds)


def test_data_are_placed_where_they_are_used() -> None:
    """Thread 0 initialises what thread 1 then uses."""
    trace = hn.Trace.from_numpy(
        thread=[0] * 64 + [1] * 640, kind="W", address=[0x10000 + 4 * (i % 64) for i in range(704)]
    )
    (row,) = hn.advise(trace, "numa", "first-touch", 256)
    assert (row["kind"], row["extra_bytes"]) == ("place", 0)
    assert row["sentence"].endswith("is used most by thread 1: place it with thread 1.")
    # With the best home only the initialisation by thread 0 is remote; thread 1 should do that,
    # too.
    best = hn.simulate(trace, "numa", "best-static", 256).rows[0]["total_cost"]
    assert hn.advise(trace, "numa", "first-touch", 256).summary["cost_after"] == best - 64 * 101


def test_nanoseconds_and_cost_say_the_same_of_placed_data() -> None:
    found = hn.advise(_shared_pages(), "spr-2s", "first-touch", 4096, processors=2, filter="none")
    (point,) = found.points
    assert [row["kind"] for row in found] == ["place"]
    before, after = (point[side] for side in ("before", "after"))
    costs = after["total_cost"] / before["total_cost"]
    assert after["total_ns"] / before["total_ns"] == pytest.approx(costs)
    assert costs < 0.9
    # Two threads on each processor: the advice names the processor that uses a page.
    (row,) = found
    assert row["sentence"].endswith("is used most by processor 1: place it with processor 1.")


def _shared_pages() -> hn.Trace:
    """A page that thread 0 fills and threads 1 and 3 use."""
    threads = [0] * 1024 + [1, 2, 3] * 3000
    address = [0x10000 + 4 * (i % 1024) if t != 2 else 0x90000 for i, t in enumerate(threads)]
    return hn.Trace.from_numpy(thread=threads, kind="W", address=address)


def test_a_reference_to_several_words_initialises_once() -> None:
    fill = {"thread": [0] * 64, "address": [0x10000 + 64 * i for i in range(64)], "size": [64] * 64}
    use = {"thread": [1] * 1024, "address": [0x10000 + 4 * i for i in range(1024)]}
    use["size"] = [4] * 1024
    # Thread 0 runs alone until thread 1 does; it has data of its own.
    own = {"thread": [0] * 1024, "address": [0x90000] * 1024, "size": [4] * 1024}
    both = {
        name: [w for pair in zip(use[name], own[name], strict=True) for w in pair] for name in use
    }
    columns = {name: fill[name] + both[name] for name in use}
    trace = hn.Trace.from_numpy(kind="W", **columns)
    found = hn.advise(trace, "spr-2s", "first-touch", 4096, processors=2, filter="none")
    assert [row["kind"] for row in found] == ["place"]
    # All references are local once each thread initialises what it uses.
    assert found.summary["mcpr_after"] == 1


def test_several_points_have_advice_each() -> None:
    result = hn.advise(_counters(), ["cc", "numa"], ["migrate", "optimal"], [64, 4096])
    assert len(result.summaries()) == len(result.points) == 8
    assert {row["machine"] for row in result} == {"cc", "numa"}
    assert len(result.to_pandas()) == len(result)
    with pytest.raises(ConfigError, match="use summaries"):
        _ = result.summary
    with pytest.raises(ConfigError, match="one --machine, --policy and --block-size"):
        hn.advise(_counters(), "cc", "migrate", [64, 128], out="never.hnt")


def test_one_thread_and_no_references_need_no_advice() -> None:
    single = hn.Trace.from_numpy(thread=0, kind="W", address=[64, 128, 68])
    empty = hn.Trace.from_numpy(thread=[], kind=[], address=[])
    for trace in (single, empty):
        result = hn.advise(trace)
        assert (len(result), result.summary["advice"]) == (0, 0)
        assert result.summary["false_sharing_gone"] is None


def test_the_command_prints_advice_and_goes_on(homenode: Command, tmp_path: Path) -> None:
    trace, better = tmp_path / "t.hnt", tmp_path / "u.hnt"
    _counters(trace)
    point = ("--machine", "cc", "--policy", "migrate", "--block-size", 64)
    shown = homenode("advise", trace, *point, "-o", better)
    assert shown.code == 0, shown.err
    assert "pad each element to 64 bytes" in shown.out
    assert "1 after all" in shown.out
    assert f"{better}: written" in shown.err
    again = homenode("advise", better, *point)
    assert "no layout of an object gains" in again.out
    report = json.loads(homenode("advise", trace, *point, "--json").out)
    assert [row["kind"] for row in report["rows"]] == ["pad"]
    assert report["points"][0]["after"]["mcpr"] == 1
    table = homenode("advise", trace, *point, "--csv", "-").out.splitlines()
    assert table[0].startswith("machine,policy,block_size,rank,kind,object")
    assert len(table) == 2


def test_the_command_refuses_what_it_cannot_do(homenode: Command, tmp_path: Path) -> None:
    trace = tmp_path / "t.hnt"
    _counters(trace)
    wrong: list[tuple[tuple[Any, ...], str]] = [
        (("--machine", "nowhere"), "nowhere"),
        (("--machine", "cc", "--policy", "first-touch"), "choose a policy that moves blocks"),
        (("--machine", "cc", "--block-size", "64,128", "-o", tmp_path / "u"), "at a time"),
        (("-o", trace), "t.hnt"),
        (("--top", 0), "--top"),
    ]
    for words, said in wrong:
        outcome = homenode("advise", trace, *words)
        assert outcome.code == 2, words
        assert said in outcome.err.replace("\n", " "), outcome.err
    (tmp_path / "broken.hnt").write_bytes(trace.read_bytes()[:-7])
    assert homenode("advise", tmp_path / "broken.hnt").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.hnt", "t.hnt"]
    with pytest.raises(TraceError):
        hn.advise(tmp_path / "broken.hnt")


def test_what_is_promised_of_padding_is_what_padding_gains(tmp_path: Path) -> None:
    """The false-sharing workload, and the same program with its counters 128 bytes apart.

    Large enough that the padded program's cycles do not depend on its first forty misses, whose
    number changes with the position of the stack, which depends on environment and arguments.
    """
    program = workloads.build("false-sharing", tmp_path / "program")
    traces = []
    for flag in ((), ("--padded",)):
        path = tmp_path / f"t{len(flag)}.hnt"
        hn.Trace.record([str(program), "-n", "50000", "-p", "8", *flag], path)
        traces.append(path)
    result = hn.advise(traces[0])
    first = result.rows[0]
    assert (first["kind"], first["object"]) == ("pad", "adjacent_counters")
    assert (first["stride"], first["count"]) == (8, 8)
    before, padded = (hn.lines(trace).time["cycles"] for trace in traces)
    assert before - first["saved_alone"] == pytest.approx(padded, rel=0.02)
    assert first["saved_alone"] > 0.3 * before
    assert result.points[0]["speed_up"] == pytest.approx(before / padded, rel=0.02)


def _told(references: list[tuple[int, str, int, int]]) -> hn.AdviceResult:
    threads, kinds, addresses, sizes = zip(*references, strict=True)
    return hn.advise(
        hn.Trace.from_numpy(thread=threads, kind=kinds, address=addresses, size=sizes),
        "spr-2s-lines",
    )


def _comes(promised: hn.AdviceResult, by_hand: hn.AdviceResult) -> bool:
    """Whether what is promised comes to within a tenth when the program is laid out by hand."""
    after, came = promised.points[0]["after"], by_hand.points[0]["before"]
    return bool(abs(after["total_cost"] / came["total_cost"] - 1) < 0.1)


def test_time_may_fall_by_more_than_the_sum_of_waits() -> None:
    """Threads read limits and add to counters behind them, and one of them does so for longer."""

    def told(first: int, second: int) -> hn.AdviceResult:
        references = []
        for turn in range(4000):
            thread = turn % 4 if turn < 2000 else 0
            references += [(thread, "R", 0x1000, 4), (thread, "A", first, 4)]
            references += [(thread, "R", 0x1004, 4), (thread, "A", second, 4)]
        return _told(references)

    (row,) = (found := told(0x1008, 0x100C))
    assert row["kind"] == "split"
    assert "bytes 8-11, 12-15" in row["sentence"]
    assert _comes(found, told(0x1040, 0x1080))


def test_neighbouring_counters_go_apart() -> None:
    """Two counters side by side: each thread adds to one, and now and then to the other."""

    def told(second: int) -> hn.AdviceResult:
        counters = (0x1000, second)
        turns = [(turn % 4, turn // 4 % 100 == 0) for turn in range(4000)]
        return _told([(i, "A", counters[(i < 2) == other], 8) for i, other in turns])

    (row,) = (found := told(0x1008))
    assert row["kind"] == "split"
    assert "(bytes 0-7, 8-15): give each a block of its own" in row["sentence"]
    assert _comes(found, told(0x1040))
