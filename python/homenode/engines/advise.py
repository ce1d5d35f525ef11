"""`advise`: objects to lay out differently, place or replicate, with the gain simulated."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.engines.lines import machines_of_lines, refuse_contention
from homenode.engines.placement import configuration
from homenode.errors import ConfigError
from homenode.files import check_replaceable
from homenode.options.checked import checked, part_of
from homenode.options.documented import documented
from homenode.options.values import specs_of
from homenode.results.rows import Rows
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from homenode.options.typed import AdviseOptions

MACHINE = "spr-2s-lines"
_POINT = ("machine", "policy", "block_size")
_SIDES = ("before", "after")
# Columns of a table without rows: what every piece of advice has.
_COLUMNS = (
    *_POINT,
    *("rank", "kind", "object", "object_kind", "address", "size", "ranges", "stride", "count"),
    *("words", "blocks", "extra_bytes", "saved_alone", "saved_alone_share", "saved"),
    *("saved_share", "sentence", "hint", "file", "line", "threads"),
)


class AdviceResult(Rows):
    """Advice on the layout of a program's objects.

    Attributes:
        rows: one dictionary a piece of advice: machine, policy, block_size, rank, kind, object,
            where it is, what it costs, what it saves, a ``sentence`` and a ``hint``.
            ``docs/advise.md`` defines every field.
        points: one dictionary for each machine, policy and block size: ``before``, ``after``,
            ``saved_share``, ``false_sharing_gone``, ``extra_bytes``, with a clock how much of
            it may be ``chance``, how many objects were ``examined`` and layouts ``tried``; with a
            clock ``lines``: where the time goes ``before`` and ``after``, ``objects`` and
            ``findings``, as in `LineResult`.
        facts: trace, processors, references, objects.
        trace: the trace with all advice followed, if `out` was given.
        configuration: the options of the call.
        provenance: everything that the results depend on: trace, options, version.
    """

    def __init__(
        self,
        found: dict[str, Any],
        configuration: dict[str, Any],
        trace: Trace | None = None,
    ) -> None:
        self.points: list[dict[str, Any]] = []
        rows = []
        for point in found["points"]:
            where = {name: point[name] for name in _POINT}
            self.points.append({name: value for name, value in point.items() if name != "advice"})
            for rank, row in enumerate(point["advice"], 1):
                rows.append({**where, "rank": rank, **row})
        super().__init__(rows, configuration, found["provenance"])
        self.facts = {k: found[k] for k in ("trace", "processors", "references", "objects")}
        self.trace = trace

    def at(self, point: dict[str, Any]) -> list[dict[str, Any]]:
        """The advice for the machine, policy and block size of a point."""
        return [row for row in self.rows if all(row[name] == point[name] for name in _POINT)]

    def top(self, count: int) -> AdviceResult:
        """The same with at most `count` rows a point; the points do not change."""
        kept = copy.copy(self)
        kept.rows = [row for row in self.rows if row["rank"] <= count]
        return kept

    @property
    def summary(self) -> dict[str, Any]:
        """A summary of the only point: cost and MCPR before and after, and the memory.

        ``machine``, ``policy``, ``block_size``, ``cost_before``, ``cost_after``, ``mcpr_before``,
        ``mcpr_after``, ``saved_share``, ``false_sharing_gone``, ``extra_bytes``, ``advice`` (how
        many pieces).

        Raises:
            ConfigError: when there are several points; `summaries` has one each.
        """
        found = self.summaries()
        if len(found) != 1:
            raise ConfigError(f"{len(found)} points have no one summary; use summaries()")
        return found[0]

    def summaries(self) -> list[dict[str, Any]]:
        """A `summary` for each point."""
        return [self._short(point) for point in self.points]

    def _short(self, point: dict[str, Any]) -> dict[str, Any]:
        where = {name: point[name] for name in _POINT}
        costs = {f"cost_{side}": point[side]["total_cost"] for side in _SIDES}
        means = {f"mcpr_{side}": point[side]["mcpr"] for side in _SIDES}
        names = ("saved_share", "false_sharing_gone", "extra_bytes")
        short = {name: point[name] for name in names}
        return {**where, **costs, **means, **short, "advice": len(self.at(point))}

    def _heading(self) -> Iterable[str]:
        return _COLUMNS

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        flat = {k: v for k, v in row.items() if k not in {"allocated_at", "threads"}}
        site = row["allocated_at"] or {}
        flat["file"], flat["line"] = site.get("file"), site.get("line")
        flat["threads"] = len(row["threads"])
        return flat

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode advise --json`` prints."""
        written = None if self.trace is None else str(self.trace.path)
        return {
            **self.facts,
            "points": self.points,
            "rows": self.rows,
            "written": written,
            "provenance": self.provenance,
        }

    document = to_dict

    def to_json(self) -> str:
        """What ``homenode advise --json`` prints, as text."""
        return json.dumps(self.to_dict(), indent=2)


