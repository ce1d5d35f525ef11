"""Reasons of ledgers, whose numbers are computed from the results."""

import re
from dataclasses import replace
from typing import Any

import pytest

from homenode_studies.studies.claims import Claim, find, less_than
from homenode_studies.studies.foglia import EC
from homenode_studies.studies.foglia.claims import CLAIMS
from homenode_studies.studies.foglia.judging import EXTENSION
from homenode_studies.studies.foglia.matrix import EXTENDED, SERVER
from homenode_studies.studies.foglia.reasons import CHATTY
from homenode_studies.studies.reasons import Reason
from homenode_studies.studies.tables import Evidence, Missing
from homenode_studies.studies.talbot import CONTIG, FMM
from homenode_studies.studies.talbot import reasons as talbot
from homenode_studies.studies.talbot.beyond import BASE
from homenode_studies.studies.talbot.matrix import REACTIVE, ROUND, UNALLOCATED
from homenode_studies.studies.talbot.matrix import Setting as Configuration

_OF_MACHINE_OR_PAPER = {
    *("1", "2", "3", "5", "8", "12", "16", "32", "40", "64", "100", "128", "130", "256", "512"),
    *("2.5", "2.6", "3.3", "4.7", "7.39", "21/8", "33", "95", "112,183", "2003"),
}
"""Sizes, cycles, processors and rules, and what the paper prints or what follows from it."""


def _evidence(number: float) -> Evidence:
    return Evidence({"points": [{"number": number}]})


def _number(evidence: Evidence) -> float:
    return float(evidence.rows("points")[0]["number"])


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("{x:.1f} %", 2.345, "2.3 %"),
        ("{x:.0f} times", [3.0, 4.0], "3 and 4 times"),
        ("{x:,.0f}", {"AWK": 1430.0, "CP": 935.0}, "AWK 1,430, CP 935"),
    ],
)
def test_numbers_of_a_reason_have_its_formats(text: str, value: Any, said: str) -> None:
    assert Reason(text, {"x": lambda _: value}).said([_evidence(0)]) == said


def test_a_reason_has_the_median_of_the_seeds_that_have_the_number() -> None:
    claim = Claim(
        "1", "It is small", "1", "it", _number, less_than(2), why=Reason("{x:.0f}", {"x": _number})
    )
    further = [_evidence(5), Evidence({}), _evidence(7)]
    finding = find(claim, _evidence(9), further)
    assert (finding.verdict, finding.note) == ("differs", "7")


def test_a_number_that_a_run_lacks_is_left_out() -> None:
    def absent(_: Evidence) -> float:
        raise Missing("needs DB")

    reason = Reason("{x:.0f} of {y}", {"x": absent, "y": lambda _: 1 / 0})
    assert reason.said([_evidence(0)]) == "– of –"


def test_reasons_of_foglia_have_no_fixed_numbers_of_ours() -> None:
    texts = {c.why if isinstance(c.why, str) else c.why.text for c in CLAIMS}
    found = {
        number.rstrip(",./")
        for text in texts
        for number in re.findall(r"\d[\d,./]*", re.sub(r"\{[^{}]*\}", "", text))
    }
    assert found <= _OF_MACHINE_OR_PAPER, sorted(found - _OF_MACHINE_OR_PAPER)


def test_the_writes_of_pscr_are_those_of_the_run_and_of_its_extension() -> None:
    mesi: dict[str, Any] = {
        "workload": EC,
        **SERVER.fields(),
        "transactions_invalidate": 3,
        "transactions_read_invalidate_cache": 1,
    }
    points = [
        mesi,
        mesi | {"protocol": "pscr", "transactions_write": 200},
        mesi | {"protocol": EXTENDED, "transactions_write": 60},
    ]
    evidence = Evidence({"points": points})
    assert " every write: 50 for each block " in CHATTY.said([evidence])
    extended = [
        c.why for c in CLAIMS if c.statement.startswith(f"{EXTENSION}PSCR has the most power")
    ]
    assert isinstance(extended[0], Reason)
    assert " every write: 15 for each block " in extended[0].said([evidence])
    changed = replace(evidence, tables={"points": [mesi, points[1] | {"transactions_write": 8}]})
    assert " every write: 2 for each block " in CHATTY.said([changed])


def test_talbots_reasons_have_the_numbers_of_the_run() -> None:
    proxies = Configuration(proxies="basic", buffers="infinite")
    row = {"program": CONTIG, **proxies.fields(), "proxy_reads": 8000, "combined": 2000}
    said = talbot.ALONE.said([Evidence({"points": [row]})])
    assert said.startswith("checked: 25 % of the 8 thousand reads that go through a proxy ")
    assert (
        talbot.through_proxies(row | {"messages_request": 8000, "messages_proxy_read": 8000}) == 50
    )


def test_rejected_reads_count_as_waits_of_zero_cycles() -> None:
    row = {"mean_queue_cycles": 30, "bounced": 5, "messages_request": 12, "messages_reply": 3}
    assert talbot.wait_of_all(row) == 20


def test_a_situation_is_compared_with_the_better_placement_in_it() -> None:
    def row(setting: Configuration, cycles: int) -> dict[str, Any]:
        return {"program": FMM, **setting.fields(), "cycles": cycles}

    uncopied = BASE.changed(dial=UNALLOCATED, proxies=REACTIVE)
    points = [row(BASE, 400), row(BASE.changed(home=ROUND), 200), row(uncopied, 210)]
    found = talbot.over_the_better({"dial": UNALLOCATED})(Evidence({"points": points}))
    assert found == pytest.approx(105)
