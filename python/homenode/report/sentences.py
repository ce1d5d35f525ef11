"""Sentences about the results."""

from collections.abc import Sequence
from typing import Any

from homenode.options.specs import format_size, plain_number
from homenode.results.result import OPTIMA

# Bounds, not policies that a system could run: they use future references, or have no costs.
OFF_LINE = (*OPTIMA, "best-static", "all-local")
_SAME = 1.0005


def short_size(size: int) -> str:
    """A block size for an axis: 64, 4K, 1M.

    >>> short_size(64), short_size(4096)
    ('64', '4K')
    """
    return format_size(size).replace(" B", "").replace(" KB", "K").replace(" MB", "M")


def times(ratio: float | None) -> str:
    """A cost relative to the optimum.

    >>> times(1.3849), times(1.0), times(23.4), times(None)
    ('1.38×', '1.00×', '23.4×', '–')
    """
    if ratio is None:
        return "–"
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.3g}×"


def percent(share: float | None) -> str:
    """A share of the whole.

    >>> percent(0.0704), percent(None)
    ('7.0%', '0.0%')
    """
    return f"{100 * (share or 0):.1f}%"


def distance(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Sentences about one machine at one block size: how far each policy is from the best.

    Args:
        rows: the outcomes of all policies at that point.

    Returns:
        The most telling sentence first; empty when the optimum is not among the outcomes.
    """
    costs = {row["policy"]: row["total_cost"] for row in rows}
    best = costs.get(OPTIMA[0])
    if not best:
        return []
    on_line = {
        name: cost / best
        for name, cost in costs.items()
        if name not in OFF_LINE and cost is not None
    }
    sentences = []
    if on_line:
        winner = min(on_line, key=lambda name: on_line[name])
        sentences.append(_winner(winner, on_line[winner]))
        loser = max(on_line, key=lambda name: on_line[name])
        if on_line[loser] > on_line[winner] * _SAME:
            sentences.append(f"{loser} pays {times(on_line[loser])} the least possible.")
    single = costs.get(OPTIMA[1])
    if single:
        sentences.append(_replication(single / best))
    stuck = [name for name, cost in costs.items() if cost is None]
    if stuck:
        sentences.append(f"{_listed(stuck)} cannot run here: the machine has no remote reference.")
    return sentences


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _winner(name: str, ratio: float) -> str:
    if ratio < _SAME:
        return f"{name} is as good as any policy could be."
    saved = 100 * (1 - 1 / ratio)
    return (
        f"The best on-line policy is {name}: it pays {times(ratio)} the least any policy could "
        f"pay, so at most {saved:.0f} % of its cost could still be saved."
        if saved >= 1
        else f"The best on-line policy is {name}, within {saved:.1f} % of the best possible."
    )


def _replication(ratio: float) -> str:
    if ratio < _SAME:
        return "Replication gains nothing: one well-placed copy of each block is as good."
    return f"Without replication, the best possible would cost {times(ratio)} as much."


def block_size_trend(sizes: Sequence[int], best: Sequence[float | None]) -> str:
    """One sentence about how the optimum changes with block size.

    >>> block_size_trend([64, 4096], [1.2, 3.6])
    'The optimum is lowest at 64 B (1.2) and highest at 4 KB (3.6).'
    """
    points = [(v, s) for s, v in zip(sizes, best, strict=True) if v is not None]
    if not points or len(sizes) < 2:
        return ""
    (low, low_size), (high, high_size) = min(points), max(points)
    if high < low * _SAME:
        return f"The optimum hardly depends on block size ({plain_number(low)})."
    return (
        f"The optimum is lowest at {format_size(low_size)} ({plain_number(low)}) and highest at "
        f"{format_size(high_size)} ({plain_number(high)})."
    )
