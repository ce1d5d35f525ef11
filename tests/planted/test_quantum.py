"""Answers about cache lines do not depend on the turns of the recording."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import homenode as hn
from planted.record import compile_twin, corpus, record

# Programs whose threads do not race, with and without locks and atomics.
_NAMES = "wordcount dice netstat darts accounts bodies heat_columns filters sampler meters".split()
_QUANTA = (1, 30, 1000)
_HOMENODE = (sys.executable, "-m", "homenode")


@pytest.mark.parametrize("name", _NAMES)
def test_the_headline_is_the_same_whatever_the_quantum(name: str, tmp_path: Path) -> None:
    program = next(p for p in corpus() if p.source.stem == name)
    executable = compile_twin(program, "planted", tmp_path)
    times = []
    for quantum in _QUANTA:
        trace = tmp_path / f"q{quantum}.hnt"
        record(replace(program, quantum=quantum), executable, trace)
        times.append(hn.lines(str(trace), threads=1).time)
    first = times[0]
    for time in times[1:]:
        assert time["cycles"] == pytest.approx(first["cycles"], rel=0.02)
        for share in ("false_sharing_share", "true_sharing_share", "other_share"):
            assert time[share] == pytest.approx(first[share], abs=0.02)


def test_prices_without_a_clock_do_depend_on_it(tmp_path: Path) -> None:
    """This is why the answer comes from a clock."""
    program = next(p for p in corpus() if p.source.stem == "wordcount")
    executable = compile_twin(program, "planted", tmp_path)
    costs = []
    for quantum in (1, 1000):
        trace = tmp_path / f"q{quantum}.hnt"
        record(replace(program, quantum=quantum), executable, trace)
        costs.append(hn.simulate(str(trace), "cc", "migrate", 64).rows[0]["mcpr"])
    assert costs[0] > 2 * costs[1]


def test_what_has_no_clock_says_so(tmp_path: Path) -> None:
    program = next(p for p in corpus() if p.source.stem == "wordcount")
    executable = compile_twin(program, "planted", tmp_path)
    trace = tmp_path / "t.hnt"
    record(replace(program, quantum=1000), executable, trace)
    for words in (["sharing"], ["advise", "--machine", "cc", "--policy", "migrate"]):
        done = subprocess.run(
            [*_HOMENODE, *words, str(trace)], check=True, capture_output=True, text=True
        )
        assert "depend on the order of the trace" in done.stderr
    on_lines = subprocess.run(
        [*_HOMENODE, "advise", str(trace)], check=True, capture_output=True, text=True
    )
    assert "depend on" not in on_lines.stderr


def test_nor_do_the_source_lines_of_a_report(tmp_path: Path) -> None:
    """Their misses are counted without a clock, in turns of one reference."""
    program = next(p for p in corpus() if p.source.stem == "wordcount")
    executable = compile_twin(program, "planted", tmp_path)
    tables = []
    for quantum in (1, 1000):
        trace, page = tmp_path / f"q{quantum}.hnt", tmp_path / f"q{quantum}.html"
        record(replace(program, quantum=quantum), executable, trace)
        subprocess.run([*_HOMENODE, "report", str(trace), "-o", str(page)], check=True)
        after = page.read_text().split("Where in the source")[1]
        tables.append(after.split("</tbody>")[0])
    assert tables[0] == tables[1]
    assert "reference by reference" in tables[0]
    assert 'class="hot"' in tables[0]
