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
BALANCE_MAX = 0.35  # rad: the learned angle of attack


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
    """Return the new memory, with throttle and pitch.

    Total energy sets the throttle, its balance between height and speed the pitch. d: demand. g: gains. x: state of the
    aircraft. m: memory. dt: s.
    """
    speed = maximum(x.speed, LEAST_SPEED)
    # height demand, ahead of the aircraft by a few seconds of climb at most
    rate = clamp((d.height - m.height) / HEIGHT_TIME, -g.sink, g.climb)
    demand = clamp(m.height + rate * dt, x.height - LEAD_TIME * g.sink, x.height + LEAD_TIME * g.climb)
    climb = clamp(rate + (demand - x.height) / g.time, -g.sink, g.climb)
    if d.climbing > 0.0:
        demand, climb = x.height, d.climb
    weight = g.weight if d.weight < 0.0 else d.weight
    underspeed = x.speed < 0.9 * g.slowest and m.throttle > 0.9 and d.throttle_most > 0.0
    if underspeed:  # speed first
        weight = 2.0
    kinetic_demand = speed * clamp(d.speed - x.speed, -SPEED_ERROR, SPEED_ERROR) / g.time
    potential_demand = GRAVITY * climb
    alpha = minimum(dt / RATE_TIME, 1.0)

    energy_rate_demand = clamp(potential_demand + kinetic_demand, -GRAVITY * g.sink_least, GRAVITY * g.climb)
    energy_rate = m.energy_rate + (GRAVITY * x.climb + speed * x.acceleration - m.energy_rate) * alpha
    bank = clamp(x.roll, -1.2, 1.2)
    load = 1.0 / (cos(bank) * cos(bank)) - 1.0
    throttle_per_rate = 1.0 / (GRAVITY * (g.climb + g.sink_least))
    thrust_demand = energy_rate_demand + g.turn_cost * load
    climbing = thrust_demand * (1.0 - g.trim) / (GRAVITY * g.climb)
    feed_forward = climbing if thrust_demand > 0.0 else thrust_demand * g.trim / (GRAVITY * g.sink_least)
    throttle = (
        g.trim
        + feed_forward
        + g.throttle_damping * (energy_rate_demand - energy_rate) * throttle_per_rate
        + m.energy_sum
    )
    energy_error = GRAVITY * (demand - x.height) + kinetic_demand * g.time
    step = g.integral * energy_error / g.time * throttle_per_rate * dt
    throttle_saturated = (throttle > d.throttle_most and step > 0.0) or (throttle < d.throttle_least and step < 0.0)
    energy_sum = m.energy_sum if throttle_saturated else clamp(m.energy_sum + step, -1.0, 1.0)

    potential_weight, kinetic_weight = minimum(2.0 - weight, 1.0), minimum(weight, 1.0)
    steepest = speed * GRAVITY * tan(g.pitch_high)
    balance = clamp(potential_weight * potential_demand - kinetic_weight * kinetic_demand, -steepest, steepest)
    measured_balance = potential_weight * GRAVITY * x.climb - kinetic_weight * speed * x.acceleration
    balance_rate = m.balance_rate + (measured_balance - m.balance_rate) * alpha
    error = (balance - balance_rate) / (speed * GRAVITY)
    pitch = balance / (speed * GRAVITY) + g.pitch_damping * error + m.balance_sum
    low, high = maximum(g.pitch_low, d.pitch_least), g.pitch_high
    pitch_saturated = (pitch > high and error > 0.0) or (pitch < low and error < 0.0)
    balance_sum = m.balance_sum if pitch_saturated else m.balance_sum + g.integral * error * dt
    return TecsMemory(
        demand,
        energy_sum,
        clamp(balance_sum, -BALANCE_MAX, BALANCE_MAX),
        energy_rate,
        balance_rate,
        clamp(throttle, d.throttle_least, d.throttle_most),
        clamp(pitch, low, maximum(high, low)),
    )
