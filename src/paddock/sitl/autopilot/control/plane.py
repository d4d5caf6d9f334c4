"""The control loops of a plane: heading, altitude and airspeed -> attitude and throttle -> surfaces; and its guidance.

Deflections are PID terms of the attitude error, scaled down at higher speed; the rudder coordinates turns. The elevator
controls altitude, the throttle airspeed, with a feed-forward for the climb.
"""

import math
from typing import NamedTuple

from paddock.compute.math import atan, clamp, cos, maximum, minimum, sin, sqrt, tan, wrap_angle
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.sitl.actuators import MOTORS
from paddock.sitl.autopilot.estimate import PLACE, Point, wrap
from paddock.sitl.autopilot.estimator.estimator import Ints
from paddock.sitl.autopilot.group import ARMED, control_step
from paddock.sitl.autopilot.parameters import AutopilotParameters
from paddock.sitl.sensor_data import COLUMN, Floats

DIRECT, ATTITUDE, FLIGHT = 0.0, 1.0, 2.0
"""Kinds of setpoint: surfaces; roll, pitch and throttle; heading (or roll), altitude and airspeed."""


class PlaneSetpoint(NamedTuple):
    """The setpoint, written by the modes."""

    kind: float = DIRECT
    aileron: float = 0.0  # -1 to 1, with DIRECT
    elevator: float = 0.0
    rudder: float = 0.0  # with DIRECT and ATTITUDE
    throttle: float = 0.0  # 0 to 1, with DIRECT and ATTITUDE
    roll: float = 0.0  # rad, with ATTITUDE, and with FLIGHT unless `turning`
    pitch: float = 0.0  # rad, with ATTITUDE
    turning: float = 0.0  # 1: roll so that `heading` is held
    heading: float = 0.0  # rad, clockwise from north
    down: float = 0.0  # m in the local frame
    speed: float = 0.0  # m/s, airspeed


class PlaneGains(NamedTuple):
    """Gains and limits, derived from the parameters."""

    roll_p: float
    roll_i: float
    roll_d: float
    pitch_p: float
    pitch_i: float
    pitch_d: float
    rudder_slip: float  # deflection per m/s2 of lateral acceleration
    rudder_rate: float  # deflection per rad/s off the coordinated turn rate
    roll_limit: float  # rad
    pitch_high: float
    pitch_low: float
    cruise: float  # m/s
    slowest: float
    climb: float  # m/s, most
    sink: float
    throttle: float  # at cruise, 0 to 1
    heading_gain: float  # 1/s
    height_gain: float  # 1/s


class PlaneMemory(NamedTuple):
    """Integrals and filters."""

    roll_sum: float = 0.0
    pitch_sum: float = 0.0
    path_sum: float = 0.0  # rad: the learned angle of attack
    speed_sum: float = 0.0  # throttle
    speed: float = 0.0  # m/s, smoothed airspeed
    slip: float = 0.0  # m/s2, smoothed lateral acceleration
    roll: float = 0.0  # rad, target
    pitch: float = 0.0
    lean: float = 0.0  # rad: estimated roll in straight flight, a bias


GRAVITY = 9.80665
FIRST_SERVO = 1 + MOTORS
DOWN, VN, VE, VD = PLACE["down"], PLACE["vn"], PLACE["ve"], PLACE["vd"]
ROLL, PITCH, YAW, P, Q, R = (PLACE[name] for name in ("roll", "pitch", "yaw", "p", "q", "r"))
AIRSPEED, SIDE = COLUMN["airspeed"], COLUMN["accel_y"]
SUM_MOST = 1.0  # of a deflection
LEVEL = 0.15  # rad of roll below which the lean is learned
LEAN_TIME = 8.0  # s
LEAN_MOST = 0.05  # rad
SMOOTHING = 0.5  # s, of the airspeed
SLIP_TIME = 0.3  # s
PATH_P, PATH_I = 0.4, 0.15  # rad, rad/s of pitch per rad of path error
ATTACK_MOST = 0.25  # rad
CLIMB_COST = 3.5  # throttle per rad of climb angle
SPEED_P, SPEED_I = 0.05, 0.02  # throttle, throttle/s per m/s
TURN_PULL = 0.8  # elevator per rad/s of the pitch rate of a turn
ROLL_SLEW = 0.5  # rad/s, of the target roll
LEAST_SPEED = 3.0  # m/s, lower bound of divisors


