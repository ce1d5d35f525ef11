"""The types of all options.

Made by `make generate` from the options that the engines declare: do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping


class SimulateOptions(TypedDict, total=False):
    """Options of a placement simulation: a matrix of machines, policies and block sizes.

    processors: Processors; thread i runs on processor i modulo this number. Default: the machine's,
        where it has a number as those of today with pages do, else the trace's threads.
    private: How to treat references to private memory: ``local`` keeps them out of every history.
        ``local``: count them as local to the processor that makes them; ``exclude``: leave them out
        of everything; ``shared``: treat them like all others. Default: ``exclude`` on
        page-coherence machines such as markatos, else ``local``.
    sync: How to treat references to synchronisation variables; the thesis leaves them out (§2.3.1).
        ``exclude``: leave them out of everything; ``include``: treat them like all others. Default:
        ``exclude``.
    word_bytes: Count references in words of this many bytes, a power of two from 1 to 64: a
        reference that touches several words counts as one reference to each. The thesis's word has
        4 bytes (§4.1.2). Default: as recorded.
    filter: Simulate only the references that miss a cache at each processor, given as size, ways
        and block size, as in ``2M:16:64``; ``none`` simulates every reference. Default: the last
        level of the machine, if it has one as those of today with pages do; ``none`` for others,
        for a trace of misses, and in ``sharing``.
    realign: First move words that one thread uses away from pages that several threads share, for
        each block size, as ``homenode transform realign`` does, in windows of this many references;
        1000000 if the number is omitted. Default: no.
    threads: Cores to use; the result does not depend on it. Default: all.
    force: Accept prices that violate the cost model.
    """

    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    filter: str | None
    realign: int | None
    threads: int | None
    force: bool


class BusOptions(TypedDict, total=False):
    """Options of a simulation of caches on a bus or with links: machines, protocols and caches.

    machines: Machines: names (``homenode list machines``) or TOML files. Default: ``bus-smp``.
    points: Simulate only these combinations, in this order: dictionaries with ``protocol`` and, if
        not the default, ``machine``, ``cache_size``, ``associativity``, ``block_size``,
        ``processors`` and ``scheduler``. The lists of these must be empty then. Default: all
        combinations.
    cache_sizes: Bytes in each processor's cache, as 32K or 64K-2M. Default: the machine's.
    associativities: Blocks in a set of the cache; ``full`` makes it fully associative. Default: the
        machine's.
    block_sizes: Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192. Default:
        the machine's.
    processors: Processors; thread i runs on processor i modulo this number. Default: the trace's
        threads.
    scaling: Several numbers of processors to simulate, as 4,8,12 or 1-20, instead of one. Default:
        none.
    order: The order in which references take place. ``clock``: in cycles, on processors to which a
        scheduler assigns processes; ``trace``: as in the trace, without time: each reference
        completes before the next one begins, and thread i runs on processor i modulo their number.
        Default: ``clock``.
    scheduler: Which ready process a processor runs next. ``random``: any, drawn at random;
        ``affinity``: the one that ran there last: cache affinity. Default: the machine's.
    restart: Restart processes when they end, until as many references are done as the trace has, so
        that all processors stay busy to the end.
    seed: Seed of the scheduler's random choices and of page frames. Default: 1.
    addresses: What the addresses of the trace are. ``auto``: physical if the trace is of a whole
        system or the machine has links, else virtual; ``pages``: virtual addresses of processes,
        whose pages are mapped to frames; ``trace``: physical addresses. Default: ``auto``.
    kernel_model: Generate the kernel's references at system calls, switches and ticks from the
        machine's kernel model, for a trace without a kernel.
    contention: Contention at memories and between sockets, on machines with links. ``none``:
        unlimited bandwidth; only transactions on the same block wait for each other; ``modelled``:
        memories and links serve one block at a time. Default: the machine's.
    private_ranges: Private areas in addition to those of the trace, each as its first byte and the
        byte after its last one, as in 0x1000-0x2000. Default: none.
    private: How to treat references that the trace flags as private; with ``local`` they are to
        private areas. ``local``: count them as local to the processor that makes them; ``exclude``:
        leave them out of everything; ``shared``: treat them like all others. Default: ``local``.
    sync: How to treat references to synchronisation variables; a cache treats a lock like any other
        word. ``exclude``: leave them out of everything; ``include``: treat them like all others.
        Default: ``include``.
    fetches: How to treat instruction fetches, which are reads. ``exclude``: leave them out of
        everything; ``include``: treat them like all others. Default: ``include``.
    miss_rule: When an invalidation miss counts as true sharing. ``dubois``: when what others wrote
        since the copy was lost is used before the new copy is lost: the essential misses of Dubois
        et al. 1993; ``torrellas``: when the word that misses was written by others since the copy
        was lost: decided at the miss (Torrellas, Lam and Hennessy 1994). Default: ``dubois``.
    check: Check that every read returns the last write.
    threads: Cores to use; the result does not depend on it. Default: all.
    """

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


class BusPoint(TypedDict, total=False):
    """One combination of a machine, a protocol, a cache and a number of processors.

    machine: The machine: a name or TOML file. Default: ``bus-smp``.
    protocol: The protocol, with parameters as in ``pscr:private_kernel=yes``.
    cache_size: Bytes in each processor's cache. Default: the machine's.
    associativity: Blocks in a set. Default: the machine's.
    block_size: Bytes in a block. Default: the machine's.
    processors: Processors. Default: the trace's threads.
    scheduler: Which ready process a processor runs next. ``random``: any, drawn at random;
        ``affinity``: the one that ran there last: cache affinity. Default: the machine's.
    """

    machine: str | None
    protocol: str | None
    cache_size: int | None
    associativity: int | None
    block_size: int | None
    processors: int | None
    scheduler: str | None


class RunOptions(TypedDict, total=False):
    """Options of a run in addition to those of the machine.

    slack: Cycles by which a thread may run ahead of the one with the least simulated time; 0 is the
        strict order of events. Default: the machine's least network latency.
    expected_threads: Expected number of threads alive at a time, the first one included; more are
        added as they start. Default: --processors.
    """

    slack: int | None
    expected_threads: int | None


class DirectoryOptions(TypedDict, total=False):
    """Options of a simulation of machines with a directory: protocols, homes of pages, and caches.

    machines: Machines: names (``homenode list machines``) or TOML files. Default: ``dash-mesh``.
    homes: Which node is the home of a page (``homenode list homes``), with parameters as in
        ``first-fill:n=4``. Default: ``first-touch``.
    replications: When pages are replicated to nodes that read them (``homenode list
        replications``), with parameters as in ``counter:n=8``; for protocols that keep pages
        coherent, with ``--order clock``. Default: ``none``.
    proxies: Which reads go through proxies (``homenode list proxies``), with parameters as in
        ``basic:data=matrix`` or ``reactive:allocate=no``, on nodes with controllers. ``data`` is a
        list, joined by ``+``, of parts of object names, parts of allocation sites, or addresses;
        ``allocate`` says whether proxies keep copies: ``yes``, ``no`` or ``separate:bytes=65536``.
        Default: ``none``.
    buffers: Messages that a node's controller can queue before it sends reads back, or
        ``infinite``, on nodes with controllers. Default: ``infinite``.
    cache_sizes: Bytes in each node's cache, as 32K or 64K-2M. Default: the machine's.
    associativities: Blocks in a set of the cache; ``full`` makes it fully associative. Default: the
        machine's.
    block_sizes: Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192. Default:
        the machine's.
    processors: Nodes, each with a processor; thread i runs on node i modulo this number. Default:
        the trace's threads.
    scaling: Several numbers of nodes to simulate, as 4,8,16 or 1-64, instead of one. Default: none.
    order: The order in which references take place: in simulated time, or as in the trace.
        ``clock``: in cycles, on processors to which a scheduler assigns processes; ``trace``: as in
        the trace, without time: each reference completes before the next one begins, and thread i
        runs on processor i modulo their number. Default: ``clock``.
    consistency: What a processor waits for when it writes, with ``--order clock``. ``rc``: release
        consistency: writes go to a buffer, and a release waits for their acknowledgements; ``sc``:
        sequential consistency: a write waits until all nodes have observed it. Default: ``rc``.
    network_contention: Where messages contend, with ``--order clock``. ``none``: nowhere; ``ends``:
        where they leave a node and where they come to one; ``links``: at every link, too. Default:
        the machine's.
    page_mapping: Cost of mapping a page in the operating system, with ``--order clock``, if
        hardware keeps blocks coherent: the machine's, or none. ``priced``: the machine's cost;
        ``free``: no cost, as if pages were mapped before, which isolates the effect of their
        location. Migrations of pages still take time. Default: ``priced``.
    phase_change: Let pages migrate again at each phase mark, with ``--order clock``.
    gap: Instructions before each reference, if the trace does not count them, with ``--order
        clock``. Traces recorded with the compiler wrappers do not. Default: 0.
    measure_from: Where measurement of times and counts begins, with ``--order clock``. ``start``:
        at the start of the program; ``init-done``: at the program's mark that initialisation is
        over; references before it are simulated but not counted. Default: ``start``.
    seed: Seed of the random choices of homes. Default: 1.
    private_ranges: Private areas in addition to those of the trace, each as its first byte and the
        byte after its last one, as in 0x1000-0x2000. Default: none.
    private: How to treat references that the trace flags as private; with ``local`` they are to
        private areas. ``local``: count them as local to the processor that makes them; ``exclude``:
        leave them out of everything; ``shared``: treat them like all others. Default: ``local``.
    sync: How to treat references to synchronisation variables; a cache treats a lock like any other
        word. ``exclude``: leave them out of everything; ``include``: treat them like all others.
        Default: ``include``.
    miss_rule: When an invalidation miss counts as true sharing. ``dubois``: when what others wrote
        since the copy was lost is used before the new copy is lost: the essential misses of Dubois
        et al. 1993; ``torrellas``: when the word that misses was written by others since the copy
        was lost: decided at the miss (Torrellas, Lam and Hennessy 1994). Default: ``dubois``.
    check: Check that every read returns the last write.
    threads: Cores to use; the result does not depend on it. Default: all.
    """

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
    seed: int | None
    private_ranges: Iterable[str | tuple[int, int]] | None
    private: str | None
    sync: str | None
    miss_rule: str | None
    check: bool
    threads: int | None


class OptimalOptions(SimulateOptions, total=False):
    """Options of a study of the optimum, in addition to those of a simulation.

    curve: A price r, R, g or G and an interval, as in ``R=59..400``: compute the exact, piecewise
        linear curve of optimal cost against this price. Default: none.
    certify: Replay every placement with equations 4.1 and 4.2, reference by reference, and compare
        the costs.
    replication: Whether a block may have several copies at a time. Default: yes.
    placement: A file that gets every change of place: CSV if its name ends in .csv, else a JSON
        object a line. Default: none.
    """

    curve: str | None
    certify: bool
    replication: bool
    placement: str | os.PathLike[str] | None


class SharingOptions(SimulateOptions, total=False):
    """Options of a study of sharing, in addition to those of a simulation.

    detail: The block size at which to list objects, blocks and source lines; 0 lists none. Default:
        64 where it is among the block sizes, else the one in the middle.
    count: How many objects, blocks and source lines to list. Default: 20; 10 on the command line.
    home: Home policy of pages on machines with a directory (``homenode list homes``). Default:
        first-touch.
    contention: Contention at memories and between sockets, on machines with a clock. ``none``:
        unlimited bandwidth; only transactions on the same block wait for each other; ``modelled``:
        memories and links serve one block at a time. Default: the machine's.
    merge_transfers: Cost of a merge at the end of a false sharing interval, in block moves.
        Default: 1.
    """

    detail: int | str | None
    count: int | None
    home: str | None
    contention: str | None
    merge_transfers: int | None


class LinesOptions(TypedDict, total=False):
    """Options of a simulation that reports where processors wait.

    machine: The machine: one with cores and caches (``homenode list machines``), or a TOML file.
        Default: ``spr-2s-lines``.
    protocol: The coherence protocol (``homenode list protocols``). Default: mesi; dash with a
        directory.
    home: Home policy of pages on a machine with a directory (``homenode list homes``). Default:
        first-touch.
    processors: Processors; thread i runs on processor i modulo this number. Default: the trace's
        threads.
    block_size: Bytes in a line. Default: the machine's.
    private: How to treat references that the trace flags as private. ``local``: count them as local
        to the processor that makes them; ``exclude``: leave them out of everything; ``shared``:
        treat them like all others. Default: ``local``.
    sync: How to treat references to synchronisation variables; a cache treats a lock like any other
        word. ``exclude``: leave them out of everything; ``include``: treat them like all others.
        Default: ``include``.
    contention: Contention at memories and between sockets. ``none``: unlimited bandwidth; only
        transactions on the same block wait for each other; ``modelled``: memories and links serve
        one block at a time. Default: the machine's.
    count: How many objects to list. Default: 20.
    threads: Cores to use; the result does not depend on it. Default: all.
    """

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
    """Options of advice, in addition to those of a simulation.

    contention: Contention at memories and between sockets, on machines with a clock. ``none``:
        unlimited bandwidth; only transactions on the same block wait for each other; ``modelled``:
        memories and links serve one block at a time. Default: the machine's.
    out: Where to write the trace with all advice followed, for one machine, policy and block size
        only; any other function can go on with it. Default: nowhere.
    """

    contention: str | None
    out: str | os.PathLike[str] | None


class SensitivityOptions(SimulateOptions, total=False):
    """Choices of a study of orders, beside those of a simulation.

    reinterleave: How many other orders to make of each trace, by the transform of this name; of a
        single trace 4 if none are asked for. Default: 0.
    quantum: References of a turn in these, on the average. Default: 100.
    seed: Seed of the first of these; the others have the seeds after it. Default: 1.
    """

    reinterleave: int | None
    quantum: int | None
    seed: int | None


class TlbOptions(TypedDict, total=False):
    """Options of a TLB study: TLBs and page sizes whose misses are counted.

    processors: Processors, each with a TLB; thread i runs on processor i modulo this number.
        Default: the trace's threads.
    private: How to treat references to private memory; the thesis counts them (§6.3.2).
        ``exclude``: leave them out of everything; ``include``: treat them like all others. Default:
        ``include``.
    sync: How to treat references to synchronisation variables; the thesis leaves them out (§2.3.1).
        ``exclude``: leave them out of everything; ``include``: treat them like all others. Default:
        ``exclude``.
    word_bytes: Count references in words of this many bytes, a power of two from 1 to 64: a
        reference that touches several words counts as one reference to each. The thesis's word has
        4 bytes (§4.1.2). Default: as recorded.
    threads: Cores to use; the result does not depend on it. Default: all.
    machine: The machine on which the mean cost per reference is corrected for misses, with pages as
        blocks: a name, a TOML file, or inline prices as in ``prices:r=15,R=59``. Default: no
        correction.
    policy: The policy whose mean cost per reference is corrected. Default: ``optimal``.
    force: Accept prices that violate the cost model.
    """

    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    threads: int | None
    machine: str | None
    policy: str | None
    force: bool


class PmapOptions(TypedDict, total=False):
    """Options of the page manager.

    owner_copy: State of the writer's copy of a page after another processor reads the page.
        ``flush``: it goes: the page leaves the local memory it was written in; ``keep``: it stays,
        mapped read-only. Default: ``flush``.
    costs: Kernel costs in microseconds that replace the ACE's, as in ``fault=500``. Default: the
        ACE's.
    count: How many of the busiest pages to report. Default: 10.
    processors: Processors; thread i runs on processor i modulo this number. Default: the trace's
        threads.
    private: How to treat references to private memory. ``local``: count them as local to the
        processor that makes them; ``exclude``: leave them out of everything; ``shared``: treat them
        like all others. Default: ``shared``.
    sync: How to treat references to synchronisation variables; the thesis leaves them out (§2.3.1).
        ``exclude``: leave them out of everything; ``include``: treat them like all others. Default:
        ``exclude``.
    word_bytes: Count references in words of this many bytes, a power of two from 1 to 64: a
        reference that touches several words counts as one reference to each. The thesis's word has
        4 bytes (§4.1.2). Default: as recorded.
    threads: Cores to use; the result does not depend on it. Default: all.
    """

    owner_copy: str | None
    costs: Mapping[str, float] | None
    count: int | None
    processors: int | None
    private: str | None
    sync: str | None
    word_bytes: int | None
    threads: int | None


class PictureOptions(TypedDict, total=False):
    """Options of a picture: resolution and references.

    stretches: Most address ranges, from left to right. Default: 120.
    slices: Time slices, from top to bottom. Default: 40.
    block_size: Smallest size of an address range, in bytes; it is doubled until there are few
        enough ranges. Default: 64.
    processors: Processors; thread i is processor i modulo this number. Default: the trace's
        threads.
    private: How to treat references to private memory: all values except ``shared`` leave them out.
        ``local``: count them as local to the processor that makes them; ``exclude``: leave them out
        of everything; ``shared``: treat them like all others. Default: ``exclude``.
    sync: How to treat references to synchronisation variables; the thesis leaves them out (§2.3.1).
        ``exclude``: leave them out of everything; ``include``: treat them like all others. Default:
        ``exclude``.
    title: What stands above the picture. Default: the program and its arguments.
    """

    stretches: int | None
    slices: int | None
    block_size: int | str | None
    processors: int | None
    private: str | None
    sync: str | None
    title: str | None


class ExplainOptions(TypedDict, total=False):
    """Options of an explanation.

    machine: The machine whose prices, and with a trace whose caches, are used. Default:
        ``bus-smp``; with a directory ``dash-mesh``, or ``alite`` where that is a list of copies.
    home: Home policy of pages, with a directory (``homenode list homes``). Default:
        ``first-touch``.
    proxies: Proxy policy, with lists of copies (``homenode list proxies``). Default: ``none``.
    buffers: With lists of copies: messages that a controller can queue before it sends reads back,
        if references overlap (``&`` in an example); or ``infinite``. Default: ``infinite``.
    example: The walk's references, without a trace: the name of an example (``homenode list
        examples``), or references as in ``"0 W a0; 1 R a0"``, each a processor, R or W, and a word
        from a0 to d3, with p for a private area; with lists of copies also & if the next reference
        begins before this one ends. Default: the protocol's own, ``tour`` where there are several
        protocols.
    references: Most references of a trace in a walk. Default: 30.
    blocks: Blocks of a trace to follow, each given by any address in it. Default: the first one
        that several processors reference and one of them writes.
    processors: Processors, or nodes; thread i runs on processor i modulo this number. Default:
        those of the example or trace.
    cache_size: Bytes in each cache. Default: one block with an example, else the machine's.
    associativity: Blocks in a set. Default: 1 with an example, else the machine's.
    block_size: Bytes in a block. Default: 16 with an example, else the machine's.
    private_ranges: Private areas in addition to those of the references, each as its first byte and
        the byte after its last one, as in 0x1000-0x2000. Default: none.
    """

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
