"""The workload programs as ordinary programs: they build cleanly, run, and check themselves."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from homenode import demo
from homenode_studies import workloads

NAMES = [entry.name for entry in workloads.TABLE]
STRICT = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
# Programs of Bolosky's thesis: its table 2.1, and those that are only in its table 3.1.
THESIS = {
    *("e-fft", "e-simp", "e-hyd", "e-nasa", "gauss", "chip", "bsort", "kmerge", "plytrace"),
    *("sorbyc", "sorbyr", "matmult", "mp3d", "cholesky", "water"),
    *("p-gauss", "p-qsort", "p-matmult", "p-life"),
    *("ParMult", "Gfetch", "Primes1", "Primes2", "Primes3"),
}
OK = re.compile(r"(?P<name>[a-z0-9-]+): ok, checksum (?P<checksum>[0-9a-f]{16})\n")


class Programs(dict[str, Path]):
    """The programs by name, each built by the system's compiler when first used.

    Building all at once would take longer than a single test may on a busy machine.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = workloads.build(name, self._folder / name, flags=STRICT)
        return self[name]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """All programs, built without a single warning."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler `cc` here")
    return Programs(tmp_path_factory.mktemp("programs"))


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=250
    )


def checksum(program: Path, *arguments: str) -> str:
    result = run(program, *arguments)
    assert result.returncode == 0, result.stderr
    match = OK.fullmatch(result.stdout)
    assert match, result.stdout
    assert match["name"] == program.name
    return match["checksum"]


@pytest.mark.parametrize("name", NAMES)
def test_quick_size_is_right_with_any_number_of_threads(programs: Programs, name: str) -> None:
    entry = workloads.find(name)
    sums = [checksum(programs[name], *entry.quick, "-p", str(p)) for p in (1, 2, 8, 13, 64)]
    if not entry.per_thread:
        assert len(set(sums)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_result_depends_on_the_seed_and_on_nothing_else(programs: Programs, name: str) -> None:
    quick = workloads.find(name).quick
    first = checksum(programs[name], *quick, "-s", "1")
    assert first == checksum(programs[name], *quick)
    assert first != checksum(programs[name], *quick, "-s", "2")


@pytest.mark.parametrize("name", NAMES)
def test_default_arguments_are_those_of_the_table(programs: Programs, name: str) -> None:
    entry = workloads.find(name)
    threads = ("-p", str(workloads.THREADS))
    assert checksum(programs[name]) == checksum(programs[name], *entry.arguments, *threads)
    shown = run(programs[name], "--help").stdout
    assert f"threads, the first one included (default {workloads.THREADS})\n" in shown


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_result_is_found(programs: Programs, name: str) -> None:
    result = run(programs[name], *workloads.find(name).quick, "--corrupt")
    assert result.returncode == 1
    assert result.stdout == ""
    assert re.fullmatch(rf"{name}: FAILED: \d+ elements are wrong\n", result.stderr)


@pytest.mark.parametrize("name", NAMES)
def test_help_and_bad_options(programs: Programs, name: str) -> None:
    entry = workloads.find(name)
    shown = run(programs[name], "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"Usage: {name} [-p THREADS]")
    assert entry.summary in shown.stdout
    for arguments, says in (
        (["-p"], "-p: a number must follow"),
        (["-p", "0"], "0: expected a number from 1 to 1024"),
        (["-p", "2x"], "2x: expected a number from 1 to 1024"),
        (["-n", "-5"], "-5: expected a number from"),
        (["--fast"], "--fast: no such option"),
    ):
        result = run(programs[name], *arguments)
        assert result.returncode == 2
        assert f"{name}: {says}" in result.stderr


def test_simple_refuses_steps_after_which_its_mesh_folds(programs: Programs) -> None:
    assert checksum(programs["simple"], "-n", "12", "-i", "200")
    result = run(programs["simple"], "-i", "201")
    assert result.returncode == 2
    assert "-i: the mesh may fold after more than 200 steps" in result.stderr


def test_speech_refuses_more_frames_than_it_can_count(programs: Programs) -> None:
    result = run(programs["speech"], "-n", "16", "-i", "10001")
    assert result.returncode == 2
    assert "-i: costs are counted up to 10000 frames" in result.stderr


def test_weather_refuses_steps_that_rounding_may_spoil(programs: Programs) -> None:
    assert checksum(programs["weather"], "-n", "8", "-i", "500")
    result = run(programs["weather"], "-n", "8", "-i", "501")
    assert result.returncode == 2
    assert "-i: rounding errors may add up after more than 500 steps" in result.stderr


@pytest.mark.parametrize(
    ("name", "size", "says"),
    [
        ("fft1d", "512", "the number of points must be a power of four"),
        ("mgrid", "48", "the size must be a power of two"),
        ("ocean-contig", "128", "the size must be 2 more than a power of two"),
    ],
)
def test_sizes_that_do_not_divide_are_refused(
    programs: Programs, name: str, size: str, says: str
) -> None:
    result = run(programs[name], "-n", size)
    assert result.returncode == 2
    assert f"-n: {says}" in result.stderr


def test_an_even_number_of_transforms_restores_the_input(programs: Programs) -> None:
    twice, four_times = (checksum(programs["fft"], "--quick", "-i", n) for n in ("2", "4"))
    assert twice == four_times != checksum(programs["fft"], "--quick")


def test_sizes_of_markatos_and_chronaki() -> None:
    names = ["fft-in-place", "simple-columns", "weather", "speech"]
    assert workloads.with_size("markatos") == names
    for name in workloads.with_size("markatos"):
        size = workloads.find(name).size("markatos")
        assert (size.threads, size.quantum) == (64, 10)


def test_sizes_of_marchetti_and_of_talbot() -> None:
    for study, names in {
        "marchetti": {"sor", "mgrid", "appbt"},
        "talbot": {"fft1d", "ocean-contig", "ocean-noncontig"},
    }.items():
        assert names <= set(workloads.with_size(study))
        assert all(workloads.find(name).size(study).threads == 64 for name in names)


@pytest.mark.parametrize(
    ("name", "size"), [(entry.name, size) for entry in workloads.TABLE for size in entry.sizes]
)
def test_sizes_of_studies_run(programs: Programs, name: str, size: str) -> None:
    found = workloads.find(name).size(size)
    assert checksum(programs[name], *found.arguments, "-p", str(found.threads))


def test_a_size_that_is_not_there_is_an_error() -> None:
    from homenode import ConfigError

    with pytest.raises(ConfigError, match="weather has no size 'markato'; it has: markatos"):
        workloads.find("weather").size("markato")
    with pytest.raises(ConfigError, match="no workload has a size 'x'; choose one of markatos"):
        workloads.with_size("x")


def test_variants_compute_the_same(programs: Programs) -> None:
    for entry in workloads.TABLE:
        for variant in entry.variants:
            plain = checksum(programs[entry.name], *entry.quick)
            assert plain == checksum(programs[entry.name], *entry.quick, *variant.arguments)


def test_sor_on_narrow_numbers_does_not_depend_on_threads(programs: Programs) -> None:
    quick = workloads.find("sor").quick
    narrow = [checksum(programs["sor"], *quick, "--float", "-p", p) for p in ("1", "13")]
    assert narrow[0] == narrow[1] != checksum(programs["sor"], *quick)
    assert run(programs["sor"], *quick, "--float", "--corrupt").returncode == 1


def test_the_order_of_updates_does_not_matter_to_sor(programs: Programs) -> None:
    rows, columns = (checksum(programs[name], "--quick") for name in ("sorbyr", "sorbyc"))
    assert rows == columns


def test_the_layout_of_grids_does_not_matter_to_the_ocean(programs: Programs) -> None:
    tiles, rows = (
        checksum(programs[f"ocean-{name}"], "--quick") for name in ("contig", "noncontig")
    )
    assert tiles == rows


def test_the_flow_of_appbt_becomes_steady(programs: Programs) -> None:
    early, late, later = (
        checksum(programs["appbt"], "--quick", "-p", "1", "-i", steps)
        for steps in ("100", "700", "800")
    )
    assert early != late == later


def test_ocean_refuses_more_steps_than_its_check_can_tell(programs: Programs) -> None:
    assert checksum(programs["ocean-contig"], "--quick", "-i", "50")
    result = run(programs["ocean-contig"], "--quick", "-i", "51")
    assert result.returncode == 2
    assert "-i: what the equations leave may add up after more than 50 steps" in result.stderr


@pytest.mark.parametrize("name", NAMES)
def test_no_data_races(tmp_path: Path, name: str) -> None:
    flags = ("-O1", "-fsanitize=thread")
    line = workloads.command(name, tmp_path / name, flags=flags)
    if subprocess.run(line, capture_output=True, check=False).returncode != 0:
        pytest.skip("this compiler has no ThreadSanitizer")
    probe = run(tmp_path / name, "--help")
    if probe.returncode != 0:
        pytest.skip(f"ThreadSanitizer does not run here: {probe.stderr.strip()}")
    checksum(tmp_path / name, *workloads.find(name).quick, "-p", "13")


@pytest.mark.parametrize("name", NAMES)
def test_no_memory_errors_or_leaks(programs: Programs, name: str) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind here")
    result = subprocess.run(
        [
            *("valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"),
            *("--show-leak-kinds=all", "--errors-for-leak-kinds=all"),
            *(programs[name], *workloads.find(name).quick, "-p", "3"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_thesis_names_are_those_of_its_tables() -> None:
    names = [entry.thesis for entry in workloads.TABLE if entry.thesis]
    assert len(names) == len(set(names))
    assert set(names) <= THESIS
    assert all("thesis" in entry.source for entry in workloads.TABLE if entry.thesis)


def test_every_source_is_listed_once() -> None:
    folders = (workloads.FOLDER, demo.programs.FOLDER)
    files = [path.name for folder in folders for path in folder.glob("*.c")]
    assert sorted(entry.file for entry in workloads.TABLE) == sorted(files)
    assert all(entry.file == f"{entry.name}.c" for entry in workloads.TABLE)


@pytest.mark.parametrize("name", NAMES)
def test_source_says_what_the_table_says(name: str) -> None:
    entry = workloads.find(name)
    text = entry.path.read_text()
    head = text.split("*/")[0]
    assert head.startswith(f"/* {name}: ")
    assert f'.summary = "{entry.summary}"' in text
    for part in ("Sharing: ", "Source: ", "own code"):
        assert part in head


def test_every_workload_has_a_page() -> None:
    folder = Path(__file__).parents[3] / "docs" / "workloads"
    # A collection of programs has a page too.
    others = ["ecommerce"]
    pages = {path.stem for path in folder.glob("*.md")} - {"index"}
    assert pages == {*NAMES, *others}
    index = (folder / "index.md").read_text()
    listed = index.split("```{toctree}")[1].split("```")[0].split()[2:]
    assert listed == [*NAMES, *others]
    for name in NAMES:
        assert f"\n| {name} |" in index
        page = (folder / f"{name}.md").read_text()
        assert page.startswith(f"# {name}\n")
        assert f"]({name}.svg)" in page, "made by: homenode workloads picture -o docs/workloads"
        assert (folder / f"{name}.svg").stat().st_size < 30_000


def test_table_is_plain_data() -> None:
    rows = workloads.table()
    assert [row["name"] for row in rows] == NAMES
    assert all(
        {"name", "summary", "source", "sharing", "arguments", "quick"} <= row.keys() for row in rows
    )


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    from homenode import ConfigError

    with pytest.raises(ConfigError, match="there is no workload 'gaus'; choose one of gauss, "):
        workloads.find("gaus")
    with pytest.raises(ConfigError, match="cannot start the compiler"):
        workloads.build("gauss", tmp_path / "gauss", compiler=[os.fspath(tmp_path / "none")])
    with pytest.raises(ConfigError, match=r"compiling gauss\.c failed"):
        workloads.build("gauss", tmp_path / "gauss", flags=("-DPAGE_BYTES=+",))
