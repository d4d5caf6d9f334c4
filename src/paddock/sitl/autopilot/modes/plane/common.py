"""Common parts of plane modes."""

from __future__ import annotations

from math import atan2, nan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.control.plane import FLIGHT, PlaneSetpoint, roll_for_circle, roll_for_line
from paddock.sitl.autopilot.estimate import Point
from paddock.sitl.autopilot.vehicle import Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.plane import Plane

MIN_RADIUS = 10.0  # m


class PlaneMode(Mode):
    """A mode that writes the plane's setpoint."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.plane: Plane = autopilot.vehicle  # type: ignore[assignment]

    @property
    def place(self) -> Point:
        """Position, m north and east."""
        return self.autopilot.estimate.position[:2]

    @property
    def velocity(self) -> Point:
        """Velocity, m/s north and east."""
        return self.autopilot.estimate.vn, self.autopilot.estimate.ve

    def airspeed(self, wanted: float = nan) -> float:
        """Return an airspeed within the limits, m/s; AIRSPEED_CRUISE unless given."""
        wanted = wanted if wanted > 0.0 else self.value("AIRSPEED_CRUISE")
        return min(max(wanted, self.value("AIRSPEED_MIN")), self.value("AIRSPEED_MAX"))

    def return_altitude(self) -> float:
        """Return the altitude of RTL, m down in the local frame."""
        altitude = self.value("RTL_ALTITUDE")
        return self.autopilot.estimate.down if altitude < 0.0 else self.autopilot.home_position.ned()[2] - altitude

    def fly(self, roll: float, down: float, speed: float = nan) -> None:
        """Fly with a roll angle, to an altitude."""
        self.plane.setpoint = PlaneSetpoint(FLIGHT, roll=roll, down=down, speed=self.airspeed(speed))

    def head(self, heading: float, down: float, speed: float = nan) -> None:
        """Fly a heading, to an altitude."""
        speed = self.airspeed(speed)
        self.plane.setpoint = PlaneSetpoint(FLIGHT, turning=1.0, heading=heading, down=down, speed=speed)

    def follow(self, start: Point, end: Point, down: float, speed: float = nan) -> None:
        """Fly along a line over the ground."""
        roll, across = roll_for_line(self.place, self.velocity, start, end)
        self.fly(roll, down, speed)
        self._report(end, across)

    def circle(self, centre: Point, down: float, radius: float = 0.0, speed: float = nan) -> None:
        """Circle a point; the radius is WP_LOITER_RAD unless given, + clockwise."""
        wanted = radius or self.value("WP_LOITER_RAD")
        size = max(abs(wanted), MIN_RADIUS)
        side = size if wanted >= 0.0 else -size
        self.fly(roll_for_circle(self.place, self.velocity, centre, side), down, speed)
        self._report(centre, self.autopilot.estimate.distance(centre) - size)

    def _report(self, target: Point, across: float) -> None:
        bearing = atan2(target[1] - self.place[1], target[0] - self.place[0])
        self.autopilot.telemetry.aim(self.autopilot.estimate.distance(target), bearing, across)
