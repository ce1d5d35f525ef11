"""A second workload for the same claims, in a column of its own beside the recorded one.

A recording differs from a publication's workload in everything at once. A workload made from the
statistics that the publication prints differs from it only in what these leave open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from homenode_studies.studies.claims import Finding, counts, find
from homenode_studies.studies.published import tables as published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from homenode_studies.studies.context import StudyContext
    from homenode_studies.studies.entry import Products, Study
    from homenode_studies.studies.tables import Row


@dataclass(frozen=True)
class Beside:
    """A second workload of a study.

    Attributes:
        name: the heading of its column.
        summary: what it is, as a sentence.
        experiments: the study's experiments on it.
        made_so: sections whose claims it fulfils because it was made so, and which are not judged.
    """

    name: str
    summary: str
    experiments: Callable[[StudyContext], Products]
    made_so: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Column:
    """The claims judged on the second workload.

    Attributes:
        of: the workload.
        findings: one for each claim of the study, in order; None where it was made so.
    """

    of: Beside
    findings: Sequence[Finding | None] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The number of claims by verdict."""
        return counts(finding for finding in self.findings if finding is not None)

    def added_to(self, rows: Sequence[Row]) -> list[Row]:
        """Rows of the ledger with the value and the verdict on the second workload."""
        pairs = zip(rows, self.findings, strict=True)
        return [row | self._cells(finding) for row, finding in pairs]

    @staticmethod
    def _cells(finding: Finding | None) -> dict[str, str]:
        ours, verdict = ("made so", "") if finding is None else (finding.ours, finding.verdict)
        return {"beside": ours, "beside_verdict": verdict}


def judge(entry: Study, context: StudyContext) -> Column | None:
    """Judges the claims on the study's second workload, if it has one."""
    if entry.beside is None:
        return None
    evidence = entry.beside.experiments(context).evidence(published(entry.publication.name))
    made_so = entry.beside.made_so
    findings = [
        None if claim.section in made_so else find(claim, evidence) for claim in entry.claims
    ]
    return Column(entry.beside, findings)
