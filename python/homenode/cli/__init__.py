"""The command line: one file a command, listed in `homenode.cli.app.COMMANDS`."""

from homenode.cli.start import main

__all__ = ["main"]
