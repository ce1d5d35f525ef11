"""Reasons for differences whose numbers are those of the run, and the numbers."""

from collections.abc import Callable

from homenode_studies.studies.reasons import Number, Reason
from homenode_studies.studies.tables import Evidence, Row
from homenode_studies.studies.talbot import BARNES, CONTIG, FFT, FMM, GE, NONCONTIG, WATER
from homenode_studies.studies.talbot.bars import QUEUE, RESPONSE, TIME, bars, messages
from homenode_studies.studies.talbot.beyond import BASE, Points
from homenode_studies.studies.talbot.matrix import (
    BASIC,
    INFINITE,
    REACTIVE,
    ROUND,
    UNALLOCATED,
    Setting,
)

_FT, _RR = Setting(), Setting(ROUND)
_UNLIMITED, _UNLIMITED_RR = _FT.changed(buffers=INFINITE), _RR.changed(buffers=INFINITE)
_BASIC, _REACTIVE = _FT.changed(proxies=BASIC), _FT.changed(proxies=REACTIVE)
_PROXIES = _BASIC.changed(buffers=INFINITE)


def of(program: str, setting: Setting, value: Callable[[Row], float]) -> Number:
    """A value of a program's run."""
    return lambda e: value(Points(e.rows("points")).at(program, setting))


def ratio(program: str, measure: str, one: Setting, other: Setting) -> Number:
    """A measure of a program with one setting over that with another."""
    return lambda e: bars(e).ratio(program, measure, one, other)


def local(row: Row) -> float:
    """The percentage of fills from the node's own memory."""
    return 100 * float(row["local_fill_share"])


def combined(row: Row) -> float:
    """The percentage of the reads through a proxy that are combined with others."""
    return 100 * float(row["combined"]) / float(row["proxy_reads"])


def through_proxies(row: Row) -> float:
    """The percentage of first requests for reads that go to a proxy."""
    sent = float(row["messages_request"]) + float(row["messages_proxy_read"])
    return 100 * float(row["proxy_reads"]) / sent


def bounced(row: Row) -> float:
    """Rejected reads, in thousands."""
    return float(row["bounced"]) / 1000


def wait_of_all(row: Row) -> float:
    """The mean wait if rejected reads count as waits of zero cycles."""
    sent = messages(row)
    return float(row["mean_queue_cycles"]) * (sent - float(row["bounced"])) / sent


def over_the_better(dial: dict[str, str | int]) -> Number:
    """FMM's time with reactive proxies in a situation over the better placement's, in percent."""

    def compute(evidence: Evidence) -> float:
        found = Points(evidence.rows("points"))
        setting = BASE.changed(**dial)
        plain = setting.changed(dial=BASE.dial)
        without = [found.cycles(FMM, plain.changed(home=home)) for home in (plain.home, ROUND)]
        return 100 * found.cycles(FMM, setting.changed(proxies=REACTIVE)) / min(without)

    return compute


