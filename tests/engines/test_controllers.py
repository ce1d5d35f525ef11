"""Nodes with controllers: lists of copies, buffers and proxies, through the public interface."""

import json
import re
from typing import Any

import pytest

import homenode as hn
from homenode.cli import tables
from homenode.errors import ConfigError
from support.command import Command

THREADS = 12
SEPARATE = "allocate=separate:bytes=1024"


@pytest.fixture
def shared() -> hn.Trace:
    """One thread writes sixteen blocks, which all others then read at the same time."""
    written = [(0, "W", 64 * block) for block in range(16)]
    read = [(thread, "R", 64 * block) for block in range(16) for thread in range(1, THREADS)]
    thread, kind, address = zip(*written, *read, strict=True)
    return hn.Trace.from_numpy(thread=list(thread), kind=list(kind), address=list(address))


def simulated(trace: hn.Trace, **options: Any) -> list[dict[str, Any]]:
    return hn.simulate(trace, protocols="sdd", machines="alite", **options).rows


def test_every_choice_is_a_row(shared: hn.Trace) -> None:
    rows = simulated(
        shared,
        homes="fixed:node=0",
        proxies=["none", "basic", "reactive:fair=yes"],
        buffers=["infinite", 1],
    )
    assert [(row["proxies"], row["buffers"]) for row in rows] == [
        (proxies, buffers)
        for proxies in ("none", "basic", "reactive:fair=yes")
        for buffers in ("infinite", "1")
    ]
    by = {(row["proxies"], row["buffers"]): row for row in rows}
    assert by["none", "infinite"]["bounced"] == by["none", "infinite"]["proxy_reads"] == 0
    assert by["none", "1"]["bounced"] == by["none", "1"]["retried"] > 0
    assert by["basic", "infinite"]["proxy_reads"] > 0
    assert by["reactive:fair=yes", "infinite"]["proxy_reads"] == 0
    assert by["reactive:fair=yes", "1"]["proxy_reads"] > 0
    for row in rows:
        shares = ("busy", "read_stall", "write_stall", "sync_stall", "os_stall")
        assert sum(row[share] for share in shares) == row["processors"] * row["cycles"]
        assert row["messages"]["bounce"] == row["bounced"]
        assert row["messages"]["follower"] == row["combined"]


def test_messages_wait_for_the_input_of_a_node() -> None:
    # Both requests come at the same time, and a node takes one in five cycles.
    trace = hn.Trace.from_numpy(thread=[1, 2], kind=["R", "R"], address=[0, 64])
    (row,) = simulated(trace, homes="fixed:node=0", processors=3)
    assert row["max_input"] == 1
    assert row["mean_input_cycles"] * sum(row["messages"].values()) == pytest.approx(5)
    (other,) = hn.simulate(trace, "dash-mesh", processors=3).rows
    assert other["max_input"] is other["mean_input_cycles"] is None


@pytest.mark.parametrize("kind", ["basic", "reactive"])
@pytest.mark.parametrize("fair", ["no", "yes"])
def test_proxies_keep_copies_or_do_not(shared: hn.Trace, kind: str, fair: str) -> None:
    proxies = [f"{kind}:allocate=yes", f"{kind}:allocate=no", f"{kind}:{SEPARATE}"]
    asked = [f"{one},fair={fair}" for one in proxies]
    options = {"homes": "fixed:node=0", "buffers": 1, "check": True}
    rows = simulated(shared, proxies=[*asked, f"{kind}:fair={fair}"], **options)
    assert [row["proxies"] for row in rows] == [*asked, f"{kind}:fair={fair}"]
    kept, nowhere, separate, usual = rows
    assert {**kept, "proxies": ""} == {**usual, "proxies": ""}, "proxies keep copies by default"
    for row in (nowhere, separate):
        assert row["proxy_reads"] > 0 < row["combined"]
        assert row["bounced"] == row["retried"] == row["messages"]["bounce"]
        assert row["messages"]["follower"] <= row["combined"]
        assert row["cycles"] != kept["cycles"]


