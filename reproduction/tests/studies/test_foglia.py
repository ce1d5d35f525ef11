"""The study of Foglia, Giorgi and Prete: its results for invented points and mixes."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from foglia_points import point
from homenode_studies import studies
from homenode_studies.studies import charts, published
from homenode_studies.studies import mixes as mixes_of_studies
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.claims import find
from homenode_studies.studies.foglia import (
    DB,
    EC,
    PAPER,
    WEB,
    bands,
    footprints,
    latency,
    matrix,
    runs,
    tables,
)
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.claims import CLAIMS
from homenode_studies.studies.foglia.claims_blocks import best_block
from homenode_studies.studies.foglia.judging import EXTENSION
from homenode_studies.studies.foglia.matrix import Setting
from homenode_studies.studies.tables import Axis, Evidence, Figure, Missing
from made_mixes import make_mixes
from support.command import Command

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def mixes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_mixes(tmp_path_factory.mktemp("mixes"), 20_000)


def test_the_printed_timing_is_the_machine_s() -> None:
    table = tables.timing(matrix.BLOCKS)
    assert len(table.rows) == len(published.tables(PAPER.name)["table-4"]) == 8
    assert tables.differences(table.rows) == []
    table.rows[3]["128"] += 1
    assert tables.differences(table.rows) == ["Memory-to-cache read-block transaction, 128 bytes"]


def test_everything_that_is_printed_was_simulated() -> None:
    for quick in (True, False):
        simulated = set(matrix.wanted(EC, quick))
        for table in ("table-5", "stated"):
            for row in published.tables(PAPER.name)[table]:
                assert tables.setting_of(row) in simulated, row
        assert len(simulated) == len(matrix.wanted(EC, quick))
    assert len(matrix.wanted(EC, quick=False)) > len(matrix.wanted(EC, quick=True))
    assert len(matrix.wanted(DB, quick=False)) == len(matrix.wanted(WEB, quick=False)) == 6


@pytest.mark.parametrize("name", ["ec", "db", "web"])
def test_small_mixes_come_along(name: str) -> None:
    trace = hn.Trace.open(mixes_of_studies.find(name, None, quick=True))
    groups = footprints.groups(trace.info["metadata"]["processes"])
    assert len(groups[footprints.ALL]) == trace.info["threads"] == 26
    servers = {"ec": (13, 8), "db": (0, 21), "web": (26, 0)}[name]
    assert tuple(len(groups.get(server, ())) for server in ("Apache", "PostgreSQL")) == servers
    utilities = set(groups) - {footprints.ALL, "Apache", "PostgreSQL"}
    assert utilities == (set() if name == "web" else set(footprints.UTILITIES))


def test_there_are_claims_of_every_section() -> None:
    assert len(CLAIMS) >= 40
    sections = {claim.section for claim in CLAIMS}
    assert sections >= {"4", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.2.1", "5.2.2", "5.3", "7"}
    assert [claim.section for claim in CLAIMS] == sorted(
        (claim.section for claim in CLAIMS), key=lambda section: (section[0].isdigit(), section)
    )


def test_rates_are_percentages_of_the_references() -> None:
    row = point(
        EC,
        Setting(),
        misses_cold=10,
        misses_removal=5,
        misses_invalidation_false=20,
        kernel_misses_invalidation_false=15,
        coherence_passive=4,
        kernel_coherence_passive=1,
    )
    assert m.misses(row) == pytest.approx(3.5)
    assert m.others(row) == pytest.approx(1.5)
    assert m.invalidations(row, part="kernel") == pytest.approx(1.5)
    assert m.invalidations(row, "false", part="user") == pytest.approx(0.5)
    assert m.coherence(row, "passive", part="user") == pytest.approx(0.3)
    assert m.invalidation_share(row) == pytest.approx(20 / 35)
    assert m.misses(row | {"stands_for": 4}) == pytest.approx(3.5 / 4)


def test_a_miss_delays_for_as_long_as_the_power_says() -> None:
    # Eight processors with a power of 4 wait for half of their time: 2 cycles for each 100 / 4
    # references that do not miss.
    row = point(EC, Setting(), gsp=4.0, misses_cold=40)
    assert m.delay_per_miss(row) == pytest.approx(50)
    with pytest.raises(Missing, match="misses"):
        m.delay_per_miss(point(EC, Setting(), gsp=4.0))


def test_printed_delays_are_those_of_printed_powers_and_misses() -> None:
    machines = [matrix.SMALL_BLOCKS.changed(processors=n) for n in matrix.FEW]
    machines += [Setting(block_size=block) for block in matrix.BLOCKS]
    found = runs.Runs(point(EC, setting, misses_cold=10) for setting in machines)
    rows = latency.delays(found).rows
    printed = {row["machine"]: row["paper"] for row in rows if row["paper"] is not None}
    assert {name: round(value) for name, value in printed.items()} == {
        "MESI, 8 processors, 2 MB, 32 B, random": 78,
        "MESI, 8 processors, 2 MB, 256 B, random": 73,
    }


def test_idle_processors_are_told_up_to_where_there_should_be_none() -> None:
    busy = point(EC, Setting(), cycles=100, idle_cycles=8)
    many = point(EC, Setting(processors=24), cycles=100, idle_cycles=1200)
    assert m.idle(busy) == pytest.approx(0.01)
    assert [row["idle_percent"] for row in latency.idle(runs.Runs([busy, many])).rows] == [1, 50]
    assert "at most 1 %" in latency.sentence(runs.Runs([busy, many]))
    assert "**not** under" in latency.sentence(runs.Runs([busy | {"idle_cycles": 80}]))


def test_bands_are_those_of_seeds_and_of_holds() -> None:
    rows = [{"gsp": 6.0 + seed / 10, "bus_utilisation": 0.5} for seed in bands.SEEDS]
    of_seeds = bands.seeds({matrix.SMALL_BLOCKS: rows}).rows
    assert (of_seeds[0]["gsp_least"], of_seeds[0]["gsp_most"]) == pytest.approx((6.1, 6.5))
    assert (of_seeds[0]["gsp_paper"], of_seeds[0]["bus_paper"]) == (5.6, 71)
    of_holds = bands.holds({matrix.SMALL_BLOCKS: rows[:3]}).rows
    assert [row["22 cycles"] for row in of_holds] == pytest.approx([6.2, 50])
    held = {}
    for cycles, machine in bands.HOLDS.items():
        trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[0])
        row = hn.simulate(trace, points=[machine.point(matrix.SMALL_BLOCKS)]).rows[0]
        held[cycles] = round(row["bus_utilisation"] * row["cycles"])
        assert row["cycles"] == 68
    assert held == {12: 12, 22: 22, 68: 68}


def test_claims_about_pscr_are_judged_with_its_extension_too() -> None:
    statements = [claim.statement for claim in CLAIMS]
    twins = [name for name in statements if name.startswith(EXTENSION)]
    assert len(twins) >= 19
    assert all(name.removeprefix(EXTENSION) in statements for name in twins)
    points = [
        point(EC, Setting(protocol, n, scheduler=policy), coherence_passive=passive)
        for protocol, passive in (("mesi", 1), ("pscr", 2), (matrix.EXTENDED, 0))
        for n in matrix.MANY
        for policy in matrix.SCHEDULERS
    ]
    plain, other = (c for c in CLAIMS if c.statement.endswith("PSCR eliminates passive sharing"))
    verdicts = [find(claim, Evidence({"points": points})).verdict for claim in (plain, other)]
    assert verdicts == ["differs", "holds"]
    assert plain.kind == "identity", "areas have whole pages, so that nothing else can be"


def test_clean_blocks_come_from_memory_under_the_paper_s_protocols() -> None:
    names = [runs.PAPERS.point(Setting(name))["protocol"] for name in (*matrix.PROTOCOLS, "moesi")]
    assert names == ["mesi-memory", "amsd-memory", "pscr-memory", "moesi"]
    extended = runs.PAPERS.point(Setting(matrix.EXTENDED))
    assert extended["protocol"] == "pscr-memory:private_kernel=yes"
    by_caches = replace(runs.PAPERS, clean_from_memory=False)
    assert by_caches.point(Setting())["protocol"] == "mesi"


def test_affinity_keeps_processes_where_other_processors_have_one(tmp_path: Path) -> None:
    # 26 processes on 20 processors, in slices of a tenth of what each has to do.
    trace = hn.Trace.open(mixes_of_studies.find("ec", None, quick=True))
    machine = tmp_path / "slices.toml"
    machine.write_text(
        'name = "slices"\nkind = "bus"\nbase = "bus-smp"\nsummary = "short slices"\n'
        'source = "a test"\n[scheduler]\n'
        'time_slice_references = { value = 2000, source = "a test" }\n'
    )
    points = [{"machine": str(machine), "protocol": "mesi", "processors": 20}]
    points[0]["scheduler"] = "affinity"
    row = hn.simulate(trace, points=points).rows[0]
    assert row["migrations"] <= 26, "a process goes where another one has ended"


def test_coherence_costs_messages_and_misses() -> None:
    row = point(EC, Setting(block_size=128), misses_invalidation_true=10)
    row |= {"transactions_invalidate": 3, "transactions_write": 1}
    assert m.overhead_cycles(row) == pytest.approx((4 * 5 + 10 * 24) / 10)


def test_scalability_is_the_critical_point() -> None:
    powers = {4: 3.5, 8: 6.0, 12: 7.9, 16: 8.0}
    base = Setting()
    found = runs.Runs(
        point(EC, base.changed(processors=n), gsp=power) for n, power in powers.items()
    )
    assert m.scalability(found, EC, base) == (8.0, 6.0)
    with pytest.raises(Missing, match="several numbers"):
        m.scalability(found, EC, base.changed(protocol="pscr"))
    with pytest.raises(Missing, match="needs DB"):
        found.at(DB, base)
    with pytest.raises(Missing, match="was not simulated"):
        found.at(EC, base.changed(block_size=64))


@pytest.mark.parametrize(
    ("powers", "best"),
    [((5.6, 6.3, 6.8, 7.0), 128), ((5.6, 6.3, 6.4, 6.5), 64), ((6.0, 5.0, 4.0, 3.0), 32)],
)
def test_the_best_block_is_the_last_that_is_worth_it(powers: tuple[float, ...], best: int) -> None:
    points = [
        point(EC, Setting(cache_size=size, block_size=block), gsp=power)
        for size in matrix.SIZES
        for block, power in zip(matrix.BLOCKS, powers, strict=True)
    ]
    assert best_block(Evidence({"points": points})) == best


def test_applications_are_known_by_name() -> None:
    processes = [
        {"pid": 7, "names": ["init", "apache2"]},
        {"pid": 8, "names": ["sh", "mawk"]},
        {"pid": 9, "names": ["apache2"]},
    ]
    assert footprints.groups(processes) == {
        "Apache": [7, 9],
        "AWK": [8],
        footprints.ALL: [7, 8, 9],
    }


def test_a_data_reference_stands_for_four_where_fetches_are_missing() -> None:
    trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    machine = runs.machine_for(trace)
    assert (machine.name, machine.stands_for) == ("data-references", 4)
    found = hn.simulate(trace, points=[machine.point(Setting())])
    assert found.rows[0]["busy_cycles"] == 4 * 2
    row = {"references": 100, "fetches": 0, "writes": 40, "kernel": 10, "processes": 1}
    row |= {"distinct_blocks": 1, "shared_blocks": 0, "shared_references": 0, "shared_writes": 0}
    row |= {"written_shared_blocks": 0, "written_shared_references": 0}
    shares = footprints.shares(row)
    assert (shares["code"], shares["data_write"], shares["kernel"]) == (None, 10, 10)
    assert footprints.shares(row | {"fetches": 50})["code"] == 50


def test_results_are_kept_until_the_engine_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    kept = ResultCache(tmp_path, trace)
    assert kept.get({"a": 1}) is None
    kept.put({"a": 1, "b": 2}, [3])
    kept.save()
    assert ResultCache(tmp_path, trace).get({"b": 2, "a": 1}) == [3]
    monkeypatch.setattr("homenode_studies.studies.cache.engine", lambda: "another")
    assert ResultCache(tmp_path, trace).get({"a": 1, "b": 2}) is None
    next(tmp_path.glob("results-*.json")).write_text("[cut sho")
    assert ResultCache(tmp_path, trace).get({"a": 1, "b": 2}) is None


@pytest.mark.timeout(1200)
def test_a_second_run_simulates_nothing(mixes: Path, tmp_path: Path) -> None:
    words: dict[str, Any] = {"quick": True, "traces": tmp_path, "programs": [DB], "mixes": mixes}
    first = studies.study("foglia", **words)

    def watch(title: str) -> Any:
        raise AssertionError(title)

    again = studies.study("foglia", **words, watch=watch)
    assert again.to_dict() == first.to_dict()
    assert {figure.name for figure in first.products.figures} >= {"figure-19", "figure-22"}
    assert first.counts["not testable"] > 40


@pytest.mark.timeout(1200)
def test_the_command_takes_mixes(homenode: Command, mixes: Path, tmp_path: Path) -> None:
    words = ("study", "foglia", "--quick", "-o", tmp_path, "--mixes", mixes)
    made = homenode(*words, "--program", "Web-server", "--json")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    assert [row["workload"] for row in found["tables"]["table-3"]] == [WEB]
    assert found["tables"]["table-3"][0]["processes"] == 26


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("foglia",), "homenode workloads ecommerce all -o DIR"),
        (("foglia", "--quick", "--mixes", "nowhere"), "there is no mix nowhere"),
        (("markatos", "--quick", "--mixes", "nowhere"), "takes no mixes"),
    ],
)
def test_where_mixes_are_must_be_said(
    homenode: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    made = homenode("study", *words, "-o", tmp_path)
    assert made.code == 2
    assert said in made.err


def test_bars_are_stacked() -> None:
    rows: list[dict[str, Any]] = [
        {"series": "true sharing, kernel", "x": "2 MB", "bar": "4", "y": 1.0},
        {"series": "true sharing, user", "x": "2 MB", "bar": "4", "y": 3.0},
        {"series": "printed", "x": "2 MB", "bar": "4", "y": 2.0, "printed": True},
        {"series": "true sharing, kernel", "x": "2 MB", "bar": "8", "y": 0.0},
    ]
    axis = Axis("misses")
    root = ET.fromstring(  # noqa: S314 - ours
        str(charts.draw(Figure("figure-1", "t", "stacks", rows, axis, axis)))
    )
    bars = [r for r in root.iter(f"{_SVG}rect") if r.find(f"{_SVG}title") is not None]
    low, high = sorted(bars, key=lambda bar: -float(bar.get("y", 0)))
    assert float(high.get("height", 0)) == pytest.approx(3 * float(low.get("height", 0)), rel=0.01)
    assert float(high.get("y", 0)) + float(high.get("height", 0)) == pytest.approx(
        float(low.get("y", 0)), abs=0.02
    )
    assert high.get("fill") == "url(#figure-1-1)"
    assert root.find(f".//{_SVG}pattern").get("id") == "figure-1-1"  # type: ignore[union-attr]
    assert len(list(root.iter(f"{_SVG}circle"))) == 1
