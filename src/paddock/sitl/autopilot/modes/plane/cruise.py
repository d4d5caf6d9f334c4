"""CRUISE: heading, height and airspeed are held; sticks change them."""

from __future__ import annotations

from math import isnan, nan, radians

from paddock.sitl.autopilot.modes.plane.flying import PlaneMode

DEAD_ZONE = 0.05  # of a stick


class Cruise(PlaneMode):
    """Holds what it finds. The roll stick turns, the pitch stick climbs; let go, they hold what has been reached."""

    name, number, needs_position = "CRUISE", 7, False

    def refusal(self) -> str:
        """A height that may be relied on is needed."""
        return "" if self.autopilot.estimate.height_ok or not self.autopilot.armed else "no height"

    def enter(self) -> None:
        """Hold the present heading and height."""
        self.heading, self.down, self.speed = self.autopilot.estimate.yaw, self.autopilot.estimate.down, nan

    def hold(self, heading: float = nan, down: float = nan, speed: float = nan) -> None:
        """Hold another heading (rad), height (m down in the local frame), airspeed (m/s); NaN: as it is."""
        self.heading = self.heading if isnan(heading) else heading
        self.down = self.down if isnan(down) else down
        self.speed = self.speed if isnan(speed) else speed

    def update(self, dt: float) -> None:
        """Follow the sticks, hold the rest."""
        autopilot = self.autopilot
        if not autopilot.armed:
            self.enter()
        rolling = climbing = 0.0
        if autopilot.rc.fresh:
            rolling, climbing = _beyond(autopilot.sticks.roll), _beyond(autopilot.sticks.pitch)
        most = self.value("TECS_CLMB_MAX") if climbing >= 0.0 else self.value("TECS_SINK_MAX")
        self.down -= climbing * most * dt
        if rolling:
            self.heading = autopilot.estimate.yaw
            self.fly(rolling * radians(self.value("ROLL_LIMIT_DEG")), self.down, self.speed)
        else:
            self.head(self.heading, self.down, self.speed)


def _beyond(stick: float) -> float:
    return stick if abs(stick) > DEAD_ZONE else 0.0
