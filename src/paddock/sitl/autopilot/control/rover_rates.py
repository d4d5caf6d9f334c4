"""The inner loops of a rover: from a wanted speed and turn rate to throttle and steering, and on to the motors.

Feed-forward does most of the work. What a throttle of 1 gives in m/s, and a steering of 1 in rad/s (skid steering) or
1/m (Ackermann), begins as the parameters say and is learnt while driving; proportional and integral terms do the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from paddock.compute.math import absolute, clamp, cos, maximum, minimum, sin
from paddock.compute.routine import routine
from paddock.sitl.actuators import MOTORS
from paddock.sitl.autopilot.estimate import PLACE
from paddock.sitl.sensor_data import Floats

REST, DIRECT, RATES = 0.0, 1.0, 2.0
"""Motors off; throttle and steering go to the motors as they are; speed and turn rate are controlled."""


class Setpoint(NamedTuple):
    """What modes ask of the inner loops."""

    drive: float = REST
    throttle: float = 0.0  # -1 to 1, with DIRECT
    steering: float = 0.0  # -1 to 1, + right, with DIRECT
    speed: float = 0.0  # m/s, with RATES
    turn_rate: float = 0.0  # rad/s, + clockwise, with RATES


class Gains(NamedTuple):
    """Derived from the parameters."""

    skid: float  # 1: skid steering, 0: Ackermann
    speed_gain: float  # m/s for a throttle of 1, before anything is learnt
    speed_p: float  # m/s for each m/s of error
    speed_i: float  # 1/s
    turn_gain: float  # rad/s (or 1/m) for a steering of 1, before anything is learnt
    turn_p: float
    turn_i: float  # 1/s
    acceleration: float  # m/s2
    deceleration: float
    turn_rate_max: float  # rad/s
    turn_acceleration: float  # rad/s2
    throttle_max: float  # 0 to 1
    slew: float  # of the throttle, 1/s; 0: no limit
    brake: float  # 1: may use reverse throttle to slow down
    stop_speed: float  # m/s: slower is standing


class Memory(NamedTuple):
    """What the loops remember."""

    speed: float = 0.0  # m/s, the ramped setpoint
    speed_sum: float = 0.0  # m/s, integral
    turn_rate: float = 0.0  # rad/s, the ramped setpoint
    turn_sum: float = 0.0  # rad/s, integral
    speed_gain: float = 0.0  # learnt; 0: nothing yet
    turn_gain: float = 0.0  # learnt; 0: nothing yet
    throttle: float = 0.0  # last given
    steering: float = 0.0  # last given
    seen_speed: float = 0.0  # m/s, measured


YAW, VN, VE, R = PLACE["yaw"], PLACE["vn"], PLACE["ve"], PLACE["r"]
SERVO_1 = 1 + MOTORS
SLOWEST = 0.3  # m/s: below, an Ackermann rover steers as if it went this fast
LEARNING = 0.8  # 1/s: how quickly gains follow what is seen
QUICK = 4.0  # 1/s: where it is certain that a gain is larger
SPREAD = 20.0  # learnt gains stay within this factor of the parameters'
STEADY = 0.3  # m/s2: only a steady speed shows what the throttle gives
ENOUGH = 0.03  # of throttle or steering, for learning


def control(s: Setpoint, g: Gains, m: Memory, estimate: Floats, dt: float, commands: Floats) -> Memory:
    """Write the motors (and the steering servo) of an actuator row."""
    yaw = estimate[YAW]
    speed = estimate[VN] * cos(yaw) + estimate[VE] * sin(yaw)
    rate = estimate[R]
    speed_gain = learnt_speed_gain(g, m, speed, dt)
    turn_gain = learnt_turn_gain(g, m, speed, rate, dt)
    if s.drive == RATES:
        steering, turn_rate, turn_sum = steer(s.turn_rate, g, m, turn_gain, speed, rate, dt)
        room = minimum(1.0 - g.skid * absolute(steering), g.throttle_max)
        throttle, ramped, speed_sum = push(s.speed, g, m, speed_gain, speed, room, dt)
    else:  # somebody else drives: be ready to take over from the motion as it is
        throttle, steering = s.drive * clamp(s.throttle, -1.0, 1.0), s.drive * clamp(s.steering, -1.0, 1.0)
        ramped, speed_sum, turn_rate, turn_sum = speed, 0.0, rate, 0.0
    if s.drive != REST:
        throttle = slewed(m.throttle, throttle, g.slew, dt)
    mix(throttle, steering, g.skid, commands)
    return Memory(ramped, speed_sum, turn_rate, turn_sum, speed_gain, turn_gain, throttle, steering, speed)


def learnt_speed_gain(g: Gains, m: Memory, speed: float, dt: float) -> float:
    """m/s for a throttle of 1: follows what the last throttle has led to, where the speed is steady.

    A speed that still grows shows that the gain is larger, if it is already more than the throttle should give.
    """
    known = g.speed_gain if m.speed_gain == 0.0 else m.speed_gain
    if absolute(m.throttle) < ENOUGH or speed * m.throttle <= 0.0:
        return known
    seen = clamp(speed / m.throttle, g.speed_gain / SPREAD, g.speed_gain * SPREAD)
    growth = (speed - m.seen_speed) * speed
    more = growth > 0.0 and seen > known
    if not more and absolute(speed - m.seen_speed) > STEADY * dt:
        return known
    return known + minimum((QUICK if more else LEARNING) * dt, 1.0) * (seen - known)


def learnt_turn_gain(g: Gains, m: Memory, speed: float, rate: float, dt: float) -> float:
    """rad/s (Ackermann: 1/m) for a steering of 1: follows what the last steering has led to."""
    known = g.turn_gain if m.turn_gain == 0.0 else m.turn_gain
    ackermann = g.skid < 0.5
    turn = rate / rolling(speed) if ackermann else rate
    end = absolute(m.steering) >= 1.0
    if absolute(m.steering) < ENOUGH or end or turn * m.steering <= 0.0 or (ackermann and absolute(speed) < SLOWEST):
        return known
    seen = clamp(turn / m.steering, g.turn_gain / SPREAD, g.turn_gain * SPREAD)
    return known + minimum(LEARNING * dt, 1.0) * (seen - known)


def rolling(speed: float) -> float:
    """The speed, or the least that counts for steering, with the same sign."""
    return maximum(speed, SLOWEST) if speed >= 0.0 else minimum(speed, -SLOWEST)


def steer(
    wanted: float, g: Gains, m: Memory, gain: float, speed: float, rate: float, dt: float
) -> tuple[float, float, float]:
    """Steering (-1 to 1) for a turn rate, with the ramped turn rate and its integral.

    The integral rests where the steering is at its end, and while an Ackermann rover stands.
    """
    change = g.turn_acceleration * dt
    ramped = m.turn_rate + clamp(clamp(wanted, -g.turn_rate_max, g.turn_rate_max) - m.turn_rate, -change, change)
    error = ramped - rate
    total = ramped + g.turn_p * error + m.turn_sum
    raw = total / (gain if g.skid > 0.5 else gain * rolling(speed))
    at_end = absolute(raw) > 1.0 and error * total > 0.0
    standing = g.skid < 0.5 and absolute(speed) < SLOWEST
    grown = m.turn_sum if at_end or standing else m.turn_sum + g.turn_i * error * dt
    resting = wanted == 0.0 and absolute(ramped) < 1e-9 and absolute(speed) < g.stop_speed
    return clamp(raw, -1.0, 1.0), ramped, 0.0 if resting else clamp(grown, -g.turn_rate_max, g.turn_rate_max)


def push(
    wanted: float, g: Gains, m: Memory, gain: float, speed: float, room: float, dt: float
) -> tuple[float, float, float]:
    """Throttle (-room to room) for a speed, with the ramped speed and its integral.

    Without `brake` the throttle never works against the wanted direction.
    """
    slowing = (wanted - m.speed) * m.speed < 0.0
    change = (g.deceleration if slowing else g.acceleration) * dt
    ramped = m.speed + clamp(wanted - m.speed, -change, change)
    if wanted == 0.0 and absolute(ramped) < 1e-9 and absolute(speed) < g.stop_speed:
        return 0.0, 0.0, 0.0
    error = ramped - speed
    total = ramped + g.speed_p * error + m.speed_sum
    raw = total / gain
    at_end = absolute(raw) > room and error * total > 0.0
    grown = m.speed_sum if at_end else m.speed_sum + g.speed_i * error * dt
    against = g.brake < 0.5 and raw * ramped < 0.0
    return 0.0 if against else clamp(raw, -room, room), ramped, clamp(grown, -g.speed_gain, g.speed_gain)


def slewed(last: float, wanted: float, slew: float, dt: float) -> float:
    """The throttle, changing no faster than `slew` per s (0: as it likes)."""
    if slew <= 0.0:
        return wanted
    return last + clamp(wanted - last, -slew * dt, slew * dt)


def mix(throttle: float, steering: float, skid: float, commands: Floats) -> None:
    """To the motors. Where a skid-steered side would be too fast, the throttle gives way, never the turn."""
    if skid < 0.5:
        commands[1] = throttle
        commands[SERVO_1] = steering
        return
    room = 1.0 - absolute(steering)
    straight = clamp(throttle, -room, room)
    commands[1] = straight + steering
    commands[2] = straight - steering


rover_control = routine(control)
"""`control`, compiled."""
