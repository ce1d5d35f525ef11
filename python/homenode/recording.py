"""What a recording needs before it can start: the plugin, if an emulator is to run the program."""

from __future__ import annotations

from typing import Any

from homenode import capture_plugin, capture_runtime
from homenode.errors import ConfigError

__all__ = ["complete"]


def complete(options: dict[str, Any]) -> None:
    """Adds to the recorder's options what depends on this machine.

    Raises:
        ConfigError: when the plugin cannot be built, with what to install.
    """
    if options.get("via") != "qemu":
        return
    try:
        options["plugin"] = str(capture_plugin.plugin())
    except (OSError, capture_runtime.RuntimeBuildError) as error:
        raise ConfigError(str(error)) from error
