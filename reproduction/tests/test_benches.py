"""The benches that record, on the smallest program: the tests only check that they run."""

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "benches"

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine"),
    pytest.mark.timeout(1200),
]


def _bench(*words: str) -> str:
    line = [sys.executable, str(BENCHES / words[0]), *words[1:]]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_suite_is_recorded_and_says_what_it_says_natively() -> None:
    said = _bench("suite.py", "--set", "quick", "--via", "cc", "parmult")
    [row] = re.findall(r"^\| parmult \| 8 \| cc \| .* \|$", said, re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert int(cells[3].replace(",", "")) > 1000
    assert cells[-1] == "same"
    assert "cc: 1 programs, " in said


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-user is not installed")
def test_the_lines_on_which_the_captures_differ_are_named() -> None:
    said = _bench("agreement.py", "parmult", "--lines", "3")
    assert len(re.findall(r"^parmult +(cc|qemu) ", said, re.MULTILINE)) == 2
    # The seed is read by a function that only QEMU sees.
    assert re.search(r"cc +0 +0  qemu +\d+ +0  uint64_t z = seed", said)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is one kind of hooks only")
def test_kinds_of_hooks_are_compared_by_reference() -> None:
    said = _bench("capture.py", "--hooks", "--runs", "1", "parmult")
    [row] = re.findall(r"^\| parmult \| .* \|$", said, re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert int(cells[1].replace(",", "")) > 1000
    assert re.fullmatch(r"[+-]\d+ %", cells[-1])
