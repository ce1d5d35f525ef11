"""Alpha, beta and gamma: the model, the published tables, files, traces and measuring."""

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import homenode as hn
from homenode_studies.alphabeta import (
    alpha_beta,
    expected_gamma,
    from_trace,
    measure,
    table_3_1,
    table_3_2,
)
from homenode_studies.alphabeta.published import FOLDER
from support.command import Command

# Rows whose printed numbers do not follow from their own times.
_DIFFERS = {
    "matmult": {"beta": ".26, but 0.16 follows"},
    "e-fft": {"beta": ".56, but 0.57 follows (last digit)"},
}


@pytest.mark.parametrize("row", table_3_1(), ids=lambda row: row["program"])
def test_every_row_of_table_3_1(row: dict[str, object]) -> None:
    assert row["differs"] == _DIFFERS.get(str(row["program"]), {})


def test_table_3_1_has_its_eleven_rows_and_no_alpha_where_there_is_none() -> None:
    rows = table_3_1()
    assert len(rows) == 11
    assert [row["program"] for row in rows if row["alpha"] is None] == ["ParMult"]
    assert [row["program"] for row in rows if row["ratio"] == 2.3] == ["Gfetch", "matmult"]
    with (FOLDER / "table-3.1.csv").open() as file:
        printed = list(csv.DictReader(file))
    assert [row["gamma"] for row in printed] == [f"{row['gamma']:.2f}" for row in rows]


def test_table_3_2_follows_from_its_rows_but_for_one_user_time() -> None:
    differing = {row["program"]: row["differs"] for row in table_3_2() if row["differs"]}
    assert list(differing) == ["IMatMult"]
    assert differing["IMatMult"]["T_numa"].startswith("82.1, but 69.0 in table 3.1")
    negative = next(row for row in table_3_2() if row["program"] == "Primes1")
    assert (negative["delta_s"] < 0, negative["overhead"]) == (True, 0)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("beta", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("ratio", [1.2, 2.0, 15.0])
def test_the_equations_are_each_others_inverse(alpha: float, beta: float, ratio: float) -> None:
    """Times computed by equations 3.2 and 3.3 return the values they were computed from."""
    local = 37.5
    numa = local * expected_gamma(alpha, beta, ratio)
    far = local * expected_gamma(0.0, beta, ratio)
    found = alpha_beta(far, numa, local, ratio=ratio)
    assert (found.alpha, found.beta) == (pytest.approx(alpha, abs=1e-9), pytest.approx(beta))
    assert found.gamma == pytest.approx(numa / local)


@pytest.mark.parametrize(
    ("times", "note"),
    [
        ((10.0, 10.0, 9.99), "alpha means nothing"),
        ((10.0, 11.0, 5.0), "T_numa is above T_global"),
        ((10.0, 4.0, 5.0), "T_numa is below T_local"),
        ((30.0, 10.0, 10.0), "beta is above 1"),
        ((9.0, 10.0, 10.0), "T_global is below T_local"),
    ],
)
def test_what_the_model_does_not_fit_is_said(times: tuple[float, float, float], note: str) -> None:
    assert note in " ".join(alpha_beta(*times).notes)


def test_the_median_of_repetitions_counts() -> None:
    once = alpha_beta(60.0, 50.0, 40.0)
    often = alpha_beta([60.0, 99.0, 1.0], [50.0, 50.0], [40.0])
    assert often == once


def test_times_typed_in(homenode: Command) -> None:
    words = ["--global", "67.4,67.5,67.3", "--numa", 60.2, "--local", 60.1, "--ratio", 2.3]
    shown = homenode("alphabeta", *words, "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    assert found["alpha"] == pytest.approx(7.2 / 7.3)
    assert found["beta"] == pytest.approx(7.3 / 60.1 / 1.3)
    table = homenode("alphabeta", *words)
    assert "0.99" in table.out
    assert "0.09" in table.out


def test_times_from_a_file(tmp_path: Path, homenode: Command) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "program, T_global ,T_numa,T_local,ratio,S_numa,S_global\n"
        "a,60,50,40,,3,1\na,66,50,40,,3,1\na,63,50,40,,3,1\nb,60,60,40,1.7,,\n"
    )
    shown = homenode("alphabeta", "--times", path, "--json", "--ratio", 3)
    assert shown.code == 0
    first, second = json.loads(shown.out)
    assert (first["t_global"], first["ratio"], first["overhead"]) == (63, 3, 0.04)
    assert (second["alpha"], second["ratio"], second["overhead"]) == (0, 1.7, None)
    assert homenode("alphabeta", "--times", path).code == 0
    path.write_text("program,T_global,T_numa,T_local,gamma\nc,60,50,40,9.99\n")
    wrong = homenode("alphabeta", "--times", path)
    assert wrong.code == 1
    assert "9.99, but 1.25 follows" in wrong.out


def test_the_published_tables_are_findings(homenode: Command) -> None:
    shown = homenode("alphabeta", "--published")
    assert shown.code == 1
    assert "beta .26, but 0.16 follows" in shown.out
    assert "82.1, but 69.0" in shown.out
    both = json.loads(homenode("alphabeta", "--published", "--json").out)
    assert [len(both[name]) for name in ("table_3_1", "table_3_2")] == [11, 6]


def test_alpha_from_a_trace(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("alphabeta", "--trace", trace.path, "--page-size", "1K", "--json")
    found = json.loads(shown.out)
    assert found == from_trace(trace, "1K")
    assert 0 < found["alpha"] < 1
    assert 1.4 / 0.84 < found["ratio"] < 1.5 / 0.65
    assert homenode("alphabeta", "--trace", trace.path).code == 0


@dataclass
class Machine:
    """A machine of two nodes as Linux describes it, and a `numactl` that records its words."""

    nodes: Path
    words: Path

    def node(self, number: int, cpus: str, distances: str, memory_kb: int = 4096) -> None:
        """Adds a node."""
        folder = self.nodes / f"node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(cpus + "\n")
        (folder / "distance").write_text(distances + "\n")
        (folder / "meminfo").write_text(f"Node {number} MemTotal:  {memory_kb} kB\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path / "node", tmp_path / "words")
    monkeypatch.setattr("homenode_studies.alphabeta.placements.NODES", made.nodes)
    numactl = tmp_path / "bin" / "numactl"
    numactl.parent.mkdir()
    numactl.write_text(
        f'#!/bin/sh\necho "OMP=$OMP_NUM_THREADS $*" >> {made.words}\n'
        'while [ "$1" != -- ]; do shift; done; shift; exec "$@"\n'
    )
    numactl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{numactl.parent}:/usr/bin:/bin")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return made


_SPIN = [sys.executable, "-c", "sum(range(10**6))"]


def test_measuring_takes_turns_and_uses_the_farthest_memory(machine: Machine) -> None:
    machine.node(0, "2-3", "10 21 31")
    machine.node(1, "", "21 10 41")
    machine.node(2, "4", "31 41 10")
    found = measure(_SPIN, repeat=2)
    lines = machine.words.read_text().splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("OMP= --cpunodebind=0 --membind=2 -- ")
    assert lines[1].startswith("OMP= --localalloc -- ")
    assert lines[2].startswith("OMP=1 --physcpubind=2 --membind=0 -- ")
    assert lines[:3] == lines[3:]
    assert found.analysis.ratio == pytest.approx(3.1)
    assert all(len(times) == 2 and min(times) > 0 for times in found.user_s.values())


def test_the_one_thread_run_can_be_another_command(machine: Machine) -> None:
    machine.node(0, "0", "10 20")
    machine.node(1, "1", "20 10")
    found = measure([*_SPIN, "-p8"], local_command=[*_SPIN, "-p1"], ratio=1.5, repeat=1)
    assert [words[-1] for words in found.commands.values()] == ["-p8", "-p8", "-p1"]
    assert found.analysis.ratio == 1.5


def test_a_program_that_fails_is_an_error(machine: Machine, homenode: Command) -> None:
    machine.node(0, "0", "10 20")
    machine.node(1, "1", "20 10")
    shown = homenode("alphabeta", "--measure", "--", "/bin/sh", "-c", "exit 3")
    assert (shown.code, shown.out) == (2, "")
    assert "exit code 3" in shown.err


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "no NUMA node"),
        ([(0, "0-1", "10", 4096)], "1 NUMA node with memory"),
        ([(0, "0-1", "10 20", 4096), (1, "2-3", "20 10", 0)], "1 NUMA node with memory"),
        ([(0, "0", "10 10", 1), (1, "1", "10 10", 1)], "equally far"),
        ([(0, "", "10 20", 1), (1, "", "20 10", 1)], "has processors"),
    ],
)
def test_a_machine_that_cannot_is_told_what_to_do(
    nodes: list[tuple[int, str, str, int]], message: str, machine: Machine, homenode: Command
) -> None:
    for node in nodes:
        machine.node(*node)
    shown = homenode("alphabeta", "--measure", "--", "true")
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err
    assert "--trace" in shown.err


