"""The types of all options, which `docs/options.md` describes.

Made by `make generate` from the options that the engines declare: do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping


class SimulateOptions(TypedDict, total=False):
    """Machines with prices of references: options of `homenode simulate`, `homenode.simulate`."""

    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    filter: str | None
    realign: int | None
    threads: int | None
    force: bool


class BusOptions(TypedDict, total=False):
    """Machines with caches: options of `homenode simulate`, `homenode.simulate`."""

    machines: str | Iterable[str] | None
    points: Iterable[Mapping[str, Any]] | None
    cache_sizes: str | int | Iterable[int] | None
    associativities: str | int | Iterable[int | str] | None
    block_sizes: str | int | Iterable[int] | None
    processors: int | None
    scaling: str | int | Iterable[int] | None
    order: str | None
    scheduler: str | None
    restart: bool
    seed: int | None
    addresses: str | None
    kernel_model: bool
    contention: str | None
    private_ranges: Iterable[str | tuple[int, int]] | None
    private: str | None
    sync: str | None
    fetches: str | None
    miss_rule: str | None
    check: bool
    threads: int | None


class DirectoryOptions(TypedDict, total=False):
    """Machines with a directory: options of `homenode simulate`, `homenode.simulate`."""

    machines: str | Iterable[str] | None
    homes: str | Iterable[str] | None
    replications: str | Iterable[str] | None
    proxies: str | Iterable[str] | None
    buffers: str | int | Iterable[str | int] | None
    cache_sizes: str | int | Iterable[int] | None
    associativities: str | int | Iterable[int | str] | None
    block_sizes: str | int | Iterable[int] | None
    processors: int | None
    scaling: str | int | Iterable[int] | None
    order: str | None
    consistency: str | None
    network_contention: str | None
    page_mapping: str | None
    phase_change: bool
    gap: int | None
    measure_from: str | None
    measure_until: str | None
    seed: int | None
    private_ranges: Iterable[str | tuple[int, int]] | None
    private: str | None
    sync: str | None
    miss_rule: str | None
    check: bool
    threads: int | None


class OptimalOptions(SimulateOptions, total=False):
    """The optimum: options of `homenode optimal`, `homenode.optimal`."""

    curve: str | None
    certify: bool
    replication: bool
    placement: str | os.PathLike[str] | None


class SharingOptions(SimulateOptions, total=False):
    """False sharing: options of `homenode sharing`, `homenode.sharing`."""

    detail: int | str | None
    count: int | None
    home: str | None
    contention: str | None
    merge_transfers: int | None


class LinesOptions(TypedDict, total=False):
    """Machines of today: options of `homenode sharing`, `homenode.lines`."""

    machine: str | None
    protocol: str | None
    home: str | None
    processors: int | None
    block_size: int | None
    private: str | None
    sync: str | None
    contention: str | None
    count: int | None
    threads: int | None


class AdviseOptions(SimulateOptions, total=False):
    """Advice: options of `homenode advise`, `homenode.advise`."""

    contention: str | None
    out: str | os.PathLike[str] | None


class SensitivityOptions(SimulateOptions, total=False):
    """Orders: options of `homenode sensitivity`, `homenode.sensitivity`."""

    reinterleave: int | None
    quantum: int | None
    seed: int | None


class TlbOptions(TypedDict, total=False):
    """TLBs: options of `homenode tlb`, `homenode.tlb`."""

    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    threads: int | None
    machine: str | None
    policy: str | None
    force: bool


class PmapOptions(TypedDict, total=False):
    """The ACE's page manager: options of `homenode pmap`, `homenode.pmap`."""

    owner_copy: str | None
    free_unmapped: bool
    costs: Mapping[str, float] | None
    count: int | None
    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    threads: int | None


class PictureOptions(TypedDict, total=False):
    """Pictures: options of `homenode picture`, `homenode.picture`."""

    stretches: int | None
    slices: int | None
    block_size: int | str | None
    processors: int | None
    private: str | None
    sync: str | None
    title: str | None


class ExplainOptions(TypedDict, total=False):
    """Protocols explained: options of `homenode explain`, `homenode.explain`."""

    machine: str | None
    home: str | None
    proxies: str | None
    buffers: str | None
    example: str | None
    references: int | None
    blocks: Iterable[int | str] | None
    processors: int | None
    cache_size: int | str | None
    associativity: int | None
    block_size: int | str | None
    private_ranges: Iterable[str | tuple[int, int]] | None


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
    measure_until: str | None
