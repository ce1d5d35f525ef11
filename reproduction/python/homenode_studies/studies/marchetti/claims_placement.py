"""Claims of the abstract, section 4.1 and the conclusion about placement, with figures 1 to 3."""

from collections.abc import Callable

from homenode_studies.studies.claims import (
    CLOSE,
    MOST,
    Claim,
    chosen,
    less_than,
    more_than,
    some,
)
from homenode_studies.studies.marchetti import (
    APPBT,
    HARDWARE,
    MGRID,
    ONE_TRIP,
    PROTOCOLS,
    SOFTWARE,
    SOR,
    WATER,
)
from homenode_studies.studies.marchetti import measures as m
from homenode_studies.studies.marchetti.judging import (
    comparable_but_mp3d,
    highest_about,
    most,
    most_within,
    slightly_more,
    within,
)
from homenode_studies.studies.marchetti.matrix import LARGE, PAPER_CASE, WITH, Setting
from homenode_studies.studies.marchetti.runs import Runs, ours
from homenode_studies.studies.reasons import Number, Reason
from homenode_studies.studies.tables import Evidence, Row

Compute = Callable[[Evidence], dict[str, float]]

IN = {HARDWARE: "in hardware", SOFTWARE: "in software"}
_LONG_WAITS = (MGRID, WATER, APPBT)
_RANGE = {"least": 0.20, "between": 0.30, "most": 0.40}
_PLACED = {"least": 0.35, "between": 0.55, "most": 0.75}
_BACK = {"least": 0.50, "between": 0.75, "most": 1.00}
_TURNS = {"any": 1 / 64}
HOT = (
    "checked: all processors write to mp3d's cells, wherever these are, and the effect of "
    "round-robin on their pages is random, as on water's (notes)"
)
_NARROW = (
    "; mgrid and water, half of whose fills remain remote, gain about as much as in hardware, and "
    "more if a link is busy for two cycles (notes)"
)
_SEVERAL = (
    "checked: in the paper's section 4.1 an acquire removes written blocks; in section 3.1, which "
    "we follow, it removes all lines of a page in which another processor has written a word. With "
    "the former, hardware misses more, and more by false sharing, in all five programs (notes)"
)
_NOT_SLIGHTLY = f"{_SEVERAL}; and mp3d, which writes to shared cells, misses much more in hardware"
_APART = Reason(
    "checked: without its option of locks our mp3d has no waits within a step, and with it "
    "software takes 2.5 times as long as hardware (notes). water waits for its locks, whose "
    "holders write back at each release: recorded without locks software takes 1.03 and 1.05 times "
    "as long, without the lock of energies 1.4 and 1.6, without those of molecules 1.9 and 2.0, "
    "and with releases of one trip (table one-trip) {one_trip:.2f} times instead of {own:.2f}, "
    "without placement",
    {
        "own": lambda e: _over_hardware(ours(e), WATER, SOFTWARE),
        "one_trip": lambda e: _over_hardware(Runs(e.rows("beside")), WATER, ONE_TRIP, ours(e)),
    },
)
_BANDWIDTH = (
    "checked: if memories take one cycle per word instead of four, and the network half a cycle "
    "instead of two, hardware gains more in sor on 8-byte numbers (0.3 points), mp3d (4) and water "
    "(14), and less in mgrid (9) and appbt (0.6)"
)
_WHERE = (
    "checked: our appbt has separate pages for each processor's points; without them 19 % are "
    "local (notes). In mp3d most misses are on cells, which all threads share"
)


def _over_hardware(runs: Runs, program: str, protocol: str, base: Runs | None = None) -> float:
    """The time under a protocol over that in hardware, which `base` may have instead."""
    software = m.cycles(runs.at(program, Setting(protocol=protocol)))
    return software / m.cycles((base or runs).at(program, Setting()))


def _base(protocol: str, home: str = WITH) -> Setting:
    return Setting(protocol=protocol, home=home)


def _each(setting: Setting, value: m.Value) -> Compute:
    return lambda e: m.each(ours(e), setting, value)


def _less(value: m.Value, base: Setting) -> Compute:
    return lambda e: m.reduction(ours(e), value, base)


def _compared(value: m.Value, one: Setting, other: Setting) -> Compute:
    return lambda e: m.compared(ours(e), value, one, other)


