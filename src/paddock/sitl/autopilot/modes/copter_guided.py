"""GUIDED of copters: positions, velocities, attitudes and take-offs commanded from outside."""

from dataclasses import replace
from math import asin, atan2, isnan, nan, radians

from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.modes.copter import FACING_DISTANCE, STALE_US, CopterMode, TakeOff, bearing
from paddock.sitl.autopilot.telemetry import Landed

LIFT_OFF_THRUST = 0.55  # where 0.5 holds the altitude


class CopterGuided(CopterMode):
    """Fly to the newest target of a ground station or companion computer; hold the position without one."""

    name, number = "GUIDED", 4

    def enter(self) -> None:
        """Brake and hold, unless a target was set together with the mode."""
        super().enter()
        fresh = self.autopilot.guided.time_us >= self.autopilot.now_us
        self._seen = GuidedTarget() if fresh else self.autopilot.guided
        self._target = GuidedTarget()  # the one being flown
        self._take_off: TakeOff | None = None
        self._hold: Ned | None = None  # position to hold after a target is done
        self._yaw = nan  # rad to keep; NaN: unchanged

    def update(self, dt: float) -> None:
        """Take a new target, and fly the current one."""
        self._read_target()
        # only a thrust target leaves the ground without a take-off
        lifts = self._target.attitude is not None and self._target.thrust > LIFT_OFF_THRUST and not self._stale()
        if self.stays_down(self._take_off is not None or lifts):
            return
        self.stage = Landed.IN_AIR
        if (take_off := self._take_off) is not None:
            self.stage = Landed.TAKEOFF
            if take_off.update(dt):
                self._take_off, self._target = None, GuidedTarget()
                self._hold = self.copter.track.north, self.copter.track.east, take_off.down
        elif self._target.attitude is not None and not self._stale():
            self._follow_attitude(self._target, dt)
        else:
            target = self._target
            if target.velocity is not None and target.position is None:
                vn, ve, vd = (0.0, 0.0, 0.0) if self._stale() else target.velocity
                track = self.copter.track
                track.steer(vn, ve, self.level_limits(), dt)
                track.climb(-self._vertical(vd), self.vertical_limits(), dt)
                if vn or ve or vd:
                    track.leash(self.autopilot.estimate)
            elif target.position is not None and target.velocity is not None:
                self._follow_moving(target.position, target.velocity, target.speed, dt)
            elif target.position is not None:
                self.seek(*target.position, dt, target.speed)
                self.report(*target.position)
            elif self._hold is not None:
                self.seek(*self._hold, dt)
            else:
                self.stop(dt)
            self._turn(dt)
            self.copter.follow()

    def shift(self, north: float, east: float, down: float) -> None:
        """Handle a jump of the estimate by m: a held position moves along, a target stays on the map."""
        if self._take_off is not None:
            self._take_off.shift(north, east)
        if self._hold is not None:
            self._hold = self._hold[0] + north, self._hold[1] + east, self._hold[2] + down

    def _read_target(self) -> None:
        guided, last = self.autopilot.guided, self._seen
        if guided is last:
            return
        self._seen = guided
        if guided.time_us == last.time_us:  # the same target with another heading or speed
            self._target, self._yaw = replace(self._target, speed=guided.speed, yaw_rate=guided.yaw_rate), guided.yaw
            return
        if not isnan(guided.takeoff):
            self._take_off = TakeOff(self, self.autopilot.home_position.ned()[2] - guided.takeoff)
        elif not self.copter.landed:
            self._take_off = None
        # fly a new target; one that only turns keeps the path
        moves = guided.position is not None or guided.velocity is not None or guided.attitude is not None
        if moves or not isnan(guided.yaw) or not isnan(guided.yaw_rate):
            self._yaw = guided.yaw
        if moves:
            self._target, self._hold = guided, None
        elif not isnan(guided.yaw_rate):
            self._target = replace(self._target, yaw_rate=guided.yaw_rate, time_us=guided.time_us)

    def _stale(self) -> bool:
        return self.autopilot.now_us - self._target.time_us > STALE_US

    def _follow_moving(self, place: Ned, velocity: Ned, speed: float, dt: float) -> None:
        """Follow a moving position; it stops where it is when the target expires."""
        age = min(self.autopilot.now_us - self._target.time_us, STALE_US) * 1e-6
        vn, ve, vd = (0.0, 0.0, 0.0) if self._stale() else velocity
        north, east, down = (p + v * age for p, v in zip(place, velocity, strict=True))
        track = self.copter.track
        track.seek(north, east, self.level_limits(speed), dt, (vn, ve))
        gap = max(-1.0, min(1.0, 0.8 * (down - track.down)))
        track.climb(-self._vertical(vd + gap), self.vertical_limits(), dt)
        self.report(north, east, down)

    def _vertical(self, vd: float) -> float:
        """Limit a descent rate, m/s, to the parameters."""
        return max(-self.value("WPNAV_SPEED_UP") / 100.0, min(self.value("WPNAV_SPEED_DN") / 100.0, vd))

    def _turn(self, dt: float) -> None:
        rate, place, track = self._target.yaw_rate, self._target.position, self.copter.track
        roi, faces = self.autopilot.executor.actions.roi_yaw(), self.value("WP_YAW_BEHAVIOR")
        if not isnan(self._yaw):
            self.turn_to(self._yaw, dt)
        elif isnan(rate) and not isnan(roi):
            self.turn_to(roi, dt)
        elif isnan(rate) and place is not None and faces and track.distance(place[0], place[1]) > FACING_DISTANCE:
            self.turn_to(bearing(place[0] - track.north, place[1] - track.east, 0.0), dt)
        else:
            self.copter.heading.spin(0.0 if isnan(rate) or self._stale() else rate, dt)
            self.copter.heading.leash(self.autopilot.estimate)

    def _follow_attitude(self, target: GuidedTarget, dt: float) -> None:
        """Hold an attitude; the thrust sets the climb rate, 0.5 holds the altitude."""
        estimate, track = self.autopilot.estimate, self.copter.track
        assert target.attitude is not None
        if self.rising():
            return
        roll, pitch, yaw = _angles(target.attitude)
        if isnan(target.yaw_rate):
            self.turn_to(yaw, dt)
        else:
            self.copter.heading.spin(target.yaw_rate, dt)
            self.copter.heading.leash(estimate)
        most = radians(self.value("ANGLE_MAX") / 100.0)
        stick = 0.0 if isnan(target.thrust) else 2.0 * target.thrust - 1.0
        climb = stick * self.value("WPNAV_SPEED_UP" if stick > 0.0 else "WPNAV_SPEED_DN") / 100.0
        track.begin_horizontal(estimate)
        track.climb(climb, self.vertical_limits("WPNAV_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        track.leash(estimate)
        self.copter.lean(max(-most, min(most, roll)), max(-most, min(most, pitch)))


def _angles(q: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """Return roll, pitch and yaw (rad) of a quaternion w, x, y, z."""
    w, x, y, z = q
    roll = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
    return roll, pitch, atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
