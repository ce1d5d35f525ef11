"""Boots the guest, records it, and checks its work."""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.errors import ConfigError
from homenode.trace import Trace
from homenode_studies.workloads.ecommerce.mixes import Plan

Progress = Callable[[int, int | None], None] | None

__all__ = ["PROCESSORS", "Machine", "check", "memory_mib", "read_results", "record"]

PROCESSORS = 4
"""Processors of the guest; the mix suits any number."""

_MEMORY_MIB, _MEMORY_MOST_MIB = 2048, 3072
# Free space in the guest for files written while it runs, mostly the database's logs.
_ROOM_MIB = 512

_START_WITHIN_S = 1800

# Time is counted in instructions: each takes a nanosecond of the guest's time, so with 4 processors
# each executes one in 4 ns. If all are idle, time jumps.
_COUNTING = ("-icount", "shift=0,sleep=off", "-rtc", "clock=vm")


@dataclass(frozen=True)
class Machine:
    """The options for booting a guest.

    folder: has its file system, ``guest.cpio``, and gets its console output, ``console.txt``.
    counting: whether the emulator can count the instructions of several processors. By this
    machine's clock a recorded guest is slow, and so gets more timer interrupts for the same work:
    18 per million instructions were counted, instead of one.
    """

    kernel: Path
    emulator: str
    folder: Path
    counting: bool


def memory_mib(archive_bytes: int) -> int:
    """Memory of a guest with a file system of this size: half of it can be files.

    >>> memory_mib(300 << 20), memory_mib(800 << 20)
    (2048, 2624)

    Raises:
        ConfigError: when it exceeds the memory that a guest can have.
    """
    archive = -(-archive_bytes >> 20)
    needed, most = 2 * (archive + _ROOM_MIB), _MEMORY_MOST_MIB // 2 - _ROOM_MIB
    if needed > _MEMORY_MOST_MIB:
        raise ConfigError(
            f"the guest's file system has {archive} MiB, of which {most} fit into its memory: give "
            "fewer --items or --customers"
        )
    return max(_MEMORY_MIB, needed)


def record(machine: Machine, plan: Plan, target: Path, progress: Progress = None) -> dict[str, Any]:
    """Records a guest until the trace has enough references, then lets it shut down.

    Args:
        machine: the options for booting it.
        plan: the required number of references.
        target: the trace to write.
        progress: called with the references done and in all.

    Returns:
        The guest's final output (see `read_results`), and ``clock``: the source of its time.

    Raises:
        ConfigError: when the guest is too large, did not shut down, or failed its checks.
    """
    archive, line = machine.folder / "guest.cpio", machine.folder / "stop"
    memory = memory_mib(archive.stat().st_size)
    for ending in (".in", ".out"):
        os.mkfifo(f"{line}{ending}")
    console = machine.folder / "console.txt"
    words = ["-chardev", f"pipe,id=stop,path={line}", "-serial", "chardev:stop"]
    words += _COUNTING if machine.counting else ()
    system: dict[str, str | int | bool] = {
        "initramfs": str(archive),
        "processors": PROCESSORS,
        "memory_mib": memory,
        "start_within_s": _START_WITHIN_S,
        # The console is for the guest's report, without messages of its kernel; pages stay small.
        "append": "quiet loglevel=3 transparent_hugepage=never",
    }
    with _console(console), _stopping(line, plan.references, progress) as watch:
        try:
            Trace.record(
                [str(machine.kernel), *words],
                target,
                progress=watch,
                via="qemu-system",
                fetches=True,
                emulator=machine.emulator,
                system=system,
            )
        except ConfigError as error:
            said = console.read_text(errors="replace")[-1500:]
            raise ConfigError(f"{error}\nThe guest's console ends with:\n{said}") from error
    results = read_results(console.read_text(errors="replace"))
    check(plan, results)
    return {**results, "clock": "its instructions" if machine.counting else "this machine"}


@contextlib.contextmanager
def _console(target: Path) -> Iterator[None]:
    """Sends QEMU's output, the guest's console, to a file, and closes its input."""
    sys.stdout.flush()
    ours = [os.dup(0), os.dup(1)]
    with target.open("wb") as file, open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        try:
            yield
        finally:
            for number, saved in enumerate(ours):
                os.dup2(saved, number)
                os.close(saved)


@contextlib.contextmanager
def _stopping(line: Path, wanted: int, progress: Progress) -> Iterator[Callable[..., None]]:
    """Watches the recording: sends the guest a line when the trace has enough references."""
    # Opened for both directions, so that opening does not wait for QEMU.
    pipe = os.open(f"{line}.in", os.O_RDWR | os.O_NONBLOCK)

    def watch(done: int, _: int | None) -> None:
        if progress is not None:
            progress(min(done, wanted), wanted)
        if done >= wanted:
            with contextlib.suppress(BlockingIOError):
                os.write(pipe, b"stop\n")

    try:
        yield watch
    finally:
        os.close(pipe)


def read_results(console: str) -> dict[str, Any]:
    r"""Parses the guest's output: lines ``result: NAME VALUE``; pages become a table by name.

    >>> read_results("result: page home 3\nresult: errors 0\nresult: end\n")
    {'pages': {'home': 3}, 'errors': 0, 'end': ''}
    """
    found: dict[str, Any] = {"pages": {}}
    for name, value in re.findall(r"^result: (\w+)(?: (.*?))?\r?$", console, re.MULTILINE):
        if name == "page":
            page, times = value.split()
            found["pages"][page] = int(times)
        else:
            found[name] = int(value) if value.isdigit() else value
    return found


def check(plan: Plan, results: dict[str, Any]) -> None:
    """Checks that the shop answered and that the database has the orders.

    Raises:
        ConfigError: when it did not; the message lists all failures.
    """
    wrong = []
    if "failure" in results:
        wrong.append(str(results["failure"]))
    elif "end" not in results:
        wrong.append("it did not come to its end")
    else:
        wrong += _findings(plan, results)
    if wrong:
        raise ConfigError(
            f"the guest of the mix {plan.mix.name} failed its checks: {'; '.join(wrong)}; --keep "
            "keeps its console output"
        )


def _findings(plan: Plan, results: dict[str, Any]) -> Iterator[str]:
    orders = results["orders_in_database"]
    if results["alive"] != 1:
        yield "its driver ended before the recording"
    if results["orders_whole"] != orders:
        yield f"of {orders} orders only {results['orders_whole']} have lines and a payment"
    if results["pages_recorded"] < 1:
        yield (
            "no request was answered during the recording; a page takes millions of references "
            "(give more with --references)"
        )
    if plan.mix.children == 0:
        if results["query_errors"] != 0:
            yield f"the database refused {results['query_errors']} queries"
        return
    if results["errors"] != 0:
        yield f"{results['errors']} answers were wrong"
    placed = results["orders"] + results["warm_up_orders"]
    if placed != orders:
        yield f"{placed} orders were confirmed, {orders} are in the database"
