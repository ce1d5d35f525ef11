"""The study of Markatos and Chronaki: its lookups, results and layouts."""

from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest

from homenode_studies import studies
from homenode_studies.studies import charts
from homenode_studies.studies.claims import find
from homenode_studies.studies.entry import StudyResult
from homenode_studies.studies.markatos import claims_conclusions, claims_protocols, layout, points
from homenode_studies.studies.markatos import measures as m
from homenode_studies.studies.markatos.claims import CLAIMS
from homenode_studies.studies.markatos.claims_alignment import mostly_below
from homenode_studies.studies.markatos.costs import PROGRAMS, Costs, printed_rows, theirs
from homenode_studies.studies.tables import Evidence, Missing

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    return studies.study("markatos", quick=True, traces=tmp_path_factory.mktemp("traces"))


def _points(policy: str, costs: dict[int, float], program: str = "FFT") -> list[dict[str, Any]]:
    return [
        {"program": program, "policy": policy, "page": page, "normalised": cost}
        for page, cost in costs.items()
    ]


def test_all_printed_rows_are_looked_up() -> None:
    assert len(printed_rows()) == 168
    # Table 2: 4.989 + 0 + 8.445 + 163.629 + 1.009 cycles; table 10, INV.DEL with 16 KB.
    assert theirs().cost("FFT", "upt", 12) == pytest.approx(178.072 / 5)
    assert theirs().cost("FFT", "inv.del", 14, realigned=True) == pytest.approx(14.719 / 5)
    assert theirs().pages("WEATHER", "upt") == [8, 10, 12, 14, 16]
    with pytest.raises(Missing, match="needs WEATHER under upt with pages of 64 bytes"):
        theirs().cost("WEATHER", "upt", 6)
    with pytest.raises(Missing, match="needs GAUSS"):
        theirs().only("GAUSS")


def test_measures() -> None:
    costs = Costs(
        [
            *_points("upt", {8: 4.0, 10: 3.0, 12: 8.0}),
            *_points("inv", {8: 2.0, 10: 8.0, 12: 32.0}),
            *_points("all-remote", {8: 10.0}),
        ],
        _points("inv", {12: 4.0}),
    )
    assert m.updates_better(costs) == pytest.approx(2 / 3)
    assert m.invalidates_better(costs) == ["FFT 256 B inv"]
    assert m.invalidates_better(costs, least=9) == []
    assert m.exponent(costs, "inv", 8, 12) == {"FFT": 1.0}
    assert m.falls(costs, "upt") == ["FFT"]
    assert m.largest_gain(costs, "inv") == {"FFT": 8.0}
    assert m.above_line(costs, ("upt", "inv"), False, 1.0) == pytest.approx(1 / 6)
    assert m.winners(costs, ("upt", "inv"), False) == {"FFT": "inv"}
    assert m.best_page(costs, "upt", False) == {"FFT": 1024.0}
    assert m.typical([1.0, 100.0]) == pytest.approx(10)
    assert costs.line("FFT") == 10


def _evidence(*plain: dict[str, Any], moved: Sequence[dict[str, Any]] = ()) -> Evidence:
    """Points as they are and re-aligned; there is always one of the latter."""
    return Evidence({"points": plain, "points-realigned": moved or _points("upt", {8: 1.0})})


def _verdict(statement: str, evidence: Evidence) -> str:
    (claim,) = (claim for claim in CLAIMS if statement in claim.statement)
    return find(claim, evidence).verdict


def test_a_policy_that_is_a_little_better_is_not_much_better() -> None:
    plain = [*_points("upt", {8: 10.0}), *_points("inv", {8: 10.0})]
    for cost, counters, alignment in ((8.0, "holds", "holds"), (9.5, "differs", "differs")):
        counted = [*_points("upt.del", {8: cost}), *_points("inv.del", {8: cost})]
        assert _verdict("with the hardware counter", _evidence(*plain, *counted)) == counters
        moved = [row for policy in m.PLAIN for row in _points(policy, {8: cost})]
        assert _verdict("all policies remarkably", _evidence(*plain, moved=moved)) == alignment


def test_close_is_within_a_tenth() -> None:
    for cost, verdict in ((9.2, "holds"), (8.5, "differs")):
        rows = [*_points("inv.freez", {14: cost}), *_points("all-remote", {14: 10.0})]
        assert _verdict("costs about as much as all data remote", _evidence(*rows)) == verdict


def test_freezing_shows_the_overhead_of_replication_by_what_it_takes_away() -> None:
    frozen = _points("inv.freez", {8: 10.0, 16: 10.0})
    # UPT has the page sizes that are looked at.
    upt = _points("upt", {8: 1.0, 16: 1.0})
    for highest, verdict in ((50.0, "holds"), (15.0, "differs")):
        rows = [*frozen, *upt, *_points("inv", {8: 10.0, 16: highest})]
        assert _verdict("excessive replication is the main", _evidence(*rows)) == verdict


def test_a_policy_is_between_the_lines_if_most_of_its_pages_are() -> None:
    below = [row for p in ("upt", "upt.del") for row in _points(p, {8: 2.0, 10: 3.0, 12: 30.0})]
    above = _points("inv", {6: 1.0, 7: 1.0, 8: 2.0, 10: 30.0, 12: 30.0})
    costs = Costs(_points("all-remote", {8: 10.0}), [*below, *above])
    assert mostly_below(costs, ("upt", "upt.del", "inv", "inv.del")) == pytest.approx(2 / 3)


