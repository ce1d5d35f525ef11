"""The study of E. P. Markatos and C. E. Chronaki on update and invalidate based coherent memory.

``study`` runs everything and holds ``ENTRY``; ``points`` simulates, ``layout``, ``realignment``,
``advised`` and ``figures`` present results, ``costs`` looks up our costs and the printed ones
alike, ``measures`` computes from either, and the files ``claims_*`` hold the paper's claims by
section.

Source: Markatos and Chronaki, *Trace-Driven Simulation of Data-Alignment and Other Factors
affecting Update and Invalidate Based Coherent Memory*.
"""

from pathlib import Path

from homenode_studies.studies.programs import Publication

PAPER = Publication("markatos-chronaki", "paper", Path(__file__).with_name("programs.toml"))
