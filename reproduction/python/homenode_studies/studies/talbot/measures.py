"""Measures for claims from bars, ours or the paper's. Shares are fractions."""

from collections.abc import Callable, Sequence

from homenode_studies.studies.tables import Evidence, Missing
from homenode_studies.studies.talbot.bars import (
    FIGURES,
    SHORT,
    TIME,
    Bars,
    Illegible,
    bars,
    label,
    settings_of,
)
from homenode_studies.studies.talbot.matrix import FIRST, NONE, ROUND, Setting

Compute = Callable[[Evidence], dict[str, float]]
Candidates = Callable[[Bars, str], dict[str, float]]


def compared(
    evidence: Evidence, measure: str, one: Setting, other: Setting, *programs: str
) -> dict[str, float]:
    """A value with one setting over that with another, for some programs or all."""
    found = bars(evidence)
    return found.each(lambda p: found.ratio(p, measure, one, other), programs or None)


def gains(evidence: Evidence, base: Setting, *wanted: tuple[str, str, Setting]) -> dict[str, float]:
    """The reduction of a program's value with a setting, relative to `base`."""
    found = bars(evidence)
    return {
        f"{program} {label(setting)}": 1 - found.ratio(program, measure, setting, base)
        for program, measure, setting in wanted
    }


def best_of(buffers: str, kinds: Sequence[str] = ()) -> Candidates:
    """The times of a program with all homes and proxies of a figure, or with some proxies.

    Illegible ones of the paper are left out.
    """

    def times(found: Bars, program: str) -> dict[str, float]:
        listed = {}
        for setting in settings_of(buffers):
            if not kinds or setting.proxies in kinds:
                try:
                    listed[label(setting)] = found.at(program, TIME, setting)
                except Illegible:
                    continue
        return listed

    return times


def over_best(
    evidence: Evidence, setting: Setting, among: Candidates, *programs: str
) -> dict[str, float]:
    """The time with a setting over the least of several, for some programs or all."""
    found = bars(evidence)

    def ratio(program: str) -> float:
        return found.at(program, TIME, setting) / min(among(found, program).values())

    return found.each(ratio, programs or None)


def least(evidence: Evidence, program: str, among: Candidates) -> str:
    """The name of the least of several times."""
    found = bars(evidence)
    times = among(found, program)
    if not times:
        raise Missing(f"there are no times of {program}")
    return min(times, key=lambda name: times[name])


def queues(evidence: Evidence, measure: str, kind: str, buffers: str) -> dict[str, float]:
    """A value with proxies over that without, of each program and home."""
    found = bars(evidence)
    ratios = {}
    for home in (FIRST, ROUND):
        plain = Setting(home, NONE, buffers)
        for program in found.programs():
            name = f"{program} {SHORT[home]}"
            try:
                ratios[name] = found.ratio(program, measure, plain.changed(proxies=kind), plain)
            except Illegible:
                continue
    return ratios


def off_the_paper(ours: Bars, paper: Bars, measure: str, buffers: str) -> dict[str, float]:
    """The differences of our bars of a figure from the paper's legible ones.

    Bars that are 100 % by definition are left out.
    """
    found = {}
    for program in ours.programs():
        for setting in settings_of(buffers):
            if setting == Setting(buffers=buffers):
                continue
            try:
                printed = paper.at(program, measure, setting) / 100
            except Missing:
                continue
            name = f"{program} {label(setting)}"
            found[name] = ours.relative(program, measure, setting) - printed
    if not found:
        raise Missing(f"no bar of {FIGURES[measure, buffers]} is legible")
    return found
