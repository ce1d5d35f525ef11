"""Measures for the claims, as functions of our costs or of the printed ones."""

from collections.abc import Callable, Iterable, Iterator
from math import log2, prod

from homenode_studies.studies.claims import share
from homenode_studies.studies.markatos.costs import Costs
from homenode_studies.studies.tables import Missing

SMALL, LARGE = 8, 16
"""Pages of 256 bytes and of 64 KB: the ends of the tables that all programs have."""
MIDDLE = (10, 11, 12)
"""1 to 4 KB."""
PLAIN = ("upt", "inv")
COUNTED = ("upt.del", "inv.del")


def each(costs: Costs, value: Callable[[str], float]) -> dict[str, float]:
    """A value of every program.

    Raises:
        Missing: when no program has it.
    """
    found = {}
    reason = Missing("no program was run")
    for program in costs.programs():
        try:
            found[program] = value(program)
        except Missing as missing:
            reason = missing
    if not found:
        raise reason
    return found


def pages_of_both(
    costs: Costs, program: str, one: tuple[str, bool], other: tuple[str, bool]
) -> list[int]:
    """The page sizes that a program has under both of two policies, plain or re-aligned."""
    mine = set(costs.pages(program, *one))
    return sorted(mine & set(costs.pages(program, *other)))


def over(
    costs: Costs, one: tuple[str, bool], other: tuple[str, bool]
) -> dict[tuple[str, int], float]:
    """The cost of one policy over that of another, if both exist."""
    return {
        (program, page): costs.cost(program, one[0], page, one[1])
        / costs.cost(program, other[0], page, other[1])
        for program in costs.programs()
        for page in pages_of_both(costs, program, one, other)
    }


def better(costs: Costs, one: tuple[str, bool], other: tuple[str, bool]) -> float:
    """The share of programs and page sizes at which one policy costs less than the other."""
    return share(ratio < 1 for ratio in over(costs, one, other).values())


def updates_over_invalidates(costs: Costs) -> dict[tuple[str, int, str, bool], float]:
    """UPT over INV and UPT.DEL over INV.DEL, plain and re-aligned, if both exist."""
    return {
        (program, page, update, moved): ratio
        for update, invalidate in zip((PLAIN[0], COUNTED[0]), (PLAIN[1], COUNTED[1]), strict=True)
        for moved in (False, True)
        for (program, page), ratio in over(costs, (update, moved), (invalidate, moved)).items()
    }


def updates_better(costs: Costs) -> float:
    """The share of all comparisons that the update policy wins."""
    return share(ratio < 1 for ratio in updates_over_invalidates(costs).values())


def invalidates_better(costs: Costs, least: int = 0) -> list[str]:
    """Points at which the invalidate policy costs less, for pages of at least 2^`least` bytes."""
    return [
        point_name(program, page, update.replace("upt", "inv"), moved)
        for (program, page, update, moved), ratio in updates_over_invalidates(costs).items()
        if ratio > 1 and page >= least
    ]


def point_name(program: str, page: int, policy: str, moved: bool) -> str:
    """A point in a few words.

    >>> point_name("FFT", 12, "inv.del", True)
    'FFT 4 KB inv.del re-aligned'
    """
    size = f"{1 << page} B" if page < 10 else f"{1 << (page - 10)} KB"
    return f"{program} {size} {policy}{' re-aligned' if moved else ''}"


def growth(
    costs: Costs, policy: str, low: int = SMALL, high: int = LARGE, moved: bool = False
) -> dict[str, float]:
    """The factor by which the cost grows from one page size to another."""
    return each(
        costs,
        lambda program: (
            costs.cost(program, policy, high, moved) / costs.cost(program, policy, low, moved)
        ),
    )


def exponent(costs: Costs, policy: str, low: int, high: int = LARGE) -> dict[str, float]:
    """The power of page size with which the cost grows: 1 is linear."""
    return {
        program: log2(factor) / (high - low)
        for program, factor in growth(costs, policy, low, high).items()
    }


def falls(costs: Costs, policy: str) -> list[str]:
    """Programs whose cost is lower at some page size than at the one below it in the tables."""
    return [
        program
        for program in costs.programs()
        if any(
            costs.cost(program, policy, page) < costs.cost(program, policy, page - 2)
            for page in costs.pages(program, policy)
            if costs.has(program, policy, page - 2)
        )
    ]


def at(costs: Costs, policy: str, page: int, moved: bool = False) -> dict[str, float]:
    """The cost of every program at one page size."""
    return each(costs, lambda program: costs.cost(program, policy, page, moved))


def column(costs: Costs, policy: str, page: int, name: str) -> dict[str, float]:
    """A column of every program at one page size."""
    return each(costs, lambda program: float(costs.row(program, policy, page)[name]))


def faults(costs: Costs, policy: str, page: int) -> dict[str, float]:
    """Replications for a reference."""
    words = (1 << page) / 4
    return {
        program: packets / words
        for program, packets in column(costs, policy, page, "replication_packets").items()
    }


