"""Walks of nodes with messages between them, in words: the same in the terminal and on the page.

A walk has pages if its protocol keeps pages coherent, and not blocks.
"""

from collections.abc import Mapping
from typing import Any

from homenode.options.specs import counted
from homenode.report import steps

Data = Mapping[str, Any]

# Up to this number, all nodes are drawn, idle ones too: they fit beside each other.
_ALL_SHOWN = 8
_BY_HOME = " (from its node's home)"
_PROXY_CACHE = "proxy cache"
_WAYS = {"network": "", "within": "within the node", "with-reply": "with the reply"}
_WHERE = {
    "cache": "the cache of node",
    "copy": "the cache of node",
    _PROXY_CACHE: "the proxy cache of node",
    "home": "the home, node",
    "mapping": "the page table of node",
    "release": "the release of node",
    "memory": "the memory of node",
}
_SYNCHRONISES = {"acquire": "acquires", "release": "releases"}


def is_access(step: Data) -> bool:
    """Whether a step is an access, and neither an acquire nor a release."""
    return step["kind"] not in _SYNCHRONISES


def homed(step: Data) -> list[Data]:
    """The blocks or pages after a step, each with the entry of its home."""
    found: list[Data] = step["scene"]["pages"] if "scene" in step else step["scenes"]
    return found


def nodes(data: Data) -> list[int]:
    """The nodes shown: all of them, or if there are many those that a walk involves."""
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
    """A step in a few letters: ``N0 writes a1``, ``N0 releases``."""
    if is_access(step):
        return steps.reference(step, walk, "N")
    return f"N{step['processor']} {_SYNCHRONISES[step['kind']]}"


def outcome(step: Data) -> str:
    """The outcome of a step: ``cold miss``, ``page fault, cold miss``, ``unmaps 1 page``."""
    if step["kind"] == "acquire":
        count = changed_pages(step)
        return f"unmaps {counted(count, 'page')}" if count else "no notice had come"
    if step["kind"] == "release":
        count = changed_pages(step)
        return f"tells of {counted(count, 'page')}" if count else "nothing was written"
    trap = "page fault, " if step.get("fault") else "TLB fill, " if step.get("tlb_miss") else ""
    return trap + steps.outcome(step)


def changed_pages(step: Data) -> int:
    """How many pages an acquire unmaps, or a release tells their homes of."""
    wanted = {"acquire": ("mapping", "acquire"), "release": ("release", "release")}
    return sum(
        (act["controller"], act["event"]) == wanted.get(step["kind"])
        and act["state"] != act["next"]
        for act in step["acts"]
    )


def page_name(page: int, walk: Data) -> str:
    """A page by its number on a page of HTML: ``page 2``, or ``page`` if there is one."""
    return f"page {page + 1}" if len(walk["pages"]) > 1 else "page"


def about(act: Data, step: Data, walk: Data) -> str:
    """The block or page concerned, if it is not the one referenced."""
    if len(walk["blocks"]) > 1 and act["block"] not in {step["block"], None}:
        return f" of {steps.letter(act['block'])}"
    if len(walk.get("pages", ())) <= 1 or act["page"] == step["page"]:
        return ""
    return f" of {page_name(act['page'], walk)}"


def entry(found: Data) -> str:
    """The entry of a block or page at its home: ``dirty, owner N3``."""
    parts = [str(found["state"])]
    if found.get("owner") is not None:
        parts.append(f"owner N{found['owner']}")
    overflow = found.get("overflow", False)
    if found["listed"] or overflow:
        parts.append(f"lists {_listed(found)}{' and others' if overflow else ''}")
    return ", ".join(parts)


def _listed(found: Data) -> str:
    """The listed nodes, marked if the entry is for the copy in the proxy cache."""
    of_proxies = set(found.get("in_proxy_caches", ()))
    return " ".join(
        f"N{node} ({_PROXY_CACHE})" if place in of_proxies else f"N{node}"
        for place, node in enumerate(found["listed"])
    )


def at_home(step: Data, walk: Data) -> str:
    """The referenced block, or all pages, at the home after a step."""
    if "pages" not in walk:
        return entry(step["scenes"][step["block"]]["entry"])
    several = len(walk["pages"]) > 1
    return "; ".join(
        (f"{page_name(number, walk)}: " if several else "") + entry(page["entry"])
        for number, page in enumerate(homed(step))
        if page["entry"]["home"] is not None
    )


def holders(step: Data, walk: Data) -> str:
    """Which nodes have the block or map the page after a step, and how."""
    if "pages" in walk:
        return _mappings(step, walk)
    none = walk["start"][0]["copies"][0]["state"]
    found = [f"N{node} {state}" for node, state in enumerate(step["after"]) if state != none]
    found += [
        f"N{node} {copy['state']} ({_PROXY_CACHE})"
        for node, copy in enumerate(step["scenes"][step["block"]].get("proxy_copies", ()))
        if copy["state"] != none
    ]
    return ", ".join(found) or "no cache"


