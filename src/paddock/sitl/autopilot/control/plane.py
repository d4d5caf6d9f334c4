"""The loops of an aeroplane: from heading, height and airspeed to attitude and throttle, and on to the surfaces.

Deflections are angles' errors, their integral and the rates against them, less at higher speed; the rudder keeps the
ball in the middle. Height is flown with the elevator, airspeed with the throttle, which knows what a climb will cost.
"""

from __future__ import annotations

from typing import NamedTuple

from paddock.compute.math import atan, clamp, cos, maximum, minimum, sin, sqrt, tan, wrap_angle
from paddock.compute.routine import routine
from paddock.sitl.actuators import MOTORS
from paddock.sitl.autopilot.estimate import PLACE
from paddock.sitl.sensor_data import COLUMN, Floats

DIRECT, ATTITUDE, FLIGHT = 0.0, 1.0, 2.0
"""Sticks move the surfaces; roll, pitch and throttle are given; heading (or roll), height and airspeed are given."""


class Setpoint(NamedTuple):
    """What modes ask of the loops."""

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


class Gains(NamedTuple):
    """Derived from the parameters."""

    roll_p: float
    roll_i: float
    roll_d: float
    pitch_p: float
    pitch_i: float
    pitch_d: float
    rudder_slip: float  # deflection for each m/s2 of sideways force
    rudder_rate: float  # deflection for each rad/s off the coordinated turn
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


class Memory(NamedTuple):
    """Integrals and filters."""

    roll_sum: float = 0.0
    pitch_sum: float = 0.0
    path_sum: float = 0.0  # rad: the angle of attack, as learnt
    speed_sum: float = 0.0  # throttle
    speed: float = 0.0  # m/s, smoothed airspeed
    slip: float = 0.0  # m/s2, smoothed sideways force
    roll: float = 0.0  # rad, wanted
    pitch: float = 0.0
    lean: float = 0.0  # rad: the roll that is believed while it flies straight on


GRAVITY = 9.80665
FIRST_SERVO = 1 + MOTORS
DOWN, VN, VE, VD = PLACE["down"], PLACE["vn"], PLACE["ve"], PLACE["vd"]
ROLL, PITCH, YAW, P, Q, R = (PLACE[name] for name in ("roll", "pitch", "yaw", "p", "q", "r"))
AIRSPEED, SIDE = COLUMN["airspeed"], COLUMN["accel_y"]
SUM_MOST = 1.0  # of a deflection
LEVEL = 0.15  # rad of roll, in which a lean is learnt
LEAN_TIME = 8.0  # s
LEAN_MOST = 0.05  # rad
SMOOTHING = 0.5  # s, of the airspeed
SLIP_TIME = 0.3  # s
PATH_P, PATH_I = 0.4, 0.15  # rad, rad/s of pitch for each rad of error of the path
ATTACK_MOST = 0.25  # rad
CLIMB_COST = 3.5  # throttle for each rad of climb
SPEED_P, SPEED_I = 0.05, 0.02  # throttle, throttle/s for each m/s
TURN_PULL = 0.8  # elevator for each rad/s of pitch rate that a turn needs
ROLL_SLEW = 0.5  # rad/s, of the wanted roll
LEAST_SPEED = 3.0  # m/s, to divide by


def control(s: Setpoint, g: Gains, m: Memory, estimate: Floats, sensors: Floats, dt: float, commands: Floats) -> Memory:
    """Write throttle and surfaces of an actuator row."""
    m = _smoothed(m, estimate, sensors, dt)
    if s.kind == DIRECT:
        _write(commands, s.throttle, s.aileron, s.elevator, s.rudder)
        return Memory(0.0, 0.0, m.path_sum, 0.0, m.speed, m.slip, estimate[ROLL], estimate[PITCH], m.lean)
    throttle = s.throttle
    if s.kind == FLIGHT:
        m, throttle = _fly(s, g, m, estimate, dt)
    else:
        m = _wanting(m, s.roll, s.pitch)
    m, aileron, elevator = _hold_attitude(g, m, estimate, dt)
    _write(commands, throttle, aileron, elevator, s.rudder + _coordination(g, m, estimate))
    return m


def _write(commands: Floats, throttle: float, aileron: float, elevator: float, rudder: float) -> None:
    commands[1] = clamp(throttle, 0.0, 1.0)
    commands[FIRST_SERVO] = clamp(aileron, -1.0, 1.0)
    commands[FIRST_SERVO + 1] = clamp(elevator, -1.0, 1.0)
    commands[FIRST_SERVO + 2] = clamp(rudder, -1.0, 1.0)


def _smoothed(m: Memory, estimate: Floats, sensors: Floats, dt: float) -> Memory:
    """Airspeed (over the ground, where nobody measures it) and sideways force with less noise."""
    seen = sensors[AIRSPEED]
    if not seen >= 0.0:
        seen = sqrt(estimate[VN] * estimate[VN] + estimate[VE] * estimate[VE] + estimate[VD] * estimate[VD])
    speed = seen if m.speed == 0.0 else m.speed + (seen - m.speed) * minimum(dt / SMOOTHING, 1.0)
    side = sensors[SIDE]
    side = side if side * side >= 0.0 else 0.0  # not a number: nobody measures it
    slip = m.slip + (side - m.slip) * minimum(dt / SLIP_TIME, 1.0)
    lean = _leaning(m.lean, speed, estimate, dt)
    return Memory(m.roll_sum, m.pitch_sum, m.path_sum, m.speed_sum, speed, slip, m.roll, m.pitch, lean)


