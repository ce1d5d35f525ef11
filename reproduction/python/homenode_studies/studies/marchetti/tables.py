"""Table 1, the data of the figures, and our additions: homes, the optimum, variations."""

from collections.abc import Sequence

from homenode.engines.simulation import simulate
from homenode.trace import Trace
from homenode_studies.studies.marchetti import HARDWARE, ONE_TRIP, PAPER, SOFTWARE
from homenode_studies.studies.marchetti import measures as m
from homenode_studies.studies.marchetti import offline as best
from homenode_studies.studies.marchetti.claims_policies import FAST, replicated
from homenode_studies.studies.marchetti.matrix import (
    ALLOCATOR,
    BLOCKS,
    HOMES,
    MESH,
    NONE,
    OPTIMUM,
    PAPER_CASE,
    STATIC,
    TWO_CYCLES,
    VARIATIONS,
    WITH,
    WITHOUT,
    Setting,
)
from homenode_studies.studies.marchetti.runs import Runs
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.settings import parameters
from homenode_studies.studies.tables import Row, Table

LABELS = {HARDWARE: "hardware", SOFTWARE: "software"}
_ON_LINE = tuple(home for home in HOMES if home not in (STATIC, OPTIMUM))
_HUNDRED = 100


def machine() -> Table:
    """Table 1, from the machine of the simulations."""
    trace = Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    result = simulate(trace, machines=MESH, homes=WITHOUT)
    rows = parameters(result, "model", published(PAPER.name)["table-1"])
    note = "Parameters of the machine dash-mesh; its file has those that the paper does not give."
    return Table("table-1", "default values of the machine", rows, note)


def times(runs: Runs) -> Table:
    """The data of figures 1 to 3."""
    rows = []
    for program in runs.programs():
        for protocol in runs.protocols():
            first = m.cycles(runs.at(program, PAPER_CASE))
            for home in (WITHOUT, WITH):
                found = runs.at(program, Setting(protocol=protocol, home=home))
                row: Row = {"program": program, "coherence": LABELS[protocol], "homes": home}
                row |= {"cycles": found["cycles"], "relative": m.cycles(found) / first}
                row |= {name: _HUNDRED * m.part(found, name) for name in m.PARTS}
                rows.append(row | _fills(found))
    return Table(
        "times",
        "time, use of processors, and fills, without and with placement",
        rows,
        "Relative to hardware without placement. Parts of the processors' cycles, rates, local "
        "fills and local write-backs in percent; distance in links per message between nodes.",
    )


