"""How good a placement was, from three user times: alpha, beta and gamma.

Source: Bolosky, thesis, section 3.2. `homenode alphabeta` is the command, `docs/alphabeta.md` the
explanation.

>>> from homenode.alphabeta import alpha_beta
>>> alpha_beta(67.4, 67.4, 67.3).alpha is None
True
"""

from __future__ import annotations

from homenode.alphabeta.model import RATIO, AlphaBeta, alpha_beta, expected_gamma
from homenode.alphabeta.placements import Measurement, measure
from homenode.alphabeta.published import read_csv, table_3_1, table_3_2
from homenode.alphabeta.simulated import from_trace

__all__ = [
    "RATIO",
    "AlphaBeta",
    "Measurement",
    "alpha_beta",
    "expected_gamma",
    "from_trace",
    "measure",
    "read_csv",
    "table_3_1",
    "table_3_2",
]
