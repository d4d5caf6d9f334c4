"""The control loops of a plane: heading, altitude and airspeed -> attitude and throttle (TECS) -> surfaces.

As in ArduPlane, an attitude error becomes a wanted rate (RLL2SRV_TCONST, PTCH2SRV_TCONST), and that a deflection with
feed-forward and PI terms (RLL_RATE_, PTCH_RATE_), scaled down at higher speed. The rudder coordinates turns, and steers
the nose wheel. In total energy control (TECS) the throttle controls the sum of potential and kinetic energy, the pitch
their balance.
"""

import math
from typing import NamedTuple

from paddock.autopilot.estimate import ESTIMATE_COLUMN, GRAVITY
from paddock.autopilot.group import ARMED, ControlRows, control_kernel
from paddock.autopilot.parameters import AutopilotParameters
from paddock.autopilot.vehicle_data import COLUMN, MOTORS, Floats
from paddock.compute.math import atan, clamp, cos, maximum, minimum, sin, sqrt, tan, wrap_angle

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


def tecs(s: "PlaneSetpoint", g: TecsGains, x: TecsState, m: TecsMemory, dt: float) -> TecsMemory:
    """Return the new memory, with throttle and pitch.

    Total energy sets the throttle, its balance between height and speed the pitch. s: setpoint. g: gains. x: state of
    the aircraft. m: memory. dt: s.
    """
    speed = maximum(x.speed, LEAST_SPEED)
    # height demand, ahead of the aircraft by a few seconds of climb at most
    rate = clamp((-s.down - m.height) / HEIGHT_TIME, -g.sink, g.climb)
    demand = clamp(m.height + rate * dt, x.height - LEAD_TIME * g.sink, x.height + LEAD_TIME * g.climb)
    climb = clamp(rate + (demand - x.height) / g.time, -g.sink, g.climb)
    if s.climbing > 0.0:
        demand, climb = x.height, s.climb
    weight = g.weight if s.weight < 0.0 else s.weight
    underspeed = x.speed < 0.9 * g.slowest and m.throttle > 0.9 and s.throttle_most > 0.0
    if underspeed:  # speed first
        weight = 2.0
    kinetic_demand = speed * clamp(s.speed - x.speed, -SPEED_ERROR, SPEED_ERROR) / g.time
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
    throttle_saturated = (throttle > s.throttle_most and step > 0.0) or (throttle < s.throttle_least and step < 0.0)
    energy_sum = m.energy_sum if throttle_saturated else clamp(m.energy_sum + step, -1.0, 1.0)

    potential_weight, kinetic_weight = minimum(2.0 - weight, 1.0), minimum(weight, 1.0)
    steepest = speed * GRAVITY * tan(g.pitch_high)
    balance = clamp(potential_weight * potential_demand - kinetic_weight * kinetic_demand, -steepest, steepest)
    measured_balance = potential_weight * GRAVITY * x.climb - kinetic_weight * speed * x.acceleration
    balance_rate = m.balance_rate + (measured_balance - m.balance_rate) * alpha
    error = (balance - balance_rate) / (speed * GRAVITY)
    pitch = balance / (speed * GRAVITY) + g.pitch_damping * error + m.balance_sum
    low, high = maximum(g.pitch_low, s.pitch_least), g.pitch_high
    pitch_saturated = (pitch > high and error > 0.0) or (pitch < low and error < 0.0)
    balance_sum = m.balance_sum if pitch_saturated else m.balance_sum + g.integral * error * dt
    return TecsMemory(
        demand,
        energy_sum,
        clamp(balance_sum, -BALANCE_MAX, BALANCE_MAX),
        energy_rate,
        balance_rate,
        clamp(throttle, s.throttle_least, s.throttle_most),
        clamp(pitch, low, maximum(high, low)),
    )


DIRECT, ATTITUDE, FLIGHT = 0.0, 1.0, 2.0
"""Kinds of setpoint: surfaces; roll, pitch and throttle; heading (or roll), altitude and airspeed."""


