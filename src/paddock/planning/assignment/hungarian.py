"""The least total, exactly."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from paddock.planning.search.pairing import allowed, without_infinities
from paddock.planning.ways import Ints
from paddock.world.columns import Floats


def hungarian(cost: Floats) -> tuple[Ints, Ints]:
    """As many pairs as can be, and of those the cheapest."""
    rows, columns = linear_sum_assignment(without_infinities(cost))
    return allowed(cost, rows.astype(np.int64), columns.astype(np.int64))
