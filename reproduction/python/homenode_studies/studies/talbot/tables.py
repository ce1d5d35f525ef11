"""Bars compared with the printed ones, table 1.4, details, and the paper's own statements."""

from collections.abc import Iterable, Sequence

from homenode.engines.simulation import simulate
from homenode.trace import Trace
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.settings import parameters
from homenode_studies.studies.tables import Missing, Row, Table
from homenode_studies.studies.talbot import ALITE, PAPER, PROTOCOL
from homenode_studies.studies.talbot.bars import (
    BUFFERS,
    FIGURES,
    PERCENT,
    QUEUE,
    TABLE,
    TIME,
    Bars,
    column,
    label,
    of_paper,
    settings_of,
)
from homenode_studies.studies.talbot.claims_stability import PROMISED
from homenode_studies.studies.talbot.matrix import FINITE, HOMES, KINDS, NONE, Setting

MACHINE = "tables-1.1-and-1.2"


def machine() -> Table:
    """Tables 1.1 and 1.2, from the machine of the simulations."""
    trace = Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    result = simulate(trace, protocols=PROTOCOL, machines=ALITE)
    rows = parameters(result, "controllers", published(PAPER.name)[MACHINE])
    note = "Parameters of the machine alite; its file has those that the paper does not give."
    return Table(MACHINE, "the simulated architecture and its latencies", rows, note)


def sides(ours: Bars) -> Table:
    """Every bar of figures 1.5 to 1.10, ours and the printed one."""
    said = {(r["buffers"], r["program"], r["proxies"], r["home"], f): r for f, r in _places()}
    rows = []
    for (measure, buffers), figure in FIGURES.items():
        for program in ours.programs():
            for setting in settings_of(buffers):
                row: Row = {"figure": figure.removeprefix("figure-"), "what": measure}
                row |= {"program": program, "bar": label(setting)}
                row["ours"] = _percent(ours, program, measure, setting)
                key = (BUFFERS[buffers], program, setting.proxies, setting.home, figure)
                row |= {name: said[key][name] for name in ("printed", "legible", "place")}
                known = row["ours"] is not None and row["printed"] is not None
                row["difference"] = row["ours"] - row["printed"] if known else None
                rows.append(row)
    return Table(
        "sides",
        "figures 1.5 to 1.10, ours and the printed numbers",
        rows,
        "Percent of first touch without proxies and with the same buffers. Figures 1.5 to 1.7, 1.9 "
        "and 1.10 have no legible numbers in our copy: these are from the text. about: the text "
        "rounds; below: it gives a bound; uncertain: its bar is not certain.",
    )


def _places() -> Iterable[tuple[str, Row]]:
    for figure in FIGURES.values():
        for row in published(PAPER.name)[figure]:
            yield figure, row


def _percent(found: Bars, program: str, measure: str, setting: Setting) -> float | None:
    try:
        return PERCENT * found.relative(program, measure, setting)
    except Missing:
        return None


def queues(ours: Bars) -> Table:
    """Table 1.4."""
    rows = []
    for program in ours.programs():
        row: Row = {"program": program}
        for buffers in KINDS:
            for setting in _columns(buffers):
                row[column(setting)] = _or_none(ours, program, setting)
        rows.append(row)
    note = "Cycles that a message waited in an input buffer before its node took it, on average."
    return Table(TABLE, "mean input buffer queueing cycles", rows, note)


def _columns(buffers: str) -> list[Setting]:
    """The settings in the order of table 1.4: proxies, and for each both homes."""
    listed = settings_of(buffers)
    return [s for kind in KINDS[buffers] for s in listed if s.proxies == kind]


def _or_none(ours: Bars, program: str, setting: Setting) -> float | None:
    try:
        return ours.at(program, QUEUE, setting)
    except Missing:
        return None


def details(points: Sequence[Row]) -> Table:
    """The data of the bars."""
    rows = []
    for point in points:
        if point["nodes"]:
            continue
        row: Row = {"program": point["program"], "buffers": BUFFERS[point["buffers"]]}
        row |= {"homes": point["home"], "proxies": point["proxies"], "cycles": point["cycles"]}
        local = point["local_fill_share"]
        row["local_fills"] = None if local is None else PERCENT * local
        row |= {name: point[name] for name in _COUNTS}
        rows.append(row)
    note = "Local fills in percent of all. Reads that bounced were requested again."
    return Table("details", "data of the figures", rows, note)


_COUNTS = (
    "references",
    "fills",
    "mean_read_response_cycles",
    "mean_queue_cycles",
    "bounced",
    "retried",
    "proxy_reads",
    "combined",
    "pages_moved",
)


def promise(ours: Bars) -> Table:
    """The main result: reactive proxies with first touch, compared with both placements without."""
    printed, rows = Bars(of_paper()), []
    for program in ours.programs():
        row: Row = {"program": program}
        for said, found in (("ours", ours), ("printed", printed)):
            for home in HOMES:
                setting = Setting(home, NONE, FINITE)
                row[f"{said} {label(setting)}"] = _percent(found, program, TIME, setting)
            row[f"{said} {label(PROMISED)}"] = _percent(found, program, TIME, PROMISED)
        rows.append(row)
    note = "Time with finite buffers in percent of first touch without proxies."
    return Table(
        "promise", "reactive proxies with first touch, compared with both placements", rows, note
    )
