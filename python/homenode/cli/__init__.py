"""The command line: one file a command, listed in `homenode.cli.app.COMMANDS`."""

from homenode.cli.app import main

__all__ = ["main"]
