#!/usr/bin/env bash
# pycachesim 0.3.1: a set with replacement policy "MRU" keeps one line, however many ways it has.
# Guessed: empty ways are filled first, and then the most recently used line is replaced.
# Seen: two lines alternating in a set of 4 ways miss each time; LRU, FIFO and random hit after the
# first two. The most recently used way is replaced although others are empty.
# Also: `Cache.cached`, the set of cached addresses, adds a constant with upper bits that differ from
# process to process, while `Cache.contains` is right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pycachesim==0.3.1
"$work/venv/bin/python" - <<'PY'
from cachesim import Cache, CacheSimulator, MainMemory


def misses(policy):
    memory = MainMemory()
    cache = Cache("L1", 1, 4, 64, policy)
    memory.load_to(cache)
    memory.store_from(cache)
    simulator = CacheSimulator(cache, memory)
    for address in [0, 64] * 3:
        simulator.load(address, 1)
    return next(simulator.stats())["MISS_count"], cache


for policy, expected in [("LRU", 2), ("FIFO", 2), ("RR", 2), ("MRU", 6)]:
    found, cache = misses(policy)
    print(f"{policy}: {found} misses of 6 loads of two lines in a set of 4 ways")
    assert found == expected, "the behaviour has changed"
_, cache = misses("LRU")
print("contains(0):", cache.contains(0), " 0 in cached:", 0 in cache.cached)
assert cache.contains(0) and 0 not in cache.cached and len(cache.cached) == 128
PY
