"""CIRCLE: around a point ahead of the nose, or the one that DO_ORBIT gives."""

from __future__ import annotations

from math import cos, radians, sin

from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.modes.copter.common import CopterMode
from paddock.sitl.autopilot.modes.copter.manoeuvres import Orbit


class CopterCircle(CopterMode):
    """Fly around a point CIRCLE_RADIUS ahead, or the centre of DO_ORBIT; the throttle changes the altitude."""

    name, number, can_arm = "CIRCLE", 7, False

    def enter(self) -> None:
        """Set the centre one radius ahead."""
        super().enter()
        track, yaw = self.copter.track, self.copter.heading.yaw
        radius = self.value("CIRCLE_RADIUS") / 100.0
        centre = track.north + radius * cos(yaw), track.east + radius * sin(yaw), track.down
        self.go_round(centre, radius, radians(self.value("CIRCLE_RATE")))

    def go_round(self, centre: Ned, radius: float, rate: float, on_map: bool = False) -> None:
        """Change the circle: centre, radius (m), rad/s (+ clockwise)."""
        self.orbit, self._on_map = Orbit(self, centre, radius, rate), on_map

    def shift(self, north: float, east: float, down: float) -> None:
        """Move a centre chosen from the copter's position along with the estimate; a given one stays on the map."""
        if self._on_map:
            self.orbit.leave_circle()
        else:
            self.orbit.shift(north, east, down)

    def update(self, dt: float) -> None:
        """Continue the circle."""
        if self.stays_down(wants_up=False):
            return
        self.orbit.down -= self.pilot_climb() * dt
        self.orbit.update(dt)
