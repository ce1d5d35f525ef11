"""The optimum in detail: from Python and from the command line."""

import csv
import json
from pathlib import Path

import pytest

import homenode as hn
from support.command import Command


def test_json_is_what_the_function_returns(trace: hn.Trace, homenode: Command) -> None:
    options = ("--machine", "numa,ace", "--block-size", "64,1K", "--certify", "--curve", "R=9..900")
    shown = homenode("optimal", trace.path, *options, "--json")
    assert shown.code == 0
    found = hn.optimal(trace, "numa,ace", "64,1K", certify=True, curve="R=9..900")
    assert json.loads(shown.out) == found.rows
    assert found.certified
    assert [(row["machine"], row["block_size"]) for row in found] == [
        ("numa", 64),
        ("numa", 1024),
        ("ace", 64),
        ("ace", 1024),
    ]
    simulated = hn.simulate(trace, "numa,ace", "optimal", "64,1K")
    assert [row["mcpr"] for row in found] == [row["mcpr"] for row in simulated]


def test_curves_are_a_table_that_falls_nowhere_and_flattens(trace: hn.Trace) -> None:
    curves = hn.optimal(trace, "numa", 256, curve="r=2..3000").curves()
    assert len(curves) > 3
    assert (curves["cost_to"] >= curves["cost_from"]).all()
    assert (curves["slope"].diff().dropna() < 0).all()
    assert curves["slope"].tolist() == curves["remote"].tolist()
    assert list(curves["from"][1:]) == list(curves["to"][:-1])


def test_text_has_costs_moves_curve_and_certificate(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("optimal", trace.path, "--curve", "R=40..9000", "--certify")
    assert shown.code == 0
    assert "MCPR" in shown.out
    assert "Moves per block" in shown.out
    assert "Optimal cost against R: numa, 4 KB blocks" in shown.out
    assert "certified" in shown.out
    plain = homenode("optimal", trace.path, "--no-replication")
    assert "optimal-no-replication" in plain.out
    assert "Optimal cost" not in plain.out


@pytest.mark.parametrize("name", ["where.csv", "where.jsonl"])
def test_the_placement_is_a_file_that_appears_when_complete(
    name: str, trace: hn.Trace, tmp_path: Path, homenode: Command
) -> None:
    path = tmp_path / name
    shown = homenode("optimal", trace.path, "--block-size", "64", "--placement", path)
    assert shown.code == 0
    text = path.read_text().splitlines()
    rows = list(csv.DictReader(text)) if name.endswith(".csv") else list(map(json.loads, text))
    assert len(rows) > 40
    assert {row["policy"] for row in rows} == {"optimal"}
    assert all(int(row["block_size"]) == 64 for row in rows)
    assert not list(tmp_path.glob("*.partial"))


def test_impossible_options_are_refused_and_leave_no_file(
    trace: hn.Trace, tmp_path: Path, homenode: Command
) -> None:
    out = tmp_path / "p.csv"
    bad = homenode("optimal", trace.path, "--curve", "q=1..2", "--placement", out)
    assert bad.code == 2
    assert "none of r, R, g, G" in bad.err
    assert not list(tmp_path.glob("p.csv*"))
    assert homenode("optimal", trace.path, "--placement", trace.path).code == 2
    assert homenode("optimal", trace.path, "--placement", tmp_path / "no" / "p").code == 2
    with pytest.raises(hn.ConfigError, match="there is no option"):
        hn.optimal(trace, "numa", 64, block=3)  # type: ignore[call-arg]


def test_a_failed_certificate_is_a_finding(
    trace: hn.Trace, homenode: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hn.optimal(trace, "numa", 64, certify=True)
    certificate = {"blocks": 0, "references": 0, "failed": 1, "faults": ["block 0x0: wrong"]}
    found.rows[0]["certificate"] = certificate
    monkeypatch.setattr("homenode.engines.optimal.optimal", lambda *_, **__: found)
    shown = homenode("optimal", trace.path, "--certify")
    assert shown.code == 1
    assert "block 0x0: wrong" in shown.out
