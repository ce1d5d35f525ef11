"""Tables in the terminal and in files: the one place that draws them.

In a terminal a number is never cut and no column is left out, whatever the width. Where a table is
too wide, headings and text wrap first. Then it is split into parts, printed one below the other,
each of which repeats the columns that label the rows. Files and pipes have a fixed width, so that
scripts can compare what is written there.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TextIO

from homenode.sanitize import sanitized

# What a column takes beside its widest cell.
_BETWEEN = 3
# The width of files and pipes, unless numbers need more.
_IN_FILES = 200
# Columns of text wrap at the first of these widths that leaves enough room for the numbers.
_NARROWEST = (24, 16, 10, 6, 1)
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:[.,]\d+)*")
# Where a word that is too long for a line is broken: behind punctuation and between letters and
# numbers, never inside a number.
_PIECE = re.compile(rf"(?:{_NUMBER.pattern}|[^\W\d_]+)[^\w\s]*|.")


@dataclass(frozen=True)
class Column:
    """A column: its heading, whether it holds numbers, and its cells from the top."""

    heading: str
    numeric: bool
    cells: tuple[str, ...]

    def natural(self) -> int:
        """The width at which nothing wraps."""
        return max(map(_width, "\n".join([self.heading, *self.cells]).split("\n")))

    def least(self, narrowest: int) -> int:
        """The width at which headings wrap, and text wider than `narrowest`, but no number."""
        words = max(map(_width, self.heading.split()), default=1)
        if self.numeric:
            return max([words, *(_width(line) for cell in self.cells for line in cell.split("\n"))])
        numbers = [len(number) for cell in self.cells for number in _NUMBER.findall(cell)]
        return max([min(self.natural(), max(narrowest, words)), *numbers])

    def wrapped(self, width: int) -> Self:
        """The column with line breaks such that it has this width."""
        if self.natural() <= width:
            return self
        cells = self.cells if self.numeric else tuple(wrap(cell, width) for cell in self.cells)
        return replace(self, heading=wrap(self.heading, width), cells=cells)


@dataclass(frozen=True)
class Table:
    """A table whose first columns label the rows; `labels` is 0 if their number is not given."""

    columns: tuple[Column, ...]
    title: str | None
    labels: int
    lines: bool

    def draw(self, width: int | None, stream: TextIO) -> None:
        """Draws the table for a terminal of this width, or for a file."""
        if width is None:
            self._draw_in_file(stream)
            return
        if self.title is not None:
            _print(stream, _bold(wrap(self.title, width)), width)
        for part in self._parts(width):
            _print(stream, self._grid(part), max(width, _total([c.natural() for c in part])))

    def _draw_in_file(self, stream: TextIO) -> None:
        """Draws the table in the one width of files, in parts only where `labels` says how."""
        natural = [column.natural() for column in self.columns]
        needed = [
            width if column.numeric or i < self.labels else min(width, _NARROWEST[0])
            for i, (column, width) in enumerate(zip(self.columns, natural, strict=True))
        ]
        parts = [[*range(len(needed))]]
        if self.labels:
            parts = _split(needed, self.labels, _IN_FILES)
        for number, part in enumerate(parts):
            columns = [self.columns[i] for i in part]
            title = None if number or self.title is None else _bold(self.title)
            numbers = _total([c.natural() if c.numeric else 1 for c in columns])
            wide = _IN_FILES if numbers <= _IN_FILES else _total([needed[i] for i in part])
            _print(stream, self._grid(columns, title), wide)

    def _parts(self, width: int) -> list[list[Column]]:
        """The wrapped columns of each part of the table."""
        labels = self.labels or self._leading_text()
        natural = [column.natural() for column in self.columns]
        least = natural
        for narrowest in _NARROWEST if _total(natural) > width else ():
            least = [column.least(narrowest) for column in self.columns]
            beside = max(least[labels:], default=0)
            if _total([*least[:labels], beside]) <= width:
                break
        return [
            [
                self.columns[i].wrapped(chosen)
                for i, chosen in zip(
                    part,
                    _spread([least[i] for i in part], [natural[i] for i in part], width),
                    strict=True,
                )
            ]
            for part in _split(least, labels, width)
        ]

    def _leading_text(self) -> int:
        """The number of text columns before the first of numbers; at least 1."""
        texts = next((i for i, column in enumerate(self.columns) if column.numeric), 0)
        return max(texts, 1)

    def _grid(self, columns: Sequence[Column], title: Any = None) -> Any:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(
            box=box.SIMPLE_HEAD,
            title=title,
            title_justify="left",
            pad_edge=False,
            show_lines=self.lines,
        )
        for column in columns:
            # A number that wraps reads as two numbers.
            grid.add_column(
                Text(column.heading),
                justify="right" if column.numeric else "left",
                no_wrap=column.numeric,
                overflow="fold",
            )
        for row in zip(*(column.cells for column in columns), strict=True):
            # As Text: a bracket in a file's name is not a style.
            grid.add_row(*map(Text, row))
        return grid


@dataclass(frozen=True)
class Facts:
    """Names and values in two columns."""

    facts: tuple[tuple[str, str], ...]

    def draw(self, width: int | None, stream: TextIO) -> None:
        """Draws them for a terminal of this width, or for a file."""
        plain = self._plain() if width is None else None
        if plain is not None:
            stream.write(plain)
            stream.flush()
            return
        from rich.table import Table as Grid
        from rich.text import Text

        names = max((_width(name) for name, _ in self.facts), default=0)
        grid = Grid.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        values = [value for _, value in self.facts]
        if width is not None:
            values = [wrap(value, max(width - names - _BETWEEN, _NARROWEST[0])) for value in values]
        for (name, _), value in zip(self.facts, values, strict=True):
            grid.add_row(Text(name, style="dim"), Text(value))
        longest = max((_width(line) for value in values for line in value.split("\n")), default=0)
        needed = names + _BETWEEN + longest
        _print(stream, grid, _IN_FILES if width is None else max(width, needed))

    def _plain(self) -> str | None:
        """What rich would write to a file, which takes longer to load than a program to record.

        None where that depends on it: for lines that wrap, characters other than ASCII's, and in
        environments that ask for colours in files.
        """
        texts = [text for fact in self.facts for text in fact]
        coloured = any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
        if coloured or not texts or not all(map(_is_simple, texts)):
            return None
        names, values = max(map(len, texts[::2])), max(1, *map(len, texts[1::2]))
        if names + 2 + values > _IN_FILES:
            return None
        return "".join(f"{name:{names}}  {value:{values}}\n" for name, value in self.facts)


def texts(*headings: str) -> list[tuple[str, bool]]:
    """Columns of text, for `print_table`."""
    return [(heading, False) for heading in headings]


def numbers(*headings: str) -> list[tuple[str, bool]]:
    """Columns of numbers, for `print_table`."""
    return [(heading, True) for heading in headings]


def print_table(
    columns: Sequence[tuple[str, bool]],
    rows: Iterable[Sequence[str]],
    title: str | None = None,
    *,
    lines: bool = False,
    labels: int = 0,
    aside: bool = False,
) -> None:
    """Prints a table.

    Args:
        columns: of each its heading, and whether it holds numbers.
        rows: their cells, which may have several lines if `lines`.
        title: what stands above the table.
        lines: whether rows have a rule between them.
        labels: how many of the first columns say what a row is about. A table that is too wide is
            split into parts that all have these columns; without it those before the first
            number, and in files the table is not split.
        aside: whether it goes to standard error.
    """
    cells = [[sanitized(cell, lines=lines) for cell in row] for row in rows]
    by_column = [tuple(row[i] for row in cells) for i in range(len(columns))]
    found = [
        Column(heading, numeric, of)
        for (heading, numeric), of in zip(columns, by_column, strict=True)
    ]
    show(Table(tuple(found), title and sanitized(title), labels, lines), aside)


def print_facts(facts: Iterable[tuple[str, str]], aside: bool = False) -> None:
    """Prints names and values in two columns, on standard error if `aside`."""
    show(Facts(tuple((sanitized(name), sanitized(value)) for name, value in facts)), aside)


def summary(facts: Mapping[str, object]) -> list[tuple[str, str]]:
    """The names and values of a program's summary, for `print_facts`."""
    return [(name.replace("_", " "), _plain(value)) for name, value in facts.items()]


