"""The products of a study: tables and figures as plain data, and the evidence for claims."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Row = dict[str, Any]
Kind = Literal["lines", "bars", "areas", "marks", "stacks"]


class Missing(Exception):  # noqa: N818 - not an error: the claim cannot be tested here
    """A claim needs something that this run does not have; the text names it."""


@dataclass(frozen=True)
class Table:
    """Our version of one table of a publication.

    Attributes:
        name: ``table-6.4``; also the name of its file.
        title: its title.
        rows: one dictionary a row; all have the columns of the first.
        note: a remark for the reader; may be empty.
    """

    name: str
    title: str
    rows: Sequence[Row]
    note: str = ""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row))


@dataclass(frozen=True)
class Axis:
    """One axis of a figure: its title, and whether it is logarithmic."""

    label: str
    log: bool = False
    sizes: bool = False
    limit: float | None = None


@dataclass(frozen=True)
class Figure:
    """Our version of one figure of a publication.

    Attributes:
        name: ``figure-6.4``; also the name of its files.
        title: its title.
        kind: lines, bars (one group of bars a program), areas (stacked, with lines above them),
            marks (one line of marks a program) or stacks (upright bars of several parts).
        rows: long form: ``series``, ``x``, ``y``; a group of bars is one ``x``. In lines and
            stacks, rows with ``printed`` are points of the publication, drawn as rings. In stacks,
            ``bar`` names a bar of the group and ``series`` its part.
        across: the horizontal axis.
        up: the vertical axis; for bars and marks, the axis of values.
        areas: with ``areas``, the stacked series; the others are lines.
        note: a remark for the reader; may be empty.
        dashed: whether lines also differ in their dashes, for print without colours.
    """

    name: str
    title: str
    kind: Kind
    rows: Sequence[Row]
    across: Axis
    up: Axis
    areas: tuple[str, ...] = ()
    note: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture other than a chart.

    Attributes:
        name: also the name of its file.
        title: its title.
        svg: the file.
        note: a remark for the reader; may be empty.
    """

    name: str
    title: str
    svg: str
    note: str = ""


@dataclass(frozen=True)
class Evidence:
    """The evidence for the claims of a study.

    Attributes:
        tables: rows of the study's tables, figures and simulations, by name.
        published: rows of the publication's own tables, by the same names.
    """

    tables: Mapping[str, Sequence[Row]]
    published: Mapping[str, Sequence[Row]] = field(default_factory=dict)

    def rows(self, name: str) -> Sequence[Row]:
        """The rows of a table.

        Raises:
            Missing: when this run has no such table or it is empty.
        """
        found = self.tables.get(name)
        if not found:
            raise Missing(f"this run has no {name}")
        return found

    def printed(self, name: str) -> Sequence[Row]:
        """The rows of a published table."""
        return self.published[name]

    def points(self, name: str = "outcomes") -> Points:
        """The rows of a table of simulations, for look-ups by program, machine and so on."""
        return Points(self.rows(name))


class Points:
    """Simulated points: one row a program, machine, policy and block size."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._at = {
            (row["program"], row["machine"], row["policy"], row["block_size"]): row
            for row in self.rows
        }

    def programs(self, style: str | None = None, *, but: Iterable[str] = ()) -> list[str]:
        """The programs in order: all or those of one style (``presto``), except some."""
        found = dict.fromkeys(
            row["program"] for row in self.rows if style is None or row["style"] == style
        )
        left_out = set(but)
        kept = [name for name in found if name not in left_out]
        if not kept:
            raise Missing(f"no program of style {style}" if style else "no program is left")
        return kept

    def styles(self, *styles: str) -> list[str]:
        """The programs of several styles.

        Raises:
            Missing: when there is none.
        """
        found = [p for p in self.programs() if self.style(p) in styles]
        if not found:
            raise Missing(f"no program of style {' or '.join(styles)}")
        return found

    def style(self, program: str) -> str:
        """The programming style of a program."""
        return str(next(row["style"] for row in self.rows if row["program"] == program))

    def need(self, *programs: str) -> None:
        """Checks that these programs were run.

        Raises:
            Missing: when one was not.
        """
        here = {row["program"] for row in self.rows}
        absent = [name for name in programs if name not in here]
        if absent:
            raise Missing(f"needs {', '.join(absent)}, which this run does not have")

    def at(self, program: str, machine: str, policy: str, block_size: int) -> Row:
        """One point.

        Raises:
            Missing: when it was not simulated.
        """
        self.need(program)
        try:
            return self._at[program, machine, policy, block_size]
        except KeyError:
            raise Missing(
                f"{policy} on {machine} with {block_size}-byte blocks was not simulated"
            ) from None

    def mcpr(self, program: str, machine: str, policy: str, block_size: int) -> float:
        """Mean cost per reference of one point; infinity if the machine cannot do it."""
        value = self.at(program, machine, policy, block_size)["mcpr"]
        return float("inf") if value is None else float(value)

    def sizes(self, program: str, machine: str) -> list[int]:
        """The block sizes at which a program was simulated on a machine, ascending."""
        return sorted(
            {
                row["block_size"]
                for row in self.rows
                if (row["program"], row["machine"]) == (program, machine)
            }
        )

    def best(self, program: str, machine: str, policy: str = "optimal") -> tuple[float, int]:
        """The lowest MCPR over the block sizes, and the (smallest) size that has it."""
        self.need(program)
        sizes = self.sizes(program, machine)
        if not sizes:
            raise Missing(f"{machine} was not simulated")
        return min((self.mcpr(program, machine, policy, size), size) for size in sizes)


def to_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV text; columns in the order in which they first appear.

    >>> print(to_csv([{"a": 1, "b": None}]), end="")
    a,b
    1,
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def from_csv(text: str) -> list[Row]:
    r"""Rows of a CSV text; numbers become numbers, empty cells None.

    >>> from_csv("app,x\ngauss,1.5\n")
    [{'app': 'gauss', 'x': 1.5}]
    """
    return [
        {name: _value(cell) for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _value(cell: str) -> Any:
    if cell == "":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell
