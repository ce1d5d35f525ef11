"""The study of Marchetti, Kontothanassis, Bianchini and Scott on simple policies of page placement.

``study`` runs everything and holds ``ENTRY``; ``matrix`` lists the simulations, ``runs`` performs
them and looks up results, ``offline`` finds the optimum with the placement engine, ``measures``
computes from results, ``tables``, ``figures`` and ``pages`` present them, and the files
``claims_*`` hold the paper's claims, with the verdicts of the same rules on its own statements.

Source: Marchetti, Kontothanassis, Bianchini and Scott, *Using Simple Page Placement Policies to
Reduce the Cost of Cache Fills in Coherent Shared-Memory Systems*, IPPS 1995.
"""

from pathlib import Path

from homenode_studies.studies.programs import Publication

PAPER = Publication("marchetti", "paper", Path(__file__).with_name("programs.toml"))
SOR, MGRID, MP3D, WATER, APPBT = "sor", "mgrid", "mp3d", "water", "appbt"
"""The five programs of section 3.3."""
HARDWARE, SOFTWARE = "dash", "lrc"
ONE_TRIP = "lrc-one-trip"
"""Software whose releases tell home when they write back: an experiment, not the paper's."""
PROTOCOLS = (HARDWARE, SOFTWARE)
"""Coherence in hardware and in software. A protocol that the engine does not simulate is left out,
and claims about it are not testable."""
