"""Cost by the thesis's equations, and the algorithm of figure 4.3 as printed.

Figure 4.3 is compared with the true optimum, which it does not always find: it tries three starting
places for every ending place and misses the cheapest one to which the read-run replicates anyway
(docs/optimal.md).
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

Reference = tuple[int, str]
GLOBAL = "global"


@dataclass
class _State:
    """The state of figure 4.3: the cheapest way to every processor, and the open read-run."""

    processors: int
    remote_reference: float
    remote_move: float
    cost: list[float]
    reads: dict[int, int] = field(default_factory=dict)

    def run_cost(self, start: int, copies: set[int]) -> float:
        """Figure 4.2: the cost of a read-run from a starting place, with a set of copies."""
        total = self.cost[start]
        for processor, count in self.reads.items():
            total += count if processor in copies else self.remote_reference * count
        fresh = len(copies) - (start in copies)
        return total + self.remote_move * fresh

    def close(self) -> list[float]:
        """The cheapest way to every processor at the end of the read-run."""
        saved = self.remote_reference - 1
        paying = {p for p, n in self.reads.items() if n > self.remote_move / saved}
        everyone = range(self.processors)
        cheapest = min(everyone, key=lambda p: self.cost[p])
        others = [p for p in everyone if p not in paying] or [0]
        outside = min(others, key=lambda p: self.cost[p] - saved * self.reads.get(p, 0))
        return [
            min(
                self.run_cost(end, {end} | paying),
                self.run_cost(cheapest, {cheapest, end} | paying),
                self.run_cost(outside, {outside, end} | paying),
            )
            for end in everyone
        ]


def printed_cost(
    trace: Sequence[Reference], processors: int, remote_reference: float, remote_move: float
) -> float:
    """The result of figure 4.3 for references to one block, given as (processor, ``R`` or ``W``).

    Source: Bolosky, thesis, figures 4.2 and 4.3.

    >>> printed_cost([(0, "W"), (1, "R"), (1, "R")], 2, 15, 59)
    17
    """
    state = _State(processors, remote_reference, remote_move, [0] * processors)
    for processor, kind in trace:
        if kind == "R":
            state.reads[processor] = state.reads.get(processor, 0) + 1
            continue
        ends = state.close()
        state.cost = [
            cost + (1 if end == processor else remote_reference) for end, cost in enumerate(ends)
        ]
        state.reads = {}
    return min(state.close() if state.reads else state.cost)


def placement_cost(
    trace: Sequence[Reference],
    places: Sequence[AbstractSet[int | str]],
    prices: Mapping[str, float],
) -> float:
    """The cost of a placement, by equations 4.1 and 4.2, word by word.

    Args:
        trace: references to one block as (processor, ``R`` or ``W``).
        places: where the block is at each reference: processors, `GLOBAL`.
        prices: r, R, g and G.

    >>> placement_cost([(0, "W"), (1, "R")], [{0}, {0, 1}], {"r": 15, "R": 59, "g": 4, "G": 40})
    61
    """
    total: float = 0
    for (processor, _), here in zip(trace, places, strict=True):
        if processor in here:
            total += 1
        else:
            total += prices["g"] if GLOBAL in here else prices["r"]
    for before, here in pairwise(places):
        price = prices["G"] if GLOBAL in before or GLOBAL in here else prices["R"]
        total += price * len(here - before)
    return total
