"""Tables of the commands of this package: at every width, all numbers and columns are there."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode_studies.cli import ecommerce
from support.command import Command
from support.tables import Drawn, check_widths, drawn, printing_functions

__all__ = ["drawn"]

# Commands, and the functions whose tables they print. T is a trace, OUT a folder to write into.
_CASES = {
    "alphabeta --published": "alphabeta._published alphabeta._print_rows",
    "alphabeta --trace T --limit 2": "alphabeta._from_trace",
    "study bolosky-ch6 --quick --program gauss -o OUT": "study._tell",
    "workloads ecommerce --list": "ecommerce._list",
    "workloads list": "workloads.list_",
    "workloads table gauss --quick": "workloads.table",
}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("line", _CASES)
def test_all_numbers_and_columns_are_there_at_every_width(
    homenode: Command, trace: hn.Trace, tmp_path: Path, drawn: tuple[Drawn, set[str]], line: str
) -> None:
    words = {"T": str(trace.path), "OUT": str(tmp_path)}
    result = homenode(*(words.get(word, word) for word in line.split()))
    found, functions = drawn
    assert functions >= set(_CASES[line].split()), result.err
    for table in found:
        check_widths(table)


def test_a_recorded_mix_has_all_numbers_at_every_width(drawn: tuple[Drawn, set[str]]) -> None:
    parts = dict.fromkeys(("code", "data", "writes", "shared", "shared_writes", "kernel"), 0.1234)
    counts = dict.fromkeys(("references", "distinct_blocks", "shared_blocks"), 123_456_789)
    row: dict[str, Any] = {"name": "postgres", "processes": 13, **parts, **counts}
    checked = dict.fromkeys(
        ("pages_recorded", "orders_in_database", "ticks", "interactions"), 1_234
    ) | {"clock": "the guest", "errors": 0}
    found = {"trace": "ec.hnt", "system": "ec.system.hnt", "ticks_per_million": 12.3}
    ecommerce._print(found | {"checked": checked}, [row, row])
    for table in drawn[0]:
        check_widths(table)


def test_every_function_that_prints_a_table_has_a_case() -> None:
    tested = {function for functions in _CASES.values() for function in functions.split()}
    # It needs QEMU and servers, and has a separate test above.
    assert printing_functions(Path(ecommerce.__file__).parent) == tested | {"ecommerce._print"}
