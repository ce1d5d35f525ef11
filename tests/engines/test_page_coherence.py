"""Page-coherence machines from Python and on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.engines.placement import policies_for
from homenode.report import build

_POLICIES = ["upt", "inv", "inv.freez", "upt.del", "inv.del", "inv.freez.del"]


@pytest.fixture
def small(tmp_path: Path) -> hn.Trace:
    """0 writes a page that 1 and 2 read; 0 updates it; 3 writes without a copy; a private read."""
    made = hn.Trace.from_numpy(
        thread=[0, 1, 2, 0, 3, 1],
        kind=["W", "R", "R", "W", "W", "R"],
        address=[4096, 4096, 4100, 4096, 4104, 8192],
        private=[False] * 5 + [True],
    )
    path = tmp_path / "small.hnt"
    path.write_bytes(made.path.read_bytes())
    return hn.Trace.open(path)


def test_columns_of_the_tables(small: hn.Trace) -> None:
    row = hn.simulate(small, "markatos", "upt", 1024).rows[0]
    # Two replications of 90 + 4 * 256 cycles, four updates and a remote write of 10.
    assert row["references"] == 5
    assert row["cost"]["replication"] == pytest.approx(2 * 1114 / 5)
    assert row["latency"]["replication"] == pytest.approx(2 * 1114 / 5)
    assert row["latency"]["multicast"] == pytest.approx(50 / 5)
    assert row["packets"] == {"replication": 512, "remote": 1, "multicast": 4}
    assert row["mls"] == 2
    assert row["mcpr"] == pytest.approx(row["latency"]["total"] / 5)


def test_private_references_follow_the_machine(small: hn.Trace) -> None:
    result = hn.simulate(small, ["markatos", "numa"], "inv", 64)
    assert [row["references"] for row in result] == [5, 6]
    assert result.provenance["private"] == ["exclude", "local"]
    assert hn.simulate(small, "markatos", "inv", 64, private="local").rows[0]["references"] == 6


def test_flat_columns_include_those_of_the_tables(small: hn.Trace) -> None:
    columns = hn.simulate(small, ["markatos", "numa"], "inv", 64).columns()
    assert columns["latency_total"][1] is None
    assert columns["mls"] == [None, None]
    assert columns["packets_replication"][0] == 32
    assert {"traffic_remote", "cost_os", "cost_remote_moves"} <= set(columns)


def test_each_kind_of_machine_has_its_policies() -> None:
    assert policies_for(["markatos"]) == [*_POLICIES, "all-local", "all-remote"]
    assert not set(policies_for(["numa"])) & set(_POLICIES)
    both = policies_for(["numa", "markatos"])
    static = ["first-touch", "round-robin", "random"]
    assert both == [*static, "inv", "inv.freez", "inv.del", "inv.freez.del"]


@pytest.mark.parametrize(
    ("machine", "policy", "remedy"),
    [
        ("markatos", "optimal", "r and R cannot be derived; choose upt, inv"),
        ("markatos", "delay:n=3", "or a --machine with r and R"),
        ("numa", "upt", "choose markatos or another machine with latencies"),
        ("markatos", "upt.del:counter=0", "words/8, bytes/8, or a whole number from 1"),
    ],
)
def test_what_does_not_fit_has_a_remedy(
    small: hn.Trace, machine: str, policy: str, remedy: str
) -> None:
    with pytest.raises(hn.ConfigError, match=r"expected|cannot run") as caught:
        hn.simulate(small, machine, policy, 64)
    assert remedy in str(caught.value)


def test_the_command_line_prints_tables_and_json(
    small: hn.Trace, homenode: Callable[..., Any]
) -> None:
    def run(*words: str) -> str:
        result = homenode("simulate", small.path, *words)
        assert result.code == 0, result.err
        return str(result.out)

    table = run("--machine", "markatos", "--block-size", "1K")
    assert "cycles and packets a reference" in table
    assert all(name in table for name in (*_POLICIES, "all-remote", "mls"))
    assert "16 KB" in run("--machine", "markatos", "--block-size", "64,1024,16384")
    words = ("--machine", "markatos", "--policy", "upt,inv,inv.del:counter=words/8,count=reads")
    rows = json.loads(run(*words, "--block-size", "64,1024,16384", "--json"))
    assert len(rows) == 9
    assert rows[0]["counts"]["update_packets"] == 4
    assert rows[0]["counts"]["multicast_writes"] == 2


def test_the_list_and_the_report_show_a_machine_without_r(
    small: hn.Trace, homenode: Callable[..., Any]
) -> None:
    listed = homenode("list", "machines")
    assert listed.code == 0
    assert "markatos" in listed.out
    result = hn.simulate(small, ["markatos"], policies_for(["markatos"]), [64, 1024])
    study = build.study(small, result)
    assert study.point is not None
    assert study.point["policies"] != ["all-local"], "a lower bound is no policy"
    html = build.render([study], title="t", command="c", configuration=result.configuration)
    assert "Cycles of each event" in html
    assert "entries into the operating system" in html
