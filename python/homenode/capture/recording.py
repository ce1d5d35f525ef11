"""Prepares a recording under emulation: builds the plugin, finds a script's interpreter."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from homenode.capture import build, initramfs, plugin
from homenode.errors import ConfigError

__all__ = ["interpreted", "ready"]

# What Linux reads of a script, and how many scripts it takes that interpret each other.
_HEAD_BYTES = 255
_SCRIPTS_MAX = 5


@contextlib.contextmanager
def ready(options: dict[str, Any]) -> Iterator[None]:
    """Adds the options that depend on this machine, for the duration of the block.

    Raises:
        ConfigError: when the plugin cannot be built, with what to install, or the initramfs cannot
            be read, and when a script's interpreter cannot be executed.
    """
    via = options.get("via")
    if via not in ("qemu", "qemu-system"):
        yield
        return
    try:
        options["plugin"] = str(plugin.plugin())
        mark = plugin.mark() if via == "qemu-system" else None
    except (OSError, build.RuntimeBuildError) as error:
        raise ConfigError(str(error)) from error
    if mark is None:
        options["argv"] = interpreted(options["argv"])
        yield
        return
    with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
        target = Path(folder) / "initramfs"
        system = options.get("system", {})
        try:
            initramfs.with_mark(system.get("initramfs", ""), mark, target)
        except OSError as error:
            raise ConfigError(
                f"--initramfs: {error}; name a cpio archive that can be read"
            ) from error
        options["system"] = {**system, "initramfs": str(target)}
        yield


def interpreted(argv: Sequence[str]) -> list[str]:
    """The command that Linux executes for `argv`: of a script, that of its interpreter.

    >>> interpreted(["true", "now"])
    ['true', 'now']

    Raises:
        ConfigError: when an interpreter cannot be executed.
    """
    words = list(argv)
    for _ in range(_SCRIPTS_MAX):
        path = shutil.which(words[0]) if words else None
        interpreter = [] if path is None else _interpreter(path)
        if not interpreter:
            break
        if not os.access(interpreter[0], os.X_OK):
            ending = "; its lines end as on Windows" if interpreter[0].endswith("\r") else ""
            raise ConfigError(
                f"{path}: the interpreter in its first line, {interpreter[0]!r}, is no program "
                f"that can be executed{ending}; correct the line"
            )
        words = [*interpreter, str(path), *words[1:]]
    return words


def _interpreter(path: str) -> list[str]:
    """The interpreter of a script and the one argument that its first line may have."""
    try:
        with Path(path).open("rb") as file:
            head, end, _ = (whole := file.read(_HEAD_BYTES)).partition(b"\n")
    except OSError:
        return []
    line = head[2:].partition(b"\0")[0].strip(b" \t")
    name, *argument = re.split(rb"[ \t]+", line, maxsplit=1)
    # Of a longer line the argument may be cut off, not the name.
    cut = not end and len(whole) == _HEAD_BYTES and not argument
    if not head.startswith(b"#!") or not name or cut:
        return []
    # The kernel searches no folders.
    interpreter = os.fsdecode(name if b"/" in name else b"./" + name)
    return [interpreter, *map(os.fsdecode, argument)]
