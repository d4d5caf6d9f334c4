"""Take-off and landing of planes, as TAKEOFF and AUTO fly them."""

from dataclasses import dataclass
from enum import IntEnum
from math import degrees, hypot, isfinite, radians
from typing import TYPE_CHECKING

from paddock.compute.scalars import atan2, cos, sin
from paddock.sitl.autopilot.control.l1 import roll_for_line
from paddock.sitl.autopilot.control.plane import ATTITUDE, PlaneSetpoint
from paddock.sitl.autopilot.control.tecs import HEIGHT_TIME
from paddock.sitl.autopilot.estimate import Ned, Point
from paddock.sitl.autopilot.telemetry import Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.mission.items import NavTarget
    from paddock.sitl.autopilot.modes.plane import PlaneMode

LEAST_PITCH = radians(5.0)  # of a climb below AIRSPEED_CRUISE
TURNING_HEIGHT = 3.0  # TKOFF_LVL_ALTs above the start: the full roll limit
EXTRA = 3.0  # m that a take-off aims above its altitude, to pass it
AHEAD = 5000.0  # m along the runway to which the line of a take-off is flown
GRAVITY = 9.80665


@dataclass
class TakeoffRun:
    """A take-off: the motor starts, it rolls or is thrown, climbs straight ahead, and turns when it is high enough."""

    start: Ned
    heading: float  # rad
    launched: bool = False
    thrown: float = -1.0  # s since the acceleration of a throw; -1: none yet
    levelling: float = 0.0  # m below the altitude at which the pitch began to come down; 0: not yet

    def update(self, mode: "PlaneMode", down: float, pitch: float, dt: float) -> None:
        """Fly one step of the climb to an altitude (m down), with a pitch (rad)."""
        estimate, plane = mode.autopilot.estimate, mode.plane
        if not self.launched:
            self._wait(mode, dt)
        if not self.launched:
            plane.setpoint = PlaneSetpoint(ATTITUDE, pitch=radians(mode.value("TKOFF_GND_PITCH")))
            return
        speed, most = plane.memory.speed, mode.value("THR_MAX") / 100.0
        height = self.start[2] - estimate.down
        steering = 1.0 if height < 1.0 else 0.0
        if speed < mode.value("TKOFF_ROTATE_SPD"):
            plane.setpoint = PlaneSetpoint(
                ATTITUDE,
                *(0.0, 0.0, 0.0, most, 0.0, radians(mode.value("TKOFF_GND_PITCH"))),
                heading=self.heading,
                steering=steering,
            )
            return
        scale = min(speed / mode.value("AIRSPEED_CRUISE"), 1.0)
        least = max(pitch * scale, LEAST_PITCH) * self._level_off(mode, down)
        level, free = radians(mode.value("LEVEL_ROLL_LIMIT")), radians(mode.value("ROLL_LIMIT_DEG"))
        low = max(mode.value("TKOFF_LVL_ALT"), 0.1)
        share = min(max((height - low) / (low * (TURNING_HEIGHT - 1.0)), 0.0), 1.0)
        limits = {"pitch_least": least, "throttle_least": most, "roll_limit": level + share * (free - level)}
        if steering or not estimate.position_ok:
            mode.head(self.heading, down - EXTRA, steering=steering, **limits)
        else:  # wind must not carry it off the line of the runway
            north, east = self.start[0] + AHEAD * cos(self.heading), self.start[1] + AHEAD * sin(self.heading)
            mode.follow(self.start[:2], (north, east), down - EXTRA, **limits)

    def _wait(self, mode: "PlaneMode", dt: float) -> None:
        """Launch immediately, or some time after the acceleration of a throw."""
        autopilot = mode.autopilot
        estimate = autopilot.estimate
        self.heading, self.start = estimate.yaw, estimate.position
        needed, speed = mode.value("TKOFF_THR_MINACC"), hypot(estimate.vn, estimate.ve)
        force = autopilot.sensors.accel_x - GRAVITY * sin(estimate.pitch)
        if needed > 0.0:
            if self.thrown < 0.0 and isfinite(force) and force >= needed:
                self.thrown = 0.0
            elif self.thrown >= 0.0:
                self.thrown += dt
            ready = self.thrown >= 0.1 * mode.value("TKOFF_THR_DELAY") - 1e-9
        else:
            ready = True
        if ready and speed >= mode.value("TKOFF_THR_MINSPD"):
            self.launched, mode.plane.suppressed = True, False
            autopilot.send_text(Severity.INFO, f"Takeoff: heading {round(degrees(self.heading) % 360.0)} deg")

    def shift(self, north: float, east: float, down: float) -> None:
        """Move the start along with a jump of the estimate."""
        self.start = self.start[0] + north, self.start[1] + east, self.start[2] + down

    def _level_off(self, mode: "PlaneMode", down: float) -> float:
        """Return the share of the least pitch: it falls to 0 in the last TKOFF_PLIM_SEC of the climb."""
        estimate, seconds = mode.autopilot.estimate, mode.value("TKOFF_PLIM_SEC")
        left = estimate.down - down
        if self.levelling == 0.0 and seconds > 0.0 and estimate.vd < -0.1 and left <= -estimate.vd * seconds:
            self.levelling = max(left, 0.1)
        return min(max(left / self.levelling, 0.0), 1.0) if self.levelling > 0.0 else 1.0


