"""The page of `homenode explain` for a directory in a real browser: nodes, homes and messages."""

from typing import Any

import pytest

import homenode as hn
from homenode.report import controllers, messages
from support import explained as explanations
from support.browser import Browser

pytestmark = pytest.mark.timeout(1200)

# What the page shows of each protocol: caches, homes, messages, and the marked cells.
_SEEN = """[...document.querySelectorAll('.panel')].map((panel, index) => {
  const values = (place) => [...place.querySelectorAll('.word')].map(
    word => Number(word.lastChild.textContent));
  const slots = (place, of) => [...place.querySelectorAll(`${of} .slot`)];
  const used = document.querySelectorAll(`[data-table="${index}"] .used`);
  const nodes = [...panel.querySelectorAll('.cache')];
  const homes = nodes.flatMap((node, number) => slots(node, '.memory')
    .map((slot, block) => [slot, block])
    .filter(([slot]) => slot.classList.contains('homed'))
    .map(([slot, block]) => [block, number, slot.querySelector('.badge').textContent,
      values(slot)]));
  return {
    copies: nodes.map(cache => slots(cache, '.copies').map(
      slot => [slot.querySelector('.badge').textContent, values(slot)])),
    homes: homes.sort((a, b) => a[0] - b[0]),
    acts: [...panel.querySelectorAll('.cache.acts b:first-child')].map(b => b.textContent)[0],
    sent: [...panel.querySelectorAll('.ladder li')].map(row => [
      row.querySelector('span').lastChild.textContent,
      row.querySelector('small')?.textContent ?? '',
      row.querySelector('.comes-to b').textContent]),
    right: [...panel.querySelectorAll('.hop')].map(hop => hop.classList.contains('right')),
    said: panel.querySelector('.sentence').textContent,
    used: [...used].flatMap(line => line.dataset.keys.split(';')),
  };
})"""


@pytest.fixture(scope="module", params=[explanations.directory, explanations.lists])
def explained(request: pytest.FixtureRequest) -> hn.Explanation:
    made: hn.Explanation = request.param()
    return made


def _expected(protocol: dict[str, Any], number: int) -> dict[str, Any]:
    """What the picture of a protocol must show after a step."""
    walk = protocol["walk"]
    step = walk["steps"][number]
    scenes = step["scenes"]
    sent = [act["message"] for act in step["acts"]]
    crossing = [one for one in sent if one and one["from"] != one["to"]]
    return {
        "copies": [
            [[scene["copies"][n]["state"], scene["copies"][n]["values"]] for scene in scenes]
            for n in range(len(step["after"]))
        ],
        "homes": [
            [block, scene["entry"]["home"], scene["entry"]["state"], scene["memory"]]
            for block, scene in enumerate(scenes)
            if scene["entry"]["home"] is not None
        ],
        "acts": f"N{step['processor']}",
        "sent": [
            [
                (act["message"]["name"] if act["message"] else act["event"])
                + messages.about(act, step, walk),
                str(act["message"]["number"] or "") if act["message"] else "",
                messages.change(act),
            ]
            for act in step["acts"]
        ],
        "right": [one["from"] < one["to"] for one in crossing],
        "said": messages.sentences(walk)[number],
    }


def _used(protocol: dict[str, Any], number: int) -> set[str]:
    return {
        controllers.used(act, protocol["table"])
        for act in protocol["walk"]["steps"][number]["acts"]
    }


def test_every_step_shows_the_data_forwards_and_backwards(
    opened: Browser, explained: hn.Explanation
) -> None:
    protocols = explained.data["protocols"]
    count = len(explained.steps())
    for key, numbers in (("ArrowRight", range(count)), ("ArrowLeft", range(count - 2, -1, -1))):
        for number in numbers:
            opened.press(key)
            seen = opened.value(_SEEN)
            marked = [set(one.pop("used")) for one in seen]
            assert seen == [_expected(one, number) for one in protocols], number
            for one, keys in zip(protocols, marked, strict=True):
                assert _used(one, number) <= keys
    assert opened.said() == []


def test_messages_are_counted(opened: Browser, explained: hn.Explanation) -> None:
    explanations.check_messages(opened, explained)


def test_arrows_end_under_their_nodes(opened: Browser, explained: hn.Explanation) -> None:
    opened.size(1300)
    for _ in range(6):
        opened.press("ArrowRight")
    ends = opened.value("""(() => {
      const panel = document.querySelector('.panel');
      const middle = (box) => (box.left + box.right) / 2;
      const boxes = [...panel.querySelectorAll('.cache')].map(c => c.getBoundingClientRect());
      return [...panel.querySelectorAll('.hop')].map(hop => {
        const box = hop.getBoundingClientRect();
        const near = (x) => boxes.findIndex(b => Math.abs(middle(b) - x) < 12);
        return hop.classList.contains('right') ? [near(box.left), near(box.right)]
          : [near(box.right), near(box.left)];
      });
    })()""")
    sent = [act["message"] for act in explained.steps()[5]["acts"] if act["message"]]
    expected = [[one["from"], one["to"]] for one in sent if one["from"] != one["to"]]
    assert len(expected) > 1
    assert ends == expected
