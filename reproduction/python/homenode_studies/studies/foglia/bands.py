"""The ranges of numbers due to the scheduler's seed and to open parameters of bus and scheduler.

Which process runs where is random, and the paper does not state for how long a fetch holds a
split-transaction bus, nor when affinity lets a process run elsewhere. A difference smaller than
that range is not a finding.
"""

from collections.abc import Sequence
from pathlib import Path

from homenode.options.specs import unique
from homenode_studies.studies.claims import TIE
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.draws import FIRST_SEED
from homenode_studies.studies.draws import SEEDS as USUAL_SEEDS
from homenode_studies.studies.foglia import EC, PAPER
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.matrix import (
    AFFINE,
    EXTENDED,
    PROTOCOLS,
    SERVER,
    SMALL_BLOCKS,
    Setting,
)
from homenode_studies.studies.foglia.runs import PAPERS, Machine, machine_for, on_machine
from homenode_studies.studies.foglia.tables import describe, label, printed_numbers, setting_of
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Row, Table

SEEDS = range(FIRST_SEED, FIRST_SEED + USUAL_SEEDS)
"""Seeds of the scheduler; all other tables use the first."""
_FOLDER = Path(__file__).parent


def _aging(name: str) -> Machine:
    return Machine(f"aging-{name}", str(_FOLDER / f"aging-{name}.toml"), 1)


HOLDS = {
    12: PAPERS,
    22: Machine("hold-22", str(_FOLDER / "hold-22.toml"), 1),
    68: Machine("hold-68", str(_FOLDER / "hold-68.toml"), 1),
}
"""Cycles for which a fetch of 32 bytes from memory holds the bus, and the machine."""
AGINGS = {
    "8 home-dispatches": PAPERS,
    "2 home-dispatches": _aging("home-2"),
    "8 slices-waited": _aging("waited-8"),
    "2 slices-behind": _aging("behind-2"),
    "8 dispatches": _aging("dispatches-8"),
}
"""What `aging` of the scheduler counts, and the machine."""
_OF_AGINGS = (
    AFFINE,
    SERVER,
    SERVER.changed(protocol=EXTENDED),
    SERVER.changed(processors=20),
    SERVER.changed(processors=20, protocol=EXTENDED),
)
"""The machines with affinity that are compared by it."""
_COMPARED = (SERVER, SERVER.changed(scheduler="random"))
"""The machines on which protocols are compared with several seeds."""
_SAME = "Affinity scheduling is deterministic, so all seeds have the same results."
_OF_HOLDS = (
    SMALL_BLOCKS.changed(processors=4, cache_size=128 << 10),
    SMALL_BLOCKS.changed(processors=4),
    SMALL_BLOCKS,
)
"""The machines with 32-byte blocks whose powers the text prints."""


def headlines() -> list[Setting]:
    """The machines whose power or bus utilisation the paper prints, and the protocols."""
    printed = [
        setting_of(row)
        for row in published(PAPER.name)["stated"]
        if row["quantity"] in {"gsp", "bus_utilisation"}
    ]
    names = (*PROTOCOLS, EXTENDED)
    compared = [base.changed(protocol=name) for base in _COMPARED for name in names]
    return unique([*printed, *compared])


def tables(context: StudyContext) -> list[Table]:
    """The bands of EC-server, if it is run and has fetches; the machines are the paper's."""
    program = next((program for program in context.programs if program.name == EC), None)
    if program is None:
        return []
    usual = machine_for(context.trace(program))
    if usual.stands_for > 1:
        return []
    by_seed = [on_machine(context, program, usual, headlines(), seed) for seed in SEEDS]
    by_hold = [on_machine(context, program, machine, _OF_HOLDS) for machine in HOLDS.values()]
    by_aging = [on_machine(context, program, machine, _OF_AGINGS) for machine in AGINGS.values()]
    of_seeds = {s: [found[s] for found in by_seed] for s in headlines()}
    of_holds = {s: [found[s] for found in by_hold] for s in _OF_HOLDS}
    of_agings = {s: [found[s] for found in by_aging] for s in _OF_AGINGS}
    return [seeds(of_seeds), protocols(of_seeds), holds(of_holds), agings(of_agings)]


def seeds(found: dict[Setting, list[Row]]) -> Table:
    """Powers and bus utilisation with several seeds."""
    powers, uses = printed_numbers("gsp"), printed_numbers("bus_utilisation")
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
        "Which process runs where is random. Other tables use the first seed. " + _SAME,
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
        "Each seed of one protocol compared with the same seed of the other. Less than 2 % is a "
        "tie. " + _SAME,
    )


def verdict(over: Sequence[float]) -> str:
    """The verdict on several ratios of one power to another.

    >>> verdict([1.01, 0.99]), verdict([1.03, 1.04]), verdict([0.9, 0.97]), verdict([0.9, 1.1])
    ('tie', 'more', 'less', 'undecided')
    """
    if all(abs(ratio - 1) < TIE for ratio in over):
        return "tie"
    if min(over) >= 1 + TIE:
        return "more"
    return "less" if max(over) <= 1 - TIE else "undecided"


def holds(found: dict[Setting, list[Row]]) -> Table:
    """Powers and bus utilisation by the cycles for which a fetch holds the bus."""
    powers, uses = printed_numbers("gsp"), printed_numbers("bus_utilisation")
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
        "The paper does not state them. 12 is the request and the data, 68 the whole fetch; 22 "
        "follows from its powers, miss rates and bus utilisations, including all traffic.",
    )


def agings(found: dict[Setting, list[Row]]) -> Table:
    """Powers and migrations by what lets a process run elsewhere under affinity."""
    rows: list[Row] = []
    for setting, of_agings in found.items():
        for quantity, value in (
            ("power", m.gsp),
            ("migrations for a million references", m.migrations),
        ):
            row: Row = {"machine": describe(setting), "quantity": quantity}
            rows.append(row | {name: value(r) for name, r in zip(AGINGS, of_agings, strict=True)})
    return Table(
        "bands-of-aging",
        "power and migrations with affinity, by what lets a ready process run elsewhere",
        rows,
        "The paper does not state it. A process may leave the processor on which it ran last when "
        "that has taken N others meanwhile (home-dispatches), when it has been ready for N slices, "
        "when it has run N slices less than the process preferred to it, or when all processors "
        "together have taken N later ones (dispatches). The first column is that of all other "
        "tables. The last ages the faster, the more processors have a single process.",
    )
