#!/usr/bin/env bash
# pycachesim 0.3.1: stores are not among the hits and misses, and "no write-allocate" allocates.
# Guessed: HIT_count + MISS_count = LOAD_count + STORE_count; with write_allocate=False a store that
# misses goes to the next level and leaves the cache as it is.
# Seen: a store that hits counts as nothing but a store; one that misses, with write_allocate=True,
# counts as a load and a miss of 64 bytes. A load that crosses a line is one load and two misses. With
# write_back=True, write_allocate=False a store that misses puts the line into the cache without
# fetching it and without a miss: a load of bytes that were never fetched hits, and the eviction
# writes all 64 bytes of the line.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pycachesim==0.3.1
"$work/venv/bin/python" - <<'PY'
from cachesim import Cache, CacheSimulator, MainMemory

FIELDS = ["LOAD_count", "STORE_count", "HIT_count", "MISS_count", "EVICT_byte"]


def run(accesses, **options):
    memory = MainMemory()
    second = Cache("L2", 16, 8, 64, "LRU")
    memory.load_to(second)
    memory.store_from(second)
    first = Cache("L1", 2, 2, 64, "LRU", store_to=second, load_from=second, **options)
    simulator = CacheSimulator(first, memory)
    for kind, address in accesses:
        (simulator.load if kind == "load" else simulator.store)(address, 8)
    simulator.force_write_back()
    level = next(simulator.stats())
    return [level[field] for field in FIELDS]


print(FIELDS)
for name, accesses, options, expected in [
    ("load, store", [("load", 0), ("store", 0)], {}, [1, 1, 0, 1, 64]),
    ("store", [("store", 0)], {}, [1, 1, 0, 1, 64]),
    ("load that crosses a line", [("load", 60)], {}, [1, 0, 0, 2, 0]),
    (
        "store, load of other bytes, no write-allocate",
        [("store", 0), ("load", 32)],
        {"write_back": True, "write_allocate": False},
        [1, 1, 1, 0, 64],
    ),
]:
    found = run(accesses, **options)
    print(found, name)
    assert found == expected, "the behaviour has changed"
PY