class LandingStage(IntEnum):
    """Stages of a landing."""

    APPROACH = 0
    PREFLARE = 1
    FLARE = 2
    GO_AROUND = 3


FLARE_AIM = 0.5  # weight of the sink rate at touchdown in the mean of the flare
BEYOND = 500.0  # m beyond the landing point to which the line is flown
ABORT_ALTITUDE = 30.0  # m above home, of a go-around without one
LOW = 0.7  # m: the rudder aligns the nose with the runway
EASING = radians(4.0)  # rad/s
MOST_EASED = radians(10.0)
FLOATING = 0.7  # of the wanted sink rate
LEAST_SINK = 1.0  # m/s at which a flare begins


@dataclass
class Landing:
    """A landing on the line from `start` to `target`: slope, flare, roll-out; or a go-around."""

    start: Ned
    target: Ned
    abort: float = 0.0  # m above home to which a go-around climbs; 0: ABORT_ALTITUDE
    stage: LandingStage = LandingStage.APPROACH
    flare_height: float = 0.0  # m
    flare_sink: float = 0.0  # m/s
    eased: float = 0.0  # rad by which the least pitch of the flare was lowered, because it floated

    @property
    def bearing(self) -> float:
        """Direction of the approach, rad."""
        return atan2(self.target[1] - self.start[1], self.target[0] - self.start[0])

    def update(self, mode: "PlaneMode", nav: "NavTarget", dt: float) -> bool:
        """Fly one step; return whether a go-around has reached its altitude."""
        if self.stage is LandingStage.GO_AROUND:
            return self._climb_out(mode)
        estimate = mode.autopilot.estimate
        north, east = self.target[0] - self.start[0], self.target[1] - self.start[1]
        length = max(hypot(north, east), 1.0)
        left = ((self.target[0] - estimate.north) * north + (self.target[1] - estimate.east) * east) / length
        height, sink = self.target[2] - estimate.down, estimate.vd
        if self.stage is not LandingStage.FLARE:
            self._next_stage(mode, height, sink, left, length)
        further = BEYOND / length
        end: Point = self.target[0] + north * further, self.target[1] + east * further
        roll, across = roll_for_line(mode.place, mode.velocity, self.start[:2], end, mode.plane.nav)
        mode.report(self.target[:2], across)
        if self.stage is LandingStage.FLARE:
            self._flare(mode, roll, height, dt)
        else:
            down = self._slope(mode, left, length)
            mode.fly(roll, down, self._airspeed(mode, nav.speed))
        return False

    def _airspeed(self, mode: "PlaneMode", wanted: float) -> float:
        if self.stage is not LandingStage.APPROACH:
            return mode.value("LAND_PF_ARSPD")
        return mode.value("TECS_LAND_ARSPD") if mode.value("TECS_LAND_ARSPD") > 0.0 else wanted

    def _next_stage(self, mode: "PlaneMode", height: float, sink: float, left: float, length: float) -> None:
        """Begin the flare at its height, or its time before touchdown, or beyond the landing point."""
        seconds = mode.value("LAND_FLARE_SEC")
        soon = seconds > 0.0 and height <= sink * seconds and left < 0.5 * length
        if height <= mode.value("LAND_FLARE_ALT") or soon or left <= 0.0:
            self.stage = LandingStage.FLARE
            self.flare_height, self.flare_sink = max(height, 0.5), max(sink, LEAST_SINK)
            speed = hypot(*mode.velocity)
            text = f"Flare {height:.1f}m sink={sink:.2f} speed={speed:.1f} dist={left:.1f}"
            mode.autopilot.send_text(Severity.INFO, text)
        elif mode.value("LAND_PF_ARSPD") > 0.0 and height <= mode.value("LAND_PF_ALT"):
            self.stage = LandingStage.PREFLARE

    def _slope(self, mode: "PlaneMode", left: float, length: float) -> float:
        """Return the altitude (m down) on the slope to the point where the flare begins, ahead by the lag of TECS."""
        speed = max(hypot(*mode.velocity), 0.5)
        drop = max(self.target[2] - self.start[2], 0.0)
        sink = drop / max(length / speed, 0.5)
        flare = mode.value("LAND_FLARE_ALT")
        aim = min(mode.value("LAND_FLARE_SEC") * sink, 2.0 * flare) if sink > 0.0 else flare
        aim = min(max(aim, flare), drop)
        mean = max(FLARE_AIM * mode.value("TECS_LAND_SINK") + (1.0 - FLARE_AIM) * sink, 0.1)
        distance = min(speed * aim / mean, 0.5 * length)
        slope = (drop - aim) / max(length - distance, 1.0)
        ahead = min(max(left - speed * HEIGHT_TIME, -BEYOND), length)
        return self.target[2] - min(aim + slope * (ahead - distance), drop)

    def _flare(self, mode: "PlaneMode", roll: float, height: float, dt: float) -> None:
        """Reduce the sink rate with the height, motor off, wings level; on the ground the nose wheel steers."""
        least = mode.value("TECS_LAND_SINK")
        share = min(max(height / self.flare_height, 0.0), 1.0)
        sink = least + share * (max(self.flare_sink, least) - least)
        if mode.autopilot.estimate.vd < FLOATING * sink:
            self.eased = min(self.eased + EASING * dt, MOST_EASED)
        mode.fly(
            roll,
            mode.autopilot.estimate.down,
            mode.value("AIRSPEED_MIN"),
            climbing=1.0,
            climb=-sink,
            weight=0.0,
            pitch_least=radians(mode.value("LAND_PITCH_DEG")) - self.eased,
            throttle_most=0.0,
            roll_limit=radians(mode.value("LEVEL_ROLL_LIMIT")),
            heading=self.bearing,
            steering=1.0 if height < LOW else 0.0,
        )

    def go_around(self, mode: "PlaneMode") -> None:
        """Abort the landing."""
        self.stage = LandingStage.GO_AROUND
        mode.autopilot.send_text(Severity.NOTICE, "Landing aborted: going around")

    def _climb_out(self, mode: "PlaneMode") -> bool:
        down = mode.autopilot.home_position.ned()[2] - (self.abort or ABORT_ALTITUDE)
        level = radians(mode.value("LEVEL_ROLL_LIMIT"))
        mode.head(self.bearing, down - EXTRA, throttle_least=mode.value("THR_MAX") / 100.0, roll_limit=level)
        return mode.autopilot.estimate.down <= down
