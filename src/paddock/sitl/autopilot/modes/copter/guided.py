"""GUIDED: fly as a ground station or a companion computer says."""

from __future__ import annotations

from dataclasses import replace
from math import asin, atan2, isnan, nan, radians

from paddock.sitl.autopilot.control.copter_track import Limits
from paddock.sitl.autopilot.modes.copter.flying import CopterMode, bearing
from paddock.sitl.autopilot.modes.copter.take_off import TakeOff
from paddock.sitl.autopilot.targets import GuidedTarget
from paddock.sitl.autopilot.telemetry import Landed

STALE_US = 3_000_000  # velocities and attitudes count no longer
FAR = 3.0  # m: nearer to a place the nose stays
LIFTS = 0.55  # thrust order that leaves the ground, where 0.5 holds the height


class Guided(CopterMode):
    """The newest order counts; without one the copter holds its place."""

    name, number = "GUIDED", 4

    def enter(self) -> None:
        """Brake and hold, unless an order has come together with the mode."""
        super().enter()
        fresh = self.autopilot.guided.time_us >= self.autopilot.now_us
        self._seen = GuidedTarget() if fresh else self.autopilot.guided
        self._order = GuidedTarget()  # the one being flown
        self._take_off: TakeOff | None = None
        self._hold: tuple[float, float, float] | None = None  # where it stays after an order is over
        self._yaw = nan  # rad to keep; NaN: as it is

    def update(self, dt: float) -> None:
        """Take a new order, and fly the one there is."""
        self._listen()
        if self.stays_down(self._take_off is not None or self._lifts()):
            return
        self.stage = Landed.IN_AIR
        if self._take_off is not None:
            self._climb(self._take_off, dt)
        elif self._order.attitude is not None and not self._stale():
            self._follow_attitude(self._order, dt)
        else:
            self._follow_place(dt)
            self._turn(dt)
            self.craft.follow()

    def shift(self, north: float, east: float, down: float) -> None:
        """What it holds without an order jumps too; an ordered place is on the map."""
        if self._take_off is not None:
            self._take_off.shift(north, east)
        if self._hold is not None:
            self._hold = self._hold[0] + north, self._hold[1] + east, self._hold[2] + down

    def _listen(self) -> None:
        guided, last = self.autopilot.guided, self._seen
        if guided is last:
            return
        self._seen = guided
        if guided.time_us == last.time_us:  # the same order with another heading or speed
            self._order, self._yaw = replace(self._order, speed=guided.speed, yaw_rate=guided.yaw_rate), guided.yaw
            return
        if not isnan(guided.takeoff):
            self._take_off = TakeOff(self, self.autopilot.home_ned()[2] - guided.takeoff)
        elif not self.craft.landed:
            self._take_off = None
        self._take(guided)

    def _take(self, guided: GuidedTarget) -> None:
        """Fly the order from now on; one that only turns leaves the way as it is."""
        moves = guided.position is not None or guided.velocity is not None or guided.attitude is not None
        if moves or not isnan(guided.yaw) or not isnan(guided.yaw_rate):
            self._yaw = guided.yaw
        if moves:
            self._order, self._hold = guided, None
        elif not isnan(guided.yaw_rate):
            self._order = replace(self._order, yaw_rate=guided.yaw_rate, time_us=guided.time_us)

    def _stale(self) -> bool:
        return self.autopilot.now_us - self._order.time_us > STALE_US

    def _lifts(self) -> bool:
        """Only an order of thrust leaves the ground without a take-off."""
        return self._order.attitude is not None and self._order.thrust > LIFTS and not self._stale()

    def _climb(self, take_off: TakeOff, dt: float) -> None:
        self.stage = Landed.TAKEOFF
        track = self.craft.track
        if take_off.update(dt):
            self._take_off, self._order = None, GuidedTarget()
            self._hold = track.north, track.east, take_off.down

    # places and velocities -------------------------------------------------------------------------------------------

    def _follow_place(self, dt: float) -> None:
        order = self._order
        if order.velocity is not None and order.position is None:
            self._follow_velocity(order.velocity, dt)
        elif order.position is not None and order.velocity is not None:
            self._follow_moving(order.position, order.velocity, order.speed, dt)
        elif order.position is not None:
            self.seek(*order.position, dt, order.speed)
            self.report(*order.position)
        elif self._hold is not None:
            self.seek(*self._hold, dt)
        else:
            self.stop(dt)

    def _follow_velocity(self, velocity: tuple[float, float, float], dt: float) -> None:
        vn, ve, vd = (0.0, 0.0, 0.0) if self._stale() else velocity
        track = self.craft.track
        track.steer(vn, ve, self.level_limits(), dt)
        track.climb(-self._vertical(vd), self.vertical_limits(), dt)
        if vn or ve or vd:
            track.leash(self.autopilot.estimate)

    def _follow_moving(
        self, place: tuple[float, float, float], velocity: tuple[float, float, float], speed: float, dt: float
    ) -> None:
        """A place that moves; when nothing more is heard of it, it stays where it then was."""
        age = min(self.autopilot.now_us - self._order.time_us, STALE_US) * 1e-6
        vn, ve, vd = (0.0, 0.0, 0.0) if self._stale() else velocity
        north, east, down = (p + v * age for p, v in zip(place, velocity, strict=True))
        track = self.craft.track
        track.seek(north, east, self.level_limits(speed), dt, (vn, ve))
        gap = max(-1.0, min(1.0, 0.8 * (down - track.down)))
        track.climb(-self._vertical(vd + gap), self.vertical_limits(), dt)
        self.report(north, east, down)

    def _vertical(self, vd: float) -> float:
        """m/s downwards within what the parameters allow."""
        return max(-self.value("WPNAV_SPEED_UP") / 100.0, min(self.value("WPNAV_SPEED_DN") / 100.0, vd))

    def _turn(self, dt: float) -> None:
        rate, place, track = self._order.yaw_rate, self._order.position, self.craft.track
        look = self.autopilot.executor.gaze.yaw()
        if not isnan(self._yaw):
            self.turn_to(self._yaw, dt)
        elif isnan(rate) and not isnan(look):
            self.turn_to(look, dt)
        elif isnan(rate) and place is not None and self._faces(place):
            self.turn_to(bearing(place[0] - track.north, place[1] - track.east, 0.0), dt)
        else:
            self.craft.heading.spin(0.0 if isnan(rate) or self._stale() else rate, dt)
            self.craft.heading.leash(self.autopilot.estimate)

    def _faces(self, place: tuple[float, float, float]) -> bool:
        """Whether the nose goes first: on a way of some length, unless WP_YAW_BEHAVIOR says that it never does."""
        return bool(self.value("WP_YAW_BEHAVIOR")) and self.craft.track.distance(place[0], place[1]) > FAR

    # attitudes -------------------------------------------------------------------------------------------------------

    def _follow_attitude(self, order: GuidedTarget, dt: float) -> None:
        """Lean as told; the thrust is a climb, 0.5 holds the height."""
        estimate, track = self.autopilot.estimate, self.craft.track
        assert order.attitude is not None
        if self.rising():
            return
        roll, pitch, yaw = _angles(order.attitude)
        if isnan(order.yaw_rate):
            self.turn_to(yaw, dt)
        else:
            self.craft.heading.spin(order.yaw_rate, dt)
            self.craft.heading.leash(estimate)
        most = radians(self.value("ANGLE_MAX") / 100.0)
        track.begin_horizontal(estimate)
        track.climb(self._climb_rate(order.thrust), self._pilot_limits(), dt)
        track.leash(estimate)
        self.craft.lean(max(-most, min(most, roll)), max(-most, min(most, pitch)))

    def _climb_rate(self, thrust: float) -> float:
        stick = 0.0 if isnan(thrust) else 2.0 * thrust - 1.0
        return stick * self.value("WPNAV_SPEED_UP" if stick > 0.0 else "WPNAV_SPEED_DN") / 100.0

    def _pilot_limits(self) -> Limits:
        return self.vertical_limits("WPNAV_SPEED_UP", "PILOT_ACCEL_Z")


def _angles(q: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """Roll, pitch and yaw (rad) of a quaternion w, x, y, z."""
    w, x, y, z = q
    roll = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
    return roll, pitch, atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
