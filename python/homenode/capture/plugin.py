"""Builds the plugin with which QEMU records unmodified programs, and keeps it.

The package has the plugin's sources, which it partly shares with the runtime of instrumented
programs; the user's own compiler compiles them when the plugin is first needed.
"""

from __future__ import annotations

import platform
from pathlib import Path

from homenode.capture import build, compilers

__all__ = ["SOURCES", "mark", "plugin"]

SOURCES = Path(__file__).parent / "qemu"

# Sources that the plugin shares with the runtime: ring, scheduler, virtual time.
_OF_THE_RUNTIME = (
    "area",
    "slots",
    "ring",
    "thread_lists",
    "sched",
    "user_threads",
    "logical",
    "logical_waits",
    "directed",
    "watchdog",
    "virtual_time",
    "fd_wait",
    "text_events",
    "transfers",
    "user_memory",
    "stack_table",
)

# All are one translation unit, after those of the runtime: turns.c uses static parts of sched.c.
_OWN = (
    "api",
    "guest_registers",
    "guest_isa",
    "layout",
    "environment",
    "program_marks",
    "sites",
    "translate",
    "repeats",
    "unshown",
    "turns",
    "guest_memory",
    "guest_futex",
    "guest_waits",
    "syscall_dispatch",
    "host_waits",
    "regions",
    "guest_elf",
    "frame_reader",
    "frame_entries",
    "unwind",
    "call_stacks",
    "allocations",
    "guest_threads",
    "processes",
    "program_exec",
    "guest_transfers",
    "guest_syscalls",
    "virtual_env",
    "virtual_tsc",
    "guest_files",
    "guest_signals",
    "deferred_signals",
    "processors",
    "system",
    "tasks",
    "start",
)


def plugin() -> Path:
    """The plugin, built with the C compiler if necessary.

    Raises:
        FileNotFoundError: when there is no C compiler, with what to install.
        RuntimeBuildError: when the compiler fails, with its messages.
    """
    runtime = tuple(build.SOURCES / f"{name}.c" for name in _OF_THE_RUNTIME)
    own = tuple(SOURCES / f"{name}.c" for name in _OWN)
    return build.build_plugin(compilers.compiler("c"), (*runtime, *own))


def mark() -> Path:
    """The mark program, with which a whole system starts and stops its recording.

    Raises:
        FileNotFoundError: when there is no C compiler, with what to install.
        RuntimeBuildError: when the compiler fails, with its messages, or compiles for another
            machine than the system.
    """
    if platform.machine() != "x86_64":
        raise build.RuntimeBuildError(
            f"whole systems are for x86-64, and so is the program that marks what to record, which "
            f"cannot be built on {platform.machine()}; record on an x86-64 machine"
        )
    sources = (SOURCES / "mark.c", SOURCES / "report.c")
    return build.build_mark(compilers.compiler("c"), sources)
