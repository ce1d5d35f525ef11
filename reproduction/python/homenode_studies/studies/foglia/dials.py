"""What depends on the numbers that the paper's tables leave open: each of them swept alone.

``python -m homenode_studies.studies.foglia.sweep`` prints the table of docs/servers.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from homenode.engines.servers import servers
from homenode_studies.studies.claims import counts, find
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.foglia import EC, PAPER
from homenode_studies.studies.foglia.break_even import SESSIONS, Place, compared
from homenode_studies.studies.foglia.claims import CLAIMS
from homenode_studies.studies.foglia.matrix import EXTENDED, SERVER, matrix_of_protocols
from homenode_studies.studies.foglia.runs import on_machine
from homenode_studies.studies.foglia.statistics import MACHINE, SCALE
from homenode_studies.studies.programs import available
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Row, Table

_REFERENCES = 2_000_000
"""References of each workload of the sweep: a quarter of the study's, so that it takes a minute."""
_SESSION_LENGTHS = (2, 4, 8, 16, 32, 64)
_SHARED = {"Apache": (1.84, 0.6), "PostgreSQL": (2.70, 0.79)}
"""Table 2: percent of accesses and of writes to shared data."""
_SECTION = "5.2.2"
"""The section that compares protocols."""


@dataclass(frozen=True)
class Dial:
    """A number that is swept.

    Attributes:
        name: what it is.
        values: its values; those of the preset are left out.
        keys: the keys of the file for one of them.
    """

    name: str
    values: Sequence[float]
    keys: Callable[[float], Mapping[str, float]]


def _one(key: str) -> Callable[[float], Mapping[str, float]]:
    return lambda value: {key: value}


def _of_shared(factor: float) -> Mapping[str, float]:
    names = ("shared_access", "shared_write")
    return {
        f"group.{group}.{name}": round(factor * share, 4)
        for group, shares in _SHARED.items()
        for name, share in zip(names, shares, strict=True)
    }


DIALS = (
    Dial("accesses of a session (8)", (2, 4, 16, 32, 64), _one("sessions.accesses")),
    Dial("Zipf's exponent of shared objects (0.5)", (0, 1), _one("sessions.zipf")),
    Dial("blocks of an object (4)", (1, 16), _one("sessions.object_blocks")),
    Dial("accesses to own words, % (40)", (0, 80), _one("sessions.own_words")),
    Dial("shared accesses and writes, times (1)", (0.5, 2), _of_shared),
    Dial("Zipf's exponent of private data (1)", (0.8, 1.2), _one("locality.data_zipf")),
    Dial("Zipf's exponent of code (1)", (0.8, 1.2), _one("locality.code_zipf")),
    Dial("words of a run (6)", (3, 12), _one("locality.run_words")),
)
"""In the order of the table; in brackets the preset's value."""


def sessions(context: StudyContext) -> list[Place]:
    """The EC-server from statistics with sessions of several lengths, under PSCR and MESI."""
    found = []
    for length in _SESSION_LENGTHS:
        changed = _made(context, {"sessions.accesses": length})
        settings = [SERVER.changed(protocol=protocol) for protocol in ("mesi", "pscr")]
        rows = on_machine(changed, changed.programs[0], MACHINE, settings)
        mesi, pscr = (rows[setting] for setting in settings)
        found.append(compared(SESSIONS, f"EC-server, sessions of {length}", mesi, pscr))
    return found


def swept(context: StudyContext) -> Table:
    """PSCR against MESI, and the claims that hold, for each value of each dial."""
    rows = [_row(context, "as in the preset", "", {})]
    for dial in DIALS:
        rows += [_row(context, dial.name, f"{value:g}", dial.keys(value)) for value in dial.values]
    return Table(
        "dials",
        "EC-server from statistics with one number changed: 16 processors, 2 MB, 128 B, affinity",
        rows,
        f"A {SCALE}th of the blocks, caches and time slices, {_REFERENCES:,} references. Claims "
        f"are those of section {_SECTION}; machines have 8, 12 and 16 processors, too few for "
        "those on scalability to hold.",
    )


def _made(
    context: StudyContext, values: Mapping[str, float], references: int | None = None
) -> StudyContext:
    """The EC-server alone, from statistics with some values changed."""
    programs = [program for program in available(PAPER, context.quick, False) if program.name == EC]
    trace = servers("foglia-ec", scale=SCALE, references=references, values=values)
    return replace(context, programs=programs, traces={}, _opened={EC: trace})


def _row(context: StudyContext, dial: str, value: str, values: Mapping[str, float]) -> Row:
    made = _made(context, values, _REFERENCES)
    found = on_machine(made, made.programs[0], MACHINE, matrix_of_protocols())
    points = [{"workload": EC, **setting.fields(), **row} for setting, row in found.items()]
    mesi, pscr, extended = (
        found[SERVER.changed(protocol=protocol)] for protocol in ("mesi", "pscr", EXTENDED)
    )
    place = compared(SESSIONS, EC, mesi, pscr)
    evidence = Evidence({"points": points}, published(PAPER.name))
    judged = counts(find(claim, evidence) for claim in CLAIMS if claim.section == _SECTION)
    row: Row = {"dial": dial, "value": value}
    row |= {"writes for 100": place.shared_writes, "for a takeover": place.writes}
    row |= {"PSCR / MESI": place.ratio, "with the kernel's areas": extended["gsp"] / mesi["gsp"]}
    hold, differ = judged["holds"], judged["differs"]
    return row | {"claims that hold": f"{hold} of {hold + differ}"}
