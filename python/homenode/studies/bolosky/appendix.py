"""Appendix A: MCPR against block size, and TLB miss rates, for all programs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from homenode.studies.bolosky import THESIS, tlbs
from homenode.studies.bolosky.ch6 import MACHINES, SIZES, against_size
from homenode.studies.bolosky.ch6_measures import best_points, remote_value_grows, rise
from homenode.studies.bolosky.ch6_tlb_claims import falling
from homenode.studies.claims import CLOSE, MOST, NEARLY_ALL, Claim, below, empty, more_than, share
from homenode.studies.context import Matrix
from homenode.studies.entry import Products, Study
from homenode.studies.published import tables as published

if TYPE_CHECKING:
    from homenode.studies.context import StudyContext
    from homenode.studies.tables import Evidence


def experiments(context: StudyContext) -> Products:
    """Draws the figures of the appendix for the programs that there are."""
    outcomes = context.simulate(Matrix(MACHINES, ["optimal"], SIZES))
    misses = tlbs.miss_rates(context)
    here = {program.name for program in context.programs}
    figures = []
    for row in published("bolosky")["appendix-figures"]:
        name, program = f"figure-{row['figure']}", str(row["program"])
        if program not in here:
            continue
        if row["against"] == "block size":
            figures.append(against_size(name, program, outcomes))
        else:
            figures.append(tlbs.figure(name, program, misses))
    return Products((), figures, {"outcomes": outcomes, "tlb": misses})


def not_drawn(evidence: Evidence) -> list[str]:
    """What the appendix says it shows and no figure of it does."""
    shown = {row["against"] for row in evidence.printed("appendix-figures")}
    return sorted({"block size", "software overhead"} - shown)


def cheaper_small(evidence: Evidence) -> float:
    """The share of programs and machines that cost less at 64 bytes than at 8 KB."""
    points = best_points(evidence)
    return share(
        points.mcpr(p, m, "optimal", 64) < points.mcpr(p, m, "optimal", 8192)
        for p in points.programs()
        for m in MACHINES
    )


def rising(evidence: Evidence) -> list[str]:
    """Programs other than sorbyr that cost a tenth more on NUMA at 32 bytes than at their best."""
    points = best_points(evidence)
    return [p for p in points.programs(but=["sorbyr"]) if rise(evidence, p) > CLOSE]


def rising_share(evidence: Evidence) -> float:
    """The share of programs other than sorbyr that `rising` names."""
    return len(rising(evidence)) / len(best_points(evidence).programs(but=["sorbyr"]))


def apart(evidence: Evidence) -> float:
    """mp3d's cost over water's, the least over block sizes, on NUMA."""
    points = best_points(evidence)
    points.need("mp3d", "water")
    return min(
        points.mcpr("mp3d", "numa", "optimal", size) / points.mcpr("water", "numa", "optimal", size)
        for size in points.sizes("water", "numa")
    )


def flattening(evidence: Evidence) -> float:
    """The share of programs whose relative change of cost a doubling is least at small blocks.

    Between 64 and 128 bytes it is smaller than the mean change of a doubling from 128 bytes up.
    """
    points = best_points(evidence)
    flags = []
    for program in points.programs():
        cost = [points.mcpr(program, "numa", "optimal", size) for size in SIZES]
        steps = [abs(b / a - 1) for a, b in pairwise(cost)]
        flags.append(steps[1] < sum(steps[2:]) / len(steps[2:]))
    return share(flags)


CLAIMS = (
    Claim(
        "A",
        "The appendix shows the effects of block size and of software overhead for the programs "
        "that chapter 6 does not draw",
        "both",
        "what no figure from A.1 to A.29 is drawn against",
        not_drawn,
        empty,
        why="figures A.17 to A.29 show TLB miss rates instead",
    ),
    Claim(
        "6.2.3, A",
        "On all machines nearly all programs are cheaper with small than with large blocks",
        "general trend",
        "share of programs and machines cheaper at 64 bytes than at 8 KB",
        cheaper_small,
        more_than(NEARLY_ALL),
        "%",
    ),
    Claim(
        "6.2.3, A",
        "That small blocks raise the cost markedly is peculiar to sorbyr",
        "unique",
        "other programs a tenth dearer on NUMA at 32 bytes than at their best",
        rising,
        empty,
    ),
    Claim(
        "6.2.3, A",
        "In most programs false sharing outweighs the overhead of moving data in small pieces",
        "most",
        "share of the other programs a tenth dearer on NUMA at 32 bytes than at their best",
        rising_share,
        below(MOST),
        "%",
    ),
    Claim(
        "6.2.3, A",
        "The value of remote reference grows with block size in all programs",
        "all",
        "share of doublings at which CC/CC+ or DSM/DSM+ does not fall",
        remote_value_grows,
        more_than(NEARLY_ALL),
        "%",
    ),
    Claim(
        "6.4, A",
        "The slopes at the low ends of the curves are small: 64 to 128 bytes is small enough",
        "small",
        "share of programs whose cost changes less from 64 to 128 bytes than in later doublings",
        flattening,
        more_than(MOST),
        "%",
    ),
    Claim(
        "2.2.10, A",
        "mp3d and water look radically different (figures A.11 and A.12)",
        "radically",
        "mp3d over water on NUMA, the least over block sizes",
        apart,
        more_than(CLOSE),
    ),
    Claim(
        "6.3, A",
        "TLB miss rates rise as pages get smaller, in every program on every TLB",
        "all",
        "TLBs and programs for which they fall somewhere",
        falling,
        empty,
    ),
)

ENTRY = Study(
    name="bolosky-appendix",
    summary="MCPR against block size and TLB miss rate against page size for all programs",
    source="Bolosky 1993, appendix A, with what chapters 2 and 6 say about its figures",
    experiments=experiments,
    publication=THESIS,
    claims=CLAIMS,
    words=True,
)
