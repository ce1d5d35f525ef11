"""Steps of a walk under a protocol of pages in words: the same in the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.report import messages, steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    Data = Mapping[str, Any]

_SYNCHRONISES = {"acquire": "acquires", "release": "releases"}


def is_access(step: Data) -> bool:
    """Whether a step is an access, and neither an acquire nor a release."""
    return step["kind"] not in _SYNCHRONISES


def nodes(data: Data) -> list[int]:
    """The nodes that are shown."""
    return messages.nodes(data, lambda step: step["scene"]["pages"])


def page_name(page: int, walk: Data) -> str:
    """A page by its number on a page of HTML: ``page 2``, or ``page`` if there is one."""
    return f"page {page + 1}" if len(walk["pages"]) > 1 else "page"


def reference(step: Data, walk: Data) -> str:
    """A step in a few letters: ``N0 writes a1``, ``N0 releases``."""
    if is_access(step):
        return messages.reference(step, walk)
    return f"N{step['processor']} {_SYNCHRONISES[step['kind']]}"


def unmapped(step: Data) -> int:
    """How many pages an acquire unmaps."""
    return _changing(step, "mapping", "acquire")


def released(step: Data) -> int:
    """How many written pages a release tells their homes of."""
    return _changing(step, "release", "release")


def _changing(step: Data, controller: str, event: str) -> int:
    return sum(
        (act["controller"], act["event"]) == (controller, event) and act["state"] != act["next"]
        for act in step["acts"]
    )


def outcome(step: Data) -> str:
    """The outcome of a step: ``page fault, cold miss``, ``unmaps 1 page``."""
    if step["kind"] == "acquire":
        count = unmapped(step)
        return f"unmaps {steps.counted(count, 'page')}" if count else "no notice had come"
    if step["kind"] == "release":
        count = released(step)
        return f"tells of {steps.counted(count, 'page')}" if count else "nothing was written"
    trap = "page fault, " if step["fault"] else "TLB fill, " if step["tlb_miss"] else ""
    return trap + steps.outcome(step)


def entry(found: Data) -> str:
    """A page at its home: ``weak, lists N0 N1``."""
    listed = messages.named(found["listed"])
    return f"{found['state']}, lists {listed}" if listed else str(found["state"])


def pages_at_home(step: Data, walk: Data) -> str:
    """All pages at their homes after a step."""
    several = len(walk["pages"]) > 1
    return "; ".join(
        (f"{page_name(number, walk)}: " if several else "") + entry(page["entry"])
        for number, page in enumerate(step["scene"]["pages"])
        if page["entry"]["home"] is not None
    )


def mappings(step: Data, walk: Data) -> str:
    """Which nodes map the page of an access, or any, after a step, and how."""
    unmapped_state = walk["start"]["pages"][0]["mappings"][0] if walk["pages"] else ""
    shown = range(len(walk["pages"])) if step["page"] is None else [step["page"]]
    several = len(shown) > 1
    found = [
        f"N{node} {state}" + (f" ({page_name(page, walk)})" if several else "")
        for page in shown
        for node, state in enumerate(step["scene"]["pages"][page]["mappings"])
        if state != unmapped_state
    ]
    return ", ".join(found) or "no node maps it"


def about(act: Data, step: Data, walk: Data) -> str:
    """The page or line concerned, if it is not the one referenced."""
    line = messages.of_block(act, step, walk)
    if line or len(walk["pages"]) <= 1 or act["page"] == step["page"]:
        return line
    return f" of {page_name(act['page'], walk)}"


def sentences(walk: Data) -> list[str]:
    """For each step what happens in it, and the earlier misses that it classifies."""
    return steps.with_judgements(walk, _sentence)


def _sentence(step: Data, number: int, walk: Data) -> str:
    parts = [_opening(step, number, walk)]
    parts += [_act(act, step, walk) for act in step["acts"]]
    count = messages.crossed(step)
    parts.append(f"{steps.counted(count, 'message')} between nodes." if count else "")
    if step["cycles"]:
        parts.append(f"The processor waits {steps.counted(step['cycles'], 'cycle')}.")
    return " ".join(part for part in parts if part)


def _opening(step: Data, number: int, walk: Data) -> str:
    if is_access(step):
        text = steps.opening(step, number, walk, "Node")
        trap = "Its page table does not permit that: a page fault." if step["fault"] else ""
        trap = "Its lookaside buffer lacks the page." if step["tlb_miss"] else trap
        return f"{text} {trap}".strip()
    text = f"Node {step['processor']} {_SYNCHRONISES[step['kind']]}"
    return f"{text}: {outcome(step)}."


def _act(act: Data, step: Data, walk: Data) -> str:
    where, sent = messages.where(act), act["message"]
    of = about(act, step, walk)
    if sent is None:
        text = f"{where.capitalize()}{of}, {act['event']}"
    else:
        source = ", within the node" if sent["way"] == "within" else f" from node {sent['from']}"
        text = f"{sent['name'].capitalize()}{of}{source} comes to {where}"
    return messages.with_result(text, act)


def summary(protocol: Data) -> str:
    """The totals of a walk."""
    walk = protocol["walk"]
    accesses = [step for step in walk["steps"] if is_access(step)]
    faults = steps.counted(walk["totals"]["page_faults"], "page fault")
    return messages.summary(protocol, accesses, faults)