class PlaneSetpoint(NamedTuple):
    """The setpoint, written by the modes."""

    kind: float = DIRECT
    aileron: float = 0.0  # -1 to 1, with DIRECT; with ATTITUDE added to the stabilisation
    elevator: float = 0.0
    rudder: float = 0.0  # with DIRECT and ATTITUDE
    throttle: float = 0.0  # 0 to 1, with DIRECT and ATTITUDE
    roll: float = 0.0  # rad, with ATTITUDE, and with FLIGHT unless `turning`
    pitch: float = 0.0  # rad, with ATTITUDE
    turning: float = 0.0  # 1: roll so that `heading` is held
    heading: float = 0.0  # rad, clockwise from north
    down: float = 0.0  # m in the local frame
    speed: float = 0.0  # m/s, airspeed
    climbing: float = 0.0  # 1: `climb` replaces `down`
    climb: float = 0.0  # m/s
    weight: float = -1.0  # of the speed in the energy balance; below 0: TECS_SPDWEIGHT
    pitch_least: float = -1.5  # rad, with FLIGHT
    throttle_least: float = 0.0
    throttle_most: float = 1.0
    roll_limit: float = 1.5  # rad
    steering: float = 0.0  # 1: the nose wheel holds `heading`


class PlaneGains(NamedTuple):
    """Gains and limits, derived from the parameters; TECS' own follow these in a row."""

    roll_time: float  # s
    roll_rate: float  # rad/s, most
    roll_ff: float  # deflection per rad/s
    roll_p: float
    roll_i: float
    roll_sum: float  # deflection, most
    pitch_time: float
    pitch_up: float  # rad/s, most
    pitch_down: float
    pitch_turn: float  # share of the pitch rate of a turn
    pitch_ff: float
    pitch_p: float
    pitch_i: float
    pitch_sum: float
    rudder_slip: float  # deflection per m/s2 of lateral acceleration
    rudder_rate: float  # deflection per rad/s off the coordinated turn rate
    steer: float  # m: diameter of the turning circle at full deflection
    steer_time: float  # s
    scaling: float  # m/s: airspeed of the gains
    roll_limit: float  # rad
    heading_gain: float  # 1/s
    slew: float  # throttle per s


class PlaneMemory(NamedTuple):
    """Integrals and filters; TECS' own follow these in a row."""

    roll_sum: float = 0.0
    pitch_sum: float = 0.0
    speed: float = 0.0  # m/s, smoothed airspeed
    slip: float = 0.0  # m/s2, smoothed lateral acceleration
    roll: float = 0.0  # rad, target
    pitch: float = 0.0
    roll_bias: float = 0.0  # rad: estimated roll in straight flight, a bias
    throttle: float = 0.0  # as commanded


FIRST_SERVO = 1 + MOTORS
DOWN, VN, VE, VD = ESTIMATE_COLUMN["down"], ESTIMATE_COLUMN["vn"], ESTIMATE_COLUMN["ve"], ESTIMATE_COLUMN["vd"]
ROLL, PITCH, YAW, P, Q, R = (ESTIMATE_COLUMN[name] for name in ("roll", "pitch", "yaw", "p", "q", "r"))
AN, AE, AD = ESTIMATE_COLUMN["an"], ESTIMATE_COLUMN["ae"], ESTIMATE_COLUMN["ad"]
AIRSPEED, SIDE = COLUMN["airspeed"], COLUMN["accel_y"]
LEVEL = 0.15  # rad of roll below which the lean is learned
ROLL_BIAS_TIME = 8.0  # s
ROLL_BIAS_MAX = 0.05  # rad
SMOOTHING = 1.0  # s: time constant of the complementary filter of airspeed and acceleration
SLIP_TIME = 0.3  # s
ROLL_SLEW = 0.9  # rad/s, of the target roll
ROLL_ERROR_MAX = 0.2  # rad: the integrator holds above, during a roll and where the airframe banks no further
INTEGRATION_SPEED = 0.5  # of the slowest airspeed: integrators hold below


