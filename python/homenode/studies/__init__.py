"""Studies: the experiments of a publication on our own programs, and a ledger of what it claims.

One file is one study, ending in ``ENTRY``; `TABLE` lists them.

>>> from homenode import studies
>>> [entry.name for entry in studies.TABLE][:2]
['bolosky-ch3', 'bolosky-ch4']
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.errors import ConfigError
from homenode.studies.bolosky import appendix, ch3, ch4, ch5, ch6, ch7
from homenode.studies.entry import Study, StudyResult, conduct
from homenode.studies.lab import Laboratory, silence
from homenode.studies.markatos import study as markatos
from homenode.studies.programs import available

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from homenode.studies.lab import Watch
    from homenode.studies.programs import Program

__all__ = ["TABLE", "Study", "StudyResult", "find", "study", "table"]

TABLE: tuple[Study, ...] = (
    ch3.ENTRY,
    ch4.ENTRY,
    ch5.ENTRY,
    ch6.ENTRY,
    ch7.ENTRY,
    appendix.ENTRY,
    markatos.ENTRY,
)
"""Every study, in documentation order."""


def table() -> list[dict[str, Any]]:
    """Every study as plain data, in documentation order."""
    return [entry.describe() for entry in TABLE]


def find(name: str) -> Study:
    """The study of this name.

    Raises:
        ConfigError: when there is none.
    """
    for entry in TABLE:
        if entry.name == name:
            return entry
    names = ", ".join(entry.name for entry in TABLE)
    raise ConfigError(f"there is no study {name!r}; choose one of {names}")


def study(
    name: str,
    *,
    quick: bool = False,
    traces: str | os.PathLike[str] | None = None,
    programs: Iterable[str] | None = None,
    watch: Watch = silence,
) -> StudyResult:
    """Runs a study: its tables and figures from our programs, its claims judged.

    Args:
        name: from ``homenode.table("studies")``.
        quick: small programs, for a look or a test; claims about sizes will differ.
        traces: a folder where recorded traces are kept and found again; by default they are
            recorded anew and thrown away.
        programs: only these, by their names in the publication.
        watch: opens a progress bar with a title.

    Returns:
        The study's ``tables``, ``figures`` and ``ledger`` as data frames.

    Raises:
        ConfigError: when there is no such study or program, or a program fails.
        TraceError: when a kept trace is damaged.
    """
    entry = find(name)
    wanted = None if programs is None else list(programs)
    every = available(entry.publication, quick, entry.calibration)
    chosen = [program for program in every if wanted is None or program.name in wanted]
    if wanted is not None:
        unknown = sorted(set(wanted) - {program.name for program in chosen})
        if unknown:
            raise ConfigError(
                f"{name} has no program {', '.join(unknown)}; the programs are {_names(every)}"
            )
    if traces is not None:
        return conduct(entry, Laboratory(entry.publication, Path(traces), quick, chosen, watch))
    with tempfile.TemporaryDirectory(prefix="homenode-study-") as folder:
        return conduct(entry, Laboratory(entry.publication, Path(folder), quick, chosen, watch))


def _names(programs: Iterable[Program]) -> str:
    return ", ".join(program.name for program in programs)
