"""Studies: the experiments of a publication on our own programs, and a ledger of its claims.

One file is one study, ending in ``ENTRY``; `TABLE` lists them.

>>> from homenode_studies import studies
>>> [entry.name for entry in studies.TABLE][:2]
['bolosky-ch3', 'bolosky-ch4']
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from homenode.errors import ConfigError
from homenode.options import named
from homenode.options.values import only_known
from homenode_studies.studies.bolosky import appendix, ch3, ch4, ch5, ch6, ch7
from homenode_studies.studies.context import StudyContext, no_progress
from homenode_studies.studies.entry import Study, StudyResult, run_study
from homenode_studies.studies.foglia import study as foglia
from homenode_studies.studies.marchetti import study as marchetti
from homenode_studies.studies.markatos import study as markatos
from homenode_studies.studies.programs import Program, available
from homenode_studies.studies.talbot import study as talbot

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from homenode_studies.studies.context import Watch
    from homenode_studies.studies.forms import TraceForm

__all__ = ["TABLE", "Study", "StudyOptions", "StudyResult", "find", "study", "table"]

TABLE: tuple[Study, ...] = (
    ch3.ENTRY,
    ch4.ENTRY,
    ch5.ENTRY,
    ch6.ENTRY,
    ch7.ENTRY,
    appendix.ENTRY,
    markatos.ENTRY,
    foglia.ENTRY,
    marchetti.ENTRY,
    talbot.ENTRY,
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
    return named.find("study", TABLE, name)


class StudyOptions(TypedDict, total=False):
    """Options of a study; omitted ones have these defaults.

    quick: small programs, for a first impression or a test; claims about sizes will differ.
        Default: no.
    traces: a folder that keeps recorded traces for later runs; by default they are recorded
        again and deleted.
    programs: only these, by their names in the publication. Default: all.
    mixes: for a study of mixes of processes, the folder with the mixes. Default: with ``quick``,
        the small ones of this package.
    word_bytes: count references in words of this number of bytes, or, if 0, as recorded. Studies
        of machines with a clock reject it. Default: words of 4 in the thesis's studies (§4.1.2).
    quantum: references in a processor's turn, or, if 0, turns as recorded; synchronisation keeps
        its order. Studies of machines with a clock reject it. Default: 1 in the studies of the
        thesis and of Markatos and Chronaki, whose processors run at the same pace (§2.3.1).
    variants: also judge the claims under the study's variants of machine and workload, if it has
        any (foglia), and say under which variants a claim that differs would hold. Default: no.
    seeds: also run with other seeds of recordings, homes and schedulers, this many in all; a claim
        whose verdict depends on the seed is a *tie*. Default: 5 in foglia, marchetti and talbot,
        or 1 with ``quick``.
    watch: opens a progress bar with a title. Default: none.
    """

    quick: bool
    traces: str | os.PathLike[str] | None
    programs: Iterable[str] | None
    mixes: str | os.PathLike[str] | None
    word_bytes: int | None
    quantum: int | None
    variants: bool
    seeds: int | None
    watch: Watch


def study(name: str, **options: Unpack[StudyOptions]) -> StudyResult:
    """Runs a study: makes its tables and figures from our programs, and judges its claims.

    Args:
        name: from ``homenode.table("studies")``.
        options: see `StudyOptions`.

    Returns:
        The study's ``tables``, ``figures`` and ``ledger`` as data frames.

    Raises:
        ConfigError: when there is no such study or program, or a program fails.
        TraceError: when a kept trace is damaged.
    """
    only_known(options, StudyOptions.__annotations__)
    entry = find(name)
    chosen = _chosen(entry, options)
    mixes, traces = options.get("mixes"), options.get("traces")
    if mixes is not None and not any(program.mix for program in chosen):
        raise ConfigError(f"{name} records programs and takes no mixes: leave out --mixes")
    form = _form(entry, options)
    variants = bool(options.get("variants"))
    if variants and not entry.variants:
        having = ", ".join(other.name for other in TABLE if other.variants)
        raise ConfigError(f"--variants: {name} has no variants; studies that have are {having}")
    with tempfile.TemporaryDirectory(prefix="homenode-study-") as made:
        context = StudyContext(
            entry.publication,
            Path(made if traces is None else traces),
            bool(options.get("quick")),
            chosen,
            options.get("watch", no_progress),
            None if mixes is None else Path(mixes),
            form,
        )
        return run_study(entry, context, variants=variants, seeds=_seeds(entry, options))


def _chosen(entry: Study, options: StudyOptions) -> list[Program]:
    """The programs to run.

    Raises:
        ConfigError: when `options` name a program that the study does not have.
    """
    given = options.get("programs")
    wanted = None if given is None else list(given)
    every = available(entry.publication, bool(options.get("quick")), entry.calibration)
    chosen = [program for program in every if wanted is None or program.name in wanted]
    if wanted is not None:
        unknown = sorted(set(wanted) - {program.name for program in chosen})
        if unknown:
            raise ConfigError(
                f"{entry.name} has no program {', '.join(unknown)}; the programs are "
                f"{_names(every)}"
            )
    return chosen


def _form(entry: Study, options: StudyOptions) -> TraceForm:
    """The counting and interleaving of references: the publication's, or that of the options.

    Raises:
        ConfigError: when the study's machines have a clock.
    """
    chosen = {"word_bytes": options.get("word_bytes"), "quantum": options.get("quantum")}
    given = {name: value for name, value in chosen.items() if value is not None}
    if given and not entry.priced:
        option = f"--{next(iter(given)).replace('_', '-')}"
        raise ConfigError(
            f"{option}: {entry.name} is about machines with a clock, which need references as "
            f"recorded; studies with prices are {_with_prices()}"
        )
    words, quantum = entry.form.word_bytes, entry.form.quantum
    return replace(
        entry.form,
        word_bytes=given.get("word_bytes", words) or None,
        quantum=given.get("quantum", quantum) or None,
    )


def _seeds(entry: Study, options: StudyOptions) -> int:
    """The number of seeds.

    Raises:
        ConfigError: when the study's results depend on none.
    """
    asked = options.get("seeds")
    if asked is None:
        return entry.usual_seeds(quick=bool(options.get("quick")))
    if asked > 1 and entry.with_seed is None:
        having = ", ".join(other.name for other in TABLE if other.with_seed)
        raise ConfigError(
            f"--seeds: the results of {entry.name} depend on no seed; studies whose results do are "
            f"{having}"
        )
    if asked < 1:
        raise ConfigError(f"--seeds {asked}: give a number of at least 1")
    return asked


def _with_prices() -> str:
    return ", ".join(entry.name for entry in TABLE if entry.priced)


def _names(programs: Iterable[Program]) -> str:
    return ", ".join(program.name for program in programs)