def control_plane(
    s: PlaneSetpoint,
    g: PlaneGains,
    energy: TecsGains,
    m: PlaneMemory,
    tecs_memory: TecsMemory,
    estimate: Floats,
    sensors: Floats,
    dt: float,
    commands: Floats,
) -> tuple[PlaneMemory, TecsMemory]:
    """Write throttle and surfaces of an actuator row; return the new memory of the loops and of TECS.

    s, g, energy: setpoint and gains of the loops and of TECS. m, tecs_memory: integrals and filters. estimate, sensors:
    rows of Estimate and SensorData. dt: s since the last period. commands: the actuator row.
    """
    acceleration = _acceleration(estimate)
    speed, slip = _filter_airspeed(m, acceleration, estimate, sensors, dt)
    roll_bias = _learn_roll_bias(m.roll_bias, speed, estimate, dt)
    if s.kind == DIRECT:
        _write_actuators(commands, s.throttle, s.aileron, s.elevator, s.rudder)
        reset_memory = TecsMemory(-estimate[DOWN], 0.0, tecs_memory.balance_sum, 0.0, 0.0, s.throttle, 0.0)
        return PlaneMemory(0.0, 0.0, speed, slip, estimate[ROLL], estimate[PITCH], roll_bias, s.throttle), reset_memory
    throttle, roll, pitch = s.throttle, s.roll, s.pitch
    if s.kind == FLIGHT:
        if s.turning > 0.0:
            error = wrap_angle(s.heading - estimate[YAW])
            roll = atan(maximum(speed, LEAST_SPEED) / GRAVITY * g.heading_gain * error)
        roll = clamp(roll + roll_bias, m.roll - ROLL_SLEW * dt, m.roll + ROLL_SLEW * dt)
        now = TecsState(-estimate[DOWN], -estimate[VD], speed, acceleration, estimate[ROLL])
        tecs_memory = tecs(s, energy, now, tecs_memory, dt)
        throttle, pitch = tecs_memory.throttle, tecs_memory.pitch
        if s.throttle_most > 0.0:  # cut at once for the flare
            throttle = clamp(throttle, m.throttle - g.slew * dt, m.throttle + g.slew * dt)
    else:
        tecs_memory = TecsMemory(-estimate[DOWN], 0.0, tecs_memory.balance_sum, 0.0, 0.0, s.throttle, pitch)
    limit = minimum(g.roll_limit, s.roll_limit)
    roll = clamp(roll, -limit, limit)
    slow = speed < INTEGRATION_SPEED * energy.slowest
    aileron, roll_sum = _roll_surface(g, m, speed, roll, slow, estimate, dt)
    elevator, pitch_sum = _pitch_surface(g, m, speed, pitch, slow, estimate, dt)
    rudder = s.rudder + _coordination(g, speed, slip, estimate)
    if s.steering > 0.0:
        rudder = s.rudder + _steering(g, s.heading, estimate)
    _write_actuators(commands, throttle, aileron + s.aileron, elevator + s.elevator, rudder)
    return PlaneMemory(roll_sum, pitch_sum, speed, slip, roll, pitch, roll_bias, throttle), tecs_memory


def _write_actuators(commands: Floats, throttle: float, aileron: float, elevator: float, rudder: float) -> None:
    """Write throttle (0 to 1) and deflections (-1 to 1), limited, to the actuator row `commands`."""
    commands[1] = clamp(throttle, 0.0, 1.0)
    commands[FIRST_SERVO] = clamp(aileron, -1.0, 1.0)
    commands[FIRST_SERVO + 1] = clamp(elevator, -1.0, 1.0)
    commands[FIRST_SERVO + 2] = clamp(rudder, -1.0, 1.0)


def _acceleration(estimate: Floats) -> float:
    """Return the acceleration along the nose, m/s2."""
    level = cos(estimate[PITCH])
    north, east = level * cos(estimate[YAW]), level * sin(estimate[YAW])
    return float(estimate[AN] * north + estimate[AE] * east - estimate[AD] * sin(estimate[PITCH]))


def _filter_airspeed(
    m: PlaneMemory, acceleration: float, estimate: Floats, sensors: Floats, dt: float
) -> tuple[float, float]:
    """Return airspeed (m/s; ground speed without a sensor), complemented by acceleration, and lateral acceleration.

    acceleration: along the nose, m/s2. dt: s.
    """
    airspeed = sensors[AIRSPEED]
    if not airspeed >= 0.0:
        airspeed = sqrt(estimate[VN] * estimate[VN] + estimate[VE] * estimate[VE] + estimate[VD] * estimate[VD])
    speed = m.speed + acceleration * dt + (airspeed - m.speed) * minimum(dt / SMOOTHING, 1.0)
    speed = airspeed if m.speed == 0.0 else speed
    side = sensors[SIDE]
    side = side if side * side >= 0.0 else 0.0  # NaN: not measured
    return maximum(speed, 0.0), m.slip + (side - m.slip) * minimum(dt / SLIP_TIME, 1.0)


