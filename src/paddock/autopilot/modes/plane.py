"""The modes of planes: what all have in common; MANUAL, STABILIZE, fly-by-wire, CRUISE, CIRCLE and LOITER."""

from math import nan, radians
from typing import TYPE_CHECKING, cast

from paddock.autopilot.contract import Mode
from paddock.autopilot.control.l1 import roll_for_circle, roll_for_line
from paddock.autopilot.control.plane import ATTITUDE, FLIGHT, PlaneSetpoint
from paddock.autopilot.estimate import Point
from paddock.compute.scalars import atan2

if TYPE_CHECKING:
    from paddock.autopilot.vehicle_types import Plane

MIN_RADIUS = 10.0  # m


class PlaneMode(Mode):
    """A mode that writes the plane's setpoint."""

    @property
    def plane(self) -> "Plane":
        """The vehicle."""
        return cast("Plane", self.autopilot.vehicle)

    @property
    def position(self) -> Point:
        """Position, m north and east."""
        return self.autopilot.estimate.position[:2]

    @property
    def velocity(self) -> Point:
        """Velocity, m/s north and east."""
        return self.autopilot.estimate.vn, self.autopilot.estimate.ve

    def airspeed(self, target: float = nan) -> float:
        """Return an airspeed within the limits, m/s; AIRSPEED_CRUISE unless given."""
        target = target if target > 0.0 else self.value("AIRSPEED_CRUISE")
        return min(max(target, self.value("AIRSPEED_MIN")), self.value("AIRSPEED_MAX"))

    def return_altitude(self) -> float:
        """Return the altitude of RTL, m down in the local frame."""
        altitude = self.value("RTL_ALTITUDE")
        return self.autopilot.estimate.down if altitude < 0.0 else self.autopilot.home_position.ned()[2] - altitude

    def fly(self, roll: float, down: float, speed: float = nan, **more: float) -> None:
        """Fly with a roll angle, to an altitude; `more` of the setpoint."""
        limits = {"throttle_most": self.value("THR_MAX") / 100.0, **more}
        if self.plane.suppressed and self.autopilot.armed:
            limits |= {"throttle_least": 0.0, "throttle_most": 0.0}
            self.autopilot.warn_throttled("Motor off on the ground: take off first")
        self.plane.setpoint = PlaneSetpoint(FLIGHT, roll=roll, down=down, speed=self.airspeed(speed), **limits)

    def fly_heading(self, heading: float, down: float, speed: float = nan, **more: float) -> None:
        """Fly a heading, to an altitude."""
        self.fly(0.0, down, speed, turning=1.0, heading=heading, **more)

    def follow(self, start: Point, end: Point, down: float, speed: float = nan, **more: float) -> None:
        """Fly along a line from start to end at an altitude (m down) and `speed` m/s; `more` of the setpoint."""
        roll, crosstrack = roll_for_line(self.position, self.velocity, start, end, self.plane.nav)
        self.fly(roll, down, speed, **more)
        self.report(end, crosstrack)

    def circle(self, centre: Point, down: float, radius: float = 0.0, speed: float = nan) -> None:
        """Circle a centre at an altitude (m down) and `speed` m/s; radius: m, + clockwise, default WP_LOITER_RAD."""
        signed_radius = radius or self.value("WP_LOITER_RAD")
        size = max(abs(signed_radius), MIN_RADIUS)
        side = size if signed_radius >= 0.0 else -size
        self.fly(roll_for_circle(self.position, self.velocity, centre, side, self.plane.nav), down, speed)
        self.report(centre, self.autopilot.estimate.distance(centre) - size)

    def report(self, target: Point, across: float) -> None:
        """Report the target and the distance to the right of the path, m."""
        bearing = atan2(target[1] - self.position[1], target[0] - self.position[0])
        self.autopilot.telemetry.aim(self.autopilot.estimate.distance(target), bearing, across)


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


