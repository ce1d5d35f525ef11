#!/usr/bin/env bash
# libcachesim 0.3.5: Belady is worse than LRU, without a word, on traces that lack the next access.
# Guessed: an error, or the next use computed from the trace, as it is read twice or is a list.
# Seen: with requests made by hand, and with a CSV file, Belady evicts by `next_access_vtime`, which
# is then the same for all; it has 299 misses where LRU has 294 and the optimum is 197. With
# next_access_vtime filled in, it has 197. A "distance from optimal" computed so has the wrong sign.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check libcachesim==0.3.5
"$work/venv/bin/python" - "$work/trace.csv" <<'PY'
import random
import sys

import libcachesim

random.seed(1)
trace = [random.randrange(20) for _ in range(400)]
upcoming, later = {}, [0] * len(trace)
for index in reversed(range(len(trace))):
    later[index] = upcoming.get(trace[index], 1 << 62)
    upcoming[trace[index]] = index


def misses(cache, known):
    count = 0
    for index, block in enumerate(trace):
        request = libcachesim.Request()
        request.obj_id, request.obj_size = block, 1
        if known:
            request.next_access_vtime = later[index]
        count += not cache.get(request)
    return count


def optimum(size):
    cached, count = {}, 0
    for index, block in enumerate(trace):
        if block not in cached:
            count += 1
            if len(cached) == size:
                del cached[max(cached, key=cached.get)]
        cached[block] = later[index]
    return count


with open(sys.argv[1], "w") as file:
    file.write("time,id,size\n" + "".join(f"{i},{b},1\n" for i, b in enumerate(trace)))
fields = libcachesim.ReaderInitParam(has_header=True, has_header_set=True, obj_id_is_num=True)
fields.time_field, fields.obj_id_field, fields.obj_size_field = 1, 2, 3
reader = libcachesim.TraceReader(sys.argv[1], libcachesim.TraceType.CSV_TRACE, fields)
from_file = round(400 * libcachesim.Belady(5).process_trace(reader)[0])
found = {
    "optimum by definition": optimum(5),
    "LRU": misses(libcachesim.LRU(5), known=False),
    "Belady": misses(libcachesim.Belady(5), known=False),
    "Belady, CSV": from_file,
    "Belady with next_access_vtime": misses(libcachesim.Belady(5), known=True),
}
print(found)
assert list(found.values()) == [197, 294, 299, 299, 197], "the behaviour has changed"
PY
