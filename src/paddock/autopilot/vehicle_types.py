"""The vehicle types: copters, rovers (skid-steered or Ackermann) and planes; the path on which SMARTRTL returns.

A new point of that path follows when the vehicle is SRTL_ACCURACY m away from the last one. Where the path comes back
to an earlier part, the loop in between is removed (pruning). When SRTL_POINTS are exceeded, points that a straight line
replaces within half of SRTL_ACCURACY are dropped (simplification).
"""

from dataclasses import dataclass, field
from math import dist, hypot, isfinite, radians
from typing import Generic, TypeVar

import numpy as np

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.contract import PWM_MID, PWM_MIN, RowTuple, VehicleControl
from paddock.autopilot.control import copter as at
from paddock.autopilot.control import copter_cruise
from paddock.autopilot.control.copter import copter_control, write_gains
from paddock.autopilot.control.copter_path import CopterHeading, CopterLegs, CopterTrack, LegLimits, MotionLimits
from paddock.autopilot.control.l1 import NavGains, nav_gains
from paddock.autopilot.control.plane import (
    FIRST_SERVO,
    WIDTHS,
    PlaneMemory,
    PlaneSetpoint,
    plane_control,
    plane_gains,
)
from paddock.autopilot.control.rover import (
    RoverGains,
    RoverMemory,
    RoverSetpoint,
    rover_control,
    rover_gains,
)
from paddock.autopilot.control.rover_path import RoverDriver
from paddock.autopilot.estimate import Ned, Point
from paddock.autopilot.group import NOW
from paddock.autopilot.modes import find_modes
from paddock.autopilot.modes.copter import CopterMode
from paddock.autopilot.modes.plane_auto import PlaneAuto
from paddock.autopilot.parameter_tables import COPTER, PLANE, ROVER
from paddock.autopilot.telemetry import Landed, Severity
from paddock.autopilot.vehicle_data import MOTORS
from paddock.compute.polyline import segment_distances, simplify

Position = TypeVar("Position", bound=tuple[float, ...])  # m north, east (, down)
COMPARED_SHARES = (1.0 / 3.0, 2.0 / 3.0, 1.0)  # points of a new stretch that are compared with the path before it
ACCURACY_MIN = 0.1  # m


@dataclass
class ReturnPath(Generic[Position]):
    """The path since arming: at most `most` points (m in the local frame), each at least `accuracy` m from the last."""

    most: int = 0
    accuracy: float = 1.0
    points: list[Position] = field(default_factory=list)
    full: bool = True  # a point was dropped: the path is incomplete
    recording: bool = False  # since arming

    def check_saved(self) -> bool:
        """Return whether the points of a restored path are all horizontal or all in space."""
        sizes = {len(point) for point in self.points}
        finite = all(isfinite(value) for point in self.points for value in point)
        return (sizes <= {2} or sizes <= {3}) and finite and len(self.points) <= max(self.most, 0) + 1

    @property
    def usable(self) -> bool:
        """Whether the path leads back to where the vehicle was armed."""
        return bool(self.points) and not self.full

    def record(self, autopilot: BuiltInAutopilot, position: Position) -> None:
        """Add the position of an armed vehicle; arming starts a new path."""
        if not autopilot.armed or not autopilot.estimate.position_ok:
            self.recording = self.recording and autopilot.armed
            return
        if not self.recording:
            value = autopilot.parameters.value
            self.begin(int(value("SRTL_POINTS")), value("SRTL_ACCURACY"), position)
        was_full = self.full
        self.add(position)
        if self.full and not was_full:
            autopilot.send_text(Severity.WARNING, f"SmartRTL deactivated: path has more than {self.most} points")

    def begin(self, most: int, accuracy: float, start: Position) -> None:
        """Start a new path."""
        self.most, self.accuracy, self.recording = most, max(accuracy, ACCURACY_MIN), True
        self.points, self.full = ([start] if most > 0 else []), most <= 0

    def add(self, position: Position) -> None:
        """Add a position, if it is `accuracy` m away from the last."""
        if self.full or not self.points or dist(self.points[-1], position) < self.accuracy:
            return
        if len(self.points) > 2:
            self._remove_loop(position)
        self.points.append(position)
        if len(self.points) > self.most:
            self.points = [self.points[k] for k in simplify(np.array(self.points), 0.5 * self.accuracy)]
            self.full = len(self.points) > self.most

    def _remove_loop(self, position: Position) -> None:
        """Remove the loop where the stretch to a position comes back to an earlier part of the path."""
        path = np.array(self.points)
        starts, segments = path[:-2], path[1:-1] - path[:-2]
        for share in COMPARED_SHARES:
            distances = segment_distances(path[-1] + share * (np.array(position) - path[-1]), starts, segments)
            near = np.flatnonzero(distances < 0.5 * self.accuracy)
            if len(near):
                del self.points[near[0] + 1 :]
                return

    def return_points(self, position: Position) -> list[Position]:
        """Return the points to pass, from a position to the start."""
        path = [*self.points, position]
        return [path[k] for k in simplify(np.array(path), 0.5 * self.accuracy)[-2::-1]]


