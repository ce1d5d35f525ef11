"""The study of Talbot and Kelly: its own numbers, invented points, and small programs."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.engines.directory import DirectoryResult
from homenode_studies import studies
from homenode_studies.studies import published
from homenode_studies.studies.claims import Claim, find
from homenode_studies.studies.context import StudyContext, no_progress
from homenode_studies.studies.programs import available
from homenode_studies.studies.tables import Evidence, Missing
from homenode_studies.studies.talbot import (
    BARNES,
    CONTIG,
    FFT,
    FMM,
    GE,
    PAPER,
    PROGRAMS,
    PROTOCOL,
    WATER,
    beyond,
    runs,
    versions,
    winning,
)
from homenode_studies.studies.talbot import judging as j
from homenode_studies.studies.talbot.bars import (
    NAME,
    TIME,
    Bars,
    Illegible,
    of_paper,
    of_points,
    paper,
)
from homenode_studies.studies.talbot.claims import CLAIMS
from homenode_studies.studies.talbot.claims_stability import over_each
from homenode_studies.studies.talbot.matrix import (
    BASIC,
    BEST,
    FILLS,
    FINITE,
    FIRST,
    HOMES,
    INFINITE,
    NONE,
    REACTIVE,
    ROUND,
    Setting,
    wanted,
)
from homenode_studies.studies.talbot.study import products
from homenode_studies.studies.talbot.tables import MACHINE, machine

_NODES = (16,)


def _row(setting: Setting, cycles: int) -> dict[str, Any]:
    """A simulated row with only the fields that are read."""
    row: dict[str, Any] = {**setting.fields(), "cycles": cycles, "references": 500}
    row |= {"mean_read_response_cycles": cycles / 10, "mean_queue_cycles": cycles / 100}
    row |= {"fills": 50, "local_fills": 20, "local_fill_share": 0.4, "pages_moved": 3}
    row |= {"bounced": 4, "retried": 4, "proxy_reads": 2, "combined": 1}
    row |= {"messages_request": cycles, "messages_reply": cycles}
    return row | {"messages_proxy_read": 0}


def _cycles(setting: Setting) -> int:
    """Round-robin takes a tenth longer, proxies a tenth less, long queues more."""
    found = 1100 if setting.home == ROUND else 1000
    found -= 100 if setting.proxies != "none" else 0
    return found if setting.buffers == FINITE else 2 * found + len(setting.buffers)


def _points(*, quick: bool) -> list[dict[str, Any]]:
    return [
        {"program": program, "gap": 1, **_row(setting, _cycles(setting))}
        for program in PROGRAMS
        for batch in wanted(program, _NODES, quick=quick)
        for setting in batch.settings()
    ]


def test_the_paper_s_numbers_are_where_they_are_from() -> None:
    printed = published.tables(PAPER.name)
    figures = {f"figure-1.{n}" for n in range(5, 11)}
    assert set(printed) == figures | {"table-1.4", MACHINE}
    assert [row["program"] for row in printed["table-1.4"]] == list(PROGRAMS)
    assert all(value for row in printed["table-1.4"] for value in row.values())
    for rows in (printed[name] for name in figures):
        kinds = 3 if rows[0]["buffers"] == "finite" else 2
        assert len(rows) == len(PROGRAMS) * kinds * 2
        for row in rows:
            # Every number has a place, or says that it is not legible.
            assert (row["printed"] is None) == (row["place"] is None) == (row["legible"] == "no")
    figure = printed["figure-1.8"]
    assert sum(row["printed"] is not None for row in figure) == 34


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.statement[:40])
def test_every_rule_is_tried_on_the_paper_s_own_numbers(claim: Claim) -> None:
    assert claim.own is not None
    assert claim.judge is not None
    try:
        own = claim.own(Evidence({}))
    except Missing:
        assert not claim.contradicted
        return
    # If a rule does not hold there, the paper contradicts itself, and the claim says so.
    assert claim.judge(own) == (not claim.contradicted)


def test_most_rules_can_be_tried() -> None:
    own = [find(claim, paper()).own for claim in CLAIMS]
    assert sum(bool(value) for value in own) >= 30
    assert sum(bool(claim.contradicted) for claim in CLAIMS) == 1


def test_there_are_claims_of_every_part() -> None:
    sections = {claim.section.partition(",")[0] for claim in CLAIMS}
    assert sections >= {"abstract", "1.5.1", "1.5.2", "1.5.3", "1.7", "table 1.4", "figure 1.8"}
    assert len(CLAIMS) >= 40


def test_stated_changes_are_held_against_ours() -> None:
    assert j.near(0.222)({"ge": 0.18})
    assert not j.near(0.222)({"ge": 0.16})
    # A tie in the paper is not held to five points.
    assert j.near(-0.002)({"barnes": 0.015})
    assert not j.near(-0.002)({"barnes": 0.03})


def test_ties_are_under_two_percent() -> None:
    assert j.not_worse({"a": 1.019, "b": 0.5})
    assert not j.not_worse({"a": 1.021})
    assert not j.better({"a": 1.001})
    assert j.worse({"a": 1.03})
    assert not j.worse({"a": 1.01})
    assert j.marginally_worse({"a": 1.001, "b": 1.09})
    assert not j.marginally_worse({"a": 0.99, "b": 1.09}), "a tie below one is better"
    assert not j.marginally_worse({"a": 1.11})
    assert not j.marginally_worse({"a": 0.97})


@pytest.mark.parametrize(
    ("basic", "reactive", "verdict"),
    [(1010, 990, "holds"), (1010, 1005, "differs"), (995, 990, "differs")],
)
def test_water_s_proxies_are_compared_with_none(basic: int, reactive: int, verdict: str) -> None:
    times = {NONE: 1000, BASIC: basic, REACTIVE: reactive}
    points = [
        {"program": WATER, **_row(Setting(proxies=kind), cycles)} for kind, cycles in times.items()
    ]
    claim = next(claim for claim in CLAIMS if claim.statement.startswith("Basic proxies make Wat"))
    assert find(claim, Evidence({NAME: of_points(points)})).verdict == verdict


def test_rules_that_were_changed_after_a_run_say_so() -> None:
    # As the study's notes count them.
    assert sum(bool(claim.post_hoc) for claim in CLAIMS) == 7


def test_one_program_of_seven_may_be_otherwise() -> None:
    assert j.worse_but_for_one({"a": 0.9, "b": 1.1, "c": 1.0})
    assert not j.worse_but_for_one({"a": 0.9, "b": 0.9, "c": 1.1})
    assert not j.worse_but_for_one({"a": 1.0, "b": 1.01}), "a tie is not slower"
    assert not j.worse_but_for_one({"a": 0.99, "b": 0.99, "c": 1.1}), "a tie below one is faster"
    assert j.best_but_for_one({"a": 1.3, "b": 1.01})
    assert not j.best_but_for_one({"a": 1.3, "b": 1.03})


def test_bars_are_relative_to_first_touch_with_the_same_buffers() -> None:
    found = Bars(of_points(_points(quick=True)))
    assert found.relative(GE, TIME, Setting(ROUND)) == pytest.approx(1.1)
    assert found.relative(GE, TIME, Setting(ROUND, BASIC, INFINITE)) == pytest.approx(1.0)
    assert found.at(GE, TIME, Setting(buffers=INFINITE)) == 2008
    with pytest.raises(Missing, match="was not found"):
        found.at(GE, TIME, Setting(proxies=REACTIVE, buffers=INFINITE))
    with pytest.raises(Missing, match="needs doom"):
        found.at("doom", TIME, Setting())


def test_what_is_not_legible_is_left_out_and_not_judged() -> None:
    printed = Bars(of_paper())
    assert printed.at(GE, TIME, Setting(proxies=REACTIVE)) == 77.8
    for program, setting in (
        (FFT, Setting(ROUND)),
        (FMM, Setting(ROUND)),  # printed, but it is not certain for which bar
    ):
        with pytest.raises(Illegible, match="not legible"):
            printed.at(program, TIME, setting)
    found = printed.each(lambda p: printed.relative(p, TIME, Setting(ROUND)))
    assert set(found) == set(PROGRAMS) - {FFT, FMM}


def test_the_promise_is_held_against_both_placements() -> None:
    found = over_each(Evidence({NAME: of_points(_points(quick=True))}))
    assert found["ge / ft"] == pytest.approx(0.9)
    assert found["ge / rr"] == pytest.approx(900 / 1100)
    assert len(found) == 2 * len(PROGRAMS)


def test_a_claim_about_a_program_that_was_not_run_is_not_testable() -> None:
    rows = [row for row in of_points(_points(quick=True)) if row["program"] != CONTIG]
    claim = next(claim for claim in CLAIMS if claim.statement.startswith("Ocean-Contig takes"))
    finding = find(claim, Evidence({NAME: rows}))
    assert (finding.verdict, finding.note) == (
        "not testable",
        "needs ocean-contig, which this run does not have",
    )


@pytest.mark.parametrize("quick", [True, False])
def test_every_setting_is_simulated_once(quick: bool) -> None:
    for program in (BARNES, GE):
        batches = wanted(program, _NODES, quick=quick)
        settings = [setting for batch in batches for setting in batch.settings()]
        paper_s = [setting for setting in settings if not setting.nodes]
        assert len(paper_s) == len(set(paper_s)) == 10
        assert not any(s.proxies == REACTIVE for s in paper_s if s.buffers == INFINITE)
        assert quick == (settings == paper_s)
        if not quick:
            assert {s.buffers for s in settings} == {INFINITE, "2", FINITE, "32"}
            assert any(s.dial == "clusters=8" for s in settings) == (program == GE)


def test_everything_is_made_from_points() -> None:
    made = products(_points(quick=False))
    tables = {table.name: table.rows for table in made.tables}
    assert set(tables) >= {"promise", "table-1.4", "sides", "beyond", "homes", "dials", "clusters"}
    assert [figure.name for figure in made.figures] == [f"figure-1.{n}" for n in range(5, 11)]
    rings = [row for row in made.figures[3].rows if row.get("printed")]
    assert len(rings) == 30  # one for each number whose bar is certain
    promised = next(row for row in tables["promise"] if row["program"] == GE)
    assert (promised["ours rr"], promised["printed rr"]) == (pytest.approx(110), 98.8)
    assert {row["clusters"] for row in tables["clusters"]} == {1, 2, 3, 4, 8}
    homes = [row["home"] for row in tables["homes"] if row["program"] == GE]
    assert homes == [home for home in (*HOMES, FILLS, BEST) for _ in (NONE, REACTIVE)]
    evidence = made.evidence(published.tables(PAPER.name))
    verdicts = [find(claim, evidence).verdict for claim in CLAIMS]
    assert "not testable" not in verdicts


def test_quick_leaves_out_what_is_beyond_the_paper() -> None:
    made = products(_points(quick=True))
    assert {"beyond", "dials", "clusters"}.isdisjoint(table.name for table in made.tables)
    assert made.pictures == []


def test_the_picture_shows_where_it_wins() -> None:
    points = beyond.Points(_points(quick=False))
    found = winning.ratios(points)
    assert set(found) == set(PROGRAMS)
    assert set(found[GE]) == {
        *("the paper's", "queues of 2", "queues of 32", "network 4 times", "network 16 times"),
        *("16 nodes", "no allocation", "Marchetti's times"),
    }
    assert found[GE]["the paper's"] == pytest.approx(0.9)
    situation = beyond.situations(points, GE)["queues of 2"]
    over = beyond.against_both(points, GE, situation)
    assert over == {"ft": pytest.approx(1801 / 2001), "rr": pytest.approx(1801 / 2201)}
    svg = str(winning.drawn({"ge": {"a": 0.9, "b": 1.0}, "fft": {"b": 1.2}}))
    colours = [winning.fill(ratio) for ratio in (0.9, 1.0, 1.2)]
    assert len(set(colours)) == 3
    assert [svg.count(colour) for colour in colours] == [2, 2, 2]  # a cell and the key


@pytest.mark.parametrize(
    ("setting", "data", "text"),
    [
        (Setting(), ("a",), "none"),
        (Setting(proxies=REACTIVE, dial="fair=yes"), ("a",), "reactive:fair=yes"),
        (Setting(proxies=BASIC, dial="clusters=4"), ("a", "b"), "basic:data=a+b,clusters=4"),
        (Setting(proxies=BASIC), (), "basic"),
    ],
)
def test_proxies_as_the_engine_takes_them(
    setting: Setting, data: tuple[str, ...], text: str
) -> None:
    assert runs.proxies(setting, data) == text


def _context(folder: Path) -> StudyContext:
    chosen = [program for program in available(PAPER, quick=True) if program.name == FFT]
    return StudyContext(PAPER, folder, True, chosen)


@pytest.mark.timeout(1200)
def test_a_pass_is_asked_for_once_and_found_again(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    def simulate(
        _trace: hn.Trace, _machine: str, *, protocols: str, **options: Any
    ) -> DirectoryResult:
        assert protocols == PROTOCOL
        asked.append(options)
        rows = []
        # In another order than homenode's.
        for length, kind, home in product(*(options[n] for n in ("buffers", "proxies", "homes"))):
            setting = Setting(home, kind.partition(":")[0], length)
            row = _row(setting, _cycles(setting)) | {"proxies": f"{kind}:clusters=3"}
            row["messages"] = {"request": row.pop("messages_request")}
            row["buffers"] = length if length == INFINITE else int(length)
            rows.append(row)
        return DirectoryResult(rows)

    context = _context(tmp_path)
    first = runs.simulated(context, simulate)
    assert [options["buffers"] for options in asked] == [(INFINITE,), (FINITE,)]
    assert all(options["measure_from"] == "init-done" for options in asked)
    assert all(options["measure_until"] == "check" for options in asked)
    assert all(row["cycles"] == _cycles(Setting.of(row)) for row in first)
    assert runs.simulated(_context(tmp_path), simulate) == first
    assert len(asked) == 2
    batch = next(b for b in wanted(FFT, (), quick=False) if len(b.lengths) > 1)
    several = runs._of_batch(context, context.programs[0], batch, simulate)
    assert len(several) == 12
    # Programs with the paper's length are known.
    assert asked[-1]["buffers"] == tuple(n for n in batch.lengths if n != FINITE)
    assert all(row["cycles"] == _cycles(Setting.of(row)) for row in several)


def test_what_the_engine_cannot_do_beyond_the_paper_is_left_out(tmp_path: Path) -> None:
    def refuse(*_: Any, **_options: Any) -> DirectoryResult:
        raise hn.ConfigError("no such dial")

    context = _context(tmp_path)
    batch = next(b for b in wanted(FFT, (), quick=False) if b.base.dial)
    (program,) = context.programs
    assert runs._of_batch(context, program, batch, refuse) == []
    assert context.notes == [f"fft, {batch.base.dial}: no such dial"]
    with pytest.raises(hn.ConfigError, match="no such dial"):
        runs._of_batch(context, program, wanted(FFT, (), quick=True)[0], refuse)
    without = [row for row in _points(quick=False) if row["dial"] != batch.base.dial]
    tables = {table.name: table.rows for table in products(without).tables}
    assert {row["as"] for row in tables["dials"]} == {"the paper's", "separate cache", "fair"}


def test_the_machine_is_the_printed_one() -> None:
    printed = {row["parameter"]: row["printed"] for row in published.tables(PAPER.name)[MACHINE]}
    assert {row["parameter"]: row["ours"] for row in machine().rows} == printed


@pytest.mark.timeout(1200)
def test_a_second_run_simulates_nothing(tmp_path: Path) -> None:
    words: dict[str, Any] = {"quick": True, "traces": tmp_path, "programs": [GE, FFT]}
    first = studies.study("talbot", **words)

    def watch(title: str) -> Any:
        assert title.startswith("recording"), title
        return no_progress(title)

    again = studies.study("talbot", **words, watch=watch)
    assert again.to_dict() == first.to_dict()
    points = {row["program"]: row for row in first.products.extra["points"]}
    assert set(points) == {GE, FFT}
    for row in first.products.extra["points"]:
        # Only full buffers bounce reads, and only a bounced read then goes to a proxy.
        assert row["bounced"] == 0 or row["buffers"] == FINITE
        if row["proxies"] == REACTIVE:
            assert row["proxy_reads"] <= row["bounced"]


def test_the_oceans_lie_on_pages_of_the_machine() -> None:
    (page,) = [row["ours"] for row in machine().rows if row["parameter"] == "DRAM page size"]
    oceans = [
        program
        for quick in (False, True)
        for program in available(PAPER, quick)
        if program.name.startswith("ocean")
    ]
    assert len(oceans) == 4
    assert all(program.words[-2:] == ["--page", str(page)] for program in oceans)


def test_versions_of_programs_are_beside_the_paper_but_no_evidence() -> None:
    points = [
        _row(setting, cycles) | {"program": GE, "of": GE}
        for buffers in (INFINITE, FINITE)
        for setting, cycles in (
            (Setting(FIRST, NONE, buffers), 1000),
            (Setting(ROUND, NONE, buffers), 950),
        )
    ]
    others = [row | {"program": "ge on row flags", "cycles": row["cycles"] ** 2} for row in points]
    found = versions.table(others, Bars(of_points(points)))
    (row,) = (
        row
        for row in found.rows
        if (row["what"], row["buffers"], row["bar"]) == (TIME, "infinite", "rr")
    )
    assert (row["of"], row["ours"], row["printed"]) == pytest.approx((95, 90.25, 92.7))
    (said,) = versions.notes(found)
    assert "time, infinite buffers, rr: 95.0, 90.2, 92.7" in said
    made = products(points, others)
    assert {row["program"] for row in made.extra["points"]} == {GE}
    assert "versions" in {table.name for table in made.tables}
