"""`run_libcachesim.py RECORDS`: libCacheSim on the records, by its own loop in C."""

import json
import sys

import libcachesim

BLOCKS = 512  # of 64 bytes: 32 KiB
# A record's fields; the second is the block, and sizes are ignored.
FIELDS = libcachesim.ReaderInitParam(binary_fmt_str="<QIBBBB", ignore_obj_size=True)
FIELDS.obj_id_field = 2

reader = libcachesim.TraceReader(sys.argv[1], libcachesim.TraceType.BIN_TRACE, FIELDS)
references = reader.get_num_of_req()
missed, _ = libcachesim.LRU(BLOCKS).process_trace(reader)
print(json.dumps({"references": references, "misses": round(missed * references)}))
