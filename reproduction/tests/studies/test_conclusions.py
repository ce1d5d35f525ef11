"""The main conclusions in the docs follow from the ledgers in the docs.

``HOMENODE_BLESS=1 pytest tests/studies/test_conclusions.py`` updates the table.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from homenode_studies.studies.conclusions import CONCLUSIONS, Conclusion, found_one

_DOCS = Path(__file__).parents[3] / "docs/studies"
_PAGE = _DOCS / "index.md"
_LONG = 140
_BEGIN, _END = "<!-- conclusions -->\n", "<!-- end of conclusions -->\n"


def _ledger(study: str) -> dict[str, list[str]]:
    """The rows of a ledger by claim: published, ours, verdict, and a second workload's column."""
    text, _, _ = (_DOCS / f"{study}.md").read_text(encoding="utf-8").partition("## Provenance")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows if len(row) > 3 and row[0] != "claim"}


def _verdicts(cells: Mapping[str, str]) -> dict[str, str]:
    return {
        claim: cell.strip("*").partition(":")[0].split(" (")[0].strip("*")
        for claim, cell in cells.items()
    }


def _first(text: str) -> str:
    """A cell without how it is computed; a long one is cut, and the ledger has the rest."""
    value = text.partition("<br>")[0]
    return value if len(value) <= _LONG else f"{value[:_LONG].rpartition(', ')[0]}, …"


def _row(one: Conclusion) -> list[str]:
    """The cells of a conclusion: four, or five if the ledger has a second workload."""
    ledger = _ledger(one.study)
    claims = [found_one(begins, ledger) for begins in one.claims]
    published = "; ".join(_first(ledger[claim][0]) for claim in claims)
    ours = "; ".join(_first(ledger[claim][1]) for claim in claims)
    verdict = one.verdict(_verdicts({claim: row[2] for claim, row in ledger.items()}))
    why = f": {one.why}" if one.why and verdict != "reproduced" else ""
    beside = {claim: row[3] for claim, row in ledger.items() if row[3:]}
    second = [_beside(one, claims, beside)] if beside else []
    return [one.statement, published, ours, *second, f"**{verdict}**{why}"]


def _beside(one: Conclusion, claims: Sequence[str], cells: Mapping[str, str]) -> str:
    """The cell of the second workload: its values and what they say."""
    parts = {claim: cell.rpartition(": ") for claim, cell in cells.items()}
    values = "; ".join(_first(parts[claim][0]) for claim in claims)
    verdict = one.verdict(_verdicts({claim: found for claim, (_, _, found) in parts.items()}))
    return f"{values}: **{verdict}**"


def _table() -> str:
    lines = []
    for publication, conclusions in CONCLUSIONS.items():
        rows = [_row(one) for one in conclusions]
        ours = ["ours"] if len(rows[0]) == 4 else ["ours, recorded", "ours, from statistics"]
        heads = ["conclusion", "theirs", *ours, "result"]
        lines += [f"**{publication}**", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        lines += [*(f"| {' | '.join(row)} |" for row in rows), ""]
    return "\n".join(lines)


def test_the_docs_say_what_the_ledgers_say() -> None:
    before, begin, rest = _PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    written, end, after = rest.partition(_END)
    assert begin
    assert end
    if os.environ.get("HOMENODE_BLESS"):
        _PAGE.write_text(before + begin + "\n" + _table() + end + after, encoding="utf-8")
        return
    assert written.strip() == _table().strip()


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"a": "holds", "b": "holds", "c": "differs"}, "reproduced"),
        ({"a": "holds", "b": "source", "c": "differs"}, "in direction"),
        ({"a": "holds", "b": "differs", "c": "holds"}, "in direction"),
        ({"a": "holds", "b": "differs", "c": "not testable"}, "not reproduced"),
        ({"a": "source", "b": "source", "c": "holds"}, "the source contradicts itself"),
    ],
)
def test_a_conclusion_is_as_good_as_its_claims(verdicts: dict[str, str], expected: str) -> None:
    assert Conclusion("x", "y", ["a", "b"], ["c"]).verdict(verdicts) == expected
