"""How much results depend on the order in which threads ran: several orders of one program."""

from __future__ import annotations

import itertools
import math
import os
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.engines.lines import (
    LineResult,
    lines,
    machines_of_lines,
    refuse_unused,
    refuse_words,
)
from homenode.engines.simulation import simulate
from homenode.errors import ConfigError
from homenode.options.checked import checked, part_of
from homenode.options.declared import options_of
from homenode.options.documented import documented
from homenode.options.specs import unique
from homenode.options.values import specs_of
from homenode.results.rows import Rows, columns_of, flat
from homenode.trace import Trace
from homenode.trace.transforms import transform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.figure import Figure

    from homenode.options.typed import SensitivityOptions, SimulateOptions
    from homenode.results.result import Result

    PathLike = str | os.PathLike[str]
    Progress = Callable[[int, int | None], None] | None


MACHINES = ("spr-2s-lines", "spr-2s")
BLOCK_SIZE = 4096
# Orders made from a single trace.
_ORDERS_MADE = 4
_POINT = ("machine", "block_size", "protocol", "orders")


class SensitivityResult(Rows):
    """How much the cost under each policy differs between orders of the same program.

    Attributes:
        rows: one dictionary a machine, block size and policy: machine, block_size, policy, orders
            (how many), mean, min, max and deviation (the sample's standard deviation) of the MCPR,
            and spread, which is (max - min) / mean.
        rankings: one dictionary a machine and block size: the policies from the least mean cost to
            the largest; tau_mean and tau_min, Kendall's tau between this ranking and that of each
            order; and swaps, the pairs that some orders rank the other way, with the number of
            these orders and how far apart the means are.
        cycles: one dictionary a machine of today: machine, block_size, protocol, orders, and mean,
            min, max, deviation and spread of the execution time in cycles; ``false_sharing_share``,
            the least and the largest part of the processors' time that waits for false sharing.
        orders: one dictionary an order: trace, order (as its metadata tells), how it was made of
            the trace if it was, references, checksum.
        configuration: the options of the call.
        provenance: version, notes and the provenance of each simulation.

    In the flat rows, those of ``cycles`` come first, their figures as ``cycles_NAME``.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        rankings: Sequence[dict[str, Any]],
        orders: Sequence[dict[str, Any]],
        configuration: dict[str, Any],
        provenance: dict[str, Any],
    ) -> None:
        super().__init__(rows, configuration, provenance)
        self.rankings = list(rankings)
        self.cycles: list[dict[str, Any]] = []
        self.orders = list(orders)

    def columns(self) -> dict[str, list[Any]]:
        """The rows of ``cycles`` and the others as flat columns; None where a row lacks one."""
        timed = [
            {name: row[name] for name in _POINT}
            | flat({k: v for k, v in row.items() if k not in _POINT}, "cycles_")
            for row in self.cycles
        ]
        return columns_of([*timed, *self.rows])

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode sensitivity --json`` prints."""
        return {
            "orders": self.orders,
            "cycles": self.cycles,
            "rows": self.rows,
            "rankings": self.rankings,
            "provenance": self.provenance,
        }

    document = to_dict

    def plot(self) -> Figure:
        """Draws the effect of the order: a bar a policy from the least to the largest MCPR.

        Raises:
            ConfigError: when there is nothing to draw, or matplotlib is missing (``pip install
                'homenode[plot]'``).
        """
        from homenode.results.plot import spread_of_orders

        programs = unique(Path(order["trace"]).name.split(".")[0] for order in self.orders)
        return spread_of_orders({", ".join(programs): self})


