"""All claims of the paper, in the order of its sections."""

from homenode_studies.studies.foglia import (
    claims_blocks,
    claims_distributed,
    claims_limits,
    claims_protocols,
    claims_scheduling,
    claims_workload,
)
from homenode_studies.studies.foglia.printed import paper

_SECTIONS = "abstract 4 5.1.1 5.1.2 5.1.3 5.1.4 5.2 5.2.1 5.2.2 5.3 6 7".split()
_TOPICS = (
    *claims_workload.CLAIMS,
    *claims_limits.CLAIMS,
    *claims_blocks.CLAIMS,
    *claims_scheduling.CLAIMS,
    *claims_protocols.CLAIMS,
    *claims_distributed.CLAIMS,
)

CLAIMS = tuple(
    claim.tried_on(paper)
    for claim in sorted(_TOPICS, key=lambda claim: _SECTIONS.index(claim.section))
)
"""Every claim of the study, in the order of its sections."""
