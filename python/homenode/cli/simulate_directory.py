"""What `homenode simulate` does on machines with a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.simulate_kind import refuse_options_of_others

if TYPE_CHECKING:
    from homenode.engines.directory import DirectoryResult


def run(trace: str, options: dict[str, Any], *, tables: bool) -> DirectoryResult:
    """Simulates with the options of the command line, showing progress.

    For tables, collects which homes serve what, at one number of nodes.

    Raises:
        ConfigError: when an option of other machines is given.
    """
    import homenode
    from homenode.cli.progress import Progress

    has = "a machine with a directory has protocols and homes (--protocol, --home)"
    refuse_options_of_others(options, "directory", has)
    chosen = dict(options)
    protocols = chosen.pop("protocols", None) or None
    uses = tables and "scaling" not in chosen
    with Progress("simulating") as progress:
        return homenode.simulate_directory(trace, protocols, uses=uses, progress=progress, **chosen)