def _plain(value: object) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def show(table: Table | Facts, aside: bool = False) -> None:
    """Draws a table on standard output, or on standard error if `aside`."""
    stream = sys.stderr if aside else sys.stdout
    table.draw(terminal_width(stream), stream)


def page_width() -> int:
    """The width of standard output: the terminal's, or that of files."""
    return terminal_width(sys.stdout) or _IN_FILES


def terminal_width(stream: TextIO) -> int | None:
    """The columns of the terminal that a stream goes to; None if it goes to a file or pipe."""
    if not stream.isatty():
        return None
    from rich.console import Console

    return Console(file=stream).width


def wrap(text: str, width: int) -> str:
    """Text with line breaks such that no line is wider, except a line of one long number.

    >>> wrap("12 processors, 1,234,567 references", 14).splitlines()
    ['12 processors,', '1,234,567', 'references']
    >>> wrap("/home/me/trace-1000.hnt", 9).splitlines()
    ['/home/me/', 'trace-', '1000.hnt']
    """
    return "\n".join(line for given in text.split("\n") for line in _wrapped(given, width))


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    # Blanks at the beginning indent the first line.
    for word in re.findall(r"\s*\S+", text):
        whole = _width(word.strip()) <= width
        for piece in [word] if whole else [word[: -len(word.lstrip())], *_pieces(word, width)]:
            if _width(lines[-1] + piece) <= width or not lines[-1].strip():
                lines[-1] += piece
            else:
                lines.append(piece.lstrip())
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """What a word may be broken into: a piece that is too long still is a number."""
    pieces: list[str] = [match[0] for match in _PIECE.finditer(word.lstrip())]
    return [
        part
        for piece in pieces
        for part in ([piece] if _width(piece) <= width or piece[0].isdigit() else piece)
    ]


