"""The inner loops of a rover: from speed and turn rate to throttle and steering, and to the motors.

Feed-forward with P and I terms. The speed (m/s) at full throttle and the turn rate (rad/s, skid steering) or
curvature (1/m, Ackermann) at full steering start from the parameters and are learned while driving.
"""

from math import radians
from typing import NamedTuple

from paddock.autopilot.estimate import ESTIMATE_COLUMN
from paddock.autopilot.group import ARMED, ControlRows, control_kernel
from paddock.autopilot.parameters import AutopilotParameters
from paddock.autopilot.vehicle_data import MOTORS, Floats
from paddock.compute.math import absolute, clamp, cos, maximum, minimum, sin

REST, DIRECT, RATES = 0.0, 1.0, 2.0  # kinds of setpoint: motors off; throttle and steering; speed and turn rate


class RoverSetpoint(NamedTuple):
    """The setpoint, written by the modes."""

    drive: float = REST
    throttle: float = 0.0  # -1 to 1, with DIRECT
    steering: float = 0.0  # -1 to 1, + right, with DIRECT
    speed: float = 0.0  # m/s, with RATES
    turn_rate: float = 0.0  # rad/s, + clockwise, with RATES


class RoverGains(NamedTuple):
    """Gains and limits, derived from the parameters."""

    skid: float  # 1: skid steering, 0: Ackermann
    speed_gain: float  # m/s at full throttle, before learning
    speed_p: float  # m/s per m/s of error
    speed_i: float  # 1/s
    turn_gain: float  # rad/s (or 1/m) at full steering, before learning
    turn_p: float
    turn_i: float  # 1/s
    acceleration: float  # m/s2
    deceleration: float
    turn_rate_max: float  # rad/s
    turn_acceleration: float  # rad/s2
    throttle_max: float  # 0 to 1
    slew: float  # of the throttle, 1/s; 0: no limit
    brake: float  # 1: brake with reverse throttle
    stop_speed: float  # m/s: slower counts as stopped


class RoverMemory(NamedTuple):
    """Integrators and learned gains."""

    speed: float = 0.0  # m/s, the ramped setpoint
    speed_sum: float = 0.0  # m/s, integral
    turn_rate: float = 0.0  # rad/s, the ramped setpoint
    turn_sum: float = 0.0  # rad/s, integral
    speed_gain: float = 0.0  # learned; 0: not yet
    turn_gain: float = 0.0  # learned; 0: not yet
    throttle: float = 0.0  # last output
    steering: float = 0.0  # last output
    seen_speed: float = 0.0  # m/s, measured


YAW, VN, VE, R = ESTIMATE_COLUMN["yaw"], ESTIMATE_COLUMN["vn"], ESTIMATE_COLUMN["ve"], ESTIMATE_COLUMN["r"]
SERVO_1 = 1 + MOTORS
ROLLING_SPEED_MIN = 0.3  # m/s: minimum speed in Ackermann steering
LEARNING = 0.8  # 1/s: learning rate
FAST_LEARNING = 4.0  # 1/s: learning rate while the gain is certainly larger
LEARN_RANGE = 20.0  # limit of learned gains, as a factor of the parameters'
STEADY = 0.3  # m/s2: learn at steady speed only
LEARN_OUTPUT_MIN = 0.03  # minimum throttle or steering for learning


def control_rover(
    s: RoverSetpoint, g: RoverGains, m: RoverMemory, estimate: Floats, dt: float, commands: Floats
) -> RoverMemory:
    """Write the motors (and the steering servo) of an actuator row; return the new memory.

    s, g, m: setpoint, gains and memory. estimate: a row of Estimate. dt: s since the last period. commands: the row.
    """
    yaw = estimate[YAW]
    speed = estimate[VN] * cos(yaw) + estimate[VE] * sin(yaw)
    rate = estimate[R]
    speed_gain = learn_speed_gain(g, m, speed, dt)
    turn_gain = learn_turn_gain(g, m, speed, rate, dt)
    if s.drive == RATES:
        steering, turn_rate, turn_sum = control_turn_rate(s.turn_rate, g, m, turn_gain, speed, rate, dt)
        headroom = minimum(1.0 - g.skid * absolute(steering), g.throttle_max)
        throttle, ramped, speed_sum = control_speed(s.speed, g, m, speed_gain, speed, headroom, dt)
    else:  # manual: keep the ramps at the current motion
        throttle, steering = s.drive * clamp(s.throttle, -1.0, 1.0), s.drive * clamp(s.steering, -1.0, 1.0)
        ramped, speed_sum, turn_rate, turn_sum = speed, 0.0, rate, 0.0
    if s.drive != REST:
        throttle = limit_slew(m.throttle, throttle, g.slew, dt)
    mix(throttle, steering, g.skid, commands)
    return RoverMemory(ramped, speed_sum, turn_rate, turn_sum, speed_gain, turn_gain, throttle, steering, speed)


