"""`homenode.tlb`, `homenode tlb` and `homenode list tlbs`."""

import json
from pathlib import Path

import pytest

import homenode as hn
from homenode.engines.tlb import configuration
from support.command import Command

_SIX = ["ace", "68040", "68851", "88200", "68030", "r4000"]


def test_the_six_designs_are_listed(homenode: Command) -> None:
    assert [row["name"] for row in hn.table("tlbs")] == _SIX
    shown = homenode("list", "tlbs")
    assert shown.code == 0
    assert "MIPS R4000: 48 entries of two neighbouring pages" in shown.out


def test_misses_fall_with_page_size_and_entries(trace: hn.Trace) -> None:
    result = hn.tlb(trace, _SIX, "128-8192")
    frame = result.to_pandas()
    assert list(frame["tlb"].unique()) == _SIX
    assert len(frame) == len(result) == 6 * 7
    rates = frame.pivot_table(index="page_size", columns="tlb", values="miss_rate")
    assert rates["68851"].is_monotonic_decreasing
    assert (rates["68851"] <= rates["88200"]).all()
    assert (rates["88200"] <= rates["68030"]).all()
    assert result.to_arrow().num_rows == 42
    assert result.provenance["trace_checksum"] == trace.checksum


def test_figures_for_papers(trace: hn.Trace, tmp_path: Path) -> None:
    figure = hn.tlb(trace, "ace,r4000", "128-8192").plot()
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["ace", "r4000"]
    figure.savefig(tmp_path / "figure.svg")
    empty = hn.Trace.from_numpy(thread=[], kind=[], address=[])
    with pytest.raises(hn.ConfigError, match="no miss to draw"):
        hn.tlb(empty, "ace", 64).plot()


def test_paired_pages_are_pages_twice_as_large(trace: hn.Trace) -> None:
    paired = hn.tlb(trace, "entries=8,paired=yes", 512).rows[0]
    large = hn.tlb(trace, "entries=8", 1024).rows[0]
    assert paired["misses"] == large["misses"] > 0


def test_the_mean_cost_is_corrected(trace: hn.Trace) -> None:
    rows = hn.tlb(trace, "ace,68040", [128, 4096], machine="numa").rows
    simulated = hn.simulate(trace, "numa", "optimal", [128, 4096]).rows
    for row, plain in zip(rows[:2], simulated, strict=True):
        assert row["mcpr"] == plain["mcpr"]
        assert row["corrected_mcpr"] == pytest.approx(row["mcpr"] + 2.5 * row["miss_rate"])
    assert rows[2]["corrected_mcpr"] is None


def test_the_command_prints_a_table(homenode: Command, trace: hn.Trace) -> None:
    done = homenode("tlb", trace.path)
    assert done.code == 0
    assert "TLB misses per reference, 4 processors" in done.out
    assert "8 KB" in done.out
    assert all(name in done.out for name in _SIX)
    done = homenode("tlb", trace.path, "--mcpr", "--tlb", "ace,68040", "--page-size", "128")
    assert "MCPR of optimal on numa" in done.out
    assert "without misses" in done.out
    assert "say it, as in 68040:cost=2.5" in done.err


def test_the_command_prints_json_and_csv(
    homenode: Command, trace: hn.Trace, tmp_path: Path
) -> None:
    line = ("tlb", trace.path, "--tlb", "entries=4,ways=2,r4000:cost=1", "--page-size", "512,1K")
    rows = json.loads(homenode(*line, "--json").out)
    assert rows == hn.tlb(trace, ["entries=4,ways=2", "r4000:cost=1"], [512, 1024]).rows
    assert homenode(*line, "--csv", tmp_path / "out.csv").code == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tlb", "vax"], "unknown TLB"),
        (["--tlb", "entries=48,ways=4"], "must be a power of two"),
        (["--page-size", "100"], "100 is not a power of two"),
        (["--machine", "numa"], "give --mcpr as well"),
        (["--mcpr", "--policy", "best"], "unknown policy"),
    ],
)
def test_mistakes_are_explained(
    homenode: Command, trace: hn.Trace, words: list[str], said: str
) -> None:
    done = homenode("tlb", trace.path, *words)
    assert done.code == 2
    assert said in done.err


def test_options_are_checked() -> None:
    for wrong, said in (
        ({"processors": 0}, "processors: 0: expected"),
        ({"private": "local"}, "expected one of exclude, include"),
        ({"proccessors": 1}, "no option proccessors"),
    ):
        with pytest.raises(hn.ConfigError, match=said):
            configuration("ace", 64, **wrong)  # type: ignore[arg-type]


def test_an_empty_trace_has_no_rate(homenode: Command, tmp_path: Path) -> None:
    hn.Trace.from_numpy(thread=[], kind=[], address=[], path=tmp_path / "none.hnt")
    done = homenode("tlb", tmp_path / "none.hnt", "--mcpr", "--tlb", "ace")
    assert done.code == 0
    assert "-" in done.out
