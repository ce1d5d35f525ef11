"""With one processor, a machine on a bus has the misses that Valgrind's cachegrind counts.

How the streams are matched: the same program runs under lackey, whose lines are the references,
and under cachegrind, which simulates its own; without address randomisation and with the same
environment both see the same addresses. A modify is one reference to cachegrind; homenode counts
its write too, which always hits. A reference that straddles two lines misses at most once for
cachegrind and once a line for homenode, so a short model counts both ways: its misses by lines must
equal homenode's, its misses by references cachegrind's.
"""

import re
import shutil
import subprocess
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import homenode as hn

_SOURCE = """
static double a[40][40], b[40][40], c[40][40];
int main(void) {
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++) {
      double sum = 0;
      a[i][j] = i + j;
      for (int k = 0; k < 40; k++) sum += a[i][k] * b[k][j];
      c[j][i] = sum;
    }
  return c[3][4] == 1;
}
"""

# Size, associativity and line of a cache; the last one has a single set.
_CACHES = [(4096, 1, 32), (8192, 2, 64), (32768, 8, 64), (16384, 256, 64)]

Reference = tuple[int, int]


def _misses(references: Iterable[Reference], cache: tuple[int, int, int]) -> tuple[int, int]:
    """Misses by lines and by references; each set is a list of lines, the last used at the end."""
    size, ways, line = cache
    sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(size // ways // line)]
    lines = misses = 0
    for address, length in references:
        missing = 0
        for block in range(address // line, (address + length - 1) // line + 1):
            held = sets[block % len(sets)]
            if block in held:
                held.move_to_end(block)
                continue
            missing += 1
            held[block] = None
            if len(held) > ways:
                held.popitem(last=False)
        lines += missing
        misses += missing > 0
    return lines, misses


def _references(log: Path, letters: str) -> Iterator[Reference]:
    pattern = re.compile(rf"^ ?[{letters}] +([0-9a-f]+),([0-9]+)$", re.MULTILINE)
    for match in pattern.finditer(log.read_text()):
        yield int(match[1], 16), int(match[2])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small program; skips where it cannot be traced."""
    tools = {tool: shutil.which(tool) for tool in ("valgrind", "setarch", "cc")}
    for tool, path in tools.items():
        if path is None:
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("cachegrind")
    (folder / "p.c").write_text(_SOURCE)
    command = [str(tools["cc"]), "-O1", "-static", "-o", "p", "p.c"]
    subprocess.run(command, cwd=folder, check=True)
    if subprocess.run([str(tools["setarch"]), "-R", "true"], check=False).returncode != 0:
        pytest.skip("addresses cannot be kept from being randomised here")
    log = f"--log-file={folder / 'log'}"
    _valgrind(folder, "lackey", "--trace-mem=yes", log)
    return folder


def _valgrind(folder: Path, tool: str, *options: str) -> str:
    command = ["setarch", "-R", "valgrind", f"--tool={tool}", *options, "./p"]
    run = subprocess.run(
        command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=True
    )
    return run.stderr.decode()


@pytest.mark.parametrize("letters", ["LSM", "I"], ids=["data", "instructions"])
def test_misses_are_those_of_cachegrind(program: Path, letters: str) -> None:
    path = program / f"{letters}.hnt"
    text = (program / "log").read_text().splitlines(keepends=True)
    chosen = [line for line in text if line.lstrip()[:1] in letters]
    (program / "part.lackey").write_text("".join(chosen))
    trace = hn.Trace.import_(program / "part.lackey", path)
    for cache in _CACHES:
        size, ways, line = cache
        shape = f"{size},{ways},{line}"
        said = _valgrind(
            program,
            "cachegrind",
            "--cache-sim=yes",
            f"--D1={shape}",
            f"--I1={shape}",
            "--LL=1048576,16,64",
            "--cachegrind-out-file=/dev/null",
        )
        kind = "I1" if letters == "I" else "D1"
        cachegrind = re.search(rf"{kind} +misses: +([0-9,]+)", said)
        assert cachegrind is not None, said
        lines, references = _misses(_references(program / "log", letters), cache)
        assert references == int(cachegrind[1].replace(",", "")), f"{letters} {shape}"
        for row in hn.simulate(
            trace,
            "bus-smp",
            protocols="mesi,dragon",
            cache_sizes=size,
            associativities=ways,
            block_sizes=line,
            private="shared",
            order="trace",
        ):
            assert sum(row["misses"].values()) == lines, f"{row['protocol']} {letters} {shape}"
            assert row["misses"]["cold"] + row["misses"]["replacement"] == lines
