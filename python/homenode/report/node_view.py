"""The page of `homenode explain` for nodes with messages between them: caches, homes, messages."""

from itertools import accumulate
from types import MappingProxyType

from homenode.options.specs import plural
from homenode.report import controllers, messages
from homenode.report.walk_page import COUNTED, Data, Place, Shown, Tag, WalkView


class NodeView(WalkView):
    """A walk under a protocol with a directory of blocks."""

    kind = "blocks"
    said = MappingProxyType({"hit": "hit", "bus": "hit that needs messages", "miss": "miss"})
    columns = ("hit or miss", "messages between nodes", "caches", "directory")

    def __init__(self, data: Data, protocol: Data) -> None:
        super().__init__(data, protocol)
        self.nodes = messages.nodes(data)
        self.boxes = [f"N{node}" for node in self.nodes]
        self.colours = range(len(self.nodes))
        self.unseen = messages.unseen(data, self.nodes)
        self.tones = {
            controller["name"]: {state["name"]: _tone(state) for state in controller["states"]}
            for controller in self.table["controllers"]
        }
        self.sides = [
            {
                "title": controller["title"],
                "states": [{**one, "badge": _tone(one)} for one in controller["states"]],
                "senders": controller["senders"],
                "grid": controllers.grid(controller),
            }
            for controller in self.table["controllers"]
        ]
        self.summary = messages.summary(protocol)
        self.sentences = messages.sentences(self.walk) if self.steps else []
        self._count(list(self.walk["totals"]["messages"]))
        self.places = self._places()

    def _count(self, kinds: list[str]) -> None:
        """Sets the columns of the totals."""
        named = [(kind, kind.replace("_", " ")) for kind in kinds]
        totals = [("hit", "hits"), *COUNTED, *named, ("messages", "all"), ("bytes", "bytes")]
        self.totals = totals
        between = (len(kinds) + 1, "messages between nodes")
        self.groups = [(1, ""), (2, "misses"), (4, "after an invalidation"), between, (1, "")]

    def _places(self) -> list[Place]:
        (copies,) = self.tones.keys() - {"home"}
        blocks = range(len(self.blocks))
        return [
            place
            for box in range(len(self.nodes))
            for place in (
                *(Place(block, copies, box) for block in blocks),
                *(Place(block, copies) for block in blocks if self.has_proxy_caches),
                *(Place(block, "home", memory=True) for block in blocks),
            )
        ]

    @property
    def has_proxy_caches(self) -> bool:
        """Whether nodes have proxy caches beside their second level."""
        return any("proxy_copies" in scene for scene in self.walk["start"])

    def box(self, step: Data) -> int:
        """The node of the reference."""
        return self.nodes.index(step["processor"])

    def row(self, step: Data) -> list[str]:
        """The reference, its outcome, messages, copies or mappings, and the directory."""
        return [
            messages.reference(step, self.walk),
            messages.outcome(step),
            messages.sent(step, self.walk),
            messages.holders(step, self.walk),
            messages.at_home(step, self.walk),
        ]

    def scene(self, step: Data | None) -> list[Shown | None]:
        """By node its copies, and the blocks of which it is the home."""
        scenes = self.scenes(step)
        return [
            shown
            for node in self.nodes
            for shown in (
                *(_copy(scene["copies"][node]) for scene in scenes),
                *(_copy(one["proxy_copies"][node]) for one in scenes if self.has_proxy_caches),
                *(_home(scene) if scene["entry"]["home"] == node else None for scene in scenes),
            )
        ]

    def tags(self, step: Data) -> list[Tag]:
        """The messages."""
        crossed = messages.crossed(step)
        many = plural(crossed, "message")
        return [("is-bus" if crossed else "", f"{crossed or 'no'} {many} between nodes")]

    def counts(self, at: int) -> Data:
        """The messages, of which a walk has the sums up to each step."""
        if not at:
            return {}
        kinds, sent = self.steps[at - 1]["messages"], self.steps[at - 1]["message_bytes"]
        return {**kinds, "messages": sum(kinds.values()), "bytes": sent}

    def moves(self, step: Data) -> Data:
        """The messages and what they cause, and the cells of the tables that are used."""
        used = [act for act in step["acts"] if messages.has_table(act)]
        return {
            "acts": [self._act(act, step) for act in step["acts"]],
            "used": [controllers.used(act, self.table) for act in used],
        }

    def _act(self, act: Data, step: Data) -> Data:
        sent, does = act["message"], messages.does(act)
        entry = messages.entry(act["entry"])
        shown = {
            "at": self.nodes.index(act["node"]),
            "side": messages.side(act),
            "what": (sent["name"] if sent else act["event"]) + messages.about(act, step, self.walk),
            "change": messages.change(act) if messages.has_table(act) else does,
            "title": "; ".join(
                part for part in (messages.controller(act), does, f"directory: {entry}") if part
            ),
        }
        if sent is not None and sent["from"] != sent["to"]:
            ends = [self.nodes.index(sent["from"]), self.nodes.index(sent["to"])]
            shown["hop"] = {"ends": ends, "way": sent["way"], "number": sent["number"]}
        return shown | {"from_processor": sent is None}

    def mark(self, step: Data) -> str:
        """Whether a step is a miss, or a hit that needs messages."""
        if step["miss"] is not None:
            return "miss"
        return "bus" if len(step["acts"]) > 1 else "hit"


