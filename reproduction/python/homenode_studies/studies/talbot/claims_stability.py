"""Claims of the abstract, section 1.3, the summary and the conclusion: stable performance."""

from homenode_studies.studies.claims import CLOSE, Claim, more_than
from homenode_studies.studies.tables import Evidence
from homenode_studies.studies.talbot.bars import SHORT, TIME, bars
from homenode_studies.studies.talbot.beyond import by_clusters
from homenode_studies.studies.talbot.judging import better, not_better, not_worse, worse
from homenode_studies.studies.talbot.matrix import (
    FINITE,
    HOMES,
    INFINITE,
    NONE,
    REACTIVE,
    ROUND,
    Setting,
)
from homenode_studies.studies.talbot.measures import best_of, compared, over_best
from homenode_studies.studies.talbot.reasons import ANY_LOSSES, EDGES, LOSSES

PLAIN = (NONE,)
PROMISED = Setting(proxies=REACTIVE)
"""Reactive proxies with first touch."""
_OVER_BOTH = "time with reactive proxies and first touch over that of each placement without"
_SUMMARY, _CONCLUSION = "1.5.3, paragraph 2", "1.7, paragraph 1"


def over_each(evidence: Evidence) -> dict[str, float]:
    """The promised time over that of first touch and of round-robin without proxies, by program."""
    return {
        f"{program} / {SHORT[home]}": ratio
        for home in HOMES
        for program, ratio in compared(evidence, TIME, PROMISED, Setting(home)).items()
    }


def largest_losses(evidence: Evidence) -> dict[str, float]:
    """The largest ratio of each placement to the other, without proxies, with infinite buffers."""
    found = bars(evidence)
    ft = Setting(buffers=INFINITE)
    ratios = found.each(lambda p: found.ratio(p, TIME, ft.changed(home=ROUND), ft))
    return {"rr / ft": max(ratios.values()), "ft / rr": 1 / min(ratios.values())}


def wrong_choice(evidence: Evidence) -> dict[str, float]:
    """The largest ratio of the worse to the better placement, finite buffers and no proxies."""
    found = bars(evidence)
    ratios = found.each(lambda p: found.ratio(p, TIME, Setting(ROUND), Setting()))
    program = max(ratios, key=lambda p: max(ratios[p], 1 / ratios[p]))
    return {program: max(ratios[program], 1 / ratios[program])}


_PROMISE = (
    Claim(
        "abstract",
        "Reactive proxies with first touch are never slower than either placement without",
        "always better",
        f"{_OVER_BOTH}; none is above one by more than a tie",
        over_each,
        not_worse,
        why=LOSSES,
    ),
    Claim(
        _SUMMARY,
        "and always faster",
        "always better",
        f"{_OVER_BOTH}; all are below one, by however little",
        over_each,
        better,
        why=ANY_LOSSES,
    ),
    Claim(
        _CONCLUSION,
        "A programmer need not choose: they are no slower than the better placement",
        "stable performance",
        "time with reactive proxies and first touch over the lesser of the two without; none "
        "is above one by more than a tie",
        lambda e: over_best(e, PROMISED, best_of(FINITE, PLAIN)),
        not_worse,
        why=LOSSES,
    ),
)

_CHOICE = (
    Claim(
        "abstract",
        "Neither placement suits all programs",
        "neither",
        "largest ratio of each to the other, without proxies, infinite buffers; both are above "
        "one by more than a tie",
        largest_losses,
        worse,
        why=EDGES,
    ),
    Claim(
        "1.1, paragraph 1",
        "A poor choice of placement has a marked effect",
        "marked",
        "largest ratio of the worse placement to the better, finite buffers; more than a tenth",
        wrong_choice,
        more_than(CLOSE),
        why=EDGES,
        post_hoc="more than a tie sufficed",
    ),
)


_CLUSTERS = (
    Claim(
        "1.3, paragraph 1",
        "Three clusters are the best balance, for GE with basic proxies",
        "best balance",
        "time of 256 rows with other numbers of clusters over that with three, finite buffers; "
        "none is below one by more than a tie",
        by_clusters,
        not_better,
    ),
)

CLAIMS = (*_PROMISE, *_CHOICE, *_CLUSTERS)
"""Claims about the promised stability."""
