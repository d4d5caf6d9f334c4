"""The mission's stage: how far its members are, what comes of it, and what they are to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.engine.actions import MissionOrder
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.errors import PaddockError
from paddock.world.world import Clock

if TYPE_CHECKING:
    from paddock.engine.mission.run import MissionRun

RATE = 10.0
"""Hz of simulated time at which members are looked at."""
SPREAD_RATE = 1.0
"""Hz at which those who share a layer of height are looked at."""


class MissionStage:
    """Due at a fixed rate of simulated time while there is a mission; before the behaviours, or after the motion."""

    name = "mission"

    def __init__(self, clock: Clock, period: int | None = None) -> None:
        """Every `period` ticks; None: at the usual rate."""
        self.mission: MissionRun | None = None
        self.period = max(1, round(clock.rate / RATE)) if period is None else period
        self.fresh = self.period * max(1, round(RATE / SPREAD_RATE))

    def due(self, tick: int) -> int:
        """The next multiple of the period."""
        return NEVER_DUE if self.mission is None else every(tick, self.period)

    def run(self, tick: int) -> None:
        """Carry the mission on."""
        assert self.mission is not None
        self.mission.run(tick, tick % self.fresh == 0)

    def checked(self, order: MissionOrder) -> MissionOrder:
        """The same order, if there is a mission that has such a verb with such arguments."""
        if self.mission is None:
            raise PaddockError(f"{order.verb}: there is no mission; add a section `mission` to the scenario")
        return self.mission.checked(order)

    def carry_out(self, order: MissionOrder) -> None:
        """Let an order take effect; the mission acts on it when it is looked at next."""
        order = self.checked(order)
        assert self.mission is not None
        self.mission.carry_out(order)
