"""Everything that the paper says in words."""

from homenode.studies.marchetti import claims_placement, claims_policies

STATED = (*claims_placement.STATED, *claims_policies.STATED)
"""Every claim, with the paper's own numbers where it has them."""
CLAIMS = tuple(stated.claim for stated in STATED)
"""Every claim of the study."""
