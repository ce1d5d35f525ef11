"""Machines with a directory: `homenode.simulate` and its command."""

import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.errors import ConfigError
from homenode.options.declared import options_of
from support import workloads
from support.command import Command


def _ping_pong(times: int = 50) -> hn.Trace:
    """Two threads write one word in turn, and each reads a page of its own."""
    threads, kinds, addresses = [], [], []
    for i in range(times):
        for thread in (0, 1):
            threads += [thread, thread]
            kinds += ["W", "R"]
            addresses += [0x1000, 0x10000 * (thread + 1) + 64 * (i % 8)]
    return hn.Trace.from_numpy(thread=threads, kind=kinds, address=addresses)


def test_counts_follow_from_the_table_of_messages() -> None:
    (row,) = hn.simulate(
        _ping_pong(), "dash-mesh", homes="fixed:node=1", cache_sizes=65536, order="trace"
    )
    assert (row["references"], row["reads"], row["writes"]) == (200, 100, 100)
    # Each write misses, as the other node has written; the blocks that are only read miss once.
    assert (row["fills"], row["misses"]["cold"], row["misses"]["replacement"]) == (116, 18, 0)
    assert sum(row["misses"].values()) == row["fills"]
    # Node 1 is the home: all of its fills are local.
    assert row["local_fills"] == 50 + 8
    # Node 0 asks for its copies by request and reply. Where it owns the block, home forwards.
    assert row["messages"]["request"] == 50 + 8
    assert row["messages"]["forward"] == 50
    assert row["messages"]["reply"] == 50 + 8 + 50
    assert row["messages"]["write_back"] == row["messages"]["refuse"] == 0
    assert row["message_bytes"] == 8 * (58 + 50 + 108) + 64 * 108


def test_misses_are_those_of_a_bus_with_the_same_caches() -> None:
    trace = hn.synthetic("t-s", references=5001)
    caches: dict[str, Any] = {"cache_sizes": "1K,4K", "associativities": "1,2", "block_sizes": 32}
    on_bus = hn.simulate(
        trace, "bus-smp", protocols="mesi", order="trace", fetches="exclude", **caches
    )
    at_home = hn.simulate(trace, "dash-mesh", homes="round-robin", order="trace", **caches)
    assert [row["misses"] for row in on_bus] == [row["misses"] for row in at_home]
    assert all(row["fills"] == sum(row["misses"].values()) for row in at_home)


def test_a_first_run_finds_better_homes() -> None:
    result = hn.simulate(_ping_pong(), "dash-mesh", homes="fixed:node=0,best-static,optimal-static")
    fixed, best, optimal = (row["local_fills"] for row in result)
    assert fixed < best == optimal
    assert all(row["pages_moved"] == 0 for row in result)


_STALLS = ("busy", "read_stall", "write_stall", "sync_stall", "os_stall")


