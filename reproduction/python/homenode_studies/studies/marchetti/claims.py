"""Everything that the paper says in words."""

from homenode_studies.studies.marchetti import claims_placement, claims_policies

CLAIMS = (*claims_placement.CLAIMS, *claims_policies.CLAIMS)
"""Every claim of the study, with the paper's own numbers where it has them."""
