"""`homenode.transform`, `homenode.split` and `homenode transform`."""

import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.cli.transform import _EXAMPLES
from support.command import Command


def _falsely_shared(folder: Path) -> hn.Trace:
    """Three threads use words of their own and common ones of two arrays in turn."""
    steps = range(3_000)
    words = [i // 3 % 37 * 3 + i % 3 if i % 5 else i // 5 % 9 for i in steps]
    return hn.Trace.from_numpy(
        thread=[i % 3 for i in steps],
        kind=["W" if i % 4 == 0 else "R" for i in steps],
        address=[0x1000 + 4 * word for word in words],
        size=4,
        path=folder / "shared.hnt",
    )


def _by_thread(trace: hn.Trace) -> dict[int, list[Any]]:
    frame = trace.to_arrow().to_pandas()
    return {t: rows.drop(columns="thread").values.tolist() for t, rows in frame.groupby("thread")}


def test_perturbations_keep_every_threads_order(trace: hn.Trace) -> None:
    for kind, more in (("local", {}), ("gap", {"every": 200, "length": 300})):
        made = [hn.transform(kind, trace, seed=seed, **more) for seed in (1, 1, 2)]
        assert made[0].checksum == made[1].checksum
        assert len({trace.checksum, made[0].checksum, made[2].checksum}) == 3
        assert _by_thread(made[0]) == _by_thread(trace)
        (record,) = made[2].metadata["provenance"][-1:]
        assert record.startswith(f"transform {kind} seed=2")
        assert trace.checksum in record


def test_values_may_be_numbers_ranges_and_lists(trace: hn.Trace) -> None:
    selected = hn.transform("select", trace, time=range(100, 300), threads=[0, range(2, 4)])
    frame = trace.to_arrow().to_pandas()[100:300]
    assert selected.references == int(frame["thread"].isin([0, 2, 3]).sum()) > 0
    assert hn.transform("processors", trace, map=[0, 0, 1, 1]).threads == 2
    assert hn.transform("processors", trace, count=2, map=None).threads == 2


def test_a_selection_simulates_as_it_is(trace: hn.Trace, tmp_path: Path) -> None:
    half = hn.transform("select", trace, tmp_path / "half.hnt", time="0-2000")
    assert half.path == tmp_path / "half.hnt"
    assert hn.simulate(half, "numa", "optimal", 64).rows[0]["references"] == 2000


def test_pieces_are_numbered(trace: hn.Trace, tmp_path: Path) -> None:
    made = hn.split(trace, tmp_path / "u.hnt", every=1500)
    assert [(piece.path.name, piece.references) for piece in made] == [
        ("u.0.hnt", 1500),
        ("u.1.hnt", 1500),
        ("u.2.hnt", 1000),
    ]
    with pytest.raises(hn.ConfigError, match=r"use homenode\.split"):
        hn.transform("split", trace, every=1500)


@pytest.mark.parametrize("kind", [row["name"] for row in hn.table("transforms")])
def test_every_transform_has_a_command_with_help(homenode: Command, kind: str) -> None:
    shown = homenode("transform", kind, "--help")
    assert shown.code == 0
    row = next(row for row in hn.table("transforms") if row["name"] == kind)
    assert all(f"--{parameter['name']}" in shown.out for parameter in row["parameters"])
    assert _EXAMPLES[kind][0] in shown.out


def test_the_command_writes_and_reports(homenode: Command, trace: hn.Trace, tmp_path: Path) -> None:
    out = tmp_path / "u.hnt"
    done = homenode("transform", "local", trace.path, "-o", out, "--seed", 5, "--json")
    assert done.code == 0
    found = json.loads(done.out)["outputs"]
    assert found[0]["checksum"] == hn.transform("local", trace, seed=5).checksum
    done = homenode("transform", "split", trace.path, "-o", out, "--every", 3000)
    assert [line.rsplit(": ", 1)[1] for line in done.out.splitlines()] == [
        "3,000 references",
        "1,000 references",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing command; see homenode transform --help"),
        (["shuffle", "T"], "there is no transform 'shuffle'; there are local, gap"),
        (["local", "T"], "missing option '-o'"),
        (["local", "T", "-o", "T"], "the output is also an input"),
        (["local", "T", "-o", "U", "--buffer", "0"], "buffer=0: expected a whole number from 1"),
        (["select", "T", "-o", "U"], "nothing says what to keep"),
        (["select", "no.hnt", "-o", "U", "--time", "1-2"], "no.hnt"),
        (["split", "T", "-o", "U", "--at", "noon"], "expected init-done, phase, marker"),
    ],
)
def test_mistakes_are_explained_and_leave_nothing(
    homenode: Command, trace: hn.Trace, tmp_path: Path, words: list[str], said: str
) -> None:
    names = {"T": trace.path, "U": tmp_path / "u.hnt"}
    done = homenode("transform", *(names.get(word, word) for word in words))
    assert done.code == 2
    assert said in done.err
    assert list(tmp_path.iterdir()) == [trace.path]


