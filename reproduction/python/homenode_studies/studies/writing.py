"""Writes a study's results: CSV and SVG files, JSON, the ledger as Markdown, and one HTML page."""

import base64
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from homenode.files import replacing
from homenode.options.specs import format_size, plain_number
from homenode.report.page import environment
from homenode_studies.studies import charts
from homenode_studies.studies.entry import StudyResult, count_summary
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Row, to_csv

RULES = (
    "A number holds if ours is within a tenth of it, a percentage if ours is within five points. "
    "*Most* is more than half of the programs, *nearly all* at least nine tenths, *few* at most a "
    "fifth. *Close*, *slightly* and *small* mean within a tenth, *comparable* within a fifth, "
    "*far* more than a tenth, *an order of magnitude* a factor of ten. These rules are the same "
    "for all claims and were fixed before the full runs, unless a claim says otherwise. If the "
    "source prints the numbers, a rule is applied to these first; if it fails there, the source "
    "contradicts itself, and the verdict is *source*."
)
OF_SEEDS = (
    "The experiments were run with {seeds} seeds of recordings, homes and schedulers. Our value is "
    "the median, with the range of numbers in brackets; a claim whose verdict depends on the seed "
    "is a *tie*. Tables and figures have the first seed."
)
KIND_WORDS = {
    "empirical": "by our runs",
    "printed": "by the source's own numbers alone",
    "identity": "as true by definition, equation or default, which tests our engines",
}
"""How claims of each kind are judged, in words."""


def write(result: StudyResult, folder: Path) -> Path:
    """Writes everything into a folder.

    Returns:
        The HTML page.

    Raises:
        OSError: when a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    products = result.products
    files = {f"{table.name}.csv": to_csv(table.rows) for table in products.tables}
    for figure in products.figures:
        files[f"{figure.name}.csv"] = to_csv(figure.rows)
        files[f"{figure.name}.svg"] = str(charts.draw(figure))
    files |= {f"{picture.name}.svg": picture.svg for picture in products.pictures}
    files |= {f"{name}.csv": to_csv(rows) for name, rows in products.extra.items()}
    files["ledger.csv"] = to_csv(result.rows)
    files["ledger.md"] = markdown(result)
    files["study.json"] = json.dumps(result.to_dict(), indent=1) + "\n"
    files["index.html"] = page(result)
    for name, text in files.items():
        with replacing(folder / name) as file:
            file.write(text.encode())
    return folder / "index.html"


def page(result: StudyResult) -> str:
    """The HTML page, self-contained: ledger, tables, figures and provenance."""
    templates = environment()
    printed = published(result.entry.publication.name)
    templates.filters |= {"cell": cell, "size": format_size}
    return templates.get_template("study.html.jinja").render(
        entry=result.entry,
        counts=result.counts,
        summary=count_summary(result.counts),
        kinds=kinds(result),
        rules=rules(result).replace("*", ""),
        findings=result.rows,
        beside=result.beside,
        tables=[(table, printed.get(table.name)) for table in result.products.tables],
        figures=[(figure, charts.draw(figure)) for figure in result.products.figures],
        pictures=[(picture, _embedded(picture.svg)) for picture in result.products.pictures],
        notes=result.products.notes,
        provenance=result.provenance,
    )


def kinds(result: StudyResult) -> list[str]:
    """The numbers of claims by kind and verdict, as sentences."""
    said = [
        f"Judged {KIND_WORDS[kind]}: {count_summary(found)}."
        for kind, found in result.counts_by_kind.items()
    ]
    if result.beside is not None:
        column = result.beside
        counted = count_summary(column.counts)
        said.append(f"In the column {column.of.name}: {counted}. It has {column.of.summary}.")
    return said


def rules(result: StudyResult) -> str:
    """The rules by which claims are judged, as a paragraph."""
    seeds = result.provenance.get("seeds", 1)
    return RULES if seeds == 1 else f"{RULES} {OF_SEEDS.format(seeds=seeds)}"


def _embedded(svg: str) -> str:
    """A picture as a data URL, so that its style does not affect the rest of the page."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def cell(value: Any) -> str:
    """A value in a table, as text for people.

    >>> cell(None), cell(1.23456), cell("gauss"), cell(4096)
    ('', '1.235', 'gauss', '4,096')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else plain_number(value)


def markdown(result: StudyResult) -> str:
    """The ledger as a page of the documentation."""
    entry, provenance = result.entry, result.provenance
    size = "small sizes (`--quick`)" if provenance["quick"] else "full sizes"
    # A program that runs with several numbers of nodes is recorded once for each of them.
    programs = {trace["program"].partition(" on ")[0] for trace in provenance["traces"]}
    lines = [
        f"# {entry.name}",
        "",
        f"{entry.summary}. Source: {entry.source}.",
        "",
        f"Made on {date.today()} by `homenode study {entry.name}{_asked(result)}`, homenode "
        f"{provenance['version']}, {size}, {len(programs)} programs: "
        f"{count_summary(result.counts)}.",
        "",
        *(f"- {sentence}" for sentence in kinds(result)),
        "",
        *(line for note in result.products.notes for line in (f"{note}", "")),
        rules(result),
    ]
    heads = ["claim", "published", "ours", "verdict"]
    heads += [] if result.beside is None else [result.beside.of.name]
    for section in dict.fromkeys(finding.claim.section for finding in result.findings):
        rows = [_cells(row) for row in result.rows if row["section"] == section]
        lines += ["", f"## Section {section}", "", *table_lines(heads, rows)]
    lines += ["", "## Provenance", "", *_provenance(result)]
    return "\n".join(lines) + "\n"


def table_lines(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()
) -> list[str]:
    """A table as lines of Markdown; the columns named in `right` are aligned to the right."""
    rule = "".join("|---:" if head in right else "|---" for head in heads)
    lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in (heads, *rows))
    first, *others = (f"| {line} |" for line in lines)
    return [first, f"{rule}|", *others]


def _asked(result: StudyResult) -> str:
    """The options that differ from the publication's form and from the defaults."""
    found, usual = result.provenance, result.entry.form.provenance()
    options = {"word_bytes": "--word-bytes", "turns": "--quantum"}
    form = "".join(
        f" {option} {found.get(name, 0)}"
        for name, option in options.items()
        if found.get(name) != usual.get(name)
    )
    usually = result.entry.usual_seeds(quick=found["quick"])
    seeds = found.get("seeds", usually)
    drawn = f" --seeds {seeds}" if seeds != usually else ""
    return f"{form} --variants{drawn}" if "variants" in found else f"{form}{drawn}"