NOWHERE = Reason(
    "checked: our GE divides the remaining rows anew in each step, so with first touch {ft:.2f} % "
    "of the fills are local, and with round-robin {rr:.2f} %: there is no locality to lose",
    {"ft": of(GE, _UNLIMITED, local), "rr": of(GE, _UNLIMITED_RR, local)},
)
EDGES = Reason(
    "checked: {ft:.0f} % of Ocean-Contig's fills are local with first touch, {rr:.0f} % with "
    "round-robin, which takes {infinite:.2f} times as long with infinite queues and {finite:.2f} "
    "times with finite ones",
    {
        "ft": of(CONTIG, _UNLIMITED, local),
        "rr": of(CONTIG, _UNLIMITED_RR, local),
        "infinite": ratio(CONTIG, TIME, _UNLIMITED_RR, _UNLIMITED),
        "finite": ratio(CONTIG, TIME, _RR, _FT),
    },
)
ALONE = Reason(
    "checked: {combined:.0f} % of the {through:.0f} thousand reads that go through a proxy are "
    "combined; the others take one more message, and remote reads wait {proxies:.0f} cycles "
    "instead of {plain:.0f}",
    {
        "combined": of(CONTIG, _PROXIES, combined),
        "through": of(CONTIG, _PROXIES, lambda row: float(row["proxy_reads"]) / 1000),
        "proxies": lambda e: bars(e).at(CONTIG, RESPONSE, _PROXIES),
        "plain": lambda e: bars(e).at(CONTIG, RESPONSE, _UNLIMITED),
    },
)
MARKED = Reason(
    "checked: {through:.0f} % of Ocean-Non-Contig's requests are reads of the marked arrays, of "
    "which {combined:.0f} % are combined. Several threads simultaneously read coarse grids, in "
    "q_multi and rhs_multi: with all data marked it gained in an experiment",
    {
        "through": of(NONCONTIG, _PROXIES, through_proxies),
        "combined": of(NONCONTIG, _PROXIES, combined),
    },
)
RARE = Reason(
    "checked: rejected reads are not among those whose wait is measured: there are {none:,.0f} "
    "thousand without proxies, {reactive:,.0f} with reactive ones. If these count as waits of zero "
    "cycles, the means are {wait_none:.1f} cycles without proxies, {wait_reactive:.1f} with "
    "reactive ones, and {wait_basic:.1f} with basic ones",
    {
        "none": of(GE, _FT, bounced),
        "reactive": of(GE, _REACTIVE, bounced),
        "wait_none": of(GE, _FT, wait_of_all),
        "wait_reactive": of(GE, _REACTIVE, wait_of_all),
        "wait_basic": of(GE, _BASIC, wait_of_all),
    },
)
ACCEPTED = Reason(
    "checked: reads that bounce do not wait, and the mean includes only accepted messages. With "
    "reactive proxies FFT's reads bounce {reactive:,.0f} thousand times instead of {none:,.0f} "
    "thousand, its mean wait is {wait:.1f} times as long, and its time {time:.3f} of that without; "
    "the paper describes the same for GE",
    {
        "reactive": of(FFT, _REACTIVE, bounced),
        "none": of(FFT, _FT, bounced),
        "wait": lambda e: of(FFT, _REACTIVE, _wait)(e) / of(FFT, _FT, _wait)(e),
        "time": ratio(FFT, TIME, _REACTIVE, _FT),
    },
)
LOSSES = Reason(
    "checked: FMM takes {ft:.1f} % of the time of first touch and {rr:.1f} % of that of "
    "round-robin. This depends on queues and copies: relative to the better placement it is "
    "{two:.1f} % with queues of 2, {many:.1f} % with queues of 32, {uncopied:.1f} % if proxies "
    "keep no copies, and {nodes:.0f} % on 256 nodes (tables beyond and dials)",
    {
        "ft": lambda e: 100 * ratio(FMM, TIME, _REACTIVE, _FT)(e),
        "rr": lambda e: 100 * ratio(FMM, TIME, _REACTIVE, _RR)(e),
        "two": over_the_better({"buffers": "2"}),
        "many": over_the_better({"buffers": "32"}),
        "uncopied": over_the_better({"dial": UNALLOCATED}),
        "nodes": over_the_better({"nodes": 256}),
    },
)
ANY_LOSSES = Reason(
    f"{LOSSES.text}. Barnes takes {{barnes:.1f}} % of the time of round-robin, and Water "
    "{water_ft:.2f} % of that of first touch and {water_rr:.2f} % of that of round-robin",
    {
        **LOSSES.numbers,
        "barnes": lambda e: 100 * ratio(BARNES, TIME, _REACTIVE, _RR)(e),
        "water_ft": lambda e: 100 * ratio(WATER, TIME, _REACTIVE, _FT)(e),
        "water_rr": lambda e: 100 * ratio(WATER, TIME, _REACTIVE, _RR)(e),
    },
)
TOP = Reason(
    "checked: in Barnes messages wait if all threads need the same data at once, mainly the top of "
    "the tree, which is at a small number of nodes: {ft:.1f} cycles, {rr:.1f} with round-robin, "
    "and no less with 2-way caches. With the first seed, if threads leave barriers 200 cycles "
    "apart, they wait 18.4 and 7.0 cycles instead of 24.7 and 8.6, and with pages of 1 KB in "
    "addition 9.6 and 5.6; in Water 5.4 and 4.9",
    {
        "ft": lambda e: bars(e).at(BARNES, QUEUE, _UNLIMITED),
        "rr": lambda e: bars(e).at(BARNES, QUEUE, _UNLIMITED_RR),
    },
)


def _wait(row: Row) -> float:
    return float(row["mean_queue_cycles"])
