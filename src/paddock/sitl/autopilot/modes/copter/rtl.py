"""RTL: climb, return to home or the nearest rally point, land."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.copter.flying import CopterMode
from paddock.sitl.autopilot.modes.copter.homeward import Homeward
from paddock.sitl.autopilot.telemetry import Landed


class Rtl(CopterMode):
    """The way home."""

    name, number, can_arm, lands = "RTL", 6, False, True

    def enter(self) -> None:
        """Brake, and climb from there."""
        super().enter()
        self.homeward = Homeward(self)

    def update(self, dt: float) -> None:
        """On until it stands at home."""
        if not self.stays_down(wants_up=False):
            self.homeward.update(dt)
            self.stage = Landed.LANDING if self.homeward.landing else Landed.IN_AIR
