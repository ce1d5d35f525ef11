"""The quality of a placement, from three user times: alpha, beta and gamma.

Source: Bolosky, thesis, section 3.2. `homenode alphabeta` is the command, `docs/alphabeta.md` the
explanation.

>>> from homenode_studies.alphabeta import alpha_beta
>>> alpha_beta(67.4, 67.4, 67.3).alpha is None
True
"""

from homenode_studies.alphabeta.model import RATIO, AlphaBeta, alpha_beta, expected_gamma
from homenode_studies.alphabeta.placements import Measurement, measure
from homenode_studies.alphabeta.published import read_csv, table_3_1, table_3_2
from homenode_studies.alphabeta.simulated import from_trace

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
