"""Claims of section 1.5.2 about finite buffers, with figures 1.8 to 1.10 and table 1.4."""

from collections.abc import Callable
from typing import Any

from homenode_studies.studies.claims import CLOSE, Claim, less_than, more_than
from homenode_studies.studies.tables import Evidence
from homenode_studies.studies.talbot import BARNES, CONTIG, GE, WATER
from homenode_studies.studies.talbot.bars import MESSAGES, QUEUE, RESPONSE, TIME, bars, paper
from homenode_studies.studies.talbot.judging import (
    best_but_for_one,
    degraded_and_improved,
    most,
    near,
    within_points,
    worse_but_for_one,
)
from homenode_studies.studies.talbot.matrix import BASIC, FINITE, INFINITE, REACTIVE, ROUND, Setting
from homenode_studies.studies.talbot.measures import (
    Compute,
    best_of,
    compared,
    gains,
    least,
    off_the_paper,
    over_best,
    queues,
)
from homenode_studies.studies.talbot.reasons import ACCEPTED, EDGES, RARE, TOP

FT = Setting()
RR = FT.changed(home=ROUND)
BASIC_FT, REACTIVE_FT = FT.changed(proxies=BASIC), FT.changed(proxies=REACTIVE)
_FIRST, _SECOND = "1.5.2, paragraph 1", "1.5.2, paragraph 2"
_THIRD, _TABLE = "1.5.2, paragraph 3", "table 1.4"
_BY_ROUND = (
    "time with round-robin over that with first touch; at most one value is below one, by however "
    "little, and some are above it by more than a tie"
)


def favoured(evidence: Evidence) -> dict[str, float]:
    """The ratio of round-robin to first touch with finite buffers, over that with infinite ones."""
    found = bars(evidence)

    def shift(program: str) -> float:
        unlimited = found.ratio(
            program, TIME, RR.changed(buffers=INFINITE), FT.changed(buffers=INFINITE)
        )
        return found.ratio(program, TIME, RR, FT) / unlimited

    return found.each(shift)


def _changed(measure: str, *settings: Setting) -> Compute:
    """GE's value with proxies over that without, first touch."""

    def compute(evidence: Evidence) -> dict[str, float]:
        found = bars(evidence)
        return {s.proxies: found.ratio(GE, measure, s, FT) for s in settings}

    return compute


def order_of_queues(evidence: Evidence) -> dict[str, float]:
    """The mean wait of the programs with the longest and the shortest, infinite buffers."""
    found = bars(evidence)
    waits = found.each(lambda p: found.at(p, QUEUE, FT.changed(buffers=INFINITE)))
    longest, shortest = max(waits, key=waits.__getitem__), min(waits, key=waits.__getitem__)
    return {longest: waits[longest], shortest: waits[shortest]}


def longest_and_shortest(*names: str) -> Callable[[Any], bool]:
    """Whether these programs have the longest and the shortest queues."""
    return lambda value: tuple(value) == names


def limited(evidence: Evidence) -> dict[str, float]:
    """The mean wait with finite buffers over that with infinite ones, without proxies."""
    found = bars(evidence)
    return found.each(lambda p: found.ratio(p, QUEUE, FT, FT.changed(buffers=INFINITE)))


_DENSE = (
    "checked: with 20 instructions before each reference instead of 2, GE gains 26 % from reactive "
    "proxies and 30 % from basic ones: with fewer it waits for pivot rows most of the time. The "
    "paper does not give this number"
)
_FEW = (
    "checked: GE and FMM are fastest with basic proxies, for which all boxes of FMM are marked "
    "here, and Ocean-Non-Contig with reactive proxies and round-robin"
)
_SHIFTS = (
    "checked: FFT and Ocean-Non-Contig, whose conflicts in direct-mapped caches differ from "
    "recording to recording (notes), are decisive: in some recordings most are above one"
)
_PLACEMENT = (
    Claim(
        _FIRST,
        "Finite buffers favour first touch",
        "favours the first-touch policy",
        "time with round-robin over that with first touch, finite over infinite buffers; most "
        "are above one",
        favoured,
        most(lambda shift: shift > 1),
        why=_SHIFTS,
    ),
    Claim(
        _FIRST,
        "Round-robin is slower for six of the seven programs",
        "six of the seven",
        _BY_ROUND,
        lambda e: compared(e, TIME, RR, FT),
        worse_but_for_one,
        why="only Ocean-Contig is slower by more than a tie, and Ocean-Non-Contig is faster by "
        "more (see section 1.5.1, paragraph 4); the others tie",
        post_hoc="ties counted as slower",
    ),
    Claim(
        _FIRST,
        "The gain of GE from round-robin is reduced to 1.2 %",
        "1.2 %",
        "reduction of its time compared with first touch",
        lambda e: gains(e, FT, (GE, TIME, RR)),
        near(0.012),
        "%",
    ),
    Claim(
        _THIRD,
        "Round-robin has spectacular pitfalls, as with Ocean-Contig",
        "145.7 and 149.8 % (figure 1.8)",
        "time with round-robin, without and with basic proxies, over that with first touch; "
        "more than a tenth",
        lambda e: {
            kind: bars(e).relative(CONTIG, TIME, RR.changed(proxies=kind))
            for kind in ("none", BASIC)
        },
        more_than(CLOSE),
        why=EDGES,
        post_hoc="more than a tie sufficed",
    ),
)

