"""Variants of a study: changes of machine or workload under which a claim that differs may hold.

A reason for a difference is a guess until it is tested. A variant changes only what the reason
names, and all claims are judged again by the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from homenode_studies.studies.claims import Finding, ledger
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from homenode_studies.studies.context import StudyContext
    from homenode_studies.studies.entry import Products, Study


@dataclass(frozen=True)
class Variant:
    """One change of machine or workload.

    Attributes:
        name: one or two words, for columns.
        summary: the change.
        experiments: the study's experiments, with the change.
    """

    name: str
    summary: str
    experiments: Callable[[StudyContext], Products]


def tried(
    entry: Study, context: StudyContext, findings: Sequence[Finding]
) -> tuple[list[Finding], Table]:
    """Judges every claim under each variant.

    Returns:
        The findings, where those that differ name the variants under which they hold, and their
        values under each variant.
    """
    printed = published(entry.publication.name)
    under = {
        variant.name: ledger(entry.claims, variant.experiments(context).evidence(printed))
        for variant in entry.variants
    }
    answers: list[Finding] = []
    rows: list[Row] = []
    for at, finding in enumerate(findings):
        if finding.verdict != "differs":
            answers.append(finding)
            continue
        others = {name: judged[at] for name, judged in under.items()}
        answers.append(_answered(finding, others))
        rows.append(_row(finding, others))
    return answers, Table(
        "variants", "claims that differ, under each variant", rows, described(entry)
    )


def _answered(finding: Finding, others: Mapping[str, Finding]) -> Finding:
    """The finding, with the variants under which its claim holds."""
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
    """The description of the variants, as a paragraph."""
    listed = "; ".join(f"{variant.name}: {variant.summary}" for variant in entry.variants)
    return f"Claims that differ are also judged under variants of machine and workload. {listed}."
