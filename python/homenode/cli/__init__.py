"""The command line: one file a command, listed in `homenode.cli.app.COMMANDS`."""

from __future__ import annotations

from homenode.cli.app import main

__all__ = ["main"]