def waiting(home: str, protocol: str) -> Number:
    """The percentage of the time for which processors wait for each other, by program."""
    setting = Setting(protocol=protocol, home=home)
    return lambda e: {
        program: 100 * share
        for program, share in m.each(ours(e), setting, _synchronising).items()
        if program in _LONG_WAITS
    }


def _synchronising(row: Row) -> float:
    return m.part(row, "sync_stall")


def _waiting(protocol: str) -> Reason:
    return Reason(
        f"{HOT}; and processors wait for each other for much of the time, wherever pages are "
        "(table times): in % {without:.0f} without placement, and {placed:.0f} with it",
        {"without": waiting("round-robin", protocol), "placed": waiting(WITH, protocol)},
    )


def _gains(protocol: str) -> tuple[Claim, ...]:
    where, base = IN[protocol], Setting(protocol=protocol)
    how = "by how much placement reduces the time"
    return (
        Claim(
            "4.1",
            f"For most programs placement gains 20 to 40 % {where}",
            "20 to 40 %",
            how,
            _less(m.cycles, base),
            most_within(0.20, 0.40),
            "%",
            why=_waiting(protocol),
            own=lambda _: _RANGE,
        ),
        Claim(
            "abstract",
            f"Placement gains up to 40 % {where}",
            "40 %",
            how,
            _less(m.cycles, base),
            highest_about(0.40),
            "%",
            why="no program gains more than sor, whose gain depends on the cycles for which a link "
            "is busy (table flits)",
            own=lambda _: _RANGE,
        ),
    )


def _locality(protocol: str) -> tuple[Claim, ...]:
    where = IN[protocol]
    fills, backs = "fills from the node's own memory", "write-backs to it"
    return (
        Claim(
            "4.1",
            f"Without placement less than 2 % of the fills are local {where}",
            "2 %",
            fills,
            _each(_base(protocol, "round-robin"), m.local_fills),
            less_than(0.02),
            "%",
            why="checked: round-robin gives a node a 64th of the pages, not of the fills",
            own=lambda _: _TURNS,
        ),
        Claim(
            "4.1",
            f"With placement 35 to 75 % of the fills are local {where}",
            "35 to 75 %",
            fills,
            _each(_base(protocol), m.local_fills),
            within(0.35, 0.75),
            "%",
            why=_WHERE,
            own=lambda _: _PLACED,
        ),
        Claim(
            "abstract",
            f"For most programs placement makes 35 to 75 % of the fills local {where}",
            "35 to 75 %",
            fills,
            _each(_base(protocol), m.local_fills),
            most_within(0.35, 0.75),
            "%",
            why=_WHERE,
            own=lambda _: _PLACED,
        ),
        Claim(
            "4.1",
            f"With placement 50 to 100 % of the write-backs are local {where}",
            "50 to 100 %",
            backs,
            _each(_base(protocol), m.local_write_backs),
            within(0.50, 1.00),
            "%",
            why="checked: mp3d writes mostly to cells, and a thread's particles are anywhere "
            "among them; if they begin in the thread's own part of space 64 % are local",
            own=lambda _: _BACK,
        ),
    )


def _fill_times(protocol: str, low: float, high: float, further: str = "") -> Claim:
    said = f"{100 * low:.0f} to {100 * high:.0f} %"
    return Claim(
        "4.1",
        f"Placement shortens the mean fill by {said} {IN[protocol]}",
        said,
        "by how much placement reduces the mean time of a fill",
        _less(m.fill_time, Setting(protocol=protocol)),
        within(low, high),
        "%",
        why=f"{HOT}{further}",
        own=lambda _: {"least": low, "most": high},
    )


def nearer(protocol: str) -> Compute:
    """Links per message with placement over without, for mgrid and sor."""
    base = Setting(protocol=protocol)
    return lambda e: chosen(
        {p: m.changed(ours(e), p, m.distance, base) for p in ours(e).programs()}, MGRID, SOR
    )


def _near(protocol: str) -> Claim:
    return Claim(
        "4.1",
        f"mgrid and sor also gain from fills that are not local {IN[protocol]}",
        "nearer",
        "links per message between nodes, with placement over without",
        nearer(protocol),
        less_than(1 / 1.1),
    )


