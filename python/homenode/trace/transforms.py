"""`transform` and `split`: traces made from traces."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from homenode import _core
from homenode.errors import ConfigError
from homenode.files import check_replaceable
from homenode.options.tables import core_table
from homenode.trace import Trace

Progress = Callable[[int, int | None], None] | None
PathLike = str | os.PathLike[str]


def transform(
    kind: str,
    trace: Trace | PathLike | Sequence[Trace | PathLike],
    out: PathLike | None = None,
    *,
    progress: Progress = None,
    **parameters: Any,
) -> Trace:
    """Makes a trace from one or more traces.

    Args:
        kind: a name from ``homenode.table("transforms")``, except ``split``.
        trace: a `Trace` or the path of one; for ``merge`` a list of these, which may repeat a
            trace.
        out: the trace to write; without it a temporary file that goes with the object.
        progress: called with the references done and in all.
        parameters: the transform's parameters, as on the command line: numbers, text such as
            ``"0x1000-0x2000"``, a ``range``, or a list of these. A parameter whose name is a Python
            keyword ends in an underscore: ``from_="first-thread"``.

    Returns:
        The new trace. Its provenance names the transform, every parameter and the checksum of the
        trace it was made from; the same trace and parameters give the same trace. For ``realign``,
        its ``report`` says what was moved; for ``processes`` and ``merge``, what the mix contains.

    Raises:
        ConfigError: when there is no such transform or parameter, or a value does not fit.
        TraceError: when the trace is damaged or the new one cannot be written.

    Source: Bolosky, thesis, section 4.3 (``local`` and ``gap``); Markatos and Chronaki, section 3.4
    (``realign``); Foglia, Giorgi and Prete 2004, section 4 (``processes`` and ``merge``).

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0, 1, 2], kind="R", address=[0x40, 0x80, 0xc0])
    >>> hn.transform("select", trace, threads=[0, 2]).references
    2
    >>> hn.transform("merge", [trace, trace]).threads
    6
    """
    if kind in _several():
        raise ConfigError(f"{kind} writes several traces; use homenode.{kind}(trace, out, ...)")
    given = [trace] if isinstance(trace, Trace | str | os.PathLike) else list(trace)
    opened = [one if isinstance(one, Trace) else Trace.open(one) for one in given]
    paths = [str(one.path) for one in opened]
    config = _config(kind, parameters)

    said: list[dict[str, Any]] = []

    def write(target: str) -> None:
        said.extend(json.loads(_core.transform(paths, target, config, progress)))

    made = Trace._written(out, write, *paths)
    made._report = said[0].get("report")
    return made


def split(
    trace: Trace | PathLike, out: PathLike, *, progress: Progress = None, **parameters: Any
) -> list[Trace]:
    """Writes one trace for each phase of a program.

    Args:
        trace: a `Trace` or the path of one.
        out: ``u.hnt`` stands for ``u.0.hnt``, ``u.1.hnt`` and so on.
        progress: called with the references done and in all.
        parameters: ``at`` (``"init-done"``, ``"phase"`` or ``"marker"``) or ``every`` (references).

    Raises:
        ConfigError: when a parameter is unknown or does not fit.
        TraceError: when the trace is damaged or a new one cannot be written.

    >>> import homenode as hn, tempfile
    >>> trace = hn.Trace.from_numpy(thread=0, kind="R", address=[0x40, 0x80, 0xc0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [piece.references for piece in hn.split(trace, folder + "/u.hnt", every=2)]
    [2, 1]
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    check_replaceable(out)
    config = _config("split", parameters)
    made = json.loads(_core.transform([str(opened.path)], os.fspath(out), config, progress))
    return [Trace.open(piece["path"]) for piece in made]


def _several() -> list[str]:
    return [row["name"] for row in core_table("transforms") if row["pieces"]]


def _config(kind: str, parameters: dict[str, Any]) -> str:
    """The transform with its parameters as on the command line, without those that are None."""
    given = {
        name.rstrip("_").replace("_", "-"): _text(value)
        for name, value in parameters.items()
        if value is not None
    }
    return json.dumps({"kind": kind, "parameters": given})


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(_text(item) for item in value)
    if isinstance(value, range) and value.step == 1:
        return f"{value.start}-{value.stop}"
    return str(value)
