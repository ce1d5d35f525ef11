"""Studies: their verdicts, for invented tables and small programs."""

import inspect
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.results.rows import Rows
from homenode_studies import studies
from homenode_studies.studies import charts, claims, published
from homenode_studies.studies.bolosky import (
    THESIS,
    ch3_manager,
    ch3_measures,
    ch4_claims,
    ch4_printed,
    ch5_curves,
    ch5_measures,
    ch6_measures,
    ch7_claims,
)
from homenode_studies.studies.cache import kept
from homenode_studies.studies.entry import StudyResult
from homenode_studies.studies.tables import Axis, Evidence, Figure, Missing, Points
from homenode_studies.studies.talbot import PROGRAMS as TALBOT
from homenode_studies.studies.writing import markdown, page, write
from made_mixes import make_mixes
from support.command import Command

# The first test waits until every study has recorded its programs.
pytestmark = pytest.mark.timeout(1200)

_NAMES = [entry.name for entry in studies.TABLE]
_PROGRAMS = ("gauss", "sorbyr", "p-qsort")
_PROGRAMS_OF = {
    "markatos": ("FFT", "SIMPLE", "SPEECH", "WEATHER"),
    "foglia": ("EC-server", "DB", "Web-server"),
    "marchetti": ("sor", "mgrid", "mp3d", "water", "appbt"),
    "talbot": TALBOT,
}
_DOCS = Path(__file__).parents[3] / "docs" / "studies"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the small programs are recorded, once for all tests."""
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def results(traces: Path) -> dict[str, StudyResult]:
    """Every study on small programs: three from the thesis, all of the papers'."""
    mixes = make_mixes(traces / "mixes", 40_000)
    return {
        name: studies.study(
            name,
            quick=True,
            traces=traces,
            programs=_programs_of(name),
            mixes=mixes if name == "foglia" else None,
        )
        for name in _NAMES
    }


def _programs_of(name: str) -> tuple[str, ...]:
    return _PROGRAMS_OF.get(name, _PROGRAMS)


def _points(costs: dict[tuple[str, str, int], float], policy: str = "optimal") -> Evidence:
    styles = {"p-qsort": "presto", "gauss": "c-threads", "sorbyr": "c-threads"}
    rows = [
        {
            "program": program,
            "style": styles.get(program, "splash"),
            "machine": machine,
            "policy": policy,
            "block_size": size,
            "mcpr": mcpr,
        }
        for (program, machine, size), mcpr in costs.items()
    ]
    return Evidence({"outcomes": rows})


@pytest.mark.parametrize("name", _NAMES)
def test_every_claim_gets_a_verdict(results: dict[str, StudyResult], name: str) -> None:
    result = results[name]
    assert [finding.claim for finding in result.findings] == list(studies.find(name).claims)
    assert sum(result.counts.values()) == len(result.findings)
    assert result.counts["holds"] > 0
    for finding in result.findings:
        assert finding.ours or finding.verdict == "not testable", finding
        assert finding.note or finding.verdict != "not testable", finding
    assert set(result.ledger["verdict"]) <= set(claims.VERDICTS)
    assert all(len(frame) for frame in {**result.tables, **result.figures}.values())
    # Another version of a program is a trace of its own, such as "ge on row flags".
    names = [row["program"].partition(" on ")[0] for row in result.provenance["traces"]]
    assert list(dict.fromkeys(names)) == list(_programs_of(name))


@pytest.mark.parametrize("with_results", [False, True])
def test_a_second_run_finds_the_same(
    results: dict[str, StudyResult], traces: Path, tmp_path: Path, with_results: bool
) -> None:
    for path in traces.iterdir():
        if path.is_file() and (with_results or path.suffix == ".hnt"):
            (tmp_path / path.name).symlink_to(path)
    again = studies.study("bolosky-ch5", quick=True, traces=tmp_path, programs=_PROGRAMS)
    assert again.to_dict() == results["bolosky-ch5"].to_dict()
    assert page(again) == page(results["bolosky-ch5"])


