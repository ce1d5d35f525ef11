"""Other versions of the programs, in what the paper leaves open: evidence of no claim."""

from collections.abc import Iterator, Sequence

from homenode.options.specs import unique
from homenode_studies.studies.tables import Missing, Row, Table
from homenode_studies.studies.talbot.bars import (
    BUFFERS,
    FIGURES,
    PERCENT,
    QUEUE,
    Bars,
    label,
    of_paper,
    of_points,
    settings_of,
)
from homenode_studies.studies.talbot.matrix import KINDS, Setting

OF = "of"
"""Column of a version's points: the program that it is a version of."""


def table(points: Sequence[Row], ours: Bars) -> Table:
    """Every bar of the figures and column of table 1.4: the program, its version, the paper."""
    versions, printed = Bars(of_points(points)), Bars(of_paper())
    rows = []
    for version, program in unique((row["program"], row[OF]) for row in points):
        for measure, setting in _places():
            row: Row = {"version": version, "what": measure, "buffers": BUFFERS[setting.buffers]}
            row["bar"] = label(setting)
            row[OF] = _value(ours, program, measure, setting)
            row["ours"] = _value(versions, version, measure, setting)
            row["printed"] = _value(printed, program, measure, setting)
            rows.append(row)
    return Table(
        "versions",
        "other versions of programs, and the printed numbers",
        rows,
        "Percent of first touch without proxies and with the same buffers; queues in cycles. of: "
        "the program of the claims. Printed numbers as far as they are legible.",
    )


def _places() -> Iterator[tuple[str, Setting]]:
    for measure, buffers in FIGURES:
        yield from ((measure, setting) for setting in settings_of(buffers))
    for buffers in KINDS:
        yield from ((QUEUE, setting) for setting in settings_of(buffers))


def _value(found: Bars, program: str, measure: str, setting: Setting) -> float | None:
    try:
        if measure == QUEUE:
            return found.at(program, measure, setting)
        return PERCENT * found.relative(program, measure, setting)
    except Missing:
        return None


def notes(found: Table) -> tuple[str, ...]:
    """A paragraph about each version, which the ledger has, too: bars with a printed number."""
    said = []
    for version in unique(row["version"] for row in found.rows):
        of = [
            f"{row['what']}, {row['buffers']} buffers, {row['bar']}: {row[OF]:.1f}, "
            f"{row['ours']:.1f}, {row['printed']:.1f}"
            for row in found.rows
            if row["version"] == version and None not in (row[OF], row["ours"], row["printed"])
        ]
        if of:
            said.append(
                f"{version}: the program of the claims, this version, and the paper, in percent of "
                f"first touch without proxies, queues in cycles. {'; '.join(of)}."
            )
    return tuple(said)
