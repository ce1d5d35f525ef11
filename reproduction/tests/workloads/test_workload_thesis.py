"""Properties of the thesis's programs that these have too, each at a small size.

Bolosky's thesis states them in chapter 2, or they follow from its tables.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode import _core
from homenode_studies import workloads
from homenode_studies.studies import programs
from homenode_studies.studies.bolosky import THESIS

Record = Callable[..., hn.Trace]

PAGE = 4096

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine"),
    pytest.mark.timeout(1200),
]


@pytest.fixture
def record(built: Callable[[str], Path], tmp_path: Path) -> Record:
    """Records a workload with arguments, in words of 4 bytes."""

    def made(name: str, *arguments: str, threads: int = 8, quantum: int = 10) -> hn.Trace:
        command = [str(built(name)), "-p", str(threads), *arguments]
        trace = hn.Trace.record(command, tmp_path / f"{name}.hnt", quantum=quantum)
        return hn.transform("words", trace, word_bytes=4)

    return made


def cost(trace: hn.Trace, machine: str, policy: str, size: int = PAGE) -> float:
    row = hn.simulate(trace, machine, policy, size, private="shared").rows[0]
    return float(row["mcpr"])


def read_share(trace: hn.Trace) -> float:
    return float(trace.info["reads"] / trace.references)


def busiest(trace: hn.Trace) -> float:
    rows = trace.info["rows_per_thread"]
    return float(max(rows) / sum(rows))


def test_gauss_can_load_its_pointers_in_each_turn(record: Record) -> None:
    usual, reloading = record("gauss", "-n", "96"), record("gauss", "-n", "96", "--reload")
    assert read_share(reloading) > read_share(usual) + 0.1
    assert 1.8 < reloading.references / usual.references < 2


def test_chip_computes_in_memory_of_its_threads_own(record: Record) -> None:
    trace = record("chip", "-n", "9", "-i", "60")
    assert 0.63 < read_share(trace) < 0.73
    assert cost(trace, "numa", "optimal") < 8


@pytest.mark.parametrize("name", ["bsort", "kmerge"])
def test_the_top_of_a_heap_is_pinned_where_it_should_not_be(record: Record, name: str) -> None:
    trace = record(name, "-n", "16384")
    ace, more, delay = (
        cost(trace, "butterfly", policy) for policy in ("ace", "ace:limit=16", "delay")
    )
    assert ace > 1.5 * delay
    assert ace > 1.5 * more


def test_one_processor_makes_half_of_the_references_of_plytrace(record: Record) -> None:
    assert 0.5 < busiest(record("plytrace", "-n", "512", "-i", "1", quantum=1000)) < 0.6


def test_rows_of_the_product_lie_beside_those_of_the_factors(record: Record) -> None:
    trace = record("p-matmult", "-n", "40")
    assert cost(trace, "numa", "optimal") > 1.5 * cost(trace, "numa", "optimal", 64)


def test_an_array_of_cells_is_read_and_written_at_once(record: Record) -> None:
    trace = record("p-life", "-n", "42", "-i", "10")
    assert cost(trace, "numa", "optimal") > 4 * cost(trace, "numa", "optimal", 64)
    assert 55 < (trace.references - trace.info["private"]) / (10 * 42 * 42) < 75


@pytest.mark.parametrize(
    ("name", "size", "forked"),
    [("p-gauss", 24, 276), ("p-matmult", 24, 24), ("p-qsort", 1000, 170)],
)
def test_presto_makes_thousands_of_references_for_a_thread(
    record: Record, name: str, size: int, forked: int
) -> None:
    trace = record(name, "-n", str(size))
    shared, private = trace.references - trace.info["private"], trace.info["private"]
    assert shared > 2000 * forked
    assert 600 < private / forked < 1100


def test_weather_has_the_data_of_the_paper(record: Record) -> None:
    size = workloads.find("weather").size("markatos")
    assert size.arguments[2] == "-i"
    trace = record("weather", *size.arguments[:2], "-i", "1", threads=64, quantum=1000)
    question = {"block_size": 64, "groups": [list(range(64))], "kernel": True}
    counted = json.loads(_core.footprint(str(trace.path), json.dumps(question)))[0]
    assert 5.0e6 < 64 * counted["distinct_blocks"] < 5.8e6


def test_only_epex_and_presto_programs_have_private_memory() -> None:
    for program in programs.available(THESIS, quick=True, calibration=True):
        assert (program.private == "local") == (program.style in {"epex", "presto"})
