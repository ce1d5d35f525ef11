"""`run_pycachesim.py RECORDS COUNT`: pycachesim on the first records, a cache for each thread."""

import json
import struct
import sys
from pathlib import Path

from cachesim import Cache, CacheSimulator, MainMemory

RECORD = struct.Struct("<QIBBBB")  # address, block, thread, write, size, site
THREADS = 4


def simulator() -> CacheSimulator:
    memory = MainMemory()
    cache = Cache("L1", 64, 8, 64, "LRU")
    memory.load_to(cache)
    memory.store_from(cache)
    return CacheSimulator(cache, memory)


simulators = [simulator() for _ in range(THREADS)]
loads = [one.load for one in simulators]
stores = [one.store for one in simulators]
with Path(sys.argv[1]).open("rb") as file:
    records = file.read(int(sys.argv[2]) * RECORD.size)
for address, _, thread, write, size, _ in RECORD.iter_unpack(records):
    (stores if write else loads)[thread](address, size)
misses = sum(next(one.stats())["MISS_count"] for one in simulators)
print(json.dumps({"references": len(records) // RECORD.size, "misses": misses}))
