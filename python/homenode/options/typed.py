"""The types of all options.

Made by `make generate` from the options that the engines declare: do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping


class SimulateOptions(TypedDict, total=False):
    """Choices of a simulation: a matrix of machines, policies and block sizes.

    processors: Processors; thread i runs on i mod their number. Default: the machine's, where it
        has a number as those of today with pages do, else the trace's threads.
    private: What to do with references to private memory: ``local`` keeps them out of every
        history. ``local``: count them as local to whoever makes them; ``exclude``: leave them out
        of everything; ``shared``: treat them like all others. Default: ``exclude`` on
        page-coherence machines such as markatos, else ``local``.
    sync: What to do with references to synchronisation variables; the thesis leaves them out
        (§2.3.1). ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``exclude``.
    word_bytes: Count references in words of so many bytes, a power of two from 1 to 64: one that
        touches several words is one reference to each. The thesis's reference is a word of 4
        (§4.1.2). Default: as recorded.
    filter: Simulate only what reaches memory behind a cache in front of each processor, given as
        size, ways and block size, as in ``2M:16:64``; ``none`` simulates every reference. Default:
        the last level of the machine, if it has one as those of today with pages do; ``none`` for
        others, for a trace of misses, and in ``sharing``.
    realign: First move words that one thread uses away from pages that several share, for each
        block size, as ``homenode transform realign`` does it, by windows of so many references;
        1000000 where no number is given. Default: no.
    threads: Cores to use; the result does not depend on it. Default: all.
    force: Accept prices that the cost model calls invalid.
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
    """Choices of a simulation on a bus: machines, protocols and caches.

    machines: Machines: names (``homenode list machines``) or TOML files. Default: ``bus-smp``.
    points: Only these combinations, in this order, instead of all: dictionaries with ``protocol``,
        and, where it is not the default, ``machine``, ``cache_size``, ``associativity``,
        ``block_size``, ``processors`` and ``scheduler``. Then no lists of these are given. Default:
        all combinations.
    cache_sizes: Bytes in each processor's cache, as 32K or 64K-2M. Default: the machine's.
    associativities: Blocks in a set of the cache, or ``full`` for all in one. Default: the
        machine's.
    block_sizes: Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192. Default:
        the machine's.
    processors: Processors; thread i runs on i mod their number. Default: the trace's threads.
    scaling: Several numbers of processors, as 4,8,12 or 1-20, each simulated, instead of one.
        Default: none.
    order: In which order references take place. ``clock``: in cycles, on processors that a
        scheduler gives to processes; ``trace``: as in the trace, without time: each completes
        before the next one begins, thread i on processor i mod their number. Default: ``clock``.
    scheduler: Which ready process a processor takes. ``random``: any, drawn at random;
        ``affinity``: the one that ran there last: cache affinity. Default: the machine's.
    restart: Start processes again when they end, until as many references are done as the trace
        has: then all processors have work to the end.
    seed: For what scheduler and frames leave to chance. Default: 1.
    addresses: What the addresses of the trace are. ``auto``: those of memory if the trace is of a
        whole system or the machine has links, else of processes; ``pages``: those of processes,
        whose pages are put into frames; ``trace``: those of memory. Default: ``auto``.
    kernel_model: Make up what a kernel refers to at system calls, switches and ticks, by the
        machine's model, for a trace without a kernel.
    contention: Whether messages wait for each other at memories and between sockets, on machines
        with links. ``none``: there is room for all; only transactions on one block wait for each
        other; ``modelled``: memories and links take one block after the other. Default: the
        machine's.
    private_ranges: Private areas beside those of the trace, each with its first byte and one past
        the last, as in 0x1000-0x2000. Default: none.
    private: What to do with references that the trace calls private: ``local`` ones are to private
        areas. ``local``: count them as local to whoever makes them; ``exclude``: leave them out of
        everything; ``shared``: treat them like all others. Default: ``local``.
    sync: What to do with references to synchronisation variables: to a cache a lock is a word like
        any other. ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``include``.
    fetches: What to do with instruction fetches, which are reads. ``exclude``: leave them out of
        everything; ``include``: treat them like all others. Default: ``include``.
    miss_rule: When an invalidation miss is true sharing. ``dubois``: when what others wrote since
        the copy was lost is used before the new copy is lost: the essential misses of Dubois et al.
        1993; ``torrellas``: when the word that misses was written by others since the copy was
        lost: decided at the miss (Torrellas, Lam and Hennessy 1994). Default: ``dubois``.
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
    scheduler: Which ready process a processor takes. ``random``: any, drawn at random;
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
    """Choices of a run beside those of the machine.

    slack: Cycles by which a thread may run ahead of the one with the least simulated time; 0 is the
        strict order of events. Default: the machine's least network latency.
    expected_threads: Threads that the program is expected to have at a time, its first one
        included; more are added as they come. Default: --processors.
    """

    slack: int | None
    expected_threads: int | None


class DirectoryOptions(TypedDict, total=False):
    """Choices of a simulation on machines with a directory: protocols, homes of pages, and caches.

    machines: Machines: names (``homenode list machines``) or TOML files. Default: ``dash-mesh``.
    homes: Which node is the home of a page (``homenode list homes``), with parameters as in
        ``first-fill:n=4``. Default: ``round-robin``, ``first-touch``.
    replications: When pages are copied to nodes that read them (``homenode list replications``),
        with parameters as in ``counter:n=8``; under protocols that keep pages coherent, with
        ``--order clock``. Default: ``none``.
    proxies: Which reads go by proxies (``homenode list proxies``), with parameters as in
        ``basic:data=matrix`` or ``reactive:allocate=no``, where nodes have controllers. Marked data
        are parts of names or places of allocation, or addresses, joined by ``+``; ``allocate`` says
        whether proxies keep copies: ``yes``, ``no`` or ``separate:bytes=65536``. Default: ``none``.
    buffers: How many messages may wait at a node's controller before it sends reads back, or
        ``infinite``, where nodes have controllers. Default: ``infinite``.
    cache_sizes: Bytes in each node's cache, as 32K or 64K-2M. Default: the machine's.
    associativities: Blocks in a set of the cache, or ``full`` for all in one. Default: the
        machine's.
    block_sizes: Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192. Default:
        the machine's.
    processors: Nodes, each with a processor; thread i runs on i mod their number. Default: the
        trace's threads.
    scaling: Several numbers of nodes, as 4,8,16 or 1-64, each simulated, instead of one. Default:
        none.
    order: In which order references take place: at simulated speed, or as in the trace. ``clock``:
        in cycles, on processors that a scheduler gives to processes; ``trace``: as in the trace,
        without time: each completes before the next one begins, thread i on processor i mod their
        number. Default: ``clock``.
    consistency: What a processor waits for when it writes, with ``--order clock``. ``rc``: release
        consistency: it writes into a buffer, and waits for acknowledgements at a release; ``sc``:
        sequential consistency: it waits until everybody has seen what it wrote. Default: ``rc``.
    network_contention: Where messages wait for each other, with ``--order clock``. ``none``:
        nowhere; ``ends``: where they leave a node and where they come to one; ``links``: at every
        link, too. Default: the machine's.
    page_mapping: What the operating system takes to map a page, with ``--order clock``, where
        hardware keeps blocks coherent: what the machine says, or nothing. ``priced``: what the
        machine says; ``free``: nothing, as if pages were mapped before: what is left depends on
        where they are. Pages that move take their time. Default: ``priced``.
    phase_change: Let pages move again at each mark of a phase, with ``--order clock``.
    gap: Instructions before each reference, where the trace does not count them, with ``--order
        clock``. A trace recorded by the compiler does not. Default: 0.
    measure_from: Where times and counts begin, with ``--order clock``. ``start``: when the program
        begins; ``init-done``: at the program's mark that initialisation is over; what comes before
        is simulated as well. Default: ``start``.
    seed: For what homes leave to chance. Default: 1.
    private_ranges: Private areas beside those of the trace, each with its first byte and one past
        the last, as in 0x1000-0x2000. Default: none.
    private: What to do with references that the trace calls private: ``local`` ones are to private
        areas. ``local``: count them as local to whoever makes them; ``exclude``: leave them out of
        everything; ``shared``: treat them like all others. Default: ``local``.
    sync: What to do with references to synchronisation variables: to a cache a lock is a word like
        any other. ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``include``.
    miss_rule: When an invalidation miss is true sharing. ``dubois``: when what others wrote since
        the copy was lost is used before the new copy is lost: the essential misses of Dubois et al.
        1993; ``torrellas``: when the word that misses was written by others since the copy was
        lost: decided at the miss (Torrellas, Lam and Hennessy 1994). Default: ``dubois``.
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
    """Choices of a study of the optimum, beside those of a simulation.

    curve: A price r, R, g or G and an interval, as in ``R=59..400``: the whole curve of optimal
        cost against it, exact from break to break. Default: none.
    certify: Replay every placement through equations 4.1 and 4.2, reference by reference, and
        compare.
    replication: Whether a block may have several copies at a time. Default: yes.
    placement: A file that gets every change of place: CSV if its name ends in .csv, else a JSON
        object a line. Default: none.
    """

    curve: str | None
    certify: bool
    replication: bool
    placement: str | os.PathLike[str] | None


