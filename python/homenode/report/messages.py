"""Messages between nodes in words: the same in the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.report import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Data = Mapping[str, Any]

# Up to this number, all nodes are drawn, idle ones too: they fit beside each other.
_ALL_SHOWN = 8
BY_HOME = " (told by its home)"
PROXY_CACHE = "proxy cache"
WAYS = {"network": "", "within": "within the node", "with-reply": "with the reply"}
_WHERE = {
    "cache": "the cache of node",
    "copy": "the cache of node",
    PROXY_CACHE: "the proxy cache of node",
    "home": "the home, node",
    "mapping": "the page table of node",
    "release": "the release of node",
    "memory": "the memory of node",
}


def nodes(data: Data, homed: Callable[[Data], Iterable[Data]]) -> list[int]:
    """The nodes that are shown: all, or if they are many those that a walk has to do with.

    Args:
        data: what ``homenode explain --json`` prints.
        homed: the blocks or pages of a step, with what their homes have of them.
    """
    all_nodes = range(data["processors"])
    if len(all_nodes) <= _ALL_SHOWN:
        return list(all_nodes)
    seen: set[int] = set()
    for protocol in data["protocols"]:
        for step in protocol["walk"]["steps"]:
            seen.add(step["processor"])
            seen.update(act["node"] for act in step["acts"])
            homes = [one["entry"]["home"] for one in homed(step)]
            seen.update(home for home in homes if home is not None)
    return sorted(seen)


def unseen(data: Data, shown: list[int]) -> str:
    """Says how many nodes are not shown, if any."""
    count = data["processors"] - len(shown)
    return f"Not shown: nodes that have nothing to do with this ({count})." if count else ""


def reference(step: Data, walk: Data) -> str:
    """A reference in a few letters: ``N0 writes a1``."""
    return steps.reference(step, walk, "N")


def named(numbers: Iterable[int]) -> str:
    """Nodes by their names: ``N0 N3``."""
    return " ".join(f"N{number}" for number in numbers)


def message(act: Data) -> str:
    """What arrives: ``N1 → N0 read``; without a message what the controller sees."""
    sent = act["message"]
    if sent is None:
        return f"{act['event']}{BY_HOME if act['cause'] == 'home' else ''}"
    way = f" ({WAYS[sent['way']]})" if WAYS[sent["way"]] else ""
    arrow = f"N{sent['from']}" if sent["way"] == "within" else f"N{sent['from']} → N{sent['to']}"
    return f"{arrow} {sent['name']}{way}"


def controller(act: Data) -> str:
    """Its destination: ``home N0``."""
    return f"{side(act)} N{act['node']}"


def side(act: Data) -> str:
    """The part of a node concerned: a controller of the tables, or the ``proxy cache``."""
    return PROXY_CACHE if act.get("proxy_cache") else str(act["controller"])


def where(act: Data) -> str:
    """The same in a sentence: ``the home, node 0``."""
    return f"{_WHERE[side(act)]} {act['node']}"


def has_table(act: Data) -> bool:
    """Whether a table has the action: caches and memories of a protocol of pages have none."""
    return act["state"] is not None


def change(act: Data) -> str:
    """The state before and after; what has no table has none."""
    if not has_table(act):
        return ""
    return act["state"] if act["state"] == act["next"] else f"{act['state']} → {act['next']}"


def does(act: Data) -> str:
    """What the controller does."""
    return ", ".join(action["text"] for action in act["actions"])


def with_result(text: str, act: Data) -> str:
    """A sentence about an act that ends with the next state and with what is done."""
    if act["state"] != act["next"]:
        text += f"; {act['state']} becomes {act['next']}"
    done = does(act)
    return f"{text}: {done}." if done else f"{text}."


def crossed(step: Data) -> int:
    """How many messages of a step go from one node to another."""
    return sum(_crosses(act) for act in step["acts"])


def _crosses(act: Data) -> bool:
    return act["message"] is not None and act["message"]["number"] is not None


def number(act: Data) -> str:
    """The number of a message among those between different nodes; nothing if it is not one."""
    return f"{act['message']['number']:,}" if _crosses(act) else ""


def of_block(act: Data, step: Data, walk: Data) -> str:
    """The block concerned, if it is not the one referenced."""
    here = len(walk["blocks"]) == 1 or act["block"] in {step["block"], None}
    return "" if here else f" of {steps.letter(act['block'])}"


def sent(step: Data, walk: Data, about: Callable[[Data, Data, Data], str]) -> str:
    """All messages of a step between different nodes, in their order.

    Args:
        step: the step.
        walk: its walk.
        about: names the block or page of an act, as `of_block` does.
    """
    return ", ".join(message(act) + about(act, step, walk) for act in step["acts"] if _crosses(act))


def summary(protocol: Data, accesses: list[Data], *first: str) -> str:
    """What a walk with these accesses comes to; `first` precedes everything else."""
    totals = protocol["walk"]["totals"]
    misses = sum(step["miss"] is not None for step in accesses)
    parts = [
        *first,
        steps.counted(len(accesses) - misses, "hit"),
        steps.counted(misses, "miss"),
        steps.counted(sum(totals["messages"].values()), "message"),
        steps.counted(totals["message_bytes"], "byte"),
    ]
    return f"{protocol['name']}: {', '.join(parts)} between nodes."