def control(
    s: PlaneSetpoint, g: PlaneGains, m: PlaneMemory, estimate: Floats, sensors: Floats, dt: float, commands: Floats
) -> PlaneMemory:
    """Write throttle and surfaces of an actuator row; return the new memory."""
    speed, slip = _smoothed(m, estimate, sensors, dt)
    lean = _leaning(m.lean, speed, estimate, dt)
    if s.kind == DIRECT:
        _write(commands, s.throttle, s.aileron, s.elevator, s.rudder)
        return PlaneMemory(0.0, 0.0, m.path_sum, 0.0, speed, slip, estimate[ROLL], estimate[PITCH], lean)
    throttle, roll, pitch, path_sum, speed_sum = s.throttle, s.roll, s.pitch, m.path_sum, m.speed_sum
    if s.kind == FLIGHT:
        throttle, roll, pitch, path_sum, speed_sum = _fly(s, g, m, speed, lean, estimate, dt)
    aileron, elevator, roll_sum, pitch_sum = _hold_attitude(g, m, speed, roll, pitch, estimate, dt)
    _write(commands, throttle, aileron, elevator, s.rudder + _coordination(g, speed, slip, estimate))
    return PlaneMemory(roll_sum, pitch_sum, path_sum, speed_sum, speed, slip, roll, pitch, lean)


def _write(commands: Floats, throttle: float, aileron: float, elevator: float, rudder: float) -> None:
    commands[1] = clamp(throttle, 0.0, 1.0)
    commands[FIRST_SERVO] = clamp(aileron, -1.0, 1.0)
    commands[FIRST_SERVO + 1] = clamp(elevator, -1.0, 1.0)
    commands[FIRST_SERVO + 2] = clamp(rudder, -1.0, 1.0)


def _smoothed(m: PlaneMemory, estimate: Floats, sensors: Floats, dt: float) -> tuple[float, float]:
    """Low-pass airspeed (ground speed without a sensor) and lateral acceleration."""
    seen = sensors[AIRSPEED]
    if not seen >= 0.0:
        seen = sqrt(estimate[VN] * estimate[VN] + estimate[VE] * estimate[VE] + estimate[VD] * estimate[VD])
    speed = seen if m.speed == 0.0 else m.speed + (seen - m.speed) * minimum(dt / SMOOTHING, 1.0)
    side = sensors[SIDE]
    side = side if side * side >= 0.0 else 0.0  # NaN: not measured
    return speed, m.slip + (side - m.slip) * minimum(dt / SLIP_TIME, 1.0)


def _leaning(lean: float, speed: float, estimate: Floats, dt: float) -> float:
    """Learn the roll estimate's bias from the turn rate while the wings are nearly level."""
    roll = estimate[ROLL]
    if abs(roll) > LEVEL or speed < LEAST_SPEED:
        return lean
    turning = (estimate[Q] * sin(roll) + estimate[R] * cos(roll)) / cos(clamp(estimate[PITCH], -1.2, 1.2))
    seen = roll - atan(speed * turning / GRAVITY)
    return clamp(lean + (seen - lean) * minimum(dt / LEAN_TIME, 1.0), -LEAN_MOST, LEAN_MOST)


