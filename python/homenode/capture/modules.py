"""The files whose code a trace has, and what calls of hooks look like in the program's file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from homenode.capture.elf import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PROGRAM", "RECORDED_AT_CALL", "Modules"]

PROGRAM = "[program]"
# The names in the C library of what the runtime's strings.c records at the call.
RECORDED_AT_CALL = re.compile(
    r"_*(?:libc_)?(?:mem(?:cpy|move|pcpy|set|cmp|chr)|b(?:copy|zero|cmp)|stp?n?cpy|"
    r"str(?:n?len|n?cpy|n?cat|n?cmp|chr|rchr|str)|wmem(?:cpy|set|move))(?:$|_.*)"
)


@dataclass(frozen=True)
class _Call:
    """Where a call goes, as an address in the file, and whether it has a prefix."""

    target: int | None
    prefixed: bool


class Modules:
    """The files whose code a trace has: the program and its libraries."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        self._mappings = sorted(
            (r["start"], r["start"] + r["size"], r["name"])
            for r in metadata.get("ranges", [])
            if r["kind"] == "mapping" and r.get("name")
        )
        self._starts = np.array([m[0] for m in self._mappings], np.uint64)
        program = metadata.get("program", "")
        names = {Path(program).name, Path(program).resolve().name}
        own = [m for m in self._mappings if Path(m[2]).name in names]
        self._program = own[0] if own else (0, 0, "")
        try:
            self.image = Image(Path(self._program[2])) if own else None
        except (OSError, ValueError):
            self.image = None
        symbols = self.image.symbols if self.image else lambda _beginning: {}
        self._hooks = symbols("__tsan_")
        # gcc calls memcpy under a name of the runtime, clang a hook.
        self._at_call = frozenset(
            address
            for address, name in {**symbols("__wrap_"), **self._hooks}.items()
            if RECORDED_AT_CALL.fullmatch(name.removeprefix("__wrap").removeprefix("__tsan"))
        )
        self.base = self._program[0] - (self.image.first_page if self.image else 0)

    def of(self, address: int) -> str:
        """The module at an address: `PROGRAM`, a file's name, or nothing."""
        at = int(np.searchsorted(self._starts, np.uint64(address), "right")) - 1
        if at < 0 or address >= self._mappings[at][1]:
            return ""
        name = self._mappings[at][2]
        return PROGRAM if name == self._program[2] else Path(name).name

    def hooks(self, counters: NDArray[np.uint64]) -> dict[str, int]:
        """How many of the instructions that call hooks come from each kind of hooks.

        Hooks in the assembly are called with a prefix that compilers do not write.
        """
        if self.image is None:
            return {}
        if self.image.machine != "x86_64":  # Where there are no hooks in the assembly.
            return {"compiler": len(counters)}
        calls = [self._call(counter) for counter in counters.tolist()]
        assembly = sum(call.prefixed for call in calls)
        compiler = sum(not call.prefixed and call.target in self._hooks for call in calls)
        return {"compiler": compiler, "assembly": assembly}

    def recorded_at_call(self, counter: int) -> bool:
        """Whether an instruction of a program with hooks calls ``memcpy`` or one of its family."""
        return self._call(counter).target in self._at_call

    def _call(self, counter: int) -> _Call:
        """The call whose last byte is at an address: perhaps a prefix, e8 and a distance."""
        code = b"" if self.image is None else self.image.code(counter - self.base - 5, 6)
        if code[1:2] != b"\xe8":
            return _Call(None, prefixed=False)
        distance = int.from_bytes(code[2:], "little", signed=True)
        return _Call(counter - self.base + 1 + distance, prefixed=code[:1] == b"\x67")
