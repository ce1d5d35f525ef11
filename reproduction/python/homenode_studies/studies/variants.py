"""Variants of a study: under which change of machine or workload a claim that differs would hold.

A reason without a run is a guess. A variant changes only what the reason names, and all claims
are judged again by the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from homenode_studies.studies.claims import ledger
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from homenode_studies.studies.claims import Finding
    from homenode_studies.studies.context import StudyContext
    from homenode_studies.studies.entry import Products, Study
    from homenode_studies.studies.tables import Row


@dataclass(frozen=True)
class Variant:
    """One change of machine or workload.

    Attributes:
        name: one or two words, as columns are called.
        summary: what is changed.
        experiments: the study's, with the change.
    """

    name: str
    summary: str
    experiments: Callable[[StudyContext], Products]


def tried(
    entry: Study, context: StudyContext, findings: Sequence[Finding]
) -> tuple[list[Finding], Table]:
    """Judges every claim under each variant.

    Returns:
        The findings, those that differ with the names of the variants under which they hold; and
        what those come to under each.
    """
    printed = published(entry.publication.name)
    under = {
        variant.name: ledger(entry.claims, variant.experiments(context).evidence(printed))
        for variant in entry.variants
    }
    told: list[Finding] = []
    rows: list[Row] = []
    for at, finding in enumerate(findings):
        if finding.verdict != "differs":
            told.append(finding)
            continue
        others = {name: judged[at] for name, judged in under.items()}
        told.append(_told(finding, others))
        rows.append(_row(finding, others))
    return told, Table("variants", "claims that differ, under each variant", rows, described(entry))


def _told(finding: Finding, others: Mapping[str, Finding]) -> Finding:
    """A finding that says under which variants its claim holds."""
    holds = [f"{name} ({it.ours})" for name, it in others.items() if it.verdict == "holds"]
    said = f"holds with {', '.join(holds)}" if holds else "holds under no variant"
    return replace(finding, note="; ".join(part for part in (finding.note, said) if part))


def _row(finding: Finding, others: Mapping[str, Finding]) -> Row:
    row: Row = {
        "section": finding.claim.section,
        "claim": finding.claim.statement,
        "published": finding.claim.published,
        "ours": finding.ours,
    }
    return row | {name: f"{it.ours}: {it.verdict}" for name, it in others.items()}


def described(entry: Study) -> str:
    """What the variants are, as a paragraph."""
    listed = "; ".join(f"{variant.name}: {variant.summary}" for variant in entry.variants)
    return f"Claims that differ are judged under variants of machine and workload, too. {listed}."
