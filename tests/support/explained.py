"""Explanations for tests of their pages, and what these have counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import homenode as hn

if TYPE_CHECKING:
    from support.browser import Browser

# Two pages, two lines on the first, and frames that have to give way.
_STEPS = (
    "0 W a0; 1 W a1; 2 R b0; 1 W c0; 0 rel; 1 R b0; 2 R a0; 2 acq; 2 R a0; 1 rel; 0 acq; "
    "0 R c0; 3 W b1; 3 rel; 2 acq"
)


def bus() -> hn.Explanation:
    """Protocols of a bus."""
    return hn.explain(["mesi", "amsd", "pscr", "moesi", "dragon"])


def directory() -> hn.Explanation:
    """Protocols with a directory."""
    return hn.explain(["dash", "dash:pointers=1"])


def lists() -> hn.Explanation:
    """A protocol of lists of copies, with proxies and without any in the way."""
    return hn.explain("sdd", home="fixed:node=3", proxies="basic:clusters=1")


def pages() -> hn.Explanation:
    """A protocol of pages."""
    return hn.explain("lrc", example=_STEPS, home="round-robin")


def counts(opened: Browser, protocol: int) -> dict[str, Any]:
    """What a page has counted under a protocol up to its step."""
    found: dict[str, Any] = opened.value(
        f'Object.fromEntries([...document.querySelectorAll(\'[data-total="{protocol}"] '
        "[data-count]')].map(cell => [cell.dataset.count, Number(cell.textContent)]))"
    )
    return found


def check_messages(opened: Browser, explained: hn.Explanation) -> None:
    """At its end a page has counted the messages and misses of the walks."""
    opened.press("End")
    for index, protocol in enumerate(explained.data["protocols"]):
        totals, shown = protocol["walk"]["totals"], counts(opened, index)
        assert {name: shown[name] for name in totals["messages"]} == totals["messages"]
        assert shown["messages"] == sum(totals["messages"].values())
        assert shown["bytes"] == totals["message_bytes"]
        found = {name: shown[name] for name in totals["misses"] if name in shown}
        assert found == {name: totals["misses"][name] for name in found}
