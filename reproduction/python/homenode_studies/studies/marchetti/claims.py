"""All claims of the paper."""

from homenode_studies.studies.marchetti import claims_placement, claims_policies

CLAIMS = (*claims_placement.CLAIMS, *claims_policies.CLAIMS)
"""Every claim of the study, with the paper's own numbers if it has them."""
