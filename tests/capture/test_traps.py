"""Cases that have broken recorders of this kind, each as a test."""

from __future__ import annotations

import platform
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from homenode.capture import compilers

if TYPE_CHECKING:
    from conftest import Builder, Recorder
    from support.command import Printed

PROGRAMS = Path(__file__).parent / "programs"
GFORTRAN = pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")
CLANG = pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
CLANG_COMPILERS = {"HOMENODE_CC": "clang", "HOMENODE_CXX": "clang++"}


@pytest.fixture(params=["deterministic", "logical"])
def record(request: pytest.FixtureRequest, record: Recorder) -> Recorder:
    """Records a program in each order that repeats."""
    return partial(record, order=request.param)


def test_pthread_objects_of_every_kind(build: Builder, record: Recorder, natively: Printed) -> None:
    """Includes a thread that joins itself, which must fail and not wait."""
    recording = record(build("pthreads.c"))
    assert recording.out == natively(build("pthreads.c"))
    assert "self join 1" in recording.out
    seen = {words[1] for words in recording.events()}
    assert seen >= {
        "thread-start", "thread-exit", "thread-create", "thread-join", "lock-acquire",
        "lock-release", "barrier-enter", "barrier-leave", "condition-wait", "condition-wake",
    }  # fmt: skip


def test_signal_handlers_at_any_moment(build: Builder, record: Recorder) -> None:
    """SIGPROF among four threads; a handler that wakes the thread it interrupts; siglongjmp."""
    recording = record(build("signals.c"))
    words = recording.out.split()
    assert words[:2] == ["handler", "1"]
    assert words[-2:] == ["woken", "jumped"]


def test_children_are_not_recorded(build: Builder, record: Recorder, natively: Printed) -> None:
    """fork, vfork, a raw system call, posix_spawn, system and popen, beside a busy thread."""
    recording = record(build("children.c"))
    assert recording.out == natively(build("children.c"))
    # Only main reads it, once, at the end; each child wrote it 200000 times.
    assert len(recording.touching("childs")["addr"]) == 1
    forks = [words for words in recording.events() if words[1] == "fork"]
    # The system call is unseen.
    assert [words[2] for words in forks] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("how", "code", "number"),
    [
        ("return", 10, None),
        ("exit", 11, None),
        ("_exit", 12, None),
        ("_Exit", 13, None),
        ("quick_exit", 14, None),
        ("abort", None, 6),
        ("segv", None, 11),
        ("kill", None, 9),
        ("exec", 15, None),
    ],
)
def test_however_the_program_ends_the_trace_is_whole(
    build: Builder, record: Recorder, how: str, code: int | None, number: int | None
) -> None:
    recording = record(build("endings.c"), how)
    assert (recording.summary["exit_code"], recording.summary["signal"]) == (code, number)
    metadata = recording.metadata()
    assert (metadata.get("exit_code"), metadata.get("exit_signal")) == (code, number)
    last = recording.touching("last")
    assert len(last["addr"]) == 2 * 1000 + 1
    assert last["kind"][-1] == 1
    assert recording.out.startswith("started\n")
    assert ("replaced" in recording.out) == (how == "exec")


@pytest.mark.parametrize(
    "flags",
    [
        ["-static"],
        ["-static-pie"],
        ["-no-pie", "-fno-pie"],
        ["-pie", "-fPIE"],
        ["-O0"],
        ["-O3", "-flto"],
        ["-O2", "-D_FORTIFY_SOURCE=2"],
        ["-Wl,--gc-sections", "-ffunction-sections"],
    ],
)
def test_however_it_is_linked(
    build: Builder, record: Recorder, natively: Printed, flags: list[str]
) -> None:
    program = build("pthreads.c", *flags)
    recording = record(program)
    assert recording.out == natively(program)
    assert len(recording.touching("by_mutex")["addr"]) >= 4 * 50
    files = {line["file"].rsplit("/", 1)[-1] for line in recording.metadata()["lines"]}
    assert "pthreads.c" in files


