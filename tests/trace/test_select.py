"""Leaving out initialisation: where a selection begins, in recordings, and when it is suggested."""

import json
from pathlib import Path

import pytest

import homenode as hn
from support.command import Command

_C = r"""
#include <homenode.h>
#include <pthread.h>

enum { N = 2048 };
static int data[N];
static long sums[4];
static pthread_barrier_t gate;

static void fill(void)
{
    for (int i = 0; i < N; i++)
        data[i] = i;
}

static void *work(void *arg)
{
    const int me = (int)(long)arg;

    for (int i = me; i < N; i += 4)
        data[i]++;
    pthread_barrier_wait(&gate);
    for (int i = N - 1 - me; i >= 0; i -= 4)
        sums[me] += data[i];
    return 0;
}

int main(void)
{
    pthread_t threads[4];

    pthread_barrier_init(&gate, 0, 4);
    fill();
    homenode_marker("filled");
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return sums[0] + sums[1] + sums[2] + sums[3] == 0;
}
"""

_CXX = r"""
#include <thread>
#include <vector>

namespace shop {
template <class T> struct Table {
    std::vector<T> rows;
    __attribute__((noinline)) void fill(int n) { for (int i = 0; i < n; i++) rows.push_back(i); }
    __attribute__((noinline)) T sum(int from) const
    {
        T all = 0;
        for (unsigned i = from; i < rows.size(); i += 4) all += rows[i];
        return all;
    }
};
}

int main()
{
    shop::Table<long> table;
    long sums[4] = {};
    std::vector<std::thread> all;
    table.fill(2000);
    for (int i = 0; i < 4; i++) all.emplace_back([&, i] { sums[i] = table.sum(i); });
    for (auto &one : all) one.join();
    return sums[0] + sums[1] + sums[2] + sums[3] == 0;
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recordings of a program in C and one in C++, each with a serial start."""
    from homenode.capture import compilers

    folder = tmp_path_factory.mktemp("serial")
    made = {}
    for language, name, text in (("c", "serial.c", _C), ("c++", "serial.cpp", _CXX)):
        source, program = folder / name, folder / f"{name}.out"
        source.write_text(text)
        words = ["-O1", str(source), "-o", str(program), "-lpthread"]
        assert compilers.compile(language, words) == 0
        made[language] = hn.Trace.record([str(program)], folder / f"{name}.hnt").path
    return made


def _functions(trace: hn.Trace) -> list[str]:
    """The function of each reference that is in one."""
    names = {line["pc"]: line["function"] for line in trace.metadata["lines"]}
    found = trace.to_arrow().column("pc").to_pylist()
    return [names[pc] for pc in found if pc in names]


def test_recording_starts_at_the_requested_place(recorded: dict[str, Path]) -> None:
    whole = hn.Trace.open(recorded["c"])
    rows = whole.to_arrow().to_pandas()

    parallel = hn.transform("select", whole, from_="first-thread")
    assert hn.transform("select", whole, **{"from": "first-thread"}).checksum == parallel.checksum
    second = int((rows["thread"] != rows["thread"][0]).to_numpy().argmax())
    assert parallel.references == len(rows) - second
    assert "fill" not in _functions(parallel)
    assert _functions(parallel)[0] == "work"

    marked = hn.transform("select", whole, from_="mark:filled")
    assert whole.references > marked.references > parallel.references
    part = hn.transform("select", whole, from_="time:20%")
    assert part.references == whole.references - whole.references // 5
    assert _functions(hn.transform("select", whole, from_="function:work"))[0] == "work"
    before = hn.transform("select", whole, until="function:work")
    assert set(_functions(before)) == {"fill", "main"}

    # All four threads leave the barrier first, so a simulated barrier waits for none of them.
    together = hn.transform("select", whole, from_="first-barrier")
    assert 2048 < together.references < parallel.references
    assert hn.lines(together).facts["deadlocks_broken"] == 0


@pytest.mark.parametrize("name", ["shop::Table::sum", "shop::Table<long>::sum", None])
def test_a_function_in_cxx_has_several_names(recorded: dict[str, Path], name: str | None) -> None:
    whole = hn.Trace.open(recorded["c++"])
    full = next(found for found in _functions(whole) if "::sum(" in found)
    made = hn.transform("select", whole, from_=f"function:{name or full}")
    assert _functions(made)[0] == full
    assert made.references < whole.references


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("function:shop::Table::summ", "near in name are shop::Table::sum"),
        ("marker:sorted", "from=marker:sorted: the trace has no such event; it has none"),
        ("first-barrier", "no barrier is passed by several threads; give first-thread, time:P%"),
        ("halfway", "from=halfway: expected first-thread, first-barrier, time:P%, function:NAME"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(
    recorded: dict[str, Path], homenode: Command, tmp_path: Path, place: str, said: str
) -> None:
    out = tmp_path / "u.hnt"
    done = homenode("transform", "select", recorded["c++"], "-o", out, "--from", place)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err
    assert not list(tmp_path.iterdir())


def test_a_serial_start_is_reported_with_the_command_that_removes_it(
    recorded: dict[str, Path], homenode: Command, tmp_path: Path
) -> None:
    trace, out = recorded["c"], tmp_path / "u.hnt"
    command = f"homenode transform select {trace} -o U.hnt --from first-thread"
    commands = {
        "simulate": ["--policy", "first-touch"],
        "simulate --machine bus-smp": ["--protocol", "mesi"],
        "sharing": [],
        "advise": [],
        "optimal": [],
    }
    for name, options in commands.items():
        said = homenode(*name.split(), trace, *options).err
        assert said.count(command) == 1, (name, said)
    report = homenode("report", trace, "-o", tmp_path / "r.html")
    assert report.code == 0
    assert "--from first-thread" in (tmp_path / "r.html").read_text()
    found = json.loads(homenode("advise", trace, "--json").out)
    assert command in found["provenance"]["suggestions"][0]

    words = command.replace("U.hnt", str(out)).split()[1:]
    assert homenode(*words).code == 0
    for name, options in commands.items():
        assert "--from" not in homenode(*name.split(), out, *options).err
    assert hn.lines(out).provenance["suggestions"] == []
