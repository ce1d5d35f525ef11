"""`sharing`: what false sharing costs at every block size, and who shares what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.engines.lines import (
    LineResult,
    lines,
    machines_of_lines,
    refuse_contention,
    refuse_unused,
    refuse_words,
)
from homenode.engines.parallel import in_parallel
from homenode.engines.placement import configuration, refuse_latencies
from homenode.errors import ConfigError
from homenode.options.checked import checked, part_of
from homenode.options.documented import documented
from homenode.options.values import about, block_size, specs_of, whole_number
from homenode.results.rows import Rows, columns_of, flat
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from homenode.options.typed import SharingOptions


MACHINES = ("spr-2s-lines", "cc")
# A cache line and a page of today. Each size takes a walk over all references that move data.
BLOCK_SIZES = (64, 4096)
_USUAL_DETAIL = 64
# Facts that both analyses know.
_LINE_FACTS = ("processors", "references")
# Facts in front of each object of a machine with a clock.
_LABELS = ("trace", "machine", "protocol", "processors", "block_size", "references")
_NESTED = frozenset({"components", "estimate", "counts", "shares"})


class SharingResult(Rows):
    """False sharing of one trace on some machines at some block sizes.

    Attributes:
        rows: one dictionary a machine and block size: trace, machine, block_size, processors,
            references, accesses, word_transfers, total_cost and mcpr of the optimum, its
            ``components``, the ``estimate`` of what false sharing costs, the ``counts`` it follows
            from, and the bounds as ``shares`` of all moves. ``docs/sharing.md`` defines every
            field.
        lines: for each machine of today, in order, a `LineResult`: where its processors' time goes.
        detail: the objects, blocks and source lines that share, at one block size; or None.
        facts: trace, processors, references, words by class, word_transfers, merge_transfers.
        configuration: the options of the call.
        provenance: everything that the results depend on: trace, options, version.

    In the flat rows, components are ``cost_NAME``, the two ends of a bracket ``NAME_low`` and
    ``NAME_high``, counts ``count_NAME``, shares of all moves ``share_NAME``. The objects of
    ``lines`` come first, each with its trace, machine, protocol, processors, block_size and
    references.

    Source: Bolosky, thesis, chapter 7.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        detail: dict[str, Any] | None,
        facts: dict[str, Any],
        configuration: dict[str, Any],
        provenance: dict[str, Any],
    ) -> None:
        super().__init__(rows, configuration, provenance)
        self.lines: list[LineResult] = []
        self.detail = detail
        self.facts = facts

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        kept = {k: v for k, v in row.items() if k not in _NESTED}
        # Prefixes tell apart what has one name: a count, the bracket of its cost, its share.
        return (
            kept
            | flat(row["components"] or {}, "cost_")
            | flat(row["estimate"] or {})
            | flat(row["counts"], "count_")
            | flat(row["shares"], "share_")
        )

    def columns(self) -> dict[str, list[Any]]:
        """The objects of ``lines`` and the rows as flat columns; None where a row lacks one."""
        heading: list[str] = []
        objects: list[dict[str, Any]] = []
        for found in self.lines:
            facts = {name: found.facts[name] for name in _LABELS}
            heading += [*facts, *found.columns()]
            objects += [facts | row for row in found.flat_rows()]
        return columns_of(objects + [self._flat(row) for row in self.rows], heading)

    def sizes(self) -> list[dict[str, Any]]:
        """The first row of each block size: counts do not depend on the machine."""
        first = {row["block_size"]: row for row in reversed(self.rows)}
        return [first[size] for size in dict.fromkeys(row["block_size"] for row in self.rows)]

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode sharing --json`` prints."""
        return {
            **self.facts,
            "lines": [found.to_dict() for found in self.lines],
            "rows": self.rows,
            "detail": self.detail,
            "provenance": self.provenance,
        }

    document = to_dict

    def against(self, other: SharingResult) -> list[dict[str, Any]]:
        """The hand tuning method: what `other`, the same program after tuning, saves.

        Args:
            other: the tuned program's sharing, on the same machines and at the same block sizes.

        Returns:
            One dictionary a machine and block size: ``cost_before``, ``cost_after``, ``saved`` and
            ``saved_share`` of the optimum's whole cost; the cost beyond local references and the
            bracket of false sharing, before and after.

        Raises:
            ConfigError: when the two differ in machines or block sizes.

        Source: Bolosky, thesis, section 7.1.5, after Eggers and Jeremiassen, who measured times.
        """
        before, after = _by_point(self), _by_point(other)
        if before.keys() != after.keys():
            raise ConfigError(
                "the two results are about different machines or block sizes; make both with the "
                "same ones"
            )
        return [_saving(row, after[point]) for point, row in before.items()]


@documented("sharing")
def sharing(
    trace: Trace | str | os.PathLike[str],
    machine: str | Iterable[str] = MACHINES,
    block_sizes: str | int | Iterable[int] | None = None,
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[SharingOptions],
) -> SharingResult:
    """Finds what false sharing costs on some machines, and which threads share which data.

    Args:
        trace: a `Trace` or the path of one.
        machine: one or several machines. Those with prices, as for `homenode.simulate`, are
            analysed at all block sizes; on machines of today (`spr-2s-lines`) the processors' time
            is split by cause.
        block_sizes: of machines with prices, bytes, powers of two, or text such as ``64-8192``;
            default: 64 and 4096. Machines of today have one of their own.
        progress: called with the work done and in all.
        options: see `SharingOptions`.

    Raises:
        ConfigError: when a machine, block size or option cannot be used, or applies to none of the
            machines.
        TraceError: when the trace is damaged.

    Source: Bolosky, thesis, chapter 7.

    >>> import homenode as hn
    >>> result = hn.sharing(hn.synthetic("t-s", references=101), "cc", 64)
    >>> result.rows[0]["estimate"]["false_sharing"]
    {'low': 18400, 'high': 18400}
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    # To a cache a lock is a word like any other.
    options.setdefault("sync", "include")
    of_today, machine = machines_of_lines(specs_of(machine, "machine"))
    refuse_latencies(machine)
    refuse_words(of_today, options.get("word_bytes"))
    if not of_today:
        refuse_contention(machine, options.get("contention"))
    if machine and options.get("home") is not None:
        raise ConfigError(
            f"home {options['home']}: {machine[0]} has no directory (homenode list machines)"
        )

    def find_waits(report: Callable[[int, int | None], None] | None) -> list[LineResult]:
        same: Any = part_of("lines", options)
        return [lines(opened, machine=name, progress=report, **same) for name in of_today]

    if not machine:
        refuse_unused("sharing", of_today, {"block_sizes": block_sizes, **options})
        waited = find_waits(progress)
        first = waited[0]
        facts = {"trace": str(opened.path), **{name: first.facts[name] for name in _LINE_FACTS}}
        result = SharingResult([], None, facts, first.configuration, first.provenance)
        result.lines = waited
        return result
    sizes = BLOCK_SIZES if block_sizes is None else block_sizes
    simulation = configuration(machine, "optimal", sizes, **part_of("simulate", options))
    asked = {
        "simulation": simulation,
        "detail": _detail(options.get("detail"), simulation["block_sizes"]),
        **checked("sharing", options, "count", "merge_transfers"),
    }
    path, question = str(opened.path), json.dumps(asked)
    waited, answer = in_parallel(
        find_waits, lambda report: _core.sharing(path, question, report), progress
    )
    found = json.loads(answer)
    of_size = {row.pop("block_size"): row for row in found["sizes"]}
    same = {
        "trace": found["trace"],
        "processors": found["processors"],
        "references": found["references"],
        "word_transfers": found["word_transfers"],
    }
    rows = [same | row | of_size[row["block_size"]] for row in found["costs"]]
    facts = same | {"words": found["words"], "merge_transfers": found["merge_transfers"]}
    result = SharingResult(rows, found["detail"], facts, asked, found["provenance"])
    result.lines = waited
    return result


