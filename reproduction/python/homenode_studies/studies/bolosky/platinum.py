"""PLATINUM with the times of each program's own run.

Section 5.1 gives t1 and t2 as 10 ms and 1 s in references of the application: its references
divided by the wall clock time of its run. Tables 2.1 and 3.1 have both for five programs; user time
is that of all seven processors (table 3.2). The others get the median of their rates.
"""

from functools import cache
from statistics import median

from homenode_studies.studies.context import TunedPolicy
from homenode_studies.studies.programs import Program
from homenode_studies.studies.published import tables as published

_T1, _T2 = 0.01, 1.0
"""Seconds."""
_PROCESSORS = 7
_MILLION = 1_000_000
# Its run in table 3.1 has a different size: 69 seconds for 4.6 million references.
_OTHER_SIZE = "matmult"


@cache
def rates() -> dict[str, float]:
    """References per second of all processors, for the programs whose times are known."""
    traced = {row["program"]: row for row in published("bolosky")["table-2.1"]}
    timed = {row["program"]: row["t_numa"] for row in published("bolosky")["table-3.1"]}
    return {
        name: _MILLION
        * (row["references_millions"] + row["private_millions"])
        / (timed[name] / _PROCESSORS)
        for name, row in traced.items()
        if name in timed and name != _OTHER_SIZE
    }


def times(program: str) -> tuple[int, int]:
    """t1 and t2 in references.

    >>> times("gauss"), times("p-life")
    ((45476, 4547642), (26328, 2632757))
    """
    rate = rates().get(program) or median(rates().values())
    return round(_T1 * rate), round(_T2 * rate)


def _spec(program: Program, rest: str = "") -> str:
    t1, t2 = times(program.name)
    return f"platinum:t1={t1},t2={t2}{rest}"


PLATINUM = TunedPolicy("platinum", _spec)
"""Frozen pages stay where they are."""
BACKOFF = TunedPolicy("platinum:backoff=on", lambda program: _spec(program, ",backoff=on"))
"""With the exponential back-off of the final version."""
IN_GLOBAL = TunedPolicy("platinum:frozen=global", lambda program: _spec(program, ",frozen=global"))
"""Frozen pages go to global memory, which PLATINUM could use according to section 5.1."""