def _fly(
    s: PlaneSetpoint, g: PlaneGains, m: PlaneMemory, seen: float, lean: float, estimate: Floats, dt: float
) -> tuple[float, float, float, float, float]:
    """Return throttle, target roll and pitch, and the integrals of path and speed, at an airspeed of `seen` m/s."""
    speed = maximum(seen, LEAST_SPEED)
    roll = s.roll
    if s.turning > 0.0:
        roll = atan(speed / GRAVITY * g.heading_gain * wrap_angle(s.heading - estimate[YAW]))
    roll = clamp(roll + lean, -g.roll_limit, g.roll_limit)
    roll = clamp(roll, m.roll - ROLL_SLEW * dt, m.roll + ROLL_SLEW * dt)
    climb = clamp((estimate[DOWN] - s.down) * g.height_gain, -g.sink, g.climb)
    # too slow to climb: speed first
    climb = minimum(climb, g.climb * clamp((speed - g.slowest) / maximum(g.cruise - g.slowest, 1.0) * 2.0, -1.0, 1.0))
    path = atan(climb / speed)
    error = path - atan(-estimate[VD] / speed)
    path_sum = clamp(m.path_sum + PATH_I * error * dt, -ATTACK_MOST, ATTACK_MOST)
    pitch = clamp(path + path_sum + PATH_P * error, g.pitch_low, g.pitch_high)
    slow = s.speed - seen
    throttle = g.throttle + CLIMB_COST * path + SPEED_P * slow + m.speed_sum
    pushing = (throttle > 1.0 and slow > 0.0) or (throttle < 0.0 and slow < 0.0)
    speed_sum = m.speed_sum if pushing else clamp(m.speed_sum + SPEED_I * slow * dt, -1.0, 1.0)
    return throttle, roll, pitch, path_sum, speed_sum


def _hold_attitude(
    g: PlaneGains, m: PlaneMemory, speed: float, roll: float, pitch: float, estimate: Floats, dt: float
) -> tuple[float, float, float, float]:
    """Return aileron and elevator for a target roll and pitch, and their integrals."""
    scale = clamp(g.cruise / maximum(speed, LEAST_SPEED), 0.5, 2.0)
    roll_error = wrap_angle(roll - estimate[ROLL])
    pitch_error = pitch - estimate[PITCH]
    bank = clamp(estimate[ROLL], -1.2, 1.2)
    pull = GRAVITY / maximum(speed, LEAST_SPEED) * tan(bank) * sin(bank)
    aileron = scale * (g.roll_p * roll_error - g.roll_d * estimate[P] + m.roll_sum)
    elevator = scale * (g.pitch_p * pitch_error - g.pitch_d * (estimate[Q] - pull) + m.pitch_sum + TURN_PULL * pull)
    roll_sum = _summed(m.roll_sum, g.roll_i * roll_error * dt, aileron)
    return aileron, elevator, roll_sum, _summed(m.pitch_sum, g.pitch_i * pitch_error * dt, elevator)


def _summed(total: float, more: float, deflection: float) -> float:
    """Integrate, without wind-up while the surface is saturated."""
    if deflection * more > 0.0 and abs(deflection) > 1.0:
        return total
    return clamp(total + more, -SUM_MOST, SUM_MOST)


def _coordination(g: PlaneGains, speed: float, slip: float, estimate: Floats) -> float:
    """Return rudder against slip and against yaw rates off the coordinated turn."""
    wanted = GRAVITY * sin(estimate[ROLL]) * cos(estimate[PITCH]) / maximum(speed, LEAST_SPEED)
    return clamp(-g.rudder_slip * slip - g.rudder_rate * (estimate[R] - wanted), -0.5, 0.5)


