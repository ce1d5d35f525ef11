"""The types of options, as Python writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from homenode.options.declared import Option

# How the values of options are typed that are neither numbers nor words.
_ANNOTATIONS = {
    "flag": "bool",
    "number": "int",
    "window": "int",
    "machines": "str | Iterable[str]",
    "policies": "str | Iterable[str]",
    "protocols": "str | Iterable[str]",
    "homes": "str | Iterable[str]",
    "replications": "str | Iterable[str]",
    "proxies": "str | Iterable[str]",
    "buffers": "str | int | Iterable[str | int]",
    "block-sizes": "str | int | Iterable[int]",
    "cache-sizes": "str | int | Iterable[int]",
    "counts": "str | int | Iterable[int]",
    "associativities": "str | int | Iterable[int | str]",
    "address-ranges": "Iterable[str | tuple[int, int]]",
    "addresses": "Iterable[int | str]",
    "points": "Iterable[Mapping[str, Any]]",
    "block-size": "int | str",
    "cache-size": "int | str",
    "costs": "Mapping[str, float]",
    "path": "str | os.PathLike[str]",
}


def annotation(option: Option) -> str:
    """The type of an option's values; ``None`` stands for the default."""
    plain = _ANNOTATIONS.get(option.kind, "str")
    return plain if option.kind == "flag" else f"{plain} | None"