def test_a_simulation_is_asked_for_once(tmp_path: Path) -> None:
    trace = hn.Trace.from_numpy(thread=[0, 1], kind="W", address=[0x0, 0x40])
    calls: list[tuple[Any, ...]] = []

    def simulate(*asked: Any, **options: Any) -> Rows:
        calls.append(asked)
        return hn.simulate(*asked, **options)

    first = kept(tmp_path, simulate, trace, "numa", "optimal", 64)
    again = kept(tmp_path, simulate, trace, "numa", "optimal", 64)
    assert len(calls) == 1
    assert (again.rows, again.provenance) == (first.rows, first.provenance)
    assert kept(tmp_path, simulate, trace, "numa", "optimal", 64, force=True).rows == first.rows
    assert kept(tmp_path, simulate, trace, "cc", "optimal", 64).rows != first.rows
    assert len(calls) == 3


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_written_can_be_read(
    results: dict[str, StudyResult], name: str, tmp_path: Path
) -> None:
    result = results[name]
    html = write(result, tmp_path).read_text()
    _Balanced().check(html)
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in html
    # Pictures are in the page.
    assert html.count("src=") == html.count('src="data:image/svg+xml;base64,')
    for figure in result.products.figures:
        root = ET.fromstring((tmp_path / f"{figure.name}.svg").read_text())  # noqa: S314 - ours
        assert root.tag.endswith("svg")
        assert (tmp_path / f"{figure.name}.csv").read_text().count("\n") == len(figure.rows) + 1
    assert json.loads((tmp_path / "study.json").read_text())["counts"] == result.counts
    assert not list(tmp_path.glob("*.partial"))


class _Balanced(HTMLParser):
    """Fails when an element is not closed, or closed twice."""

    _VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        if tag not in self._VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag

    def check(self, text: str) -> None:
        self.feed(text)
        self.close()
        assert self._open == []


@pytest.mark.parametrize("name", _NAMES)
def test_the_ledger_in_the_docs_lists_these_claims(name: str) -> None:
    ledger, _, _ = (_DOCS / f"{name}.md").read_text(encoding="utf-8").partition("## Provenance")
    lines = ledger.splitlines()
    listed = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    wanted = {claim.statement.replace("|", "\\|") for claim in studies.find(name).claims}
    assert wanted <= set(listed)
    rows = [row for row in listed if row not in {"claim", "program"} and " " in row]
    assert len(rows) == len(studies.find(name).claims)


@pytest.mark.parametrize("name", _NAMES)
def test_claims_are_told_apart_and_say_why_not(name: str) -> None:
    found = studies.find(name).claims
    assert len({(claim.section, claim.statement) for claim in found}) == len(found)
    for claim in found:
        assert (claim.compute is None) == (claim.judge is None), claim
        assert claim.compute or claim.why, claim
        assert claim.how or claim.compute is None, claim


