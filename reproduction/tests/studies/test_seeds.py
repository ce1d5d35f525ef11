"""Claims judged by the results with several seeds."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode_studies import studies
from homenode_studies.studies.claims import Claim, find
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.draws import median
from homenode_studies.studies.entry import Products, Study, run_study
from homenode_studies.studies.foglia import PAPER
from homenode_studies.studies.foglia.runs import PAPERS, Setting
from homenode_studies.studies.programs import Program, available
from homenode_studies.studies.tables import Evidence, Missing
from homenode_studies.studies.writing import markdown


def _claim(**words: Any) -> Claim:
    usual = {"compute": _x, "judge": lambda value: value < 2, "why": "of its size"}
    return Claim("1", "it is below two", "below two", **(usual | words))


def _x(evidence: Evidence) -> float:
    return float(evidence.rows("x")[0]["x"])


def _found(*values: float, **words: Any) -> tuple[str, str, str]:
    first, *further = [Evidence({"x": [{"x": value}]}) for value in values]
    finding = find(_claim(**words), first, further)
    return finding.verdict, finding.ours, finding.note


def test_a_verdict_that_depends_on_the_seed_is_a_tie() -> None:
    assert _found(1, 1.5, 1.2) == ("holds", "1.2 (1 to 1.5)", "")
    assert _found(3, 2, 4) == ("differs", "3 (2 to 4)", "of its size")
    assert _found(1, 3, 1) == ("tie", "1 (1 to 3)", "holds with 2 of 3 seeds")
    assert _found(3, 3, 1) == ("tie", "3 (1 to 3)", "holds with 1 of 3 seeds")
    assert _found(1, 1, 1) == ("holds", "1", "")


def test_the_median_of_values_that_hold_must_hold() -> None:
    """One program is the exception with each seed, but another one each time."""

    def programs(evidence: Evidence) -> dict[str, float]:
        return {name: float(value) for name, value in evidence.rows("x")[0].items()}

    drawn = [Evidence({"x": [{"fft": 1, "lu": 1, "sor": 1, slow: 3}]}) for slow in ("fft", "lu")]
    claim = _claim(compute=programs, judge=lambda value: max(value.values()) == 3)
    assert find(claim, drawn[0], drawn[1:]).verdict == "tie"


def test_seeds_without_what_a_claim_needs_are_left_out() -> None:
    finding = find(
        _claim(), Evidence({"x": [{"x": 1}]}), [Evidence({}), Evidence({"x": [{"x": 1}]})]
    )
    assert (finding.verdict, finding.ours) == ("holds", "1")
    assert find(_claim(), Evidence({}), [Evidence({"x": [{"x": 1}]})]).verdict == "not testable"


def test_a_source_that_contradicts_itself_has_no_tie() -> None:
    assert _found(1, 3, own=lambda _: 3.0, contradicted="table 1")[0] == "source"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.1, 0.3], 0.3),
        ([True, False, False], False),
        ([{"a": 1, "b": 5}, {"a": 3, "b": 1}, {"a": 2}], {"a": 2}),
        ([[1, 5], [2, 4], [3, 9]], [2, 5]),
        ([["a"], ["b", "a"], []], ["a"]),
        ([{"a"}, {"b"}, {"a"}], ["a"]),
        (["low", "high", "low"], "low"),
    ],
)
def test_medians(values: list[Any], expected: Any) -> None:
    assert median(values) == expected


def test_a_study_is_judged_over_its_seeds(tmp_path: Path) -> None:
    """The first is that of the tables; the others run what claims need."""

    def products(context: StudyContext) -> Products:
        return Products((), (), {"x": [{"x": context.seed}]})

    claims = [_claim(judge=lambda value: value < 4)]
    entry = Study("x", "a study", "a paper", products, claims, PAPER, with_seed=products)
    context = StudyContext(PAPER, tmp_path, quick=False, programs=[])
    result = run_study(entry, context, seeds=5)
    assert result.counts["tie"] == 1
    assert result.ledger["ours"].tolist() == ["3 (1 to 5)"]
    text = markdown(result)
    assert "1 depends on the seed" in text
    assert "with 5 seeds of recordings" in text
    assert "--seeds" not in text, "five are the default"
    assert "`homenode study x --seeds 2`" in markdown(run_study(entry, context, seeds=2))


def test_recordings_and_mixes_of_a_seed_are_its_own(tmp_path: Path) -> None:
    programs = available(PAPER, quick=True)
    context = StudyContext(PAPER, tmp_path, quick=True, programs=programs)
    other = context.with_seed(3)
    first, rotated = context.trace(programs[0]), other.trace(other.programs[0])
    assert (first.references, first.threads) == (rotated.references, rotated.threads)
    assert first.checksum != rotated.checksum
    assert "rotate seed=3" in " ".join(rotated.metadata["provenance"])
    assert other.programs[0].seed == 2
    random, affine = Setting(), Setting(scheduler="affinity")
    assert PAPERS.question(random, 3) != PAPERS.question(random)
    assert PAPERS.question(affine, 3) == PAPERS.question(affine), "it is deterministic"


def test_a_recording_with_another_seed_is_another_file(tmp_path: Path) -> None:
    from homenode_studies.studies.programs import trace_of

    usual = Program("sor", "sor", "", ("--quick",), 4)
    made = [trace_of(Program("sor", "sor", "", ("--quick",), 4, seed=s), tmp_path) for s in (0, 2)]
    assert made[0].checksum != made[1].checksum
    assert made[0].path == trace_of(usual, tmp_path).path != made[1].path


def test_a_study_without_seeds_rejects_them() -> None:
    with pytest.raises(hn.ConfigError, match="foglia, marchetti, talbot"):
        studies.study("markatos", quick=True, seeds=2)
    with pytest.raises(hn.ConfigError, match="at least 1"):
        studies.study("talbot", quick=True, seeds=0)


def test_missing_is_not_a_value() -> None:
    def none(_: Evidence) -> float:
        raise Missing("nothing")

    assert find(_claim(compute=none), Evidence({}), [Evidence({})]).note == "nothing"
