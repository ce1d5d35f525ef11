"""Variants of open parameters of the paper's machine and kernel.

Caches may supply clean blocks as well (its MESI is that of machines whose caches do not), and a
fetch may hold the bus until memory has sent the block (tables 4 and 5 leave that open). Its kernel
is a trace of system calls with simulated scheduling (section 4); a complete present-day Linux does
more, and shares more. It also has per-processor copies of much data that a kernel of 2003 had once.
Its workloads combine traces of processes with simulated frames; in a recording, a frame that was
freed serves another process.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from homenode.trace import Trace
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products
from homenode_studies.studies.foglia.bands import HOLDS
from homenode_studies.studies.foglia.products import products
from homenode_studies.studies.foglia.runs import Machine, machine_for
from homenode_studies.studies.forms import TraceForm
from homenode_studies.studies.variants import Variant

_LONGEST = HOLDS[max(HOLDS)]
"""The machine whose bus is held longest."""


def _with_caches(trace: Trace) -> Machine:
    return replace(machine_for(trace), clean_from_memory=False)


def _held(trace: Trace) -> Machine:
    return replace(machine_for(trace), name=_LONGEST.name, spec=_LONGEST.spec)


def _of_form(form: TraceForm) -> Callable[[StudyContext], Products]:
    """The same simulations of converted mixes."""

    def experiments(context: StudyContext) -> Products:
        return products(replace(context, form=form, traces={}, _opened={}))

    return experiments


VARIANTS = (
    Variant(
        "caches",
        "any cache that has a clean block supplies it",
        partial(products, machine_of=_with_caches),
    ),
    Variant(
        "held",
        "the bus is held for all 68 cycles of a fetch",
        partial(products, machine_of=_held),
    ),
    Variant(
        "users", "the kernel's references are left out", _of_form(TraceForm(without_kernel=True))
    ),
    Variant(
        "common",
        "all processors share the kernel's per-processor data",
        _of_form(TraceForm(common_areas=True)),
    ),
    Variant(
        "frames",
        "memory that processes use one after the other is in frames of their own",
        _of_form(TraceForm(own_frames=True)),
    ),
)
"""In the order of the table's columns."""