GROUND_TIME = 1.0  # s without motion and with little thrust: landed
STOP_TIME = 0.1  # s from landing to disarming in modes that land: the mission notes the landing in between
CARRIED = 0.6  # share of the hover thrust below which the ground must carry the rest
STILL_CLIMB, STILL_SPEED = 0.3, 1.0  # m/s
MIN_PILOT_THRUST = 0.35  # share of the hover thrust below which STABILIZE counts as landed


class Copter(VehicleControl):
    """A quadrotor X; mass and motors are unknown to it."""

    kind = "copter"
    mav_type = 2  # MAV_TYPE_QUADROTOR
    modes = find_modes("copter")
    first_mode = 0  # STABILIZE
    return_mode = 6  # RTL
    smart_mode = 21  # SMART_RTL
    stop_mode = 9  # LAND
    hold_mode = 5  # LOITER
    parameters = COPTER
    control_period_us = 4000
    channels = tuple((motor, 32 + motor, motor, PWM_MIN) for motor in (1, 2, 3, 4))
    widths = copter_cruise.ROW_WIDTH, at.GAINS_WIDTH, at.MEMORY_WIDTH
    kernel = copter_control
    cruise = copter_cruise.cruise
    unsaved = ("setpoint", "memory", "_track", "_heading")  # views of the autopilot's rows
    landed: bool
    limits: LegLimits
    slew_yaw: float  # rad/s
    _still: float  # s without motion
    _grounded: float  # s on the ground with idle motors
    _flown: bool  # since arming
    return_path: ReturnPath[Ned]
    _track: CopterTrack
    _heading: CopterHeading
    _steady: bool  # what the mode asks for stays the same until it decides again

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.memory[at.HOVER] = autopilot.parameters.value("MOT_THST_HOVER")
        self.return_path = ReturnPath()
        self._steady = False
        self.landed = True
        self._still = self._grounded = 0.0
        self._flown = False

    def read_parameters(self) -> None:
        """Write the gains of the compiled control; derive the limits of paths."""
        write_gains(self.autopilot.parameters, self.gains_row)
        value = self.autopilot.parameters.value
        level, climb = value("WPNAV_ACCEL") / 100.0, value("WPNAV_ACCEL_Z") / 100.0
        self.limits = LegLimits(
            MotionLimits(value("WPNAV_SPEED") / 100.0, level, value("PSC_JERK_XY")),
            MotionLimits(value("WPNAV_SPEED_UP") / 100.0, climb, value("PSC_JERK_Z")),
            MotionLimits(value("WPNAV_SPEED_DN") / 100.0, climb, value("PSC_JERK_Z")),
        )
        self.slew_yaw = radians(value("ATC_SLEW_YAW") / 100.0)

    def attach(self) -> None:
        """Use the autopilot's rows."""
        super().attach()
        self.setpoint, self.memory = self.setpoint_row, self.memory_row
        self._track, self._heading = CopterTrack(self.setpoint), CopterHeading(self.setpoint)

    def reset_control(self) -> None:
        """Reset setpoint and landing detection; save the learned hover thrust."""
        parameters = self.autopilot.parameters
        if self._flown and parameters.value("MOT_HOVER_LEARN") >= 2:
            parameters.set("MOT_THST_HOVER", self.hover)
        self.memory[at.HOVER] = parameters.value("MOT_THST_HOVER")
        self.end_steady()
        self.setpoint[: at.SETPOINT_WIDTH] = 0.0
        self.landed, self._still, self._grounded, self._flown = True, 0.0, 0.0, False

    @property
    def track(self) -> CopterTrack:
        """The point that the copter follows."""
        self.end_steady()
        return self._track

    @property
    def heading(self) -> CopterHeading:
        """The heading that the copter follows."""
        self.end_steady()
        return self._heading

    def stay_steady(self) -> None:
        """Repeat the requests of the mode, without it, until its next decision."""
        self._steady = True

    @property
    def _legs(self) -> CopterLegs | None:
        """The legs that the mode follows in steady flight."""
        mode = self.autopilot.mode
        return mode.legs if isinstance(mode, CopterMode) else None

    def end_steady(self) -> None:
        """End the loop of steady flight: continue from where it has come to."""
        if self.autopilot.cruising:
            self.autopilot.cruising = False
            copter_cruise.end_cruise(self.setpoint, self._legs)

    def record_check(self) -> None:
        """Note in steady flight that failsafes were checked; what looks like a landing ends it."""
        self.setpoint[copter_cruise.CHECKED] = self.autopilot.status_row[NOW]
        if self.landed or self._still > 0.0:
            self.end_steady()

    def end_decision(self) -> None:
        """Hand over to the loop of steady flight; not on the ground."""
        autopilot, self._steady, steady = self.autopilot, False, self._steady
        if steady and autopilot.armed and not self.landed and self._still == 0.0 and not autopilot.busy:
            now = autopilot.status_row.item(NOW)
            autopilot.cruising = copter_cruise.begin_cruise(self.setpoint, now, self._legs)

    @property
    def hover(self) -> float:
        """Learned hover thrust, as a share of full thrust."""
        return float(self.memory.item(at.HOVER))

    @property
    def airborne(self) -> bool:
        """Whether the motors carry the weight, judging by the thrust."""
        return bool(self.memory.item(at.PHASE) == at.AIRBORNE)

    def begin(self) -> None:
        """Start track and heading from the current motion."""
        self.track.begin(self.autopilot.estimate)
        self.heading.begin(self.autopilot.estimate)

    def idle(self) -> None:
        """Stand on the ground with idle motors."""
        self.end_steady()
        self.setpoint[: at.SETPOINT_WIDTH] = 0.0
        self.setpoint[at.SPOOL] = at.IDLE
        self.begin()

    def follow(self) -> None:
        """Follow the track."""
        self.end_steady()
        copter_cruise.follow_track(self.setpoint)

    def lean(self, roll: float, pitch: float) -> None:
        """Lean (rad) at the track's altitude."""
        self.follow()
        self.setpoint[at.HORIZONTAL] = at.LEAN
        self.setpoint[at.ROLL], self.setpoint[at.PITCH] = roll, pitch

    def lean_with_thrust(self, roll: float, pitch: float, share: float) -> None:
        """Lean (rad) with a share of full thrust."""
        self.lean(roll, pitch)
        self.setpoint[at.VERTICAL], self.setpoint[at.SHARE] = at.THRUST, share

    def shift(self, offset: Ned) -> None:
        """Handle a jump of the estimate by m north, east, down: track and setpoint move along."""
        self.track.shift(offset)
        self.setpoint[at.NORTH : at.DOWN + 1] += offset
        super().shift(offset)

    def update_landed(self, dt: float) -> None:
        """Detect landings; disarm after DISARM_DELAY, or immediately in a mode that lands."""
        autopilot = self.autopilot
        mode, telemetry, flies = autopilot.mode, autopilot.telemetry, self.setpoint.item(at.SPOOL) == at.FLY
        memory = self.memory.tolist()
        if not autopilot.armed:
            self.landed, self._still, self._grounded = True, 0.0, 0.0
        else:
            self._still = self._still + dt if self._detect_landing() else 0.0
            if not flies or self._still >= GROUND_TIME:
                self.landed = True
            elif self.airborne and self._still == 0.0:
                self.landed, self._flown = False, True
        ground = Landed.TAKEOFF if memory[at.PHASE] == at.TAKING_OFF else Landed.ON_GROUND
        telemetry.landed = ground if self.landed else mode.stage
        telemetry.throttle = memory[at.COLLECTIVE]
        telemetry.nav_roll, telemetry.nav_pitch = memory[at.TARGET_ROLL], memory[at.TARGET_PITCH]
        if autopilot.armed and self.landed:
            self._grounded = 0.0 if flies else self._grounded + dt
            ends = mode.lands and self._grounded >= STOP_TIME
            if ends or 0.0 < autopilot.parameters.value("DISARM_DELAY") <= self._grounded:
                autopilot.send_text(Severity.INFO, "Landed: Disarming")
                autopilot.disarm(force=True)

    def record_path(self) -> None:
        """Record the path for SMART_RTL while armed."""
        self.return_path.record(self.autopilot, self.autopilot.estimate.position)

    def _detect_landing(self) -> bool:
        estimate = self.autopilot.estimate
        moves = estimate.position_ok and hypot(estimate.vn, estimate.ve) > STILL_SPEED
        if abs(estimate.vd) > STILL_CLIMB or moves:
            return False
        memory: list[float] = self.memory.tolist()
        share, sink = memory[at.COLLECTIVE], memory[at.TARGET_VD]
        if self.setpoint.item(at.VERTICAL) == at.THRUST:
            return share < MIN_PILOT_THRUST * self.hover
        return sink > STILL_CLIMB and share < CARRIED * self.hover


