"""The study of Talbot and Kelly on first-touch placement and reactive proxies.

``study`` runs everything and holds ``ENTRY``; ``matrix`` lists the simulations, ``runs`` performs
them, ``bars`` looks up our times, messages, read responses and queues and the paper's alike,
``measures`` computes from them, ``tables``, ``figures`` and ``winning`` present results, ``beyond``
goes beyond the paper, and the files ``claims_*`` hold the paper's claims. As our numbers and the
paper's are looked up alike, every claim is also computed from the paper's own numbers.

Source: Talbot and Kelly, *Stable Performance for cc-NUMA using First Touch Page Placement and
Reactive Proxies*, 2000.
"""

from pathlib import Path

from homenode_studies.studies.programs import Publication

PAPER = Publication("talbot-kelly", "paper", Path(__file__).with_name("programs.toml"))
BARNES, FFT, FMM, GE = "barnes", "fft", "fmm", "ge"
CONTIG, NONCONTIG, WATER = "ocean-contig", "ocean-non-contig", "water-nsq"
PROGRAMS = (BARNES, FFT, FMM, GE, CONTIG, NONCONTIG, WATER)
"""The seven programs of table 1.3."""
PROTOCOL = "sdd"
ALITE = "alite"