def test_numactl_may_be_missing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.node(0, "0", "10 20")
    machine.node(1, "1", "20 10")
    monkeypatch.setenv("PATH", str(machine.nodes))
    with pytest.raises(hn.ConfigError, match="install"):
        measure(["true"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no times given"),
        (["--global", "1", "--numa", "1"], "--local missing"),
        (["--published", "--times", "x.csv"], "--times and --published given"),
        (["--global", "1", "--numa", "1", "--local", "0"], "positive"),
        (["--global", "1", "--numa", "1", "--local", "nan"], "positive"),
        (["--global", "2", "--numa", "1", "--local", "1", "--ratio", "1"], "more than 1"),
        (["--global", "x", "--numa", "1", "--local", "1"], "expected seconds"),
        (["--published", "--", "prog"], "only with --measure"),
        (["--times", "missing.csv"], "missing.csv"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_usage(
    words: list[str], message: str, homenode: Command
) -> None:
    shown = homenode("alphabeta", *words)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column program"),
        ("program,T_global,T_numa\na,1,1\n", "no column T_local"),
        ("program,T_global,T_numa,T_local\n", "no rows"),
        ("program,T_global,T_numa,T_local\na,1,fast,1\n", "line 2: T_numa is 'fast'"),
        ("program,T_global,T_numa,T_local\na,1,1,0\n", "line 2: T_local is 0"),
    ],
)
def test_a_bad_file_is_named_with_its_line(
    text: str, message: str, tmp_path: Path, homenode: Command
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    shown = homenode("alphabeta", "--times", path)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err
