"""Recording: compiler wrappers, the runtime of recorded programs, and the plugin for QEMU."""

from __future__ import annotations

from homenode.capture.compilers import include_dir

__all__ = ["include_dir"]
