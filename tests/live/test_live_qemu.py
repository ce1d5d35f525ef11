"""Unmodified programs in QEMU that run on simulated machines."""

import shutil
import subprocess
from pathlib import Path

import pytest

import homenode as hn
from live.running import MACHINES, PROGRAMS, TIMEOUT_S, Builder, check_run_and_replay, only_row, run

_ARM = "/usr/aarch64-linux-gnu"
pytestmark = [
    pytest.mark.timeout(2400),
    pytest.mark.skipif(
        shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
        reason="qemu-user or gcc is not installed",
    ),
]


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Builds a program without the wrapper, once."""
    folder = tmp_path_factory.mktemp("plain")

    def build(name: str, compiler: str = "gcc") -> str:
        target = folder / f"{Path(name).stem}.{compiler}"
        if not target.exists():
            words = ["-O1", "-w", str(PROGRAMS / name), "-o", str(target), "-pthread", "-fopenmp"]
            subprocess.run([compiler, *words], check=True)
        return str(target)

    return build


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("program", ["grid.c", "work_queue.c", "pipeline.c"])
def test_the_trace_of_a_run_replayed_is_the_run(
    plain: Builder, tmp_path: Path, machine: str, program: str
) -> None:
    how = ("--via", "qemu", "--slack", "300")
    lived = check_run_and_replay(plain(program), tmp_path / "t.hnt", machine, *how)
    assert lived["references"] > 20_000
    assert lived.get("deadlocks_broken", 0) == 0


@pytest.mark.parametrize("machine", ["bus-smp", "dash-mesh", "alite"])
def test_two_runs_are_the_same_to_the_byte(plain: Builder, tmp_path: Path, machine: str) -> None:
    seen = []
    for nth in "12":
        trace = tmp_path / f"{nth}.hnt"
        words = ["--machine", machine, *MACHINES[machine], "--processors", "4", "--json"]
        options = ["--via", "qemu", "--slack", "100", "-o", str(trace), "--"]
        row = only_row("run", *words, *options, plain("spin_lock.c"))
        seen.append((trace.read_bytes(), {**row, "trace": ""}))
    assert seen[0] == seen[1]
    metadata = hn.Trace.open(tmp_path / "1.hnt").metadata
    assert metadata["order"] == "simulated slack=100 repeatable"
    assert "qemu-x86_64" in metadata["tool"]


def test_instructions_between_references_take_time(plain: Builder) -> None:
    words = ["--machine", "dash-mesh", "--processors", "4", "--json", "--slack", "300"]
    row = only_row("run", *words, "--via", "qemu", "--", plain("grid.c"))
    assert row["busy"] > 1.5 * row["references"], (
        "a cycle for each, and for the instructions between"
    )


def test_waits_end_and_clocks_go_by_simulated_time(plain: Builder) -> None:
    # The C library takes time too: on slower machines more than the program allows for.
    words = ["--machine", "bus-smp", "--protocol", "mesi", "--processors", "2", "--slack", "300"]
    said = run("run", "--via", "qemu", *words, "--", plain("timed.c")).stdout.splitlines()
    assert said[:6] == [
        "sleep right",
        "condition 1 right",
        "semaphore 1 right",
        "signalled 0 right",
        "lock 1 right",
        "polling right",
    ]


_TRAPS = ("pthreads.c", "c11.c", "conditions.c", "signals.c", "pipes.c", "reuse.c")


@pytest.mark.parametrize("trap", [*_TRAPS, "openmp.c", "ordered.c"])
def test_what_trips_a_recorder_does_not_trip_a_run(plain: Builder, trap: str) -> None:
    program = plain(f"../../capture/programs/{trap}")
    alone = subprocess.run(
        [program], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    words = ["--via", "qemu", "--machine", "dash-mesh", "--slack", "500"]
    done = run("run", *words, "--json", "--", program, code=alone.returncode)
    assert done.stderr == alone.stdout + alone.stderr


@pytest.mark.parametrize(("how", "code"), [("7", 7), ("_exit", 9), ("crash", 139)])
def test_the_exit_code_and_the_output_are_the_programs(
    plain: Builder, tmp_path: Path, how: str, code: int
) -> None:
    trace = tmp_path / "t.hnt"
    words = ["--machine", "bus-smp", "--processors", "2", "--slack", "300", "-o", str(trace)]
    done = run("run", "--via", "qemu", *words, "--json", "--", plain("endings.c"), how, code=code)
    assert how in done.stderr
    assert hn.Trace.open(trace).references > 3000


@pytest.mark.skipif(
    shutil.which("aarch64-linux-gnu-gcc") is None or shutil.which("qemu-aarch64") is None,
    reason="no compiler or emulator for aarch64",
)
def test_a_program_for_another_processor(plain: Builder) -> None:
    program = plain("work_queue.c", "aarch64-linux-gnu-gcc")
    result = hn.run([program], processors=4, via="qemu", sysroot=_ARM, slack=300)
    assert (result.run_summary["exit_code"], result.run_summary["threads"]) == (0, 4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--via", "qemu", "--", "/no/such/program"], "/no/such/program"),
        (["--via", "qemu", "--", "/etc/passwd"], "ELF"),
        (["--via", "qemu-system", "--", "/bin/true"], "qemu"),
        (["--sysroot", "/usr", "--", "/bin/true"], "--sysroot is for programs that QEMU runs"),
        (["--via", "qemu", "--emulator", "/no/qemu", "--", "/bin/true"], "/no/qemu"),
    ],
)
def test_what_cannot_be_run_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    done = run("run", "-o", str(tmp_path / "t.hnt"), *words, code=2)
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []
