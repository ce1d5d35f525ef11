"""The types of all options.

Made by `make generate` from the options that the engines declare: do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class EngineOptions(TypedDict, total=False):
    """The options of `SimulateOptions`, `BusOptions` and `DirectoryOptions`."""

    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    filter: str | None
    realign: int | None
    threads: int | None
    force: bool
    points: Iterable[Mapping[str, Any]] | None
    cache_sizes: str | int | Iterable[int] | None
    associativities: str | int | Iterable[int | str] | None
    scaling: str | int | Iterable[int] | None
    order: str | None
    scheduler: str | None
    restart: bool
    seed: int | None
    addresses: str | None
    kernel_model: bool
    contention: str | None
    private_ranges: Iterable[str | tuple[int, int]] | None
    fetches: str | None
    miss_rule: str | None
    check: bool
    homes: str | Iterable[str] | None
    replications: str | Iterable[str] | None
    proxies: str | Iterable[str] | None
    buffers: str | int | Iterable[str | int] | None
    consistency: str | None
    network_contention: str | None
    page_mapping: str | None
    phase_change: bool
    gap: int | None
    measure_from: str | None
