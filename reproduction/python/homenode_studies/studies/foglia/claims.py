"""All claims of the paper, in its order."""

from homenode_studies.studies.foglia import (
    claims_blocks,
    claims_distributed,
    claims_limits,
    claims_protocols,
    claims_scheduling,
    claims_workload,
)
from homenode_studies.studies.foglia.printed import paper

_IN_ORDER = (
    *claims_workload.CLAIMS,
    *claims_limits.CLAIMS,
    *claims_blocks.CLAIMS,
    *claims_scheduling.CLAIMS,
    *claims_protocols.CLAIMS,
    *claims_distributed.CLAIMS,
    *claims_scheduling.CONCLUSIONS,
)

CLAIMS = tuple(claim.tried_on(paper) for claim in _IN_ORDER)
"""Every claim of the study."""
