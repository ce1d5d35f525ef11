"""Homenode's traces beside the thesis's, and which memory counts as private in them."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode_studies.studies import programs
from homenode_studies.studies.bolosky import (
    THESIS,
    WORDS_AT_SAME_PACE,
    ch2_traces,
    ch3_measures,
    chip_moves,
)
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.tables import Evidence

_CHOSEN = {"e-fft", "water", "chip"}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> StudyContext:
    """A program with private memory in the thesis, and one without; both have some here.

    And chip.
    """
    known = [p for p in programs.available(THESIS, quick=True) if p.name in _CHOSEN]
    return StudyContext(
        THESIS,
        tmp_path_factory.mktemp("traces"),
        quick=True,
        programs=known,
        form=WORDS_AT_SAME_PACE,
    )


def _made(name: str, millions: float, private: float = 0.0) -> dict[str, Any]:
    return {
        "program": name,
        "style": "c-threads",
        "references_millions": millions,
        "private_millions": private,
        "busiest": 0.2,
    }


def test_a_row_says_how_far_it_is_from_the_thesis() -> None:
    traces = [_made("bsort", 23.6 / 2), _made("sorbyr", 300), _made("p-qsort", 30, 3.0)]
    managed = [{"program": row["program"], "pages": 640} for row in traces]
    bsort, sorbyr, quicksort = ch2_traces.beside(traces, managed).rows
    assert (bsort["ratio"], bsort["pages ratio"], bsort["within"]) == (0.5, 2.0, "yes")
    assert sorbyr["ratio"] == pytest.approx(300 / 104)
    assert sorbyr["within"] == "no"
    assert quicksort["pages ratio"] is None
    assert quicksort["private"] == pytest.approx(3 / 33)
    assert quicksort["private thesis"] == pytest.approx(3.19 / 20.69)


def test_pages_may_be_out_of_range_as_well() -> None:
    row = ch2_traces.beside([_made("gauss", 270)], [{"program": "gauss", "pages": 100}]).rows[0]
    assert row["ratio"] == 1
    assert row["within"] == "no"


def test_private_references_are_those_of_the_thesis_only(context: StudyContext) -> None:
    private = {row["program"]: row["private_millions"] for row in ch2_traces.described(context)}
    assert private["e-fft"] > 0
    assert private["water"] == 0
    water = next(p for p in context.programs if p.name == "water")
    assert context.trace(water).info["private"] > 0


def test_engines_share_what_is_private_in_our_trace_only(context: StudyContext) -> None:
    trace = context.trace(next(p for p in context.programs if p.name == "water"))
    rows = context.simulate(Matrix(["ace"], ["all-global"], [4096]), ["water"])
    assert rows[0]["local"] == 0
    assert hn.simulate(trace, "ace", "all-global", 4096).rows[0]["counts"]["local_reads"] > 0


def test_moves_of_chip_are_counted_from_what_it_writes(context: StudyContext) -> None:
    counted = chip_moves.counted(context)
    assert [row["program"] for row in counted] == ["chip"]
    made, considered = counted[0]["made"], counted[0]["considered"]
    # Six writes a move, without remainder; 60 rounds, in which none of 36 places is in two pairs.
    assert made == int(made)
    assert 0 < made < considered <= 60 * 18
    assert ch3_measures.chip_acceptance(Evidence({"chip-moves": counted})) == made / considered


@pytest.mark.parametrize(("small", "expected"), [(1.5, 0.75), (1.9, 0.6875), (2.5, 0.5)])
def test_what_smaller_blocks_save_of_what_can_be_saved(small: float, expected: float) -> None:
    costs = {4: 3.0, 64: small, 512: 2.0, 4096: 3.0}
    rows = [("optimal", size, cost) for size, cost in costs.items()]
    rows += [("ace", 4096, 3.5 if small < 2 else 4.0)]
    evidence = Evidence(
        {
            "outcomes": [
                {
                    "program": "gauss",
                    "style": "c-threads",
                    "machine": "ace",
                    "policy": policy,
                    "block_size": size,
                    "mcpr": cost,
                }
                for policy, size, cost in rows
            ]
        }
    )
    found = ch3_measures.falsely_shared(evidence)
    assert found == {"gauss": pytest.approx(expected)}


def test_the_page_has_the_programs_as_the_studies_run_them() -> None:
    page = (Path(__file__).parents[3] / "docs" / "workloads" / "index.md").read_text("utf-8")
    text = page.partition("## In words, at the sizes of the studies")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    rows = {row[0]: row for row in cells if len(row) == 7}
    known = programs.available(THESIS, quick=False)
    assert {p.name: f"`{' '.join(p.arguments)}`" for p in known}.items() <= {
        name: row[1] for name, row in rows.items()
    }.items()
    assert all(ch2_traces.within(float(rows[p.name][3])) for p in known)
