"""`homenode.transform`, `homenode.split` and `homenode transform`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn
from homenode.cli.transform import _EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Outcome


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
def test_every_transform_has_a_command_with_help(
    homenode: Callable[..., Outcome], kind: str
) -> None:
    shown = homenode("transform", kind, "--help")
    assert shown.code == 0
    row = next(row for row in hn.table("transforms") if row["name"] == kind)
    assert all(f"--{parameter['name']}" in shown.out for parameter in row["parameters"])
    assert _EXAMPLES[kind][0] in shown.out


def test_the_command_writes_and_reports(
    homenode: Callable[..., Outcome], trace: hn.Trace, tmp_path: Path
) -> None:
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
    homenode: Callable[..., Outcome],
    trace: hn.Trace,
    tmp_path: Path,
    words: list[str],
    said: str,
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
    assert record.startswith("transform realign page-size=1024 window=500 (homenode ")
    assert shared.checksum in record
    costs = [
        hn.simulate(trace, "markatos", "inv", 1024).rows[0]["mcpr"] for trace in (shared, apart)
    ]
    assert costs[1] == 1 < costs[0]


def test_realignment_reports_what_it_did(homenode: Callable[..., Outcome], tmp_path: Path) -> None:
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
