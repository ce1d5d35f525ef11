"""`homenode study`: regenerate a publication's tables and figures and judge its claims."""

from pathlib import Path

import click

from homenode.cli.command import WholeNumber, examples, json_option
from homenode.cli.output import echo
from homenode_studies.studies.entry import StudyResult


@click.command(
    epilog=examples(
        "homenode study bolosky-ch6 --quick",
        "homenode study bolosky-ch5 -o studies",
        "homenode study bolosky-ch6 --program gauss --program sorbyr --json",
        "homenode study bolosky-ch4 -o recorded --traces traces --word-bytes 0 --quantum 0",
        "homenode study markatos -o studies --traces traces",
        "homenode study foglia --quick",
        "homenode study foglia -o studies --mixes mixes --variants",
        "homenode study marchetti --quick",
        "homenode study talbot --quick",
        "homenode study talbot --traces traces --seeds 9",
        "homenode list studies",
    )
)
@click.argument("name", metavar="NAME")
@click.option("--quick", is_flag=True, help="Small programs: under two minutes.")
@click.option(
    "-o",
    "--output",
    default="studies",
    show_default=True,
    metavar="DIR",
    help="Results go to DIR/NAME.",
)
@click.option("--traces", metavar="DIR", help="Folder for traces.  [default: traces in -o DIR]")
@click.option(
    "--mixes",
    metavar="DIR",
    help="For foglia: folder with ec.hnt, db.hnt and web.hnt.  [default: small ones, with --quick]",
)
@click.option(
    "--program",
    "programs",
    multiple=True,
    metavar="P",
    help="Only this program of the publication; may be given several times.",
)
@click.option(
    "--word-bytes",
    type=WholeNumber(min=0),
    metavar="W",
    help="For bolosky and markatos: count references in words of W bytes; 0: as recorded.  "
    "[default: 4 in bolosky, as recorded in markatos]",
)
@click.option(
    "--quantum",
    type=WholeNumber(min=0),
    metavar="Q",
    help="For bolosky and markatos: references in a processor's turn; synchronisation keeps its "
    "order; 0: as recorded.  [default: 1]",
)
@click.option(
    "--variants",
    is_flag=True,
    help="For foglia: also judge the claims under other assumptions about its machine and kernel, "
    "and say under which of these a claim that differs would hold. Takes five times as long.",
)
@click.option(
    "--seeds",
    type=WholeNumber(min=1),
    metavar="N",
    help="For foglia, marchetti and talbot: run with N seeds of recordings, homes and schedulers; "
    "a claim whose verdict depends on the seed is a tie.  [default: 5; with --quick: 1]",
)
@json_option
def study(
    name: str,
    quick: bool,
    output: str,
    traces: str | None,
    programs: tuple[str, ...],
    mixes: str | None,
    word_bytes: int | None,
    quantum: int | None,
    variants: bool,
    seeds: int | None,
    as_json: bool,
) -> None:
    """Regenerate a publication's tables and figures, and judge its claims.

    Records the programs (once; the traces are kept), runs the experiments, and writes every table
    and figure as CSV and SVG, the ledger of claims, and one page with everything, index.html.
    Prints each claim with the published value, our value, and whether the claim holds. A claim that
    differs is a result, not a failure: the exit code is 0.
    """
    from homenode.cli.output import print_json, programs_aside
    from homenode.cli.progress import Progress
    from homenode_studies import studies
    from homenode_studies.studies.writing import write

    entry = studies.find(name)
    folder = Path(output)
    kept = Path(traces) if traces is not None else folder / "traces"
    with programs_aside():
        result = studies.study(
            name,
            quick=quick,
            traces=kept,
            programs=programs or None,
            mixes=mixes,
            word_bytes=word_bytes,
            quantum=quantum,
            variants=variants,
            seeds=seeds,
            watch=Progress,
        )
    page = write(result, folder / entry.name)
    if as_json:
        print_json(result.to_dict() | {"page": str(page)})
    else:
        _tell(result, page)


def _tell(result: StudyResult, page: Path) -> None:
    from homenode.cli.tables import print_table
    from homenode_studies.studies.entry import count_summary

    rows = [finding.row() for finding in result.findings]
    noun = result.entry.publication.noun
    print_table(
        [(heading, False) for heading in ("§", "claim", noun, "ours", "verdict")],
        [
            [row["section"], row["claim"], row["published"], row["ours"], row["verdict"]]
            for row in rows
        ],
        f"{result.entry.name}: {result.entry.summary}",
    )
    for row in rows:
        if row["verdict"] in {"differs", "source", "tie"} and row["note"]:
            echo(f"{row['section']}: {row['claim']}\n    {row['note']}")
    echo(f"\n{count_summary(result.counts)}\npage: {page.resolve()}")
