"""Steps of a walk under a protocol of pages in words: the same in the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.report import messages, steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    Data = Mapping[str, Any]

# Up to so many nodes are all drawn, idle ones too: they fit beside each other.
_ALL_SHOWN = 8
_SYNCHRONISES = {"acquire": "acquires", "release": "releases"}
_TABLES = {
    "mapping": "the page table of node",
    "release": "the release of node",
    "home": "the home, node",
    "cache": "the cache of node",
    "memory": "the memory of node",
}


def is_access(step: Data) -> bool:
    """Whether a step is an access, and neither an acquire nor a release."""
    return step["kind"] not in _SYNCHRONISES


def nodes(data: Data) -> list[int]:
    """The nodes that are shown: all, or if they are many those that a walk has to do with."""
    everybody = range(data["processors"])
    if len(everybody) <= _ALL_SHOWN:
        return list(everybody)
    seen: set[int] = set()
    for protocol in data["protocols"]:
        for step in protocol["walk"]["steps"]:
            seen.add(step["processor"])
            seen.update(act["node"] for act in step["acts"])
            homes = [page["entry"]["home"] for page in step["scene"]["pages"]]
            seen.update(home for home in homes if home is not None)
    return sorted(seen)


def unseen(data: Data) -> str:
    """Says how many nodes are not shown, if any."""
    count = data["processors"] - len(nodes(data))
    return f"Not shown: nodes that have nothing to do with this ({count})." if count else ""


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
    """What becomes of a step: ``page fault, cold miss``, ``unmaps 1 page``."""
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
    listed = " ".join(f"N{node}" for node in found["listed"])
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
    return ", ".join(found) or "nobody maps it"


def controller(act: Data) -> str:
    """Where something happens: ``home N0``."""
    return f"{act['controller']} N{act['node']}"


def message(act: Data) -> str:
    """What arrives: ``N1 → N0 read fault``; without a message what the controller sees."""
    return messages.message(act)


def change(act: Data) -> str:
    """The state before and after; a cache and a memory have none."""
    return "" if act["state"] is None else messages.change(act)


def about(act: Data, step: Data, walk: Data) -> str:
    """Which page or line something is about, if that is not the one that is referenced."""
    if act["block"] is not None and len(walk["blocks"]) > 1 and act["block"] != step["block"]:
        return f" of {steps.letter(act['block'])}"
    if len(walk["pages"]) > 1 and act["page"] != step["page"]:
        return f" of {page_name(act['page'], walk)}"
    return ""


def sent(step: Data, walk: Data) -> str:
    """All messages of a step between different nodes, in their order."""
    return ", ".join(
        message(act) + about(act, step, walk)
        for act in step["acts"]
        if act["message"] is not None and act["message"]["number"] is not None
    )


def sentences(walk: Data) -> list[str]:
    """For each step what happens in it, and which earlier misses it judges."""
    said = [_sentence(step, number, walk) for number, step in enumerate(walk["steps"])]
    return steps.with_judgements(said, walk)


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
    where = f"{_TABLES[act['controller']]} {act['node']}"
    of, come = about(act, step, walk), act["message"]
    if come is None:
        text = f"{where.capitalize()}{of}, {act['event']}"
    else:
        source = ", within the node" if come["way"] == "within" else f" from node {come['from']}"
        text = f"{come['name'].capitalize()}{of}{source} comes to {where}"
    if act["state"] != act["next"]:
        text += f"; {act['state']} becomes {act['next']}"
    done = messages.does(act)
    return f"{text}: {done}." if done else f"{text}."


def summary(protocol: Data) -> str:
    """What a walk comes to."""
    walk = protocol["walk"]
    accesses = [step for step in walk["steps"] if is_access(step)]
    missed = sum(step["miss"] is not None for step in accesses)
    totals = walk["totals"]
    parts = [
        steps.counted(totals["page_faults"], "page fault"),
        steps.counted(len(accesses) - missed, "hit"),
        steps.counted(missed, "miss"),
        steps.counted(sum(totals["messages"].values()), "message"),
        steps.counted(totals["message_bytes"], "byte"),
    ]
    return f"{protocol['name']}: {', '.join(parts)} between nodes."
