"""The report in a real browser: it draws, it answers keys and pointers, and it fetches nothing."""

import json
from pathlib import Path

import pytest

import homenode as hn
from homenode.options.specs import plain_number
from homenode.report import build
from support.browser import Browser, check_contrasts, check_fits
from support.outcomes import costs, matrix

_SIZES = (64, 512, 4096)
_ROWS = matrix(("numa", "dsm"), _SIZES)

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture
def page(trace: hn.Trace, tmp_path: Path) -> Path:
    point = {"machines": ["numa"], "policies": ["ace"], "block_sizes": [4096]}
    study = build.Study("canned", trace.info, _ROWS, costs(), point)
    html = build.render([study], title="How far?", command="homenode report", configuration={})
    path = tmp_path / "report.html"
    path.write_text(html)
    return path


def _expected(machine: str, size: int) -> dict[str, str]:
    return {
        row["policy"]: plain_number(row["mcpr"])
        for row in _ROWS
        if row["machine"] == machine and row["block_size"] == size
    }


_SHOWN = """Object.fromEntries([...document.querySelectorAll('.bars tbody tr')].map(
    row => [row.dataset.policy, row.querySelector('.mcpr').textContent]))"""


def test_it_loads_without_a_word_and_fetches_nothing(opened: Browser, page: Path) -> None:
    assert opened.said() == []
    assert [url for url in opened.requests() if not url.startswith("data:")] == [page.as_uri()]


def test_the_charts_are_drawn(opened: Browser) -> None:
    assert opened.value("document.querySelectorAll('svg.panel .series').length") == 12
    assert opened.value("document.querySelectorAll('svg.heat path').length") > 3
    boxes = opened.value(
        "[...document.querySelectorAll('svg[role=img]')].map(s => s.getBoundingClientRect().height)"
    )
    assert all(height > 40 for height in boxes)
    widths = opened.value(
        "[...document.querySelectorAll('.bars tbody tr')].map(r => r.dataset.policy + ' ' + "
        "Math.round([...r.querySelectorAll('i')].reduce((s, i) => "
        "s + i.getBoundingClientRect().width, 0)))"
    )
    lengths = [int(text.split()[1]) for text in widths]
    assert lengths == sorted(lengths)
    assert lengths[0] > 10


def test_the_values_are_those_of_the_simulation(opened: Browser) -> None:
    assert opened.value(_SHOWN) == _expected("numa", 4096)


def test_all_numbers_can_be_saved(opened: Browser) -> None:
    opened.value("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }")
    opened.value("document.querySelector('[data-save=json]').click()")
    found = opened("Runtime.evaluate", expression="saved.text()", awaitPromise=True)
    assert json.loads(found["result"]["value"]) == _ROWS
    opened.value("document.querySelector('[data-save=csv]').click()")
    found = opened("Runtime.evaluate", expression="saved.text()", awaitPromise=True)
    lines = found["result"]["value"].splitlines()
    assert len(lines) == len(_ROWS) + 1
    assert lines[1].split(",")[-1] == str(_ROWS[0]["mcpr"])


def test_another_machine_and_size_can_be_chosen(opened: Browser) -> None:
    opened.value("document.querySelector('input[name$=machine][value=\"1\"]').click()")
    opened.value("document.querySelector('input[name$=size][value=\"0\"]').click()")
    assert opened.value(_SHOWN) == _expected("dsm", 64)
    assert opened.value("document.querySelector('.at-machine').textContent") == "dsm"
    assert opened.value("document.querySelector('.at-size').textContent") == "64 B"
    assert _expected("dsm", 64)["delay"] == "∞"


def test_panels_are_read_by_keyboard(opened: Browser) -> None:
    opened.value("document.querySelector('svg.panel').focus()")
    opened.press("ArrowRight")
    text = opened.value("document.getElementById('tip').textContent")
    assert text.startswith("numa, 4 KB")
    assert all(value in text for value in _expected("numa", 4096).values())
    opened.press("Escape")
    assert opened.value("document.getElementById('tip').hidden") is True


def test_the_map_is_read_by_keyboard(opened: Browser) -> None:
    opened.value("document.querySelector('svg.heat').focus()")
    opened.press("ArrowRight")
    text = opened.value("document.getElementById('tip').textContent")
    assert "processor 0: 20 reads, 0 writes" in text
    assert "touched by 1 of 3 processors" in text


def test_a_policy_can_be_hidden(opened: Browser) -> None:
    opened.value("document.querySelector('.toggles [data-policy=ace]').click()")
    hidden = "getComputedStyle(document.querySelector('.series[data-policy=ace]')).display"
    assert opened.value(hidden) == "none"
    assert (
        opened.value("document.querySelector('.toggles [data-policy=ace]').ariaPressed") == "false"
    )


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_the_page_fits_the_width(opened: Browser, width: int) -> None:
    check_fits(opened, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(opened: Browser, scheme: str) -> None:
    check_contrasts(opened, scheme)
