"""Recording: compilers, the runtime and the plugin that programs are recorded with."""

from __future__ import annotations

from homenode.capture.compilers import include_dir

__all__ = ["include_dir"]