@documented("sensitivity")
def sensitivity(
    traces: Trace | PathLike | Iterable[Trace | PathLike],
    machines: str | Iterable[str] = MACHINES,
    policies: str | Iterable[str] | None = None,
    block_sizes: str | int | Iterable[int] | None = None,
    *,
    progress: Progress = None,
    **options: Unpack[SensitivityOptions],
) -> SensitivityResult:
    """Says how much results depend on the order in which the threads of a program ran.

    A trace shows one interleaving; this simulates several and compares. On machines of today, which
    have a clock, threads wait for each other as in the program, whatever turns they took when they
    were recorded; with prices every reference is paid for in the order of the trace.

    Args:
        traces: recordings of one program, such as ``homenode record --repeat`` makes; or a single
            trace, of which other orders are made.
        machines: machines with prices, as for `homenode.simulate`, and of today (`spr-2s-lines`),
            as for `homenode.lines`.
        policies: of machines with prices, as for `homenode.simulate`; default: all made for them.
        block_sizes: of machines with prices, as for `homenode.simulate`; default: 4096. Machines
            of today have one of their own.
        progress: called with the work done and in all.
        options: see `SensitivityOptions`.

    Raises:
        ConfigError: when there are no traces, they differ in processors, or an option applies to
            none of the machines.
        TraceError: when a trace is damaged.

    Source: Bolosky, thesis, section 4.3, asks the question and answers it by perturbing traces.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0, 0, 1, 1], kind="W", address=64)
    >>> result = hn.sensitivity(trace, "prices:r=15,R=59", "optimal,first-touch", 64,
    ...                               reinterleave=4, quantum=1)
    >>> result.rows[0]["orders"], result.rows[0]["spread"]
    (5, 0.0)
    """
    given = [traces] if isinstance(traces, str | Trace | os.PathLike) else list(traces)
    turns = checked("sensitivity", options, "reinterleave", "quantum", "seed")
    count = turns.pop("reinterleave")
    replay: Any = part_of("simulate", options)
    if not given:
        raise ConfigError("no trace was given")
    if len(given) == 1 and count == 0:
        count = _ORDERS_MADE
    asked = {"policies": policies, "block_sizes": block_sizes, **replay}
    of_today, wanted = _machines(specs_of(machines, "machine"), asked)
    named = None if policies is None else specs_of(policies, "policy")
    matrix = (wanted, named, BLOCK_SIZE if block_sizes is None else block_sizes)
    opened = [trace if isinstance(trace, Trace) else Trace.open(trace) for trace in given]
    _check(opened, replay)
    watched = _Steps(progress, len(opened) * (1 + 2 * count))
    orders: list[dict[str, Any]] = []
    results: list[Result] = []
    timed: dict[str, list[LineResult]] = {name: [] for name in of_today}
    for name, trace in _all_orders(opened, count, turns, watched):
        step = watched.next()
        # An order made here is in a temporary file, whose name is of no use to the caller.
        for machine in of_today:
            found = lines(trace, machine=machine, progress=step, **part_of("lines", replay))
            found.provenance["trace"] = name
            timed[machine].append(found)
        if wanted:
            result = simulate(trace, *matrix, progress=step, **replay)
            result.provenance["trace"] = name
            results.append(result)
        orders.append(_describe(name, trace))
    rows, rankings = compare(results)
    notes = unique(note for result in results for note in result.provenance["notes"])
    programs = unique(str(trace.metadata["program"]) for trace in opened)
    if len(programs) > 1:
        notes.append(f"the traces are of different programs: {', '.join(programs)}")
    simulations: list[Any] = [result.provenance for result in results]
    simulations += [found.provenance for some in timed.values() for found in some]
    first: Any = results[0].configuration if results else timed[of_today[0]][0].configuration
    provenance = {
        "version": _core.version(),
        "notes": notes,
        "simulations": simulations,
    }
    configuration = {**first, "reinterleave": count, **turns}
    compared = SensitivityResult(rows, rankings, orders, configuration, provenance)
    compared.cycles = [_in_cycles(machine, found) for machine, found in timed.items()]
    return compared


