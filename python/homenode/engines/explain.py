"""`explain`: a coherence protocol's table, and a walk through references step by step."""

import json
import os
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, Unpack

from homenode import _core
from homenode.errors import ConfigError
from homenode.options.checked import checked
from homenode.options.documented import documented
from homenode.options.tables import core_table, engines
from homenode.options.typed import ExplainOptions
from homenode.options.values import specs_of
from homenode.trace import Trace

# Protocols of which the default machine with a directory cannot keep the lists.
_WITH_CONTROLLERS = {"sdd": "alite"}


class Explanation:
    """Protocols with their tables, and what each does at every one of the same references.

    Attributes:
        data: what ``homenode explain --json`` prints; ``docs/explain.md`` defines each field.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def protocols(self) -> list[str]:
        """The protocols as they were given."""
        return [protocol["name"] for protocol in self.data["protocols"]]

    @property
    def has_directory(self) -> bool:
        """Whether the protocols are those of machines with a directory."""
        return self.data.get("kind") == "directory"

    @property
    def has_pages(self) -> bool:
        """Whether the protocols keep pages coherent, and not blocks."""
        return self.data.get("coherent") == "pages"

    def steps(self, protocol: str | None = None) -> list[dict[str, Any]]:
        """The steps under one of the protocols, the first one if none is named.

        Raises:
            ConfigError: when the protocol is none of those explained.
        """
        found: dict[str, list[dict[str, Any]]] = {
            one["name"]: one["walk"]["steps"] for one in self.data["protocols"]
        }
        name = self.protocols[0] if protocol is None else protocol
        if name not in found:
            raise ConfigError(
                f"protocol {name!r} is not explained here; there is {', '.join(found)}"
            )
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode explain --json`` prints."""
        return self.data

    def html(self, command: str = "") -> str:
        """One HTML page, without network, on which one steps through the references.

        Args:
            command: the command line that makes the same page again, for its foot.
        """
        from homenode.report import walk_page
        from homenode.report.bus_view import BusView
        from homenode.report.node_view import NodeView, PageView

        view = PageView if self.has_pages else NodeView if self.has_directory else BusView
        return walk_page.render([view(self.data, one) for one in self.data["protocols"]], command)

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = escape(self.html(), quote=True)
        style = "width: 100%; height: 52rem; border: 0"
        return f'<iframe title="Protocols step by step" style="{style}" srcdoc="{page}"></iframe>'


@documented("explain")
def explain(
    protocols: str | Iterable[str],
    trace: Trace | str | os.PathLike[str] | None = None,
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[ExplainOptions],
) -> Explanation:
    """Explains protocols by their tables and by what they do at a few references.

    The steps are recorded from the engine that also simulates, so they follow the same table and
    add up to its counts.

    Args:
        protocols: names from ``homenode.table("protocols")``, or from
            ``homenode.table("directory-protocols")``, with parameters as in
            ``pscr:private_kernel=yes``.
        trace: a `Trace` or the path of one; an example if there is none.
        progress: called with the work done and in all.
        options: see `ExplainOptions`.

    Raises:
        ConfigError: when a protocol, machine or option cannot be used, or the trace has no
            reference to the blocks.
        TraceError: when the trace is damaged.

    >>> import homenode as hn
    >>> for step in hn.explain("mesi").steps()[:3]:
    ...     print(step["processor"], step["kind"], step["before"], step["after"])
    0 read ['I', 'I', 'I'] ['E', 'I', 'I']
    0 write ['E', 'I', 'I'] ['M', 'I', 'I']
    1 read ['M', 'I', 'I'] ['S', 'S', 'I']

    With a directory a step has the messages, in their order:

    >>> step = hn.explain("dash", example="0 R a0; 1 R a0").steps()[1]
    >>> sent = [act["message"] for act in step["acts"] if act["message"]]
    >>> [(message["name"], message["from"], message["to"]) for message in sent]
    [('read', 1, 0), ('data', 0, 1)]

    A protocol of pages acts at acquires and releases:

    >>> found = hn.explain("lrc", example="0 W a0; 1 R a0; 0 rel; 1 acq; 1 R a0")
    >>> [(step["kind"], step["fault"], step["after"]) for step in found.steps()[3:]]
    [('acquire', False, []), ('read', True, ['read-write', 'read-only'])]
    """
    config = {**checked("explain", options), "protocols": specs_of(protocols, "protocol")}
    _check_machine(config["machine"], config["protocols"])
    path = None
    if trace is not None:
        path = str((trace if isinstance(trace, Trace) else Trace.open(trace)).path)
    return Explanation(json.loads(_core.explain(path, json.dumps(config), progress)))


def _check_machine(machine: str | None, protocols: Iterable[str]) -> None:
    """Refuses a machine that has no such protocols, and names one that has.

    Raises:
        ConfigError: naming the first such protocol.
    """
    if machine is None:
        return
    of_directories = {row["name"] for row in core_table("directory-protocols")}
    known = of_directories | {row["name"] for row in core_table("protocols")}
    for protocol in protocols:
        name = protocol.partition(":")[0].removesuffix("+proxies")
        wanted = "directory" if name in of_directories else "bus"
        # The engine refuses what there is not, and knows what the machine's nodes have.
        if name in known and _core.engine_of([machine]) != wanted:
            first = _WITH_CONTROLLERS.get(name, engines()[wanted]["default_machine"])
            raise ConfigError(
                f"{name} is not a protocol of {machine}: it is for {engines()[wanted]['machines']}"
                f", such as --machine {first}"
            )


__all__ = ["Explanation", "explain"]
