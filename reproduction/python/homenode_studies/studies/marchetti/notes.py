"""Remarks on the study's programs, machine and rules."""

from homenode.options.specs import unique
from homenode_studies.studies.marchetti import SOFTWARE
from homenode_studies.studies.marchetti import measures as m
from homenode_studies.studies.marchetti.matrix import WITH, WITHOUT, Setting
from homenode_studies.studies.marchetti.runs import Runs
from homenode_studies.studies.marchetti.tables import LABELS
from homenode_studies.studies.tables import Table

_TIME = (
    "Times and counts begin at the programs' mark of the end of initialisation, which determines "
    "the initial state of caches and homes, and end at the mark of the check. Locks and barriers "
    "are messages to their homes, not references. The recording has only data references; each is "
    "preceded by the program's average number of instructions per reference (programs.toml: 1 to "
    "4)."
)
_OPEN = (
    "Not in the paper: the associativity of the caches (ours: direct-mapped), the size of message "
    "heads (8 bytes) and write buffers (4 words), the n of first-fill (4) and of replication, the "
    "width of sor's numbers (4 bytes; the table versions has 8), and the bandwidth of links. Table "
    "1 gives memories a latency and a bandwidth, and links a latency of 2 cycles and a width of 16 "
    "bits: ours take 16 bits each cycle, half a word, and section 4.2's word a cycle is a path of "
    "32. If a link were busy for its whole latency, memories and network would both take four "
    "cycles per word; the table flits has both readings. The table variations has other caches, no "
    "contention, and no time between references."
)
_RULES = (
    "In addition to the rules below, a share is in a stated range if it is within five points of "
    "it, and a statement about most programs holds for more than half of those that were run; a "
    "series rises or falls if its ends do and no step goes the other way by more than a hundredth. "
    "Many is a third or more. A policy makes a program slower if its time grows by more than 2 %. "
    "Each rule was first applied to the paper's own numbers, which are next to the published words."
)
_CHANCE = (
    "The gain of mp3d and water from placement is partly random: it depends on the nodes to which "
    "round-robin assigns the few contended pages. With random homes (eight seeds) mp3d takes 3.06 "
    "to 6.96 million cycles, 3.87 at the median, of which first-use saves -19 to 48 %, 6 at the "
    "median; in software 4.27 to 5.56 million, of which it saves 16 to 35 %. water takes 3.45 to "
    "3.80 million, of which it saves 10 to 19 %. In seven recordings, which differ in the length "
    "of turns (90 to 110 references) or in the addresses of data and stacks, first-use gains over "
    "round-robin 12, 3.2, 0.9, 0.1, -0.4, -6.7 and -15 % with mp3d, and 6 to 19 % with water."
)
_MP3D = (
    "mp3d: its cells lie on 23 pages that all processors write to, so most fills are remote; "
    "best-static has hardly more local ones and takes hardly less time; optimal-static, which "
    "ignores contention, takes three times as long. Each thread has a band of particles, as in "
    "Bolosky's description; in turns of sixteen particles (--clump 16) 6 % of the fills are local, "
    "and in two recordings first-use loses 10 and 26 %. With SPLASH's option of locks it gains 2 % "
    "in hardware and 4 % in software, and software takes 2.5 times as long as hardware; the paper "
    "does not say whether its run used locks. An earlier program with locks, two visits a particle "
    "and cells of 56 bytes lost 22 and 29 %."
)
_WATER = (
    "water: sums of forces are added under locks. An earlier program added energies after each "
    "molecule to a counter, whose line also had data that all processors read: a fill took 734 "
    "cycles, the run 10.9 million, three times as long as now, and placement gained 2 %."
)
_APPBT = (
    "appbt: the paper does not describe the layout of points in memory. Ours has each processor's "
    "box of points in separate pages, as in a message-passing program. With points row by row "
    "through all boxes (--rows) 19 % of the fills are local, and placement loses 5 and 9 % in "
    "hardware and software. Processors wait for each other, as sweeps pass from box to box, and "
    "boxes at corners have 27 points to solve for, inner ones 64. An earlier program had the "
    "blocks of a line in private memory, missed a quarter as often, and gained 3 %."
)
_MGRID = (
    "mgrid: 64 threads have a plane each of the finest grid, and half or three quarters of them "
    "have nothing on coarse grids: they wait for others, which placement does not shorten."
)
_FLUSHED = (
    "Software misses more than hardware in mgrid and water, as an acquire removes all lines of a "
    "page, even those that were never written. In an experiment it removed only lines whose copies "
    "lacked a word that another processor had written. Misses per reference were then 5.033 % in "
    "both (sor on 8-byte numbers, a little less in software), 10.16 and 10.08 % (mgrid), 6.56 and "
    "4.91 % (mp3d), 2.257 and 2.233 % (water), 2.65 and 2.63 % (appbt); those by false sharing 4, "
    "37,470, 32,227, 1,082 and 1,678 in hardware, none, 2, 394, 104 and none in software."
)
_NO_SOFTWARE = (
    "This engine does not simulate coherence in software: claims about it are not testable."
)


def _flits(found: Table) -> tuple[str, ...]:
    """The table flits as a paragraph, which the ledger has, too."""
    said = []
    for name, what in (("gain", "the time"), ("fill_shorter", "the mean time of a fill")):
        for coherence in unique(row["coherence"] for row in found.rows):
            of = [row for row in found.rows if row["coherence"] == coherence]
            each = ", ".join(
                f"{row['program']} {row[name]:.0f} and {row[name + '_two_cycles']:.0f} %"
                for row in of
            )
            said.append(f"{what} in {coherence} {each}")
    if not said:
        return ()
    return (
        "By how much placement reduces, with 16 bits a cycle and with 16 bits per 2 cycles: "
        f"{'; '.join(said)}.",
    )


def _waits(runs: Runs) -> str:
    """The share of the time for which processors wait for others, by coherence and program."""

    def share(program: str, protocol: str, home: str) -> str:
        row = runs.at(program, Setting(protocol=protocol, home=home))
        return f"{100 * m.part(row, 'sync_stall'):.0f}"

    said = []
    for protocol in runs.protocols():
        each = ", ".join(
            f"{program} {share(program, protocol, WITHOUT)} and {share(program, protocol, WITH)} %"
            for program in runs.programs()
        )
        said.append(f"in {LABELS[protocol]} {each}")
    return (
        "The share of the time for which processors wait at locks and barriers, without and with "
        f"placement: {'; '.join(said)}."
    )


def of(runs: Runs, flits: Table, *, quick: bool) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    notes: tuple[str, ...] = (_TIME, _OPEN, *_flits(flits), _waits(runs), _RULES)
    if SOFTWARE not in runs.protocols():
        notes = (*notes, _NO_SOFTWARE)
    # These findings hold only for full sizes.
    return notes if quick else (*notes, _CHANCE, _MP3D, _WATER, _APPBT, _MGRID, _FLUSHED)