def control_all(
    which: Ints,
    period_us: float,
    status: Floats,
    setpoint: Floats,
    gains: Floats,
    memory: Floats,
    commands: Floats,
    estimate: Floats,
    sensors: Floats,
) -> None:
    """Control some planes of a group, each if its period has passed; a disarmed one has centred surfaces."""
    for j in parallel_range(len(which)):
        k = which[j]
        dt = control_step(status[k], period_us)
        if dt > 0.0:
            s, g, m = setpoint[k], gains[k], memory[k]
            wanted = PlaneSetpoint(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10])
            if status[k, ARMED] == 0.0:
                wanted = PlaneSetpoint(DIRECT, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            known = PlaneGains(
                *(g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8]),
                *(g[9], g[10], g[11], g[12], g[13], g[14], g[15], g[16], g[17]),
            )
            before = PlaneMemory(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
            after = control(wanted, known, before, estimate[k], sensors[k], dt, commands[k])
            for i in range(len(after)):
                m[i] = after[i]
            commands[k, 0] = status[k, ARMED]


plane_control, many_planes_control = routine(control_all), parallel_routine(control_all)


HEADING_GAIN = 0.25  # 1/s
HEIGHT_GAIN = 0.15  # 1/s


def plane_gains(p: AutopilotParameters) -> PlaneGains:
    """Return the gains of the loops."""
    terms = ("RLL_ANG_P", "RLL_ANG_I", "RLL_ANG_D", "PTCH_ANG_P", "PTCH_ANG_I", "PTCH_ANG_D")
    limits = ("ROLL_LIMIT_DEG", "PTCH_LIM_MAX_DEG", "PTCH_LIM_MIN_DEG")
    return PlaneGains._make(
        (
            *map(p.value, (*terms, "YAW2SRV_SLIP", "YAW2SRV_DAMP")),
            *(math.radians(p.value(name)) for name in limits),
            *map(p.value, ("AIRSPEED_CRUISE", "AIRSPEED_MIN", "TECS_CLMB_MAX", "TECS_SINK_MAX")),
            *(p.value("TRIM_THROTTLE") / 100.0, HEADING_GAIN, HEIGHT_GAIN),
        )
    )


# guidance: roll for a line, a circle, a course; m north and east, rad, m/s -------------------------------------------

COURSE_GAIN = 0.35  # 1/s
LINE_TIME = 6.0  # s: time constant of the approach to a line


def roll_for_course(course: float, velocity: Point, bend: float = 0.0) -> float:
    """Return the roll that turns the ground track to a course, or along a path of curvature `bend` (rad/m, + right)."""
    speed = max(math.hypot(*velocity), 1.0)
    rate = COURSE_GAIN * wrap(course - math.atan2(velocity[1], velocity[0])) + bend * speed
    return math.atan(speed * rate / GRAVITY)


def roll_for_line(place: Point, velocity: Point, start: Point, end: Point) -> tuple[float, float]:
    """Return the roll that follows the line from start to end, and the distance to its right."""
    north, east = end[0] - start[0], end[1] - start[1]
    length = math.hypot(north, east)
    if length < 1.0:
        return roll_for_course(math.atan2(end[1] - place[1], end[0] - place[0]), velocity), 0.0
    across = ((place[1] - start[1]) * north - (place[0] - start[0]) * east) / length
    reach = max(math.hypot(*velocity), 1.0) * LINE_TIME
    return roll_for_course(math.atan2(east, north) - math.atan(across / reach), velocity), across


def roll_for_circle(place: Point, velocity: Point, centre: Point, radius: float) -> float:
    """Return the roll that follows a circle; a positive radius is clockwise."""
    north, east = place[0] - centre[0], place[1] - centre[1]
    size, side = abs(radius), 1.0 if radius >= 0.0 else -1.0
    away = math.hypot(north, east)
    bearing = math.atan2(east, north) if away > 1e-6 else 0.0
    reach = min(max(math.hypot(*velocity), 1.0) * LINE_TIME, size)
    inwards = math.atan((away - size) / reach)
    near = max(0.0, 1.0 - abs(away - size) / size)
    return roll_for_course(bearing + side * (math.pi / 2.0 + inwards), velocity, side * near / size)