class PlaneStabilize(PlaneMode):
    """Sticks move the surfaces; the autopilot levels the plane at the same time."""

    name, number, needs_position = "STABILIZE", 2, False

    def update(self, dt: float) -> None:
        """Add the sticks to the stabilisation."""
        sticks = self.autopilot.rc.sticks
        self.plane.setpoint = PlaneSetpoint(
            ATTITUDE, sticks.roll, sticks.pitch, rudder=sticks.yaw, throttle=max(sticks.throttle, 0.0)
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


class PlaneFbwb(PlaneMode):
    """The roll stick banks, the pitch stick climbs or sinks, the throttle stick sets the airspeed."""

    name, number, needs_position = "FBWB", 6, False
    heading: float
    down: float

    def refusal(self) -> str:
        """Require a valid altitude."""
        return "" if self.autopilot.estimate.height_ok or not self.autopilot.armed else "requires altitude"

    def enter(self) -> None:
        """Hold the current heading and altitude."""
        self.heading, self.down = self.autopilot.estimate.yaw, self.autopilot.estimate.down

    def sticks(self, dt: float) -> tuple[float, float]:
        """Return the roll (rad) that the stick asks for, and the airspeed (m/s); move the altitude."""
        autopilot = self.autopilot
        if not autopilot.armed:
            self.enter()
        if not autopilot.rc.fresh:
            return 0.0, nan
        stick = autopilot.rc.sticks
        if stick.throttle > DEAD_ZONE:  # the pilot takes off
            self.plane.suppressed = False
        self.down -= _beyond(stick.pitch) * self.value("FBWB_CLIMB_RATE") * dt
        slowest, fastest = self.value("AIRSPEED_MIN"), self.value("AIRSPEED_MAX")
        speed = slowest + max(stick.throttle, 0.0) * (fastest - slowest)
        return _beyond(stick.roll) * radians(self.value("ROLL_LIMIT_DEG")), speed

    def update(self, dt: float) -> None:
        """Follow the sticks."""
        roll, speed = self.sticks(dt)
        self.fly(roll, self.down, speed)


class PlaneCruise(PlaneFbwb):
    """Hold heading, altitude and AIRSPEED_CRUISE. The roll stick turns, the pitch stick climbs; released, both hold."""

    name, number = "CRUISE", 7

    def update(self, dt: float) -> None:
        """Follow the sticks, hold the rest."""
        roll, _ = self.sticks(dt)
        if roll:
            self.heading = self.autopilot.estimate.yaw
            self.fly(roll, self.down)
        else:
            self.fly_heading(self.heading, self.down)


def _beyond(stick: float) -> float:
    return stick if abs(stick) > DEAD_ZONE else 0.0


class PlaneCircle(PlaneMode):
    """Circle with a third of the roll limit at the altitude of entry; it needs no position."""

    name, number, needs_position = "CIRCLE", 1, False
    down: float

    def enter(self) -> None:
        """Keep the current altitude."""
        self.down = self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Continue the circle."""
        self.fly(radians(self.value("ROLL_LIMIT_DEG")) / 3.0, self.down)


NO_POSITION_BANK = 0.35  # rad


class PlaneLoiter(PlaneMode):
    """Circle the position and altitude of entry; bank gently without a position."""

    name, number, needs_position = "LOITER", 12, False
    centre: Point
    down: float
    _lost: bool

    def enter(self) -> None:
        """Keep the current position and altitude."""
        self.centre, self.down = self.position, self.autopilot.estimate.down
        self._lost = not self.autopilot.estimate.position_ok

    def update(self, dt: float) -> None:
        """Continue the circle."""
        known = bool(self.autopilot.estimate.position_ok)
        if known and self._lost:
            self.centre = self.position
        self._lost = not known
        if known:
            self.circle(self.centre, self.down)
        else:
            self.fly(NO_POSITION_BANK, self.down)
