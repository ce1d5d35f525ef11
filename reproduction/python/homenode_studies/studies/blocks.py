"""Use of a program's blocks: number of processors, shared words, and misses."""

import json
from typing import Any

from homenode import _core
from homenode.engines.placement import configuration
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Row

_ALL = 1 << 30


def blocks_of(context: StudyContext, program: Program, block_size: int) -> list[Row]:
    """Every shared block of a program's trace, as ``homenode report`` analyses it.

    The machine is the Butterfly under the optimum; the set of blocks does not depend on it.
    """
    config = json.dumps(configuration(["butterfly"], ["optimal"], [block_size]))
    path = str(context.trace(program).path)
    with context.watch(f"examining {program.name}") as step:
        found: dict[str, Any] = json.loads(_core.worst_blocks(path, config, _ALL, step))
    blocks: list[Row] = found["worst"]
    return blocks


def sharing_of(blocks: list[Row]) -> Row:
    """Sums over the blocks of one program.

    ``full_duration`` blocks are used by several processors and written, but no word that one
    processor writes is ever used by another: section 7.1.4. ``separable`` references are to words
    that are only read, or used by one processor, in blocks in which other words are truly shared.
    """
    shared = [b for b in blocks if len(b["threads"]) > 1 and any(t["writes"] for t in b["threads"])]
    full = [b for b in shared if b["words"]["truly_shared"] == 0]
    mixed = [b for b in shared if b["words"]["truly_shared"] > 0]
    references = sum(sum(b["references"].values()) for b in blocks)
    return {
        "blocks": len(blocks),
        "written_by_some_used_by_several": len(shared),
        "full_duration": len(full),
        "references": references,
        "full_duration_references": sum(sum(b["references"].values()) for b in full),
        "separable_references": sum(
            b["references"]["private"] + b["references"]["read_shared"] for b in mixed
        ),
        **{
            f"misses_{kind}": sum(b["misses"][kind] for b in blocks)
            for kind in ("cold", "true_sharing", "false_sharing")
        },
    }
