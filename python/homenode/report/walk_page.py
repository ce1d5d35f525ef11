"""The page of `homenode explain`: one steps through references and watches caches and messages.

A view (`bus_view.py`, `node_view.py`) puts walks into the form that this module defines; one
template and one script show it, whatever machine the protocols are for.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from homenode.report import steps
from homenode.report.page import environment, script_json
from homenode.results.palette import PROCESSOR_COLOURS

Data = dict[str, Any]
Tag = tuple[str, str]

# Classes of misses, and what the columns of their counts are called.
COUNTED = (
    ("cold", "cold"),
    ("replacement", "replacement"),
    ("invalidation_true", "true"),
    ("invalidation_false", "false"),
    ("invalidation_passive", "passive"),
    ("open", "not known yet"),
)
# From this number of addresses on, only the first and the last are shown.
_LISTED = 3
# Prefix of the outcome of an access that the page table does not permit.
FAULT = "page fault"
# The outcome of a miss whose class is known only later.
_OPEN = "invalidation miss, true or false shows later"


class Place(NamedTuple):
    """A place on the page for a block or page, in the order in which they are drawn.

    Attributes:
        block: the block whose words it has; none if it has no words.
        tones: which colours its states have.
        box: the box of the processor whose references touch its words; none in memory.
        memory: whether it is marked if its words are not the latest.
    """

    block: int | None = None
    tones: str = ""
    box: int | None = None
    memory: bool = False


class Shown(NamedTuple):
    """What a place shows.

    Attributes:
        state: the text of its badge.
        values: by word; none if the place has no words.
        why: a note.
        entry: with the state, what is marked when it changes.
        dirty: the words that memory does not know.
    """

    state: str | None = None
    values: Sequence[int] | None = None
    why: str = ""
    entry: str = ""
    dirty: Sequence[int] = ()


class WalkView(ABC):
    """What a page shows of a walk under one protocol: what a subclass says of it."""

    # `bus`, `blocks` or `pages`.
    kind: str
    # The outcomes of a step: `hit`, `bus` and `miss`.
    said: Mapping[str, str]
    # Titles of the list of all steps, after that of the reference.
    columns: Sequence[str]
    # The counts of the totals with the titles of their columns, and headings over these.
    totals: Sequence[tuple[str, str]]
    groups: Sequence[tuple[int, str]]
    # Counts that have a table of their own.
    kinds: Sequence[tuple[str, str]] = ()
    # The names of the boxes, and the numbers of the processors whose colours they have.
    boxes: Sequence[str]
    colours: Sequence[int]
    narrow = False
    unseen: str
    places: Sequence[Place]
    # The colour of each state, by the name of the tones.
    tones: Data
    summary: str
    sentences: Sequence[str]

    def __init__(self, data: Data, protocol: Data) -> None:
        self.data = data
        self.name: str = protocol["name"]
        self.about: str = protocol["summary"]
        self.source: str = protocol["source"]
        self.table: Data = protocol["table"]
        self.walk: Data = protocol["walk"]
        self.steps: list[Data] = self.walk["steps"]
        self.blocks: list[Data] = self.walk["blocks"]

    @abstractmethod
    def box(self, step: Data) -> int:
        """The box of a step's processor."""

    @abstractmethod
    def row(self, step: Data) -> list[str]:
        """The reference of a step, its outcome, and the other columns."""

    @abstractmethod
    def scene(self, step: Data | None) -> list[Shown | None]:
        """What each place shows after a step, or before the first one."""

    def latest(self, step: Data | None) -> list[list[int]]:
        """By block, the latest values then."""
        return [scene["latest"] for scene in self.scenes(step)]

    def scenes(self, step: Data | None) -> list[Data]:
        """The scene of each block after a step, or before the first one."""
        found: list[Data] = step["scenes"] if step else self.walk["start"]
        return found

    @abstractmethod
    def tags(self, step: Data) -> list[Tag]:
        """What is known of a step at once, beside the class of its miss."""

    @abstractmethod
    def counts(self, at: int) -> Data:
        """What has been counted after some steps, beside hits and misses."""

    @abstractmethod
    def moves(self, step: Data) -> Data:
        """What goes over the bus or between nodes, and the cells that are used."""

    @abstractmethod
    def mark(self, step: Data) -> str:
        """The outcome of a step: `hit`, `bus` or `miss`."""

    def is_access(self, _: Data) -> bool:
        """Whether a step counts as a hit or a miss."""
        return True


def render(views: Sequence[WalkView], command: str) -> str:
    """The page as HTML text; the command line that makes it again is left out if empty."""
    first = views[0]
    templates = environment()
    templates.filters |= {"letter": steps.letter, "display": steps.display}
    counts = [key for key, _ in (*first.totals, *first.kinds)]
    walks = [_for_script(view, counts) for view in views]
    text = templates.get_template("explain.html.jinja").render(
        title=title([view.name for view in views]),
        about=about(first.data),
        command=command,
        data=first.data,
        first=first,
        views=views,
        references=_references(views),
        colours=[PROCESSOR_COLOURS[at % len(PROCESSOR_COLOURS)] for at in first.colours],
        script_data=script_json({"counts": counts, "walks": walks}),
    )
    return text + ("" if text.endswith("\n") else "\n")


