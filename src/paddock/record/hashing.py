"""When the complete state is hashed, and how: often enough to find a difference, seldom enough not to be felt."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from paddock.engine.state import settled_state
from paddock.world.archive import digest

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation

FEW = 1000
"""Vehicles up to which the state is hashed often."""
OFTEN, SELDOM = 0.1, 1.0
"""Simulated s between two hashes, of few vehicles and of many."""
SHARE = 0.05
"""Of the wall time, what hashing may take in the long run; a world that runs faster than that is hashed less often."""
ALLOWANCE = 0.25
"""s of wall time that hashing may take beyond its share, so that short runs are hashed in full."""


class HashPlan:
    """Hashes the settled state of a simulation now and then. Which ticks it picks does not change the run."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._next_tick = 0
        self._started, self._spent = monotonic(), 0.0

    def restart(self) -> None:
        """The run begins anew: hash at the next occasion."""
        self._next_tick = 0

    def due(self) -> bool:
        """Whether to hash now."""
        if self.sim.tick < self._next_tick:
            return False
        return self._spent <= ALLOWANCE + SHARE * (monotonic() - self._started)

    def take(self) -> str:
        """The digest of the state now."""
        started = monotonic()
        text = digest(settled_state(self.sim))
        self._spent += monotonic() - started
        period = max(1, self.sim.world.clock.ticks(OFTEN if self.sim.world.vehicles <= FEW else SELDOM))
        self._next_tick = max(self._next_tick + period, self.sim.tick + period // 2)
        return text
