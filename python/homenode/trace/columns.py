"""Turns Arrow columns into the NumPy columns of a trace, checking every value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homenode import _core
from homenode.errors import TraceError, trace_error

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Arrow name -> (name in the extension module, type).
COLUMNS: dict[str, tuple[str, pa.DataType]] = {
    "thread": ("thread", pa.uint16()),
    "kind": ("kind", pa.uint8()),
    "address": ("addr", pa.uint64()),
    "size": ("size", pa.uint8()),
    "pc": ("pc", pa.uint64()),
    "gap": ("gap", pa.uint32()),
    "pid": ("pid", pa.uint32()),
}
OPTIONAL = ("pc", "gap", "pid")
# Other names of columns, as CSV has them.
ALIASES = {"addr": "address"}
_WORD_BYTES = 4
FLAG_BITS = {"private": 1, "sync": 2, "kernel": 4, "transfer": 8}
_ALL_FLAGS = 15
_KIND_LETTERS = {"R": 0, "W": 1, "A": 2, "I": 3}
_RANGES = {"thread": (0, 65534), "kind": (0, 3), "size": (1, 64), "flags": (0, _ALL_FLAGS)}


def column_of(name: str) -> str:
    """The column that a name stands for, in whatever case, as in CSV.

    >>> column_of("Addr"), column_of("colour")
    ('address', 'colour')
    """
    return ALIASES.get(name.lower(), name.lower())


class ColumnReader:
    """Checks a schema once and then converts batch after batch.

    Args:
        schema: the columns there are.
        source: the file's name, for error messages.
        own: whether the thread numbers are homenode's; those of others may be renumbered.

    Raises:
        TraceError: when a required column is missing or a column has a type that cannot hold it.
    """

    KNOWN: ClassVar[frozenset[str]] = frozenset({*COLUMNS, *FLAG_BITS, "flags"})

    def __init__(self, schema: pa.Schema, source: str, own: bool = False) -> None:
        self._source = "standard input" if source == "-" else source
        self._row = 0
        self._threads = None if own else _core.ThreadNumbers()
        required = [n for n in COLUMNS if n not in OPTIONAL and n != "size"]
        columns = [column_of(name) for name in schema.names]
        missing = [n for n in required if n not in columns]
        if missing:
            raise trace_error(
                f"column {', '.join(missing)} is missing (there are: "
                f"{', '.join(schema.names) or 'none'}); a trace needs {', '.join(required)}",
                self._source,
            )
        for name in dict.fromkeys(columns):
            if name in self.KNOWN and (times := columns.count(name)) > 1:
                raise trace_error(f"column {name} occurs {times} times; keep one", self._source)
        named = zip(columns, schema.names, strict=True)
        # By column, its name in the file: a batch may lack columns that are not used.
        self._names = {column: name for column, name in named if column in self.KNOWN}
        for column, name in self._names.items():
            self._check_type(column, schema.field(name).type)
        self._flags = [n for n in self._names if n in FLAG_BITS or n == "flags"]
        self.optional = {n: n in self._names for n in OPTIONAL} | {"flags": bool(self._flags)}

    def convert(self, batch: pa.RecordBatch) -> dict[str, NDArray[Any]]:
        """The columns of one batch, of equal length, in the form the extension module takes."""
        used = {name: self._valid(name, batch.column(n)) for name, n in self._names.items()}
        columns = {
            COLUMNS[name][0]: self._numbers(name, column)
            for name, column in used.items()
            if name in COLUMNS and name != "thread"
        }
        columns["thread"] = self._thread_numbers(used["thread"])
        if "size" not in used:
            columns["size"] = np.full(batch.num_rows, _WORD_BYTES, dtype=np.uint8)
        if self._flags:
            columns["flags"] = self._flag_bits(used, batch.num_rows)
        self._row += batch.num_rows
        return columns

    def notes(self) -> list[str]:
        """What the reader changed, for the provenance."""
        note = None if self._threads is None else self._threads.note()
        return [] if note is None else [note]

    def _valid(self, name: str, column: pa.Array) -> pa.Array:
        """A column whose offsets, indices and texts are sound, which the file may only claim."""
        try:
            column.validate(full=True)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            reason = str(error).strip().splitlines()[0]
            message = f"column {name} is damaged ({reason}); write the file anew"
            raise self._at(0, message) from error
        return column

    def _thread_numbers(self, column: pa.Array) -> NDArray[Any]:
        if self._threads is None or not len(column):
            return self._numbers("thread", column)
        ids = self._numbers("thread", column, pa.uint64())
        # Threads come in turns: only the first row of each is looked up.
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        known, first, turns = np.unique(ids[starts], return_index=True, return_inverse=True)
        numbers = np.zeros(len(known), dtype=np.uint16)
        for place in np.argsort(first):
            number = self._threads.number(int(known[place]))
            if number is None:
                row = int(starts[first[place]])
                raise self._at(row, f"thread {known[place]} is one of more than 65535 threads")
            numbers[place] = number
        return np.repeat(numbers[turns], np.diff(starts, append=len(ids)))

    def _check_type(self, name: str, kind: pa.DataType) -> None:
        value = kind.value_type if pa.types.is_dictionary(kind) else kind
        text = pa.types.is_string(value) or pa.types.is_large_string(value)
        text = text or pa.types.is_string_view(value)
        if pa.types.is_integer(value) or (name == "kind" and text):
            return
        if pa.types.is_boolean(value) and name in FLAG_BITS:
            return
        expected = "integers or the letters R, W, A, I" if name == "kind" else "integers"
        raise trace_error(f"column {name} holds {kind}; expected {expected}", self._source)

    def _numbers(
        self, name: str, column: pa.Array, target: pa.DataType | None = None
    ) -> NDArray[Any]:
        if target is None:
            target = COLUMNS[name][1] if name in COLUMNS else pa.uint8()
        if pa.types.is_dictionary(column.type):
            # Decoded first: the dictionary itself may hold an empty value.
            column = column.dictionary_decode()
        if column.null_count:
            row = pc.index(column.is_null(), value=True).as_py()
            raise self._at(row, f"column {name} is empty; every row needs a value")
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        if not pa.types.is_integer(column.type):
            column = self._letters(column)
        try:
            numbers: NDArray[Any] = column.cast(target).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            raise self._out_of_range(name, column, target) from None
        if name in _RANGES and target != pa.uint64():
            low, high = _RANGES[name]
            wrong = (numbers < low) | (numbers > high)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise self._at(row, f"{name} {numbers[row]} is not between {low} and {high}")
        return numbers

    def _letters(self, column: pa.Array) -> pa.Array:
        letters = pa.array(list(_KIND_LETTERS))
        codes = pc.index_in(pc.utf8_upper(column.cast(pa.string())), value_set=letters)
        if codes.null_count:
            row = pc.index(codes.is_null(), value=True).as_py()
            raise self._at(row, f"kind {column[row].as_py()!r} is none of R, W, A, I")
        return codes

    def _out_of_range(self, name: str, column: pa.Array, target: pa.DataType) -> TraceError:
        numbers = column.to_numpy(zero_copy_only=False)
        limit = np.iinfo(target.to_pandas_dtype())
        row = int(np.argmax((numbers < limit.min) | (numbers > limit.max)))
        low, high = _RANGES.get(name, (limit.min, limit.max))
        remedy = "; store it as an unsigned 64-bit number" if name in {"address", "pc"} else ""
        return self._at(row, f"{name} {numbers[row]} is not between {low} and {high}{remedy}")

    def _flag_bits(self, columns: dict[str, pa.Array], rows: int) -> NDArray[Any]:
        bits = np.zeros(rows, dtype=np.uint8)
        for name in self._flags:
            values = self._numbers(name, columns[name])
            if name == "flags":
                bits |= values
                continue
            wrong = values > 1
            if wrong.any():
                row = int(np.argmax(wrong))
                raise self._at(row, f"{name} {values[row]} is neither 0 nor 1")
            bits |= values.astype(np.uint8) * np.uint8(FLAG_BITS[name])
        return bits

    def _at(self, row: int, message: str) -> TraceError:
        return trace_error(f"row {self._row + row}: {message}", self._source)
