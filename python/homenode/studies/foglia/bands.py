"""What the seed of the scheduler, and what the paper does not say of its bus, do to the numbers.

Who runs where is left to chance, and for how long a fetch holds a bus that splits transactions is
not printed. A number that moves by more than what it differs from another tells nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.engines.bus import simulate_bus
from homenode.options.specs import unique
from homenode.studies.cache import ResultCache
from homenode.studies.foglia import EC, PAPER
from homenode.studies.foglia import measures as m
from homenode.studies.foglia.matrix import EXTENDED, PROTOCOLS, SERVER, SMALL_BLOCKS
from homenode.studies.foglia.runs import RESTART, machine_for
from homenode.studies.foglia.tables import describe, label, setting_of
from homenode.studies.published import tables as published
from homenode.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.studies.context import StudyContext
    from homenode.studies.foglia.matrix import Setting
    from homenode.studies.tables import Row

SEEDS = (1, 2, 3, 4, 5)
"""Of the scheduler; the first is that of all other tables."""
TIE = 0.02
"""What is closer than this is as good."""
_FOLDER = Path(__file__).parent
HOLDS = {12: "bus-smp", 22: str(_FOLDER / "hold-22.toml"), 68: str(_FOLDER / "hold-68.toml")}
"""Cycles for which a fetch from memory of 32 bytes holds the bus, and the machine."""
_COMPARED = (SERVER, SERVER.changed(scheduler="random"))
"""The machines on which protocols are compared with several seeds."""
_SAME = "Scheduling by affinity leaves nothing to chance, so that all seeds have the same results."
_OF_HOLDS = (
    SMALL_BLOCKS.changed(processors=4, cache_size=128 << 10),
    SMALL_BLOCKS.changed(processors=4),
    SMALL_BLOCKS,
)
"""The machines with 32-byte blocks of which the text prints powers."""


def headlines() -> list[Setting]:
    """The machines of which the paper prints a power or the use of the bus, and the protocols."""
    printed = [
        setting_of(row)
        for row in published(PAPER.name)["stated"]
        if row["quantity"] in {"gsp", "bus_utilisation"}
    ]
    names = (*PROTOCOLS, EXTENDED)
    compared = [base.changed(protocol=name) for base in _COMPARED for name in names]
    return unique([*printed, *compared])


def tables(context: StudyContext) -> list[Table]:
    """The bands of EC-server, where it is run and has fetches: the machines are the paper's."""
    program = next((program for program in context.programs if program.name == EC), None)
    if program is None:
        return []
    trace = context.trace(program)
    if machine_for(trace).stands_for > 1:
        return []
    cached = ResultCache(context.folder, trace)
    wanted = [({"machine": "bus-smp"}, seed, headlines()) for seed in SEEDS]
    wanted += [({"machine": spec}, 1, list(_OF_HOLDS)) for spec in HOLDS.values()]
    for machine, seed, settings in wanted:
        new = [s for s in settings if cached.get(_question(machine, seed, s)) is None]
        if not new:
            continue
        with context.watch(f"simulating {EC} with seed {seed}, {len(new)} configurations") as step:
            points = [{**machine, **setting.point()} for setting in new]
            found = simulate_bus(trace, points=points, restart=RESTART, seed=seed, progress=step)
        for setting, row in zip(new, found.flat_rows(), strict=True):
            kept = {"gsp": row["gsp"], "bus_utilisation": row["bus_utilisation"]}
            cached.put(_question(machine, seed, setting), kept)
        cached.save()

    def found_of(spec: str, seed: int, setting: Setting) -> Row:
        row: Row = cached.get(_question({"machine": spec}, seed, setting))
        return row

    of_seeds = {s: [found_of("bus-smp", seed, s) for seed in SEEDS] for s in headlines()}
    of_holds = {s: [found_of(spec, 1, s) for spec in HOLDS.values()] for s in _OF_HOLDS}
    return [seeds(of_seeds), protocols(of_seeds), holds(of_holds)]


