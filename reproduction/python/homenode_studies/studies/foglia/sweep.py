"""Prints the table of `foglia.dials` as Markdown."""

import sys
import tempfile
from pathlib import Path

from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.foglia import PAPER
from homenode_studies.studies.foglia.dials import swept
from homenode_studies.studies.tables import Table
from homenode_studies.studies.writing import table_lines


def markdown(table: Table) -> str:
    """A table as Markdown."""
    rows = [
        [f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()]
        for row in table.rows
    ]
    return "\n".join(table_lines(table.columns, rows))


def main() -> None:
    """Sweeps all dials, and prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        context = StudyContext(PAPER, Path(folder), True, ())
        sys.stdout.write(f"{markdown(swept(context))}\n")


if __name__ == "__main__":
    main()
