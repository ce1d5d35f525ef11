"""`Trace`: a recorded or imported sequence of memory references."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from homenode import _core
from homenode.capture import recording
from homenode.errors import ConfigError
from homenode.files import check_output, check_replaceable, replacing_name
from homenode.options.tables import COLUMNAR, core_table, format_names
from homenode.options.values import about, only_known, whole_number
from homenode.trace.info import TraceInfo
from homenode.trace.inputs import input_stream, uncompressed_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    Progress = Callable[[int, int | None], None] | None
    PathLike = str | os.PathLike[str]


class RecordOptions(TypedDict, total=False):
    """Options of a recording, with their defaults.

    order: ``deterministic`` (one thread at a time, the same trace every time; default), ``logical``
        (in parallel, the same trace every time unless the program has data races, which the
        metadata name) or ``free``.
    quantum: references a thread makes before the next thread's turn. Default: 100.
    seed: 0 for turns of exactly a quantum; else every turn has a length from 1 to less than two
        quanta, at random with this seed, and the same seed gives the same trace; only in
        deterministic order. Default: 0.
    via: ``cc`` for a program built with ``homenode cc`` (default), ``qemu`` for any program,
        ``qemu-system`` for a kernel and everything that runs on it: then the command is the kernel
        and further options for QEMU.
    fetches: with ``qemu`` and ``qemu-system``, also record where instructions are fetched. Default:
        no.
    sysroot: with ``qemu``, where the libraries of a program for another instruction set are.
    emulator: with ``qemu``, the emulator to use. Default: the one for the program, from PATH.
    system: with ``qemu-system``, ``initramfs`` (a file; required), ``processors`` (default 4),
        ``memory_mib`` (default 512), ``append`` (for the kernel's command line), ``repeatable``
        (with QEMU 10: the same trace every time; default: no) and ``start_within_s`` (default
        600).
    """

    order: str
    quantum: int
    seed: int
    via: str
    fetches: bool
    sysroot: str
    emulator: str
    system: dict[str, str | int | bool]


# The recorder's numbers.
_RECORD_LIMITS: Mapping[str, tuple[int, int]] = {"quantum": (1, 10**9), "seed": (0, (1 << 32) - 1)}


class Trace:
    """A trace file: who referenced which address, in a total order.

    Make one with `Trace.open`, `Trace.record`, `Trace.import_`, `Trace.from_arrow` or
    `Trace.from_numpy`. The references stay in the file; memory use does not grow with the trace.

    Source: Bolosky, *Software Coherence in Multiprocessor Memory Systems*, chapter 2 (what a trace
    holds); Time with a capital T is the index of a reference in the total order.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = Path(path)
        self._report: dict[str, Any] | None = None
        self._info: dict[str, Any] = {}
        self._read_info()

    def _read_info(self) -> None:
        self._info = json.loads(_core.trace_info(str(self._path)))

    @classmethod
    def open(cls, path: PathLike) -> Trace:
        """Opens a ``.hnt`` file.

        Raises:
            TraceError: when the file is not a trace, or is damaged or incomplete.
        """
        return cls(path)

    @classmethod
    def record(
        cls,
        command: Sequence[str],
        path: PathLike,
        *,
        progress: Progress = None,
        **options: Unpack[RecordOptions],
    ) -> Trace:
        """Runs a program and records its references.

        However the program ends, the trace is complete; ``metadata`` has its ``exit_code`` or
        ``exit_signal``.

        Args:
            command: the program and its arguments.
            path: the trace to write.
            progress: called with the references recorded so far and ``None``.
            options: see `RecordOptions`.

        Raises:
            ConfigError: when the program cannot be run, or was not built with ``homenode cc``.
            TraceError: when the trace cannot be written.
        """
        only_known(options, RecordOptions.__annotations__)
        given: dict[str, Any] = {**options}
        for name, limits in _RECORD_LIMITS.items():
            if name in given:
                with about(name):
                    whole_number(given[name], *limits)
        files = {"argv": [os.fspath(word) for word in command], "output": os.fspath(path)}
        wanted: dict[str, Any] = {**files, **options}
        check_replaceable(path, *command[:1])
        with recording.ready(wanted):
            _core.record(json.dumps(wanted), progress)
        return cls(path)

    @classmethod
    def import_(
        cls,
        source: PathLike,
        path: PathLike | None = None,
        *,
        format: str | None = None,
        progress: Progress = None,
    ) -> Trace:
        """Turns a file of another format into a trace.

        Args:
            source: the file, or ``-`` for standard input; compressed or not.
            path: the trace to write; without it a temporary file that is deleted with the object.
            format: a name from ``homenode.table("formats")``; by default from the file's ending.
            progress: called with the work done and in all.

        Raises:
            ConfigError: when the format is unknown or cannot be told from the name.
            TraceError: when the file does not fit its format; the message has the line or row.
        """
        name = os.fspath(source)
        form = format_of(name, format, "import")

        def write(target: str) -> None:
            if form in COLUMNAR:
                from homenode.trace import interchange

                interchange.import_columns(name, form, target, progress)
            else:
                with input_stream(name) as stream:
                    more = {} if stream is None else {"stream": stream}
                    _core.import_trace(form, name, target, progress, **more)

        return cls._written(path, write, name)

    @classmethod
    def from_arrow(cls, data: Any, path: PathLike | None = None) -> Trace:
        """Writes a table of references as a trace.

        Args:
            data: anything that offers the Arrow stream interface: a ``pyarrow.Table``, a
                ``RecordBatchReader``, a pandas or polars frame. Columns as in
                `homenode.trace.interchange`; rows in total order.
            path: the trace to write; without it a temporary file that is deleted with the object.

        Raises:
            TraceError: when a column is missing, has a wrong type or an impossible value.

        >>> import pyarrow as pa
        >>> table = pa.table({"thread": [0, 1], "kind": ["W", "R"],
        ...                   "address": [0x1000, 0x1000], "size": [4, 4]})
        >>> Trace.from_arrow(table).references
        2
        """
        import pyarrow as pa

        from homenode.trace import interchange
        from homenode.trace.columns import ColumnReader

        if isinstance(data, pa.RecordBatch):
            data = pa.Table.from_batches([data])
        stream = pa.RecordBatchReader.from_stream(data)
        metadata = {
            "program": "arrow table",
            "method": "import arrow",
            "order": "row order",
            "tool": f"homenode {_core.version()}",
            "word_size": 4,
            "provenance": ["from_arrow"],
        }
        reader = ColumnReader(stream.schema, "arrow table", own=True)
        return cls._written(
            path, lambda target: interchange.write_batches(reader, stream, target, metadata)
        )

    @classmethod
    def from_numpy(
        cls,
        *,
        thread: Any,
        kind: Any,
        address: Any,
        size: Any = 4,
        path: PathLike | None = None,
        **optional: Any,
    ) -> Trace:
        """Writes arrays of references as a trace.

        Args:
            thread: thread of each reference, shape (n,), 0 to 65534.
            kind: 0 read, 1 write, 2 atomic, or the letters R, W, A; shape (n,) or one value.
            address: first byte of each reference, shape (n,).
            size: bytes touched, 1 to 64, shape (n,) or one value.
            path: the trace to write; without it a temporary file that is deleted with the object.
            optional: ``pc``, ``gap``, ``pid``, ``private``, ``sync``, ``kernel``,
                ``transfer``; shape (n,).

        Raises:
            TraceError: when a value is impossible.
            ConfigError: when shapes differ.

        >>> trace = Trace.from_numpy(thread=[0, 1], kind="R", address=[0x40, 0x80], size=8)
        >>> trace.info["reads"]
        2
        """
        import numpy as np
        import pyarrow as pa

        from homenode.trace.columns import ColumnReader

        given = {"thread": thread, "kind": kind, "address": address, "size": size, **optional}
        unknown = sorted(set(given) - ColumnReader.KNOWN)
        if unknown:
            raise ConfigError(
                f"there is no column {', '.join(unknown)}; "
                f"the columns are {', '.join(sorted(ColumnReader.KNOWN))}"
            )
        arrays = {name: _array(name, values) for name, values in given.items()}
        try:
            shaped = np.broadcast_arrays(*arrays.values())
        except ValueError as error:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ConfigError(f"columns differ in length: {shapes}") from error
        columns = {
            name: pa.array(np.ascontiguousarray(np.atleast_1d(array)))
            for name, array in zip(arrays, shaped, strict=True)
        }
        return cls.from_arrow(pa.table(columns), path)

    @classmethod
    def _written(
        cls, path: PathLike | None, write: Callable[[str], object], *inputs: PathLike
    ) -> Trace:
        """The trace that `write` makes at `path` or in a folder deleted with the object."""
        if path is not None:
            check_replaceable(path, *inputs)
            write(os.fspath(path))
            return cls(path)
        folder = Path(tempfile.mkdtemp(prefix="homenode-"))
        try:
            write(str(folder / "trace.hnt"))
            trace = cls(folder / "trace.hnt")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(trace, shutil.rmtree, folder, ignore_errors=True)
        return trace

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    @property
    def report(self) -> dict[str, Any] | None:
        """The report of the transform that made this trace, if it has one.

        For ``realign``: the objects moved, the memory that takes, and the false sharing removed;
        for ``processes`` and ``merge``: the processes of the mix and what it leaves out of the
        recording. ``None`` for a trace that was opened.
        """
        return self._report

    @property
    def info(self) -> TraceInfo:
        """What ``homenode info --json`` prints: counts, sizes, method, order, checksum."""
        return TraceInfo(self._info)

    @property
    def metadata(self) -> dict[str, Any]:
        """Program, arguments, named address ranges, source lines and provenance."""
        metadata: dict[str, Any] = json.loads(_core.trace_metadata(str(self._path)))
        return metadata

    @property
    def references(self) -> int:
        """Number of data references."""
        return int(self._info["references"])

    @property
    def threads(self) -> int:
        """Number of threads."""
        return int(self._info["threads"])

    @property
    def bytes_per_reference(self) -> float:
        """File size divided by the number of references and fetches, 0 for an empty trace."""
        return float(self._info["bytes_per_reference"] or 0)

    @property
    def checksum(self) -> str:
        """Checksum of the content, the same for the same references and metadata."""
        return str(self._info["checksum"])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The references as Arrow record batches in total order, one chunk of the file at a time.

        Raises:
            TraceError: when the file is damaged.
        """
        from homenode.trace import interchange

        return interchange.record_batches(self._path)[1]

    def to_arrow(self) -> pa.Table:
        """All references as one Arrow table (needs about 20 bytes of memory a reference).

        Raises:
            TraceError: when the file is damaged.
        """
        import pyarrow as pa

        from homenode.trace import interchange

        schema, batches = interchange.record_batches(self._path)
        return pa.Table.from_batches(batches, schema=schema)

    def export(
        self,
        path: PathLike,
        *,
        format: str | None = None,
        progress: Progress = None,
    ) -> None:
        """Writes the references in another format.

        Args:
            path: the file to write, or ``-`` for standard output.
            format: a name from ``homenode.table("formats")``; by default from the file's ending.
            progress: called with the references done and in all.

        Raises:
            ConfigError: when the format is unknown.
            TraceError: when the trace is damaged.
            OSError: when the file cannot be written.
        """
        name = os.fspath(path)
        form = format_of(name, format, "export")
        check_output(name, self._path)
        if form in COLUMNAR:
            from homenode.trace import interchange

            interchange.export_columns(self._path, form, name, progress)
        else:
            with replacing_name(name) as partial:
                _core.export_trace(str(self._path), form, partial, progress, name)

    def __repr__(self) -> str:
        return f"Trace({str(self._path)!r}, references={self.references}, threads={self.threads})"

    def _repr_html_(self) -> str:
        """The facts about the trace, for notebooks."""
        return self.info._repr_html_()


def format_of(name: str, given: str | None, way: Literal["import", "export"]) -> str:
    """The format of a file: the given one, or what the ending of its name stands for.

    Args:
        name: the file's name.
        given: the name of a format; None for that of the ending.
        way: what is done with the file.

    Raises:
        ConfigError: when there is no such format, or it is for the other way only.

    >>> format_of("trace.parquet", None, "export"), format_of("-", "din", "import")
    ('parquet', 'din')
    """
    if way == "import":
        name = uncompressed_name(name)
    ending = Path(name).suffix.removeprefix(".").lower()
    listed = {str(row["name"]): row for row in core_table("formats")}
    of_ending = (form for form, row in listed.items() if ending and ending in row["extensions"])
    form = next(of_ending, None) if given is None else given
    known = format_names(way)
    if form is None:
        raise ConfigError(f"cannot tell the format of {name!r} from its name; give one of {known}")
    if form not in listed:
        raise ConfigError(f'unknown format "{form}"; known: {known}')
    if not listed[form][way]:
        other = "import" if way == "export" else "export"
        raise ConfigError(f'format "{form}" is for {other} only; for {way} there are {known}')
    return form


def _array(name: str, values: Any) -> NDArray[Any]:
    """A column in the byte order of this machine."""
    import numpy as np

    array = np.asarray(values)
    if array.ndim > 1:
        raise ConfigError(f"column {name} has shape {array.shape}; expected one dimension")
    if array.size == 0:
        # NumPy makes an empty list floating-point; every column accepts the smallest integers.
        return array.astype(np.uint8)
    if array.dtype.kind in "fO" and all(isinstance(value, int) for value in _items(values)):
        # NumPy makes floating-point numbers of integers that fit no signed type.
        try:
            return np.asarray(values, dtype=np.uint64)
        except OverflowError as error:
            raise ConfigError(f"column {name}: {error}; expected 64 bits, unsigned") from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _items(values: Any) -> Sequence[Any]:
    return values if isinstance(values, list | tuple) else [values]
