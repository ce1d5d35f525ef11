"""The kinds of values that options have: how each is typed, read, and shown in the help."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from homenode.options import values


def _same(given: Any) -> Any:
    return given


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values."""

    annotation: str = "str"
    """The type of its values in Python."""
    read: Callable[[Any], Any] = _same
    """Converts what a user gives to what the engine takes, unless that depends on the option
    (`Option.read`)."""
    metavar: str | None = None
    """How the help shows a value, unless the option says it."""
    is_list: bool = False
    """Whether the command line reads the text at once, and joins the lists of repeated flags."""
    repeated: bool = False
    """Whether a flag has one value and may be repeated."""


def _specs(what: str, metavar: str) -> Kind:
    return Kind("str | Iterable[str]", partial(values.specs_of, what=what), metavar, is_list=True)


_SIZES = "str | int | Iterable[int]"

KINDS: dict[str, Kind] = {
    "flag": Kind("bool", bool),
    "number": Kind("int", metavar="N"),
    "window": Kind("int"),
    "choice": Kind(),
    "text": Kind(read=values.text),
    "path": Kind("str | os.PathLike[str]", values.path),
    "machines": _specs("machine", "M[,M...]"),
    "policies": _specs("policy", "P[,P...]"),
    "protocols": _specs("protocol", "P[,P...]"),
    "homes": _specs("home", "H[,H...]"),
    "replications": _specs("replication", "R[,R...]"),
    "proxies": _specs("proxies", "P[,P...]"),
    "block-sizes": Kind(_SIZES, values.sizes_of, "B[,B...]", is_list=True),
    "cache-sizes": Kind(_SIZES, values.cache_sizes, "B[,B...]", is_list=True),
    "block-size": Kind("int | str", values.block_size),
    "cache-size": Kind("int | str", values.cache_size),
    "associativities": Kind("str | int | Iterable[int | str]", values.associativities, "A[,A...]"),
    "buffers": Kind("str | int | Iterable[str | int]", values.buffers, "N[,N...]"),
    "counts": Kind(_SIZES, values.counts, "N[,N...]"),
    "costs": Kind("Mapping[str, float]", values.costs, "NAME=US[,NAME=US...]"),
    "address-ranges": Kind(
        "Iterable[str | tuple[int, int]]", values.address_ranges, "LO-HI", repeated=True
    ),
    "addresses": Kind("Iterable[int | str]", values.addresses, "ADDRESS", repeated=True),
    "texts": Kind(repeated=True),
    "points": Kind("Iterable[Mapping[str, Any]]", values.points),
}
