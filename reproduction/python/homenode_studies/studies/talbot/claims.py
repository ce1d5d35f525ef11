"""All claims of the paper."""

from homenode_studies.studies.talbot import claims_finite, claims_infinite, claims_stability
from homenode_studies.studies.talbot.bars import paper

_IN_ORDER = (*claims_stability.CLAIMS, *claims_infinite.CLAIMS, *claims_finite.CLAIMS)

CLAIMS = tuple(claim.tried_on(paper) for claim in _IN_ORDER)
"""Every claim of the study."""
