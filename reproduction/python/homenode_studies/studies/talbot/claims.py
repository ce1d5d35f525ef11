"""All claims of the paper."""

from homenode_studies.studies.talbot import claims_finite, claims_infinite, claims_stability

CLAIMS = (*claims_stability.CLAIMS, *claims_infinite.CLAIMS, *claims_finite.CLAIMS)
"""Every claim of the study."""