def test_the_printed_numbers_are_not_corrected_before_a_rule_is_tried_on_them() -> None:
    (claim,) = (claim for claim in CLAIMS if "almost always better" in claim.statement)
    assert claim.own
    assert claim.own(Evidence({})) == pytest.approx(0.905, abs=0.001)
    assert claim.judge
    assert claim.judge(claim.own(Evidence({})))


def test_what_the_printed_tables_say_of_themselves() -> None:
    assert all(power > 0.9 for power in m.exponent(theirs(), "inv", 12).values())
    assert m.largest_gain(theirs(), "inv")["FFT"] == pytest.approx(57.8, rel=0.01)
    factors = m.factors(theirs())
    assert max(factors, key=factors.__getitem__) == "re-alignment"
    assert len(claims_conclusions.flat_multicasts()) == 10
    useful = next(c for c in claims_conclusions.CLAIMS if "always useful" in c.statement)
    assert useful.own is not None
    assert useful.own(Evidence({}))
    assert find(useful, Evidence({})).own.startswith("FFT")
    packet = claims_conclusions.update_packet(theirs())
    assert packet["SPEECH"] == pytest.approx(2.1, abs=0.1)
    assert claims_protocols.dominated(theirs()) == 1


def test_tables_and_figures_have_the_printed_points_beside_ours(small: StudyResult) -> None:
    tables, figures = small.tables, small.figures
    assert {f"table-{number}" for number in range(1, 14)} <= set(tables)
    assert set(figures) == {f"figure-{number}" for number in range(1, 13)}
    rows = sum(len(tables[f"table-{number}"]) for number in range(2, 14))
    assert rows == 3 * 168
    ours, paper, ratio = tables["table-2"].iloc[:3].to_dict("records")
    assert [row["whose"] for row in (ours, paper, ratio)] == ["ours", "paper", "ratio"]
    assert paper["multicast"] == 34.955
    assert ratio["multicast"] == pytest.approx(ours["multicast"] / 34.955)
    assert (tables["table-1"]["ours"] == tables["table-1"]["paper"]).all()
    assert list(tables["agreement"]["table"]) == list(range(2, 14))
    figure = next(f for f in small.products.figures if f.name == "figure-9")
    printed = [row for row in figure.rows if row.get("printed")]
    assert len(printed) == 20
    assert str(charts.draw(figure)).count(" as printed at ") == 20


def test_points_add_up(small: StudyResult) -> None:
    for name in ("points", "points-realigned"):
        for row in small.products.extra[name]:
            parts = ("local", "remote", "replication", "multicast", "os")
            assert sum(row[part] for part in parts) == pytest.approx(row["total"])
            assert row["total"] / 5 == pytest.approx(row["normalised"])


def test_re_alignment_is_reported(small: StudyResult) -> None:
    rows = small.tables["realignment"]
    assert len(rows) == 4 * 11
    assert (rows["after"] <= rows["falsely shared before"]).all()
    moved = small.tables["moved-objects"]
    assert set(moved["program"]) == {"FFT", "SIMPLE", "SPEECH", "WEATHER"}
    assert any("fft-in-place.c" in name for name in moved["object"])


def test_advice_stands_beside_re_alignment(small: StudyResult) -> None:
    rows = small.tables["advice"]
    assert list(rows["program"]) == [name for name in PROGRAMS for _ in ("upt", "inv")]
    assert (rows["objects as advised"] <= rows["as it is"] * (1 + 1e-9)).all()
    speech = rows[(rows["program"] == "SPEECH") & (rows["policy"] == "inv")].iloc[0]
    assert speech["pieces of advice"] > 0
    assert speech["objects as advised"] < speech["as it is"]
    assert "speech.c" in speech["first piece"]


def test_the_reading_of_freezing_is_the_one_nearest_to_the_paper_s_words(
    small: StudyResult,
) -> None:
    rows = small.tables["freezing-readings"].set_index("reading")
    assert len(rows) == 8
    assert rows.loc[points.FREEZING, "off by"] == rows["off by"].min()
    # The study's own points use that interpretation.
    own = {
        row["page"]: row["normalised"]
        for row in small.products.extra["points"]
        if (row["program"], row["policy"]) == ("SPEECH", "inv.freez")
    }
    line = {
        row["page"]: row["normalised"]
        for row in small.products.extra["points"]
        if (row["program"], row["policy"]) == ("SPEECH", "all-remote")
    }
    mean = geometric_mean(own[page] / line[page] for page in (8, 10, 12, 14, 16))
    assert mean == pytest.approx(rows.loc[points.FREEZING, "SPEECH"])


def test_one_program_alone(tmp_path: Path) -> None:
    found = studies.study("markatos", quick=True, traces=tmp_path, programs=["SPEECH"])
    assert {"table-4", "table-8", "table-12"} <= set(found.tables)
    assert "table-2" not in found.tables
    verdicts = {finding.claim.statement: finding for finding in found.findings}
    said = verdicts["UPT.DEL costs half of all-remote in SIMPLE and WEATHER"]
    assert (said.verdict, said.note) == (
        "not testable",
        "needs SIMPLE, WEATHER, which this run does not have",
    )


def test_ratios_of_what_is_not_there() -> None:
    assert layout.ratio(1.0, 0.0) is None
    assert layout.ratio(None, 2.0) is None
    assert layout.ratio(1.0, 2.0) == 0.5
