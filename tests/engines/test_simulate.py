"""`homenode.simulate` and `homenode.Result`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import homenode as hn
from homenode.engines.placement import configuration, policies_for
from support.outcomes import POLICIES, matrix, outcome

_MACHINES = ("numa", "cc+", "dsm")


@pytest.fixture
def result(trace: hn.Trace) -> hn.Result:
    return hn.simulate(trace, _MACHINES, policies_for(_MACHINES), [64, 1024])


def test_every_combination_comes_out_in_order(result: hn.Result) -> None:
    policies = policies_for(_MACHINES)
    found = [(row["machine"], row["policy"], row["block_size"]) for row in result]
    assert found == [(m, p, b) for m in _MACHINES for p in policies for b in (64, 1024)]


def test_no_policy_beats_the_optimum(result: hn.Result) -> None:
    assert all(ratio is None or ratio >= 1 for ratio in result.over_optimum())
    assert result.over_optimum().count(1.0) >= len(_MACHINES) * 2


def test_costs_are_counts_times_prices(trace: hn.Trace) -> None:
    row = hn.simulate(trace, "prices:r=15,R=59", "ace", 64).rows[0]
    counts, cost = row["counts"], row["cost"]
    assert cost["local"] == counts["local_reads"] + counts["local_writes"]
    assert cost["remote"] == 15 * (counts["remote_reads"] + counts["remote_writes"])
    assert cost["remote_moves"] == 59 * counts["remote_moves"]
    assert row["total_cost"] == sum(cost.values())
    assert row["mcpr"] == row["total_cost"] / row["accesses"]
    assert row["references"] == row["accesses"] == trace.references


def test_the_number_of_cores_does_not_matter(trace: hn.Trace) -> None:
    runs = [hn.simulate(trace, "numa", "optimal,ace", "64-1024", threads=n) for n in (1, 2, 8)]
    assert runs[0].to_json() == runs[1].to_json() == runs[2].to_json()


def test_results_carry_what_they_follow_from(result: hn.Result, trace: hn.Trace) -> None:
    assert result.provenance["trace_checksum"] == trace.checksum
    assert result.provenance["version"] == hn.__version__
    assert "ace:limit=4" in result.provenance["policies"]
    assert result.configuration["machines"] == list(_MACHINES)


def test_a_path_will_do_for_a_trace(trace: hn.Trace) -> None:
    assert len(hn.simulate(trace.path, "numa", "ace", 64)) == 1
    assert len(hn.simulate(str(trace.path), ["numa"], ["ace"], [64])) == 1


def test_private_references_can_be_left_out_or_shared() -> None:
    trace = hn.Trace.from_numpy(
        thread=[0, 1, 0], kind="W", address=[64, 64, 64], private=[True, False, False]
    )
    found = {
        private: hn.simulate(trace, "prices:r=15,R=59", "optimal", 64, private=private).rows[0]
        for private in ("local", "exclude", "shared")
    }
    assert {name: row["accesses"] for name, row in found.items()} == {
        "local": 3,
        "exclude": 2,
        "shared": 3,
    }
    assert found["local"]["total_cost"] == found["exclude"]["total_cost"] + 1


def test_synchronisation_can_be_counted() -> None:
    trace = hn.Trace.from_numpy(thread=[0, 1], kind="A", address=[64, 64], sync=[True, False])
    left_out = hn.simulate(trace, "numa", "ace", 64).rows[0]
    counted = hn.simulate(trace, "numa", "ace", 64, sync="include").rows[0]
    assert (left_out["accesses"], counted["accesses"]) == (1, 2)


@pytest.mark.parametrize(
    ("machines", "policies", "sizes", "options", "said"),
    [
        ([], "ace", 64, {}, "no machine given"),
        ("numa", [], 64, {}, "no policy given"),
        ("numa", "ace", [], {}, "no block size given"),
        ("numa", "ace", 65, {}, "65 is not a power of two"),
        ("numa", "ace", "64-", {}, "is not a number of bytes"),
        ("numa", "ace", 64, {"private": "perhaps"}, "expected one of local, exclude, shared"),
        ("numa", "ace", 64, {"sync": "perhaps"}, "expected one of exclude, include"),
        ("numa", "ace", 64, {"processors": 0}, "processors: 0: expected"),
        ("numa", "ace", 64, {"threads": 0}, "threads: 0: expected"),
    ],
)
def test_wrong_configurations_are_named(
    machines: Any, policies: Any, sizes: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(hn.ConfigError, match=said):
        configuration(machines, policies, sizes, **options)  # type: ignore[arg-type]


def test_misspelt_options_and_fractions_are_refused(trace: hn.Trace) -> None:
    for wrong in ({"procesors": 2}, {"processors": 2.5}, {"processors": "two"}):
        with pytest.raises(hn.ConfigError, match=r"no option procesors|expected a whole number"):
            hn.simulate(trace, "numa", "ace", 64, **wrong)  # type: ignore[arg-type]
    with pytest.raises(hn.ConfigError, match=r"block size 64\.5: expected a whole number"):
        hn.simulate(trace, "numa", "ace", [64.5])  # type: ignore[list-item]
    sized = hn.simulate(trace, "numa", "ace", np.int64(64), processors=np.int64(2))
    assert (sized.rows[0]["block_size"], sized.rows[0]["processors"]) == (64, 2)


def test_a_machine_with_global_memory_runs_what_it_can() -> None:
    assert "all-global" in policies_for(["ace"])
    assert "optimal" in policies_for(["ace"])
    assert set(policies_for(["ace", "numa"])) == set(policies_for(["ace"])) - {"all-global"}


def test_an_interrupt_ends_a_simulation(trace: hn.Trace) -> None:
    def interrupt(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hn.simulate(trace, "numa", policies_for(["numa"]), "4-64K", progress=interrupt)


def test_frames_have_a_column_for_every_number(result: hn.Result) -> None:
    frame = result.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(result)
    assert frame["mcpr"].tolist()[0] == result.rows[0]["mcpr"]
    assert {"local_reads", "cost_remote_moves", "total_cost", "block_size"} <= set(frame)
    assert result.to_arrow().column_names == list(frame)


def test_json_is_the_rows(result: hn.Result) -> None:
    assert json.loads(result.to_json()) == result.rows


def test_infinite_costs_are_missing_numbers(trace: hn.Trace) -> None:
    result = hn.simulate(trace, "dsm", "first-touch,optimal", 64)
    assert [row["mcpr"] is None for row in result] == [True, False]
    assert result.over_optimum() == [None, 1.0]
    assert result.to_arrow()["mcpr"].null_count == 1


def test_distances_are_to_the_optimum_at_the_same_point() -> None:
    rows = [outcome("optimal", 1000, block_size=64), outcome("optimal", 2000)]
    rows += [outcome("ace", 1500, block_size=64), outcome("ace", 3000), outcome("ace", None)]
    rows += [outcome("ace", 10, machine="cc")]
    assert hn.Result(rows).over_optimum() == [1, 1, 1.5, 1.5, None, None]


def test_figures_for_papers(tmp_path: Path) -> None:
    result = hn.Result(matrix(("numa", "dsm"), (64, 512, 4096)))
    figure = result.plot()
    assert [axes.get_title() for axes in figure.axes] == ["numa", "dsm"]
    labels = [line.get_label() for line in figure.axes[0].get_lines()]
    assert labels == list(POLICIES)
    for ending in ("png", "svg", "pdf"):
        figure.savefig(tmp_path / f"figure.{ending}")
    assert len(result.plot("dsm").axes) == 1
    with pytest.raises(hn.ConfigError, match="no outcome to draw"):
        result.plot("cray")