def _cells(row: Row) -> list[str]:
    """A claim's cells in the ledger."""
    ours = row["ours"] or "–"
    if row["computed"] and row["ours"]:
        ours += f"<br>*{row['computed']}*"
    published = row["published"] or "–"
    if row["own"]:
        published += f"<br>*its own numbers: {row['own']}*"
    verdict = f"**{row['verdict']}**" if row["verdict"] == "differs" else row["verdict"]
    if row["kind"] != "empirical":
        verdict += f" ({row['kind']})"
    if row["note"]:
        verdict += f": {row['note']}"
    cells = [row["claim"], published, ours, verdict]
    if "beside" in row:
        cells.append(_beside(row))
    return cells


def _beside(row: Row) -> str:
    verdict = row["beside_verdict"]
    shown = f"**{verdict}**" if verdict == "differs" else verdict
    return ": ".join(part for part in (row["beside"], shown) if part)


def _form(provenance: Mapping[str, Any]) -> str:
    """The form of the recordings."""
    words, turns = provenance.get("word_bytes"), provenance.get("turns")
    counted = "" if words is None else f", counted in words of {words} bytes"
    return counted if turns is None else f"{counted}, run in turns of {turns}"


def _provenance(result: StudyResult) -> list[str]:
    provenance = result.provenance
    turns = " or ".join(str(quantum) for quantum in provenance["quantum"])
    said = f"Turns of {turns} references when recording{_form(provenance)}. Threads are processors."
    rows = [
        (
            trace["program"],
            f"`{trace['workload']} {trace['arguments']}`".replace(" `", "`"),
            f"{trace['references']:,}",
            f"`{trace['checksum']}`",
        )
        for trace in provenance["traces"]
    ]
    heads = ["program", "workload and arguments", "references", "checksum"]
    lines = [*([said, ""] if turns else []), *table_lines(heads, rows, right=["references"])]
    if provenance["absent"]:
        names = ", ".join(provenance["absent"])
        lines += ["", f"Programs of the {provenance['publication']} not run: {names}."]
    return lines