def _machines(named: list[str], options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The machines of today, and those with prices.

    Raises:
        ConfigError: when a machine has neither, or an option applies to none.
    """
    of_today, wanted = machines_of_lines(named)
    if wanted and "policies" not in options_of(_core.engine_of(wanted)):
        raise ConfigError(
            f"machine {wanted[0]}: orders are compared on machines with prices of references, such "
            "as numa, and on those of today with a clock, such as spr-2s-lines"
        )
    refuse_words(of_today, options.get("word_bytes"))
    if not wanted:
        refuse_unused("sensitivity", of_today, options)
    return of_today, wanted


def _in_cycles(machine: str, found: Sequence[LineResult]) -> dict[str, Any]:
    """The effect of the order on a machine with a clock."""
    shares = [result.time["false_sharing_share"] or 0.0 for result in found]
    return {
        "machine": machine,
        "block_size": found[0].facts["block_size"],
        "protocol": found[0].facts["protocol"],
        **spread([float(result.time["cycles"]) for result in found]),
        "false_sharing_share": {"low": min(shares), "high": max(shares)},
    }


def _check(traces: Sequence[Trace], options: SimulateOptions) -> None:
    threads = unique(trace.threads for trace in traces)
    if len(threads) > 1 and options.get("processors") is None:
        raise ConfigError(
            f"the traces have {', '.join(str(n) for n in threads)} threads; costs can be compared "
            "on one number of processors only: give processors (--processors)"
        )


def _all_orders(
    traces: Sequence[Trace], count: int, turns: dict[str, int], watched: _Steps
) -> Iterator[tuple[str, Trace]]:
    """Each trace, then the orders made of it, with the name of the trace."""
    for trace in traces:
        name = str(trace.path)
        yield name, trace
        for i in range(count):
            made = transform(
                "reinterleave",
                trace,
                quantum=turns["quantum"],
                seed=turns["seed"] + i,
                progress=watched.next(),
            )
            yield name, made


def _describe(name: str, trace: Trace) -> dict[str, Any]:
    metadata = trace.metadata
    made = [step for step in metadata["provenance"] if step.startswith("transform reinterleave")]
    return {
        "trace": name,
        "order": metadata["order"],
        "made": made[-1].partition(" (")[0] if made else None,
        "references": trace.references,
        "checksum": trace.checksum,
    }


def compare(results: Sequence[Result]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Spreads and rankings of the same matrix simulated over several orders."""
    found: dict[tuple[str, int, str], list[float]] = {}
    for row in itertools.chain.from_iterable(results):
        cost = math.inf if row["mcpr"] is None else float(row["mcpr"])
        key = (row["machine"], row["block_size"], row["policy"])
        found.setdefault(key, []).append(cost)
    rows = [
        {"machine": machine, "block_size": size, "policy": policy, **spread(costs)}
        for (machine, size, policy), costs in found.items()
    ]
    points = unique((machine, size) for machine, size, _ in found)
    rankings = []
    for point in points:
        there = {key[2]: costs for key, costs in found.items() if key[:2] == point}
        rankings.append({"machine": point[0], "block_size": point[1], **ranking(there)})
    return rows, rankings


def spread(costs: Sequence[float]) -> dict[str, Any]:
    """Mean, extremes and relative spread of some costs; ``None`` where one is infinite.

    >>> spread([2.0, 3.0, 4.0])["spread"]
    0.6666666666666666
    """
    least, most = min(costs), max(costs)
    if not math.isfinite(most):
        names = ("mean", "min", "max", "deviation", "spread")
        return {"orders": len(costs), **dict.fromkeys(names)}
    mean = statistics.fmean(costs)
    return {
        "orders": len(costs),
        "mean": mean,
        "min": least,
        "max": most,
        "deviation": statistics.stdev(costs) if len(costs) > 1 else 0.0,
        "spread": (most - least) / mean if mean else 0.0,
    }


def ranking(costs: dict[str, list[float]]) -> dict[str, Any]:
    """Which policy is better in how many orders.

    Policies whose mean costs are equal have no order between them and do not count.

    >>> found = ranking({"a": [1.0, 3.0, 1.0], "b": [2.0, 2.0, 2.0], "c": [9.0, 9.0, 9.0]})
    >>> found["policies"], round(found["tau_min"], 3)
    (['a', 'b', 'c'], 0.333)
    >>> found["swaps"][0]["policies"], found["swaps"][0]["orders"]
    (['a', 'b'], 1)
    """
    finite = {name: values for name, values in costs.items() if all(map(math.isfinite, values))}
    means = {name: statistics.fmean(values) for name, values in finite.items()}
    ranked = sorted(means, key=lambda name: means[name])
    pairs = [
        (better, worse)
        for better, worse in itertools.combinations(ranked, 2)
        if means[better] < means[worse]
    ]
    count = len(next(iter(costs.values()), []))
    taus, swaps = [], []
    for i in range(count):
        signs = [_sign(finite[worse][i] - finite[better][i]) for better, worse in pairs]
        taus.append(sum(signs) / len(signs) if signs else 1.0)
    for better, worse in pairs:
        other = sum(b > w for b, w in zip(finite[better], finite[worse], strict=True))
        if other:
            apart = (means[worse] - means[better]) / means[better] if means[better] else None
            swaps.append({"policies": [better, worse], "orders": other, "apart": apart})
    return {
        "policies": ranked,
        "tau_mean": statistics.fmean(taus) if taus else 1.0,
        "tau_min": min(taus, default=1.0),
        "swaps": swaps,
    }


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


class _Steps:
    """One progress bar for several equal pieces of work."""

    _PIECE = 1000

    def __init__(self, progress: Progress, pieces: int) -> None:
        self._progress = progress
        self._total = pieces * self._PIECE
        self._begun = -1

    def next(self) -> Progress:
        """The progress of the next piece."""
        self._begun += 1
        if self._progress is None:
            return None
        begin, tell = self._begun * self._PIECE, self._progress

        def step(done: int, total: int | None) -> None:
            tell(begin + self._PIECE * done // max(total or done, done, 1), self._total)

        return step
