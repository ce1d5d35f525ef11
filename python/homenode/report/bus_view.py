"""The page of `homenode explain` for protocols on a bus: caches, the bus and memory."""

from collections import Counter
from itertools import accumulate
from operator import add
from types import MappingProxyType
from typing import Any

from homenode.report import steps
from homenode.report.walk_page import COUNTED, Data, Place, Shown, Tag, WalkView

# Up to this number, caches stand beside their table.
_NARROW = 4


class BusView(WalkView):
    """A walk under a protocol on a bus."""

    kind = "bus"
    said = MappingProxyType({"hit": "hit", "bus": "hit that needs the bus", "miss": "miss"})
    totals = (
        ("hit", "hits"),
        *COUNTED,
        ("removal", "removal"),
        ("fetch", "blocks fetched"),
        ("invalidate", "invalidate"),
        ("write", "write"),
        ("update-block", "update-block"),
        ("cycles", "bus cycles"),
    )
    groups = (
        (1, ""),
        (2, "misses"),
        (4, "after an invalidation"),
        (1, ""),
        (4, "transactions"),
        (1, ""),
    )

    def __init__(self, data: Data, protocol: Data) -> None:
        super().__init__(data, {**protocol, "walk": steps.seen(protocol["walk"])})
        self.unseen = steps.unseen(protocol["walk"])
        self.boxes = self.walk["caches"]
        # Both caches of a processor have one colour.
        whose = [name.partition(" ")[0] for name in self.boxes]
        numbers = {who: number for number, who in enumerate(dict.fromkeys(whose))}
        self.colours = [numbers[who] for who in whose]
        self.narrow = len(self.boxes) <= _NARROW and not data["instruction_cache"]
        self.columns = ["hit or miss", "bus", "data from", *self.boxes, "memory", "cycles"]
        blocks = range(len(self.blocks))
        copies = [Place(block, "copy", box) for box in range(len(self.boxes)) for block in blocks]
        self.places = [*copies, *(Place(block, memory=True) for block in blocks)]
        self.tones = {"copy": {state["name"]: state["role"] for state in self.table["states"]}}
        self.summary = steps.summary(protocol)
        self.sentences = steps.sentences(self.walk) if self.steps else []
        self._names = steps.signals(self.table)
        none: Counter[str] = Counter()
        self._counts = list(accumulate(map(_added, self.steps), add, initial=none))

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """The table: the key of each cell, and its texts."""
        return [(_key(row, "event", "condition"), steps.cell(row)) for row in self.table["rows"]]

    @property
    def replies(self) -> list[tuple[str, Data]]:
        """The reactions of other copies, each with its key; equal ones only once."""
        return [
            (f"{reply['signal']}|{reply['state']}", reply)
            for reply in self.table["replies"]
            if self._names[reply["signal"]] == reply["signal"]
        ]

    def box(self, step: Data) -> int:
        """The cache that the reference goes to."""
        return int(step["cache"])

    def row(self, step: Data) -> list[str]:
        """The reference, its outcome, transactions, suppliers, states, memory and cycles."""
        return steps.columns(step, self.walk)

    def scene(self, step: Data | None) -> list[Shown | None]:
        """All copies, then memory."""
        scenes = self.scenes(step)
        copies = [scene["copies"][box] for box in range(len(self.boxes)) for scene in scenes]
        return [
            *(Shown(copy["state"], copy["values"], _why(copy)) for copy in copies),
            *(
                Shown(None, one["memory"], "up to date" if one["up_to_date"] else "out of date")
                for one in scenes
            ),
        ]

    def tags(self, step: Data) -> list[Tag]:
        """The transactions."""
        return [
            ("is-bus", name + (f": {sharing} sharing" if sharing else ""))
            for name, sharing in _sent(step)
        ]

    def counts(self, at: int) -> Data:
        """Transactions and cycles."""
        return self._counts[at]

    def moves(self, step: Data) -> Data:
        """The bus, and the cells of the table that are used."""
        acts = [act for act in step["acts"] if act["transaction"]]
        giving = {act["supplier"] for act in acts} - {None}
        hearing = {one for act in acts for one in _changed(act)}
        cycles = f" · {step['cycles']} cycles" if acts else "nothing on the bus"
        return {
            "bus": {
                "sent": _sent(step),
                "cycles": cycles,
                "flow": self._flow(step["cache"], acts[-1]) if acts else None,
                "gives": sorted(giving),
                "hears": sorted(hearing - giving),
                "takes": any(_in_memory(act) for act in acts),
            },
            "used": [_key(act, "event", "condition") for act in step["acts"]],
            "heard": [
                f"{self._names.get(act['signal'] or '', '')}|{answer['state']}"
                for act in step["acts"]
                for answer in act["answers"]
            ],
        }

    def _flow(self, box: int, act: Data) -> list[Any]:
        """The part of the bus that data or a signal take, in percent, and whether to the left."""
        count = len(self.boxes)
        changed = _changed(act)
        own = _center(box, count)
        if act["supplier"] is not None:
            ends = [_center(act["supplier"], count)]
        else:
            ends = [50] if _in_memory(act) else [_center(one, count) for one in changed]
        low, high = min(own, *ends), max(own, *ends)
        fetches = act["transaction"].startswith("read")
        rightwards = bool(ends) and (own > ends[0] if fetches else ends[0] > own)
        return [low, high - low, not rightwards]

    def mark(self, step: Data) -> str:
        """Whether a step is a miss, or a hit that needs the bus."""
        if step["miss"] is not None:
            return "miss"
        return "bus" if step["cycles"] else "hit"


def _center(box: int, count: int) -> float:
    return 100 * (box + 0.5) / count


def _key(cell: Data, *names: str) -> str:
    return "|".join([cell["state"], *(cell[name] for name in names)])


def _sent(step: Data) -> list[tuple[str, str | None]]:
    """The transactions of a step, each with its kind of sharing."""
    return [(act["transaction"], act["sharing"]) for act in step["acts"] if act["transaction"]]


def _added(step: Data) -> Counter[str]:
    """What a step adds to the counts of transactions and cycles."""
    names = Counter("fetch" if name.startswith("read") else name for name, _ in _sent(step))
    return names + Counter(cycles=step["cycles"])


def _changed(act: Data) -> list[int]:
    """The caches whose copies change."""
    return [
        answer["processor"]
        for answer in act["answers"]
        if answer["state"] != answer["next"] or answer["word"]
    ]


def _in_memory(act: Data) -> bool:
    """Whether memory supplies or takes the block."""
    own = act["source"] == "memory" or act["transaction"] == "update-block"
    return own or any(answer["memory"] for answer in act["answers"])


def _why(copy: Data) -> str:
    if copy["open"]:
        return "true or false sharing?"
    return (copy["lost"] or "") if copy["state"] == "I" else ""
