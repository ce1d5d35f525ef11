"""The page of `homenode explain` for protocols of pages in a real browser."""

from typing import Any

import pytest

import homenode as hn
from homenode.report import controllers, messages
from support import explained as explanations
from support.browser import Browser

pytestmark = pytest.mark.timeout(1200)

# What the page shows: page tables, releases, lines, homes, messages, and the marked cells.
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
def explained() -> hn.Explanation:
    return explanations.pages()


def _expected(walk: dict[str, Any], number: int) -> dict[str, Any]:
    """What the picture must show after a step."""
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
                + messages.about(act, step, walk),
                str(act["message"]["number"] or "") if act["message"] else "",
            ]
            for act in step["acts"]
        ],
        "said": messages.sentences(walk)[number],
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
    explanations.check_messages(opened, explained)
    totals = explained.data["protocols"][0]["walk"]["totals"]
    assert explanations.counts(opened, 0)["fault"] == totals["page_faults"]
