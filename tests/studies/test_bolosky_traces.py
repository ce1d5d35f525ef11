"""Our traces beside the thesis's, and what counts as private in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.studies import programs
from homenode.studies.bolosky import THESIS, WORDS_AT_SAME_PACE, ch2_traces
from homenode.studies.context import Matrix, StudyContext

_CHOSEN = {"e-fft", "water"}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> StudyContext:
    """A program with private memory in the thesis, and one without; both have some in ours."""
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


def test_the_page_has_the_programs_as_the_studies_run_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "workloads" / "index.md").read_text("utf-8")
    text = page.partition("## In words, at the sizes of the studies")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    rows = {row[0]: row for row in cells if len(row) == 7}
    known = programs.available(THESIS, quick=False)
    assert {p.name: f"`{' '.join(p.arguments)}`" for p in known}.items() <= {
        name: row[1] for name, row in rows.items()
    }.items()
    assert all(ch2_traces.within(float(rows[p.name][3])) for p in known)
