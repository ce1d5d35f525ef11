"""The model: alpha, beta and gamma from three user times.

Source: Bolosky, thesis, section 3.2.1, equations 3.1 to 3.5, and section 3.2.4.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from homenode.errors import ConfigError

RATIO = 2.0
"""G/L of the ACE for a reasonable mix of loads and stores (section 3.1.1)."""

BETA_VISIBLE = 0.005
"""A smaller beta prints as .00: references take no visible time, and alpha is noise."""


@dataclass(frozen=True)
class AlphaBeta:
    """Alpha, beta and gamma of a placement, from three user times.

    Attributes:
        t_global: user time with all writable data in global memory, in seconds.
        t_numa: user time under the placement to judge.
        t_local: user time with everything in local memory.
        ratio: G/L, the time of a reference to global memory over one to local memory.
        alpha: the fraction of references to writable data that were local (equation 3.4); `None` if
            beta is too small.
        beta: the fraction of user time that references to writable data would take if all memory
            were local (equation 3.5).
        gamma: the user-time expansion factor, t_numa over t_local (equation 3.1).
        delta_s: system time spent on placement, the difference to all-global; `None` if unknown.
        overhead: delta_s over t_numa (table 3.2); 0 if delta_s is negative, `None` if unknown.
        notes: reservations about the numbers.
        program: its name, or empty.
    """

    t_global: float
    t_numa: float
    t_local: float
    ratio: float
    alpha: float | None
    beta: float
    gamma: float
    delta_s: float | None = None
    overhead: float | None = None
    notes: tuple[str, ...] = ()
    program: str = ""

    def describe(self) -> dict[str, Any]:
        """The same as plain data, for JSON and tables."""
        return {"program": self.program} | asdict(self) | {"notes": list(self.notes)}


def alpha_beta(
    t_global: float | Sequence[float],
    t_numa: float | Sequence[float],
    t_local: float | Sequence[float],
    *,
    ratio: float = RATIO,
    system: tuple[float, float] | None = None,
) -> AlphaBeta:
    """Computes alpha, beta and gamma from user times, or the medians of several user times.

    Args:
        t_global: seconds with all writable data in global memory.
        t_numa: seconds under the placement to judge.
        t_local: seconds with everything in local memory.
        ratio: G/L; 2 on the ACE, or 2.3 for programs that only fetch.
        system: system times under that placement and with all data global, for the overhead.

    Raises:
        ConfigError: when a time is not positive and finite, or the ratio does not exceed 1.

    >>> found = alpha_beta(636.9, 415.6, 411.6)
    >>> round(found.alpha, 2), round(found.beta, 2), round(found.gamma, 2)
    (0.98, 0.55, 1.01)
    """
    times = {"T_global": t_global, "T_numa": t_numa, "T_local": t_local}
    g, n, loc = (median(name, given) for name, given in times.items())
    if not (math.isfinite(ratio) and ratio > 1):
        raise ConfigError(
            f"G/L is {ratio}; expected more than 1: if global memory is as fast as local memory, "
            "placement has no effect"
        )
    beta = (g - loc) / loc / (ratio - 1)
    alpha = (g - n) / (g - loc) if beta >= BETA_VISIBLE else None
    delta_s = None if system is None else system[0] - system[1]
    return AlphaBeta(
        t_global=g,
        t_numa=n,
        t_local=loc,
        ratio=ratio,
        alpha=alpha,
        beta=beta,
        gamma=n / loc,
        delta_s=delta_s,
        overhead=None if delta_s is None else max(delta_s, 0.0) / n,
        notes=_notes(alpha, beta, delta_s),
    )


def expected_gamma(alpha: float, beta: float, ratio: float) -> float:
    """Gamma of a program with this alpha and beta (equation 3.2 over T_local).

    >>> round(expected_gamma(0.76, 0.56, 2.0), 2)
    1.13
    """
    return (1 - beta) + beta * (alpha + (1 - alpha) * ratio)


def median(name: str, given: float | Sequence[float]) -> float:
    """The median of some times, after checking each of them.

    Raises:
        ConfigError: when there is none, or one is not a positive number of seconds.
    """
    times = [float(given)] if isinstance(given, int | float) else [float(time) for time in given]
    if not times:
        raise ConfigError(f"{name}: no time given")
    for time in times:
        if not (math.isfinite(time) and time > 0):
            raise ConfigError(f"{name} is {time:g}; expected a positive number of seconds")
    return statistics.median(times)


def spread(times: Sequence[float]) -> float:
    """The range of some times relative to their median; 0 for a single time."""
    return (max(times) - min(times)) / statistics.median(times)


def ranges(
    times: tuple[float, float, float], half_units: tuple[float, float, float], ratio: float
) -> dict[str, tuple[float, float]]:
    """Least and greatest alpha, beta and gamma of times that were rounded.

    Each is monotone in every time, so the corners suffice. Alpha is missing if T_global does not
    exceed T_local in some corner.
    """
    corners = list(
        product(*((t - half, t + half) for t, half in zip(times, half_units, strict=True)))
    )
    found = {
        "beta": [(g - loc) / loc / (ratio - 1) for g, _, loc in corners],
        "gamma": [n / loc for _, n, loc in corners],
    }
    if all(g > loc for g, _, loc in corners):
        found["alpha"] = [(g - n) / (g - loc) for g, n, loc in corners]
    return {name: (min(values), max(values)) for name, values in found.items()}


def _notes(alpha: float | None, beta: float, delta_s: float | None) -> tuple[str, ...]:
    notes = []
    if alpha is None:
        notes.append("T_global is hardly above T_local: alpha means nothing here (na)")
    elif alpha < 0:
        notes.append("T_numa is above T_global: worse than all-global, or the times vary")
    elif alpha > 1:
        notes.append("T_numa is below T_local: the runs differ not only in placement")
    if beta > 1:
        notes.append("beta is above 1: G/L is too small, or T_global includes contention")
    if beta < 0:
        notes.append("T_global is below T_local: the runs differ not only in placement")
    if delta_s is not None and delta_s < 0:
        notes.append("less system time than with all data global: the overhead counts as 0")
    return tuple(notes)
