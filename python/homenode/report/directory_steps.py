"""Steps of a walk with a directory in words: the same in the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.report import messages, steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    Data = Mapping[str, Any]


def nodes(data: Data) -> list[int]:
    """The nodes that are shown."""
    return messages.nodes(data, lambda step: step["scenes"])


def entry(found: Data) -> str:
    """The directory's entry of a block: ``dirty, owner N3``."""
    parts = [str(found["state"])]
    if found["owner"] is not None:
        parts.append(f"owner N{found['owner']}")
    if found["listed"] or found["overflow"]:
        others = " and others" if found["overflow"] else ""
        parts.append(f"lists {_listed(found)}{others}")
    return ", ".join(parts)


def _listed(found: Data) -> str:
    """The nodes that are listed, and of which the copy in the proxy cache is meant."""
    of_proxies = set(found.get("in_proxy_caches", ()))
    caches = [
        f"N{node} ({messages.PROXY_CACHE})" if place in of_proxies else f"N{node}"
        for place, node in enumerate(found["listed"])
    ]
    return " ".join(caches)


def holders(step: Data, walk: Data) -> str:
    """Whose caches have the block after a step, and in which state."""
    none = walk["start"][0]["copies"][0]["state"]
    found = [f"N{node} {state}" for node, state in enumerate(step["after"]) if state != none]
    found += [
        f"N{node} {copy['state']} ({messages.PROXY_CACHE})"
        for node, copy in enumerate(step["scenes"][step["block"]].get("proxy_copies", ()))
        if copy["state"] != none
    ]
    return ", ".join(found) or "no cache"


def sentences(walk: Data) -> list[str]:
    """For each step what happens in it, and the earlier misses that it classifies."""
    return steps.with_judgements(walk, _sentence)


def _sentence(step: Data, number: int, walk: Data) -> str:
    parts = [steps.opening(step, number, walk, "Node")]
    parts += [_act(act, step, walk) for act in step["acts"]]
    count = messages.crossed(step)
    said = f"{steps.counted(count, 'message')} between nodes." if count else "No message crosses."
    if step.get("cycles"):
        said += f" The processor waits {steps.counted(step['cycles'], 'cycle')}."
    return " ".join([*parts, said])


def _act(act: Data, step: Data, walk: Data) -> str:
    where, sent = messages.where(act), act["message"]
    of = messages.of_block(act, step, walk)
    if sent is None:
        whose = messages.BY_HOME if act["cause"] == "home" else ""
        text = f"{where.capitalize()}{of}, {act['event']}{whose}"
    else:
        way = f", {messages.WAYS[sent['way']]}" if messages.WAYS[sent["way"]] else ""
        source = f" from node {sent['from']}" if sent["way"] != "within" else ""
        text = f"{sent['name'].capitalize()}{of}{source} comes to {where}{way}"
    return messages.with_result(text, act)


def summary(protocol: Data) -> str:
    """The totals of a walk."""
    return messages.summary(protocol, protocol["walk"]["steps"])