def _software() -> tuple[Claim, ...]:
    hard, soft = Setting(), Setting(protocol=SOFTWARE)
    compared = "time in software over that in hardware"
    return (
        *(
            Claim(
                "4.1",
                f"Hardware and software are comparable {words} placement, except for mp3d",
                "comparable",
                compared,
                _compared(m.cycles, soft.changed(home=home), hard.changed(home=home)),
                comparable_but_mp3d,
                why=_APART,
            )
            for words, home in (("without", "round-robin"), ("with", WITH))
        ),
        Claim(
            "4.1",
            "Hardware gains more from placement in most cases",
            "most cases",
            "gain in hardware less gain in software",
            lambda e: {
                program: m.gain(ours(e), program, hard) - m.gain(ours(e), program, soft)
                for program in ours(e).programs()
            },
            most(lambda more: more > 0),
            "%",
            why=_BANDWIDTH,
        ),
        Claim(
            "4.1",
            "Hardware has a slightly higher miss rate",
            "slightly higher",
            "miss rate in hardware over that in software, without placement",
            _compared(m.miss_rate, hard, soft),
            slightly_more,
            why=_NOT_SLIGHTLY,
            post_hoc="any higher rate sufficed",
        ),
        Claim(
            "4.1",
            "and more misses by false sharing",
            "more",
            "misses by false sharing for each reference, hardware less software",
            lambda e: {
                program: m.false_misses(ours(e).at(program, hard))
                - m.false_misses(ours(e).at(program, soft))
                for program in ours(e).programs()
            },
            more_than(0),
            why=_SEVERAL,
        ),
    )


def _written_by_others(row: Row) -> float:
    """The percentage of misses on blocks that another processor's write removed."""
    names = ("true", "false", "passive")
    return 100 * sum(m.of_misses(row, f"misses_invalidation_{name}") for name in names)


def fades(evidence: Evidence) -> dict[str, float]:
    """The gain from placement with caches of 16 KB less that with 1 MB."""
    runs = ours(evidence)
    return {
        program: m.gain(runs, program) - m.gain(runs, program, LARGE) for program in runs.programs()
    }


def not_fitting(evidence: Evidence) -> dict[str, float]:
    """The gain of programs that mainly miss because their blocks were evicted.

    Raises:
        Missing: when there are none.
    """
    runs = ours(evidence)
    evicted = m.each(runs, PAPER_CASE, m.evictions)
    found = {p: m.gain(runs, p) for p, share in evicted.items() if share > MOST}
    return dict(some(found, "no program mainly misses because its blocks were evicted"))


_FADING = "any difference sufficed, of programs that gain, as a claim on section 5"
_CONCLUSION = (
    Claim(
        "5",
        "Placement has substantial benefits for working sets that do not fit in the cache",
        "substantial",
        "gain of programs with more than half of their misses on evicted blocks; most more than a "
        "tenth",
        not_fitting,
        most(lambda gain: gain > CLOSE - 1),
        "%",
        why=_waiting(HARDWARE),
        post_hoc="the gain was only compared with that of 1 MB caches",
    ),
    Claim(
        "3.1",
        "Placement is significantly more important if the working set does not fit in the cache",
        "significantly",
        "gain with 16 KB caches less gain with 1 MB caches; most more than a tenth",
        fades,
        most(lambda more: more > CLOSE - 1),
        "%",
        why=Reason(
            "sor also gains with 1 MB, with which it still misses {left:.2f} times as often, and "
            "mgrid and mp3d hardly gain with 16 KB",
            {"left": lambda e: m.compared(ours(e), m.miss_rate, LARGE, PAPER_CASE)[SOR]},
        ),
        post_hoc=_FADING,
    ),
    Claim(
        "3.1",
        "Caches are small enough that blocks are evicted",
        "eviction misses",
        "share of misses on evicted blocks, without placement",
        _each(PAPER_CASE, m.evictions),
        most(lambda part: part > 0.5),
        "%",
        why=Reason(
            "misses because others have written, in % of all: {written:.0f}",
            {"written": lambda e: m.each(ours(e), PAPER_CASE, _written_by_others)},
        ),
    ),
)

CLAIMS = (
    *(stated for protocol in PROTOCOLS for stated in _gains(protocol)),
    *(stated for protocol in PROTOCOLS for stated in _locality(protocol)),
    _fill_times(HARDWARE, 0.20, 0.40),
    _fill_times(SOFTWARE, 0.30, 0.50, _NARROW),
    *(_near(protocol) for protocol in PROTOCOLS),
    *_software(),
    *_CONCLUSION,
)
"""Claims with figures 1 to 3; mp3d is the paper's exception."""
