"""Steps of a walk with a directory in words: the same in the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.report import steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    Data = Mapping[str, Any]

# Up to so many nodes are all drawn, idle ones too: they fit beside each other.
_ALL_SHOWN = 8
_BY_HOME = " (told by its home)"
_WAYS = {"network": "", "within": "within the node", "with-reply": "with the reply"}


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
            homes = [scene["entry"]["home"] for scene in step["scenes"]]
            seen.update(home for home in homes if home is not None)
    return sorted(seen)


def unseen(data: Data) -> str:
    """Says how many nodes are not shown, if any."""
    count = data["processors"] - len(nodes(data))
    return f"Not shown: nodes that have nothing to do with this ({count})." if count else ""


def reference(step: Data, walk: Data) -> str:
    """A reference in a few letters: ``N0 writes a1``."""
    return steps.reference(step, walk, "N")


def _named(numbers: list[int]) -> str:
    return " ".join(f"N{number}" for number in numbers)


def entry(found: Data) -> str:
    """What the directory has of a block: ``dirty, owner N3``."""
    parts = [str(found["state"])]
    if found["owner"] is not None:
        parts.append(f"owner N{found['owner']}")
    if found["listed"] or found["overflow"]:
        others = " and others" if found["overflow"] else ""
        parts.append(f"lists {_named(found['listed'])}{others}")
    return ", ".join(parts)


def holders(step: Data, walk: Data) -> str:
    """Whose caches have the block after a step, and in which state."""
    none = walk["start"][0]["copies"][0]["state"]
    found = [f"N{node} {state}" for node, state in enumerate(step["after"]) if state != none]
    return ", ".join(found) or "no cache"


def message(act: Data) -> str:
    """What arrives: ``N1 → N0 read``; without a message what the controller sees."""
    sent = act["message"]
    if sent is None:
        return f"{act['event']}{_BY_HOME if act['cause'] == 'home' else ''}"
    way = f" ({_WAYS[sent['way']]})" if _WAYS[sent["way"]] else ""
    arrow = f"N{sent['from']}" if sent["way"] == "within" else f"N{sent['from']} → N{sent['to']}"
    return f"{arrow} {sent['name']}{way}"


def controller(act: Data) -> str:
    """Where it arrives."""
    return f"{act['controller']} N{act['node']}"


def change(act: Data) -> str:
    """The state before and after."""
    return act["state"] if act["state"] == act["next"] else f"{act['state']} → {act['next']}"


def does(act: Data) -> str:
    """What the controller does."""
    return ", ".join(action["text"] for action in act["actions"])


def crossed(step: Data) -> int:
    """How many messages of a step go from one node to another."""
    sent = [act["message"] for act in step["acts"]]
    return sum(one is not None and one["number"] is not None for one in sent)


def so_far(step: Data) -> int:
    """How many there were up to the end of a step."""
    return sum(step["messages"].values())


def of_block(act: Data, step: Data, walk: Data) -> str:
    """Which block it is about, if that is not the one that is referenced."""
    here = len(walk["blocks"]) == 1 or act["block"] == step["block"]
    return "" if here else f" of {steps.letter(act['block'])}"


def sent(step: Data, walk: Data) -> str:
    """All messages of a step between different nodes, in their order."""
    return ", ".join(
        message(act) + of_block(act, step, walk)
        for act in step["acts"]
        if act["message"] is not None and act["message"]["number"] is not None
    )


def sentences(walk: Data) -> list[str]:
    """For each step what happens in it, and which earlier misses it judges."""
    said = [_sentence(step, number, walk) for number, step in enumerate(walk["steps"])]
    return steps.with_judgements(said, walk)


def _sentence(step: Data, number: int, walk: Data) -> str:
    parts = [steps.opening(step, number, walk, "Node")]
    parts += [_act(act, step, walk) for act in step["acts"]]
    count = crossed(step)
    said = f"{steps.counted(count, 'message')} between nodes." if count else "No message crosses."
    return " ".join([*parts, said])


def _act(act: Data, step: Data, walk: Data) -> str:
    at_home, sent = act["controller"] == "home", act["message"]
    node = act["node"]
    where = f"the home, node {node}" if at_home else f"the {act['controller']} of node {node}"
    of = of_block(act, step, walk)
    if sent is None:
        whose = _BY_HOME if act["cause"] == "home" else ""
        text = f"{where.capitalize()}{of}, {act['event']}{whose}"
    else:
        way = f", {_WAYS[sent['way']]}" if _WAYS[sent["way"]] else ""
        source = f" from node {sent['from']}" if sent["way"] != "within" else ""
        text = f"{sent['name'].capitalize()}{of}{source} comes to {where}{way}"
    if act["state"] != act["next"]:
        text += f"; {act['state']} becomes {act['next']}"
    done = does(act)
    return f"{text}: {done}." if done else f"{text}."


def summary(protocol: Data) -> str:
    """What a walk comes to."""
    walk = protocol["walk"]
    misses = sum(1 for step in walk["steps"] if step["miss"] is not None)
    parts = [
        steps.counted(len(walk["steps"]) - misses, "hit"),
        steps.counted(misses, "miss"),
        steps.counted(sum(walk["totals"]["messages"].values()), "message"),
        steps.counted(walk["totals"]["message_bytes"], "byte"),
    ]
    return f"{protocol['name']}: {', '.join(parts)} between nodes."
