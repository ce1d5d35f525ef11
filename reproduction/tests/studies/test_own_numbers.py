"""The rules of all ledgers applied to the sources' own numbers, and the verdicts."""

from typing import Any

import pytest

from homenode_studies import studies
from homenode_studies.studies.bolosky import ch4_properties
from homenode_studies.studies.bolosky.printed import thesis
from homenode_studies.studies.claims import KINDS, Claim, counts_by_kind, find
from homenode_studies.studies.entry import count_summary
from homenode_studies.studies.foglia.printed import paper
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Missing

_ALL = [(entry.name, claim) for entry in studies.TABLE for claim in entry.claims]


def _claim(**words: Any) -> Claim:
    usual = {"compute": lambda _: 1.0, "judge": lambda value: value < 2}
    return Claim("1", "it is below two", "below two", **(usual | words))


def test_a_source_that_fails_its_own_rule_is_neither_right_nor_wrong() -> None:
    found = find(_claim(own=lambda _: 3.0, contradicted="table 1 has 3"), Evidence({}))
    assert (found.verdict, found.ours, found.own) == ("source", "1", "3")
    assert found.note == "table 1 has 3"
    kept = find(_claim(own=lambda _: 1.5), Evidence({}))
    assert (kept.verdict, kept.own) == ("holds", "1.5")


def test_what_the_source_does_not_print_is_judged_by_our_runs() -> None:
    def illegible(_: Evidence) -> float:
        raise Missing("not legible")

    found = find(_claim(own=illegible), Evidence({}))
    assert (found.verdict, found.own) == ("holds", "")


def test_a_printed_claim_that_fails_is_the_source_s_own_contradiction() -> None:
    claim = _claim(compute=lambda _: 3.0, why="tables disagree", kind="printed")
    found = find(claim, Evidence({}))
    assert (found.verdict, found.note) == ("source", "tables disagree")


def test_a_rule_changed_after_a_run_says_so() -> None:
    assert "rule set after a full run" in find(_claim(post_hoc="it was one"), Evidence({})).note


def test_kinds_are_counted_apart() -> None:
    findings = [find(_claim(kind=kind), Evidence({})) for kind in (*KINDS, "identity")]
    found = counts_by_kind(findings)
    assert {kind: each["holds"] for kind, each in found.items()} == {
        "empirical": 1,
        "printed": 1,
        "identity": 2,
    }
    assert count_summary(found["identity"]).startswith("2 hold, 0 differ")


@pytest.mark.parametrize(("name", "claim"), _ALL, ids=lambda value: getattr(value, "statement", ""))
def test_a_contradiction_is_named_where_and_only_where_a_rule_fails(
    name: str, claim: Claim
) -> None:
    if claim.own is None or claim.judge is None:
        assert not claim.contradicted
        return
    source = Evidence({}, published(studies.find(name).publication.name))
    try:
        own = claim.own(source)
    except Missing:
        assert not claim.contradicted
        return
    assert claim.judge(own) == (not claim.contradicted)


def test_no_claim_is_in_two_ledgers() -> None:
    said = [(name.partition("-")[0], claim.statement) for name, claim in _ALL]
    assert len(said) == len(set(said))


def test_the_thesis_s_tables_are_read_as_our_results_are() -> None:
    evidence = thesis()
    numa = evidence.points()
    assert numa.mcpr("sorbyr", "numa", "optimal", 128) == 1.18
    assert numa.style("p-life") == "presto"
    assert {row["machine"] for row in evidence.rows("changes")} == {
        "ace",
        "butterfly",
        "numa",
        "cc",
    }
    largest = max(evidence.rows("changes"), key=lambda row: row["change"])
    assert (largest["program"], largest["change"]) == ("cholesky", 0.11)


def test_foglia_s_tables_are_read_as_our_results_are() -> None:
    own = {
        claim.statement: claim.own(Evidence({}))
        for claim in studies.find("foglia").claims
        if claim.own is not None and claim.section in ("4", "5.1.1") and "35 %" in claim.statement
    }
    # The text has 35, table 5 has 38.
    assert own == {"The bus is in use for 35 % with 2 MB caches": 0.38}
    assert len({row["workload"] for row in paper().rows("table-3")}) == 3
    with pytest.raises(Missing, match="misses_cold"):
        paper().rows("points")[0]["misses_cold"]


def test_properties_of_optimal_placements_are_found_to_fail_where_they_do() -> None:
    assert all(row["exceptions"] == 0 for row in ch4_properties.tried())
    # If a block may not move to its references, staying costs four each.
    trace = [(0, "W"), *[(1, "W")] * 6]
    places = [[frozenset([p]) for p in range(3)]] * len(trace)
    free = ch4_properties.cheapest(trace, places, 3, lambda *_: True)
    stays = ch4_properties.cheapest(trace, places, 3, lambda before, after, _: before == after)
    assert (free, stays) == (4 + 6, 4 + 6)
    trace = [*[(0, "W")] * 6, *[(1, "W")] * 6]
    places = [places[0]] * len(trace)
    free = ch4_properties.cheapest(trace, places, 3, lambda *_: True)
    stays = ch4_properties.cheapest(trace, places, 3, lambda before, after, _: before == after)
    assert (free, stays) == (6 + 3 + 6, 6 + 24)