def test_a_proxy_that_keeps_no_copy_asks_for_the_next_client_again() -> None:
    # Node 2 is the proxy of nodes 0 to 3 for block 2, whose home is node 5. Two of them read it one
    # after the other; then home writes.
    steps = [(1, "R", 128), *[(3, "R", 4096)] * 400, (3, "R", 128), *[(5, "R", 4096)] * 900]
    thread, kind, address = zip(*steps, (5, "W", 128), strict=True)
    trace = hn.Trace.from_numpy(thread=list(thread), kind=list(kind), address=list(address))
    asked = ["basic:allocate=yes", "basic:allocate=no", f"basic:{SEPARATE}"]
    rows = simulated(trace, proxies=asked, homes="fixed:node=5", processors=12)
    assert [row["proxy_reads"] for row in rows] == [3, 3, 3]
    # A copy that the proxy has kept is in the list as well, and has to go.
    assert [row["messages"]["invalidate"] for row in rows] == [3, 2, 3]


def test_the_result_is_the_same_on_any_number_of_threads(shared: hn.Trace) -> None:
    proxies = f"none,basic,reactive,reactive:allocate=no,basic:{SEPARATE},fair=yes"
    options = {"proxies": proxies, "buffers": "infinite,1", "check": True}
    assert simulated(shared, threads=1, **options) == simulated(shared, threads=2, **options)


def test_data_are_marked_by_address(shared: hn.Trace) -> None:
    all_data, some, none = simulated(
        shared,
        proxies=["basic", "basic:data=0x0-0x100", "basic:data=0x10000-0x20000"],
        homes="fixed:node=0",
    )
    assert all_data["proxy_reads"] > some["proxy_reads"] > none["proxy_reads"] == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"proxies": "basic:data=matrix"}, 'nothing in the trace is called "matrix"'),
        ({"proxies": "reactive:data=0x0-0x40"}, "only basic proxies take `data`"),
        ({"proxies": "lazy"}, 'unknown proxies "lazy": expected one of none, basic, reactive'),
        ({"proxies": "basic:allocate=maybe"}, "allocate is yes, no or separate:bytes=N, N from 16"),
        ({"proxies": "basic:allocate=separate"}, 'found "separate"'),
        ({"proxies": "basic:allocate=separate:bytes=0"}, 'found "separate:bytes=0"'),
        ({"proxies": "basic:allocate=separate:bytes=4K"}, 'found "separate:bytes=4K"'),
        ({"proxies": "reactive:allocate=separate:bytes=100"}, "expected a power of two from the"),
        ({"proxies": "reactive:allocate=separate:bytes=32"}, "block size 64 bytes: expected"),
        ({"proxies": "none:allocate=no"}, 'it has no parameter, found "allocate"'),
        ({"buffers": "0"}, "--buffers 0: expected infinite or a number from 1 to 1048576"),
        ({"order": "trace"}, "--protocol sdd needs --order clock"),
        ({"replications": "time"}, "keeps blocks coherent, not pages"),
        ({"machines": "dash-mesh"}, "the nodes of dash-mesh have no controllers"),
    ],
)
def test_impossible_options_are_refused(
    shared: hn.Trace, options: dict[str, Any], expected: str
) -> None:
    chosen = {"machines": "alite", **options}
    with pytest.raises(ConfigError) as error:
        hn.simulate(shared, protocols="sdd", **chosen)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_a_machine_brings_its_protocol(shared: hn.Trace) -> None:
    result = hn.simulate(shared, machines="alite,dash-mesh", homes="round-robin")
    assert [row["protocol"] for row in result] == ["sdd", "dash"]


def test_other_machines_have_neither_buffers_nor_proxies(shared: hn.Trace) -> None:
    with pytest.raises(ConfigError, match="say --machine alite"):
        hn.simulate(shared, protocols="dash", machines="dash-mesh", buffers=8)
    with pytest.raises(ConfigError, match="say --protocol sdd"):
        hn.simulate(shared, protocols="dash", machines="alite")


