"""The report: its text, its figures, and that the file is self-contained."""

import json
import re
from html.parser import HTMLParser

import pytest

import homenode as hn
from homenode.options.specs import plain_number
from homenode.report import build, heatmap, lines, sentences
from homenode.report.svg import LogScale, element
from homenode.results.palette import COST_COLOURS, colour_of
from support.outcomes import POLICIES, costs, matrix, outcome

_SIZES = (64, 512, 4096)
_POINT = {"machines": ["numa"], "policies": ["ace"], "block_sizes": [4096]}


@pytest.fixture
def page(trace: hn.Trace) -> str:
    info = trace.info | {"metadata": trace.metadata | {"program": "<b>bad & name</b>"}}
    study = build.Study("p<q", info, matrix(("numa", "dsm"), _SIZES), costs(), _POINT)
    return build.render(
        [study], title="How far?", command="homenode report", configuration={"sync": "exclude"}
    )


class _Reader(HTMLParser):
    """Collects the elements of a page and checks that they nest."""

    VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _read(page: str) -> list[tuple[str, dict[str, str | None]]]:
    reader = _Reader()
    reader.feed(page)
    assert reader.open == []
    return reader.found


def test_elements_nest_and_ids_are_unique(page: str) -> None:
    ids = [attrs["id"] for _, attrs in _read(page) if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_nothing_is_fetched(page: str) -> None:
    for tag, attrs in _read(page):
        for name in ("src", "href", "srcset", "data", "action", "xlink:href"):
            value = attrs.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, name, value)
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttp|import\(", page)
    assert "default-src 'none'" in page


def test_names_are_escaped(page: str) -> None:
    assert "<b>bad" not in page
    assert "&lt;b&gt;bad &amp; name" in page
    assert "p&lt;q" in page


def test_every_figure_has_a_name_and_a_table(page: str) -> None:
    found = _read(page)
    figures = [a for tag, a in found if tag == "svg" and a.get("aria-hidden") != "true"]
    assert len(figures) == 3
    assert all(attrs.get("aria-label") and attrs.get("tabindex") == "0" for attrs in figures)
    assert page.count("<caption") == sum(tag == "table" for tag, _ in found)


def test_the_numbers_are_those_of_the_simulation(page: str) -> None:
    text = re.search(r'id="homenode-data">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    data = json.loads(text[1])
    assert data["studies"][0]["outcomes"] == build.pack(matrix(("numa", "dsm"), _SIZES))
    for row in matrix(("numa",), _SIZES):
        assert f">{plain_number(row['mcpr'])}</td>" in page


def test_bars_are_sorted_and_relative_to_the_optimum() -> None:
    rows = [outcome("ace", 3000), outcome("optimal", 2000), outcome("delay", None)]
    bars = build.bars(rows)
    assert [bar["policy"] for bar in bars] == ["optimal", "ace", "delay"]
    assert [bar["ratio"] for bar in bars] == [1, 1.5, None]
    assert [sum(bar["parts"].values()) for bar in bars] == [2, 3, 0]
    assert bars[0]["limit"] == 3


def test_bars_far_beyond_the_optimum_are_cut() -> None:
    assert build.bar_limit([1.0, 100.0, None], 1.0) == 8
    assert build.bar_limit([1.0, 100.0], None) == 100
    assert build.bar_limit([None], None) == 1


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"optimal": 1000, "ace": 1380}, "ace: it pays 1.38× the least any policy could pay"),
        ({"optimal": 1000, "ace": 1380}, "at most 28 % of its cost could still be saved"),
        ({"optimal": 1000, "ace": 1004}, "ace, within 0.4 % of the best possible"),
        ({"optimal": 1000, "ace": 1000}, "ace is as good as any policy could be"),
        ({"optimal": 1000, "ace": 1100, "delay": 12345}, "delay pays 12.3× the least"),
        ({"optimal": 1000, "best-static": 1000, "ace": 2000}, "best on-line policy is ace"),
        ({"optimal": 1000, "optimal-no-replication": 1500}, "would cost 1.50× as much"),
        ({"optimal": 1000, "optimal-no-replication": 1000}, "Replication gains nothing"),
        ({"optimal": 1000, "ace": 1500, "delay": None}, "delay cannot run here"),
    ],
)
def test_sentences(costs: dict[str, float | None], said: str) -> None:
    found = sentences.distance([outcome(policy, total) for policy, total in costs.items()])
    assert any(said in sentence for sentence in found), found


