"""Claims that the printed tables can test, too: the ledger has both values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from homenode_studies.studies.markatos.costs import ours, theirs

if TYPE_CHECKING:
    from collections.abc import Callable

    from homenode_studies.studies.claims import Claim
    from homenode_studies.studies.markatos.costs import Costs


def both(measure: Callable[[Costs], Any], claim: Claim) -> Claim:
    """A claim whose measure is also computed from the printed tables, if these suffice.

    The value in the text and the value computed from its tables are both shown; if the same rule
    rejects the tables' value, the verdict is *source*.
    """
    return replace(
        claim,
        compute=lambda e: measure(ours(e)),
        own=lambda _: measure(theirs()),
        judge=claim.judge or bool,
    )