def test_blocking_calls_between_threads(
    build: Builder, record: Recorder, natively: Printed
) -> None:
    """read, poll, select, epoll_wait, recv, and a write larger than a pipe holds."""
    recording = record(build("pipes.c"))
    assert recording.out == natively(build("pipes.c"))
    assert recording.summary["forced_turns"] == 0
    assert recording.summary["outside_waits"] == 0


@pytest.mark.parametrize("words", [[], ["spin"]])
def test_the_watchdog_frees_a_baton_that_is_stuck(
    build: Builder, record: Recorder, words: list[str]
) -> None:
    """In a blocking call of a library, and in a loop without hooks."""
    recording = record(build("stuck.c"), *words)
    assert recording.out == "line\n"
    assert recording.summary["forced_turns"] > 0
    assert "repeatable" not in recording.metadata()["order"]


def test_cancelled_threads_end(build: Builder, record: Recorder, natively: Printed) -> None:
    """In a condition, semaphore, read, sleep, join, loop, and at any instruction."""
    recording = record(build("cancel.c"))
    assert recording.out == natively(build("cancel.c"))


@pytest.mark.parametrize("flags", [[], ["-static"]])
def test_modern_cpp(build: Builder, record: Recorder, natively: Printed, flags: list[str]) -> None:
    """Futures, barriers, latches, semaphores, atomic waits, exceptions, virtual calls, ..."""
    program = build("modern.cpp", "-std=c++20", *flags)
    recording = record(program)
    assert recording.out == natively(program) == "7 44 81 1 2 2\n"
    assert recording.summary["forced_turns"] == 0


def test_c11_threads(build: Builder, record: Recorder, natively: Printed) -> None:
    assert record(build("c11.c")).out == natively(build("c11.c")) == "80 80 1 6 4 1\n"


@pytest.mark.parametrize("flags", [[], ["-static"]])
@pytest.mark.parametrize("free", [False, True])
def test_openmp(build: Builder, record: Recorder, flags: list[str], free: bool) -> None:
    """The library waits by spinning on futexes; all its waits must let other threads run."""
    program = build("openmp.c", "-fopenmp", *flags)
    options = {"order": "free"} if free else {}
    recording = record(program, environment={"OMP_NUM_THREADS": "4"}, **options)
    assert recording.out == "2.003e+06 16 94\n6 50\n"
    assert recording.summary["threads"] == 4
    assert recording.summary["forced_turns"] == 0
    if not free:
        shares = [(recording.touching("a")["thread"] == t).sum() for t in range(4)]
        assert min(shares) > 500, "the loops are shared by all threads"


def test_openmp_ordered_sections(build: Builder, record: Recorder) -> None:
    """The order is libgomp's; when a thread returns from them depends on the kernel."""
    program = build("ordered.c", "-fopenmp")
    recording = record(program, environment={"OMP_NUM_THREADS": "4"})
    assert recording.out == "64 0\n"
    assert "repeatable" not in recording.metadata()["order"]


@GFORTRAN
def test_fortran_openmp_with_a_dynamic_schedule(build: Builder, record: Recorder) -> None:
    recording = record(build("openmp.f90", "-fopenmp"), environment={"OMP_NUM_THREADS": "4"})
    assert recording.out == "inside\n" * 4 + "8 1001000.0\n"
    assert recording.summary["threads"] == 4


@CLANG
@pytest.mark.parametrize("source", ["pthreads.c", "atomics.c", "blocks.c", "modern.cpp"])
def test_clang(build: Builder, record: Recorder, natively: Printed, source: str) -> None:
    flags = ["-std=c++20"] if source.endswith(".cpp") else ["-mcx16", "-latomic"]
    program = build(source, *flags, environment=CLANG_COMPILERS)
    recording = record(program)
    assert recording.out == natively(program)
    assert recording.summary["references"] > 50