class PageView(NodeView):
    """A walk under a protocol that keeps pages coherent."""

    kind = "pages"
    said = MappingProxyType(
        {
            "hit": "hit, or nothing to do",
            "bus": "acquire or release that does something",
            "miss": "page fault or miss",
        }
    )
    columns = ("what becomes of it", "messages between nodes", "page tables", "page at home")

    def __init__(self, data: Data, protocol: Data) -> None:
        self.pages: list[Data] = protocol["walk"]["pages"]
        super().__init__(data, protocol)
        # A page with a notice that its home still has to send.
        self.tones["home"] = {
            name: f"{tone} weak" if name == "weak" else tone
            for name, tone in self.tones["home"].items()
        }
        self._faults = list(accumulate((int(one["fault"]) for one in self.steps), initial=0))
        (release,) = (one for one in self.table["controllers"] if one["name"] == "release")
        self._released = release["states"][0]["name"]

    def _count(self, kinds: list[str]) -> None:
        """Sets the columns of the totals."""
        self.totals = [
            *(("fault", "page faults"), ("hit", "hits"), *COUNTED),
            *(("messages", "messages"), ("bytes", "bytes")),
        ]
        flushed = (4, "after the line was flushed")
        self.groups = [(1, ""), (1, ""), (2, "misses"), flushed, (1, ""), (1, "")]
        self.kinds = [(kind, kind.replace("_", " ")) for kind in kinds]

    def _places(self) -> list[Place]:
        return [
            place
            for box in range(len(self.nodes))
            for place in (
                *(Place(tones="mapping") for _ in self.pages),
                *(Place(block, box=box) for block in range(len(self.blocks))),
                *(
                    place
                    for page in self.pages
                    for place in (Place(tones="home"), *(Place(block) for block in page["blocks"]))
                ),
            )
        ]

    def scene(self, step: Data | None) -> list[Shown | None]:
        """By node its page table and lines, and the pages of which it is the home."""
        scene: Data = step["scene"] if step else self.walk["start"]
        lines, pages = scene["lines"], scene["pages"]
        return [
            shown
            for node in self.nodes
            for shown in (
                *(self._mapping(page, node) for page in pages),
                *(
                    Shown(None, line["copies"][node]["values"], dirty=line["dirty"][node])
                    for line in lines
                ),
                *(
                    shown
                    for page, known in zip(pages, self.pages, strict=True)
                    for shown in (
                        _page_home(page["entry"]) if page["entry"]["home"] == node else None,
                        *(Shown(None, lines[block]["memory"]) for block in known["blocks"]),
                    )
                ),
            )
        ]

    def _mapping(self, page: Data, node: int) -> Shown:
        owed = page["releases"][node]
        return Shown(
            page["mappings"][node], None, "" if owed == self._released else f"release: {owed}"
        )

    def latest(self, step: Data | None) -> list[list[int]]:
        """By line, the latest values."""
        lines = (step["scene"] if step else self.walk["start"])["lines"]
        return [line["latest"] for line in lines]

    def tags(self, step: Data) -> list[Tag]:
        """The messages, and for how long the processor waits."""
        cycles = step["cycles"]
        return super().tags(step) + ([("", f"{cycles:,} cycles")] if cycles else [])

    def counts(self, at: int) -> Data:
        """Page faults and messages."""
        return {**super().counts(at), "fault": self._faults[at]}

    def mark(self, step: Data) -> str:
        """Whether a step is a fault or a miss, or an acquire or release that does something."""
        if step["miss"] is not None or step["fault"]:
            return "miss"
        return "bus" if messages.changed_pages(step) else "hit"

    def is_access(self, step: Data) -> bool:
        """Whether a step is neither an acquire nor a release."""
        return messages.is_access(step)


def _tone(state: Data) -> str:
    """The colour of a state, by what it permits; marked while a transaction is under way."""
    roles = {"none": "invalid", "readable": "copy", "writable": "only-owner"}
    colour = roles.get(state["role"], "at-home")
    return colour if state["rests"] else f"{colour} under-way"


def _copy(copy: Data) -> Shown:
    why = "true or false sharing?" if copy["open"] else copy["lost"] or ""
    return Shown(copy["state"], copy["values"], why)


def _home(scene: Data) -> Shown:
    entry = messages.entry(scene["entry"]).partition(", ")[2]
    behind = "" if scene["up_to_date"] else "memory out of date"
    why = "; ".join(part for part in (entry, behind) if part)
    return Shown(scene["entry"]["state"], scene["memory"], why, entry)


def _page_home(found: Data) -> Shown:
    entry = messages.entry(found).partition(", ")[2]
    return Shown(found["state"], None, entry, entry)
