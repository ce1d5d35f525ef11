"""Makes the traces: as records for the plain loop and the peers, and as a trace of homenode."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from homenode import Trace

HERE = Path(__file__).parent
# As in record.h.
RECORD = np.dtype(
    {
        "names": ["address", "block", "thread", "kind", "size", "site"],
        "formats": ["<u8", "<u4", "u1", "u1", "u1", "u1"],
    }
)
COLUMNS = ("address", "thread", "kind", "size")
ROWS = 1 << 20
# The instructions are where compilers put them, four bytes each.
CODE = 0x400000
SEED = 1
FULL_ORDER = 300
FULL_MIX = 50_000_000


@dataclass(frozen=True)
class Goal:
    """The most that homenode may take, of the plain loop's seconds or in seconds."""

    cpu_ratio: float | None = None
    wall_ratio: float | None = None
    cpu_s: float | None = None

    def __str__(self) -> str:
        if self.cpu_s is not None:
            return f"{self.cpu_s:.2f} s"
        return f"{self.cpu_ratio:g}, {self.wall_ratio:g}"


@dataclass(frozen=True)
class Input:
    """A trace in both forms, and the order of the matrices if a program makes it."""

    name: str
    goal: Goal
    records: Path
    trace: Path
    references: int
    order: int | None = None


def make(folder: Path, generator: Path, scale: float) -> list[Input]:
    """Writes the traces that do not exist yet into a folder, at a fraction of their size."""
    # Each thread has a quarter of the rows.
    order = max(4, 4 * round(FULL_ORDER * scale ** (1 / 3) / 4))
    mixed = max(4, round(FULL_MIX * scale))
    wanted = [
        ("mm54", Goal(0.5, 0.3), ["product", str(order)], order),
        ("syn50", Goal(0.8, 0.45), ["mix", str(mixed), str(SEED)], None),
        ("two references", Goal(cpu_s=0.10), ["mix", "2", str(SEED)], None),
    ]
    made = []
    for name, goal, arguments, of_order in wanted:
        stem = "-".join(arguments)
        records = folder / f"{stem}.records"
        trace = folder / f"{stem}.hnt"
        if not (records.exists() and trace.exists()):
            write_records([str(generator), *arguments], records)
            write_trace(records, trace)
        references = records.stat().st_size // RECORD.itemsize
        made.append(Input(name, goal, records, trace, references, of_order))
    return made


def compiled(source: str, folder: Path, *options: str) -> Path:
    """A C program of this folder; the bench ends if it cannot be compiled."""
    program = folder / Path(source).stem
    command = ["cc", "-O2", "-o", str(program), str(HERE / source), *options]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        sys.exit("cc is missing: install a C compiler, as gcc")
    except subprocess.CalledProcessError:
        sys.exit(f"{source} cannot be compiled: see the compiler's messages above")
    return program


def write_records(command: list[str], path: Path) -> None:
    """Writes what the generator prints; the file appears when it is complete."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        subprocess.run(command, stdout=file, check=True)
    part.rename(path)


def write_trace(records: Path, path: Path) -> None:
    """Writes the records as a trace, with program counters, as recordings have them."""
    batches = _batches(records)
    first = next(batches)
    stream = pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))
    Trace.from_arrow(stream, path)


def _batches(records: Path) -> Iterator[pa.RecordBatch]:
    rows = np.memmap(records, RECORD, "r")
    for begin in range(0, len(rows), ROWS):
        part = rows[begin : begin + ROWS]
        columns = {name: np.ascontiguousarray(part[name]) for name in COLUMNS}
        columns["pc"] = CODE + 4 * part["site"].astype("u8")
        yield pa.RecordBatch.from_pydict(columns)