def quotient(above: dict[str, float], below: dict[str, float]) -> dict[str, float]:
    """One value over the other, program by program.

    Raises:
        Missing: when no program has both.
    """
    found = {name: above[name] / below[name] for name in above if below.get(name)}
    if not found:
        raise Missing("no program has both")
    return found


def best(costs: Costs, policy: str, pages: Iterable[int], moved: bool = False) -> dict[str, float]:
    """The lowest cost of every program over some page sizes."""
    return _extreme(min, costs, (policy, moved), pages)


def worst(costs: Costs, policy: str, pages: Iterable[int], moved: bool = False) -> dict[str, float]:
    """The highest cost of every program over some page sizes."""
    return _extreme(max, costs, (policy, moved), pages)


def _extreme(
    pick: Callable[[list[float]], float], costs: Costs, what: tuple[str, bool], pages: Iterable[int]
) -> dict[str, float]:
    (policy, moved), wanted = what, list(pages)
    return each(
        costs,
        lambda program: pick(
            [costs.cost(program, policy, page, moved) for page in _here(costs, program, wanted)]
        ),
    )


def _here(costs: Costs, program: str, pages: Iterable[int]) -> list[int]:
    found = [page for page in pages if costs.has(program, "upt", page)]
    if not found:
        raise Missing(f"no such page size of {program}")
    return found


def to_line(costs: Costs, policy: str, page: int, moved: bool = False) -> dict[str, float]:
    """The cost over that of all-remote."""
    return each(
        costs,
        lambda program: costs.cost(program, policy, page, moved) / costs.line(program),
    )


def gains(costs: Costs, policy: str, other: str, moved: bool = False) -> list[float]:
    """The cost of a plain policy over that of another, at every program and page size."""
    return [1 / ratio for ratio in over(costs, (other, moved), (policy, False)).values()]


def typical(values: Iterable[float]) -> float:
    """The geometric mean.

    Raises:
        Missing: when there are no values.
    """
    listed = list(values)
    if not listed:
        raise Missing("nothing to average")
    return float(prod(value ** (1 / len(listed)) for value in listed))


def factors(costs: Costs) -> dict[str, float]:
    """The effect of each remedy alone on INV and UPT: geometric mean of cost before over after.

    Using updates, or freezing, affects only INV: the cost of UPT does not change.
    """
    found = {
        "re-alignment": [*gains(costs, "inv", "inv", True), *gains(costs, "upt", "upt", True)],
        "counters": [*gains(costs, "inv", "inv.del"), *gains(costs, "upt", "upt.del")],
        "updates": _with_ones(gains(costs, "inv", "upt")),
        "freezing": _with_ones(gains(costs, "inv", "inv.freez")),
    }
    return {remedy: typical(values) for remedy, values in found.items() if values}


def _with_ones(values: list[float]) -> list[float]:
    """The values and as many ones, the factors of the policy that the remedy does not affect."""
    return [*values, *(1.0 for _ in values)]


def largest_gain(costs: Costs, policy: str) -> dict[str, float]:
    """The largest factor that re-alignment alone gives a policy, over the page sizes."""
    ratios = over(costs, (policy, False), (policy, True))
    found: dict[str, float] = {}
    for (program, _), ratio in ratios.items():
        found[program] = max(found.get(program, 0.0), ratio)
    if not found:
        raise Missing(f"needs {policy} re-aligned")
    return found


def points_of(costs: Costs, policies: Iterable[str], moved: bool) -> Iterator[tuple[str, str, int]]:
    """All points of some policies."""
    for policy in policies:
        for program in costs.programs():
            for page in costs.pages(program, policy, moved):
                yield program, policy, page


def above_line(costs: Costs, policies: Iterable[str], moved: bool, factor: float) -> float:
    """The share of the points of some policies that cost more than `factor` times all-remote."""
    return share(
        costs.cost(program, policy, page, moved) > factor * costs.line(program)
        for program, policy, page in points_of(costs, policies, moved)
    )


def winners(costs: Costs, policies: Iterable[str], moved: bool) -> dict[str, str]:
    """The cheapest policy at its best page size, for every program."""
    found: dict[str, tuple[float, str]] = {}
    for program, policy, page in points_of(costs, policies, moved):
        cost = costs.cost(program, policy, page, moved)
        found[program] = min(found.get(program, (cost, policy)), (cost, policy))
    if not found:
        raise Missing("no such points")
    return {program: policy for program, (_, policy) in found.items()}


def best_page(costs: Costs, policy: str, moved: bool) -> dict[str, float]:
    """The page size in bytes at which a policy costs least."""
    return each(
        costs,
        lambda program: float(
            1
            << min(
                costs.pages(program, policy, moved) or [0],
                key=lambda page: costs.cost(program, policy, page, moved),
            )
        ),
    )