def synthetic(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    processors: int = 4,
    words: int = 16,
    references: int = 1024,
) -> Trace:
    """Makes a trace whose false sharing is known in closed form.

    Args:
        name: a name from ``homenode.table("synthetic")``: ``t-f``, ``t-s`` or ``t-gamma``.
        path: the trace to write; without it a temporary file that goes with the object.
        processors: p, at least 2.
        words: s, the words of the one block, a power of two.
        references: n.

    Raises:
        ConfigError: when there is no such trace, or not of this shape.

    Source: Bolosky, thesis, section 7.1.6.

    >>> synthetic("t-gamma", references=64).references
    64
    """
    for what, value, bits in (
        ("processors", processors, 16),
        ("words", words, 32),
        ("references", references, 40),
    ):
        with about(what):
            whole_number(value, 1, (1 << bits) - 1)
    return Trace._written(
        path, lambda target: _core.synthetic(name, target, (processors, words, references))
    )


def usual_detail(sizes: Sequence[int]) -> int:
    """The block size at which to look closer: a line of today if it is among them."""
    return _USUAL_DETAIL if _USUAL_DETAIL in sizes else sorted(sizes)[len(sizes) // 2]


def _detail(given: int | str | None, sizes: Sequence[int]) -> int | None:
    if given is None:
        return usual_detail(sizes)
    if given in {0, "0"}:
        return None
    with about("detail"):
        return block_size(given)


def _by_point(result: SharingResult) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["machine"], row["block_size"]): row for row in result}


def _saving(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    old, new = before["total_cost"], after["total_cost"]
    known = old is not None and new is not None
    return {
        "machine": before["machine"],
        "block_size": before["block_size"],
        "cost_before": old,
        "cost_after": new,
        "saved": old - new if known else None,
        "saved_share": (old - new) / old if known and old else None,
        "extra_before": None if old is None else old - before["accesses"],
        "extra_after": None if new is None else new - after["accesses"],
        "false_sharing_before": (before["estimate"] or {}).get("false_sharing"),
        "false_sharing_after": (after["estimate"] or {}).get("false_sharing"),
    }
