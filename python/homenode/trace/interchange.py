"""Arrow and Parquet: traces as columns that other tools read.

Columns: ``thread`` (u16), ``kind`` (u8 0 read, 1 write, 2 atomic, 3 fetch; or text R, W, A, I),
``address`` or ``addr`` (u64), optional ``size`` (u8, 1 to 64; else 4), ``pc`` (u64), ``gap`` (u32),
``pid`` (u32) and the flags ``private``, ``sync``, ``kernel``, ``transfer`` (0/1 or Boolean) or all
of them as ``flags`` (u8 bits 1, 2, 4, 8). Rows are in the total order of the references. Other
columns are ignored.
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from homenode import _core
from homenode.errors import ConfigError, TraceError, trace_error
from homenode.files import replacing
from homenode.trace.columns import COLUMNS, FLAG_BITS, OPTIONAL, ColumnReader, column_of
from homenode.trace.inputs import input_stream

PathLike = str | os.PathLike[str]
Progress = Callable[[int, int | None], None] | None

ROWS_PER_BATCH = 1 << 18
_SPOOL_BYTES = 1 << 20
_METADATA_KEY = b"homenode.metadata"
# A damaged schema may have column names that are not valid UTF-8.
_ARROW_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)


def import_columns(
    source: str, form: str, output: PathLike, progress: Progress = None
) -> dict[str, Any]:
    """Turns a Parquet or Arrow file into a trace.

    Args:
        source: the file, or ``-`` for standard input.
        form: ``parquet`` or ``arrow``.
        output: the trace to write; it appears only when it is complete.
        progress: called with the rows done and the rows in all.

    Returns:
        The writer's summary (references, bytes).

    Raises:
        TraceError: when a column is missing, has a wrong type or an impossible value.
        OSError: when a file cannot be read or written.
    """
    if source != "-":
        Path(source).stat()  # a missing file is not a damaged one
    with _open_source(source, form) as (schema, rows, batches):
        metadata = _metadata_of(schema, source, form)
        own = _METADATA_KEY in (schema.metadata or {})
        reader = ColumnReader(schema, source, own=own)
        try:
            return write_batches(reader, _counted(batches, rows, progress), output, metadata)
        except ConfigError as error:
            # The columns are checked above, so only the metadata can be at fault.
            raise _bad_metadata(str(error), source) from error


def write_batches(
    reader: ColumnReader,
    batches: Iterable[pa.RecordBatch],
    output: PathLike,
    metadata: dict[str, Any],
) -> dict[str, Any]:
    """Writes record batches as a trace; on any error nothing is left behind."""
    writer = _core.TraceWriter(str(output), **reader.optional)
    try:
        for batch in batches:
            writer.push(reader.convert(batch))
        steps = [*metadata["provenance"], *reader.notes()]
        finished = writer.finish(json.dumps(metadata | {"provenance": steps}))
        summary: dict[str, Any] = json.loads(finished)
    except BaseException:
        writer.abort()
        raise
    return summary


def read_schema(flags: bool, columns: Iterable[str]) -> pa.Schema:
    """The Arrow schema of a trace with these optional columns."""
    fields = [pa.field(name, kind) for name, (_, kind) in COLUMNS.items() if name not in OPTIONAL]
    fields += [pa.field(name, COLUMNS[name][1]) for name in OPTIONAL if name in columns]
    if flags:
        fields += [pa.field(name, pa.bool_()) for name in FLAG_BITS]
    return pa.schema(fields)


def record_batches(path: PathLike) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The references of a trace as Arrow record batches, one chunk of the file at a time."""
    info = json.loads(_core.trace_info(str(path)))
    present = {name for name, there in info["columns"].items() if there}
    schema = read_schema("flags" in present, present)
    wanted = ["thread", "kind", "addr", "size", *(n for n in (*OPTIONAL, "flags") if n in present)]
    source = _core.read_batches(str(path), wanted)
    return schema, (_to_arrow(schema, columns) for columns in source)


def export_columns(
    path: PathLike, form: str, output: str, progress: Progress = None
) -> dict[str, Any]:
    """Writes the references of a trace as Parquet or Arrow.

    Args:
        path: the trace.
        form: ``parquet`` or ``arrow``.
        output: the file to write, or ``-`` for standard output.
        progress: called with the references done and in all.

    Returns:
        The number of references written, under ``references``.

    Raises:
        TraceError: when the trace is damaged.
        OSError: when the output cannot be written.
    """
    schema, batches = record_batches(path)
    schema = schema.with_metadata({_METADATA_KEY: _core.trace_metadata(str(path)).encode()})
    total = json.loads(_core.trace_info(str(path)))["references"]
    done = 0
    with _output(output) as sink, _sink_writer(sink, schema, form) as writer:
        for batch in batches:
            writer.write_batch(batch)
            done += batch.num_rows
            if progress is not None:
                progress(done, total)
    return {"references": done}


