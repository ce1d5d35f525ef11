"""The second column of a ledger: claims judged on a workload made from statistics."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from homenode_studies import studies
from homenode_studies.studies import beside
from homenode_studies.studies.beside import Beside
from homenode_studies.studies.claims import Claim, about
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, run_study
from homenode_studies.studies.foglia import PAPER, WEB, statistics
from homenode_studies.studies.foglia.matrix import SERVER, Setting, wanted
from homenode_studies.studies.foglia.runs import Machine, ours, simulated
from homenode_studies.studies.programs import available
from homenode_studies.studies.tables import Evidence
from homenode_studies.studies.writing import markdown, page


def _value(evidence: Evidence) -> float:
    return float(evidence.rows("points")[0]["value"])


def _giving(value: float) -> Products:
    return Products((), (), {"points": [{"value": value}]})


def _claim(section: str, published: float) -> Claim:
    return Claim(section, f"It is {published}", f"{published}", "ours", _value, about(published))


def _context(folder: Path, *, quick: bool) -> StudyContext:
    return StudyContext(PAPER, folder, quick, ())


def test_a_ledger_has_a_column_for_the_second_workload(tmp_path: Path) -> None:
    entry = replace(
        studies.find("foglia"),
        experiments=lambda _: _giving(7),
        claims=[_claim("4", 7), _claim("5", 7), _claim("5", 9)],
        variants=(),
        beside=Beside("made", "numbers", lambda _: _giving(9), frozenset({"4"})),
    )
    result = run_study(entry, _context(tmp_path, quick=False))
    cells = [(row["verdict"], row["beside"], row["beside_verdict"]) for row in result.rows]
    assert cells == [
        ("holds", "made so", ""),
        ("holds", "9", "differs"),
        ("differs", "9", "holds"),
    ]
    assert result.to_dict()["ledger"] == result.rows
    text = markdown(result)
    assert "| claim | published | ours | verdict | made |\n|---|---|---|---|---|\n" in text
    assert "| holds | 9: **differs** |\n" in text
    assert "- In the column made: 1 holds, 1 differs, " in text
    assert '<th scope="col">made</th>' in page(result)
    quick = run_study(entry, _context(tmp_path, quick=True))
    assert quick.beside is None
    assert "beside" not in quick.rows[0]
    assert "made" not in markdown(quick)


def test_machines_for_a_sixteenth_of_a_workload_have_a_sixteenth_of_the_cache() -> None:
    point = statistics.MACHINE.point(SERVER)
    assert (point["cache_size"], point["protocol"]) == (128 << 10, "mesi-memory")
    smallest = min(setting.cache_size for setting in wanted("EC-server", quick=False))
    assert statistics.MACHINE.point(Setting(cache_size=smallest))["cache_size"] == 8 << 10
    assert Machine("bus-smp", "bus-smp", 1).point(SERVER)["cache_size"] == 2 << 20


def test_mixes_from_statistics_are_simulated_like_recorded_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "SCALE", 400)
    programs = [program for program in available(PAPER, True, False) if program.name == WEB]
    context = replace(_context(tmp_path, quick=True), programs=programs)
    made = statistics.made(context)
    assert made.trace(programs[0]).info["metadata"]["program"] == "synthetic servers foglia-web"
    rows = simulated(made, lambda _: statistics.MACHINE)
    assert {row["workload"] for row in rows} == {WEB}
    powers: Mapping[str, float] = {row["protocol"]: row["gsp"] for row in rows}
    assert set(powers) >= {"mesi", "amsd", "pscr"}
    assert ours(Evidence({"points": rows}, {})).at(WEB, SERVER)["references"] >= 325_000
    assert context.traces == {}
    # The picture of the break-even and the column of the ledger use the same traces.
    assert statistics.made(context).trace(programs[0]) is made.trace(programs[0])


def test_claims_of_section_4_are_not_judged_on_what_was_made_so() -> None:
    entry = studies.find("foglia")
    assert entry.beside is statistics.BESIDE
    assert entry.beside.made_so == {"4"}
    judged = replace(entry, beside=replace(entry.beside, experiments=lambda _: Products((), ())))
    column = beside.judge(judged, _context(Path(), quick=False))
    assert column is not None
    sections = [claim.section for claim in entry.claims]
    assert [finding is None for finding in column.findings] == [it == "4" for it in sections]
