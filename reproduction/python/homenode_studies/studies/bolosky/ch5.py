"""Chapter 5: on-line policies against the optimum, and the optimum against the prices."""

from collections.abc import Sequence

from homenode_studies.studies.blocks import blocks_of
from homenode_studies.studies.bolosky import THESIS, WORDS_AT_SAME_PACE, ch5_curves
from homenode_studies.studies.bolosky.ch5_claims import CLAIMS
from homenode_studies.studies.bolosky.platinum import BACKOFF, IN_GLOBAL, PLATINUM
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Axis, Figure, Points, Row

PAGE = 4096
POLICIES = ("optimal", "ace", "delay", PLATINUM)
_SHOWN = ("optimal", "ace", "delay", "platinum")
_MORE = ("best-static", "random", "delay:n=5", "delay:n=25", "delay:n=50", "ace:limit=16", BACKOFF)
ACE_MOVES = (
    *(0, 50, 200, 260, 330, 400, 450, 500, 524, 600, 700, 850, 1000, 1036, 1200, 1400, 1700),
    *(2000, 2060, 2500),
)
"""Prices G at g = 2, r = 5. The thesis draws 200 to page size times g plus some overhead; the
optimum changes where a page of 1024 words, or half a page, just pays for a move."""
REMOTE_MOVES = (
    *(0, 50, 200, 500, 1000, 2000, 3000, 4000, 5000, 7000, 7200, 9000, 12000, 14300),
    *(14400, 16000),
)
"""Prices R at r = 15 without global memory."""
_HIGH_COST = 4.0
"""Figure 5.2 shows the programs below, figure 5.3 the others."""


def experiments(context: StudyContext) -> Products:
    """Runs policies on both machines, and sweeps the price of a move on each."""
    rows = context.simulate(Matrix(machines(), [*POLICIES, *_MORE], [PAGE], force=True))
    outcomes = [row for row in rows if " " not in row["machine"]]
    outcomes += context.simulate(Matrix(["ace"], ["all-global", IN_GLOBAL], [PAGE]))
    ace, remote = swept(rows, "G"), swept(rows, "R")
    exact = ch5_curves.pieces(context)
    blocks = block_uses(context)
    for rows in (ace, remote):
        _per_page(rows, blocks)
    figures = [
        _bars("figure-5.1", "ace", outcomes, None),
        *_butterfly(outcomes),
        _curve("figure-5.4", "G, with g = 2 and r = 5", ace, "mcpr"),
        _exact("figure-5.5", "R, with r = 15 and no global memory", exact),
        _curve("figure-5.6", "G, with g = 2 and r = 5", ace, "moves_per_page"),
    ]
    if any(program.name == "sorbyr" for program in context.programs):
        figures.append(_breakdown(ace))
    extra = {"outcomes": outcomes, "against_G": ace, "against_R": remote, "pages": blocks}
    extra["curve-against-R"] = exact
    return Products([ch5_curves.summary(exact)], figures, extra)


def machines() -> dict[str, str]:
    """The machines of the chapter and all prices of a move, by name: one pass simulates them."""
    named = {name: name for name in ("ace", "butterfly", "numa", "dsm+")}
    named |= {f"G {price}": f"prices:r=5,R={2 * price},g=2,G={price}" for price in ACE_MOVES}
    return named | {f"R {price}": f"prices:r=15,R={price}" for price in REMOTE_MOVES}