def _fills(found: Row) -> Row:
    return {
        "miss_rate": _HUNDRED * m.miss_rate(found),
        "false_sharing": _HUNDRED * m.false_misses(found),
        "local_fills": _HUNDRED * m.local_fills(found),
        "local_write_backs": _percent(found["local_write_back_share"]),
        "fill_cycles": m.fill_time(found),
        "distance": m.distance(found),
        "pages_moved": found["pages_moved"],
        "page_faults": found["page_faults"],
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else _HUNDRED * share


def blocks(runs: Runs) -> Table:
    """The data of figure 4, and the same in software."""
    rows = []
    for program in runs.programs():
        for protocol in runs.protocols():
            for block in BLOCKS:
                base = PAPER_CASE.changed(protocol=protocol, block_size=block)
                row: Row = {"program": program, "coherence": LABELS[protocol]}
                rows.append(row | {"block_size": block} | _with_blocks(runs, program, base))
    return Table(
        "blocks",
        "block sizes",
        rows,
        "Without placement; the last three columns with it, and its time in percent of that "
        "without.",
    )


def _with_blocks(runs: Runs, program: str, base: Setting) -> Row:
    found, placed = runs.at(program, base), runs.at(program, base.changed(home=WITH))
    return {
        "cycles": found["cycles"],
        "miss_rate": _HUNDRED * m.miss_rate(found),
        "false_sharing": _HUNDRED * m.false_misses(found),
        "fill_cycles": m.fill_time(found),
        "fill_cycles_placed": m.fill_time(placed),
        "local_fills_placed": _HUNDRED * m.local_fills(placed),
        "relative": _HUNDRED * m.changed(runs, program, m.cycles, base),
    }


def homes(runs: Runs) -> Table:
    """Beyond the paper: every policy of homes."""
    rows = []
    for program in runs.programs():
        least = m.cycles(runs.at(program, Setting(home=OPTIMUM)))
        for home in HOMES:
            found = runs.at(program, Setting(home=home))
            row: Row = {"program": program, "homes": home, "cycles": found["cycles"]}
            row["of_optimal_static"] = m.cycles(found) / least
            row |= _fills(found)
            row["memory_use"] = _HUNDRED * float(found["memory_utilisation"])
            rows.append(row)
    return Table(
        "homes",
        "beyond the paper: every policy of homes, in hardware",
        rows,
        "optimal-static takes for each page the node for which the fills and write-backs of a "
        "first run take the fewest cycles without contention; it ignores that memories and links "
        "serve one access at a time, so it need not have the least time.",
    )


def allocating(runs: Runs, beside: Runs) -> Table:
    """Homes as on Alewife, beside those of DASH and the paper's."""
    rows = []
    for program in runs.programs():
        first = m.cycles(runs.at(program, PAPER_CASE))
        for home, of in ((WITHOUT, runs), (WITH, runs), (ALLOCATOR, beside)):
            found = of.at(program, PAPER_CASE.changed(home=home))
            row: Row = {"program": program, "homes": home, "cycles": found["cycles"]}
            rows.append(row | {"relative": m.cycles(found) / first} | _fills(found))
    return Table(
        "allocator",
        "pages at the processor that allocates them, as on Alewife, in hardware",
        rows,
        "The paper's introduction names this placement and does not measure it. Relative to "
        "round-robin. These programs allocate their data in the main thread, before the others "
        "begin: all of the data have one home.",
    )


def one_trip(runs: Runs, beside: Runs) -> list[Table]:
    """Software with releases of one trip, if coherence in software was simulated."""
    if SOFTWARE not in runs.protocols():
        return []
    rows = []
    for program in runs.programs():
        for home in (WITHOUT, WITH):
            hardware = m.cycles(runs.at(program, Setting(home=home)))
            row: Row = {"program": program, "homes": home}
            for protocol, of in ((SOFTWARE, runs), (ONE_TRIP, beside)):
                found = of.at(program, Setting(protocol=protocol, home=home))
                row[f"{protocol}_cycles"] = found["cycles"]
                row[f"{protocol}_over_hardware"] = m.cycles(found) / hardware
            rows.append(row)
    return [
        Table(
            "one-trip",
            "software whose releases tell home together with the write-backs",
            rows,
            "Time over that of hardware with the same homes. Under lrc a release waits for the "
            "acknowledgements of its write-backs before it tells home; under lrc-one-trip, an "
            "experiment of ours, it does both at once, and home waits for the words.",
        )
    ]


def optimum(runs: Runs, offline: Sequence[Row]) -> Table:
    """Beyond the paper: the best that placement could do."""
    local = {(row["program"], row["of"], row["policy"]): row["local"] for row in offline}
    rows = []
    for program in runs.programs():
        row: Row = {"program": program}
        for home in (WITHOUT, WITH, STATIC, OPTIMUM):
            share = m.local_fills(runs.at(program, Setting(home=home)))
            row[f"fills_{home}"] = _HUNDRED * share
        for of, said in ((best.FILLS, "best_fills"), (best.ALL, "best_references")):
            for policy in (best.BEST, best.UNCOPIED, best.OPTIMAL):
                row[f"{said}_{policy}"] = _percent(local.get((program, of, policy)))
        rows.append(row)
    return Table(
        "optimum",
        "beyond the paper: local fills, and the best local share in hindsight, in percent",
        rows,
        "The first columns are fills of the simulated machine. The others are from the placement "
        "engine on the same trace, with pages of 4 KB: best_fills for the misses of a cache of 16 "
        f"KB, with prices {best.LIKE_MESH} as on the mesh; best_references for all references on "
        "its machine numa. It moves pages at any time (optimal-no-replication) and copies them "
        "(optimal), knows everything in advance, and ignores that another processor's write "
        "removes a block from a cache.",
    )


def advice(runs: Runs) -> Table:
    """Beyond the paper: programs that gain from another policy of homes, or copies of pages."""
    rows = []
    for program in runs.programs():
        times = {home: m.cycles(runs.at(program, Setting(home=home))) for home in HOMES}
        row: Row = {"program": program, "paper": WITH}
        for said, choice in (("best", _ON_LINE), ("best_in_hindsight", HOMES)):
            # The paper's policy, if no other takes less time.
            best_home = min(choice, key=lambda home: (times[home], home != WITH))
            row |= {
                said: best_home,
                f"{said}_gains": _HUNDRED * (1 - times[best_home] / times[WITH]),
            }
        if SOFTWARE in runs.protocols():
            copies = {NONE: 1.0, **replicated(runs, program)}
            kind = min(copies, key=lambda kind: copies[kind])
            row |= {"replication": kind, "replication_gains": _HUNDRED * (1 - copies[kind])}
        rows.append(row)
    return Table(
        "advice",
        "beyond the paper: the homes that we recommend",
        rows,
        "The paper recommends first-use without replication for all. Gains are percentages of the "
        "time with these: from homes in hardware, from replication in software with one cycle per "
        "word everywhere. In hindsight: also homes that follow from a first run.",
    )


def variations(runs: Runs) -> Table:
    """The gain from placement on other machines."""
    rows = []
    for program in runs.programs():
        for name, base in VARIATIONS.items():
            if not runs.has(program, base):
                continue
            found, placed = runs.at(program, base), runs.at(program, base.changed(home=WITH))
            rows.append(
                {
                    "program": program,
                    "machine": name,
                    "cycles": found["cycles"],
                    "gain": _HUNDRED * m.gain(runs, program, base),
                    "miss_rate": _HUNDRED * m.miss_rate(found),
                    "local_fills": _HUNDRED * m.local_fills(placed),
                    "fill_cycles": m.fill_time(found),
                    "fill_cycles_placed": m.fill_time(placed),
                }
            )
    return Table(
        "variations",
        "gain from placement on other machines, in hardware",
        rows,
        "Gain, misses and local fills (with placement) in percent. Only references: instructions "
        "between them take no time.",
    )


def flits(runs: Runs) -> Table:
    """The gain from placement under both readings of table 1's network."""
    rows = []
    for program in runs.programs():
        for protocol in runs.protocols():
            bases = {
                said: Setting(protocol=protocol, machine=machine)
                for said, machine in (("", MESH), ("_two_cycles", TWO_CYCLES))
            }
            if not all(runs.has(program, base) for base in bases.values()):
                continue
            row: Row = {"program": program, "coherence": LABELS[protocol]}
            for name, value in (("gain", m.cycles), ("fill_shorter", m.fill_time)):
                for said, base in bases.items():
                    row[name + said] = _HUNDRED * (1 - m.changed(runs, program, value, base))
            rows.append(row)
    return Table(
        "flits",
        "what placement gains if links take 16 bits a cycle, and 16 bits per 2 cycles",
        rows,
        "By how much placement reduces the time, and the mean time of a fill, in percent. The "
        "paper has paths of 16 bits and a link latency of 2 cycles, and no bandwidth of links. "
        "Claims are judged with 16 bits a cycle.",
    )


def versions(runs: Runs) -> Table:
    """Other versions of the programs, in what the paper leaves open."""
    rows = []
    for program in runs.programs():
        for protocol in runs.protocols():
            base = Setting(protocol=protocol)
            row: Row = {"version": program, "coherence": LABELS[protocol]}
            row["gain"] = _HUNDRED * m.gain(runs, program, base)
            row |= _fills(runs.at(program, base.changed(home=WITH)))
            rows.append(row)
    return Table(
        "versions",
        "other versions of programs, without and with placement",
        rows,
        "The gain of placement in percent; the other columns with placement, as in times.",
    )


def replication(runs: Runs) -> list[Table]:
    """The data of figure 5, if coherence in software was simulated."""
    if SOFTWARE not in runs.protocols():
        return []
    rows = []
    for program in runs.programs():
        for kind, relative in replicated(runs, program).items():
            found = runs.at(program, FAST.changed(replication=kind))
            row: Row = {"program": program, "replication": kind, "relative": relative}
            row |= {n: found.get(n) for n in ("pages_replicated", "replicas_dropped")}
            row["local_fills"] = _HUNDRED * m.local_fills(found)
            rows.append(row)
    note = (
        "Time relative to first-use without replication; one cycle per word everywhere. A policy "
        "that the engine could not simulate has no row; the provenance has its message."
    )
    return [Table("replication", "replication of pages, in software", rows, note)]
