"""CIRCLE: round a point ahead of the nose, or the one that DO_ORBIT gives."""

from __future__ import annotations

from math import cos, radians, sin

from paddock.sitl.autopilot.modes.copter.flying import CopterMode
from paddock.sitl.autopilot.modes.copter.orbit import Orbit


class Circle(CopterMode):
    """CIRCLE_RADIUS and CIRCLE_RATE count from when it begins; the throttle moves the height."""

    name, number, can_arm = "CIRCLE", 7, False

    def enter(self) -> None:
        """The centre is one radius ahead."""
        super().enter()
        track, yaw = self.craft.track, self.craft.heading.yaw
        radius = self.value("CIRCLE_RADIUS") / 100.0
        centre = track.north + radius * cos(yaw), track.east + radius * sin(yaw), track.down
        self.go_round(centre, radius, radians(self.value("CIRCLE_RATE")))

    def go_round(self, centre: tuple[float, float, float], radius: float, rate: float, on_map: bool = False) -> None:
        """Another circle from now on: centre (m north, east, down), radius (m), rad/s (+ clockwise)."""
        self.orbit, self._on_map = Orbit(self, centre, radius, rate), on_map

    def shift(self, north: float, east: float, down: float) -> None:
        """A centre chosen from where the copter was stays there in the world, one that was given stays on the map."""
        if self._on_map:
            self.orbit.leave_circle()
        else:
            self.orbit.shift(north, east, down)

    def update(self, dt: float) -> None:
        """On and on."""
        if self.stays_down(wants_up=False):
            return
        self.orbit.down -= self.pilot_climb() * dt
        self.orbit.update(dt)
