"""`explain`: a coherence protocol's table, and a walk through references step by step."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from homenode import _core
from homenode.engines.bus import address_range
from homenode.errors import ConfigError
from homenode.options.specs import parse_block_sizes, parse_cache_sizes, split_specs, unique
from homenode.options.values import only_known, shape, whole_number
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

REFERENCES = 30
"""Most references of a trace to walk through, unless said otherwise."""

_ADDRESS_END = 1 << 64


class ExplainOptions(TypedDict, total=False):
    """Choices of an explanation; what is left out has the default named here.

    machine: whose prices, and with a trace whose caches. Default: ``bus-smp``.
    example: a name from ``homenode.table("examples")``. Default: the protocol's own; ``tour`` when
        there are several protocols. Not with a trace.
    processors: number of processors; thread i runs on i mod it. Default: the example's or the
        trace's threads.
    cache_size: bytes in each cache. Default: one block with an example, else the machine's.
    associativity: blocks in a set. Default: 1 with an example, else the machine's.
    block_size: bytes. Default: 16 with an example, else the machine's.
    private_ranges: private areas beside those of the references, as text such as
        ``0x1000-0x2000`` or as pairs: the first byte, and one past the last.
    references: most references of a trace to walk through. Default: 30.
    blocks: addresses in the blocks of a trace to follow. Default: the first block that several
        processors reference and one of them writes.
    """

    machine: str
    example: str | None
    processors: int | None
    cache_size: int | str | None
    associativity: int | None
    block_size: int | str | None
    private_ranges: Iterable[str | tuple[int, int]]
    references: int
    blocks: Iterable[int | str]


class Explanation:
    """Protocols with their tables, and what each does at every one of the same references.

    Attributes:
        data: what ``homenode explain --json`` prints; ``docs/explain.md`` defines each field.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def protocols(self) -> list[str]:
        """The protocols as they were asked for."""
        return [protocol["name"] for protocol in self.data["protocols"]]

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
        from homenode.report.explain import render

        return render(self.data, command)

    def _repr_html_(self) -> str:
        """How a notebook shows it: the page in a frame."""
        page = escape(self.html(), quote=True)
        style = "width: 100%; height: 52rem; border: 0"
        return f'<iframe title="Protocols step by step" style="{style}" srcdoc="{page}"></iframe>'


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
        protocols: names from ``homenode.table("protocols")``, with parameters as in
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
    """
    only_known(options, ExplainOptions)
    given = [protocols] if isinstance(protocols, str) else list(protocols)
    cache, block = options.get("cache_size"), options.get("block_size")
    ways = options.get("associativity")
    config = {
        "protocols": unique(name for text in given for name in split_specs(text, "protocol")),
        "machine": options.get("machine") or "bus-smp",
        "example": options.get("example"),
        "processors": shape(options)["processors"],
        "cache_size": None if cache is None else _one(parse_cache_sizes, cache, "cache size"),
        "block_size": None if block is None else _one(parse_block_sizes, block, "block size"),
        "associativity": None if ways is None else whole_number("associativity", ways, 1),
        "private_ranges": [address_range(r) for r in options.get("private_ranges", ())],
        "references": whole_number("references", options.get("references", REFERENCES), 1),
        "blocks": [_address(block) for block in options.get("blocks", ())],
    }
    path = None
    if trace is not None:
        path = str((trace if isinstance(trace, Trace) else Trace.open(trace)).path)
    return Explanation(json.loads(_core.explain(path, json.dumps(config), progress)))


def _one(parse: Callable[[str], list[int]], given: int | str, what: str) -> int:
    sizes = parse(given if isinstance(given, str) else str(whole_number(what, given, 1)))
    if len(sizes) != 1:
        raise ConfigError(f"{what} {given!r}: expected one size; a walk has one cache")
    return sizes[0]


def _address(given: int | str) -> int:
    """An address, as a number or as text."""
    try:
        address = int(given, 0) if isinstance(given, str) else int(given)
    except ValueError:
        address = -1
    if not 0 <= address < _ADDRESS_END:
        raise ConfigError(f"block {given!r}: expected an address in it, as in 0x7f12a0")
    return address


__all__ = ["ExplainOptions", "Explanation", "explain"]
