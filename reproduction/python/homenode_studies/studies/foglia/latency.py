"""The delay of processors by memory latency, their idle time, and their writes by kind of page.

The paper prints powers and miss rates of the same machine, from which the delay of a miss follows;
it prints neither idle time nor writes by kind of page.
"""

from homenode_studies.studies.foglia import EC
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.matrix import (
    BLOCKS,
    EXTENDED,
    FEW,
    MANY,
    SCHEDULERS,
    SERVER,
    SMALL_BLOCKS,
    Setting,
)
from homenode_studies.studies.foglia.runs import Runs
from homenode_studies.studies.foglia.tables import describe, label, printed_numbers
from homenode_studies.studies.tables import Row, Table

BUSY_UP_TO = 20
"""The number of processors up to which 26 processes should leave none idle."""
IDLE_MOST = 2.0
"""The percentage of cycles for which processors may be idle up to that number."""


def delays(runs: Runs) -> Table:
    """Delay per miss, compared with that from the paper's numbers."""
    printed = _printed()
    machines = [SMALL_BLOCKS.changed(processors=n) for n in FEW]
    machines += [Setting(block_size=block) for block in BLOCKS[1:]]
    rows: list[Row] = []
    for setting in machines:
        found = runs.at(EC, setting)
        row: Row = {"machine": describe(setting)}
        row |= {"gsp": m.gsp(found), "miss_rate": m.misses(found)}
        row |= {"ours": m.delay_per_miss(found), "paper": printed.get(setting)}
        rows.append(row)
    return Table(
        "delay-per-miss",
        "cycles for which a miss delays its processor, EC-server",
        rows,
        "2 (N / power - 1) / miss rate: a reference takes 2 cycles (table 4), and power is the sum "
        "of busy / (busy + delay) over N processors. The paper's values follow from its own powers "
        "and miss rates, where it prints both. Memory takes 68, 72, 80 and 96 cycles with blocks "
        "of 32 to 256 bytes, without any wait for the bus.",
    )


def _printed() -> dict[Setting, float]:
    """The delay per miss of machines whose power and miss rate the text states."""
    powers, rates = printed_numbers("gsp"), printed_numbers("miss_rate")
    return {
        setting: m.delay_of(setting.processors, power, rates[setting])
        for setting, power in powers.items()
        if setting in rates
    }


def idle(runs: Runs) -> Table:
    """The idle share of every point."""
    rows: list[Row] = [
        {
            "workload": row["workload"],
            "machine": describe(Setting.of(row)),
            "ways": row["associativity"],
            "idle_percent": 100 * m.idle(row),
        }
        for row in runs.rows
    ]
    return Table(
        "idle",
        "processors without a process, in percent of their cycles, at every point",
        rows,
        "Processes restart when they end, until each has done its share, so there are "
        "always 26. The remaining idle time is between two processes, and at the end, when no more "
        "references begin.",
    )


def sentence(runs: Runs) -> str:
    """The note on idle processors."""
    few = [m.idle(row) for row in runs.rows if row["processors"] <= BUSY_UP_TO]
    all_ = [m.idle(row) for row in runs.rows]
    most, verdict = 100 * max(few), "under"
    if most >= IDLE_MOST:
        verdict = "**not** under"
    return (
        f"Processors are without a process for at most {most:.2g} % of their cycles at any point "
        f"of up to {BUSY_UP_TO} processors, {verdict} the limit of {IDLE_MOST:.0f} %, and "
        f"{100 * max(all_):.2g} % at any point (table of idle processors): processes restart, as "
        "the paper's applications run in a continuous and cyclical way, and a run ends when each "
        "process has made all of its references or as many as they have on average."
    )


def origins(runs: Runs) -> Table:
    """Coherence transactions of MESI, PSCR and its extension by kind of page."""
    protocols = ("mesi", "pscr", EXTENDED)
    points = [
        (workload, SERVER.changed(protocol=name))
        for workload in runs.workloads()
        for name in protocols
    ]
    if EC in runs.workloads():
        points += [
            (EC, Setting(name, n, scheduler=policy))
            for n in MANY
            for policy in SCHEDULERS
            for name in protocols
        ]
    rows: list[Row] = []
    for workload, setting in dict.fromkeys(points):
        found = runs.at(workload, setting)
        row: Row = {"workload": workload, "protocol": label(setting.protocol)}
        row |= {"processors": setting.processors, "scheduling": setting.scheduler}
        row |= {"transactions": m.coherence(found), "passive": m.coherence(found, "passive")}
        row |= {origin: m.writes_of(found, origin) for origin in m.ORIGINS}
        rows.append(row | {"gsp": m.gsp(found)})
    return Table(
        "writes-by-origin",
        "write and invalidate transactions for 100 references, by the kind of page",
        rows,
        "A kernel page is one that only the kernel references, for one process, mainly its stack. "
        "A user page is a private area of a process, even if others reference it. The area of a "
        "processor is the kernel's. PSCR treats user pages as private areas, its extension "
        "(private_kernel=yes) also kernel pages. In the paper all writes to shared data are 0.54 "
        "of 100 references (table 3, EC-server).",
    )
