"""The page of `homenode explain` in a real browser: it steps both ways and shows the data."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.report import steps
from support import explained as explanations
from support.browser import Browser

pytestmark = pytest.mark.timeout(1200)

# What the page shows of each protocol: states and values by cache and block, and the rest.
_SEEN = """[...document.querySelectorAll('.panel')].map((panel, index) => {
  const values = (place) => [...place.querySelectorAll('.word')].map(
    word => Number(word.lastChild.textContent));
  const slots = (place) => [...place.querySelectorAll('.slot')];
  const table = document.querySelectorAll(`[data-table="${index}"] tr.used`);
  return {
    copies: [...panel.querySelectorAll('.cache')].map(cache => slots(cache).map(
      slot => [slot.querySelector('.badge').textContent, values(slot)])),
    memory: slots(panel.querySelector('.memory')).map(values),
    behind: slots(panel.querySelector('.memory')).map(
      slot => slot.querySelector('.why').textContent),
    acts: [...panel.querySelectorAll('.cache.acts b:first-child')].map(b => b.textContent)[0],
    bus: panel.querySelector('.sent').textContent,
    said: panel.querySelector('.sentence').textContent,
    used: [...table].map(row => row.dataset.key),
  };
})"""


@pytest.fixture(scope="module")
def explained() -> hn.Explanation:
    return explanations.bus()


def _expected(protocol: dict[str, Any], number: int) -> dict[str, Any]:
    """What the picture of a protocol must show after a step."""
    walk = protocol["walk"]
    step = walk["steps"][number]
    scenes = step["scenes"]
    caches = range(len(step["after"]))
    sent = ", then ".join(
        act["transaction"] + (f" ({act['sharing']})" if act["sharing"] else "")
        for act in step["acts"]
        if act["transaction"]
    )
    used = {f"{act['state']}|{act['event']}|{act['condition']}" for act in step["acts"]}
    rows = [f"{r['state']}|{r['event']}|{r['condition']}" for r in protocol["table"]["rows"]]
    return {
        "copies": [
            [
                [scene["copies"][cache]["state"], scene["copies"][cache]["values"]]
                for scene in scenes
            ]
            for cache in caches
        ],
        "memory": [scene["memory"] for scene in scenes],
        "behind": ["up to date" if s["up_to_date"] else "out of date" for s in scenes],
        "acts": f"P{step['processor']}",
        "bus": f"{sent} · {step['cycles']} cycles" if sent else "nothing on the bus",
        "said": steps.sentences(walk)[number],
        "used": [key for key in rows if key in used],
    }


def test_it_loads_without_a_word_and_fetches_nothing(opened: Browser, page: Path) -> None:
    assert opened.said() == []
    assert [url for url in opened.requests() if not url.startswith("data:")] == [page.as_uri()]
    (states,) = {
        state for panel in opened.value(_SEEN) for cache in panel["copies"] for state, _ in cache
    }
    assert states == "I"


def test_every_step_shows_the_data_forwards_and_backwards(
    opened: Browser, explained: hn.Explanation
) -> None:
    protocols = explained.data["protocols"]
    count = len(explained.steps())
    for number in range(count):
        opened.press("ArrowRight")
        assert opened.value(_SEEN) == [_expected(one, number) for one in protocols], number
    for number in reversed(range(count - 1)):
        opened.press("ArrowLeft")
        assert opened.value(_SEEN) == [_expected(one, number) for one in protocols], number
    assert opened.said() == []


def _at(browser: Browser) -> Any:
    return browser.value("document.getElementById('count').textContent")


def test_keys_buttons_slider_and_list_go_anywhere(
    opened: Browser, explained: hn.Explanation
) -> None:
    count = len(explained.steps())
    opened.press("End")
    assert _at(opened) == f"{count} of {count}"
    assert opened.value("document.querySelector('[data-go=on]').disabled") is True
    opened.press("Home")
    assert _at(opened) == f"0 of {count}"
    opened.value("document.querySelector('[data-go=on]').click()")
    assert _at(opened) == f"1 of {count}"
    opened.value("document.querySelectorAll('.jump')[6].click()")
    assert _at(opened) == f"7 of {count}"
    assert opened.value("document.querySelector('.jump[aria-current]').dataset.step") == "7"
    assert opened.value("location.hash") == "#step-7"
    opened.value("""(() => { const slider = document.getElementById('slider');
        slider.focus(); slider.value = 3; slider.dispatchEvent(new Event('input')); })()""")
    assert _at(opened) == f"3 of {count}"
    # The slider moves by itself: the page must not move it a second time.
    opened.press("ArrowRight")
    assert _at(opened) == f"4 of {count}"
    opened.value("document.activeElement.blur()")
    opened.press(" ")
    assert opened.value("document.querySelector('.play').getAttribute('aria-label')") == "Pause"
    assert _at(opened) == f"5 of {count}"
    opened.press(" ")
    assert opened.value("document.querySelector('.play').getAttribute('aria-label')") == "Play"


def test_steps_are_announced_and_counted(opened: Browser, explained: hn.Explanation) -> None:
    opened.press("ArrowRight")
    aloud = opened.value("document.querySelector('[aria-live]').textContent")
    assert aloud.startswith("Step 1 of ")
    for protocol in explained.data["protocols"]:
        assert steps.sentences(protocol["walk"])[0] in aloud
    opened.press("End")
    for index, protocol in enumerate(explained.data["protocols"]):
        totals = protocol["walk"]["totals"]
        shown = explanations.counts(opened, index)
        assert {name: shown[name] for name in totals["misses"]} == totals["misses"]
        assert (shown["hit"], shown["open"]) == (totals["hits"], 0)
        assert shown["cycles"] == protocol["walk"]["bus_cycles"]
        sent = totals["transactions"]
        assert shown["fetch"] == sum(n for name, n in sent.items() if name.startswith("read"))
        assert shown["update-block"] == sent["update_block"]


def test_a_class_is_shown_when_it_is_known(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "mesi.html"
    path.write_text(hn.explain("mesi").html())
    browser.open(path)
    tags = "[...document.querySelectorAll('.tag')].map(tag => tag.textContent)"
    for _ in range(5):
        browser.press("ArrowRight")
    assert browser.value(tags) == ["invalidation miss, true or false shows later", "read-block"]
    assert browser.value("document.querySelector('[data-count=open]').textContent") == "1"
    for _ in range(3):
        browser.press("ArrowRight")
    assert browser.value(tags)[1:] == [
        "invalidate: false sharing",
        "step 5: invalidation miss, false sharing",
    ]


def test_a_link_leads_to_its_step(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.value("location.hash = '#step-4'")
    browser("Runtime.evaluate", expression="new Promise(r => setTimeout(r))", awaitPromise=True)
    assert _at(browser).startswith("4 of ")


def test_a_notebook_shows_it_in_a_frame(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    frame = hn.explain("dragon")._repr_html_()
    ready = "<script>onload = () => { document.documentElement.dataset.ready = 'yes'; }</script>"
    path.write_text(f"<!doctype html><html><body>{frame}{ready}</body></html>")
    browser.events.clear()
    browser.open(path)
    inside = "document.querySelector('iframe').contentDocument"
    browser.value(f"{inside}.querySelector('[data-go=on]').click()")
    assert browser.value(f"{inside}.getElementById('count').textContent").startswith("1 of ")
    assert browser.value(f"{inside}.querySelector('.badge').textContent") == "M"
    assert browser.said() == []


def test_paper_shows_everything(opened: Browser) -> None:
    opened.value("dispatchEvent(new Event('beforeprint'))")
    assert opened.value("document.querySelectorAll('details:not([open])').length") == 0
    opened("Emulation.setEmulatedMedia", media="print")
    hidden = opened.value("document.getElementById('player').getBoundingClientRect().height")
    opened("Emulation.setEmulatedMedia", media="")
    assert hidden == 0
    opened.value("dispatchEvent(new Event('afterprint'))")
    assert opened.value("document.querySelectorAll('details[open]').length") == 0
