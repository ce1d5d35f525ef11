"""Prints the table of `foglia.dials` as Markdown."""

import sys
import tempfile
from pathlib import Path

from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.foglia import PAPER
from homenode_studies.studies.foglia.dials import swept
from homenode_studies.studies.tables import Table


def markdown(table: Table) -> str:
    """A table as Markdown."""
    heads = list(table.rows[0])
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in table.rows:
        cells = [f"{v:.2f}" if isinstance(v, float) else str(v) for v in row.values()]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Sweeps all dials, and prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        context = StudyContext(PAPER, Path(folder), True, ())
        sys.stdout.write(f"{markdown(swept(context))}\n")


if __name__ == "__main__":
    main()