def swept(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows that vary one price, with its value; only the policies of the figures."""
    shown = set(_SHOWN)
    return [
        row | {"price": int(row["machine"].removeprefix(f"{name} "))}
        for row in rows
        if row["machine"].startswith(f"{name} ") and row["policy"] in shown
    ]


def block_uses(context: StudyContext) -> list[Row]:
    """Counts the pages of every program by the number of their users and by the kind of use."""
    rows: list[Row] = []
    for program in context.programs:
        blocks = blocks_of(context, program, PAGE)
        rows.append({"program": program.name, "style": program.style, **page_uses(blocks)})
    return rows


def page_uses(blocks: Sequence[Row]) -> Row:
    """Counts pages by their use; one writer means that the others only read.

    ``ratio`` is the number of the writer's references per reference of the reader, over the pages
    that one processor writes and another one reads.
    """
    threads = [block["threads"] for block in blocks]
    pairs = [use for use in threads if len(use) == 2 and sum(t["writes"] > 0 for t in use) == 1]
    writers = sum(t["reads"] + t["writes"] for use in pairs for t in use if t["writes"])
    readers = sum(t["reads"] for use in pairs for t in use if not t["writes"])
    return {
        "pages": len(blocks),
        "one": sum(len(use) == 1 for use in threads),
        "two": sum(len(use) == 2 for use in threads),
        "one_writes_one_reads": len(pairs),
        "ratio": writers / readers if readers else None,
    }


def _per_page(rows: Sequence[Row], blocks: Sequence[Row]) -> None:
    pages = {row["program"]: row["pages"] for row in blocks}
    for row in rows:
        row["moves_per_page"] = row["moves"] / max(pages[row["program"]], 1)


def _bars(name: str, machine: str, rows: Sequence[Row], chosen: Sequence[str] | None) -> Figure:
    points = Points(rows)
    data = [
        {"series": policy, "x": program, "y": points.mcpr(program, machine, policy, PAGE)}
        for program in (points.programs() if chosen is None else chosen)
        for policy in _SHOWN
    ]
    return Figure(
        name,
        f"MCPR of the policies on the {machine}",
        "bars",
        data,
        Axis("program"),
        Axis("mean cost per reference"),
    )


def _butterfly(rows: Sequence[Row]) -> list[Figure]:
    points = Points(rows)
    top = {
        program: max(points.mcpr(program, "butterfly", policy, PAGE) for policy in _SHOWN)
        for program in points.programs()
    }
    low = [program for program in top if top[program] <= _HIGH_COST]
    high = [program for program in top if top[program] > _HIGH_COST]
    figures = [("figure-5.2", low), ("figure-5.3", high)]
    return [_bars(name, "butterfly", rows, chosen) for name, chosen in figures if chosen]


def _curve(name: str, against: str, rows: Sequence[Row], value: str) -> Figure:
    data = [
        {"series": row["program"], "x": row["price"], "y": row[value]}
        for row in rows
        if row["policy"] == "optimal" and row["price"] >= 200
    ]
    moves = value != "mcpr"
    what = "moves per 4 KB page" if moves else "MCPR"
    return Figure(
        name,
        f"{what} of the optimum against {against}",
        "lines",
        data,
        Axis(against.partition(",")[0]),
        Axis("moves per page" if moves else "mean cost per reference", log=True),
    )


def _exact(name: str, against: str, pieces: Sequence[Row]) -> Figure:
    return Figure(
        name,
        f"MCPR of the optimum against {against}",
        "lines",
        ch5_curves.drawn(pieces),
        Axis(against.partition(",")[0]),
        Axis("mean cost per reference", log=True),
        note="Exact: straight lines between breaks.",
    )


def _breakdown(rows: Sequence[Row]) -> Figure:
    data: list[Row] = []
    parts = {
        "local": "cost_local",
        "global": "cost_global",
        "remote": "cost_remote",
        "moves": "cost_moves",
    }
    best = [
        row
        for row in rows
        if (row["program"], row["policy"]) == ("sorbyr", "optimal") and row["price"] >= 200
    ]
    for name, column in parts.items():
        data += [
            {"series": name, "x": row["price"], "y": row[column] / row["accesses"]} for row in best
        ]
    data += [
        {"series": row["policy"], "x": row["price"], "y": row["mcpr"]}
        for row in rows
        if row["program"] == "sorbyr" and row["policy"] != "optimal" and row["price"] >= 200
    ]
    lowest = min(row["cost_local"] / row["accesses"] for row in best)
    return Figure(
        "figure-5.7",
        "sorbyr: the optimum's cost by component, and the policies, against G (g = 2, r = 5)",
        "areas",
        data,
        Axis("G"),
        Axis("mean cost per reference", limit=0.99 * lowest),
        areas=tuple(parts),
        note="The component of local references is cut at the bottom.",
    )


ENTRY = Study(
    name="bolosky-ch5",
    summary="Policies against the optimum on the ACE and the Butterfly, and prices of a move",
    source="Bolosky 1993, chapter 5",
    experiments=experiments,
    publication=THESIS,
    claims=CLAIMS,
    priced=True,
    form=WORDS_AT_SAME_PACE,
)
