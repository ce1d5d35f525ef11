"""Advice for the planted programs, for the table in the documentation and the test.

As a program it updates the table: python -m planted.found (in tests/).
"""

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from planted.record import TWINS, Program, corpus, record_all

PAGE = Path(__file__).parents[2] / "docs" / "planted.md"
MARKS = ("<!-- table: planted -->\n", "<!-- end -->")
# Smallest share of the processors' time that makes a wait a finding.
_FINDING = 0.2


@dataclass(frozen=True)
class Found:
    """The advice for a program and its twin.

    Attributes:
        advice: kind and object of the first advice; nothing if there is none.
        finding: the object that is waited for longest by false sharing, where that is much.
        said: the kinds of findings that need a change of the program: count, lock.
        before, promised, came: cycles, or cost on pages: unchanged, with all advice, of the twin.
        twin: the kinds of advice that the twin gets.
    """

    advice: tuple[str, str] | None
    finding: str
    said: tuple[str, ...]
    before: float
    promised: float
    came: float
    twin: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """The promised gain divided by the twin's."""
        return self.promised / self.came


def look(program: Program, traces: Mapping[str, Path]) -> Found:
    """Asks for advice on both twins."""
    planted, fixed = (_advice(program, traces[twin]) for twin in TWINS)
    point = planted.points[0]
    first = planted.rows[0] if planted.rows else None
    return Found(
        advice=None if first is None else (first["kind"], first["object"]),
        finding=_finding(point["lines"]),
        said=tuple(row["kind"] for row in (point["lines"] or {}).get("findings", ())),
        before=point["before"]["total_cost"],
        promised=point["after"]["total_cost"],
        came=fixed.points[0]["before"]["total_cost"],
        twin=tuple(row["kind"] for row in fixed.rows),
    )


def _advice(program: Program, trace: Path) -> hn.AdviceResult:
    if program.granularity == "page":
        # The programs are small: they represent programs whose data fit in no cache.
        return hn.advise(str(trace), "spr-2s", "first-touch", threads=1, filter="none")
    return hn.advise(str(trace), threads=1)


def _finding(lines: dict[str, Any] | None) -> str:
    if lines is None or not lines["objects"]:
        return ""
    worst = max(lines["objects"], key=lambda row: row["false_sharing_share"] or 0)
    return worst["label"] if (worst["false_sharing_share"] or 0) >= _FINDING else ""


def is_about(program: Program, label: str) -> bool:
    """Whether a name that the tool gives is the planted object's.

    Static and local variables are identified by name, local ones also by the line of the
    declaration; heap blocks by the file or, in C, the exact line.
    """
    if program.storage == "static":
        return re.fullmatch(rf"(.*::)?(?:{program.object})", label) is not None
    line = program.marked_lines(program.marker)[0] if program.marker else 0
    if program.storage == "stack-variable":
        place = re.escape(f"{program.file}:{line} ")
        return re.match(rf"local (?:{program.object}), {place}", label) is not None
    if program.language == "c":
        return f"{program.file}:{line}" in label
    return label.startswith("heap")


def table(found: Iterable[tuple[Program, Found]]) -> str:
    """The table of the documentation."""
    lines = [
        "| program | planted | found as | before | promised | came | promised / came |",
        "|---|---|---|---|---|---|---|",
    ]
    for program, one in found:
        said = "nothing" if one.advice is None else f"`{one.advice[0]}` {_code(one.advice[1])}"
        if one.advice is None and one.finding:
            said = f"finding: {_code(one.finding)}"
        kind = program.kind if program.kind == "none" else f"`{program.kind}`"
        advised = one.advice is not None
        rest = [f"{one.promised:,.0f}", f"{one.came:,.0f}", f"{one.ratio:.2f}"]
        if not advised:
            rest = ["-", f"{one.came:,.0f}" if program.twin else "-", "-"]
        cells = [f"`{program.file}`", f"{kind}: {_sentence(program)}", said, f"{one.before:,.0f}"]
        lines.append(f"| {' | '.join([*cells, *rest])} |")
    return "\n".join(lines) + "\n"


def _sentence(program: Program) -> str:
    return program.planted.replace("|", "\\|")


def _code(name: str) -> str:
    return f"`{name}`" if name else ""


def main() -> int:
    """Records all programs and writes the table into the page."""
    programs = corpus()
    with tempfile.TemporaryDirectory() as folder:
        traces = record_all(programs, Path(folder))
        found = [(p, look(p, {twin: traces[p.file, twin] for twin in TWINS})) for p in programs]
    text = PAGE.read_text()
    begin, end = (text.index(mark) for mark in MARKS)
    PAGE.write_text(text[: begin + len(MARKS[0])] + table(found) + text[end:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
