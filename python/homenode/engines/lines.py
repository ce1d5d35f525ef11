"""`lines`: where the time of processors goes on a machine of today, by data structure."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from homenode import _core
from homenode.errors import option_error
from homenode.options.checked import checked
from homenode.options.declared import options_of
from homenode.options.documented import documented
from homenode.options.specs import plain_number
from homenode.options.typed import LinesOptions
from homenode.results.rows import Rows, flat
from homenode.results.waits import where_time_goes
from homenode.trace import Trace

MACHINE = "spr-2s-lines"
# Columns of every object beside those of its waits.
_COLUMNS = ("label", "kind", "bytes", "false_sharing_share", "share")


class LineResult(Rows):
    """Waits of the processors of a machine of today, by data structure and cause.

    Attributes:
        rows: one dictionary an object, the longest waits for sharing first: label, kind,
            allocated_at, bytes, ``waits`` (for each cause its ``transactions`` and the ``cycles``
            that processors waited for them), and as parts of all processors' time ``share`` and
            ``false_sharing_share``.
        findings: counters and locks that several threads write, which a change of the program may
            help but no layout does, one dictionary each: kind, object, field, threads, count,
            share, sentence.
        time: cycles, processor_cycles (with a thread to run), busy_cycles, idle_cycles, waits,
            sharing_elapsed_cycles (in which at least one processor waits for sharing), and
            as parts of processor_cycles false_sharing_share, true_sharing_share, other_share.
        facts: trace, machine, protocol, processors, block_size, references, deadlocks_broken.
        configuration: the options of the call.
        provenance: everything that the rows depend on.
    """

    def __init__(self, found: dict[str, Any], configuration: dict[str, Any]) -> None:
        super().__init__(found["objects"], configuration, found["provenance"])
        self.findings: list[dict[str, Any]] = found["findings"]
        self.time: dict[str, Any] = found["time"]
        names = ("trace", "machine", "protocol", "processors", "block_size", "references")
        self.facts = {name: found[name] for name in (*names, "deadlocks_broken")}

    @property
    def headline(self) -> str:
        """The main finding, as a sentence."""
        return headline(self.time, self.facts["machine"], self.facts["trace"])

    def __repr__(self) -> str:
        return f"LineResult({self.headline})"

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        kept = {k: v for k, v in row.items() if k not in {"waits", "allocated_at"}}
        return kept | flat(row["waits"])

    def _heading(self) -> Iterable[str]:
        return (*_COLUMNS, *flat(self.time["waits"]))

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode sharing --json`` prints as ``lines``."""
        return {
            **self.facts,
            "time": self.time,
            "objects": self.rows,
            "findings": self.findings,
            "provenance": self.provenance,
        }

    document = to_dict


_LINE_KINDS = ("multicore", "directory", "controllers")
"""Kinds of machines with a clock whose processors wait for cache lines."""


def machines_of_lines(named: list[str]) -> tuple[list[str], list[str]]:
    """Those of some machines whose processors wait for cache lines, and all others.

    >>> machines_of_lines(["cc", "spr-2s-lines"])
    (['spr-2s-lines'], ['cc'])
    """
    kinds = dict(zip(named, _core.machine_kinds(named), strict=True))
    of_lines = [name for name in named if kinds[name] in _LINE_KINDS]
    return of_lines, [name for name in named if name not in of_lines]


def refuse_words(of_lines: Sequence[str], word_bytes: int | None) -> None:
    """Refuses to count references in words on machines whose processors have a clock.

    Raises:
        ConfigError: when there are such machines and `word_bytes` is given.
    """
    if of_lines and word_bytes is not None:
        raise option_error(
            "word_bytes",
            "--word-bytes",
            f": {of_lines[0]} has a clock and makes references as they were recorded; choose "
            "machines with prices, such as cc,numa",
        )


def refuse_unused(study: str, of_lines: Sequence[str], options: Mapping[str, object]) -> None:
    """Refuses options of a study that `lines` does not have, if it simulates all machines.

    Raises:
        ConfigError: when one is given.
    """
    for name, value in options.items():
        unused = value is not None and value is not False and name not in options_of("lines")
        if unused:
            raise option_error(
                name,
                options_of(study)[name].flag,
                f": {of_lines[0]} has a clock, caches and lines of its own; leave the option out, "
                "or choose machines with prices, such as spr-2s",
            )


def refuse_contention(priced: Sequence[str], contention: str | None) -> None:
    """Refuses the option `contention` on machines without messages.

    Raises:
        ConfigError: when it is given.
    """
    if contention is not None:
        raise option_error(
            "contention",
            "--contention",
            f": {priced[0]} has prices of references and no clock; choose a machine with links, "
            "such as spr-2s-lines",
        )


@documented("lines")
def lines(
    trace: Trace | str | os.PathLike[str],
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[LinesOptions],
) -> LineResult:
    """Measures the waits of a machine of today for cache lines, by cause and data structure.

    The threads of the trace are replayed in simulated cycles, under its synchronisation, so that
    the result does not depend on the turns of the recording.

    Args:
        trace: a `Trace` or the path of one.
        progress: called with the work done and in all.
        options: see `LinesOptions`.

    Raises:
        ConfigError: when the machine, the protocol or an option cannot be used.
        TraceError: when the trace is damaged.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(
    ...     thread=[0, 1, 0, 1] * 500, kind=["R", "R", "W", "W"] * 500, address=[64, 68] * 1000)
    >>> found = hn.lines(trace)
    >>> found.time["waits"]["false_sharing"]["transactions"] > 0
    True
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    config = checked("lines", options)
    found = json.loads(_core.line_waits(str(opened.path), json.dumps(config), progress))
    return LineResult(found, config)


def headline(time: dict[str, Any], machine: str, trace: str) -> str:
    """Where the time of the processors goes, in a sentence."""
    cycles = plain_number(time["cycles"])
    return f"{trace} on {machine}: {cycles} cycles. {where_time_goes(time)}"


__all__ = ["LineResult", "headline", "lines", "machines_of_lines"]
