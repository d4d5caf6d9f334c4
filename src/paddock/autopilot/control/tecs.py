"""Total energy control of a plane, as ArduPlane's TECS: the throttle controls the sum of potential and kinetic energy,
the pitch their balance.
"""

from typing import NamedTuple

from paddock.compute.math import clamp, cos, maximum, minimum, tan

GRAVITY = 9.80665
LEAST_SPEED = 3.0  # m/s, lower bound of divisors
HEIGHT_TIME = 2.0  # s: smoothing of the height demand
LEAD_TIME = 3.0  # s of the largest climb that the height demand may run ahead
RATE_TIME = 0.5  # s: smoothing of energy rates
SPEED_ERROR = 5.0  # m/s, most
BALANCE_MOST = 0.35  # rad: the learned angle of attack


class TecsGains(NamedTuple):
    """Limits and gains, from TECS_ and other parameters."""

    climb: float  # m/s, most
    sink_least: float  # m/s at idle throttle and cruise speed
    sink: float  # m/s, most
    time: float  # s
    throttle_damping: float
    pitch_damping: float
    integral: float
    weight: float  # of the speed in the balance, 0 to 2
    turn_cost: float  # m2/s3 per 1 / cos^2(roll) - 1
    trim: float  # throttle at cruise, 0 to 1
    pitch_high: float  # rad
    pitch_low: float
    slowest: float  # m/s


class TecsDemand(NamedTuple):
    """What is wanted."""

    height: float  # m
    speed: float  # m/s
    climbing: float  # 1: `climb` replaces the height
    climb: float  # m/s
    weight: float  # of the speed; below 0: that of the gains
    pitch_least: float  # rad
    throttle_least: float
    throttle_most: float


class TecsState(NamedTuple):
    """The motion as measured."""

    height: float  # m
    climb: float  # m/s
    speed: float  # m/s, airspeed
    acceleration: float  # m/s2 along the path
    roll: float  # rad


class TecsMemory(NamedTuple):
    """Smoothed demand, integrals and rates."""

    height: float  # m, demand
    energy_sum: float  # throttle
    balance_sum: float  # rad
    energy_rate: float  # m2/s3
    balance_rate: float
    throttle: float
    pitch: float  # rad


def tecs(d: TecsDemand, g: TecsGains, x: TecsState, m: TecsMemory, dt: float) -> TecsMemory:
    """Return the new memory, with throttle and pitch."""
    speed = maximum(x.speed, LEAST_SPEED)
    # height demand, ahead of the aircraft by a few seconds of climb at most
    rate = clamp((d.height - m.height) / HEIGHT_TIME, -g.sink, g.climb)
    demand = clamp(m.height + rate * dt, x.height - LEAD_TIME * g.sink, x.height + LEAD_TIME * g.climb)
    climb = clamp(rate + (demand - x.height) / g.time, -g.sink, g.climb)
    if d.climbing > 0.0:
        demand, climb = x.height, d.climb
    weight = g.weight if d.weight < 0.0 else d.weight
    too_slow = x.speed < 0.9 * g.slowest and m.throttle > 0.9 and d.throttle_most > 0.0
    if too_slow:  # speed first
        weight = 2.0
    faster = speed * clamp(d.speed - x.speed, -SPEED_ERROR, SPEED_ERROR) / g.time
    higher = GRAVITY * climb
    share = minimum(dt / RATE_TIME, 1.0)

    wanted = clamp(higher + faster, -GRAVITY * g.sink_least, GRAVITY * g.climb)
    energy_rate = m.energy_rate + (GRAVITY * x.climb + speed * x.acceleration - m.energy_rate) * share
    bank = clamp(x.roll, -1.2, 1.2)
    load = 1.0 / (cos(bank) * cos(bank)) - 1.0
    per = 1.0 / (GRAVITY * (g.climb + g.sink_least))
    needed = wanted + g.turn_cost * load
    ahead = (
        needed * (1.0 - g.trim) / (GRAVITY * g.climb) if needed > 0.0 else needed * g.trim / (GRAVITY * g.sink_least)
    )
    throttle = g.trim + ahead + g.throttle_damping * (wanted - energy_rate) * per + m.energy_sum
    missing = GRAVITY * (demand - x.height) + faster * g.time
    more = g.integral * missing / g.time * per * dt
    pushing = (throttle > d.throttle_most and more > 0.0) or (throttle < d.throttle_least and more < 0.0)
    energy_sum = m.energy_sum if pushing else clamp(m.energy_sum + more, -1.0, 1.0)

    up, along = minimum(2.0 - weight, 1.0), minimum(weight, 1.0)
    steepest = speed * GRAVITY * tan(g.pitch_high)
    balance = clamp(up * higher - along * faster, -steepest, steepest)
    found = up * GRAVITY * x.climb - along * speed * x.acceleration
    balance_rate = m.balance_rate + (found - m.balance_rate) * share
    error = (balance - balance_rate) / (speed * GRAVITY)
    pitch = balance / (speed * GRAVITY) + g.pitch_damping * error + m.balance_sum
    low, high = maximum(g.pitch_low, d.pitch_least), g.pitch_high
    held = (pitch > high and error > 0.0) or (pitch < low and error < 0.0)
    balance_sum = m.balance_sum if held else m.balance_sum + g.integral * error * dt
    return TecsMemory(
        demand,
        energy_sum,
        clamp(balance_sum, -BALANCE_MOST, BALANCE_MOST),
        energy_rate,
        balance_rate,
        clamp(throttle, d.throttle_least, d.throttle_most),
        clamp(pitch, low, maximum(high, low)),
    )
