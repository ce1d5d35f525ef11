"""TLB miss rates against page size, for chapter 6 and the appendix."""

from collections.abc import Sequence

from homenode.engines.tlb import tlb
from homenode.options.tables import core_table
from homenode_studies.studies.cache import kept
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.tables import Axis, Figure, Points, Row, Table

PAGE_SIZES = tuple(128 << i for i in range(7))
_SMALL, _USUAL = 128, 4096


def designs() -> list[str]:
    """The TLBs of section 6.3.2."""
    return [row["name"] for row in core_table("tlbs")]


def miss_rates(context: StudyContext) -> list[Row]:
    """Misses of every TLB at every page size, for every program."""
    rows: list[Row] = []
    for program in context.programs:
        trace = context.trace(program)
        with context.watch(f"TLBs of {program.name}") as step:
            found = kept(context.folder, tlb, trace, designs(), PAGE_SIZES, progress=step)
        rows += [
            {
                "program": program.name,
                "style": program.style,
                "tlb": row["tlb"],
                "page_size": row["page_size"],
                "misses": row["misses"],
                "miss_rate": row["miss_rate"],
                "miss_cost": row["miss_cost"],
            }
            for row in found
        ]
    return rows


def figure(name: str, program: str, rows: Sequence[Row]) -> Figure:
    """Miss rate of one program against page size, one line per TLB."""
    data = [
        {"series": row["tlb"], "x": row["page_size"], "y": row["miss_rate"]}
        for row in rows
        if row["program"] == program
    ]
    return Figure(
        name,
        f"{program}: TLB miss rate against page size",
        "lines",
        data,
        Axis("page size", log=True, sizes=True),
        Axis("misses per reference", log=True),
    )


def corrected(outcomes: Sequence[Row], rows: Sequence[Row]) -> Table:
    """Table 6.5: NUMA at 4 KB, at 128 bytes, and at 128 bytes corrected for TLB misses.

    The misses with 4 KB pages are taken as zero, as in the thesis.
    """
    points = Points(row for row in outcomes if row["policy"] == "optimal")
    added = {
        (row["program"], row["tlb"]): row["miss_rate"] * row["miss_cost"]
        for row in rows
        if row["page_size"] == _SMALL and row["miss_cost"] is not None
    }
    found: list[Row] = []
    for program in points.programs():
        small = points.mcpr(program, "numa", "optimal", _SMALL)
        found.append(
            {
                "program": program,
                "numa_4k": points.mcpr(program, "numa", "optimal", _USUAL),
                "uncorrected": small,
                "ace": small + added[program, "ace"],
                "r4000": small + added[program, "r4000"],
            }
        )
    return Table(
        "table-6.5",
        "MCPR of NUMA with 4 KB pages, with 128-byte pages, and with its TLB misses added",
        found,
    )
