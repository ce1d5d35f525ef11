"""The part of the report about a machine with a directory, in a real browser."""

from pathlib import Path

import pytest

import homenode as hn
from homenode.options.specs import plain_number
from homenode.report import build, directory, page_use
from support.browser import Browser, check_contrasts, check_fits
from support.outcomes import costs, matrix

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def found() -> directory.DirectoryReport:
    return directory.directory(hn.synthetic("t-s", references=4001), "dash-mesh")


@pytest.fixture
def page(found: directory.DirectoryReport, tmp_path: Path) -> Path:
    trace = hn.synthetic("t-s", references=4001)
    point = {"machines": ["numa"], "policies": ["ace"], "block_sizes": [4096]}
    study = build.Study(
        "canned", trace.info, matrix(("numa",), (4096,)), costs(), point, directory=found
    )
    html = build.render([study], title="How far?", command="homenode report", configuration={})
    path = tmp_path / "report.html"
    path.write_text(html)
    return path


def test_it_loads_without_a_word(opened: Browser) -> None:
    assert opened.said() == []


def test_bars_are_as_long_as_runs(opened: Browser, found: directory.DirectoryReport) -> None:
    lengths = opened.value(
        "[...document.querySelectorAll('.times tbody tr')].map(r => "
        "[...r.querySelectorAll('i')].reduce((s, i) => s + i.getBoundingClientRect().width, 0))"
    )
    whole = opened.value("document.querySelector('.times .track').getBoundingClientRect().width")
    longest = max(row["cycles"] for row in found.rows)
    expected = [whole * row["cycles"] / longest for row in found.rows]
    assert lengths == pytest.approx(expected, abs=2)
    cycles = "[...document.querySelectorAll('.times td:nth-child(3)')].map(c => c.textContent)"
    assert opened.value(cycles) == [plain_number(row["cycles"]) for row in found.rows]


def test_the_pages_of_the_first_home_are_drawn_and_others_open(opened: Browser) -> None:
    seen = "[...document.querySelectorAll('svg.pages')].map(s => s.checkVisibility())"
    shown = opened.value(seen)
    assert shown == [True] + [False] * (len(shown) - 1)
    opened.value("document.querySelectorAll('.page-use summary')[1].click()")
    assert opened.value(seen)[1]
    assert opened.value("document.querySelector('svg.pages .home-mark').getBBox().width") > 0


def test_the_pages_are_read_by_keyboard(opened: Browser, found: directory.DirectoryReport) -> None:
    opened.value("document.querySelector('svg.pages').focus()")
    opened.press("ArrowDown")
    text = opened.value("document.getElementById('tip').textContent")
    use = found.uses[0]
    column = page_use.read_out(use)["columns"][0]
    fills = dict(column["fills"]).get(1, 0)
    assert text.startswith(f"node 1: {fills:,} fills")
    assert column["object"] in text
    assert f"filled by {len(column['fills'])} of {use.nodes} nodes" in text
    opened.press("Escape")
    assert opened.value("document.getElementById('tip').hidden") is True


@pytest.mark.parametrize("width", [320, 390, 768, 1300])
def test_the_page_fits_the_width(opened: Browser, width: int) -> None:
    check_fits(opened, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(opened: Browser, scheme: str) -> None:
    check_contrasts(opened, scheme)
