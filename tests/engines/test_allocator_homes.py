"""Homes at the node that allocated the page."""

from typing import Any

import pytest

import homenode as hn
from homenode.demo import programs
from homenode.errors import ConfigError
from support.command import Command

# Two threads allocate two pages each; later the main thread writes all four, and static data.
_PROGRAM = """
#include <pthread.h>
#include <stdlib.h>

static _Alignas(4096) volatile char table[3 * 4096];
static char *own[3];

static void *allocate(void *number) {
    own[(long)number] = aligned_alloc(4096, 2 * 4096);
    own[(long)number][0] = own[(long)number][4096] = 1;
    return 0;
}

static void *use(void *number) {
    for (long thread = 1; thread < 3; thread++)
        own[thread][64] = own[thread][4096 + 64] = table[4096 * thread] = 1;
    return number;
}

int main(void) {
    pthread_t threads[2];
    for (long number = 0; number < 2; number++)
        pthread_create(&threads[number], 0, allocate, (void *)(number + 1));
    for (long number = 0; number < 2; number++)
        pthread_join(threads[number], 0);
    use(0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def allocating(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    folder = tmp_path_factory.mktemp("allocating")
    source = folder / "allocating.c"
    source.write_text(_PROGRAM)
    program = programs.build(source, folder / "allocating", "homenode")
    return hn.Trace.record([str(program)], folder / "t.hnt")


@pytest.mark.parametrize("order", ["clock", "trace"])
@pytest.mark.parametrize(("processors", "nodes"), [(3, [1, 1, 2, 2]), (2, [0, 0, 1, 1])])
def test_pages_are_with_their_allocators(
    allocating: hn.Trace, order: str, processors: int, nodes: list[int]
) -> None:
    options: Any = {"order": order, "processors": processors, "uses": True}
    homes = []
    for home in ("allocator", "first-touch"):
        use = hn.simulate(allocating, "dash-mesh", homes=home, **options).uses[0]
        heap = ["allocating.c:9" in use.objects[number] for number in use.page_object]
        homes.append(dict(zip(use.page_address[heap].tolist(), use.page_home[heap], strict=True)))
    # Two pages each; the threads also write them first.
    assert sorted(homes[0].values()) == nodes
    assert homes[0] == homes[1]


def test_static_data_are_dealt_out(allocating: hn.Trace) -> None:
    use = hn.simulate(allocating, "dash-mesh", homes="allocator", order="trace", uses=True).uses[0]
    table = [use.objects[number] == "table" for number in use.page_object]
    first, second = use.page_home[table].tolist()
    assert second != first


def test_a_trace_without_allocations_is_refused(homenode: Command) -> None:
    trace = hn.Trace.from_numpy(thread=[0, 1], kind="R", address=[0x1000, 0x2000])
    done = homenode("simulate", trace.path, "--machine", "dash-mesh", "--home", "allocator")
    assert (done.code, done.out) == (2, "")
    said = "has no allocations; record the program with homenode record, or say --home first-touch"
    assert f"--home allocator: {trace.path}" in done.err
    assert said in done.err


def test_a_walk_has_no_allocations() -> None:
    with pytest.raises(ConfigError, match="--home allocator chooses homes by the allocations of a"):
        hn.explain("dash", home="allocator")
