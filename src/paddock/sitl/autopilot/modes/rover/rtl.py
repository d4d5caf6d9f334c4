"""RTL: drive straight to the nearest rally point, or home."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.rover.driving import DrivingMode
from paddock.sitl.autopilot.modes.rover.station import Station


class Rtl(DrivingMode):
    """Then stand there."""

    name, number, can_arm = "RTL", 11, False

    def refusal(self) -> str:
        """Home must be known."""
        return "" if self.autopilot.home is not None else "no home"

    def enter(self) -> None:
        """Choose where to."""
        super().enter()
        self.station = Station(self.driver, self.autopilot.return_point()[:2], self.value("LOIT_RADIUS"))
        self.station.approach(self.driver.position)

    def update(self, dt: float) -> None:
        """Drive, then stand."""
        self.station.keep(self.value("RTL_SPEED"))
