"""Recorded workload programs: the same trace each time, the same result as natively."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import homenode as hn
from homenode.cli import main
from homenode_studies import workloads
from homenode_studies.workloads.measure import without_pc
from support.command import Command

Built = Callable[[str], Path]
Quick = Callable[[str], hn.Trace]

NAMES = [entry.name for entry in workloads.TABLE]

# Programs whose references are mostly to private memory, as in the thesis (table 2.1), the prime
# finders that use private memory, and fmm, whose expansions are local arrays.
MOSTLY_PRIVATE = {
    *("fft", "simple", "hyd", "nasa", "water", "primes1", "primes2", "fmm"),
}

FREED_MAX = 64
"""Most references after the mark `check`: the first thread reads the pointers to the arrays that it
frees, of which sorbyr has the most (one a row). The check itself is not recorded."""

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine"),
    pytest.mark.timeout(1200),
]


@pytest.mark.parametrize("name", NAMES)
def test_quick_recordings_repeat(
    name: str, built: Built, quick: Quick, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [str(built(name)), *workloads.find(name).quick, "-p", "8"]
    native = subprocess.run(command, capture_output=True, text=True, check=True)
    first = quick(name)
    capfd.readouterr()
    again = hn.Trace.record(command, tmp_path / "again.hnt")
    assert capfd.readouterr().out == native.stdout
    assert first.path.read_bytes() == again.path.read_bytes()
    assert first.threads == 8
    assert first.references < 2_500_000
    assert first.metadata["order"].endswith("repeatable")
    assert (first.info["private"] > first.references / 2) == (name in MOSTLY_PRIVATE)
    before = hn.transform("select", first, until="marker:check")
    assert first.references - before.references <= FREED_MAX


def test_recording_gives_a_program_eight_threads_or_as_many_as_asked(
    program: Command, tmp_path: Path
) -> None:
    for words, threads in (([], 8), (["--threads", "3"], 3)):
        made = program("workloads", "record", "p-matmult", "--quick", *words, "-o", tmp_path)
        assert made.code == 0, made.err
        assert hn.Trace.open(tmp_path / "p-matmult.hnt").threads == threads


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> workloads.Size:
    """A small study of no publication, of two programs."""
    size = workloads.Size(3, ("-n", "300"), 7)
    for name in ("false-sharing", "primes1"):
        monkeypatch.setitem(workloads.find(name).sizes, "tiny", size)
    return size


def test_sizes_of_studies_are_recorded(
    tiny: workloads.Size, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, threads, quantum in (([], 3, 7), (["--threads", "2", "--quantum", "9"], 2, 9)):
        assert main(["workloads", "record", "--size", "tiny", *words, "-o", str(tmp_path)]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2
        for name in ("false-sharing", "primes1"):
            command = [str(tmp_path / name), "-p", str(threads), *tiny.arguments]
            alone = hn.Trace.record(command, tmp_path / "alone.hnt", quantum=quantum)
            assert hn.Trace.open(tmp_path / f"{name}.hnt").checksum == alone.checksum


def test_sizes_that_are_not_there_are_refused(program: Command) -> None:
    for words, says in (
        (["gauss", "--size", "markatos"], "gauss has no size 'markatos'; it has: only its own"),
        (["--size", "x"], "no workload has a size 'x'; choose one of markatos"),
        (["weather", "--size", "markatos", "--quick"], "--quick and --size: give one of them"),
    ):
        refused = program("workloads", "record", *words)
        assert refused.code == 2
        assert says in refused.err


def test_pictures_repeat(program: Command, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        made = program("workloads", "picture", "migratory", "p-gauss", "-o", tmp_path / folder)
        assert made.code == 0, made.err
        assert len(made.out.splitlines()) == 2
    for name in ("migratory", "p-gauss"):
        first, again = ((tmp_path / folder / f"{name}.svg").read_text() for folder in ("a", "b"))
        assert first == again
        assert f">{name}, quick size, 8 threads</text>" in first


def test_the_beginning_of_a_trace_without_program_counters(built: Built, tmp_path: Path) -> None:
    trace = hn.Trace.record([str(built("migratory")), "-p", "2"], tmp_path / "t.hnt")
    chunk = next(trace.batches()).num_rows
    assert trace.references > chunk
    assert without_pc(trace).references == trace.references
    part = without_pc(trace, 1)
    assert part.references == chunk
    assert "pc" not in next(part.batches()).schema.names


def test_the_table_of_traces(program: Command) -> None:
    made = program("workloads", "table", "migratory", "water", "--quick", "--json")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    migratory, water = found["programs"]
    assert (migratory["name"], migratory["threads"]) == ("migratory", 8)
    assert 0.6 < migratory["read_share"] < 0.7
    assert water["private"] > water["references"] / 2
    for field in ("bytes_per_reference", "bytes_per_reference_no_pc"):
        assert found["mean"][field] == pytest.approx((migratory[field] + water[field]) / 2)
        assert 0 < found["mean"][field] < 2
    assert "mean" in program("workloads", "table", "migratory", "--quick").out
    refused = program("workloads", "table", "--quick", "--size", "talbot")
    assert refused.code == 2
    assert "give one of them" in refused.err


@pytest.mark.parametrize("page", [4096, 16384])
def test_tiles_of_the_ocean_have_pages_of_the_machine_of_their_own(
    page: int, built: Built, tmp_path: Path
) -> None:
    command = [str(built("ocean-contig")), "--quick", "-p", "4", "--page", str(page)]
    trace = hn.Trace.record(command, tmp_path / "t.hnt")
    ranges = trace.metadata["ranges"]
    grids = [r for r in ranges if r["kind"] == "heap" and r["size"] >= 4 * page]
    assert len(grids) == 7
    computing = hn.transform("select", trace, from_="init-done", until="marker:check")
    table = computing.to_arrow()
    stores = table.filter(pa.array(table["kind"].to_numpy() == 1))
    addresses, threads = stores["address"].to_numpy(), stores["thread"].to_numpy()
    for grid in grids:
        inside = (addresses >= grid["start"]) & (addresses < grid["start"] + grid["size"])
        writers = set(zip(addresses[inside] // page, threads[inside], strict=True))
        assert len(writers) == len({where for where, _ in writers})
        assert grid["start"] % page == 0


def test_bytes_of_a_page_that_are_no_power_of_two_are_refused(tmp_path: Path) -> None:
    program = workloads.build("ocean-noncontig", tmp_path / "ocean-noncontig")
    command = [program, "--page", "5000"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "--page: the bytes in a page must be a power of two" in refused.stderr


_READ_BY_ALL = ("bodies", "global", "o")


def _recorded(program: Path, folder: Path) -> hn.Trace:
    command = [str(program), "-p", "4", "-n", "2048", "-i", "1"]
    return hn.Trace.record(command, folder / "t.hnt")


@pytest.mark.parametrize("name", ["barnes", "fmm"])
def test_what_threads_share_is_in_one_heap(name: str, built: Built, tmp_path: Path) -> None:
    # By default the C library maps large arrays outside the heap; whether they conflict with the
    # heap in a direct-mapped cache depends on their addresses.
    ranges = _recorded(built(name), tmp_path).metadata["ranges"]
    blocks = [(r["start"], r["start"] + r["size"]) for r in ranges if r["kind"] == "heap"]
    low, high = min(start for start, _ in blocks), max(end for _, end in blocks)
    assert max(end - start for start, end in blocks) > 128 * 1024
    assert high - low < 2**20


def test_barnes_reads_nothing_static_that_threads_share(built: Built, tmp_path: Path) -> None:
    trace = _recorded(built("barnes"), tmp_path)
    # Pointers and options, which every thread reads.
    static = [
        r for r in trace.metadata["ranges"] if r["kind"] == "static" and r["name"] in _READ_BY_ALL
    ]
    first, last = min(r["start"] for r in static), max(r["start"] + r["size"] for r in static)
    addresses = trace.to_arrow().column("address").to_numpy()
    assert len(static) == 3
    assert 0 < ((addresses >= first) & (addresses < last)).mean() < 0.001