# Store, load, six modifications, two comparisons, and a relaxed load. x86 has no instruction that
# returns the old value of the last three modifications: a load and a comparison do it.
_ATOMICS = {
    "compiler": [1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 0],
    "assembly": [1, 0, 2, 2, 2, 0, 2, 0, 2, 0, 2, 2, 2, 0],
}


@pytest.mark.parametrize("hooks", _ATOMICS)
def test_atomics_of_all_sizes_and_orders(build: Builder, record: Recorder, hooks: str) -> None:
    environment = {"HOMENODE_HOOKS": hooks}
    recording = record(build("atomics.c", "-mcx16", "-latomic", environment=environment))
    assert recording.out == "0 0 0 0 0\n100 4294967291\n"
    for size in (1, 2, 4, 8, 16):
        touched = recording.touching(f"a{size}")
        assert set(touched["size"].tolist()) == {size}
        # libatomic performs those of 16 bytes, as one operation each.
        expected = _ATOMICS["compiler" if size == 16 else hooks]
        assert touched["kind"][: len(expected)].tolist() == expected
        relaxed = [i for i in range(1, len(expected)) if expected[i - 1 : i + 1] == [2, 0]]
        flags = [0 if i in relaxed else 2 for i in range(len(expected))]
        assert touched["flags"][: len(expected)].tolist() == flags
    relaxed = recording.touching("relaxed_only")
    assert relaxed["kind"].tolist() == [2] * 10
    assert relaxed["flags"].tolist() == [0] * 10


def test_memcpy_and_its_family_are_recorded(build: Builder, record: Recorder) -> None:
    """Compilers do not instrument them."""
    recording = record(build("blocks.c"))
    columns = recording.touching("to")
    start, _ = recording.symbol("to")
    copied = columns["size"][columns["kind"] == 1]
    assert int(copied.astype(int).sum()) == 448
    assert columns["addr"][columns["kind"] == 1].min() == start + 8
    assert copied.max() <= 64
    # No reference crosses a line of 64 bytes.
    assert ((columns["addr"] & 63) + columns["size"] <= 64).all()
    for name, size in (("filled", 251), ("moved", 202), ("left", 1001)):
        touched = recording.touching(name)
        assert int(touched["size"].astype(int).sum()) >= size - 1, name


def test_a_library_loaded_later(build: Builder, record: Recorder) -> None:
    plugin = build("plugin.c", "-shared", "-fPIC")
    recording = record(build("loads.c", "-ldl"), str(plugin))
    assert recording.out == "357\n"
    assert len(recording.touching("plugin_data")["addr"]) == 201
    files = {line["file"].rsplit("/", 1)[-1] for line in recording.metadata()["lines"]}
    assert "plugin.c" in files


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("hooks", ["assembly", "compiler"])
def test_a_library_needs_a_program_that_was_linked_with_the_wrapper(
    hooks: str, build: Builder, record: Recorder, tmp_path: Path
) -> None:
    if hooks == "assembly" and platform.machine() != "x86_64":
        pytest.skip("hooks in the assembly are of x86-64")
    plugin = build("plugin.c", "-shared", "-fPIC", environment={"HOMENODE_HOOKS": hooks})
    plain, host = tmp_path / "loads.o", tmp_path / "loads"
    gcc = str(shutil.which("gcc"))
    subprocess.run([gcc, "-c", str(PROGRAMS / "loads.c"), "-o", str(plain)], check=True)
    subprocess.run([gcc, str(plain), "-o", str(host), "-ldl"], check=True)
    line = [str(host), str(plugin)]
    refused = subprocess.run(line, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    prefix = "__homenode_" if hooks == "assembly" else "__tsan_"
    assert f"undefined symbol: {prefix}" in refused.stdout
    assert compilers.compile("c", [str(plain), "-o", str(host), "-ldl"]) == 0
    recording = record(host, str(plugin))
    assert recording.out == "357\n"
    # The compiler's hooks do not see all reads.
    assert len(recording.touching("plugin_data")["addr"]) >= 100
