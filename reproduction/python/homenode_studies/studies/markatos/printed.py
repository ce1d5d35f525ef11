"""Claims that the printed tables can test, too: the ledger has both values."""

from collections.abc import Callable
from typing import Any

from homenode_studies.studies.claims import Claim
from homenode_studies.studies.markatos.costs import Costs, ours, theirs


def both(
    measure: Callable[[Costs], Any],
    *said: str,
    judge: Callable[[Any], bool] = bool,
    shows: str = "",
    why: str = "",
    contradicted: str = "",
    post_hoc: str = "",
) -> Claim:
    """A claim whose measure is also computed from the printed tables, if these suffice.

    The value in the text and the value computed from its tables are both shown; if the same rule
    rejects the tables' value, the verdict is *source*. `said` are section, statement, published
    value, and how ours is computed; for the others see `Claim`.
    """
    section, statement, published, how = said
    return Claim(
        section,
        statement,
        published,
        how,
        lambda e: measure(ours(e)),
        judge,
        shows,
        why,
        own=lambda _: measure(theirs()),
        contradicted=contradicted,
        post_hoc=post_hoc,
    )
