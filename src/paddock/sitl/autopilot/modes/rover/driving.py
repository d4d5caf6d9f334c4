"""What the modes of rovers share: the rover itself, its driver, its sticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from paddock.sitl.autopilot.control.rover_driver import Driver
from paddock.sitl.autopilot.mode import Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.rover import Rover


class DrivingMode(Mode):
    """A mode of a rover."""

    @property
    def rover(self) -> Rover:
        """The craft."""
        return cast("Rover", self.autopilot.craft)

    @property
    def driver(self) -> Driver:
        """Who drives it."""
        return self.rover.driver

    def shift(self, north: float, east: float) -> None:
        """The estimate has jumped by so much (m), the rover has not; places of the map stay where they are."""

    def value(self, name: str) -> float:
        """A parameter."""
        return self.autopilot.parameters.value(name)

    def enter(self) -> None:
        """No turn on the spot is under way."""
        self.driver.pivoting = False

    def stick_speed(self) -> float:
        """m/s that the throttle stick asks for: full stick is WP_SPEED."""
        return self.autopilot.sticks.throttle * self.driver.limits.speed
