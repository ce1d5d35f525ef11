"""The study of Marchetti et al.: its results for invented points and small programs."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode_studies import studies
from homenode_studies.studies import published
from homenode_studies.studies.claims import find
from homenode_studies.studies.context import no_progress
from homenode_studies.studies.marchetti import (
    HARDWARE,
    MGRID,
    MP3D,
    ONE_TRIP,
    PAPER,
    SOFTWARE,
    SOR,
    WATER,
)
from homenode_studies.studies.marchetti import measures as m
from homenode_studies.studies.marchetti import runs as runs_of_study
from homenode_studies.studies.marchetti.claims import CLAIMS
from homenode_studies.studies.marchetti.claims_placement import fades, nearer, not_fitting
from homenode_studies.studies.marchetti.claims_policies import not_gaining, phases, sophisticated
from homenode_studies.studies.marchetti.judging import (
    comparable_but_mp3d,
    many,
    most_within,
    within,
)
from homenode_studies.studies.marchetti.matrix import (
    ALLOCATOR,
    BLOCKS,
    HOMES,
    LARGE,
    ONE_WORD,
    PAPER_CASE,
    PHASES,
    TWO_CYCLES,
    WITH,
    Setting,
    batches,
    wanted,
)
from homenode_studies.studies.marchetti.notes import of
from homenode_studies.studies.marchetti.runs import Runs
from homenode_studies.studies.marchetti.tables import flits, machine
from homenode_studies.studies.tables import Evidence, Missing
from homenode_studies.studies.writing import write

BOTH = (HARDWARE, SOFTWARE)


def _point(program: str, setting: Setting, **columns: Any) -> dict[str, Any]:
    """A point with these values only."""
    row: dict[str, Any] = {"program": program, **setting.fields()}
    row |= {"processors": 4, "cycles": 1000, "references": 500, "hops": 30, "messages_request": 10}
    row |= {"local_fill_share": 0.5, "local_write_back_share": None, "mean_fill_cycles": 100.0}
    row |= {"miss_rate": 0.1, "misses_invalidation_false": 5, "misses_replacement": 20}
    row |= {"misses_cold": 25, **dict.fromkeys(m.PARTS, 800)}
    return row | columns


def _pair(program: str, before: int, after: int, base: Setting = PAPER_CASE) -> list[Any]:
    """A program whose time depends on placement."""
    placed = base.changed(home=WITH)
    return [_point(program, base, cycles=before), _point(program, placed, cycles=after)]


def test_the_machine_is_the_printed_one() -> None:
    printed = {row["parameter"]: row["printed"] for row in published.tables(PAPER.name)["table-1"]}
    assert {row["parameter"]: row["ours"] for row in machine().rows} == printed


def test_rules_accept_the_paper_s_own_numbers() -> None:
    nothing = Evidence({})
    tried = [claim for claim in CLAIMS if claim.own is not None]
    assert len(tried) >= 15
    findings = [find(claim, nothing) for claim in tried]
    assert all(finding.own for finding in findings)
    assert all(claim.judge and claim.own and claim.judge(claim.own(nothing)) for claim in tried)


def test_there_are_claims_of_every_part() -> None:
    assert {claim.section for claim in CLAIMS} == {"abstract", "3.1", "3.2", "4.1", "4.2", "5"}
    assert len({claim.statement for claim in CLAIMS}) == len(CLAIMS) >= 35


def test_shares_are_in_a_range_within_five_points() -> None:
    assert within(0.35, 0.75)({"a": 0.31, "b": 0.79})
    assert not within(0.35, 0.75)({"a": 0.29, "b": 0.5})
    assert most_within(0.2, 0.4)({"a": 0.2, "b": 0.4, "c": 0.0})
    assert not most_within(0.2, 0.4)({"a": 0.2, "b": 0.0})
    assert comparable_but_mp3d({SOR: 1.1, MP3D: 1.5})
    assert not comparable_but_mp3d({SOR: 1.1, MP3D: 1.1})


def test_gains_and_distances_are_ratios() -> None:
    rows = _pair(SOR, 1000, 700) + _pair(MGRID, 1000, 1100)
    rows[1]["hops"] = rows[3]["hops"] = 15
    runs = Runs(rows)
    assert m.gain(runs, SOR) == pytest.approx(0.3)
    assert m.reduction(runs, m.cycles)[MGRID] == pytest.approx(-0.1)
    assert nearer(HARDWARE)(Evidence({"points": rows})) == {MGRID: 0.5, SOR: 0.5}
    assert m.part(rows[0], "busy") == pytest.approx(0.2)
    assert m.evictions(rows[0]) == pytest.approx(0.4)
    assert m.false_share(rows[0]) == pytest.approx(0.1)
    with pytest.raises(Missing, match="write-backs"):
        m.local_write_backs(rows[0])
    with pytest.raises(Missing, match="needs water"):
        runs.at(WATER, PAPER_CASE)
    with pytest.raises(Missing, match="was not simulated"):
        runs.at(SOR, PHASES)


def test_what_needs_software_says_so() -> None:
    evidence = Evidence({"points": _pair(SOR, 1000, 700) + _pair(MGRID, 1000, 700)})
    claim = next(claim for claim in CLAIMS if "Replication gains sor" in claim.statement)
    finding = find(claim, evidence)
    assert (finding.verdict, finding.note) == (
        "not testable",
        "needs the protocol lrc, which was not simulated",
    )


def test_the_reason_why_software_takes_longer_has_both_times() -> None:
    soft = PAPER_CASE.changed(protocol=SOFTWARE)
    points = _pair(WATER, 1000, 700) + _pair(WATER, 1900, 1500, soft)
    more = [_point(WATER, PAPER_CASE.changed(protocol=ONE_TRIP), cycles=1750)]
    claim = next(claim for claim in CLAIMS if "comparable without" in claim.statement)
    found = find(claim, Evidence({"points": points, "beside": more}))
    assert "one-trip) 1.75 times instead of 1.90, without" in found.note
    # A run with another seed has only the points.
    assert "one-trip) – times instead of 1.90" in find(claim, Evidence({"points": points})).note


def test_block_sizes_and_phases() -> None:
    rows = [
        row
        for block in BLOCKS
        for row in _pair(MGRID, 1000, 900 + block, PAPER_CASE.changed(block_size=block))
    ]
    rows += [_point(MGRID, PHASES, cycles=1090)]
    rows += [_point(MGRID, Setting(home="first-fill:n=4"), cycles=964)]
    evidence = Evidence({"points": rows})
    assert not_gaining(evidence) == ["mgrid 128", "mgrid 256"]
    assert phases(evidence) == pytest.approx(1090 / 964 - 1)
    assert set(sophisticated(evidence)) == {"mgrid first-fill", "mgrid phases"}


def test_false_sharing_is_a_share_of_the_misses_that_blocks_have() -> None:
    rows = [
        _point(program, PAPER_CASE.changed(block_size=block), misses_invalidation_false=0)
        | {"misses_cold": misses - misses * share // 100, "misses_replacement": 0}
        | {"misses_invalidation_false": misses * share // 100}
        # Ever fewer misses, of which ever more are by false sharing.
        for block, misses, share in zip(
            BLOCKS, (8000, 4000, 2000, 1000, 500), (1, 2, 3, 4, 5), strict=True
        )
        for program in (SOR, MGRID)
    ]
    claim = next(claim for claim in CLAIMS if claim.statement.startswith("Larger blocks have more"))
    assert find(claim, Evidence({"points": rows})).verdict == "holds"


@pytest.mark.parametrize(("after", "verdict"), [(850, "holds"), (700, "differs")])
def test_a_gain_that_grows_at_a_step_does_not_fall(after: int, verdict: str) -> None:
    times = (500, 600, 800, after, 900)
    rows = [
        row
        for block, placed in zip(BLOCKS, times, strict=True)
        for program in (SOR, WATER)
        for row in _pair(program, 1000, placed, PAPER_CASE.changed(block_size=block))
    ]
    claim = next(c for c in CLAIMS if c.statement == "sor and water gain less with larger blocks")
    assert find(claim, Evidence({"points": rows})).verdict == verdict


def test_placement_fades_in_programs_that_lose_with_small_caches_too() -> None:
    rows = [
        row
        for program, after in ((SOR, 600), (MGRID, 1100))
        for row in (*_pair(program, 1000, after), *_pair(program, 1000, 950, LARGE))
    ]
    evidence = Evidence({"points": rows})
    assert fades(evidence) == pytest.approx({SOR: 0.35, MGRID: -0.15})
    with pytest.raises(Missing, match="mainly misses"):
        not_fitting(evidence)
    for row in rows:
        row["misses_replacement"] = 90
    assert not_fitting(evidence) == pytest.approx({SOR: 0.4, MGRID: -0.1})


@pytest.mark.parametrize(
    ("word", "value", "verdict"),
    [
        ("substantial", {"a": 0.12, "b": 0.11, "c": 0}, True),
        ("substantial", {"a": 0.12, "b": 0.09, "c": 0}, False),
        ("significantly", {"a": 0.12, "b": 0.09, "c": 0.01}, False),
        ("slightly", {"a": 1.01, "b": 1.09}, True),
        ("slightly", {"a": 1.01, "b": 1.27}, False),
        ("slightly", {"a": 1.01, "b": 0.99}, False),
        ("many cases", {"a": 1.03, "b": 1, "c": 0.9}, True),
        ("many cases", {"a": 1.01, "b": 1.001, "c": 0.9}, False),
    ],
)
def test_rules_take_the_words_of_sentences_as_other_studies_do(
    word: str, value: dict[str, float], verdict: bool
) -> None:
    (claim,) = (claim for claim in CLAIMS if word in claim.statement)
    assert claim.judge
    assert claim.judge(value) == verdict


def test_one_word_has_one_rule() -> None:
    assert many(bool)({"a": 1, "b": 0, "c": 0})
    assert not many(bool)({"a": 1, "b": 0, "c": 0, "d": 0})
    used = {claim.statement: claim.judge for claim in CLAIMS if "many" in claim.statement.lower()}
    assert len(used) == 2
    assert all(judge and judge({"a": 2, "b": 99}) for judge in used.values())


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("protocols", [(HARDWARE,), BOTH])
def test_every_setting_is_in_one_batch(quick: bool, protocols: tuple[str, ...]) -> None:
    for program in (SOR, MGRID):
        settings = wanted(program, protocols, quick=quick)
        assert len(settings) == len(set(settings))
        made = [setting for batch in batches(settings) for setting in batch.settings()]
        assert sorted(map(repr, made)) == sorted(map(repr, settings))
        assert {s.home for s in settings} == set(HOMES)
        assert (PHASES in settings) == (program == MGRID)
        assert any(s.machine == ONE_WORD for s in settings) == (protocols == BOTH)


def test_a_word_a_cycle_is_a_machine() -> None:
    trace = hn.Trace.from_numpy(thread=[0, 1], kind=["R", "R"], address=[0, 4096])
    path = runs_of_study.machine_file(ONE_WORD)
    model = hn.simulate(trace, machines=path).provenance["machines"][0]["model"]
    network = model["network"]
    assert (model["memory_word_cycles"], model["memory_words"]) == (1, 1)
    assert network["path_bits"] == 8 * 4 * network["flit_cycles"]
    assert HARDWARE in runs_of_study.accepted()


def test_both_readings_of_the_network_are_published() -> None:
    slower = Setting(machine=TWO_CYCLES)
    rows = _pair(SOR, 1000, 640) + _pair(SOR, 1000, 550, slower) + _pair(MGRID, 1000, 940)
    for row, cycles in zip(rows[:4], (100.0, 60.0, 200.0, 80.0), strict=True):
        row["mean_fill_cycles"] = cycles
    found = flits(Runs(rows))
    assert [row["program"] for row in found.rows] == [SOR], "mgrid has one reading only"
    assert found.rows[0] == pytest.approx(
        {
            "program": SOR,
            "coherence": "hardware",
            "gain": 36,
            "gain_two_cycles": 45,
            "fill_shorter": 40,
            "fill_shorter_two_cycles": 60,
        }
    )
    (said,) = (note for note in of(Runs(rows), found, quick=True) if "16 bits per 2 cycles" in note)
    assert "the time in hardware sor 36 and 45 %" in said
    (waits,) = (note for note in of(Runs(rows), found, quick=True) if "at locks and" in note)
    # 800 cycles of waiting by four processors in 1,000 and in 640 or 940 cycles.
    assert "in hardware sor 20 and 31 %, mgrid 20 and 21 %" in waits
    assert {Setting(machine=TWO_CYCLES, protocol=protocol) for protocol in BOTH} <= set(
        wanted(SOR, BOTH, quick=False)
    )
    path = runs_of_study.machine_file(TWO_CYCLES)
    trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    network = hn.simulate(trace, machines=path).provenance["machines"][0]["model"]["network"]
    assert (network["path_bits"], network["flit_cycles"]) == (16, 2)


@pytest.mark.timeout(1200)
def test_a_second_run_simulates_nothing(tmp_path: Path) -> None:
    words: dict[str, Any] = {"quick": True, "traces": tmp_path, "programs": [SOR, MGRID]}
    first = studies.study("marchetti", **words)

    def watch(title: str) -> Any:
        assert title.startswith("recording"), title
        return no_progress(title)

    again = studies.study("marchetti", **words, watch=watch)
    assert again.to_dict() == first.to_dict()
    assert {figure.name for figure in first.products.figures} >= {"figure-1", "figure-4"}
    assert {row["program"] for row in first.products.extra["points"]} == {SOR, MGRID}
    tables = {table.name: table.rows for table in first.products.tables}
    # Of twice as many pages, fewer hold rows of two bands.
    (hardware,) = (row for row in tables["versions"] if row["coherence"] == "hardware")
    assert hardware["version"] == "sor on 8-byte numbers"
    (narrow,) = (
        row
        for row in tables["times"]
        if (row["program"], row["coherence"], row["homes"]) == (SOR, "hardware", WITH)
    )
    assert narrow["local_fills"] < hardware["local_fills"]
    assert first.counts["source"] == 0
    for row in tables["trace-driven"]:
        # Its threads have work of their own. The order of their first allocations, each of which
        # maps memory, decides where stacks are, and so which of their blocks conflict: 0.07 and
        # 0.26 % with two builds of the runtime, whose size moves the program's data.
        assert row["replay"] == pytest.approx(row["run"], rel=0.005)
    # Both allocate in the main thread: one memory answers all fills.
    slow = {
        row["program"]: row["fill_cycles"]
        for row in tables["allocator"]
        if row["homes"] == ALLOCATOR
    }
    assert all(row["fill_cycles"] <= slow[row["program"]] for row in tables["allocator"])
    assert {row["program"] for row in tables["one-trip"]} == {SOR, MGRID}
    # One trip less a release; who waits for whom then changes, too, so that a run may be longer.
    for row in tables["one-trip"]:
        assert row["lrc-one-trip_cycles"] != row["lrc_cycles"]
        assert row["lrc-one-trip_cycles"] == pytest.approx(row["lrc_cycles"], rel=0.1)
    for row in tables["optimum"]:
        # Each policy may do everything the one before may, and more.
        assert row["best_references_best-static"] <= row["best_references_optimal"]
    for row in tables["advice"]:
        # It has hindsight, and the paper's advice is among its choices.
        assert 0 <= row["best_gains"] <= row["best_in_hindsight_gains"]
        assert (row["best_gains"] == 0) == (row["best"] == WITH)
        assert (row["replication_gains"] == 0) == (row["replication"] == "none")
    pictures = {picture.name: picture.svg for picture in first.products.pictures}
    assert set(pictures) == {"pages-sor", "pages-mgrid"}
    # Both have cells for home nodes and others.
    assert all('class="near' in svg and 'class="far' in svg for svg in pictures.values())
    page = write(first, tmp_path / "page")
    assert (page.parent / "pages-sor.svg").read_text(encoding="utf-8") == pictures["pages-sor"]
    assert page.read_text(encoding="utf-8").count('src="data:image/svg+xml;base64,') == 2
    assert first.counts["holds"] + first.counts["differs"] > 15
