"""A study: regenerates the tables and figures of a part of a publication, and judges its claims."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from homenode.errors import of_extra
from homenode_studies.studies import beside
from homenode_studies.studies.claims import Claim, Finding, Kind, counts, counts_by_kind
from homenode_studies.studies.claims import ledger as judged
from homenode_studies.studies.draws import FIRST_SEED, SEEDS
from homenode_studies.studies.forms import AS_RECORDED, TraceForm
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Figure, Picture, Row, Table
from homenode_studies.studies.variants import Variant, tried

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from homenode_studies.studies.context import StudyContext
    from homenode_studies.studies.programs import Publication


@dataclass(frozen=True)
class Products:
    """The results of a study's experiments.

    Attributes:
        tables: the publication's tables, from our programs.
        figures: the publication's figures, from our programs.
        extra: further rows that claims need, by name; saved with the others.
        notes: remarks on the experiments for the reader.
        pictures: further pictures.
    """

    tables: Sequence[Table]
    figures: Sequence[Figure]
    extra: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    pictures: Sequence[Picture] = ()

    def evidence(self, printed: Mapping[str, Sequence[Row]]) -> Evidence:
        """All evidence for the claims, except the publication's own tables."""
        rows: dict[str, Sequence[Row]] = dict(self.extra)
        rows |= {table.name: table.rows for table in self.tables}
        rows |= {figure.name: figure.rows for figure in self.figures}
        return Evidence(rows, printed)


@dataclass(frozen=True)
class Study:
    """An entry of the table of studies.

    Attributes:
        name: as on the command line.
        summary: one line about its results.
        source: the publication and its part.
        experiments: the function that runs everything and returns tables, figures and notes.
        claims: the claims of that part.
        publication: the publication whose programs are run and with whose tables ours are compared.
        calibration: whether it also runs the programs of the thesis's section 3.2.2.
        priced: whether its machines have prices, so that references may be counted in words and in
            other turns; machines with a clock need them as recorded.
        form: the publication's counting and interleaving of references.
        variants: changes of machine and workload under which its claims can also be judged.
        with_seed: the function that runs what claims need with another seed; None if the study's
            results depend on none.
        beside: a second workload on which its claims are judged in a column of their own.
    """

    name: str
    summary: str
    source: str
    experiments: Callable[[StudyContext], Products]
    claims: Sequence[Claim]
    publication: Publication
    calibration: bool = False
    priced: bool = False
    form: TraceForm = AS_RECORDED
    variants: Sequence[Variant] = ()
    with_seed: Callable[[StudyContext], Products] | None = None
    beside: beside.Beside | None = None

    def usual_seeds(self, *, quick: bool) -> int:
        """The number of seeds with which it runs by default."""
        return 1 if quick or self.with_seed is None else SEEDS

    def describe(self) -> dict[str, Any]:
        """The entry as plain data, for lists and JSON."""
        return {
            "name": self.name,
            "summary": self.summary,
            "source": self.source,
            "claims": len(self.claims),
        }


@dataclass(frozen=True)
class StudyResult:
    """The result of a study.

    Attributes:
        entry: the study.
        products: tables, figures and simulations as plain rows.
        findings: every claim with our value and a verdict.
        provenance: traces with checksums, parameters, version.
        beside: the claims judged on the study's second workload; None if it has none, or was run
            on small programs.
    """

    entry: Study
    products: Products
    findings: Sequence[Finding]
    provenance: Mapping[str, Any]
    beside: beside.Column | None = None

    def __repr__(self) -> str:
        return f"StudyResult({self.entry.name}: {count_summary(self.counts)})"

    @property
    def counts(self) -> dict[str, int]:
        """The number of claims by verdict."""
        return counts(self.findings)

    @property
    def counts_by_kind(self) -> dict[Kind, dict[str, int]]:
        """The number of claims by kind and verdict."""
        return counts_by_kind(self.findings)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name, as data frames.

        Raises:
            ConfigError: when pandas is missing (``pip install 'homenode[pandas]'``).
        """
        return {table.name: _frame(table.rows) for table in self.products.tables}

    @property
    def figures(self) -> dict[str, pd.DataFrame]:
        """The data of the figures by name, in long form, as data frames.

        Raises:
            ConfigError: when pandas is missing (``pip install 'homenode[pandas]'``).
        """
        return {figure.name: _frame(figure.rows) for figure in self.products.figures}

    @property
    def ledger(self) -> pd.DataFrame:
        """Every claim, with the published value, our value, and the verdict.

        Raises:
            ConfigError: when pandas is missing (``pip install 'homenode[pandas]'``).
        """
        return _frame(self.rows)

    @property
    def rows(self) -> Sequence[Row]:
        """Every claim as a row of the ledger, if there is a second workload with its finding."""
        rows: list[Row] = [dict(finding.row()) for finding in self.findings]
        return rows if self.beside is None else self.beside.added_to(rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON; infinite values are None."""
        return {
            "study": self.entry.name,
            "source": self.entry.source,
            "counts": self.counts,
            "counts_by_kind": self.counts_by_kind,
            "tables": {table.name: _plain(table.rows) for table in self.products.tables},
            "figures": {figure.name: _plain(figure.rows) for figure in self.products.figures},
            "ledger": self.rows,
            "provenance": dict(self.provenance),
        }


def run_study(
    entry: Study, context: StudyContext, *, variants: bool = False, seeds: int = 1
) -> StudyResult:
    """Runs a study's experiments and judges its claims.

    Args:
        entry: the study.
        context: its programs.
        variants: whether to judge them also under its variants, with the first seed.
        seeds: the number of seeds.
    """
    products = entry.experiments(context)
    printed = published(entry.publication.name)
    further = [
        entry.with_seed(context.with_seed(FIRST_SEED + draw)).evidence(printed)
        for draw in range(1, seeds)
        if entry.with_seed is not None
    ]
    findings = judged(entry.claims, products.evidence(printed), further)
    chosen: dict[str, Any] = {} if entry.with_seed is None else {"seeds": seeds}
    if variants:
        findings, table = tried(entry, context, findings)
        notes = [*products.notes, table.note]
        products = replace(products, tables=[*products.tables, table], notes=notes)
        chosen["variants"] = {variant.name: variant.summary for variant in entry.variants}
    column = None if context.quick else beside.judge(entry, context)
    return StudyResult(entry, products, findings, context.provenance() | chosen, column)


def count_summary(found: Mapping[str, int]) -> str:
    """The numbers of claims by verdict, in words.

    >>> count_summary({"holds": 3, "differs": 1, "tie": 0, "source": 2, "not testable": 0})
    '3 hold, 1 differs, in 2 the source contradicts itself, 0 not testable'
    """
    holds = "holds" if found["holds"] == 1 else "hold"
    differ = "differs" if found["differs"] == 1 else "differ"
    tie = f"{found['tie']} depend{'s' * (found['tie'] == 1)} on the seed, " if found["tie"] else ""
    return (
        f"{found['holds']} {holds}, {found['differs']} {differ}, {tie}"
        f"in {found['source']} the source contradicts itself, "
        f"{found['not testable']} not testable"
    )


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    with of_extra("pandas", "pandas"):
        import pandas as pd

    return pd.DataFrame(list(rows))


def _plain(rows: Sequence[Row]) -> list[Row]:
    infinite = float("inf")
    return [{k: None if v == infinite else v for k, v in row.items()} for row in rows]
