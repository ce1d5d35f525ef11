"""The studies of W. J. Bolosky, *Software Coherence in Multiprocessor Memory Systems*, 1993.

A chapter is a file with its experiments and ``ENTRY``. ``CHAPTER_measures`` computes measures from
the outcomes, and ``CHAPTER_claims`` and other files with that prefix hold the chapter's claims.
"""

from pathlib import Path

from homenode_studies.studies.forms import TraceForm
from homenode_studies.studies.programs import CALIBRATION, Publication

WORDS_AT_SAME_PACE = TraceForm(word_bytes=4, quantum=1)
"""Sections 2.3.1 and 4.1.2: the tracer steps all processors, and a reference is to a word."""
THESIS = Publication(
    "bolosky",
    "thesis",
    Path(__file__).with_name("programs.toml"),
    no_private=frozenset({"c-threads", "splash", CALIBRATION}),
)
"""Table 2.1 has private references only for the EPEX and Presto programs."""