def _learn_roll_bias(roll_bias: float, speed: float, estimate: Floats, dt: float) -> float:
    """Learn the roll estimate's bias (rad) from the turn rate while the wings are nearly level.

    speed: m/s through the air. dt: s.
    """
    roll = estimate[ROLL]
    if abs(roll) > LEVEL or speed < 2.0 * LEAST_SPEED:
        return roll_bias
    turning = (estimate[Q] * sin(roll) + estimate[R] * cos(roll)) / cos(clamp(estimate[PITCH], -1.2, 1.2))
    measured = roll - atan(speed * turning / GRAVITY)
    learned = roll_bias + (measured - roll_bias) * minimum(dt / ROLL_BIAS_TIME, 1.0)
    return clamp(learned, -ROLL_BIAS_MAX, ROLL_BIAS_MAX)


def _roll_surface(
    g: PlaneGains, m: PlaneMemory, speed: float, roll: float, slow: bool, estimate: Floats, dt: float
) -> tuple[float, float]:
    """Return the aileron for a target roll, and its integral.

    speed: m/s through the air. roll: rad, target. slow: whether the surfaces have too little effect. dt: s.
    """
    scale = clamp(g.scaling / maximum(speed, LEAST_SPEED), 0.5, 2.0)
    roll_error = wrap_angle(roll - estimate[ROLL])
    rate = clamp(roll_error / g.roll_time, -g.roll_rate, g.roll_rate)
    error = rate - estimate[P]
    aileron = scale * g.roll_ff * rate + scale * scale * (g.roll_p * error + m.roll_sum)
    holds = slow or abs(roll_error) > ROLL_ERROR_MAX
    return aileron, _integrate(m.roll_sum, g.roll_i * error * dt, aileron, g.roll_sum, holds)


def _pitch_surface(
    g: PlaneGains, m: PlaneMemory, speed: float, pitch: float, slow: bool, estimate: Floats, dt: float
) -> tuple[float, float]:
    """Return the elevator for a target pitch, and its integral; a turn needs a pitch rate of its own.

    speed: m/s through the air. pitch: rad, target. slow: whether the surfaces have too little effect. dt: s.
    """
    scale = clamp(g.scaling / maximum(speed, LEAST_SPEED), 0.5, 2.0)
    bank = clamp(estimate[ROLL], -1.2, 1.2)
    turn_pitch_rate = g.pitch_turn * GRAVITY / maximum(speed, 2.0 * LEAST_SPEED) * tan(bank) * sin(bank)
    rate = clamp((pitch - estimate[PITCH]) / g.pitch_time, -g.pitch_down, g.pitch_up) + turn_pitch_rate
    error = rate - estimate[Q]
    elevator = scale * g.pitch_ff * rate + scale * scale * (g.pitch_p * error + m.pitch_sum)
    return elevator, _integrate(m.pitch_sum, g.pitch_i * error * dt, elevator, g.pitch_sum, slow)


def _integrate(integral: float, step: float, deflection: float, limit: float, slow: bool) -> float:
    """Add a step to an integral, without wind-up while the surface is saturated or has no effect.

    step: gain x error x dt. deflection: of the surface, -1 to 1. limit: largest magnitude of the integral.
    """
    if slow or (deflection * step > 0.0 and abs(deflection) > 1.0):
        return integral
    return clamp(integral + step, -limit, limit)


def _coordination(g: PlaneGains, speed: float, slip: float, estimate: Floats) -> float:
    """Return rudder against slip (m/s2) and against yaw rates off the coordinated turn at a speed (m/s)."""
    turn_rate = GRAVITY * sin(estimate[ROLL]) * cos(estimate[PITCH]) / maximum(speed, LEAST_SPEED)
    return clamp(-g.rudder_slip * slip - g.rudder_rate * (estimate[R] - turn_rate), -0.5, 0.5)


def _steering(g: PlaneGains, heading: float, estimate: Floats) -> float:
    """Return the rudder with which the nose wheel holds a heading: less, the faster it rolls."""
    ground_speed = maximum(sqrt(estimate[VN] * estimate[VN] + estimate[VE] * estimate[VE]), 1.0)
    rate = wrap_angle(heading - estimate[YAW]) / g.steer_time
    return clamp((2.0 * rate - estimate[R]) * 0.5 * g.steer / ground_speed, -1.0, 1.0)


