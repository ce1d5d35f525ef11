"""Waits with time-outs, waits that only the kernel can end, and signals that end them."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder
    from support.command import Printed


_MACHINES = ["x86_64", "aarch64", "riscv64"]


def _options(machine: str) -> dict[str, Any]:
    more = {} if machine == "x86_64" else {"sysroot": f"/usr/{machine}-linux-gnu"}
    return {"machine": machine, **more}


@pytest.mark.parametrize("machine", _MACHINES)
def test_an_event_loop_repeats(compiled: Builder, emulate: Recorder, machine: str) -> None:
    program = compiled("events.c", machine=machine)
    one, two = (emulate(program, **_options(machine)) for _ in "12")
    lines = one.out.splitlines()
    assert lines[:2] == ["poll 0 ppoll 0 select 0 0 left 0 epoll 0 0", "took 1"]
    assert lines[2].startswith("server ")
    assert lines[2].endswith(" 30 bytes")
    assert lines[3:] == [
        *["read 0"] * 4,
        "sent 4 of 4",
        "flock 0 fcntl 0 message 8 message semaphore 0 again -1 1",
        "connect 0 hello",
        "poll -1 1 ppoll -1 1 sigwait 0 1 -1 1 sigsuspend -1 1 pause -1 1",
    ]
    assert one.out == two.out
    assert one.path.read_bytes() == two.path.read_bytes()
    assert (one.summary["outside_waits"], one.summary["forced_turns"]) == (0, 0)


@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("qemu-x86_64") is None,
    reason="only kernels of x86-64 send system calls back",
)
def test_kernels_without_syscall_dispatch(compiled: Builder, tmp_path: Path) -> None:
    refuse = compiled("refuse.c")
    if subprocess.run([refuse, "true"], check=False).returncode != 0:
        pytest.skip("the kernel cannot be made to refuse a call")
    program = compiled("events.c")
    line = [refuse, sys.executable, "-m", "homenode", "record", "--via", "qemu", "-o"]
    # Waits are real here: threads have half a second to be ready for each signal.
    events = [program, "500"]
    line += [tmp_path / "t.hnt", "--", *events]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    native = subprocess.run(events, capture_output=True, text=True, check=True)
    # The first three lines are lengths of waits, which here depend on the kernel.
    assert done.stdout.splitlines()[3:] == native.stdout.splitlines()[3:]
    assert "outside waits          0" not in done.stderr


def test_signals_end_waits(build: Builder, record: Recorder, natively: Printed) -> None:
    program = build("alarms.c")
    assert record(program).out == natively(program)


@pytest.mark.parametrize("machine", _MACHINES)
def test_signals_end_waits_in_the_emulator(
    compiled: Builder, emulate: Recorder, machine: str
) -> None:
    program = compiled("alarms.c", machine=machine)
    native = compiled("alarms.c")
    done = subprocess.run([native], capture_output=True, text=True, check=True)
    made = emulate(program, **_options(machine))
    assert made.out == done.stdout
    # The timer is a real one.
    assert "repeatable" not in made.metadata()["order"]


def test_no_signal_is_lost_while_a_wait_goes_on(
    build: Builder, record: Recorder, compiled: Builder, emulate: Recorder
) -> None:
    ended = "1000 waits ended\n"
    assert record(build("frequent_signals.c")).out == ended
    assert emulate(compiled("frequent_signals.c")).out == ended


def test_timers_that_are_files_are_not_repeatable(
    compiled: Builder, emulate: Recorder, tmp_path: Path
) -> None:
    source = tmp_path / "timer.c"
    source.write_text(
        "#include <stdint.h>\n#include <sys/timerfd.h>\n"
        "#include <unistd.h>\n"
        "int main(void) {\n"
        "    struct itimerspec soon = {.it_value = {0, 1000000}};\n"
        "    const int fd = timerfd_create(CLOCK_MONOTONIC, 0);\n"
        "    uint64_t times = 0;\n"
        "    timerfd_settime(fd, 0, &soon, NULL);\n"
        "    return read(fd, &times, sizeof times) != sizeof times;\n"
        "}\n"
    )
    made = emulate(compiled(source))
    assert made.summary["exit_code"] == 0
    assert made.summary["outside_waits"] == 1
    assert "repeatable" not in made.metadata()["order"]


def test_what_clients_send_is_not_repeatable(build: Builder, record: Recorder) -> None:
    made = record(build("accepts.c"))
    assert made.out == "x\n"
    assert made.metadata()["order"].endswith(" repeatable but for what clients send")