@pytest.fixture(scope="module")
def banded(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Eight threads' bands of sor, which marks the end of its initialisation."""
    return workloads.bands(tmp_path_factory.mktemp("sor"), 128, 6)


def _clocked(trace: hn.Trace, **options: Any) -> list[dict[str, Any]]:
    result = hn.simulate(
        trace,
        "dash-mesh",
        homes="round-robin,first-use",
        measure_from="init-done",
        sync="exclude",
        **options,
    )
    return result.rows


def test_the_time_of_all_processors_is_accounted_for(banded: hn.Trace) -> None:
    for row in _clocked(banded, gap=2, consistency="sc") + _clocked(banded):
        assert row["order"] == "clock"
        assert sum(row[name] for name in _STALLS) == row["processors"] * row["cycles"]
        assert 0 < row["network_utilisation"] < 1


def test_first_use_gains_time(banded: hn.Trace) -> None:
    turns, use = _clocked(banded, gap=2)
    assert use["cycles"] < turns["cycles"]
    assert use["local_fill_share"] > 0.5 > turns["local_fill_share"]
    assert use["mean_fill_cycles"] < turns["mean_fill_cycles"]
    # The faults that move no page map one that another node has moved.
    assert turns["pages_moved"] == turns["os_stall"] == 0 < use["pages_moved"] <= use["page_faults"]


def test_threads_of_the_host_leave_the_clock_alone(banded: hn.Trace) -> None:
    contention: Any
    for contention in ("none", "links"):
        words = {"network_contention": contention, "threads": 1}
        assert _clocked(banded, **words) == _clocked(banded, **words | {"threads": 4})


def test_several_nodes_with_a_clock_have_a_speed_up(homenode: Command, banded: hn.Trace) -> None:
    words = ("--machine", "dash-mesh", "--home", "first-use", "--measure-from", "init-done")
    done = homenode("simulate", banded.path, *words, "--scaling", "2,8", "--sync", "exclude")
    assert done.code == 0
    assert "ciency" in done.out
    two, eight = (line.split() for line in done.out.splitlines() if "first-use" in line)
    assert two[2:3] + two[4:7] == ["2", "1.00", "1.00", "100%"]
    cycles = [int(line[3].replace(",", "")) for line in (two, eight)]
    assert eight[5] == f"{cycles[0] / cycles[1]:.2f}"
    assert eight[6] == f"{25 * cycles[0] / cycles[1]:.0f}%"


@pytest.mark.parametrize("order", ["clock", "trace"])
def test_measurement_ends_at_a_mark(tmp_path: Path, order: str) -> None:
    program = workloads.build("sorbyr", tmp_path / "sorbyr")
    words = [str(program), "-p", "4", "-n", "40", "-i", "3"]
    trace = hn.Trace.record(words, tmp_path / "t.hnt")
    options: Any = {"homes": "round-robin,first-touch,best-static", "order": order}
    part = hn.simulate(trace, "dash-mesh", measure_until="check", **options)
    cut = hn.transform("select", trace, until="marker:check")
    assert part.provenance["measure_until"] == "check"
    for row, other in zip(part, hn.simulate(cut, "dash-mesh", **options), strict=True):
        assert {**row, "trace": ""} == {**other, "trace": ""}
    # After it the first thread reads the pointers to the rows that it frees.
    for row, other in zip(part, hn.simulate(trace, "dash-mesh", **options), strict=True):
        assert other["references"] >= row["references"] + 40


def test_a_mark_that_the_trace_does_not_have_is_refused(
    homenode: Command, banded: hn.Trace
) -> None:
    command = ("simulate", banded.path, "--machine", "dash-mesh", "--measure-until", "chek")
    refused = homenode(*command)
    assert refused.code == 2
    assert '--measure-until: the trace has no mark "chek"; it has check.' in refused.err
    with pytest.raises(ConfigError, match="it has none"):
        hn.simulate(_ping_pong(), "dash-mesh", measure_until="check")


def test_homes_after_initialisation_need_its_mark() -> None:
    result = hn.simulate(_ping_pong(), "dash-mesh", homes="first-use,first-touch")
    use, touch = ({k: v for k, v in row.items() if k != "home"} for row in result)
    assert use == touch
    (note,) = (n for n in result.provenance["notes"] if "init-done" in n)
    assert note.startswith("the trace has no event init-done")


def test_several_nodes_and_pointers_are_one_pass_each(homenode: Command, tmp_path: Path) -> None:
    made = _ping_pong()
    trace = made.path
    words = ("--machine", "dash-mesh", "--protocol", "dash,dash:pointers=1", "--scaling", "2,4")
    done = homenode("simulate", trace, *words, "--order", "trace", "--check", "--json")
    assert done.code == 0
    assert [(row["protocol"], row["processors"]) for row in json.loads(done.out)] == [
        (protocol, nodes) for protocol in ("dash", "dash:pointers=1") for nodes in (2, 4)
    ]
    done = homenode("simulate", trace, *words, "--order", "trace")
    assert done.code == 0
    assert "in the order of the trace" in done.out
    table = tmp_path / "rows.csv"
    assert homenode("simulate", trace, *words, "--csv", table).code == 0
    assert "messages_sharing_write_back" in table.read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--home", "nearest"], 'unknown home "nearest": expected one of round-robin, random'),
        (["--home", "fixed:node=9"], "fixed:node=9: the machine has 2 nodes, numbered from 0"),
        (["--processors", "0"], "--processors"),
        (["--block-size", "8K"], "block size 8192 bytes: expected a power of two from 16 to 1024"),
        (["--protocol", "dash:pointers=0"], "pointers is a number from 1 to 1024"),
        (["--protocol", "mesi"], 'unknown protocol "mesi": expected one of dash, lrc'),
        (
            ["--protocol", "lrc", "--order", "trace"],
            "--protocol lrc needs --order clock: it keeps pages coherent at",
        ),
        (
            ["--scheduler", "random"],
            "--scheduler is for machines with caches, such as bus-smp, not for dash-mesh",
        ),
        (
            ["--policy", "ace"],
            "--policy is for machines with prices of references, such as spr-2s",
        ),
        (
            ["--machine", "bus-smp"],
            "machines with a directory and machines with caches cannot be combined",
        ),
    ],
)
def test_what_cannot_be_is_refused(homenode: Command, words: list[str], said: str) -> None:
    made = _ping_pong()
    done = homenode("simulate", made.path, "--machine", "dash-mesh", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_homes_are_for_machines_with_a_directory(homenode: Command) -> None:
    made = _ping_pong()
    trace = made.path
    done = homenode("simulate", trace, "--machine", "bus-smp", "--home", "random")
    assert done.code == 2
    assert "--home is for machines with a directory, such as dash-mesh" in done.err
    # Without a machine the option determines its kind.
    done = homenode("simulate", trace, "--home", "random", "--json")
    assert (done.code, json.loads(done.out)[0]["machine"]) == (0, "dash-mesh")


def test_the_protocol_keeps_its_promises() -> None:
    (report,) = hn.check_protocols("dash")
    assert (report["nodes"], report["findings"]) == (3, [])
    assert report["situations"] > 10_000
    # Three nodes are a heavy test of the crate.
    alone, proxies = hn.check_protocols("sdd,sdd+proxies", nodes=2)
    assert (alone["protocol"], proxies["protocol"]) == ("sdd", "sdd+proxies")
    assert (alone["findings"], proxies["findings"]) == ([], [])
    assert proxies["situations"] > 3 * alone["situations"]
    with pytest.raises(ConfigError, match="dash has no proxies"):
        hn.check_protocols("dash+proxies")
    with pytest.raises(ConfigError, match="--nodes is 9: expected 2 to 4"):
        hn.check_protocols("dash", nodes=9)


def test_tables_list_protocols_and_homes() -> None:
    dash, lrc, one_trip, sdd = hn.table("directory-protocols")
    assert [row["name"] for row in (lrc, one_trip)] == ["lrc", "lrc-one-trip"]
    assert one_trip["home_states"] == lrc["home_states"]
    assert dash["states"][:3] == ["I", "S", "M"]
    assert lrc["home_states"] == ["unmapped", "readers", "writer", "weak"]
    assert sdd["home_states"] == ["uncached", "shared", "dirty", "returning"]
    homes = {row["name"]: row for row in hn.table("homes")}
    assert homes["first-fill"]["parameters"][0]["name"] == "n"
    assert homes["best-static"]["needs_first_run"]
    assert [name for name, row in homes.items() if row["needs_allocations"]] == ["allocator"]


def test_a_controller_takes_time(homenode: Command, tmp_path: Path) -> None:
    machine = tmp_path / "instant.toml"
    machine.write_text(
        'name = "instant"\nkind = "directory"\nbase = "dash-mesh"\nsource = "none"\n'
        'summary = "none"\n[directory]\nlookup_cycles = { value = 0, source = "none" }\n'
    )
    done = homenode("simulate", _ping_pong().path, "--machine", machine)
    assert (done.code, done.out) == (2, "")
    assert "directory.lookup_cycles is 0: expected at least 1" in done.err


def test_reads_are_checked_with_a_clock(homenode: Command) -> None:
    made = _ping_pong()
    words = ("--machine", "dash-mesh", "--protocol", "dash,lrc", "--home", "round-robin")
    done = homenode("simulate", made.path, *words, "--check")
    assert done.code == 0
    said = [line for line in done.err.splitlines() if "every read was checked" in line]
    assert len(said) == 2
    assert "in 1 simulation of dash (" in said[0]
    assert "all nodes had seen" in said[0]
    assert "in 1 simulation of lrc (" in said[1]
    assert "acquires and releases" in said[1]
    plain, checked = (
        json.loads(homenode("simulate", made.path, *words, "--json", *more).out)
        for more in ((), ("--check",))
    )
    assert plain == checked
    done = homenode("simulate", made.path, *words[:2], "--order", "trace", "--check")
    assert "each returned what was written last" in done.err


_WITH_A_CLOCK = {
    "consistency": "sc",
    "network_contention": "links",
    "page_mapping": "free",
    "phase_change": True,
    "gap": 0,
    "measure_from": "init-done",
}


@pytest.mark.parametrize(("name", "value"), _WITH_A_CLOCK.items())
def test_without_a_clock_options_of_the_clock_are_refused(
    homenode: Command, name: str, value: Any
) -> None:
    trace, said = _ping_pong(), f"{name} is for order clock"
    option: Any = {name: value}
    with pytest.raises(ConfigError, match=said):
        hn.simulate(trace, "dash-mesh", order="trace", **option)
    flag = ["--" + name.replace("_", "-"), *([] if value is True else [str(value)])]
    command = ("simulate", trace.path, "--machine", "dash-mesh", *flag)
    refused = homenode(*command, "--order", "trace")
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
    assert homenode(*command).code == 0


def test_the_help_says_which_options_need_a_clock() -> None:
    declared = options_of("directory").values()
    # Whether a replication needs a clock depends on the protocol.
    said = {o.name for o in declared if "with `--order clock`" in o.description}
    assert {o.name for o in declared if o.only_order} == said - {"replications"}
    assert said >= _WITH_A_CLOCK.keys()
