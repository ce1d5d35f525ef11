"""Everything that the paper says in words."""

from homenode.studies.talbot import claims_finite, claims_infinite, claims_stability

STATED = (*claims_stability.STATED, *claims_infinite.STATED, *claims_finite.STATED)
"""Every claim, to be tried on the paper's own numbers."""
CLAIMS = tuple(stated.claim for stated in STATED)
"""Every claim of the study."""