class SharingOptions(SimulateOptions, total=False):
    """Choices of a study of sharing, beside those of a simulation.

    detail: The block size at which to name objects, blocks and source lines; 0: none. Default: 64
        where it is among the block sizes, else the one in the middle.
    count: How many objects, blocks and source lines to name. Default: 20; 10 on the command line.
    home: Where pages are on machines with a directory (``homenode list homes``). Default:
        first-touch.
    contention: Whether messages wait for each other at memories and between sockets, on machines
        with a clock. ``none``: there is room for all; only transactions on one block wait for each
        other; ``modelled``: memories and links take one block after the other. Default: the
        machine's.
    merge_transfers: What a merge at the end of a false sharing interval costs, in block moves.
        Default: 1.
    """

    detail: int | str | None
    count: int | None
    home: str | None
    contention: str | None
    merge_transfers: int | None


class LinesOptions(TypedDict, total=False):
    """Choices of a simulation that says where processors wait.

    machine: The machine: one with cores and caches (``homenode list machines``), or a TOML file.
        Default: ``spr-2s-lines``.
    protocol: The coherence protocol (``homenode list protocols``). Default: mesi; dash with a
        directory.
    home: Where pages are on a machine with a directory (``homenode list homes``). Default:
        first-touch.
    processors: Processors; thread i runs on i mod their number. Default: the trace's threads.
    block_size: Bytes in a line. Default: the machine's.
    private: What to do with references that the trace calls private. ``local``: count them as local
        to whoever makes them; ``exclude``: leave them out of everything; ``shared``: treat them
        like all others. Default: ``local``.
    sync: What to do with references to synchronisation variables: to a cache a lock is a word like
        any other. ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``include``.
    contention: Whether messages wait for each other at memories and between sockets. ``none``:
        there is room for all; only transactions on one block wait for each other; ``modelled``:
        memories and links take one block after the other. Default: the machine's.
    count: How many objects to name. Default: 20.
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
    """Choices of advice, beside those of a simulation.

    contention: Whether messages wait for each other at memories and between sockets, on machines
        with a clock. ``none``: there is room for all; only transactions on one block wait for each
        other; ``modelled``: memories and links take one block after the other. Default: the
        machine's.
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
    """Choices of a TLB study: TLBs and page sizes to count misses for.

    processors: Processors, each with a TLB; thread i runs on i mod their number. Default: the
        trace's threads.
    private: What to do with references to private memory; the thesis counts them (§6.3.2).
        ``exclude``: leave them out of everything; ``include``: treat them like all others. Default:
        ``include``.
    sync: What to do with references to synchronisation variables; the thesis leaves them out
        (§2.3.1). ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``exclude``.
    word_bytes: Count references in words of so many bytes, a power of two from 1 to 64: one that
        touches several words is one reference to each. The thesis's reference is a word of 4
        (§4.1.2). Default: as recorded.
    threads: Cores to use; the result does not depend on it. Default: all.
    machine: The machine on which the mean cost per reference is corrected for misses, with pages as
        blocks: a name, a TOML file, or prices as in ``prices:r=15,R=59``. Default: no correction.
    policy: The policy whose mean cost per reference is corrected. Default: ``optimal``.
    force: Accept prices that the cost model calls invalid.
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
    """Choices of the page manager.

    owner_copy: What becomes of the writer's copy of a page when another processor reads it.
        ``flush``: it goes: the page leaves the local memory it was written in; ``keep``: it stays,
        mapped read-only. Default: ``flush``.
    costs: Kernel costs in microseconds that differ from the ACE's, as in ``fault=500``. Default:
        the ACE's.
    count: How many of the busiest pages to report. Default: 10.
    processors: Processors; thread i runs on i mod their number. Default: the trace's threads.
    private: What to do with references to private memory. ``local``: count them as local to whoever
        makes them; ``exclude``: leave them out of everything; ``shared``: treat them like all
        others. Default: ``shared``.
    sync: What to do with references to synchronisation variables; the thesis leaves them out
        (§2.3.1). ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``exclude``.
    word_bytes: Count references in words of so many bytes, a power of two from 1 to 64: one that
        touches several words is one reference to each. The thesis's reference is a word of 4
        (§4.1.2). Default: as recorded.
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
    """Choices of a picture: how fine it is, and what is in it.

    stretches: Most stretches of memory, side by side. Default: 120.
    slices: Slices of Time, one below the other. Default: 40.
    block_size: The least that a stretch covers, in bytes; it is doubled until the stretches are few
        enough. Default: 64.
    processors: Processors; thread i is processor i mod their number. Default: the trace's threads.
    private: What to do with references to private memory: anything but ``shared`` leaves them out.
        ``local``: count them as local to whoever makes them; ``exclude``: leave them out of
        everything; ``shared``: treat them like all others. Default: ``exclude``.
    sync: What to do with references to synchronisation variables; the thesis leaves them out
        (§2.3.1). ``exclude``: leave them out of everything; ``include``: treat them like all
        others. Default: ``exclude``.
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
    """Choices of an explanation.

    machine: The machine whose prices, and with a trace whose caches, are used. Default:
        ``bus-smp``; with a directory ``dash-mesh``, or ``alite`` where that is a list of copies.
    home: With a directory: which node is the home of a page (``homenode list homes``). Default:
        ``first-touch``.
    proxies: With lists of copies: which reads go by a proxy (``homenode list proxies``). Default:
        ``none``.
    buffers: With lists of copies: how many messages may wait at a controller before it sends reads
        back, where references are under way together (``&`` in an example); or ``infinite``.
        Default: ``infinite``.
    example: What to walk through, not with a trace: a name (``homenode list examples``), or
        references as in ``"0 W a0; 1 R a0"``, each a processor, R or W, and a word from a0 to d3,
        with p for a private area; with lists of copies also & if the next one begins meanwhile.
        Default: the protocol's own, ``tour`` where there are several protocols.
    references: Most references of a trace to walk through. Default: 30.
    blocks: Blocks of a trace to follow, each by any address in it. Default: the first one that
        several processors reference and one of them writes.
    processors: Processors, or nodes; thread i runs on i mod their number. Default: those of the
        example or trace.
    cache_size: Bytes in each cache. Default: one block with an example, else the machine's.
    associativity: Blocks in a set. Default: 1 with an example, else the machine's.
    block_size: Bytes in a block. Default: 16 with an example, else the machine's.
    private_ranges: Private areas beside those of the references, each with its first byte and one
        past the last, as in 0x1000-0x2000. Default: none.
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
