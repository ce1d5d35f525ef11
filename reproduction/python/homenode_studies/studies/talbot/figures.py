"""Figures 1.5 to 1.10: relative bars, with rings for numbers in the paper."""

from homenode_studies.studies.tables import Axis, Figure, Missing, Row
from homenode_studies.studies.talbot import CONTIG, NONCONTIG, WATER
from homenode_studies.studies.talbot.bars import (
    FIGURES,
    MESSAGES,
    PERCENT,
    RESPONSE,
    TIME,
    Bars,
    label,
    of_paper,
    settings_of,
)
from homenode_studies.studies.talbot.matrix import BASIC, INFINITE, NONE, REACTIVE

_TITLES = {
    TIME: "relative execution times",
    MESSAGES: "relative numbers of messages",
    RESPONSE: "relative remote read response times",
}
_KINDS = {NONE: "no", BASIC: BASIC, REACTIVE: REACTIVE}
_SHORT = {CONTIG: "oceanC", NONCONTIG: "oceanN", WATER: "water"}
"""As in table 1.4, as names of programs are side by side."""
_NOTE = (
    "ft, rr: homes by first touch after initialisation, and round-robin; basic, reactive: proxies. "
    "Rings are numbers in the paper."
)


def figures(ours: Bars) -> list[Figure]:
    """Every figure."""
    return [_figure(ours, measure, buffers) for measure, buffers in FIGURES]


def _figure(ours: Bars, measure: str, buffers: str) -> Figure:
    printed = Bars(of_paper())
    rows: list[Row] = []
    for program in ours.programs():
        for setting in settings_of(buffers):
            bar: Row = {"series": f"{_KINDS[setting.proxies]} proxies"}
            bar |= {"x": _SHORT.get(program, program), "bar": label(setting)}
            for found, extra in ((ours, {}), (printed, {"printed": True})):
                try:
                    value = PERCENT * found.relative(program, measure, setting)
                except Missing:
                    continue
                rows.append({**bar, "y": value, **extra})
    how = "infinite" if buffers == INFINITE else "finite"
    return Figure(
        FIGURES[measure, buffers],
        f"{_TITLES[measure]}, {how} buffers",
        "stacks",
        rows,
        Axis(""),
        Axis("% of first touch without proxies", limit=0),
        note=_NOTE,
    )