def test_the_command_writes_a_page_and_prints_the_ledger(
    homenode: Command, traces: Path, tmp_path: Path
) -> None:
    words = ("study", "bolosky-ch4", "--quick", "-o", tmp_path, "--traces", traces)
    made = homenode(*words, "--program", "gauss", "--json")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    assert found["study"] == "bolosky-ch4"
    assert Path(found["page"]).exists()
    assert len(found["ledger"]) == len(studies.find("bolosky-ch4").claims)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bolosky-ch9",), "there is no study 'bolosky-ch9'; choose one of bolosky-ch3"),
        (("bolosky-ch6", "--program", "doom"), "bolosky-ch6 has no program doom"),
    ],
)
def test_unknown_names_are_usage_errors(
    homenode: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    made = homenode("study", *words, "-o", tmp_path)
    assert made.code == 2
    assert said in made.err


def test_every_file_with_an_entry_is_in_the_table() -> None:
    home = Path(studies.__file__).parent
    found = [path for path in home.rglob("*.py") if "\nENTRY = " in path.read_text("utf-8")]
    listed = [inspect.getfile(entry.experiments) for entry in studies.TABLE]
    assert sorted(str(path) for path in found) == sorted(listed)
    assert all(published.tables(entry.publication.name) for entry in studies.TABLE)


def test_studies_are_listed() -> None:
    rows = hn.table("studies")
    assert [row["name"] for row in rows] == _NAMES
    assert all(row["summary"] and row["source"] and row["claims"] for row in rows)


@pytest.mark.parametrize(
    ("judge", "good", "bad"),
    [
        (claims.about(40), 43, 45),
        (claims.points(0.82), 0.86, 0.88),
        (claims.below(1.1), {"a": 1.0, "b": 1.1}, {"a": 1.0, "b": 1.2}),
        (claims.above(2), [2, 3], [1, 3]),
        (claims.more_than(0.5), 0.51, 0.5),
        (claims.less_than(1), (0.9, 0.5), (0.9, 1)),
        (claims.between(1024, 4096), {"cc": 1024}, {"cc": 512}),
        (claims.only("bsort"), ["bsort"], ["bsort", "gauss"]),
        (claims.empty, [], ["gauss"]),
        (claims.true, {"gauss": 1.0}, {}),
    ],
)
def test_judges(judge: Callable[[Any], bool], good: object, bad: object) -> None:
    assert judge(good)
    assert not judge(bad)


def test_what_cannot_be_computed_is_not_testable() -> None:
    claim = claims.Claim("1", "x", "y", "z", lambda e: e.points().at("mp3d", "a", "b", 1), bool)
    found = claims.find(claim, _points({("gauss", "numa", 64): 1.0}))
    assert (found.verdict, found.note) == (
        "not testable",
        "needs mp3d, which this run does not have",
    )
    nothing = claims.Claim("1", "x", "y", "z", lambda e: 1 / len(e.tables), bool)
    found = claims.find(nothing, Evidence({}))
    assert (found.verdict, found.ours) == ("not testable", "")
    assert "ratio of zero" in found.note


def test_a_reason_is_given_only_where_it_differs() -> None:
    claim = claims.Claim("1", "x", "2", "z", lambda e: len(e.tables), lambda n: n == 2, why="w")
    assert claims.find(claim, Evidence({"a": []})).note == "w"
    assert claims.find(claim, Evidence({"a": [], "b": []})).note == ""


def test_points_are_looked_up() -> None:
    points = Points(
        _points(
            {("gauss", "numa", 64): 2.0, ("gauss", "numa", 128): 1.5, ("p-qsort", "numa", 64): 9.0}
        ).tables["outcomes"]
    )
    assert points.best("gauss", "numa") == (1.5, 128)
    assert points.programs("presto") == ["p-qsort"]
    with pytest.raises(Missing, match="needs chip"):
        points.mcpr("chip", "numa", "optimal", 64)
    with pytest.raises(Missing, match="128-byte"):
        points.mcpr("p-qsort", "numa", "optimal", 128)


def test_chapter_3_follows_its_own_times(results: dict[str, StudyResult]) -> None:
    evidence = results["bolosky-ch3"].products.evidence(published.tables("bolosky"))
    assert set(ch3_manager.not_following(evidence, "beta")) == {"matmult", "e-fft"}
    assert ch3_manager.not_following(evidence, "alpha") == {}
    assert set(ch3_measures.slow_shares(evidence)) == {"matmult"}


def test_kernel_times_come_from_the_page_manager(
    results: dict[str, StudyResult], traces: Path
) -> None:
    row = results["bolosky-ch3"].tables["table-3.2"].set_index("program").loc["sorbyr"]
    # Other studies record it with other arguments, and files are in no order.
    reports = [hn.pmap(trace) for trace in traces.glob("sorbyr-*.hnt")]
    (report,) = (r for r in reports if r["kernel_time"]["total_s"] == row["s_numa"])
    assert row["delta"] == pytest.approx(row["s_numa"] - report["all_global"]["kernel_time_s"])


def test_figure_4_3_misses_the_optimum() -> None:
    from homenode_studies.studies.bolosky.ch4 import COUNTER_EXAMPLE, optimum

    assert ch4_printed.printed_cost(COUNTER_EXAMPLE, 4, 15, 59) == 168
    assert optimum(COUNTER_EXAMPLE) == 154


def test_a_curve_that_bends_upwards_is_found() -> None:
    def rows(*costs: float) -> Evidence:
        return Evidence(
            {
                "sweeps": [
                    {"program": "gauss", "price": price, "value": 10 * i, "mcpr": cost}
                    for price in ("r", "R", "g", "G")
                    for i, cost in enumerate(costs)
                ]
            }
        )

    assert ch4_claims.not_concave(rows(1.0, 1.5, 1.7)) == []
    assert len(ch4_claims.not_concave(rows(1.0, 1.1, 1.7))) == 4
    assert len(ch4_claims.not_concave(rows(1.7, 1.6, 1.5))) == 4


def test_exact_pieces_are_checked() -> None:
    def pieces(*slopes: int) -> Evidence:
        rows, cost = [], 1000.0
        for at, slope in enumerate(slopes):
            end = cost + 100 * slope
            rows.append(
                {"program": "gauss", "from": 100.0 * at, "to": 100.0 * (at + 1), "slope": slope}
                | {"moves": slope, "cost_from": cost, "cost_to": end, "accesses": 1000}
                | {"mcpr_from": cost / 1000, "mcpr_to": end / 1000}
            )
            cost = end
        return Evidence({"curve-against-R": rows})

    good = pieces(9, 4, 1)
    assert ch5_curves.not_concave(good) == ch5_curves.slope_is_not_moves(good) == []
    assert ch5_curves.not_concave(pieces(4, 9)) == ["gauss"]
    assert ch5_curves.steepest(good) == pytest.approx(4 * 200 / 2300)
    good.rows("curve-against-R")[1]["moves"] = 5
    assert ch5_curves.slope_is_not_moves(good) == ["gauss"]
    assert ch5_curves.drawn(good.rows("curve-against-R")) == [
        {"series": "gauss", "x": 200, "y": 2.3},
        {"series": "gauss", "x": 300.0, "y": 2.4},
    ]


def test_savings_are_shares_of_the_optimum() -> None:
    rows = []
    for policy, cost in (("all-global", 2.0), ("optimal", 1.2), ("ace", 1.4)):
        rows += _points({("gauss", "ace", 4096): cost}, policy).tables["outcomes"]
    evidence = Evidence({"outcomes": rows})
    assert ch5_measures.saving(evidence, "ace", "ace") == pytest.approx(0.75)
    assert ch5_measures.total_saving(evidence, "ace", "ace") == pytest.approx(0.75)
    assert ch5_measures.over_optimal(evidence, "ace", "ace")["gauss"] == pytest.approx(1.4 / 1.2)


def test_the_order_of_machines_is_checked() -> None:
    order = {"cc+": 1.0, "cc": 1.1, "numa": 1.2, "dsm+": 1.3, "dsm": 1.4}
    costs = {("gauss", machine, 512): cost for machine, cost in order.items()}
    assert ch6_measures.violations(_points(costs)) == []
    assert ch6_measures.violations(_points(costs | {("gauss", "dsm+", 512): 1.5})) == [
        "gauss dsm+/dsm 512 B"
    ]


def test_full_duration_false_sharing_is_a_share_of_references() -> None:
    rows = [{"program": "gauss", "references": 200, "full_duration_references": 50}]
    assert ch7_claims.full_duration(Evidence({"sharing-of-pages": rows})) == {"gauss": 0.25}


def test_bounds_on_false_sharing_are_in_order(results: dict[str, StudyResult]) -> None:
    rows = results["bolosky-ch7"].products.evidence({}).rows("bounds")
    assert len(rows) == len(_PROGRAMS) * 9
    for row in rows:
        ends = [row[name] for name in ("halving", "false_low", "false_high", "bound", "mcpr")]
        assert [max(end, 0.0) for end in ends] == pytest.approx(sorted(max(e, 0.0) for e in ends))
        assert 1 + row["overhead"] + row["data"] == pytest.approx(row["mcpr"])
        assert row["intervals"] <= row["false_low"] * (1 + 1e-9)


def test_published_tables_have_all_programs() -> None:
    names = {row["name"] for row in studies.programs.listed(THESIS)}
    for name in ("table-2.1", "table-4.1", "table-6.4"):
        assert {row["program"] for row in published.tables("bolosky")[name]} == names
    assert published.row("bolosky", "table-6.5", "matmult") == {
        "program": "matmult",
        "numa_4k": 2.9,
        "uncorrected": 1.52,
        "ace": 2.79,
        "r4000": 6.09,
    }


@pytest.mark.parametrize("kind", ["lines", "bars", "areas", "marks", "stacks"])
def test_figures_of_every_kind_are_drawn(kind: Any) -> None:
    rows = [
        {"series": series, "x": x, "y": y, "group": "gauss", "tick": series == "b"}
        | {"bar": "random"}
        for series in ("a", "b")
        for x, y in ((64, 1.0), (128, 40.0), (256, None))
    ]
    axis = Axis("block size", log=kind == "lines", sizes=kind == "lines", limit=0.5)
    figure = Figure("figure-0", "a & b", kind, rows, axis, axis, areas=("a",))
    drawn = str(charts.draw(figure))
    root = ET.fromstring(drawn)  # noqa: S314 - ours
    assert root.get("aria-label") == "a & b"
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_the_ledger_as_markdown_has_a_row_a_claim(results: dict[str, StudyResult]) -> None:
    result = results["bolosky-ch6"]
    text = markdown(result)
    for finding in result.findings:
        assert f"| {finding.claim.statement} |" in text
    assert "small sizes" in text
