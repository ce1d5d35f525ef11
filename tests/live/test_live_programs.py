"""Programs that run on simulated machines: their waits, clocks and endings."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import homenode as hn
from homenode.capture import compilers
from live.running import MACHINES, PROGRAMS, TIMEOUT_S, Builder, check_run_and_replay, only_row, run

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Builds a program of this folder with the wrapper, once."""
    folder = tmp_path_factory.mktemp("live")

    def build(name: str, *flags: str) -> str:
        target = folder / Path(name).stem
        if not target.exists():
            words = ["-O1", "-w", str(PROGRAMS / name), "-o", str(target), "-pthread", *flags]
            assert compilers.compile("c", words) == 0
        return str(target)

    return build


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("program", ["grid.c", "work_queue.c", "pipeline.c"])
def test_the_trace_of_a_run_replayed_is_the_run(
    built: Builder, tmp_path: Path, machine: str, program: str
) -> None:
    lived = check_run_and_replay(built(program), tmp_path / "t.hnt", machine)
    assert lived["references"] > 5000


@pytest.mark.parametrize("machine", ["bus-smp", "dash-mesh", "alite"])
@pytest.mark.parametrize("slack", [[], ["--slack", "0"], ["--slack", "300"]])
def test_two_runs_are_the_same_to_the_byte(
    built: Builder, tmp_path: Path, machine: str, slack: list[str]
) -> None:
    seen = []
    for nth in "12":
        trace = tmp_path / f"{nth}.hnt"
        words = ["--machine", machine, *MACHINES[machine], *slack, "--processors", "4", "--json"]
        row = only_row("run", *words, "-o", str(trace), "--", built("spin_lock.c"))
        seen.append((trace.read_bytes(), {**row, "trace": ""}))
    assert seen[0] == seen[1]


def test_slack_does_not_change_what_a_program_without_races_does(built: Builder) -> None:
    found = []
    for slack in ("0", "20", "5000"):
        words = ["--machine", "dash-mesh", "--processors", "4", "--slack", slack, "--json"]
        row = only_row("run", *words, "--", built("work_queue.c"))
        found.append((row["references"], row["misses"], row["cycles"]))
    assert found[0] == found[1] == found[2]


def test_the_machine_says_who_gets_the_next_item(built: Builder) -> None:
    def cycles(machine: str) -> int:
        words = ["--machine", machine, *MACHINES[machine], "--processors", "4", "--json"]
        return int(only_row("run", *words, "--", built("work_queue.c"))["cycles"])

    one = only_row(
        *("run", "--machine", "dash-mesh", "--processors", "1", "--json", "--"),
        built("work_queue.c"),
    )
    assert cycles("dash-mesh") < one["cycles"], "four processors share the work"
    assert cycles("dash-mesh") != cycles("alite")


@pytest.mark.parametrize("machine", ["bus-smp", "dash-mesh", "alite"])
def test_waits_end_and_clocks_go_by_simulated_time(built: Builder, machine: str) -> None:
    words = ["--machine", machine, *MACHINES[machine], "--processors", "2"]
    said = run("run", *words, "--", built("timed.c")).stdout.splitlines()
    assert said[:6] == [
        "sleep right",
        "condition 1 right",
        "semaphore 1 right",
        "signalled 0 right",
        "lock 1 right",
        "polling right",
    ]


def test_a_program_measures_what_the_machine_makes_it_wait(built: Builder) -> None:
    def measured(machine: str) -> int:
        words = [
            "--machine",
            machine,
            *MACHINES[machine],
            "--processors",
            "1",
            "--csv",
            os.devnull,
        ]
        return int(run("run", *words, "--", built("measures_itself.c")).stdout.split()[0])

    # Both give the speed of their processors; a miss takes longer on one than on the other.
    mesh, crossbar = measured("dash-mesh"), measured("alite")
    assert mesh > 0
    assert crossbar > 0
    assert mesh != crossbar


def test_a_run_is_as_long_as_its_program_says(built: Builder) -> None:
    words = ["--machine", "dash-mesh", "--processors", "1", "--json"]
    done = run("run", *words, "--", built("measures_itself.c"))
    cycles = json.loads(done.stdout)[0]["cycles"]
    once = int(done.stderr.split()[0])
    # 100 MHz: ten nanoseconds a cycle; the second part has twice as many misses as the first.
    assert 3 * once / 10 == pytest.approx(cycles, rel=0.1)


@pytest.mark.parametrize(
    ("how", "code"), [("7", 7), ("0", 0), ("_exit", 9), ("abort", 134), ("crash", 139)]
)
def test_the_exit_code_and_the_output_are_the_programs(
    built: Builder, tmp_path: Path, how: str, code: int
) -> None:
    trace = tmp_path / "t.hnt"
    words = ["--machine", "bus-smp", "--protocol", "mesi", "--processors", "2", "-o", str(trace)]
    done = run("run", *words, "--csv", os.devnull, "--", built("endings.c"), how, code=code)
    assert done.stdout == f"{how}\n"
    assert hn.Trace.open(trace).references > 3000


_TRAPS = ("pthreads.c", "c11.c", "conditions.c", "cancel.c", "signals.c", "pipes.c", "reuse.c")


@pytest.mark.parametrize("trap", [*_TRAPS, "openmp.c", "ordered.c", "stuck.c"])
def test_what_trips_a_recorder_does_not_trip_a_run(built: Builder, trap: str) -> None:
    program = built(f"../../capture/programs/{trap}", "-fopenmp")
    alone = subprocess.run(
        [program], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    words = ["--machine", "dash-mesh", "--slack", "50", "--csv", os.devnull]
    assert run("run", *words, "--", program, code=alone.returncode).stdout == alone.stdout


def test_an_interrupted_run_leaves_nothing(built: Builder, tmp_path: Path) -> None:
    trace = tmp_path / "t.hnt"
    words = ["run", "--machine", "bus-smp", "--processors", "2", "-o", str(trace), "--"]
    process = subprocess.Popen(
        [sys.executable, "-m", "homenode", *words, built("endings.c"), "endless"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "endless\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "interrupted" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "/no/such/program"], "/no/such/program"),
        (["--", "/bin/true"], "homenode cc"),
        (["--machine", "numa", "--", "/bin/true"], "clock"),
        (["--machine", "bus-smp,dash-mesh", "--", "/bin/true"], "one"),
        (
            ["--protocol", "mesi,dragon", "--", "/bin/true"],
            "runs on one machine, and 2 combinations are given",
        ),
        (["--machine", "dash-mesh", "--home", "best-static", "--", "/bin/true"], "hindsight"),
        (["--machine", "dash-mesh", "--home", "allocator", "--", "/bin/true"], "goes by all"),
        (["--machine", "dash-mesh", "--measure-until", "check", "--", "/bin/true"], "for traces"),
        (
            ["--machine", "alite", "--cache-size", "16K", "--kernel-model", "--", "/bin/true"],
            "--kernel-model is for machines with caches",
        ),
        ([], "PROGRAM"),
    ],
)
def test_what_cannot_be_run_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.hnt"
    done = run("run", "-o", str(trace), *words, code=2)
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_from_python(built: Builder) -> None:
    result = hn.run([built("endings.c"), "4"], "moesi", processors=2)
    assert (result.rows[0]["protocol"], result.run_summary["exit_code"]) == ("moesi", 4)
    with pytest.raises(hn.ConfigError, match=r"^contention is for machines with caches"):
        hn.run([built("endings.c")], machine="dash-mesh", contention="none")
