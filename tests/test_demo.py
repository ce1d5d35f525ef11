"""The demonstration: its checks, and all of it on small programs."""

import json
from pathlib import Path

import pytest

import homenode as hn
from homenode import demo
from homenode.demo import programs
from support.command import Command
from support.outcomes import outcome

_FALLING = demo.Program("gauss", (), falls=True)
_EXCEPTION = demo.Program("sorbyr", (), falls=False)


def _curve(*costs: float) -> hn.Result:
    sizes = (64, 1024, 8192)
    return hn.Result(
        [outcome("optimal", c, block_size=s) for s, c in zip(sizes, costs, strict=True)]
    )


@pytest.mark.parametrize(
    ("program", "costs", "holds"),
    [
        (_FALLING, (1100, 1500, 2000), True),
        (_FALLING, (1100, 1050, 2000), True),
        (_FALLING, (2000, 1500, 1100), False),
        (_EXCEPTION, (2000, 1100, 1500), True),
        (_EXCEPTION, (1100, 1500, 2000), False),
    ],
)
def test_block_sizes_are_judged_by_the_thesis(
    program: demo.Program, costs: tuple[float, ...], holds: bool
) -> None:
    check = demo.smaller_is_cheaper(program, _curve(*costs).rows)
    assert check.holds is holds
    assert f"{costs[0] / 1000:.3f} at 64 B" in check.detail[0]


def test_a_policy_below_the_optimum_is_found() -> None:
    rows = [outcome("optimal", 1500), outcome("ace", 1500), outcome("delay", None)]
    assert demo.optimum_is_least(rows).holds
    assert not demo.optimum_is_least([*rows, outcome("migrate", 1499)]).holds


def test_every_program_has_its_source_and_every_machine_exists() -> None:
    assert all(programs.source(program.name).exists() for program in demo.PROGRAMS)
    assert {row["name"] for row in hn.table("machines")} >= set(demo.MACHINES)


def test_programs_in_the_current_folder_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for module in ("click", "homenode", "json"):
        Path(f"{module}.py").write_text("raise SystemExit('loaded from the current folder')\n")
    Path("empty.c").write_text("int main(void) { return 0; }\n")
    assert programs.build(Path("empty.c"), "empty", "homenode").exists()


@pytest.mark.timeout(1200)
def test_the_whole_demonstration_on_small_programs(program: Command, tmp_path: Path) -> None:
    script = tmp_path / "small.py"
    script.write_text(
        "import sys\n"
        "from homenode import demo\n"
        "demo.PROGRAMS = (demo.Program('p-qsort', ('-n', '2000'), falls=True),\n"
        "                 demo.Program('sorbyr', ('-n', '130', '-i', '2'), falls=False))\n"
        "from homenode.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    made = program("demo", "-o", tmp_path / "demo", "--json", script=script)
    assert made.code in {0, 1}, made.err
    found = json.loads(made.out)
    assert "p-qsort: ok" in made.err
    least = found["checks"][-1]
    assert least["holds"], least
    policies = {row["policy"] for row in found["outcomes"]}
    assert {"optimal", "optimal-no-replication", "ace", "delay", "platinum"} <= policies
    assert len(found["outcomes"]) == 2 * len(demo.MACHINES) * len(demo.BLOCK_SIZES) * len(policies)
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "p-qsort.c:" in page
    assert "sor.h:" in page
    traces = [hn.Trace.open(tmp_path / "demo" / f"{name}.hnt") for name in ("p-qsort", "sorbyr")]
    assert [trace.threads for trace in traces] == [demo.THREADS] * 2
    # The same as tables.
    printed = program("demo", "-o", tmp_path / "again", script=script)
    assert printed.code == made.code, printed.err
    assert "sorbyr.hnt: " in printed.out
    assert least["statement"] in printed.out