def _mappings(step: Data, walk: Data) -> str:
    """The mappings of the page of an access, or of all pages."""
    unmapped = walk["start"]["pages"][0]["mappings"][0] if walk["pages"] else ""
    shown = range(len(walk["pages"])) if step["page"] is None else [step["page"]]
    found = [
        f"N{node} {state}" + (f" ({page_name(page, walk)})" if len(shown) > 1 else "")
        for page in shown
        for node, state in enumerate(homed(step)[page]["mappings"])
        if state != unmapped
    ]
    return ", ".join(found) or "no node maps it"


def message(act: Data) -> str:
    """What arrives: ``N1 → N0 read``; without a message what the controller sees."""
    sent = act["message"]
    if sent is None:
        return f"{act['event']}{_BY_HOME if act['cause'] == 'home' else ''}"
    way = f" ({_WAYS[sent['way']]})" if _WAYS[sent["way"]] else ""
    arrow = f"N{sent['from']}" if sent["way"] == "within" else f"N{sent['from']} → N{sent['to']}"
    return f"{arrow} {sent['name']}{way}"


def side(act: Data) -> str:
    """The part of a node concerned: a controller of the tables, or the ``proxy cache``."""
    return _PROXY_CACHE if act.get("proxy_cache") else str(act["controller"])


def controller(act: Data) -> str:
    """Its destination: ``home N0``."""
    return f"{side(act)} N{act['node']}"


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


def number(act: Data) -> str:
    """The number of a message among those between different nodes; empty for others."""
    return f"{act['message']['number']:,}" if _crosses(act) else ""


def crossed(step: Data) -> int:
    """How many messages of a step go from one node to another."""
    return sum(_crosses(act) for act in step["acts"])


def _crosses(act: Data) -> bool:
    return act["message"] is not None and act["message"]["number"] is not None


def sent(step: Data, walk: Data) -> str:
    """All messages of a step between different nodes, in their order."""
    return ", ".join(message(act) + about(act, step, walk) for act in step["acts"] if _crosses(act))


def sentences(walk: Data) -> list[str]:
    """For each step what happens in it, and the earlier misses that it classifies."""
    return steps.with_judgements(walk, _sentence)


def _sentence(step: Data, number: int, walk: Data) -> str:
    parts = [_opening(step, number, walk)]
    parts += [_act(act, step, walk) for act in step["acts"]]
    if count := crossed(step):
        parts.append(f"{counted(count, 'message')} between nodes.")
    elif "pages" not in walk:
        parts.append("No message crosses.")
    if step.get("cycles"):
        parts.append(f"The processor waits {counted(step['cycles'], 'cycle')}.")
    return " ".join(parts)


def _opening(step: Data, number: int, walk: Data) -> str:
    if not is_access(step):
        return f"Node {step['processor']} {_SYNCHRONISES[step['kind']]}: {outcome(step)}."
    text = steps.opening(step, number, walk, "Node")
    if step.get("tlb_miss"):
        return f"{text} Its lookaside buffer lacks the page."
    if step.get("fault"):
        return f"{text} Its page table does not permit that: a page fault."
    return text


def _act(act: Data, step: Data, walk: Data) -> str:
    where, came = f"{_WHERE[side(act)]} {act['node']}", act["message"]
    of = about(act, step, walk)
    if came is None:
        whose = _BY_HOME if act["cause"] == "home" else ""
        text = f"{where.capitalize()}{of}, {act['event']}{whose}"
    else:
        way = f", {_WAYS[came['way']]}" if _WAYS[came["way"]] else ""
        if came["way"] != "within":
            text = f"{came['name'].capitalize()}{of} from node {came['from']} comes to {where}{way}"
        elif "pages" in walk:
            text = f"{came['name'].capitalize()}{of}{way} comes to {where}"
        else:
            text = f"{came['name'].capitalize()}{of} comes to {where}{way}"
    if act["state"] != act["next"]:
        text += f"; {act['state']} becomes {act['next']}"
    done = does(act)
    return f"{text}: {done}." if done else f"{text}."


def summary(protocol: Data) -> str:
    """The totals of a walk."""
    walk, totals = protocol["walk"], protocol["walk"]["totals"]
    accesses = [step for step in walk["steps"] if is_access(step)]
    misses = sum(step["miss"] is not None for step in accesses)
    parts = [
        *([counted(totals["page_faults"], "page fault")] if "pages" in walk else []),
        counted(len(accesses) - misses, "hit"),
        counted(misses, "miss"),
        counted(sum(totals["messages"].values()), "message"),
        counted(totals["message_bytes"], "byte"),
    ]
    return f"{protocol['name']}: {', '.join(parts)} between nodes."
