"""All claims of the paper, in its order."""

from homenode_studies.studies.markatos import (
    claims_alignment,
    claims_conclusions,
    claims_counters,
    claims_protocols,
)

CLAIMS = (
    *claims_protocols.CLAIMS,
    *claims_counters.CLAIMS,
    *claims_alignment.CLAIMS,
    *claims_conclusions.CLAIMS,
)
"""Every claim of the study."""
