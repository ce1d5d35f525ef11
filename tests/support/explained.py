"""Explanations for tests of their pages, and the counts that the pages show."""

from typing import Any

import homenode as hn
from support.browser import Browser

# Two pages, two lines on the first, and frames that are replaced.
_STEPS = (
    "0 W a0; 1 W a1; 2 R b0; 1 W c0; 0 rel; 1 R b0; 2 R a0; 2 acq; 2 R a0; 1 rel; 0 acq; "
    "0 R c0; 3 W b1; 3 rel; 2 acq"
)
# The home, node 0, gets several reads at once, and so does the proxy of block b.
_READS = (
    "0 R a0; 1 R b0 &; 2 R b0 &; 3 R b0 &; 4 R b0; 2 W b1; 5 R b1; 1 R a0; 5 R a0; 3 W a2; 1 W a0"
)


def bus() -> hn.Explanation:
    """Protocols of a bus."""
    return hn.explain(["mesi", "amsd", "pscr", "moesi", "dragon"])


def directory() -> hn.Explanation:
    return hn.explain(["dash", "dash:pointers=1"])


def lists() -> hn.Explanation:
    """A protocol of lists of copies, with reads that bounce and reads through a proxy."""
    return hn.explain("sdd", example=_READS, buffers="1", proxies="reactive:clusters=1")


def pages() -> hn.Explanation:
    return hn.explain("lrc", example=_STEPS, home="round-robin")


def counts(opened: Browser, protocol: int) -> dict[str, Any]:
    """The counts that a page shows for a protocol up to its step."""
    found: dict[str, Any] = opened.value(
        f'Object.fromEntries([...document.querySelectorAll(\'[data-total="{protocol}"] '
        "[data-count]')].map(cell => [cell.dataset.count, Number(cell.textContent)]))"
    )
    return found


def check_messages(opened: Browser, explained: hn.Explanation) -> None:
    """At its last step a page shows the counts of messages and misses of the walks."""
    opened.press("End")
    for index, protocol in enumerate(explained.data["protocols"]):
        totals, shown = protocol["walk"]["totals"], counts(opened, index)
        assert {name: shown[name] for name in totals["messages"]} == totals["messages"]
        assert shown["messages"] == sum(totals["messages"].values())
        assert shown["bytes"] == totals["message_bytes"]
        found = {name: shown[name] for name in totals["misses"] if name in shown}
        assert found == {name: totals["misses"][name] for name in found}
