"""What the modes of aeroplanes share: where it is, and how it is told what to do."""

from __future__ import annotations

from math import atan2, hypot, nan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.control.plane import FLIGHT, Setpoint
from paddock.sitl.autopilot.control.plane_path import Point, roll_for_circle, roll_for_line
from paddock.sitl.autopilot.mode import Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.plane import Plane

LEAST_RADIUS = 10.0  # m


class PlaneMode(Mode):
    """A mode that sets the aeroplane's setpoint."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.craft: Plane = autopilot.craft  # type: ignore[assignment]

    def value(self, name: str) -> float:
        """A parameter."""
        return self.autopilot.parameters.value(name)

    @property
    def place(self) -> Point:
        """m north and east."""
        return self.autopilot.estimate.north, self.autopilot.estimate.east

    @property
    def velocity(self) -> Point:
        """m/s north and east."""
        return self.autopilot.estimate.vn, self.autopilot.estimate.ve

    def airspeed(self, asked: float = nan) -> float:
        """m/s inside the limits; AIRSPEED_CRUISE unless somebody asks."""
        wanted = asked if asked > 0.0 else self.value("AIRSPEED_CRUISE")
        return min(max(wanted, self.value("AIRSPEED_MIN")), self.value("AIRSPEED_MAX"))

    def fly(self, roll: float, down: float, speed: float = nan) -> None:
        """With a roll, to a height."""
        self.craft.setpoint = Setpoint(FLIGHT, roll=roll, down=down, speed=self.airspeed(speed))

    def head(self, heading: float, down: float, speed: float = nan) -> None:
        """With a heading, to a height."""
        self.craft.setpoint = Setpoint(FLIGHT, turning=1.0, heading=heading, down=down, speed=self.airspeed(speed))

    def follow(self, start: Point, end: Point, down: float, speed: float = nan) -> None:
        """Along a line over the ground."""
        roll, across = roll_for_line(self.place, self.velocity, start, end)
        self.fly(roll, down, speed)
        self._report(end, across)

    def circle(self, centre: Point, down: float, radius: float = 0.0, speed: float = nan) -> None:
        """Round a point; the radius is WP_LOITER_RAD unless given, + clockwise."""
        wanted = radius or self.value("WP_LOITER_RAD")
        size = max(abs(wanted), LEAST_RADIUS)
        side = size if wanted >= 0.0 else -size
        self.fly(roll_for_circle(self.place, self.velocity, centre, side), down, speed)
        self._report(centre, self.distance(centre) - size)

    def distance(self, point: Point) -> float:
        """m over the ground."""
        return hypot(point[0] - self.place[0], point[1] - self.place[1])

    def _report(self, target: Point, across: float) -> None:
        telemetry = self.autopilot.telemetry
        telemetry.target_distance, telemetry.crosstrack = self.distance(target), across
        telemetry.target_bearing = atan2(target[1] - self.place[1], target[0] - self.place[0])
        telemetry.nav_bearing = telemetry.target_bearing
