"""Variants of a study: claims judged again under changes of machine and workload."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import ConfigError
from homenode_studies import studies
from homenode_studies.studies.claims import Claim, about
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, run_study
from homenode_studies.studies.foglia import DB, PAPER, runs
from homenode_studies.studies.foglia.matrix import SERVER
from homenode_studies.studies.foglia.variants import VARIANTS
from homenode_studies.studies.forms import TraceForm, formed
from homenode_studies.studies.programs import available
from homenode_studies.studies.variants import Variant
from homenode_studies.studies.writing import markdown
from made_mixes import make_mixes


def _giving(value: float) -> Products:
    return Products((), (), {"points": [{"power": value}]})


def _claim(published: float) -> Claim:
    return Claim(
        "1",
        f"A power of {published}",
        f"{published}",
        compute=lambda e: float(e.rows("points")[0]["power"]),
        judge=about(published),
        why="likely the bus",
    )


def test_a_claim_that_differs_says_under_which_variants_it_holds(tmp_path: Path) -> None:
    entry = replace(
        studies.find("foglia"),
        experiments=lambda _: _giving(7),
        claims=[_claim(5), _claim(7), _claim(9)],
        variants=(
            Variant("slow", "a slow bus", lambda _: _giving(5.1)),
            Variant("wide", "a wide bus", lambda _: _giving(6)),
        ),
        with_seed=None,
    )
    context = StudyContext(PAPER, tmp_path, quick=True, programs=[])
    result = run_study(entry, context, variants=True)
    assert [finding.verdict for finding in result.findings] == ["differs", "holds", "differs"]
    assert [finding.note for finding in result.findings] == [
        "likely the bus; holds with slow (5.1)",
        "",
        "likely the bus; holds under no variant",
    ]
    table = result.products.tables[-1]
    assert [row["published"] for row in table.rows] == ["5", "9"]
    assert (table.rows[0]["slow"], table.rows[0]["wide"]) == ("5.1: holds", "6: differs")
    assert table.note.endswith("workload. slow: a slow bus; wide: a wide bus.")
    assert result.provenance["variants"] == {"slow": "a slow bus", "wide": "a wide bus"}
    assert "`homenode study foglia --variants`" in markdown(result)
    plain = run_study(entry, context)
    assert [finding.note for finding in plain.findings] == ["likely the bus", "", "likely the bus"]
    assert not plain.products.tables


def test_a_mix_has_no_kernel_where_it_is_left_out(tmp_path: Path) -> None:
    mix = hn.Trace.open(make_mixes(tmp_path, 2_000) / "db.hnt")
    made = formed(mix, TraceForm(without_kernel=True), tmp_path)
    assert made.path.name == "db-without-kernel.hnt"
    assert 0 < made.references < mix.references
    assert TraceForm(without_kernel=True).provenance() == {"without_kernel": True}
    common = formed(mix, TraceForm(common_areas=True), tmp_path)
    assert common.path.name == "db-common-areas.hnt"
    assert common.references == mix.references
    assert len(mix.metadata["processor_areas"]["starts"]) == 16
    assert "processor_areas" not in common.metadata
    assert TraceForm(common_areas=True).provenance() == {"common_areas": True}
    own = formed(mix, TraceForm(own_frames=True), tmp_path)
    assert (own.path.name, own.references) == ("db-own-frames.hnt", mix.references)
    assert TraceForm(own_frames=True).provenance() == {"own_frames": True}


@pytest.mark.timeout(1200)
def test_each_variant_changes_what_it_says(tmp_path: Path) -> None:
    folder = make_mixes(tmp_path / "mixes", 20_000)
    programs = [p for p in available(PAPER, quick=True) if p.name == DB]
    context = StudyContext(PAPER, tmp_path, quick=True, programs=programs, mixes=folder)

    def counted(products: Products) -> dict[str, Any]:
        return runs.Runs(products.extra["points"]).at(DB, SERVER)

    usual = counted(studies.find("foglia").experiments(context))
    found = {variant.name: counted(variant.experiments(context)) for variant in VARIANTS}
    assert usual["transactions_read_block_cache"] < found["caches"]["transactions_read_block_cache"]
    assert found["held"]["bus_utilisation"] > usual["bus_utilisation"]
    origin = "coherence_origin_processor_area"
    assert usual[origin] > found["common"][origin] == 0
    assert usual["kernel_references"] > 0 == found["users"]["kernel_references"]


def test_only_studies_with_variants_take_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no variants; .* are foglia"):
        studies.study("bolosky-ch5", quick=True, traces=tmp_path, variants=True)


def test_data_frames_of_a_study_need_pandas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = replace(studies.find("foglia"), experiments=lambda _: _giving(7), claims=[_claim(5)])
    result = run_study(entry, StudyContext(PAPER, tmp_path, quick=True, programs=[]))
    assert len(result.ledger) == 1
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="needs pandas"):
        _ = result.ledger
