"""Claims: statements of a publication, each with the way in which our results are compared with it.

Claims are judged by rules that were fixed before the full runs and are the same for all:

* a number holds if ours is within a tenth of it, a percentage if ours is within five points;
* a bound holds if ours is on the right side of it;
* *most* is more than half of the programs, *nearly all* at least nine tenths, *few* at most a
  fifth;
* *close*, *slightly* and *small* mean within a tenth, *comparable* within a fifth (chapter 8 of the
  thesis calls that competitive), *far* and *significant* more than a tenth, *order of magnitude* a
  factor of ten.

If a publication prints numbers from which our value can be computed, the rule is applied to these
first. If it fails there, the publication contradicts itself, and neither *holds* nor *differs*
would be meaningful: the verdict is *source*.

If the experiments were run with several seeds, the rule is applied to the results of each and to
their median. Unless all agree, the verdict is *tie*.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Self

from homenode.options.specs import plain_number
from homenode_studies.studies.draws import is_number, median
from homenode_studies.studies.reasons import Reason, said
from homenode_studies.studies.tables import Evidence, Missing

Verdict = Literal["holds", "differs", "tie", "source", "not testable"]
VERDICTS: tuple[Verdict, ...] = ("holds", "differs", "tie", "source", "not testable")
Kind = Literal["empirical", "printed", "identity"]
KINDS: tuple[Kind, ...] = ("empirical", "printed", "identity")
"""Judged by our runs; by the printed numbers of the source alone; or true by definition, by an
equation or by a default, so that the claim tests our engines and not the source."""

MOST = 0.5
HALF = 1.5
NEARLY_ALL = 0.9
FEW = 0.2
CLOSE = 1.1
COMPARABLE = 1.2
TENFOLD = 10.0
_NOTHING = "a share or ratio of zero: this run counted none"
TIE = 0.02
"""Values that differ by less tie."""
SLACK = 0.01
"""The tolerance of steps in the other direction in a series that rises or falls."""


@dataclass(frozen=True)
class Claim:
    """One statement of a publication.

    Attributes:
        section: its section.
        statement: the claim, in our words.
        published: the printed value, or a few words.
        how: how our value is computed.
        compute: our value, from the evidence; None if our results cannot test the claim.
        judge: whether our value agrees.
        shows: the format of numbers, or ``%``.
        why: the reason why it differs, if known; or, without `compute`, why it cannot be tested.
        kind: the kind of judgement.
        own: the value computed from the source's own numbers; None if the source gives it only in
            words.
        contradicted: the numbers by which the source contradicts itself.
        post_hoc: the earlier rule, if it was changed after a full run.
    """

    section: str
    statement: str
    published: str
    how: str = ""
    compute: Callable[[Evidence], Any] | None = None
    judge: Callable[[Any], bool] | None = None
    shows: str = ""
    why: str | Reason = ""
    kind: Kind = "empirical"
    own: Callable[[Evidence], Any] | None = None
    contradicted: str = ""
    post_hoc: str = ""

    def tried_on(self, source: Callable[[], Evidence]) -> Self:
        """The claim, whose rule is also applied to the source's own numbers, in our results' form.

        Those may lack what the claim needs. The claim's `own`, if it has one, is kept.
        """
        compute = self.compute
        if self.own is not None or compute is None:
            return self
        return replace(self, own=lambda _: compute(source()))


@dataclass(frozen=True)
class Finding:
    """A judged claim.

    Attributes:
        claim: the claim.
        verdict: the verdict.
        ours: our value.
        note: why it differs, or cannot be tested.
        own: the value computed from the source's own numbers, or nothing.
    """

    claim: Claim
    verdict: Verdict
    ours: str
    note: str
    own: str = ""

    def row(self) -> dict[str, str]:
        """The finding as one row of the ledger."""
        return {
            "section": self.claim.section,
            "claim": self.claim.statement,
            "kind": self.claim.kind,
            "published": self.claim.published,
            "own": self.own,
            "computed": self.claim.how,
            "ours": self.ours,
            "verdict": self.verdict,
            "note": self.note,
        }


def find(claim: Claim, evidence: Evidence, further: Sequence[Evidence] = ()) -> Finding:
    """Judges one claim.

    Args:
        claim: the claim.
        evidence: the results of the experiments.
        further: their results with other seeds; those that lack what the claim needs are left out.
    """
    own, contradicted = _tried(claim, evidence)
    found = [evidence, *further]
    if claim.compute is None or claim.judge is None:
        return Finding(claim, "not testable", "", said(claim.why, found), own)
    try:
        value = claim.compute(evidence)
    except Missing as reason:
        return Finding(claim, "not testable", "", str(reason), own)
    except ZeroDivisionError:
        return Finding(claim, "not testable", "", _NOTHING, own)
    values = [value, *_computed(claim.compute, further)]
    verdict, note = _judged(claim.judge, values)
    note = said(claim.why, found) if verdict == "differs" else note
    if contradicted or (claim.kind == "printed" and verdict != "holds"):
        verdict, note = "source", claim.contradicted or said(claim.why, found)
    if claim.post_hoc:
        note = f"{note}; " * bool(note) + f"rule set after a full run: {claim.post_hoc}"
    return Finding(claim, verdict, _shown(values, claim.shows), note, own)


def _computed(compute: Callable[[Evidence], Any], further: Sequence[Evidence]) -> list[Any]:
    """The values with other seeds."""
    values = []
    for evidence in further:
        with suppress(Missing, ZeroDivisionError):
            values.append(compute(evidence))
    return values


def _judged(judge: Callable[[Any], bool], values: Sequence[Any]) -> tuple[Verdict, str]:
    """The verdict on the values with each seed, and how many agree if not all do."""
    agree = [judge(value) for value in values]
    if len({*agree, judge(median(values))}) > 1:
        return "tie", f"holds with {sum(agree)} of {len(agree)} seeds"
    return ("holds" if all(agree) else "differs"), ""


def _shown(values: Sequence[Any], shows: str) -> str:
    """The median of values as text, with the range of numbers that are not all the same."""
    text = format_value(median(values), shows)
    if not all(is_number(value) for value in values):
        return text
    ends = [format_value(end, shows) for end in (min(values), max(values))]
    return text if ends == [text, text] else f"{text} ({' to '.join(ends)})"


def _tried(claim: Claim, evidence: Evidence) -> tuple[str, bool]:
    """The value computed from the source's own numbers, and whether the claim's rule rejects it."""
    if claim.own is None or claim.judge is None:
        return "", False
    try:
        own = claim.own(evidence)
    except Missing:
        return "", False
    return format_value(own, claim.shows), not claim.judge(own)


def ledger(
    claims: Iterable[Claim], evidence: Evidence, further: Sequence[Evidence] = ()
) -> list[Finding]:
    """Judges all claims, in order; for the arguments see `find`."""
    return [find(claim, evidence, further) for claim in claims]


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """The number of claims by verdict."""
    verdicts = [finding.verdict for finding in findings]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def counts_by_kind(findings: Iterable[Finding]) -> dict[Kind, dict[str, int]]:
    """The number of claims by kind and verdict; kinds without claims are left out."""
    listed = list(findings)
    of_kinds = {kind: [it for it in listed if it.claim.kind == kind] for kind in KINDS}
    return {kind: counts(found) for kind, found in of_kinds.items() if found}


def format_value(value: Any, shows: str = "") -> str:
    """A value as text for people.

    >>> format_value({"gauss": 1.25, "fft": 2.0}), format_value(0.823, "%")
    ('gauss 1.25, fft 2', '82 %')
    >>> format_value([]), format_value(True)
    ('none', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return (
            ", ".join(f"{name} {format_value(item, shows)}" for name, item in value.items())
            or "none"
        )
    if isinstance(value, list | tuple | set | frozenset):
        listed = sorted(value) if isinstance(value, set | frozenset) else value
        return ", ".join(format_value(item, shows) for item in listed) or "none"
    if isinstance(value, str) or value is None:
        return value or "none"
    if shows == "%":
        return f"{percent(float(value))} %"
    return plain_number(value, 3)


def percent(share: float) -> str:
    """A share as a percentage: whole numbers, or enough digits below one.

    >>> percent(0.823), percent(0.0042), percent(0)
    ('82', '0.42', '0')
    """
    value = 100 * share
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 2 else f"{value:.2g}"


def more_than(limit: float) -> Callable[[Any], bool]:
    """Whether every number is above `limit`."""
    return lambda value: all(item > limit for item in _numbers(value))


def less_than(limit: float) -> Callable[[Any], bool]:
    """Whether every number is below `limit`."""
    return lambda value: all(item < limit for item in _numbers(value))


def below(limit: float) -> Callable[[Any], bool]:
    """Whether every number is at most `limit`."""
    return lambda value: all(item <= limit for item in _numbers(value))


def above(limit: float) -> Callable[[Any], bool]:
    """Whether every number is at least `limit`."""
    return lambda value: all(item >= limit for item in _numbers(value))


def between(low: float, high: float) -> Callable[[Any], bool]:
    """Whether every number is from `low` to `high`."""
    return lambda value: all(low <= item <= high for item in _numbers(value))


def about(published: float) -> Callable[[Any], bool]:
    """Whether the number is within a tenth of the published one."""
    return lambda value: abs(value - published) <= 0.1 * abs(published)


def points(published: float) -> Callable[[Any], bool]:
    """Whether the share is within five percentage points of the published one."""
    return lambda value: abs(value - published) <= 0.05


def true(value: Any) -> bool:
    """Whether the value is true, or not empty."""
    return bool(value)


def empty(value: Any) -> bool:
    """Whether there are no exceptions."""
    return not value


def only(*names: str) -> Callable[[Any], bool]:
    """Whether there are no other exceptions."""
    return lambda value: set(value) <= set(names)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean.

    Raises:
        Missing: when there are no values.
    """
    if not values:
        raise Missing("nothing to average")
    return sum(values) / len(values)


def share(flags: Iterable[bool]) -> float:
    """The share of true values.

    Raises:
        Missing: when there are no values.
    """
    listed = list(flags)
    return mean([float(flag) for flag in listed])


def disagreement(ours: Iterable[str], thesis: Iterable[str], here: Iterable[str]) -> list[str]:
    """The programs of `here` that are in exactly one of the lists.

    >>> disagreement(["gauss", "fft"], ["gauss", "chip"], ["gauss", "fft", "chip", "mp3d"])
    ['chip', 'fft']
    """
    return sorted((set(ours) ^ set(thesis)) & set(here))


def some(value: Any, what: str) -> Any:
    """The value itself.

    Raises:
        Missing: when it is empty: a statement about nothing is neither true nor false.
    """
    if not value:
        raise Missing(what)
    return value


def of(values: Mapping[str, float], programs: Iterable[str]) -> dict[str, float]:
    """The values of those of the programs that exist.

    Raises:
        Missing: when none does.
    """
    found = {name: values[name] for name in programs if name in values}
    return dict(some(found, "this run has none of the programs that it is about"))


def chosen(values: Mapping[str, float], *programs: str) -> dict[str, float]:
    """The values of some programs.

    Raises:
        Missing: when one was not run.
    """
    absent = [name for name in programs if name not in values]
    if absent:
        raise Missing(f"needs {', '.join(absent)}, which this run does not have")
    return {name: values[name] for name in programs}


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [float(item) for item in value.values()]
    if isinstance(value, list | tuple):
        return [float(item) for item in value]
    return [float(value)]


def rises(values: Sequence[float]) -> bool:
    """Whether the last is above the first, and no step falls by more than a hundredth.

    >>> rises([1, 2, 1.99, 3]), rises([1, 2, 1.5, 3]), rises([1, 1])
    (True, False, False)
    """
    steps = all(after >= (1 - SLACK) * before for before, after in pairwise(values))
    return values[-1] > values[0] and steps


def falls(values: Sequence[float]) -> bool:
    """Whether the last is below the first, and no step rises by more than a hundredth."""
    return rises(values[::-1])
