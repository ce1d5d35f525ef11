"""The publications' own tables, as printed, for comparison: one folder a publication.

``bolosky``: Bolosky, *Software Coherence in Multiprocessor Memory Systems*, 1993: tables 2.1, 3.1,
3.2, 4.1, 6.3, 6.4 and 6.5, the sizes of data in section 2.2 (pages of 4 KB), and the share of the
busiest processor in section 2.3.2. Shares are fractions of one, except in table 4.1, which is in
percent.

``markatos-chronaki``: Markatos and Chronaki, *Trace-Driven Simulation of Data-Alignment and Other
Factors affecting Update and Invalidate Based Coherent Memory*: tables 2 to 13 in one, latencies in
cycles and traffic in packets, both for each reference.

``marchetti``: Marchetti, Kontothanassis, Bianchini and Scott 1995: table 1, each value with the
field of our machine that it stands for. Its figures print no numbers.

``talbot-kelly``: Talbot and Kelly 2000: figures 1.5 to 1.10 in percent, each number with the place
it is from, and table 1.4. Values that are not legible in our copy are empty.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from homenode_studies.studies.tables import Row, from_csv


@cache
def tables(publication: str) -> Mapping[str, Sequence[Row]]:
    """Every table of a publication by name; empty if we keep none.

    >>> tables("bolosky")["table-6.3"][0]["R"]
    2323.0
    """
    found = sorted((Path(__file__).parent / publication).glob("*.csv"))
    return {path.stem: from_csv(path.read_text(encoding="utf-8")) for path in found}


def row(publication: str, table: str, program: str) -> Row | None:
    """One program's row of a published table, or None."""
    return next((row for row in tables(publication)[table] if row["program"] == program), None)
