"""The compiled module: conversions between Python and the Rust engines.

Every function that returns ``str`` returns JSON text. ``progress`` is called with the work done and
the work in all (``None`` where it is not known), at most about ten times a second; an exception it
raises ends the call.
"""

from collections.abc import Callable, Iterator
from typing import Any, final

from numpy.typing import NDArray

_Progress = Callable[[int, int | None], None] | None

class TraceError(Exception):
    """A trace or an input file is damaged, foreign or cannot be read or written."""

    path: str | None
    offset: int | None
    line: int | None

class ConfigError(Exception):
    """A machine, policy, block size or option cannot be used."""

    path: str | None
    offset: int | None
    line: int | None

@final
class TraceWriter:
    """Writes a trace from NumPy columns; the file appears when `finish` is called."""

    def __new__(
        cls,
        path: str,
        pc: bool = False,
        gap: bool = False,
        pid: bool = False,
        flags: bool = False,
    ) -> TraceWriter: ...
    def push(self, columns: dict[str, NDArray[Any]]) -> None: ...
    def finish(self, metadata_json: str) -> str: ...
    def abort(self) -> None: ...

def version() -> str: ...
def table(kind: str) -> str: ...
def machine_prices(spec: str, block_sizes: list[int], force: bool = False) -> str: ...
def trace_info(path: str, lines: bool = False) -> str: ...
def trace_metadata(path: str) -> str: ...
def read_batches(path: str, columns: list[str]) -> Iterator[dict[str, NDArray[Any]]]: ...
def import_trace(format: str, source: str, out: str, progress: _Progress) -> str: ...
def export_trace(path: str, format: str, out: str, progress: _Progress) -> str: ...
def repair(path: str, out: str, progress: _Progress) -> str: ...
def simulate(path: str, config_json: str, progress: _Progress) -> str: ...
def worst_blocks(path: str, config_json: str, count: int, progress: _Progress = None) -> str: ...
def tlb_misses(path: str, config_json: str, progress: _Progress) -> str: ...
def record(options_json: str, progress: _Progress) -> str: ...
