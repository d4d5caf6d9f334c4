"""The modes of planes: MANUAL, FBWA (fly-by-wire A), CRUISE, LOITER, RTL, GUIDED and AUTO."""

from math import atan2, hypot, isnan, nan, radians
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.control.plane import (
    ATTITUDE,
    FLIGHT,
    HEIGHT_GAIN,
    PlaneSetpoint,
    roll_for_circle,
    roll_for_course,
    roll_for_line,
)
from paddock.sitl.autopilot.estimate import Ned, Point
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.mission.items import NavTarget, NavTask
from paddock.sitl.autopilot.vehicle import MissionMode, Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.vehicle_types import Plane

MIN_RADIUS = 10.0  # m


class PlaneMode(Mode):
    """A mode that writes the plane's setpoint."""

    plane: "Plane"

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        super().__init__(autopilot)
        self.plane = autopilot.vehicle  # type: ignore[assignment]

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
    heading: float
    down: float

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


NO_POSITION_BANK = 0.35  # rad


class PlaneLoiter(PlaneMode):
    """Circle the position and altitude of entry; bank gently without a position."""

    name, number, needs_position = "LOITER", 12, False
    centre: Point
    down: float
    _lost: bool

    def enter(self) -> None:
        """Keep the current position and altitude."""
        self.centre, self.down = self.place, self.autopilot.estimate.down
        self._lost = not self.autopilot.estimate.position_ok

    def update(self, dt: float) -> None:
        """Continue the circle."""
        known = bool(self.autopilot.estimate.position_ok)
        if known and self._lost:
            self.centre = self.place
        self._lost = not known
        if known:
            self.circle(self.centre, self.down)
        else:
            self.fly(NO_POSITION_BANK, self.down)


class PlaneRtl(PlaneMode):
    """Fly to home or the nearest rally point, at RTL_ALTITUDE above home, and circle there."""

    name, number, can_arm = "RTL", 11, False
    centre: Point
    down: float

    def enter(self) -> None:
        """Choose position and altitude."""
        north, east, _ = self.autopilot.home_position.return_point()
        self.centre, self.down = (north, east), self.return_altitude()

    def update(self, dt: float) -> None:
        """Fly there: far from a circle, its guidance leads straight to it."""
        self.circle(self.centre, self.down)


CLIMB_TIME = 1.0 / HEIGHT_GAIN  # s: a climb rate becomes an altitude this far ahead


class PlaneGuided(PlaneMode):
    """Circle a position, or fly a velocity or heading, as commanded; circle the position without a target."""

    name, number = "GUIDED", 15
    centre: Point
    down: float

    def enter(self) -> None:
        """Discard earlier targets."""
        self.autopilot.guided = GuidedTarget()
        self.centre, self.down = self.place, self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Follow the newest target."""
        target = self.autopilot.guided
        if target.position is not None:
            self.centre, self.down = target.position[:2], target.position[2]
            self.circle(self.centre, self.down, speed=target.speed)
        elif target.velocity is not None:
            north, east, down = target.velocity
            self.centre, self.down = self.place, self.autopilot.estimate.down
            altitude = self.down + down * CLIMB_TIME
            self.fly(roll_for_course(atan2(east, north), self.velocity), altitude, hypot(north, east))
        elif not isnan(target.yaw):
            self.head(target.yaw, self.down, target.speed)
        else:
            self.circle(self.centre, self.down, speed=target.speed)


CIRCLED = (NavTask.LOITER, NavTask.RETURN, NavTask.LAND)


class PlaneAuto(MissionMode, PlaneMode):
    """Fly the mission; take off straight ahead, circle to wait and instead of landing."""

    number = 10
    heading: float
    _waiting: Ned | None

    def enter(self) -> None:
        """Start; the mission itself starts or resumes with the first update while armed."""
        self.heading = self.autopilot.estimate.yaw
        self._waiting = None

    def update(self, dt: float) -> None:
        """Fly one step of the mission."""
        if self.autopilot.armed:
            self._follow(self.nav_target(dt))
        else:
            self.heading = self.autopilot.estimate.yaw

    def _follow(self, nav: NavTarget) -> None:
        place, down = nav.target[:2], nav.target[2]
        if nav.task in (NavTask.DELAY, NavTask.DONE):  # circle the position where the wait began
            if self._waiting is None:
                self._waiting = (*self.place, self.autopilot.estimate.down)
            self.circle(self._waiting[:2], self._waiting[2], speed=nav.speed)
            return
        self._waiting = None
        if nav.task is NavTask.TAKEOFF:
            self.head(self.heading, down, nav.speed)
        elif nav.task is NavTask.CIRCLE:
            self.circle(place, down, nav.radius, nav.speed)
        elif nav.task in CIRCLED or nav.hold > 0.0:
            altitude = self.return_altitude() if nav.task is NavTask.RETURN else down
            self.circle(place, altitude, nav.radius, nav.speed)
        else:
            self.autopilot.executor.lead = self.value("WP_RADIUS")
            # on the straight slope between waypoints, ahead by the lag of the altitude loop
            length = hypot(nav.target[0] - nav.start[0], nav.target[1] - nav.start[1])
            early = self.value("WP_RADIUS") + hypot(*self.velocity) / HEIGHT_GAIN
            left = min(max(self.autopilot.estimate.distance(place) - early, 0.0) / max(length - early, 1.0), 1.0)
            self.follow(nav.start[:2], place, down + left * (nav.start[2] - down), nav.speed)
