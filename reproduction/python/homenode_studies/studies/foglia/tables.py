"""Tables 1 to 5, the numbers in the text, and our additions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from homenode.engines.simulation import simulate
from homenode.trace import Trace
from homenode_studies.studies.foglia import EC, PAPER, footprints
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.matrix import CURVES, OTHERS, PROTOCOLS, SERVER, Setting
from homenode_studies.studies.foglia.runs import Runs
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Missing, Row, Table

_UTILITY = ("distinct_blocks", "code", "data_access", "data_write")
_KINDS = {
    "Invalidate transaction": "invalidate",
    "Write transaction": "write",
    "Memory-to-cache read-block transaction": "read_block_memory",
    "Memory-to-cache read-and-invalidate-block transaction": "read_invalidate_memory",
    "Cache-to-cache read-block transaction": "read_block_cache",
    "Cache-to-cache read-and-invalidate-block transaction": "read_invalidate_cache",
    "Update-block transaction": "update_block",
}
QUANTITIES: Mapping[str, Callable[[Row], float]] = {
    "gsp": m.gsp,
    "bus_utilisation": lambda row: 100 * m.bus(row),
    "miss_rate": m.misses,
    "invalidation_share": lambda row: 100 * m.invalidation_share(row),
}
"""The quantities for which the text states numbers, in its units."""


def of_traces(rows: list[Row]) -> list[Table]:
    """Tables 1 to 3."""
    note = (
        "Percentages are of all references, including those of the kernel, or, for traces without "
        "fetches, of four times the data references. A block of data is shared if several of the "
        "processes reference it, unless it belongs to the kernel's data of one processor; written "
        "shared blocks are those that need coherence."
    )
    utilities = [
        {"application": name} | {column: found[column] for column in (*_UTILITY, "kernel")}
        for name in footprints.UTILITIES
        if (found := _shares(rows, EC, name))
    ]
    servers = [
        {"workload": f"{name} ({workload})" if name != "Apache" else name, **found}
        for workload, name in footprints.OF_TABLE_2
        if (found := _shares(rows, workload, name))
    ]
    workloads = [
        {"workload": workload, **found}
        for workload in footprints.OF_TABLE_3
        if (found := _shares(rows, workload, footprints.ALL))
    ]
    users = [
        {"workload": workload, **found}
        for workload in footprints.OF_TABLE_3
        if (found := _shares(rows, workload, footprints.ALL, kernel=False))
    ]
    made = [
        Table("table-1", "statistics of the utilities, 32-byte blocks", utilities, note),
        Table("table-2", "statistics of the servers' processes, 32-byte blocks", servers, note),
        Table("table-3", "statistics of the workloads, 32-byte blocks", workloads, note),
        Table(
            "table-3-user",
            "the same without the kernel's references",
            users,
            "Beyond the paper: the footprints and sharing of the workloads' processes alone.",
        ),
    ]
    return [table for table in made if table.rows]


def _shares(rows: list[Row], workload: str, name: str, *, kernel: bool = True) -> Row | None:
    found = footprints.row_of(rows, workload, name, kernel=kernel)
    return None if found is None else footprints.shares(found)


def timing(blocks: Sequence[int]) -> Table:
    """Table 4, from the machine of the simulations: one processor reads one word."""
    trace = Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    points = [{"protocol": "mesi", "block_size": block, "processors": 1} for block in blocks]
    first = simulate(trace, points=points)
    cycles = {m["block_size"]: m["transactions"] for m in first.provenance["machines"]}
    operation = {str(block): first.rows[0]["busy_cycles"] for block in blocks}
    rows: list[Row] = [{"class": "CPU", "parameter": "Read/Write operation", **operation}]
    for name, kind in _KINDS.items():
        costs = {str(block): cycles[block][kind] for block in blocks}
        rows.append({"class": "Bus", "parameter": name, **costs})
    return Table("table-4", "cycles of the processor and of the bus, by block size", rows)


def differences(ours: Sequence[Row]) -> list[str]:
    """Entries of table 4 that differ from the printed ones."""
    theirs = {row["parameter"]: row for row in published(PAPER.name)["table-4"]}
    return [
        f"{row['parameter']}, {name} bytes"
        for row in ours
        for name, value in row.items()
        if name.isdigit() and theirs[row["parameter"]][name] != value
    ]


def scalability(runs: Runs) -> Table:
    """Table 5: power, bus utilisation and scalability of its five machines."""
    rows = []
    for printed in published(PAPER.name)["table-5"]:
        setting = setting_of(printed)
        row: Row = {
            "section": str(printed["section"]),
            "processors": setting.processors,
            "block_size": setting.block_size,
            "scheduling": setting.scheduler,
            "protocol": setting.protocol,
        }
        found = runs.at(EC, setting)
        row |= {"gsp": m.gsp(found), "bus_utilisation": 100 * m.bus(found)}
        row["processors_max"], row["gsp_max"] = m.scalability(runs, EC, setting)
        rows.append(row)
    return Table(
        "table-5",
        "power and scalability of several machines, EC-server, 2 MB caches of two ways",
        rows,
        "Scalability is the largest simulated number of processors up to which each additional one "
        "gains at least 0.5 of power; power is interpolated linearly between two numbers.",
    )


def setting_of(printed: Row) -> Setting:
    """The machine of a printed row of table 5, or of a number in the text."""
    return Setting(
        protocol=printed["protocol"],
        processors=int(printed["processors"]),
        cache_size=int(printed["cache_size"]),
        block_size=int(printed["block_size"]),
        associativity=2,
        scheduler=printed.get("scheduling") or printed["scheduler"],
    )


def printed_numbers(quantity: str) -> dict[Setting, float]:
    """The numbers in the text for each machine; the first of two that differ."""
    found: dict[Setting, float] = {}
    for row in published(PAPER.name)["stated"]:
        if row["quantity"] == quantity:
            found.setdefault(setting_of(row), float(row["value"]))
    return found


def stated(runs: Runs) -> Table:
    """Every number in the text about the figures, and ours."""
    rows = []
    for printed in published(PAPER.name)["stated"]:
        setting = setting_of(printed)
        row = {name: printed[name] for name in ("section", "words", "quantity")}
        row |= {"machine": describe(setting), "paper": printed["value"]}
        row["ours"] = _value(runs, printed["quantity"], setting)
        rows.append(row)
    return Table("stated", "numbers in the text, and ours", rows)


def _value(runs: Runs, quantity: str, setting: Setting) -> float:
    if quantity in QUANTITIES:
        return QUANTITIES[quantity](runs.at(EC, setting))
    limit, power = m.scalability(runs, EC, setting)
    return limit if quantity == "processors_max" else power


def describe(setting: Setting) -> str:
    """A machine in a few words.

    >>> describe(Setting(processors=4, block_size=32))
    'MESI, 4 processors, 2 MB, 32 B, random'
    """
    size = setting.cache_size >> 10
    cache = f"{size >> 10} MB" if size >= 1 << 10 else f"{size} KB"
    return (
        f"{label(setting.protocol)}, {setting.processors} processors, {cache}, "
        f"{setting.block_size} B, {setting.scheduler}"
    )


def label(protocol: str) -> str:
    """A protocol as figures name it.

    >>> label("mesi"), label("pscr:private_kernel=yes"), label("dragon")
    ('MESI', 'PSCR+kernel', 'Dragon')
    """
    if ":" in protocol:
        return "PSCR+kernel"
    return protocol.capitalize() if protocol == "dragon" else protocol.upper()


def protocols(runs: Runs) -> Table:
    """Beyond the paper: all protocols on the machine of figures 19 to 22."""
    rows = []
    for workload in runs.workloads():
        for protocol in (*PROTOCOLS, *OTHERS):
            found = runs.at(workload, SERVER.changed(protocol=protocol))
            row: dict[str, Any] = {"workload": workload, "protocol": label(protocol)}
            row |= {"gsp": m.gsp(found), "bus_utilisation": 100 * m.bus(found)}
            row |= {
                "miss_rate": m.misses(found),
                "invalidation_misses": m.invalidations(found),
                "coherence_transactions": m.coherence(found),
                "from_memory": found["transactions_read_block_memory"]
                + found["transactions_read_invalidate_memory"],
                "from_caches": found["transactions_read_block_cache"]
                + found["transactions_read_invalidate_cache"],
                "written_back": found["transactions_update_block"],
            }
            rows.append(row)
    return Table(
        "protocols",
        "beyond the paper: six protocols, 16 processors, affinity, 2 MB, 128-byte blocks",
        rows,
        "PSCR+kernel treats kernel structures of one process as its private area, which sections 2 "
        "and 5.2.2 propose. Rates are percentages of the references.",
    )


def curves(runs: Runs) -> list[Row]:
    """The power of table 5's machines with every number of processors that was simulated.

    Raises:
        Missing: when EC-server was not run.
    """
    if EC not in runs.workloads():
        raise Missing(f"needs {EC}")
    return [
        {"series": name, "x": int(row["processors"]), "y": m.gsp(row)}
        for name, base in CURVES
        for row in runs.curve(EC, base)
    ]
