"""Turns at a rate that need not divide that of the clock: each has its exact time, and begins at the tick after it.

A vehicle with the phase p (0 to 1) has its turn k at k - p periods of the run.
"""

import numpy as np

from paddock.world.columns import Floats

ROUNDING = 1e-9  # of a period
EARLY = 1e-6  # of a tick


def turns_by(tick: int, share: float, phases: Floats) -> Floats:
    """Return how many turns (n,) there were by a tick; `share` of one in a tick, in phases (n,) of 0 to 1."""
    turns: Floats = np.floor(tick * share + phases + ROUNDING)
    return turns


def turn_ticks(turns: Floats, share: float, phases: Floats) -> Floats:
    """Return the ticks (n,) at which turns begin: those after their times."""
    ticks: Floats = np.ceil((turns - phases - ROUNDING) / share)
    return ticks


def first_turn(tick: int, share: float, phases: Floats) -> int:
    """Return the tick of the first turn of all from `tick` on, or one tick before where the numbers are too close."""
    later = turn_ticks(turns_by(tick - 1, share, phases) + 1.0, share, phases + EARLY * share)
    return max(int(later.min()), tick)