def test_an_interrupt_leaves_nothing(trace: hn.Trace, tmp_path: Path) -> None:
    def interrupt(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hn.transform("local", trace, tmp_path / "u.hnt", progress=interrupt)
    assert list(tmp_path.iterdir()) == [trace.path]


def test_realigned_data_costs_less_than_falsely_shared_data(tmp_path: Path) -> None:
    # Two threads write words of their own side by side: invalidation bounces the page.
    shared = hn.Trace.from_numpy(
        thread=[0, 1] * 1000, kind="W", address=[0x1000, 0x1004] * 1000, size=4
    )
    apart = hn.transform("realign", shared, tmp_path / "u.hnt", page_size=1024, window=500)
    record = apart.metadata["provenance"][-1]
    said = "transform realign page-size=1024 window=500 private=exclude sync=exclude (homenode "
    assert record.startswith(said)
    assert shared.checksum in record
    costs = [
        hn.simulate(trace, "markatos", "inv", 1024).rows[0]["mcpr"] for trace in (shared, apart)
    ]
    assert costs[1] == 1 < costs[0]


def test_realignment_reports_what_it_did(homenode: Command, tmp_path: Path) -> None:
    shared = hn.Trace.from_numpy(
        thread=[0, 1, 0, 1], kind="W", address=[0x1000, 0x1004, 0x1008, 0x1008], size=4
    )
    apart = hn.transform("realign", shared, page_size=64)
    assert apart.report is not None
    assert {key: apart.report[key] for key in ("words_moved", "new_pages", "new_bytes")} == {
        "words_moved": 2,
        "new_pages": 2,
        "new_bytes": 128,
    }
    assert (apart.report["before"], apart.report["gone"]) == ({"pages": 1, "references": 4}, 1.0)
    assert shared.report is None
    assert hn.transform("drop-sync", shared).report is None
    command = ("transform", "realign", shared.path, "-o", tmp_path / "u.hnt", "--page-size", 64)
    assert json.loads(homenode(*command, "--json").out)["outputs"][0]["report"] == apart.report
    shown = homenode(*command)
    assert shown.code == 0
    for text in ("2 new pages of 64 bytes: 128 bytes", "4 references before", "100.0% gone"):
        assert text in shown.out


def test_simulations_re_align_in_memory(homenode: Command, tmp_path: Path) -> None:
    shared = _falsely_shared(tmp_path)
    words = ("simulate", shared.path, "--machine", "markatos", "--policy", "inv,upt")
    rows = json.loads(homenode(*words, "--block-size", "64,1K", "--realign", "--json").out)
    for row in rows:
        size = row["block_size"]
        made = hn.transform("realign", shared, page_size=size)
        by_file = hn.simulate(made, "markatos", row["policy"], size).rows[0]
        assert row.pop("realignment") == made.report
        assert row | {"trace": by_file["trace"]} == by_file
    result = hn.simulate(shared, "markatos", "inv", [64, 1024], realign=100)
    assert result.provenance["realign"] == 100
    assert result.realignments[64]["windows"] == -(-shared.references // 100)
    columns = result.columns()
    assert columns["realign_window"] == [100, 100]
    assert columns["realign_words_moved"] == [
        report["words_moved"] for report in result.realignments.values()
    ]
    assert columns["realign_before_references"][0] > columns["realign_after_references"][0]
    assert hn.simulate(shared, "markatos", "inv", 64, realign=True).provenance["realign"] == 10**6
    assert not hn.simulate(shared, "markatos", "inv", 64, realign=False).realignments


def test_re_aligned_simulations_say_so(homenode: Command, tmp_path: Path) -> None:
    shared = _falsely_shared(tmp_path)
    words = ("simulate", shared.path, "--machine", "markatos", "--policy", "inv")
    several = homenode(*words, "--block-size", "64,1K", "--realign-window", "50")
    assert several.code == 0, several.err
    assert "re-aligned" in several.out
    assert "words moved" in several.out
    assert "new bytes" in several.out
    one = homenode(*words, "--block-size", "64", "--realign")
    assert "falsely shared" in one.out
    refused = homenode(*words, "--realign-window", "0")
    assert refused.code == 2
    refused = homenode(*words, "--realign-window", 1 << 40)
    assert refused.code == 2
    assert "hold 1 to 268435456 references" in refused.err
    with pytest.raises(hn.ConfigError, match="realign: 0: expected a whole number from 1"):
        hn.simulate(shared, "markatos", "inv", 64, realign=0)


def _system(folder: Path) -> hn.Trace:
    """Processors 0 and 1 run processes 5, 7 and 8 and a kernel; 0 is idle at the end."""
    words = (
        "0:5W1000 1:0R9000k 0:5R9000k 0:7W2000 0:7R3000 1:5R1008 1:5R3000 1:8W3000 1:8R9008k "
        "0:7R3004 0:0R9000k"
    ).split()
    processors, rest = zip(*(word.split(":") for word in words), strict=True)
    return hn.Trace.from_numpy(
        thread=[int(processor) for processor in processors],
        pid=[int(word[0]) for word in rest],
        kind=[word[1] for word in rest],
        address=[int(word[2:6], 16) for word in rest],
        size=4,
        kernel=[word.endswith("k") for word in rest],
        path=folder / "system.hnt",
    )


def test_processes_of_a_whole_system_become_threads(homenode: Command, tmp_path: Path) -> None:
    system = _system(tmp_path)
    mix = hn.transform("processes", system, tmp_path / "mix.hnt")
    frame = mix.to_arrow().to_pandas()
    rows = frame[["thread", "pid", "address", "private", "kernel"]].values.tolist()
    assert rows == [
        [0, 5, 0x1000, True, False],
        [0, 5, 0x9000, False, True],
        [1, 7, 0x2000, True, False],
        [1, 7, 0x3000, False, False],
        [0, 5, 0x1008, True, False],
        [0, 5, 0x3000, False, False],
        [2, 8, 0x3000, False, False],
        [2, 8, 0x9008, False, True],
        [1, 7, 0x3004, False, False],
    ]
    assert mix.report is not None
    assert mix.report["left_out"]["idle"] == 2
    assert [row["switches"]["waits"] for row in mix.report["processes"]] == [2, 1, 0]
    # Addresses are taken as they are: blocks 0x1000 and 0x1008, 0x2000, 0x3000 and the kernel's.
    result = hn.simulate(mix, "bus-smp", protocols="mesi", processors=1, order="clock")
    assert result.rows[0]["misses"]["cold"] == 4
    command = ("transform", "processes", system.path, "-o", tmp_path / "some.hnt")
    shown = homenode(*command, "--processes", "7,5")
    assert shown.code == 0
    assert "1 of 1 other processes" not in shown.out
    assert "2 of 1 other processes (1 in the kernel)" in shown.out
    made = json.loads(homenode(*command, "--processes", "7,5", "--json").out)["outputs"][0]
    assert [row["pid"] for row in made["report"]["processes"]] == [7, 5]
    refused = homenode(*command, "--processes", "postgres=2")
    assert refused.code == 2
    assert "there are without a name 5, 7, 8" in refused.err