def _split(needed: Sequence[int], labels: int, width: int) -> list[list[int]]:
    """Positions of the columns of each part: in each the labels, and as many more as fit."""
    parts = [[*range(labels)]]
    for i in range(labels, len(needed)):
        fits = _total([needed[j] for j in (*parts[-1], i)]) <= width
        if not fits and len(parts[-1]) > labels:
            parts.append([*range(labels)])
        parts[-1].append(i)
    return parts


def _spread(least: Sequence[int], natural: Sequence[int], width: int) -> list[int]:
    """Widths of columns: what is left over goes to the narrowest of those that wrap."""
    found = [*least]
    for _ in range(width - _total(found)):
        wrapping = [i for i, chosen in enumerate(found) if chosen < natural[i]]
        if not wrapping:
            break
        found[min(wrapping, key=found.__getitem__)] += 1
    return found


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _BETWEEN * len(widths)


def _width(text: str) -> int:
    """The columns that a text takes in a terminal."""
    if _is_simple(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _is_simple(text: str) -> bool:
    """Whether a text is one line and every character one column."""
    return text.isascii() and text.isprintable()


def _bold(text: str) -> Any:
    from rich.text import Text

    return Text(text, style="bold")


def _print(stream: TextIO, drawn: Any, width: int) -> None:
    from rich.console import Console

    console: Any = Console(file=stream, width=width, highlight=False, soft_wrap=False)
    console.on_broken_pipe = _reader_gone  # rich would end with 1, which here means findings
    console.print(drawn)


def _reader_gone() -> None:
    raise BrokenPipeError
