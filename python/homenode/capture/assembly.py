"""Compiles a source with hooks that are inserted into the compiler's assembly.

The compiler optimises as for an ordinary build and writes assembly; `homenode._core` puts a hook
before every access, and the compiler assembles the result. So the references are those of the
machine code: vectors, constant tables, in-line copies and atomic updates of every kind.
"""

from __future__ import annotations

import os
import platform
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from homenode import _core
from homenode.capture.arguments import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from homenode.capture.arguments import CommandLine, Source

__all__ = ["compile", "suits"]

_HOOKS = "HOMENODE_HOOKS"
_HAND_WRITTEN = frozenset([".s", ".S", ".sx"])

# A call that is a jump leaves no return address, which names what the callee accesses or allocates.
_BOTH = ("-g", "-fno-optimize-sibling-calls", "-DHOMENODE_HOOKS_IN_ASSEMBLY")
# What tells which accesses are atomic. gcc explains every instruction in a comment. clang has hooks
# for them, which perform the operation.
_OF_GCC = ("-dP", "-fdwarf2-cfi-asm")
_OF_CLANG = (
    "-fsanitize=thread -mllvm -tsan-instrument-memory-accesses=0 "
    "-mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-instrument-memintrinsics=0"
).split()

# Options that matter to the assembler too, and those of them that take the next word.
_ASSEMBLER = ("-Wa,", "-m", "--target", "-B", "--sysroot")
_ASSEMBLER_WITH_ARGUMENT = frozenset(["-Xassembler", "-target"])


def suits(line: CommandLine, source: Source) -> bool:
    """Whether a source is to be compiled this way, and can be: in AT&T syntax, and not by hand.

    Raises:
        UsageError: when the variable that asks for it has another value.
    """
    wanted = os.environ.get(_HOOKS, "") or "compiler"
    if wanted not in ("compiler", "assembly"):
        raise UsageError(f"{_HOOKS}={wanted}: say compiler or assembly")
    return (
        platform.machine() == "x86_64"
        and wanted == "assembly"
        and Path(source.path).suffix not in _HAND_WRITTEN
        and not any(word.startswith("assembler") for word in source.words)
        # A precompiled header.
        and not any(word.endswith("-header") for word in source.words)
        and "-masm=intel" not in line.compile_words
    )


def compile(
    driver: Sequence[str],
    flags: Sequence[str],
    line: CommandLine,
    source: Source,
    target: str,
    run: Callable[[Sequence[str]], int],
) -> int:
    """Compiles `source` to the object `target`; returns 0, or the exit code of the failed step.

    Args:
        driver: the compiler's command.
        flags: options to put before the user's.
        line: the user's command line.
        source: one of its sources.
        target: the object to write.
        run: runs a command and returns its exit code.
    """
    words = [word for word in line.compile_words if word != "-c"]
    # The first word may be ccache or env.
    is_clang = any("clang" in Path(word).name for word in driver)
    own = _OF_CLANG if is_clang else _OF_GCC
    # -w: clang's assembler warns of what clang has written.
    assembler = [*driver, *_assembler_words(words), "-w", "-c"]
    with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
        plain, labelled, hooked = (
            Path(folder) / f"{name}.s" for name in ("a", "labelled", "hooked")
        )
        step = [*driver, *_BOTH, *flags, *words, *own, *_dependencies(words, target)]
        if code := run([*step, "-S", "-o", str(plain), *source.words]):
            return code
        # Latin-1 keeps any bytes in strings and comments.
        text = plain.read_text("latin-1")
        labelled.write_text(_core.assembly_with_labels(text), "latin-1")
        marked = labelled.with_suffix(".o")
        if code := run([*assembler, "-Wa,-L", "-o", str(marked), str(labelled)]):
            return code
        hooked.write_text(_core.assembly_with_hooks(text, marked.read_bytes()), "latin-1")
        return run([*assembler, "-o", target, str(hooked)])


def _dependencies(words: Sequence[str], target: str) -> list[str]:
    """Names for the file of dependencies, which the compiler would name after the assembly."""
    to_preprocessor = any(word.startswith(("-Wp,-MD,", "-Wp,-MMD,")) for word in words)
    if not to_preprocessor and not any(word in ("-MD", "-MMD") for word in words):
        return []
    named = to_preprocessor or any(word.startswith("-MF") for word in words)
    aimed = any(word.startswith(("-MT", "-MQ")) or ",-MT," in word for word in words)
    file = [] if named else ["-MF", str(Path(target).with_suffix(".d"))]
    return [*file, *([] if aimed else ["-MQ", target])]


def _assembler_words(words: Sequence[str]) -> list[str]:
    chosen = []
    for word, following in pairwise([*words, ""]):
        if word in _ASSEMBLER_WITH_ARGUMENT:
            chosen += [word, following]
        elif word.startswith(_ASSEMBLER) and not word.startswith("-mllvm"):
            chosen.append(word)
    return chosen