def control_plane_row(rows: ControlRows, dt: float) -> None:
    """Run one control period, dt s after the last; surfaces are centred while disarmed."""
    s, g, m = rows.setpoint, rows.gains, rows.memory
    target = PlaneSetpoint(
        *(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]),
        *(s[10], s[11], s[12], s[13], s[14], s[15], s[16], s[17], s[18]),
    )
    if rows.status[ARMED] == 0.0:
        target = PlaneSetpoint(
            *(DIRECT, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            *(0.0, 0.0, 0.0, -1.0, -1.5, 0.0, 1.0, 1.5, 0.0),
        )
    loop_gains = PlaneGains(
        *(g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10]),
        *(g[11], g[12], g[13], g[14], g[15], g[16], g[17], g[18], g[19], g[20], g[21]),
    )
    energy = TecsGains(g[22], g[23], g[24], g[25], g[26], g[27], g[28], g[29], g[30], g[31], g[32], g[33], g[34])
    previous = PlaneMemory(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7])
    tecs_memory = TecsMemory(m[8], m[9], m[10], m[11], m[12], m[13], m[14])
    updated, tecs_memory = control_plane(
        target, loop_gains, energy, previous, tecs_memory, rows.estimate, rows.sensors, dt, rows.commands
    )
    for i in range(len(updated)):
        m[i] = updated[i]
    for i in range(len(tecs_memory)):
        m[len(updated) + i] = tecs_memory[i]


plane_control = control_kernel(control_plane_row)
WIDTHS = (
    len(PlaneSetpoint._fields),
    len(PlaneGains._fields) + len(TecsGains._fields),
    len(PlaneMemory._fields) + len(TecsMemory._fields),
)
"""Of the rows of setpoint, gains and memory."""

HEADING_GAIN = 0.25  # 1/s
FULL_DEFLECTION = math.radians(45.0)  # ArduPlane's PID outputs are angles; this one is the full deflection
UNLIMITED_RATE = 10.0  # rad/s: no limit of a rate


def plane_gains(p: AutopilotParameters) -> tuple[float, ...]:
    """Return the row of gains of the loops and of TECS."""
    value = p.value
    rates = [value(f"RLL_RATE_{term}") / FULL_DEFLECTION for term in ("FF", "P", "I")]
    pitch = [value(f"PTCH_RATE_{term}") / FULL_DEFLECTION for term in ("FF", "P", "I")]
    limits = ("RLL2SRV_RMAX", "PTCH2SRV_RMAX_UP", "PTCH2SRV_RMAX_DN")
    fastest = [math.radians(value(name)) or UNLIMITED_RATE for name in limits]
    loops = PlaneGains(
        *(value("RLL2SRV_TCONST"), fastest[0], rates[0], rates[1], rates[2], value("RLL_RATE_IMAX")),
        *(value("PTCH2SRV_TCONST"), fastest[1], fastest[2], value("PTCH2SRV_RLL")),
        *(pitch[0], pitch[1], pitch[2], value("PTCH_RATE_IMAX")),
        *(value("YAW2SRV_SLIP"), value("YAW2SRV_DAMP"), value("STEER2SRV_P"), value("STEER2SRV_TCONST")),
        *(value("SCALING_SPEED"), math.radians(value("ROLL_LIMIT_DEG")), HEADING_GAIN),
        value("THR_SLEWRATE") / 100.0 or UNLIMITED_RATE,
    )
    energy = TecsGains(
        *(value("TECS_CLMB_MAX"), value("TECS_SINK_MIN"), value("TECS_SINK_MAX"), value("TECS_TIME_CONST")),
        *(value("TECS_THR_DAMP"), value("TECS_PTCH_DAMP"), value("TECS_INTEG_GAIN"), value("TECS_SPDWEIGHT")),
        *(value("TECS_RLL2THR"), value("TRIM_THROTTLE") / 100.0),
        *(math.radians(value("PTCH_LIM_MAX_DEG")), math.radians(value("PTCH_LIM_MIN_DEG")), value("AIRSPEED_MIN")),
    )
    return (*loops, *energy)