def _leaning(lean: float, speed: float, estimate: Floats, dt: float) -> float:
    """The believed roll beyond that of the turn that the gyros see, learnt while the wings are nearly level."""
    roll = estimate[ROLL]
    if abs(roll) > LEVEL or speed < LEAST_SPEED:
        return lean
    turning = (estimate[Q] * sin(roll) + estimate[R] * cos(roll)) / cos(clamp(estimate[PITCH], -1.2, 1.2))
    seen = roll - atan(speed * turning / GRAVITY)
    return clamp(lean + (seen - lean) * minimum(dt / LEAN_TIME, 1.0), -LEAN_MOST, LEAN_MOST)


def _wanting(m: Memory, roll: float, pitch: float) -> Memory:
    return Memory(m.roll_sum, m.pitch_sum, m.path_sum, m.speed_sum, m.speed, m.slip, roll, pitch, m.lean)


def _fly(s: Setpoint, g: Gains, m: Memory, estimate: Floats, dt: float) -> tuple[Memory, float]:
    """Attitude and throttle for a heading, a height and an airspeed."""
    speed = maximum(m.speed, LEAST_SPEED)
    roll = s.roll
    if s.turning > 0.0:
        roll = atan(speed / GRAVITY * g.heading_gain * wrap_angle(s.heading - estimate[YAW]))
    roll = clamp(roll + m.lean, -g.roll_limit, g.roll_limit)
    roll = clamp(roll, m.roll - ROLL_SLEW * dt, m.roll + ROLL_SLEW * dt)
    climb = clamp((estimate[DOWN] - s.down) * g.height_gain, -g.sink, g.climb)
    # too slow to climb: height waits for speed
    climb = minimum(climb, g.climb * clamp((speed - g.slowest) / maximum(g.cruise - g.slowest, 1.0) * 2.0, -1.0, 1.0))
    path = atan(climb / speed)
    error = path - atan(-estimate[VD] / speed)
    path_sum = clamp(m.path_sum + PATH_I * error * dt, -ATTACK_MOST, ATTACK_MOST)
    pitch = clamp(path + path_sum + PATH_P * error, g.pitch_low, g.pitch_high)
    slow = s.speed - m.speed
    base = g.throttle + CLIMB_COST * path + SPEED_P * slow
    throttle = base + m.speed_sum
    pushing = (throttle > 1.0 and slow > 0.0) or (throttle < 0.0 and slow < 0.0)
    speed_sum = m.speed_sum if pushing else clamp(m.speed_sum + SPEED_I * slow * dt, -1.0, 1.0)
    return Memory(m.roll_sum, m.pitch_sum, path_sum, speed_sum, m.speed, m.slip, roll, pitch, m.lean), throttle


def _hold_attitude(g: Gains, m: Memory, estimate: Floats, dt: float) -> tuple[Memory, float, float]:
    """Aileron and elevator for the wanted roll and pitch."""
    scale = clamp(g.cruise / maximum(m.speed, LEAST_SPEED), 0.5, 2.0)
    roll_error = wrap_angle(m.roll - estimate[ROLL])
    pitch_error = m.pitch - estimate[PITCH]
    bank = clamp(estimate[ROLL], -1.2, 1.2)
    pull = GRAVITY / maximum(m.speed, LEAST_SPEED) * tan(bank) * sin(bank)
    aileron = scale * (g.roll_p * roll_error - g.roll_d * estimate[P] + m.roll_sum)
    elevator = scale * (g.pitch_p * pitch_error - g.pitch_d * (estimate[Q] - pull) + m.pitch_sum + TURN_PULL * pull)
    roll_sum = _summed(m.roll_sum, g.roll_i * roll_error * dt, aileron)
    pitch_sum = _summed(m.pitch_sum, g.pitch_i * pitch_error * dt, elevator)
    memory = Memory(roll_sum, pitch_sum, m.path_sum, m.speed_sum, m.speed, m.slip, m.roll, m.pitch, m.lean)
    return memory, aileron, elevator


def _summed(total: float, more: float, deflection: float) -> float:
    """An integral that does not grow while the surface can do no more."""
    if deflection * more > 0.0 and abs(deflection) > 1.0:
        return total
    return clamp(total + more, -SUM_MOST, SUM_MOST)


def _coordination(g: Gains, m: Memory, estimate: Floats) -> float:
    """Rudder against a slip, and against a yaw rate that the bank does not ask for."""
    wanted = GRAVITY * sin(estimate[ROLL]) * cos(estimate[PITCH]) / maximum(m.speed, LEAST_SPEED)
    return clamp(-g.rudder_slip * m.slip - g.rudder_rate * (estimate[R] - wanted), -0.5, 0.5)


plane_control = routine(control)