def _to_arrow(schema: pa.Schema, columns: dict[str, Any]) -> pa.RecordBatch:
    arrays = []
    for name in schema.names:
        if name in FLAG_BITS:
            arrays.append(pa.array((columns["flags"] & FLAG_BITS[name]) != 0))
        else:
            arrays.append(pa.array(columns[COLUMNS[name][0]]))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _metadata_of(schema: pa.Schema, source: str, form: str) -> dict[str, Any]:
    name = "standard input" if source == "-" else Path(source).name
    stored = (schema.metadata or {}).get(_METADATA_KEY)
    metadata: dict[str, Any] = {"program": name, "order": "file order"}
    if stored is not None:
        metadata = _stored_metadata(stored, source)
    metadata.setdefault("method", f"import {form}")
    metadata["tool"] = f"homenode {_core.version()}"
    metadata["provenance"] = [*metadata.get("provenance", []), f"import {form} {name}"]
    metadata.setdefault("word_size", 4)
    return metadata


def _stored_metadata(stored: bytes, source: str) -> dict[str, Any]:
    """The trace metadata that homenode's export put in the schema, if it is still valid."""
    try:
        metadata = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise _bad_metadata(str(error), source) from error
    if not isinstance(metadata, dict) or not isinstance(metadata.get("provenance", []), list):
        raise _bad_metadata("expected an object whose provenance is a list", source)
    return metadata


def _bad_metadata(why: str, source: str) -> TraceError:
    key = _METADATA_KEY.decode()
    return trace_error(f"the key {key} is not valid trace metadata: {why}; remove it", source)


def _counted(
    batches: Iterable[pa.RecordBatch], total: int | None, progress: Progress
) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if progress is not None:
            progress(done, total)


class _open_source:  # noqa: N801 - used as a context manager, like open()
    """Opens a columnar file: its schema, its number of rows and its batches in order."""

    def __init__(self, source: str, form: str) -> None:
        self._source, self._form = source, form
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> tuple[pa.Schema, int | None, Iterator[pa.RecordBatch]]:
        try:
            spool = self._spool()
            try:
                schema, rows, batches = self._open(spool)
                _ = schema.names  # decodes them
            except _ARROW_ERRORS as error:
                raise self._explain(error) from error
        except BaseException:
            self._stack.close()
            raise
        return schema, rows, batches

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._stack.close()

    def _spool(self) -> IO[bytes] | None:
        """The bytes in a temporary file, unless the source is a file that Arrow can read.

        Both formats keep their index at the end, so a pipe is spooled to disk first. Python opens
        and reads it: Arrow would not let a signal end the wait for a writer.
        """
        with input_stream(self._source) as stream:
            if stream is None:
                return None
            spool: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the stack closes it
            self._stack.enter_context(spool)
            while data := stream.read(_SPOOL_BYTES):
                try:
                    spool.write(data)
                except OSError as error:
                    folder = f"temporary file in {tempfile.gettempdir()}; TMPDIR names another"
                    raise OSError(error.errno, f"{error.strerror} ({folder})") from error
            spool.seek(0)
            return spool

    def _open(
        self, spool: IO[bytes] | None
    ) -> tuple[pa.Schema, int | None, Iterator[pa.RecordBatch]]:
        if self._form == "arrow":
            reader = pa.ipc.open_file(self._map(self._source) if spool is None else spool)
            return reader.schema, None, self._guard(_slices(reader))
        parquet = self._stack.enter_context(pq.ParquetFile(spool or self._source))
        names = parquet.schema_arrow.names
        known = [n for n in names if column_of(n) in ColumnReader.KNOWN]
        source = parquet.iter_batches(batch_size=ROWS_PER_BATCH, columns=known)
        return parquet.schema_arrow, parquet.metadata.num_rows, self._guard(source)

    def _map(self, path: str) -> Any:
        return self._stack.enter_context(pa.memory_map(path))

    def _guard(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except _ARROW_ERRORS as error:
            raise self._explain(error) from error

    def _explain(self, error: BaseException) -> BaseException:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            return error
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        name = "standard input" if self._source == "-" else self._source
        return trace_error(
            f"not a readable {self._form} file ({reason}); "
            "if it has another format, name it with --format",
            name,
        )


def _slices(reader: pa.ipc.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    """The batches of a file, cut to homenode's size: other programs may write one large batch."""
    for index in range(reader.num_record_batches):
        batch = reader.get_batch(index)
        for start in range(0, batch.num_rows, ROWS_PER_BATCH):
            yield batch.slice(start, ROWS_PER_BATCH)


class _ParquetSink:
    """Writes Parquet with the encodings that suit traces (addresses as differences)."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema) -> None:
        plain = [n for n in ("address", "pc", "gap") if n in schema.names]
        self._writer = pq.ParquetWriter(
            sink,
            schema,
            compression="zstd",
            use_dictionary=[n for n in schema.names if n not in plain],
            column_encoding=dict.fromkeys(plain, "DELTA_BINARY_PACKED"),
        )

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch, row_group_size=1 << 20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self._writer.close()


def _sink_writer(sink: IO[bytes], schema: pa.Schema, form: str) -> Any:
    if form == "arrow":
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        return pa.ipc.new_file(sink, schema, options=options)
    return _ParquetSink(sink, schema)


@contextlib.contextmanager
def _output(output: str) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is complete; ``-`` is standard output."""
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacing(output) as file:
        yield file
