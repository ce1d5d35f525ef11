"""Steps of a walk in words: the same in the terminal and on the page."""

from collections.abc import Callable, Mapping
from typing import Any

from homenode.options.specs import counted, plural

Data = Mapping[str, Any]

CLASSES = {
    "cold": "cold miss",
    "replacement": "replacement miss",
    "invalidation_true": "invalidation miss, true sharing",
    "invalidation_false": "invalidation miss, false sharing",
    "invalidation_passive": "invalidation miss, passive sharing",
    "removal": "removal miss",
}
_WHY = {
    "cold": "it never had the block",
    "replacement": "its copy was replaced by another block",
    "invalidation_passive": "its copy of the private block was invalidated",
    "removal": "its copy went with the process",
}
_INVALIDATED = "its copy was invalidated"
_VERBS = {
    "read": "reads",
    "write": "writes",
    "atomic": "updates",
    "fetch": "fetches",
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_OWN = "own copy"
# Up to this number, all caches are drawn, idle ones too: they fit beside each other.
_ALL_SHOWN = 8


def display(protocol: str) -> str:
    """A protocol's name as people write it.

    >>> display("mesi"), display("dragon")
    ('MESI', 'Dragon')
    """
    name, colon, rest = protocol.partition(":")
    return (name.capitalize() if name == "dragon" else name.upper()) + colon + rest


def letter(block: int) -> str:
    """The name of a block on a page.

    >>> letter(0), letter(27)
    ('a', 'bb')
    """
    again, place = divmod(block, len(_LETTERS))
    return _LETTERS[place] * (again + 1)


def seen(walk: Data) -> dict[str, Any]:
    """The walk without unused caches, if it has more than can be shown.

    Such a cache has no copy and never answers, so it is only removed from lists.
    """
    if len(walk["caches"]) <= _ALL_SHOWN:
        return dict(walk)
    kept = sorted({step["cache"] for step in walk["steps"]})
    place = {cache: number for number, cache in enumerate(kept)}

    def some(of: list[Any]) -> list[Any]:
        return [of[cache] for cache in kept]

    def scenes(of: list[Data]) -> list[Data]:
        return [{**scene, "copies": some(scene["copies"])} for scene in of]

    def act(of: Data) -> Data:
        answers = [{**one, "processor": place[one["processor"]]} for one in of["answers"]]
        supplier = None if of["supplier"] is None else place[of["supplier"]]
        return {**of, "answers": answers, "supplier": supplier}

    return {
        **walk,
        "caches": some(walk["caches"]),
        "start": scenes(walk["start"]),
        "steps": [
            {
                **step,
                "cache": place[step["cache"]],
                "acts": [act(one) for one in step["acts"]],
                "before": some(step["before"]),
                "after": some(step["after"]),
                "scenes": scenes(step["scenes"]),
            }
            for step in walk["steps"]
        ],
    }


def unseen(walk: Data) -> str:
    """Says how many caches `seen` leaves out, if any."""
    count = len(walk["caches"]) - len(seen(walk)["caches"])
    return f"Not shown: caches that nothing here goes to ({count})." if count else ""


def words_of(step: Data) -> str:
    """The words that a step touches: ``0``, or ``0-3``."""
    first, last = step["words"][0], step["words"][-1]
    return str(first) if first == last else f"{first}-{last}"


def reference(step: Data, walk: Data, who: str = "P") -> str:
    """A reference in a few letters: ``P0 writes a1``; `who` is the letter of a processor."""
    block = letter(step["block"]) if len(walk["blocks"]) > 1 else "word "
    whose = [name for name in ("private", "kernel") if step[name]]
    note = f" ({', '.join(whose)})" if whose else ""
    return f"{who}{step['processor']} {_VERBS[step['kind']]} {block}{words_of(step)}{note}"


def outcome(step: Data) -> str:
    """Whether it hits, or the class of its miss, as is known in the end."""
    return "hit" if step["miss"] is None else CLASSES[step["miss"]["class"]]


def transactions(step: Data, walk: Data) -> str:
    """What goes over the bus, with the kind of sharing of coherence transactions."""
    return ", ".join(_transaction(act, step, walk) for act in step["acts"] if act["transaction"])


def _transaction(act: Data, step: Data, walk: Data) -> str:
    text = str(act["transaction"])
    if len(walk["blocks"]) > 1 and act["block"] != step["block"]:
        text += f" of {letter(act['block'])}"
    return f"{text} ({act['sharing']})" if act["sharing"] else text


def suppliers(step: Data, walk: Data) -> str:
    """Who supplies the data that come over the bus."""
    return ", ".join(
        "memory" if act["supplier"] is None else str(walk["caches"][act["supplier"]])
        for act in step["acts"]
        if act["source"] != _OWN
    )


def columns(step: Data, walk: Data) -> list[str]:
    """A row for a step: reference, outcome, bus, suppliers, states, memory and cycles."""
    return [
        reference(step, walk),
        outcome(step),
        transactions(step, walk),
        suppliers(step, walk),
        *step["after"],
        "" if step["scenes"][step["block"]]["up_to_date"] else "old",
        str(step["cycles"] or ""),
    ]


def cell(row: Data) -> list[str]:
    """A row of the table: state, event, others, transaction, source, next."""
    again = f", then {row['event']} again" if row["again"] else ""
    source = "" if row["source"] == _OWN else row["source"]
    texts = [row["state"], row["event"], row["condition"], row["transaction"] or "", source]
    return [*texts, row["next"] + again]


def signals(table: Data) -> dict[str, str]:
    """The name to show for each signal; signals with equal effects share one."""
    does: dict[str, list[tuple[Any, ...]]] = {}
    for reply in table["replies"]:
        what = tuple(value for name, value in reply.items() if name != "signal")
        does.setdefault(reply["signal"], []).append(what)
    private, plain = "read-block, private", "read-block"
    same = does.get(private) == does.get(plain)
    return {name: plain if same and name == private else name for name in does}


def others(table: Data) -> list[list[str]]:
    """What the other caches see, and the next states of their copies."""
    changes: dict[str, list[str]] = {}
    names = signals(table)
    for reply in table["replies"]:
        if names[reply["signal"]] != reply["signal"]:
            continue
        notes = [text for text, is_so in _notes(reply) if is_so]
        note = f" ({', '.join(notes)})" if notes else ""
        change = f"{reply['state']} -> {reply['next']}{note}"
        changes.setdefault(reply["signal"], []).append(change)
    return [[signal, "; ".join(found)] for signal, found in changes.items()]


def _notes(reply: Data) -> tuple[tuple[str, bool], ...]:
    return (("memory takes the block", reply["memory"]), ("it takes the word", reply["word"]))


def sentences(walk: Data) -> list[str]:
    """For each step what happens in it, and the earlier misses that it classifies."""
    return with_judgements(walk, sentence)


def with_judgements(walk: Data, said: Callable[[Data, int, Data], str]) -> list[str]:
    """The sentences about each step, with the earlier misses that it classifies."""
    found = [said(step, number, walk) for number, step in enumerate(walk["steps"])]
    for number, step in enumerate(walk["steps"]):
        miss = step["miss"]
        if miss is not None and miss["known"] is not None and miss["known"] > number:
            found[miss["known"]] += (
                f" Now it shows: the miss of step {number + 1} was {_judged(miss)}."
            )
    ended = [n for n, step in enumerate(walk["steps"], 1) if _never_known(step)]
    if ended:
        steps = ", ".join(map(str, ended))
        several = len(ended) > 1
        which = f"misses of steps {steps} were" if several else f"miss of step {steps} was"
        found[-1] += (
            f" The references end here; the {which} false sharing: nothing that others wrote was "
            "used."
        )
    return found


def _never_known(step: Data) -> bool:
    return step["miss"] is not None and step["miss"]["known"] is None


def _judged(miss: Data) -> str:
    if miss["class"] == "invalidation_true":
        return "true sharing, for a word that another processor wrote is used"
    return "false sharing, for nothing that others wrote was used in the copy's life"


def sentence(step: Data, number: int, walk: Data) -> str:
    """What happens in a step, in full sentences."""
    parts = [opening(step, number, walk), *(_act(act, step, walk) for act in step["acts"])]
    cycles = step["cycles"]
    parts.append(f"{cycles} cycles on the bus." if cycles else "The bus is not needed.")
    return " ".join(part for part in parts if part)


def opening(step: Data, number: int, walk: Data, who: str = "Processor") -> str:
    """Who references what, and whether the copy is there."""
    whose = " of its process's private area" if step["private"] else ""
    block = f" of block {letter(step['block'])}" if len(walk["blocks"]) > 1 else ""
    words = "words" if len(step["words"]) > 1 else "word"
    kernel = ", in the kernel," if step["kernel"] else ""
    what = f"{words} {words_of(step)}{block}{whose}"
    name = f"{who} {step['processor']}{kernel}"
    return f"{name} {_VERBS[step['kind']]} {what}. {_found(step, number)}"


def _found(step: Data, number: int) -> str:
    if step["miss"] is None:
        return "A hit."
    name = step["miss"]["class"]
    why = _WHY.get(name, _INVALIDATED)
    if name in {"invalidation_true", "invalidation_false"}:
        if step["miss"]["known"] != number:
            why += "; whether it needs what others wrote shows later"
        elif name == "invalidation_true":
            why += ", and it needs what another processor wrote: true sharing"
        else:
            why += ", but no processor wrote it since: false sharing"
    return f"A miss: {why}."


def _cache(number: int, walk: Data) -> str:
    who, _, holds = str(walk["caches"][number]).partition(" ")
    return f"the {holds.removesuffix('s')} cache of {who}" if holds else f"cache {who[1:]}"


def _act(act: Data, step: Data, walk: Data) -> str:
    here = act["block"] == step["block"]
    name = "Its copy" if here else f"The copy of block {letter(act['block'])}"
    if act["event"] == "replace":
        how = "written back to memory and replaced" if act["transaction"] else "replaced silently"
        return f"{name} is {how} ({act['state']} to {act['next']})."
    parts = []
    if act["transaction"]:
        parts.append(f"{_over_the_bus(act, walk)}.")
        parts += [_answer(answer, walk) for answer in act["answers"]]
        if act["sharing"]:
            parts.append(_whose(act))
    if act["state"] != act["next"]:
        parts.append(f"Its own state goes from {act['state']} to {act['next']}.")
    return " ".join(part for part in parts if part)


def _over_the_bus(act: Data, walk: Data) -> str:
    name = str(act["transaction"]).capitalize()
    if act["source"] == _OWN:
        return f"{name} goes over the bus"
    supplier = "memory" if act["supplier"] is None else _cache(act["supplier"], walk)
    return f"{name}: {supplier} supplies the block"


def _answer(answer: Data, walk: Data) -> str:
    who = _cache(answer["processor"], walk)
    changes = answer["state"] != answer["next"]
    text = f"In {who} {answer['state']} becomes {answer['next']}" if changes else ""
    notes = [note for note, is_so in _notes(answer) if is_so]
    if not text:
        return f"{who[0].upper()}{who[1:]} takes the word." if answer["word"] else ""
    return f"{text}{''.join(f', and {note}' for note in notes)}."


def _whose(act: Data) -> str:
    if act["sharing"] == "passive":
        return "Passive sharing: the block is private."
    if act["sharing"] == "true":
        return "True sharing: another holder used this word."
    if not act["answers"]:
        return "False sharing: no other cache has the block."
    return "False sharing: no other holder used this word."


def title(data: Data, protocol: Data) -> str:
    """The title of a walk."""
    example, part = data["example"], data["trace"]
    name = str(protocol["name"])
    if example is not None:
        return f"{example['summary']}, under {name}: {example['about']}"
    count = len(part["numbers"])
    return f"{part['name']}, {count} {plural(count, 'reference')} under {name}"


def legend(walk: Data) -> str:
    """The meaning of the columns of states and memory, and the addresses of the blocks."""
    return (
        "States are those of the block that is referenced, after the step; memory is old while a "
        f"cache answers for the block; {places(walk)}."
    )


def places(walk: Data) -> str:
    """Where the blocks are."""
    named = len(walk["blocks"]) > 1
    return ", ".join(
        f"{'block ' + letter(number) if named else 'the block'} is at {block['address']:#x}"
        for number, block in enumerate(walk["blocks"])
    )


def summary(protocol: Data) -> str:
    """The totals of a walk."""
    walk = protocol["walk"]
    totals = walk["totals"]
    parts = [
        counted(totals["hits"], "hit"),
        counted(sum(totals["misses"].values()), "miss"),
        counted(sum(totals["transactions"].values()), "transaction"),
        counted(walk["bus_cycles"], "cycle"),
    ]
    return f"{protocol['name']}: {', '.join(parts)} on the bus."