@documented("advise")
def advise(
    trace: Trace | str | os.PathLike[str],
    machines: str | Iterable[str] = MACHINE,
    policies: str | Iterable[str] | None = None,
    block_sizes: str | int | Iterable[int] | None = None,
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[AdviseOptions],
) -> AdviceResult:
    """Says which objects to lay out anew, place or replicate, and what each gains.

    Layouts are ``separate-lock``, ``align``, ``pad``, ``split`` and ``group`` (by thread); under
    policies that keep blocks at a home there are ``place`` and ``replicate``. Every layout is tried
    by simulating the trace under it. Advice is for one machine, policy and block size; with several
    of them there is advice for each combination.

    Args:
        trace: a `Trace` or the path of one.
        machines: as in `simulate`. Default: cache lines of a two-socket machine.
        policies: as in `simulate`. Default: what the first machine's kind suggests: ``inv`` on
            page-coherence machines, ``migrate`` where there is no remote reference, else
            ``optimal``.
        block_sizes: as in `simulate`. Default: the first machine's own block size.
        progress: called with the work done and in all.
        options: see `AdviseOptions`.

    Raises:
        ConfigError: when a machine, policy, block size or option cannot be used.
        TraceError: when the trace is damaged or the new one cannot be written.

    Source: Markatos and Chronaki, section 3.4, for objects instead of words.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0, 1] * 8, kind="W", address=[64, 68] * 8)
    >>> result = hn.advise(trace, "cc", "migrate", 64)
    >>> [(row["kind"], row["stride"]) for row in result], result.summary["false_sharing_gone"]
    ([('pad', 4)], 1.0)
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    named = specs_of(machines, "machine")
    if policies is None or block_sizes is None:
        policy, size = usual_point(named[0])
        policies = policy if policies is None else policies
        block_sizes = size if block_sizes is None else block_sizes
    # To a cache, or a page, a lock is a word like any other.
    options.setdefault("sync", "include")
    config = configuration(named, policies, block_sizes, **part_of("simulate", options))
    out = options.get("out")
    if not machines_of_lines(named)[0]:
        refuse_contention(named, options.get("contention"))
    asked = json.dumps({"simulation": config, **checked("advise", options, "contention")})
    target = None
    if out is not None:
        check_replaceable(out, opened.path)
        target = str(out)
    found = json.loads(_core.advise(str(opened.path), asked, target, progress))
    return AdviceResult(found, config, None if target is None else Trace.open(target))


def usual_point(machine: str) -> tuple[str, int]:
    """The policy and block size that a machine suggests.

    Machines of today have MESI, those with a directory DASH. Page-coherence machines invalidate.
    Where there is no remote reference, as between caches, a block moves to the node using it. Else
    it is the optimum: advice that helps even the best policy.

    >>> usual_point("spr-2s-lines"), usual_point("markatos"), usual_point("numa")
    (('mesi', 64), ('inv', 4096), ('optimal', 4096))
    """
    row = json.loads(_core.machine_prices(machine, [], True))[0]
    if row["model"] in ("multicore", "bus"):
        policy = "mesi"
    elif row["model"] in ("directory", "controllers"):
        policy = "dash"
    elif row["model"] == "page-coherence":
        policy = "inv"
    else:
        policy = "migrate" if row["r"] is None else "optimal"
    return policy, int(row["block_size"])