def test_the_command_line_says_the_same(homenode: Command, shared: hn.Trace) -> None:
    arguments = ["simulate", str(shared.path), "--machine", "alite", "--protocol", "sdd"]
    listed = ["basic:clusters=2,fair=yes", f"reactive:{SEPARATE},fair=no", "none"]
    chosen = ["--proxies", ",".join(listed), "--buffers", "infinite,8", "--json"]
    rows = json.loads(homenode(*arguments, *chosen).out)
    assert rows == simulated(shared, proxies=listed, buffers=["infinite", "8"])
    assert {row["proxies"] for row in rows} == set(listed)
    refused = homenode(*arguments, "--buffers", "none")
    assert refused.code == 2
    assert "expected infinite or a number" in refused.err
    refused = homenode(*arguments, "--proxies", "basic:allocate=separate:bytes=96")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "allocate=separate:bytes=96, block size 64 bytes: expected a power of two" in refused.err


def _printed(text: str) -> list[list[str]]:
    """Cells of those lines of the first table that name a protocol."""
    lines = text.split("Homes that serve most fills", maxsplit=1)[0].splitlines()
    return [line.split() for line in lines if line.split()[:1] == ["sdd"]]


def test_a_line_of_the_table_says_what_it_is_of(homenode: Command, shared: hn.Trace) -> None:
    options = {"homes": "fixed:node=0", "buffers": ["infinite", "1"]}
    rows = simulated(shared, proxies=["none", "reactive"], **options)
    words = ["simulate", shared.path, "--machine", "alite", "--home", "fixed:node=0"]
    several = homenode(*words, "--buffers", "infinite,1", "--proxies", "none,reactive").out
    assert "proxies none" not in several
    # Columns: protocol, home, buffers, proxies, cycles, of first, bounced, cycles queued.
    cells = _printed(several)
    assert [(cell[2], cell[3]) for cell in cells] == [(r["buffers"], r["proxies"]) for r in rows]
    assert [cell[6] for cell in cells] == [f"{row['bounced']:,}" for row in rows]
    assert [cell[7] for cell in cells] == [f"{row['mean_queue_cycles']:.0f}" for row in rows]
    hottest = several.split("Homes that serve most fills")[1]
    assert hottest.count("reactive") == 2
    # What all lines have in common is in the title.
    one = homenode(*words, "--buffers", "1", "--proxies", "none,reactive").out
    assert "64 B blocks, buffers 1\n" in re.sub(r" +\n", "\n", one)
    assert [cell[2] for cell in _printed(one)] == ["none", "reactive"]


def test_speed_ups_are_against_the_same_buffers_and_proxies(
    homenode: Command, shared: hn.Trace
) -> None:
    options = {"homes": "fixed:node=0", "buffers": 1, "scaling": [8, 12]}
    rows = simulated(shared, proxies=["none", "basic"], **options)
    words = ["simulate", shared.path, "--machine", "alite", "--home", "fixed:node=0"]
    words += ["--buffers", "1", "--scaling", "8,12", "--proxies", "none,basic"]
    cells = _printed(homenode(*words).out)
    assert [(cell[2], cell[3]) for cell in cells] == [
        (row["proxies"], str(row["processors"])) for row in rows
    ]
    fewest = {row["proxies"]: row["cycles"] for row in rows if row["processors"] == 8}
    assert fewest["none"] != fewest["basic"]
    expected = [f"{fewest[row['proxies']] / row['cycles']:.2f}" for row in rows]
    assert [cell[6] for cell in cells] == expected


def test_machines_without_controllers_have_no_queues_to_print(
    homenode: Command, shared: hn.Trace
) -> None:
    for order in ("clock", "trace"):
        text = homenode("simulate", shared.path, "--machine", "dash-mesh", "--order", order).out
        assert "messages" in text
        assert "bounced" not in text
        assert "buffers" not in text


def test_a_narrow_terminal_gets_the_table_in_parts(
    homenode: Command, shared: hn.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["simulate", shared.path, "--machine", "alite", "--home", "round-robin"]
    words += ["--buffers", "infinite,1", "--proxies", "none,reactive"]
    wide = _printed(homenode(*words).out)
    monkeypatch.setattr(tables, "terminal_width", lambda _: 100)
    text = homenode(*words).out
    assert max(map(len, text.splitlines())) <= 100
    parts = _printed(text)
    assert len(parts) > len(wide)
    # Each part has the same labels, and together they have every number in full.
    found = [[*line[:4]] for line in parts[: len(wide)]]
    for i, line in enumerate(parts):
        assert line[:4] == wide[i % len(wide)][:4]
        found[i % len(wide)] += line[4:]
    assert found == wide