def learn_speed_gain(g: RoverGains, m: RoverMemory, speed: float, dt: float) -> float:
    """Learn the speed at full throttle, m/s, at steady speed. g, m: gains and memory. speed: m/s. dt: s.

    While the speed still grows, learn only if it already exceeds what the throttle should give.
    """
    gain = g.speed_gain if m.speed_gain == 0.0 else m.speed_gain
    if absolute(m.throttle) < LEARN_OUTPUT_MIN or speed * m.throttle <= 0.0:
        return gain
    measured = clamp(speed / m.throttle, g.speed_gain / LEARN_RANGE, g.speed_gain * LEARN_RANGE)
    growth = (speed - m.seen_speed) * speed
    accelerates = growth > 0.0 and measured > gain
    if not accelerates and absolute(speed - m.seen_speed) > STEADY * dt:
        return gain
    return gain + minimum((FAST_LEARNING if accelerates else LEARNING) * dt, 1.0) * (measured - gain)


def learn_turn_gain(g: RoverGains, m: RoverMemory, speed: float, rate: float, dt: float) -> float:
    """Learn the turn rate (Ackermann: curvature) at full steering, rad/s or 1/m.

    g, m: gains and memory. speed: m/s. rate: measured, rad/s. dt: s.
    """
    gain = g.turn_gain if m.turn_gain == 0.0 else m.turn_gain
    ackermann = g.skid < 0.5
    turn = rate / speed_divisor(speed) if ackermann else rate
    end = absolute(m.steering) >= 1.0
    standing = ackermann and absolute(speed) < ROLLING_SPEED_MIN
    if absolute(m.steering) < LEARN_OUTPUT_MIN or end or turn * m.steering <= 0.0 or standing:
        return gain
    measured = clamp(turn / m.steering, g.turn_gain / LEARN_RANGE, g.turn_gain * LEARN_RANGE)
    return gain + minimum(LEARNING * dt, 1.0) * (measured - gain)


def speed_divisor(speed: float) -> float:
    """Return the speed, at least ROLLING_SPEED_MIN in size."""
    return maximum(speed, ROLLING_SPEED_MIN) if speed >= 0.0 else minimum(speed, -ROLLING_SPEED_MIN)


def control_turn_rate(
    target: float, g: RoverGains, m: RoverMemory, gain: float, speed: float, rate: float, dt: float
) -> tuple[float, float, float]:
    """Return steering (-1 to 1), ramped turn rate and integral for a target turn rate.

    The integral is held while the steering saturates and while an Ackermann rover is stopped.

    target: rad/s. gain: learned turn rate (curvature) at full steering. speed: m/s. rate: measured, rad/s. dt: s.
    """
    change = g.turn_acceleration * dt
    ramped = m.turn_rate + clamp(clamp(target, -g.turn_rate_max, g.turn_rate_max) - m.turn_rate, -change, change)
    error = ramped - rate
    total = ramped + g.turn_p * error + m.turn_sum
    output = total / (gain if g.skid > 0.5 else gain * speed_divisor(speed))
    saturated = absolute(output) > 1.0 and error * total > 0.0
    standing = g.skid < 0.5 and absolute(speed) < ROLLING_SPEED_MIN
    integral = m.turn_sum if saturated or standing else m.turn_sum + g.turn_i * error * dt
    stopped = target == 0.0 and absolute(ramped) < 1e-9 and absolute(speed) < g.stop_speed
    return clamp(output, -1.0, 1.0), ramped, 0.0 if stopped else clamp(integral, -g.turn_rate_max, g.turn_rate_max)


