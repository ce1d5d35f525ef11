"""The study of P. Foglia, R. Giorgi and C. A. Prete on e-commerce servers with a shared bus.

``study`` runs everything and holds ``ENTRY``; ``matrix`` says what is simulated, ``runs`` simulates
and looks up, ``measures`` computes from what was found, ``footprints`` counts for tables 1 to 3,
``tables`` and ``figures`` show, and the files ``claims_*`` hold what the paper says, a part of it
each.

Source: Foglia, Giorgi and Prete, *Simulation study of memory performance of SMP multiprocessors
running a TPC-W workload*, 2004.
"""

from pathlib import Path

from homenode_studies.studies.programs import Publication

PAPER = Publication("foglia-giorgi-prete", "paper", Path(__file__).with_name("programs.toml"))
EC, DB, WEB = "EC-server", "DB", "Web-server"
"""The three workloads of section 4."""
