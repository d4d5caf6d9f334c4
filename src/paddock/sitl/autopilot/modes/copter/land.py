"""LAND: come down where it is, and stop the motors on the ground."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.copter.descent import Descent
from paddock.sitl.autopilot.modes.copter.flying import CopterMode
from paddock.sitl.autopilot.telemetry import Landed


class Land(CopterMode):
    """A landing; the sticks may move its place. Works without a position: level, then."""

    name, number, needs_position, can_arm = "LAND", 9, False, False
    lands, stage = True, Landed.LANDING

    def enter(self) -> None:
        """Brake and descend."""
        super().enter()
        self.descent = Descent(self)

    def update(self, dt: float) -> None:
        """Descend until it stands."""
        if not self.stays_down(wants_up=False):
            self.descent.update(dt)
