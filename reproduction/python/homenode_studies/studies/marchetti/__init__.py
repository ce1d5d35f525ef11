"""The study of Marchetti, Kontothanassis, Bianchini and Scott on simple policies of page placement.

``study`` runs everything and holds ``ENTRY``; ``matrix`` says what is simulated, ``runs`` simulates
and looks up, ``offline`` asks the placement engine for what is best, ``measures`` computes from
what was found, ``tables``, ``figures`` and ``pages`` show, and the files ``claims_*`` hold what the
paper says, with what its own statements come to by the same rules.

Source: Marchetti, Kontothanassis, Bianchini and Scott, *Using Simple Page Placement Policies to
Reduce the Cost of Cache Fills in Coherent Shared-Memory Systems*, IPPS 1995.
"""

from pathlib import Path

from homenode_studies.studies.programs import Publication

PAPER = Publication("marchetti", "paper", Path(__file__).with_name("programs.toml"))
SOR, MGRID, MP3D, WATER, APPBT = "sor", "mgrid", "mp3d", "water", "appbt"
"""The five programs of section 3.3."""
HARDWARE, SOFTWARE = "dash", "lrc"
PROTOCOLS = (HARDWARE, SOFTWARE)
"""Coherence in hardware and in software. One that the engine does not simulate is left out, and
claims about it are not testable."""
