"""The study of P. Foglia, R. Giorgi and C. A. Prete on e-commerce servers with a shared bus.

``study`` runs everything and holds ``ENTRY``; ``matrix`` lists the simulations, ``runs`` performs
them and looks up results, ``measures`` computes from results, ``footprints`` counts for tables 1 to
3, ``tables`` and ``figures`` present results, and the files ``claims_*`` hold the paper's claims by
section.

Source: Foglia, Giorgi and Prete, *Simulation study of memory performance of SMP multiprocessors
running a TPC-W workload*, 2004.
"""

from pathlib import Path

from homenode_studies.studies.programs import Publication

PAPER = Publication("foglia-giorgi-prete", "paper", Path(__file__).with_name("programs.toml"))
EC, DB, WEB = "EC-server", "DB", "Web-server"
"""The three workloads of section 4."""