_GE = (
    Claim(
        _SECOND,
        "GE sends fewer messages with proxies",
        "fewer messages (figure 1.9)",
        "messages with proxies over those without, first touch",
        _changed(MESSAGES, BASIC_FT, REACTIVE_FT),
        less_than(1),
    ),
    Claim(
        _SECOND,
        "Its remote reads are answered sooner with both kinds of proxies",
        "improve (figure 1.10)",
        "mean read response with proxies over that without, first touch",
        _changed(RESPONSE, BASIC_FT, REACTIVE_FT),
        less_than(1),
    ),
    Claim(
        _SECOND,
        "but the improvement is smaller with reactive ones",
        "not as much (figure 1.10)",
        "mean read response with reactive proxies over that with basic ones, first touch",
        lambda e: compared(e, RESPONSE, REACTIVE_FT, BASIC_FT, GE),
        more_than(1),
    ),
    Claim(
        _SECOND,
        "Messages to GE's nodes wait longer with reactive proxies, as fewer bounce",
        "increase; 38.59 to 60.77 cycles (table 1.4)",
        "mean wait in input buffers with reactive proxies over that without, first touch",
        _changed(QUEUE, REACTIVE_FT),
        more_than(1),
        why=RARE,
    ),
    Claim(
        _SECOND,
        "and with basic ones",
        "increase; 38.59 to 10.01 cycles (table 1.4)",
        "mean wait in input buffers with basic proxies over that without, first touch",
        _changed(QUEUE, BASIC_FT),
        more_than(1),
        contradicted="table 1.4 has 10.01 cycles with basic proxies and 38.59 without",
    ),
)

_BEST = (
    Claim(
        _THIRD,
        "Reactive proxies with first touch are the fastest for six of the seven programs",
        "six of the seven",
        "time with reactive proxies and first touch over the least of the six; at most one is "
        "above one by more than a tie",
        lambda e: over_best(e, REACTIVE_FT, best_of(FINITE)),
        best_but_for_one,
        why=_FEW,
    ),
    Claim(
        _THIRD,
        "The exception is GE, for which basic proxies are better",
        "basic",
        "fastest configuration for GE with finite buffers",
        lambda e: least(e, GE, best_of(FINITE)),
        lambda name: name.endswith(BASIC),
    ),
    Claim(
        _THIRD,
        "GE gains 22.2 % from reactive proxies",
        "22.2 %",
        "reduction of its time compared with no proxies, first touch",
        lambda e: gains(e, FT, (GE, TIME, REACTIVE_FT)),
        near(0.222),
        "%",
        why=_DENSE,
    ),
    Claim(
        "figure 1.8",
        "The legible bars of times with finite buffers",
        "23 bars that are not 100 by definition",
        "difference of ours from the printed one; most are within five points",
        lambda e: off_the_paper(bars(e), bars(paper()), TIME, FINITE),
        within_points,
        "%",
    ),
)

_QUEUES = (
    Claim(
        "1.5.3, paragraph 2",
        "Basic proxies shorten queues of infinite buffers",
        "reduce queueing (table 1.4)",
        "mean wait with basic proxies over that without; most are below one",
        lambda e: queues(e, QUEUE, BASIC, INFINITE),
        most(lambda ratio: ratio < 1),
    ),
    Claim(
        "1.5.3, paragraph 2",
        "Basic proxies shorten queues of finite buffers",
        "reduce queueing (table 1.4)",
        "mean wait with basic proxies over that without; most are below one",
        lambda e: queues(e, QUEUE, BASIC, FINITE),
        most(lambda ratio: ratio < 1),
    ),
    Claim(
        "1.5.3, paragraph 2",
        "Reactive proxies shorten queues",
        "reduce queueing (table 1.4)",
        "mean wait with reactive proxies over that without; most are below one",
        lambda e: queues(e, QUEUE, REACTIVE, FINITE),
        most(lambda ratio: ratio < 1),
        why=ACCEPTED,
    ),
    Claim(
        _TABLE,
        "Messages wait longest in GE and shortest in Barnes",
        "301.60 and 3.49 cycles",
        "longest and shortest mean wait, infinite buffers, first touch",
        order_of_queues,
        longest_and_shortest(GE, BARNES),
        why=TOP,
    ),
    Claim(
        _TABLE,
        "Messages wait less if reads bounce",
        "0.13 to 0.79 of the time",
        "mean wait with finite buffers over that with infinite ones, first touch",
        limited,
        less_than(1),
    ),
    Claim(
        _TABLE,
        "Pages by round-robin make queues shorter",
        "0.41 to 0.90 of the time",
        "mean wait with round-robin over that with first touch, infinite buffers",
        lambda e: compared(e, QUEUE, RR.changed(buffers=INFINITE), FT.changed(buffers=INFINITE)),
        less_than(1),
    ),
)

_KINDS = (
    Claim(
        "1.5.3, paragraph 2",
        "Basic proxies make Water slower, reactive ones faster",
        "basic degraded, reactive improved",
        "time with basic and with reactive proxies over that without, first touch; the first is "
        "above one, the second below, by however little",
        lambda e: {
            s.proxies: compared(e, TIME, s, FT, WATER)[WATER] for s in (BASIC_FT, REACTIVE_FT)
        },
        degraded_and_improved,
        post_hoc="basic proxies were compared with reactive ones only",
    ),
    Claim(
        "1.5.3, paragraph 2",
        "GE gains less from reactive proxies than from basic ones",
        "a smaller performance improvement",
        "time with reactive proxies over that with basic ones, first touch; above one, by "
        "however little",
        lambda e: compared(e, TIME, REACTIVE_FT, BASIC_FT, GE),
        more_than(1),
    ),
)

CLAIMS = (*_PLACEMENT, *_GE, *_BEST, *_QUEUES, *_KINDS)
"""Claims about machines whose queues reject reads."""
