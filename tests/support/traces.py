"""Traces for tests that need no recording."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import homenode as hn


def make_trace(path: Path, references: int, threads: int = 4) -> hn.Trace:
    """A trace with private-looking, read-shared and write-shared data, the same every time."""
    rng = np.random.default_rng(7)
    thread = (np.arange(references) // 10) % threads
    kind_of = rng.random(references)
    own = 0x10000 + thread * 0x2000 + rng.integers(0, 512, references) * 4
    shared = 0x80000 + rng.integers(0, 256, references) * 8
    counter = 0x90000 + thread * 4
    address = np.where(kind_of < 0.6, own, np.where(kind_of < 0.9, shared, counter))
    writes = np.where(kind_of < 0.6, rng.random(references) < 0.4, kind_of >= 0.9)
    return hn.Trace.from_numpy(
        thread=thread, kind=writes.astype(np.uint8), address=address, size=4, path=path
    )


def make_named_trace(path: Path, starts: Sequence[int], metadata: dict[str, Any]) -> hn.Trace:
    """Four threads that write the first words from each start in turn, and names for them."""
    count = 128 * len(starts)
    columns = {
        "thread": [i // 4 % 4 for i in range(count)],
        "kind": ["W"] * count,
        "address": [starts[i // 16 % len(starts)] + 4 * (i // 4 % 4) for i in range(count)],
        "size": [4] * count,
    }
    named = {"homenode.metadata": json.dumps(metadata)}
    source = path.with_suffix(".parquet")
    pq.write_table(pa.table(columns).replace_schema_metadata(named), source)
    return hn.Trace.import_(source, path)


@pytest.fixture
def trace(tmp_path: Path) -> hn.Trace:
    """Four threads: own data, a table read by all, and a counter that all write."""
    return make_trace(tmp_path / "small.hnt", 4_000)