def _references(views: Sequence[WalkView]) -> list[Data]:
    """The list of steps to jump to: the reference, and its outcome under each protocol."""
    first = views[0]
    part = first.data["trace"]
    return [
        {
            "text": first.row(step)[0],
            "box": first.box(step),
            "number": part["numbers"][step["reference"]] if part else None,
            "marks": [view.mark(view.steps[index]) for view in views],
        }
        for index, step in enumerate(first.steps)
    ]


def _for_script(view: WalkView, counts: list[str]) -> Data:
    """What the script shows of a walk."""
    before = view.scene(None)
    start = {"scene": _scene(before, before), "latest": view.latest(None)}
    decided, classes = _decided(view), dict.fromkeys(counts, 0)
    found = []
    for number, step in enumerate(view.steps):
        scene = view.scene(step)
        _count_class(classes, number, view, decided[number])
        found.append(
            {
                "box": view.box(step),
                "block": step["block"],
                "touched": step["words"],
                "writes": step["kind"] in {"write", "atomic"},
                "scene": _scene(scene, before),
                "latest": view.latest(step),
                "tags": _tags(number, view, decided[number]),
                "counts": list((classes | view.counts(number + 1)).values()),
                **view.moves(step),
            }
        )
        before = scene
    words = [block["words"] for block in view.blocks]
    shown = {"name": view.name, "words": words, "places": view.places, "tones": view.tones}
    return {**shown, "start": start, "steps": found}


def _decided(view: WalkView) -> list[list[int]]:
    """By step the earlier ones whose misses it decides; the last one decides all that are open."""
    found: list[list[int]] = [[] for _ in view.steps]
    for number, step in enumerate(view.steps):
        if step["miss"] is not None:
            known = step["miss"]["known"]
            by = len(view.steps) - 1 if known is None else known
            if by != number:
                found[by].append(number)
    return found


def _count_class(classes: dict[str, int], number: int, view: WalkView, decided: list[int]) -> None:
    """Counts a step as a hit or a miss, whose class may not be known yet."""
    step = view.steps[number]
    if view.is_access(step):
        is_last = number == len(view.steps) - 1
        miss = step["miss"]
        known = miss is not None and (miss["known"] == number or is_last)
        classes["hit" if miss is None else miss["class"] if known else "open"] += 1
    for earlier in decided:
        classes["open"] -= 1
        classes[view.steps[earlier]["miss"]["class"]] += 1


def _scene(shown: list[Shown | None], before: list[Shown | None]) -> list[Any]:
    """What all places show: state, values, note, whether it has changed, and dirty words."""
    return [
        one
        and [one.state, one.values, one.why, int(old is not None and _differ(old, one)), one.dirty]
        for one, old in zip(shown, before, strict=True)
    ]


def _differ(one: Shown, other: Shown) -> bool:
    return (one.state, one.entry) != (other.state, other.entry)


def _tags(number: int, view: WalkView, decided: list[int]) -> list[Tag]:
    """What is known of a step at once, and the earlier misses that it decides."""
    step = view.steps[number]
    outcome, miss = view.row(step)[1], step["miss"]
    fault: list[Tag] = [("is-miss", FAULT)] if outcome.startswith(FAULT) else []
    if miss is not None and miss["known"] != number:
        own = ("is-later", _OPEN)
    else:
        own = ("is-miss" if miss else "", outcome.removeprefix(f"{FAULT}, "))
    return [
        *fault,
        own,
        *view.tags(step),
        *([("", "private area")] if step["private"] else []),
        *(
            ("is-miss", f"step {earlier + 1}: {view.row(view.steps[earlier])[1]}")
            for earlier in decided
        ),
    ]


def title(names: list[str]) -> str:
    """The title of the page.

    >>> title(["mesi", "dragon"])
    'MESI and Dragon, side by side'
    """
    shown = [steps.display(name) for name in names]
    if len(shown) == 1:
        return f"{shown[0]}, step by step"
    return f"{', '.join(shown[:-1])} and {shown[-1]}, side by side"


def about(data: Data) -> tuple[str, str]:
    """The title of a walk, and a sentence about it."""
    example, part = data["example"], data["trace"]
    if example is not None:
        return example["summary"], example["about"]
    count = len(part["numbers"])
    first, last = part["numbers"][0], part["numbers"][-1]
    blocks = len(data["protocols"][0]["walk"]["blocks"])
    which = f"first {count} references" if count > 1 else "first reference"
    numbers = f"numbers {first:,} to {last:,}" if count > 1 else f"number {first:,}"
    where = "the block" if blocks == 1 else f"the {blocks} blocks"
    more = "more follow" if part["cut"] else "there are no others"
    return Path(part["name"]).name, (
        f"The {which} to {where} at {_addresses(data)}, {numbers} of the trace; "
        f"{more}. References to other blocks are left out, so that they replace nothing here."
    )


def _addresses(data: Data) -> str:
    found = [f"{block['address']:#x}" for block in data["protocols"][0]["walk"]["blocks"]]
    return " and ".join(found) if len(found) < _LISTED else f"{found[0]} to {found[-1]}"
