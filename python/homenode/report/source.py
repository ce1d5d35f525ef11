"""Source lines in a report, each with the misses that sharing causes there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Functions shown, source lines of each, and lines around those with misses.
_FUNCTIONS = 4
# A function is shown if at least one in 50 of all misses is its own.
_PART = 50
_LINES = 30
_AROUND = 2
# Files that are read: what compilers take, and not too large.
_SUFFIXES = frozenset(
    ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .ipp .inl .inc .f .for .f77 .f90 .f95 .f03 .f08".split()
)
_BYTES = 1 << 24


@dataclass(frozen=True)
class SourceLine:
    """A line of a source file.

    Attributes:
        number: counted from 1.
        text: the line itself; empty if the file cannot be read.
        false: misses of 64-byte lines that other threads took although they share no data.
        true: misses for data that other threads wrote.
    """

    number: int
    text: str
    false: int = 0
    true: int = 0


@dataclass(frozen=True)
class SourceFunction:
    """The lines of a function with misses, and some around them.

    Attributes:
        name: the function.
        file: where it is.
        lines: in order; where lines are left out between two, their numbers say so.
        misses: of all its lines.
        of: of all functions.
    """

    name: str
    file: str
    lines: list[SourceLine]
    misses: int
    of: int


def annotated(lines: list[dict[str, Any]]) -> list[SourceFunction]:
    """The functions whose lines miss most because of other threads.

    Args:
        lines: rows of `SharingResult.detail`: file, line, function, misses.
    """
    functions: dict[tuple[str, str], dict[int, SourceLine]] = {}
    for row in lines:
        false, true = (row["misses"][cause] for cause in ("false_sharing", "true_sharing"))
        if row["file"] and false + true > 0:
            there, number = functions.setdefault((row["file"], row["function"]), {}), row["line"]
            before = there.get(number, SourceLine(number, ""))
            there[number] = SourceLine(number, "", before.false + false, before.true + true)
    misses = {key: sum(map(_missed, counted.values())) for key, counted in functions.items()}
    everywhere = sum(misses.values())
    found = [
        SourceFunction(name, Path(file).name, _excerpt(file, counted), missed, everywhere)
        for (file, name), counted in functions.items()
        if (missed := misses[file, name]) >= everywhere / _PART
    ]
    return sorted(found, key=lambda function: -function.misses)[:_FUNCTIONS]


def _missed(line: SourceLine) -> int:
    return line.false + line.true


def _excerpt(file: str, counted: dict[int, SourceLine]) -> list[SourceLine]:
    """Lines with misses, with their text and those around them if the file is there."""
    text = _read(file)
    shown: set[int] = set()
    for line in sorted(counted.values(), key=_missed, reverse=True):
        around = {n for n in range(line.number - _AROUND, line.number + _AROUND + 1) if text}
        more = shown | {line.number} | {n for n in around if 1 <= n <= len(text)}
        if len(more) > _LINES:
            break
        shown = more
    lines = []
    for number in sorted(shown):
        known = counted.get(number, SourceLine(number, ""))
        said = text[number - 1] if 1 <= number <= len(text) else ""
        lines.append(SourceLine(number, said, known.false, known.true))
    return lines


def _read(file: str) -> list[str]:
    """The lines of a source file. A trace may name any file, and a report is given to others."""
    path = Path(file)
    if path.suffix.lower() not in _SUFFIXES:
        return []
    try:
        if not path.is_file() or path.stat().st_size > _BYTES:
            return []
        return path.read_text(errors="replace").expandtabs(4).splitlines()
    except (OSError, ValueError):
        return []
