"""The piloted modes: MANUAL, FBWA (fly-by-wire A), CRUISE."""

from __future__ import annotations

from math import radians

from paddock.sitl.autopilot.control.plane import ATTITUDE, PlaneSetpoint
from paddock.sitl.autopilot.modes.plane.common import PlaneMode

DEAD_ZONE = 0.05  # of a stick


class PlaneManual(PlaneMode):
    """Sticks move the surfaces directly."""

    name, number, needs_position = "MANUAL", 0, False

    def update(self, dt: float) -> None:
        """Pass the sticks through."""
        sticks = self.autopilot.rc.sticks
        self.plane.setpoint = PlaneSetpoint(
            aileron=sticks.roll, elevator=sticks.pitch, rudder=sticks.yaw, throttle=max(sticks.throttle, 0.0)
        )


class PlaneFbwa(PlaneMode):
    """Sticks set roll and pitch within the limits; released sticks level the plane."""

    name, number, needs_position = "FBWA", 5, False

    def update(self, dt: float) -> None:
        """Set the attitude as the sticks ask."""
        sticks = self.autopilot.rc.sticks
        most = self.value("PTCH_LIM_MAX_DEG") if sticks.pitch >= 0.0 else -self.value("PTCH_LIM_MIN_DEG")
        roll, pitch = sticks.roll * radians(self.value("ROLL_LIMIT_DEG")), sticks.pitch * radians(most)
        throttle = max(sticks.throttle, 0.0)
        self.plane.setpoint = PlaneSetpoint(ATTITUDE, rudder=sticks.yaw, throttle=throttle, roll=roll, pitch=pitch)


class PlaneCruise(PlaneMode):
    """Hold heading, altitude and airspeed. The roll stick turns, the pitch stick climbs; released, both hold."""

    name, number, needs_position = "CRUISE", 7, False

    def refusal(self) -> str:
        """Require a valid altitude."""
        return "" if self.autopilot.estimate.height_ok or not self.autopilot.armed else "requires altitude"

    def enter(self) -> None:
        """Hold the current heading and altitude."""
        self.heading, self.down = self.autopilot.estimate.yaw, self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Follow the sticks, hold the rest."""
        autopilot = self.autopilot
        if not autopilot.armed:
            self.enter()
        rolling = climbing = 0.0
        if autopilot.rc.fresh:
            rolling, climbing = _beyond(autopilot.rc.sticks.roll), _beyond(autopilot.rc.sticks.pitch)
        most = self.value("TECS_CLMB_MAX") if climbing >= 0.0 else self.value("TECS_SINK_MAX")
        self.down -= climbing * most * dt
        if rolling:
            self.heading = autopilot.estimate.yaw
            self.fly(rolling * radians(self.value("ROLL_LIMIT_DEG")), self.down)
        else:
            self.head(self.heading, self.down)


def _beyond(stick: float) -> float:
    return stick if abs(stick) > DEAD_ZONE else 0.0
