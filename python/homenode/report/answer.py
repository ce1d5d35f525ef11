"""The answer at the head of a report: the largest costs, their causes, and what to change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from homenode.options.specs import plain_number, plural
from homenode.report.sentences import percent
from homenode.results.chance import WIDE, speed_up_range, time_varies
from homenode.results.waits import CAUSES, layouts_gain_at_most, others, where_time_goes

if TYPE_CHECKING:
    from homenode.engines.advise import AdviceResult
    from homenode.report.source import SourceFunction

# Least share of the time waited for an object to be listed; twice that to be named in the answer.
_LISTED = 0.005
_NAMED = 0.01
# Counters and locks come before the advice; all in all at most ten sentences.
_FINDINGS = 2
_WHY = {
    "false_sharing": "threads use different words of one line (false sharing)",
    "true_sharing": "threads write and read the same words (true sharing)",
    "replacement": "it does not stay in the cores' caches",
    "cold": "it is fetched for the first time",
}


@dataclass(frozen=True)
class Answer:
    """The main findings about one program.

    Attributes:
        sentences: at most ten, the most important first.
        objects: for whose data processors wait: label, bytes, share, false_sharing_share, waits;
            the last row is that of all other objects, without bytes.
        advice: pieces of advice on cache lines, then on pages: rows of `AdviceResult`.
        lines: the point of the advice on cache lines, with times before and after.
        functions: source lines that miss because of other threads.
        turns: in which turns of the threads those misses were counted.
    """

    sentences: list[str]
    objects: list[dict[str, Any]] = field(default_factory=list)
    advice: list[dict[str, Any]] = field(default_factory=list)
    lines: dict[str, Any] | None = None
    functions: list[SourceFunction] = field(default_factory=list)
    turns: str = ""


def answer(
    lines: AdviceResult,
    pages: AdviceResult | None = None,
    other_turns: dict[str, Any] | None = None,
) -> Answer:
    """Puts the answer together.

    Args:
        lines: advice for the cache lines of one machine of today.
        pages: advice for the pages of one, or nothing.
        other_turns: the row of `homenode.interleavings` for those pages, if it is known.
    """
    point = lines.points[0]
    found = point["lines"]
    objects = [row for row in found["objects"] if (row["share"] or 0) >= _LISTED]
    findings = [row["sentence"] for row in found["findings"][:_FINDINGS]]
    sentences = [_time(point), *_objects(objects), *findings, *_lines(lines, point)]
    rest = others(found["before"], objects)
    if objects and rest is not None:
        objects = [*objects, rest]
    rows = [{**row, "unit": "cycles"} for row in lines.rows]
    if pages is not None:
        sentences += _pages(pages, other_turns)
        rows += [{**row, "unit": "cost"} for row in pages.rows]
    sentences += [_sentence(said) for said in lines.provenance["suggestions"]]
    sentences.append(_sure(lines))
    return Answer(sentences[:10], objects, rows, point)


def _time(point: dict[str, Any]) -> str:
    time = point["lines"]["before"]
    cycles = plain_number(time["cycles"])
    return f"On {point['machine']} the program takes {cycles} cycles. {where_time_goes(time)}"


def _objects(objects: list[dict[str, Any]]) -> list[str]:
    found = []
    for row in objects[:3]:
        if (row["share"] or 0) < _NAMED:
            continue
        main = max(CAUSES, key=lambda cause: row["waits"][cause]["cycles"])
        misses = row["waits"][main]["transactions"]
        found.append(
            f"{percent(row['share'])} waits for `{row['label']}`, above all because "
            f"{_WHY[main]}: {misses:,} times."
        )
    return found


def _lines(lines: AdviceResult, point: dict[str, Any]) -> list[str]:
    rows = lines.at(point)
    if not rows:
        return [_nothing(point)]
    found = [f"Change this first: {rows[0]['sentence']}"]
    more = len(rows) - 1
    before, after = (plain_number(point[side]["total_cost"]) for side in ("before", "after"))
    what = "That" if not more else f"With {more} more {plural(more, 'piece')} of advice that"
    found.append(
        f"{what} takes the program from {before} to {after} cycles: {point['speed_up']:.2f} times "
        f"as fast, simulated{speed_up_range(point)}, for "
        f"{plain_number(point['extra_bytes'])} bytes of memory."
    )
    return found


def _nothing(point: dict[str, Any]) -> str:
    time = point["lines"]["before"]
    shared = time["true_sharing_share"] or 0
    said = f"None of {point['tried']} other layouts of its data gains a fortieth of the time"
    said += f"{layouts_gain_at_most(time) or time_varies(point)}."
    if shared >= _NAMED and not point["lines"]["findings"]:
        said += (
            " The data waited for are truly shared, so no layout helps: let threads write "
            "them less often, for example to a value for each thread that is added up at the end."
        )
    return said


def _pages(pages: AdviceResult, other_turns: dict[str, Any] | None) -> list[str]:
    point = pages.points[0]
    rows = pages.at(point)
    where = f"On the pages of {point['machine']} under {point['policy']}"
    if point["before"]["mcpr"] is None:
        return []
    what = "a reference to memory" if "cache_filter" in pages.provenance else "a reference"
    mean = f"{what} costs {plain_number(point['before']['mcpr'])} local ones{_turns(other_turns)}"
    if not rows:
        return [f"{where} {mean}; no better home or layout gains a hundredth of that."]
    return [
        f"{where} {mean}, and {plain_number(point['after']['mcpr'])} if you follow this "
        f"({percent(point['saved_share'])} of the cost): {rows[0]['sentence']}"
    ]


def _turns(other: dict[str, Any] | None) -> str:
    """How far costs of pages depend on the order of the trace; times do not."""
    if other is None:
        return " in the turns of the recording"
    low, high = plain_number(other["min"]), plain_number(other["max"])
    if (other["spread"] or 0) <= WIDE:
        return f" ({low} to {high} if threads take other turns)"
    return f" in the turns of the recording, {low} to {high} in others, so that this says little"


def _sure(lines: AdviceResult) -> str:
    said = (
        "How sure: times are those of a model whose threads are replayed in cycles under the "
        "recorded synchronisation, so they do not depend on the turns of the recording; a program "
        "whose threads race, or wait by polling, may take other turns on a real machine."
    )
    return " ".join([said, *(_sentence(note) for note in lines.provenance["notes"])])


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."
