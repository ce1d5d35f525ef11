"""Results kept beside the traces, so that a later run of a study need not simulate again."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.files import replacing
from homenode.results.rows import Rows
from homenode.trace import Trace
from homenode_studies.studies.settings import digest


class ResultCache:
    """Results of one trace, by simulator and options; those of another build are ignored."""

    def __init__(self, folder: Path, trace: Trace) -> None:
        self._path = folder / f"results-{trace.info['checksum'][:16]}.json"
        self._engine = engine()
        self._values: dict[str, Any] = {}
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if found["engine"] == self._engine:
                self._values = dict(found["values"])
        except (OSError, ValueError, KeyError, TypeError):
            # Missing, of another version or incomplete: simulate everything again.
            self._values = {}

    def get(self, question: dict[str, Any]) -> Any:
        """The stored result, or None."""
        return self._values.get(_key(question))

    def put(self, question: dict[str, Any], answer: Any) -> None:
        """Stores a result, in memory until `save`."""
        self._values[_key(question)] = answer

    def save(self) -> None:
        """Writes everything.

        Raises:
            OSError: when the file cannot be written.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self._path) as file:
            file.write(json.dumps({"engine": self._engine, "values": self._values}).encode())


def kept(
    folder: Path,
    simulator: Callable[..., Rows],
    trace: Trace,
    *asked: Any,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Any,
) -> Rows:
    """The result of a simulator for a trace, rows and provenance, from the folder if it is there.

    Args:
        folder: where results are kept.
        simulator: such as `homenode.simulate`.
        trace: its input.
        asked: its other arguments, as plain data.
        progress: called with the work done and in all, if anything is simulated.
        options: its options, as plain data.

    Raises:
        OSError: when the results cannot be written.
    """
    cached = ResultCache(folder, trace)
    question = {"simulator": simulator.__name__, "asked": asked, **options}
    found = cached.get(question)
    if found is None:
        made = simulator(trace, *asked, progress=progress, **options)
        found = {"rows": made.rows, "provenance": made.provenance}
        cached.put(question, found)
        cached.save()
    return Rows(found["rows"], provenance=found["provenance"])


@cache
def engine() -> str:
    """A checksum of the compiled module: with the trace and options it determines the results."""
    return digest(Path(_core.__file__))


def _key(question: dict[str, Any]) -> str:
    return json.dumps(question, sort_keys=True)