class Rover(VehicleControl):
    """A skid-steered rover, which can turn on the spot."""

    kind = "rover"
    mav_type = 10  # MAV_TYPE_GROUND_ROVER
    modes = find_modes("rover")
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    smart_mode = 12  # SMARTRTL
    stop_mode = hold_mode = 4  # HOLD
    parameters = ROVER
    control_period_us = 20_000
    channels = ((1, 73, 1, PWM_MID), (3, 74, 2, PWM_MID))  # left, right, as in ArduPilot's skid-steered rovers
    widths = len(RoverSetpoint._fields), len(RoverGains._fields), len(RoverMemory._fields)
    kernel = rover_control
    pivots = True
    setpoint, memory = RowTuple(RoverSetpoint, "setpoint_row"), RowTuple(RoverMemory, "memory_row")
    driver: RoverDriver
    return_path: ReturnPath[Point]
    _gains: RoverGains

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.driver = RoverDriver(self)
        self.return_path = ReturnPath()

    def read_parameters(self) -> None:
        """Derive gains and limits."""
        parameters = self.autopilot.parameters
        self._gains = rover_gains(parameters, self.pivots)
        self.gains_row[:] = self._gains
        self.driver.read_parameters(parameters)

    @property
    def min_turn_radius(self) -> float:
        """Radius of the tightest turn while driving, m: of a steered axle as learned or from TURN_RADIUS."""
        return 0.0 if self.pivots else 1.0 / (self.memory.turn_gain or self._gains.turn_gain)

    def reset_control(self) -> None:
        """Reset setpoint and integrators; learned gains are kept."""
        self.setpoint = RoverSetpoint()
        before = self.memory
        self.memory = RoverMemory(speed_gain=before.speed_gain, turn_gain=before.turn_gain)
        self.driver.pivoting = False

    def update_landed(self, dt: float) -> None:
        """Report ON_GROUND."""
        autopilot = self.autopilot
        autopilot.telemetry.landed = Landed.ON_GROUND
        autopilot.telemetry.throttle = abs(self.memory.throttle)

    def record_path(self) -> None:
        """Record the path for SMARTRTL while armed."""
        self.return_path.record(self.autopilot, self.autopilot.estimate.position[:2])


