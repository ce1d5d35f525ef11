"""Turns Arrow columns into the NumPy columns of a trace, checking every value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
FLAG_BITS = {"private": 1, "sync": 2, "kernel": 4, "transfer": 8}
_ALL_FLAGS = 15
_KIND_LETTERS = {"R": 0, "W": 1, "A": 2, "I": 3}
_RANGES = {"thread": (0, 65534), "kind": (0, 3), "size": (1, 64), "flags": (0, _ALL_FLAGS)}


class ColumnReader:
    """Checks a schema once and then converts batch after batch.

    Args:
        schema: the columns there are.
        source: the file's name, for error messages.

    Raises:
        TraceError: when a required column is missing or a column has a type that cannot hold it.
    """

    KNOWN: ClassVar[frozenset[str]] = frozenset({*COLUMNS, *FLAG_BITS, "flags"})

    def __init__(self, schema: pa.Schema, source: str) -> None:
        self._source = "standard input" if source == "-" else source
        self._row = 0
        required = [n for n in COLUMNS if n not in OPTIONAL]
        missing = [n for n in required if n not in schema.names]
        if missing:
            raise trace_error(
                f"column {', '.join(missing)} is missing (there are: "
                f"{', '.join(schema.names) or 'none'}); a trace needs {', '.join(required)}",
                self._source,
            )
        self._names = [n for n in schema.names if n in self.KNOWN]
        for name in self._names:
            if (times := self._names.count(name)) > 1:
                raise trace_error(f"column {name} occurs {times} times; keep one", self._source)
        for name in self._names:
            self._check_type(name, schema.field(name).type)
        self._flags = [n for n in self._names if n in FLAG_BITS or n == "flags"]
        self.optional = {n: n in self._names for n in OPTIONAL} | {"flags": bool(self._flags)}

    def convert(self, batch: pa.RecordBatch) -> dict[str, NDArray[Any]]:
        """The columns of one batch, of equal length, in the form the extension module takes."""
        columns = {
            COLUMNS[name][0]: self._numbers(name, batch.column(name))
            for name in self._names
            if name in COLUMNS
        }
        if self._flags:
            columns["flags"] = self._flag_bits(batch)
        self._row += batch.num_rows
        return columns

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

    def _numbers(self, name: str, column: pa.Array) -> NDArray[Any]:
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
        if name in _RANGES:
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

    def _flag_bits(self, batch: pa.RecordBatch) -> NDArray[Any]:
        bits = np.zeros(batch.num_rows, dtype=np.uint8)
        for name in self._flags:
            values = self._numbers(name, batch.column(name))
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