def test_without_the_optimum_nothing_is_claimed() -> None:
    assert sentences.distance([outcome("ace", 1500)]) == []
    assert sentences.block_size_trend([64], [1.0]) == ""
    assert sentences.block_size_trend([64, 128], [None, None]) == ""
    assert "hardly depends" in sentences.block_size_trend([64, 128], [1.5, 1.5])


def test_axes_have_round_ticks_inside() -> None:
    for low, high in [(1, 12), (1.02, 1.09), (0.5, 3000), (3, 3.1), (1, 1), (97, 103)]:
        ticks = LogScale(low, high, 0, 100).ticks()
        assert all(low * 0.999 <= tick <= high * 1.001 for tick in ticks)
        assert 1 <= len(ticks) <= 12


def test_attributes_and_text_are_escaped() -> None:
    assert (
        element("text", "<&", aria_label='"x"') == '<text aria-label="&#34;x&#34;">&lt;&amp;</text>'
    )


def test_lines_far_above_the_optimum_leave_the_top() -> None:
    panel = lines.Panel("numa", _SIZES, {"random": [90, 90, 90], "optimal": [1.1, 1.0, 1.2]})
    limits = lines.value_range([panel])
    assert limits == (pytest.approx(0.97), pytest.approx(1.2 * 1.03))
    assert lines.beyond([panel], limits) == ["random"]
    near = lines.Panel("numa", _SIZES, {"ace": [1.5, 1.6, 2.0], "optimal": [1.1, 1.0, 1.2]})
    assert lines.beyond([near], lines.value_range([near])) == []


def test_a_line_breaks_where_the_cost_is_infinite() -> None:
    panel = lines.Panel("dsm", _SIZES, {"ace": [1.5, None, 2.0], "optimal": [1.0, 1.1, 1.2]})
    drawn = lines.draw(panel, lines.value_range([panel]))
    ace = re.search(r'<path d="([^"]*)"></path>.{0,400}?data-policy="ace"', drawn)
    assert 'data-policy="ace"' in drawn
    assert drawn.count("<circle") == 5
    assert ace is None or ace[1].count("M") == 2


def test_the_map_distinguishes_own_from_shared_data_and_names_objects() -> None:
    drawn = heatmap.draw(costs()["map"])
    kinds = set(re.findall(r'class="heat-([orw])[1-6]"', drawn))
    assert kinds == {"o", "r", "w"}
    assert ">grid</text>" in drawn
    counted = sum(path.count("M") for path in re.findall(r'heat-[orw]\d" d="([^"]*)"', drawn))
    cells = [
        reads + writes > 0
        for row in costs()["map"]["rows"]
        for reads, writes in zip(row["reads"], row["writes"], strict=True)
    ]
    assert counted == sum(cells)


@pytest.mark.parametrize(("processors", "stretches"), [(1, 1), (64, 512), (3, 2)])
def test_maps_of_every_shape_can_be_drawn(processors: int, stretches: int) -> None:
    row = {"address": "0x0", "object": "", "reads": [1] * processors, "writes": [0] * processors}
    assert "<svg" in heatmap.draw({"row_bytes": 64, "rows": [row] * stretches})


def test_the_worst_blocks_come_with_objects_and_source_lines(page: str) -> None:
    assert "<code>0x1000</code>" in page
    assert "<code>sorbyr.c:42</code>" in page
    assert "false sharing" in page
    assert "heap, sorbyr.c:42" in page
    assert "the trace has no program counters" in page


def test_the_worst_blocks_are_those_of_the_best_online_policy() -> None:
    rows = [outcome("optimal", 1000), outcome("ace", 3000), outcome("delay", 2000)]
    other = [outcome("ace", 1500, block_size=64), outcome("ace", 1, machine="cc")]
    point = build.worst_point(hn.Result(rows + other, {"private": "local"}))
    assert point == {
        "machines": ["numa"],
        "policies": ["delay"],
        "block_sizes": [4096],
        "private": "local",
    }


def test_every_listed_policy_has_a_colour_of_its_own() -> None:
    names = [row["name"] for row in hn.table("policies")]
    assert len({colour_of(name) for name in names}) == len(names)
    assert all(colour_of(name).startswith("#") for name in (*names, *POLICIES, "upt.del"))


def test_every_cost_part_has_a_colour(trace: hn.Trace) -> None:
    parts: dict[str, None] = {}
    for machine in ("numa", "markatos"):
        parts |= dict.fromkeys(hn.simulate(trace, machine, "first-touch", 64).rows[0]["cost"])
    assert list(parts) == [key for key, _ in build.COST_PARTS] == list(COST_COLOURS)
