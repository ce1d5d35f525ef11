"""The claims of each workload's page about its sharing, checked against its trace.

A miss in a 64-byte block is cold, truly shared (the processor needs a word that another has written
since it last had the block) or falsely shared; a page says where the last two come from.
"""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import homenode as hn
from homenode_studies import workloads

Built = Callable[[str], Path]
Quick = Callable[[str], hn.Trace]

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine"),
    pytest.mark.timeout(1200),
]


class Claim(NamedTuple):
    """The kinds of a program's misses other than cold ones, and where nearly all come from.

    `quantum` is the length of turns if it is not the usual one.
    """

    kind: str
    functions: str = ""
    quantum: int | None = None


# Functions of Presto itself (presto.h).
PRESTO = "fork_thread run_thread take_thread thread_object take_stack fill_stack depth_of"

# Small functions that the compiler expands in their callers are named themselves.
VECTORS = "minus plus"

# once: data move once to each reader, and nearly all misses are cold. true, false: the kind of most
# other misses. both: neither kind is under a third.
CLAIMS = {
    "gauss": Claim("once"),
    "sorbyr": Claim("true", "relax"),
    "sorbyc": Claim("both", "relax"),
    "matmult": Claim("once"),
    "p-qsort": Claim("true", f"{PRESTO} swap partition bubble_sort"),
    "fft": Claim("once"),
    "fft-in-place": Claim("false", "combine swap"),
    "cholesky": Claim("true", "contribute put take complete"),
    "plytrace": Claim("true", "draw draw_tile take pack"),
    "hyd": Claim("true", "advance_column work ratio_of_step"),
    "simple": Claim("both", "conduct copy move_row accelerate_row"),
    "simple-columns": Claim(
        "false",
        "accelerate_row force_on node move_row reshape_row conduct copy common_step "
        "area_of reshaped step_of",
    ),
    "nasa": Claim("true", "fetch"),
    "bsort": Claim("once"),
    "kmerge": Claim("once"),
    "mp3d": Claim("true", "open_books get get_count set set_count visit"),
    "water": Claim("true", f"{VECTORS} find_action attract add_energies"),
    "p-gauss": Claim("true", f"{PRESTO} eliminate make_factors"),
    "p-matmult": Claim("false", f"{PRESTO} multiply"),
    "p-life": Claim("true", "alive_around take_over find_next"),
    "chip": Claim("both", "look_up consider change work"),
    "gfetch": Claim("true", "work"),
    "parmult": Claim("true", "take main work"),
    "primes1": Claim("once"),
    "primes2": Claim("once"),
    "primes3": Claim("true", "mask take work"),
    "weather": Claim("both", "diagnose advance_air advance_winds"),
    "speech": Claim("false", "advance"),
    "sor": Claim("true", "relax"),
    "mgrid": Claim("true", "neighbours"),
    "appbt": Claim("true", "subtract_product add_fluxes fill_block"),
    "fft1d": Claim("true", "transpose_piece"),
    "ge": Claim("true", "eliminate"),
    "barnes": Claim(
        "both",
        f"{VECTORS} attract_by_bodies attract sum_up take_zone child_of sum_branches accelerate",
    ),
    "water-nsq": Claim("true", f"{VECTORS} hand_in centre_of place_of correct"),
    "fmm": Claim("true", f"{VECTORS} take_in attract find_range insert combine"),
    "ocean-contig": Claim("true", "copy_strip"),
    "ocean-noncontig": Claim(
        "both", "sweep restrict_from find_residual interpolate_to advance solve_mode"
    ),
    "false-sharing": Claim("false", "work"),
    "migratory": Claim("true", "visit"),
    "producer-consumer": Claim("true", "consume produce"),
    "read-mostly": Claim("true", "read_object"),
    # A task has about a hundred references: turns of as many end at the same places.
    "work-queue": Claim("true", "put_task take_task object_at work", quantum=50),
}


def test_every_workload_has_a_claim() -> None:
    assert list(CLAIMS) == [entry.name for entry in workloads.TABLE]


@pytest.mark.parametrize("name", CLAIMS)
def test_the_trace_shows_the_sharing_of_the_page(
    name: str, built: Built, quick: Quick, tmp_path: Path
) -> None:
    claim = CLAIMS[name]
    if claim.quantum is None:
        trace = quick(name)
    else:
        command = [str(built(name)), *workloads.find(name).quick, "-p", "8"]
        trace = hn.Trace.record(command, tmp_path / "t.hnt", quantum=claim.quantum)
    found = hn.sharing(trace, "cc", 64, detail=64, count=1000, sync="exclude")
    counts = found.rows[0]["counts"]
    others = counts["true_sharing"] + counts["false_sharing"]
    if claim.kind == "once":
        assert others < 0.15 * (counts["cold"] + others)
        return
    share = counts["false_sharing"] / others
    low, high = {"true": (0, 1 / 3), "both": (1 / 3, 2 / 3), "false": (2 / 3, 1)}[claim.kind]
    assert low <= share <= high
    assert found.detail is not None
    where: Counter[str] = Counter()
    for line in found.detail["lines"]:
        misses = line["misses"]
        where[line["function"]] += misses["true_sharing"] + misses["false_sharing"]
    elsewhere = {
        name: count for name, count in where.items() if name not in claim.functions.split()
    }
    assert sum(elsewhere.values()) < 0.1 * others, elsewhere
