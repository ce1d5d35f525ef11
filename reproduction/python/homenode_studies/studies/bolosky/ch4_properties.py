"""Two properties on which the thesis's algorithm rests, tested exhaustively on random traces.

Every sequence of places of a block is considered, with and without a restriction that, according to
the thesis, costs nothing. The model is that of section 4.1: a block is at one processor when it is
written, and at any number of processors while it is read; a reference costs 1 where the block is
and r elsewhere, and each copy made costs R.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from homenode_studies.studies.bolosky.ch4_printed import Reference
from homenode_studies.studies.tables import Row

Places = frozenset[int]
Allowed = Callable[[Places, Places, int], bool]

TRACES = 300
PROCESSORS, REFERENCES = 3, 8
# So that moves pay after 1 to 6 remote references.
_REMOTE, _MOVES = 4, (3, 7, 12, 18)
_SINGLE = [frozenset([p]) for p in range(PROCESSORS)]
_ANY = [
    frozenset(chosen)
    for count in range(1, PROCESSORS + 1)
    for chosen in combinations(range(PROCESSORS), count)
]


def tried(seed: int = 0) -> list[Row]:
    """For each property the number of random traces, and the number for which it did not hold."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    without = with_copies = 0
    for _ in range(TRACES):
        trace = [(draw.randrange(PROCESSORS), draw.choice("RRW")) for _ in range(REFERENCES)]
        move = draw.choice(_MOVES)
        without += moves_to_others(trace, move)
        with_copies += copies_in_the_middle(trace, move)
    names = ("moves only to the referencing processor", "copies only when a read-run begins")
    return [
        {"property": name, "traces": TRACES, "exceptions": found}
        for name, found in zip(names, (without, with_copies), strict=True)
    ]


def moves_to_others(trace: Sequence[Reference], move: float) -> bool:
    """Whether a trace without replication gains from moves to idle processors (4.2.1)."""
    places = [_SINGLE] * len(trace)

    def referencing(before: Places, after: Places, at: int) -> bool:
        return after == before or trace[at][0] in after

    free = cheapest(trace, places, move, lambda *_: True)
    return free < cheapest(trace, places, move, referencing)


def copies_in_the_middle(trace: Sequence[Reference], move: float) -> bool:
    """Whether a trace gains from copies made or dropped in a read-run (4.2.2)."""
    places = [_SINGLE if kind == "W" else _ANY for _, kind in trace]

    def at_its_beginning(before: Places, after: Places, at: int) -> bool:
        inside = at > 0 and trace[at][1] == "R" and trace[at - 1][1] == "R"
        return after == before or not inside

    free = cheapest(trace, places, move, lambda *_: True)
    return free < cheapest(trace, places, move, at_its_beginning)


def cheapest(
    trace: Sequence[Reference],
    places: Sequence[Iterable[Places]],
    move: float,
    allowed: Allowed,
) -> float:
    """The least cost of a trace over all sequences of places that are allowed.

    Args:
        trace: references to one block as (processor, ``R`` or ``W``).
        places: the places where the block may be at each reference.
        move: the cost of a copy.
        allowed: whether a change from one set of places to the next is allowed before a reference.

    >>> cheapest([(0, "W"), (1, "R")], [_SINGLE, _ANY], 3, lambda *_: True)
    5
    """
    # The first place costs nothing, because the block has not been referenced yet.
    costs: dict[Places, float] = dict.fromkeys(_SINGLE, 0)
    for at, (processor, _) in enumerate(trace):
        known = costs
        costs = {}
        for after in places[at]:
            before = [
                cost + move * len(after - place)
                for place, cost in known.items()
                if at == 0 or allowed(place, after, at)
            ]
            if before:
                costs[after] = min(before) + (1 if processor in after else _REMOTE)
    return min(costs.values())