class AckermannRover(Rover):
    """A rover with a steered axle: it turns only while it drives."""

    kind = "rover_ackermann"
    pivots = False
    channels = ((1, 26, 1 + MOTORS, PWM_MID), (3, 70, 1, PWM_MID))  # steering, throttle, as in ArduPilot's rovers


FLYING_SHARE = 0.75  # of AIRSPEED_MIN: faster is flying, if it moves over the ground, too
ROLLING = 5.0  # m/s over the ground
HALTED = 3.0  # m/s over the ground: rolled out
CLEAR = 5.0  # m above home: it flies at any ground speed


class Plane(VehicleControl):
    """A plane with control surfaces."""

    kind = "plane"
    mav_type = 1  # MAV_TYPE_FIXED_WING
    modes = find_modes("plane")
    first_mode = 0  # MANUAL
    return_mode = 11  # RTL
    stop_mode = hold_mode = 12  # LOITER
    parameters = PLANE
    control_period_us = 20_000
    channels = (  # aileron, elevator, throttle, rudder, as in ArduPilot
        *((1, 4, FIRST_SERVO, PWM_MID), (2, 19, FIRST_SERVO + 1, PWM_MID)),
        *((3, 70, 1, PWM_MIN), (4, 21, FIRST_SERVO + 2, PWM_MID)),
    )

    widths = WIDTHS
    kernel = plane_control
    setpoint, memory = RowTuple(PlaneSetpoint, "setpoint_row"), RowTuple(PlaneMemory, "memory_row")
    nav: NavGains
    suppressed: bool  # armed on the ground: the motor waits for a take-off
    _grounded: float  # s on the ground after a flare

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.nav = NavGains()
        self.suppressed = False
        self._grounded = 0.0

    def read_parameters(self) -> None:
        """Derive the gains."""
        self.gains_row[:] = plane_gains(self.autopilot.parameters)
        self.nav = nav_gains(self.autopilot.parameters)

    def reset_control(self) -> None:
        """Reset setpoint and integrators."""
        airspeed = self.memory.speed
        self.suppressed = self.autopilot.telemetry.landed is Landed.ON_GROUND
        self.setpoint = PlaneSetpoint()
        self.memory_row[:] = 0.0
        self.memory = PlaneMemory(speed=airspeed)

    def update_landed(self, dt: float) -> None:
        """Count as flying by airspeed and motion over the ground; disarm LAND_DISARMDELAY after a landing."""
        autopilot, telemetry, memory, setpoint = self.autopilot, self.autopilot.telemetry, self.memory, self.setpoint
        estimate, value = autopilot.estimate, autopilot.parameters.value
        fast = memory.speed > FLYING_SHARE * value("AIRSPEED_MIN")
        moves = not estimate.position_ok or hypot(estimate.vn, estimate.ve) > ROLLING
        high = autopilot.home is not None and telemetry.relative_altitude > CLEAR
        telemetry.landed = autopilot.mode.stage if fast and (moves or high) else Landed.ON_GROUND
        self.suppressed = self.suppressed and telemetry.landed is Landed.ON_GROUND
        self._disarm_landed(dt)
        telemetry.throttle = float(autopilot.commands[1])
        telemetry.nav_roll, telemetry.nav_pitch = memory.roll, memory.pitch
        if setpoint.speed > 0.0:
            telemetry.altitude_error = estimate.down - setpoint.down
            telemetry.speed_error = setpoint.speed - memory.speed

    def _disarm_landed(self, dt: float) -> None:
        """Disarm some time after the flare, and complete the mission."""
        autopilot, mode = self.autopilot, self.autopilot.mode
        flared = autopilot.armed and isinstance(mode, PlaneAuto) and mode.flaring
        slow = hypot(autopilot.estimate.vn, autopilot.estimate.ve) < HALTED
        stands = flared and slow and autopilot.telemetry.landed is Landed.ON_GROUND
        self._grounded = self._grounded + dt if stands else 0.0
        if isinstance(mode, PlaneAuto) and 0.0 < autopilot.parameters.value("LAND_DISARMDELAY") <= self._grounded:
            landing = mode.landing
            if landing is not None:
                away = autopilot.estimate.distance(landing.target)
                autopilot.send_text(Severity.INFO, f"Distance from LAND point={away:.2f}m")
            autopilot.executor.complete()
            autopilot.disarm(force=True)


VEHICLE_TYPES: dict[str, type[VehicleControl]] = {each.kind: each for each in (Copter, Rover, AckermannRover, Plane)}