def control_speed(
    target: float, g: RoverGains, m: RoverMemory, gain: float, speed: float, headroom: float, dt: float
) -> tuple[float, float, float]:
    """Return throttle (-headroom to headroom), ramped speed and integral for a target speed.

    Without `brake` the throttle never opposes the target direction.

    target, speed: m/s. gain: learned speed at full throttle, m/s. headroom: largest throttle. dt: s.
    """
    slowing = (target - m.speed) * m.speed < 0.0
    change = (g.deceleration if slowing else g.acceleration) * dt
    ramped = m.speed + clamp(target - m.speed, -change, change)
    if target == 0.0 and absolute(ramped) < 1e-9 and absolute(speed) < g.stop_speed:
        return 0.0, 0.0, 0.0
    error = ramped - speed
    total = ramped + g.speed_p * error + m.speed_sum
    output = total / gain
    saturated = absolute(output) > headroom and error * total > 0.0
    integral = m.speed_sum if saturated else m.speed_sum + g.speed_i * error * dt
    against = g.brake < 0.5 and output * ramped < 0.0
    return 0.0 if against else clamp(output, -headroom, headroom), ramped, clamp(integral, -g.speed_gain, g.speed_gain)


def limit_slew(last: float, target: float, slew: float, dt: float) -> float:
    """Limit the change of a throttle from `last` to `target`, to `slew` per s (0: no limit) over dt s."""
    if slew <= 0.0:
        return target
    return last + clamp(target - last, -slew * dt, slew * dt)


def mix(throttle: float, steering: float, skid: float, commands: Floats) -> None:
    """Write the motors. Where a side of a skid-steered rover saturates, the turn has priority over the throttle.

    throttle, steering: -1 to 1. skid: 1 for skid steering. commands: the actuator row.
    """
    if skid < 0.5:
        commands[1] = throttle
        commands[SERVO_1] = steering
        return
    headroom = 1.0 - absolute(steering)
    straight = clamp(throttle, -headroom, headroom)
    commands[1] = straight + steering
    commands[2] = straight - steering


def control_rover_row(rows: ControlRows, dt: float) -> None:
    """Run one control period, dt s after the last; motors are off while disarmed."""
    s, g, m = rows.setpoint, rows.gains, rows.memory
    target = RoverSetpoint(s[0], s[1], s[2], s[3], s[4])
    if rows.status[ARMED] == 0.0:
        target = RoverSetpoint(REST, 0.0, 0.0, 0.0, 0.0)
    gain = RoverGains(
        *(g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7]), *(g[8], g[9], g[10], g[11], g[12], g[13], g[14])
    )
    before = RoverMemory(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
    after = control_rover(target, gain, before, rows.estimate, dt, rows.commands)
    for i in range(len(after)):
        m[i] = after[i]


rover_control = control_kernel(control_rover_row)


def rover_gains(p: AutopilotParameters, skid: bool) -> RoverGains:
    """Return the gains of the inner loops; errors are in m/s and rad/s, so P and I scale with the feed-forward."""
    v = p.value
    speed_gain = v("CRUISE_SPEED") / (v("CRUISE_THROTTLE") * 0.01)
    turn_gain = 1.0 / v("ATC_STR_RAT_FF")
    return RoverGains(
        skid=float(skid),
        speed_gain=speed_gain,
        speed_p=v("ATC_SPEED_P") * speed_gain,
        speed_i=v("ATC_SPEED_I") * speed_gain,
        turn_gain=turn_gain if skid else 1.0 / v("TURN_RADIUS"),
        turn_p=v("ATC_STR_RAT_P") * turn_gain,
        turn_i=v("ATC_STR_RAT_I") * turn_gain,
        acceleration=v("ATC_ACCEL_MAX"),
        deceleration=v("ATC_DECEL_MAX") or v("ATC_ACCEL_MAX"),
        turn_rate_max=radians(v("ATC_STR_RAT_MAX")),
        turn_acceleration=radians(v("ATC_STR_ACC_MAX")),
        throttle_max=v("MOT_THR_MAX") * 0.01,
        slew=v("MOT_SLEWRATE") * 0.01,
        brake=v("ATC_BRAKE"),
        stop_speed=v("ATC_STOP_SPEED"),
    )
