"""The page of `homenode explain` for protocols of pages in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn
from homenode.report import controllers, page_steps
from support.browser import BROWSER, CONTRASTS, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine"),
    pytest.mark.timeout(120),
]

# Two pages, two lines on the first, and frames that have to give way.
_EXAMPLE = (
    "0 W a0; 1 W a1; 2 R b0; 1 W c0; 0 rel; 1 R b0; 2 R a0; 2 acq; 2 R a0; 1 rel; 0 acq; "
    "0 R c0; 3 W b1; 3 rel; 2 acq"
)

# What is seen: page tables, what is owed, lines, homes, messages, and the cells that are marked.
_SEEN = """(() => {
  const panel = document.querySelector('.panel');
  const values = (place) => [...place.querySelectorAll('.word')].map(
    word => Number(word.lastChild.textContent));
  const dirty = (place) => values(place).filter(
    (_, at) => place.querySelectorAll('.word')[at].classList.contains('dirty')).length;
  const nodes = [...panel.querySelectorAll('.cache')];
  const used = document.querySelectorAll('[data-table="0"] .used');
  const homes = nodes.flatMap((node, number) => [...node.querySelectorAll('.homes-of .slot')]
    .map((slot, page) => [slot, page]).filter(([slot]) => slot.classList.contains('homed'))
    .map(([slot, page]) => [page, number, slot.querySelector('.badge').textContent,
      [...slot.querySelectorAll('.line')].map(values)]));
  return {
    mappings: nodes.map(node => [...node.querySelectorAll('.tables .slot')].map(
      slot => [slot.querySelector('.badge').textContent, slot.querySelector('.why').textContent])),
    lines: nodes.map(node => [...node.querySelectorAll('.lines .line')].map(
      line => [values(line), dirty(line)])),
    homes: homes.sort((a, b) => a[0] - b[0]),
    acts: panel.querySelector('.cache.acts b').textContent,
    sent: [...panel.querySelectorAll('.ladder li')].map(row => [
      row.querySelector('span').lastChild.textContent,
      row.querySelector('small')?.textContent ?? '']),
    said: panel.querySelector('.sentence').textContent,
    used: [...used].flatMap(line => line.dataset.keys.split(';')),
  };
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def explained() -> hn.Explanation:
    return hn.explain("lrc", example=_EXAMPLE, home="round-robin")


@pytest.fixture
def opened(browser: Browser, explained: hn.Explanation, tmp_path: Path) -> Browser:
    path = tmp_path / "explain.html"
    path.write_text(explained.html("homenode explain lrc"))
    browser.events.clear()
    browser.open(path)
    return browser


def _expected(walk: dict[str, Any], number: int) -> dict[str, Any]:
    """What the picture has to show after a step."""
    step = walk["steps"][number]
    pages, lines = step["scene"]["pages"], step["scene"]["lines"]
    nodes = range(len(pages[0]["mappings"]))

    def owed(release: str) -> str:
        return "" if release == "released" else f"release: {release}"

    return {
        "mappings": [
            [[page["mappings"][node], owed(page["releases"][node])] for page in pages]
            for node in nodes
        ],
        "lines": [
            [[line["copies"][node]["values"], len(line["dirty"][node])] for line in lines]
            for node in nodes
        ],
        "homes": [
            [
                number,
                page["entry"]["home"],
                page["entry"]["state"],
                [lines[line]["memory"] for line in walk["pages"][number]["blocks"]],
            ]
            for number, page in enumerate(pages)
            if page["entry"]["home"] is not None
        ],
        "acts": f"N{step['processor']}",
        "sent": [
            [
                (act["message"]["name"] if act["message"] else act["event"])
                + page_steps.about(act, step, walk),
                str(act["message"]["number"] or "") if act["message"] else "",
            ]
            for act in step["acts"]
        ],
        "said": page_steps.sentences(walk)[number],
    }


def test_every_step_shows_the_data_forwards_and_backwards(
    opened: Browser, explained: hn.Explanation
) -> None:
    (protocol,) = explained.data["protocols"]
    walk, count = protocol["walk"], len(explained.steps())
    for key, numbers in (("ArrowRight", range(count)), ("ArrowLeft", range(count - 2, -1, -1))):
        for number in numbers:
            opened.press(key)
            seen = opened.value(_SEEN)
            marked = set(seen.pop("used"))
            assert seen == _expected(walk, number), number
            in_tables = [
                act
                for act in walk["steps"][number]["acts"]
                if act["controller"] in {"mapping", "release", "home"}
            ]
            assert {controllers.used(act, protocol["table"]) for act in in_tables} <= marked
    assert opened.said() == []


def test_faults_misses_and_messages_are_counted(opened: Browser, explained: hn.Explanation) -> None:
    opened.press("End")
    totals = explained.data["protocols"][0]["walk"]["totals"]
    shown = opened.value(
        "Object.fromEntries([...document.querySelectorAll('[data-total] [data-count]')]"
        ".map(cell => [cell.dataset.count, Number(cell.textContent)]))"
    )
    assert {name: shown[name] for name in totals["messages"]} == totals["messages"]
    assert shown["messages"] == sum(totals["messages"].values())
    assert (shown["bytes"], shown["fault"]) == (totals["message_bytes"], totals["page_faults"])
    found = {name: shown[name] for name in totals["misses"] if name in shown}
    assert found == {name: totals["misses"][name] for name in found}


def test_buttons_list_and_links_go_anywhere(opened: Browser, explained: hn.Explanation) -> None:
    count = len(explained.steps())
    shown = "document.getElementById('count').textContent"
    opened.value("document.querySelectorAll('.jump')[4].click()")
    assert opened.value(shown) == f"5 of {count}"
    assert opened.value("location.hash") == "#step-5"
    opened.value("document.querySelector('[data-go=first]').click()")
    assert opened.value(shown) == f"0 of {count}"
    assert opened.value("document.querySelectorAll('.ladder li').length") == 0
    assert opened.said() == []


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_nothing_sticks_out_sideways(opened: Browser, width: int) -> None:
    opened.size(width)
    opened.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for _ in range(5):
        opened.press("ArrowRight")
        assert opened.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened: Browser, scheme: str) -> None:
    opened(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    opened.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    weak = []
    for _ in range(8):
        opened.press("ArrowRight")
        contrasts = opened.value(CONTRASTS)
        assert len(contrasts) > 20
        weak += [entry for entry in contrasts if entry[1] < 4.5]
    opened("Emulation.setEmulatedMedia", features=[])
    assert weak == []