def _question(machine: dict[str, str], seed: int, setting: Setting) -> dict[str, Any]:
    """What is asked of the trace, wherever the machine's file lies."""
    spec = Path(machine["machine"])
    digest = hashlib.sha256(spec.read_bytes()).hexdigest()[:16] if spec.suffix else ""
    return {"band": spec.stem, "digest": digest, "seed": seed, "restart": RESTART} | setting.point()


def _printed(quantity: str) -> dict[Setting, float]:
    """What the text prints of each machine; the first of two numbers that differ."""
    found: dict[Setting, float] = {}
    for row in published(PAPER.name)["stated"]:
        if row["quantity"] == quantity:
            found.setdefault(setting_of(row), float(row["value"]))
    return found


def seeds(found: dict[Setting, list[Row]]) -> Table:
    """Powers and use of the bus with several seeds."""
    powers, uses = _printed("gsp"), _printed("bus_utilisation")
    rows: list[Row] = []
    for setting, of_seeds in found.items():
        gsp = [m.gsp(row) for row in of_seeds]
        bus = [100 * m.bus(row) for row in of_seeds]
        row: Row = {"machine": describe(setting)}
        row |= {"gsp_paper": powers.get(setting), "gsp_least": min(gsp), "gsp_most": max(gsp)}
        row |= {"bus_paper": uses.get(setting), "bus_least": min(bus), "bus_most": max(bus)}
        rows.append(row)
    return Table(
        "bands-of-seeds",
        f"power and bus utilisation with {len(SEEDS)} seeds of the scheduler, EC-server",
        rows,
        "Who runs where is left to chance. Other tables and the claims are of the first seed. "
        + _SAME,
    )


def protocols(found: dict[Setting, list[Row]]) -> Table:
    """The power of each protocol over that of MESI with several seeds."""
    rows: list[Row] = []
    for base in _COMPARED:
        for protocol in (*PROTOCOLS[1:], EXTENDED):
            pairs = zip(found[base.changed(protocol=protocol)], found[base], strict=True)
            over = [m.gsp(one) / m.gsp(other) for one, other in pairs]
            row: Row = {"scheduling": base.scheduler, "protocol": label(protocol)}
            rows.append(row | {"least": min(over), "most": max(over), "verdict": verdict(over)})
    return Table(
        "bands-of-protocols",
        f"power over that of MESI with {len(SEEDS)} seeds: EC-server, 16 processors, 2 MB, 128 B",
        rows,
        "Each seed of one protocol against the same seed of the other. Under 2 % is a tie. "
        + _SAME,
    )


def verdict(over: Sequence[float]) -> str:
    """What several ratios of one power to another say.

    >>> verdict([1.01, 0.99]), verdict([1.03, 1.04]), verdict([0.9, 0.97]), verdict([0.9, 1.1])
    ('tie', 'more', 'less', 'undecided')
    """
    if all(abs(ratio - 1) < TIE for ratio in over):
        return "tie"
    if min(over) >= 1 + TIE:
        return "more"
    return "less" if max(over) <= 1 - TIE else "undecided"


def holds(found: dict[Setting, list[Row]]) -> Table:
    """Powers and use of the bus by how long a fetch holds the bus."""
    powers, uses = _printed("gsp"), _printed("bus_utilisation")
    rows: list[Row] = []
    for setting, of_holds in found.items():
        for quantity, printed, value in (
            ("power", powers, m.gsp),
            ("bus utilisation, %", uses, lambda row: 100 * m.bus(row)),
        ):
            row: Row = {"machine": describe(setting), "quantity": quantity}
            row["paper"] = printed.get(setting)
            rows.append(
                row | {f"{h} cycles": value(r) for h, r in zip(HOLDS, of_holds, strict=True)}
            )
    return Table(
        "bands-of-holds",
        "power and bus utilisation by the cycles for which a fetch of 32 bytes holds the bus",
        rows,
        "The paper does not state them. 12 is the request and the data, 68 the whole fetch; 22 is "
        "what its powers, miss rates and uses of the bus come to, all traffic included.",
    )
