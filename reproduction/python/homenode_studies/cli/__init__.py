"""The commands of this package: one file each, listed in `homenode.cli.app.COMMANDS`."""
