"""Runs Talbot and Kelly's programs with shadow values, in every variant on 64 nodes.

Every read is compared with the last write that it may return: at the paper's sizes, with both
homes, without proxies, with basic and with reactive ones; with infinite buffers and buffers of 2, 8
and 32 read requests; and with proxies that keep no copies, keep them in a separate cache, or serve
in order. Prints a line for each pass over a trace; ends with an error at the first wrong read.

Run with `nice python benches/checked.py`, which takes an hour on two cores, or
`python benches/checked.py ge --traces traces`.
"""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

from homenode.engines.simulation import simulate
from homenode_studies import studies
from homenode_studies.studies import programs
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.talbot.matrix import (
    BASIC,
    FAIR,
    FINITE,
    HOMES,
    INFINITE,
    LENGTHS,
    NONE,
    REACTIVE,
    SEPARATE,
    UNALLOCATED,
    Batch,
    Setting,
)
from homenode_studies.studies.talbot.runs import about, asked

VARIANTS = (
    Batch(Setting(), kinds=(NONE, BASIC), lengths=(INFINITE,)),
    Batch(Setting(), kinds=(NONE, BASIC, REACTIVE), lengths=LENGTHS),
    *(
        Batch(Setting(dial=dial), HOMES, (BASIC, REACTIVE), (FINITE,))
        for dial in (UNALLOCATED, SEPARATE, FAIR)
    ),
)


def main() -> None:
    """Checks the named programs, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="some of the programs; default: all")
    parser.add_argument("--traces", type=Path, help="folder of recordings, kept for later runs")
    chosen = parser.parse_args()
    entry = studies.find("talbot")
    known = programs.available(entry.publication, quick=False)
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.traces or Path(made)
        context = StudyContext(entry.publication, folder, quick=False, programs=known)
        for program in known:
            if not chosen.programs or program.name in chosen.programs:
                check(context, program)


def check(context: StudyContext, program: programs.Program) -> None:
    trace = context.trace(program)
    for batch in VARIANTS:
        began = time.perf_counter()
        found = asked(trace, batch, about(program.name), partial(simulate, check=True))
        took = time.perf_counter() - began
        print(
            f"{program.name}: {len(found.rows)} variants, buffers {', '.join(batch.lengths)}, "
            f"proxies {', '.join(batch.kinds)}{f', {batch.base.dial}' * bool(batch.base.dial)}: "
            f"{trace.references:,} references each, no read wrong, {took:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
