"""Prepares a recording: builds the plugin if an emulator runs the program."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from homenode.capture import build, initramfs, plugin
from homenode.errors import ConfigError

__all__ = ["ready"]


@contextlib.contextmanager
def ready(options: dict[str, Any]) -> Iterator[None]:
    """Adds the options that depend on this machine, for the duration of the block.

    Raises:
        ConfigError: when the plugin cannot be built, with what to install, or the initramfs cannot
            be read.
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
