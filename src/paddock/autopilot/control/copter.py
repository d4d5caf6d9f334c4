"""The copter's compiled control: from a moving setpoint to motor thrusts, once per control period.

    position -> velocity -> acceleration -> direction and size of thrust -> attitude -> body rates -> motors

Mass and motors are unknown: the hover thrust is measured at take-off, by ramping up the throttle until the copter
rises, and then learned from the specific force that a thrust produces. North-east-down and front-right-down, SI units,
thrust as a share of full thrust. The constants below are columns of the rows `setpoint`, `gains` and `memory` of all
functions; `estimate` is a row of Estimate, `dt` the s since the last control period.
"""

from math import pi, radians

from paddock.autopilot.estimate import ESTIMATE_COLUMN, GRAVITY
from paddock.autopilot.group import ARMED, ControlRows, control_kernel
from paddock.autopilot.parameters import AutopilotParameters
from paddock.autopilot.vehicle_data import Floats
from paddock.compute.math import absolute, atan2, clamp, maximum, minimum, select, sign, sincos, sqrt, tan, wrap_angle
from paddock.compute.quaternion import rotate, unrotate
from paddock.vehicles.parts.quad_control import approach_speed, limited, mix

Three = tuple[float, float, float]

# setpoint, written by the modes
SPOOL = 0  # STOP, IDLE or FLY; TEST while disarmed
HORIZONTAL = 1  # LEAN or POSITION
VERTICAL = 2  # THRUST, CLIMB or HEIGHT
NORTH, EAST, DOWN = 3, 4, 5  # m; extrapolated between two updates
VN, VE, VD = 6, 7, 8  # m/s
AN, AE, AD = 9, 10, 11  # m/s2
ROLL, PITCH = 12, 13  # rad, with LEAN
YAW, YAW_RATE = 14, 15  # rad, rad/s
SHARE = 16  # with THRUST and TEST
TEST_MOTOR = ROLL  # with TEST: the motor, 1 to 4
SETPOINT_WIDTH = 17

STOP, IDLE, FLY, TEST = 0.0, 1.0, 2.0, 3.0
LEAN, POSITION = 0.0, 1.0
THRUST, CLIMB, HEIGHT = 0.0, 1.0, 2.0

# gains, from the parameters
POSITION_P, VELOCITY_P, VELOCITY_I = 0, 1, 2
HEIGHT_P, CLIMB_P, CLIMB_I = 3, 4, 5
ROLL_ANGLE_P, PITCH_ANGLE_P, YAW_ANGLE_P = 6, 7, 8
ROLL_P, ROLL_I, ROLL_D = 9, 10, 11  # shares per rad/s, rad, rad/s2
PITCH_P, PITCH_I, PITCH_D = 12, 13, 14
YAW_P, YAW_I, YAW_D = 15, 16, 17
FILTER_TIME = 18  # s, low-pass of the D terms
LEAN_TIME = 19  # s, low-pass of the pilot's lean
ANGLE_MAX = 20  # rad
TILT_RATE_MAX, YAW_RATE_MAX = 21, 22  # rad/s
SPEED_MAX = 23  # m/s: maximum speed to correct a position error
INTEGRAL_MAX = 24  # share: maximum I term of a rate
GAINS_WIDTH = 25

# memory
PHASE = 0  # GROUND, TAKING_OFF or AIRBORNE
RAMP = 1  # share, while TAKING_OFF
HOVER = 2  # hover thrust, learned
LAGGED, MEAN_SHARE, MEAN_FORCE = 3, 4, 5  # share with motor lag; averaged share and specific force (m/s2)
RISE = 6  # m/s2 upwards, smoothed
I_NORTH, I_EAST, I_DOWN = 7, 8, 9  # m/s2
I_ROLL, I_PITCH, I_YAW = 10, 11, 12  # shares
SMOOTH_P, SMOOTH_Q, SMOOTH_R = 13, 14, 15  # rad/s
LEAN_ROLL, LEAN_PITCH = 16, 17  # rad, the pilot's lean, smoothed
COLLECTIVE = 18  # share applied
TARGET_VD = 19  # target descent rate, m/s
TARGET_ROLL, TARGET_PITCH = 20, 21  # rad, for display
GROUND_CONTACT = 22  # share, 0 in the air to 1: how far control is released after a touchdown
MEMORY_WIDTH = 23

GROUND, TAKING_OFF, AIRBORNE = 0.0, 1.0, 2.0

# columns of Estimate
E_NORTH, E_EAST, E_DOWN = ESTIMATE_COLUMN["north"], ESTIMATE_COLUMN["east"], ESTIMATE_COLUMN["down"]
E_VN, E_VE, E_VD = ESTIMATE_COLUMN["vn"], ESTIMATE_COLUMN["ve"], ESTIMATE_COLUMN["vd"]
E_QW, E_QX, E_QY, E_QZ = ESTIMATE_COLUMN["qw"], ESTIMATE_COLUMN["qx"], ESTIMATE_COLUMN["qy"], ESTIMATE_COLUMN["qz"]
E_YAW = ESTIMATE_COLUMN["yaw"]
E_P, E_Q, E_R = ESTIMATE_COLUMN["p"], ESTIMATE_COLUMN["q"], ESTIMATE_COLUMN["r"]
E_AN, E_AE, E_AD = ESTIMATE_COLUMN["an"], ESTIMATE_COLUMN["ae"], ESTIMATE_COLUMN["ad"]
E_POSITION_OK, E_HEIGHT_OK = ESTIMATE_COLUMN["position_ok"], ESTIMATE_COLUMN["height_ok"]


# attitude, body rates, mixer -----------------------------------------------------------------------------------------

TILT_DECELERATION = 40.0  # rad/s2: limit of the slowest airframe
YAW_DECELERATION = 4.0  # rad/s2


def lean_direction(setpoint: Floats, gains: Floats, memory: Floats, yaw: float, dt: float) -> Three:
    """Return the target direction of the body's down axis (north, east, down) for the pilot's lean.

    yaw: rad. dt: s since the last call. The lean is low-pass filtered in `memory`.
    """
    share = dt / (gains[LEAN_TIME] + dt)
    memory[LEAN_ROLL] += share * (setpoint[ROLL] - memory[LEAN_ROLL])
    memory[LEAN_PITCH] += share * (setpoint[PITCH] - memory[LEAN_PITCH])
    sr, cr = sincos(memory[LEAN_ROLL])
    sp, cp = sincos(memory[LEAN_PITCH])
    sy, cy = sincos(yaw)
    return cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp


def report_attitude_target(memory: Floats, zn: float, ze: float, zd: float, yaw: float) -> None:
    """Store target roll and pitch for telemetry.

    zn, ze, zd: target direction of the body's down axis. yaw: rad.
    """
    s, c = sincos(yaw)
    forward, right = zn * c + ze * s, ze * c - zn * s
    memory[TARGET_PITCH] = atan2(forward, zd)
    memory[TARGET_ROLL] = atan2(-right, sqrt(forward * forward + zd * zd))


def approach_rate(error: float, gain: float, deceleration: float, largest: float) -> float:
    """Return the rate, rad/s, that closes an angle without overshoot.

    error: rad. gain: 1/s. deceleration: rad/s2. largest: rad/s.
    """
    return sign(error) * clamp(approach_speed(absolute(error), gain, deceleration), 0.0, largest)


def rate_setpoint(setpoint: Floats, gains: Floats, estimate: Floats, zn: float, ze: float, zd: float) -> Three:
    """Return the target body rates, rad/s, that align the down axis with a direction and the nose with the target yaw.

    zn, ze, zd: target direction of the body's down axis.
    """
    qx, qy, qz, qw = estimate[E_QX], estimate[E_QY], estimate[E_QZ], estimate[E_QW]
    bx, by, bz = unrotate(qx, qy, qz, qw, zn, ze, zd)
    across = sqrt(bx * bx + by * by)
    angle_per_sine = atan2(across, bz) / maximum(across, 1e-9)
    p = approach_rate(-by * angle_per_sine, gains[ROLL_ANGLE_P], TILT_DECELERATION, gains[TILT_RATE_MAX])
    q = approach_rate(bx * angle_per_sine, gains[PITCH_ANGLE_P], TILT_DECELERATION, gains[TILT_RATE_MAX])
    heading_error = wrap_angle(setpoint[YAW] - estimate[E_YAW])
    turn = approach_rate(heading_error, gains[YAW_ANGLE_P], YAW_DECELERATION, gains[YAW_RATE_MAX]) + setpoint[YAW_RATE]
    dx, dy, dz = unrotate(qx, qy, qz, qw, 0.0, 0.0, 1.0)
    # heading is undefined for a copter on its side
    turn *= maximum(dz, 0.0)
    return p + dx * turn, q + dy * turn, dz * turn


def filtered_derivative(memory: Floats, index: int, rate: float, filter_time: float, dt: float) -> float:
    """Low-pass a rate; return its derivative, rad/s2.

    index: column of `memory` with the filtered rate. rate: rad/s. filter_time: s. dt: s.
    """
    memory[index] += dt / (filter_time + dt) * (rate - memory[index])
    return float((rate - memory[index]) / filter_time)


def integrate(memory: Floats, index: int, step: float, limit: float, unsaturated: bool) -> None:
    """Add a step to an I term, without wind-up while the output is saturated.

    index: column of `memory` with the I term. step: gain x error x dt. limit: largest magnitude of the I term.
    """
    grows = step * memory[index] > 0.0
    memory[index] = clamp(memory[index] + select(grows and not unsaturated, 0.0, step), -limit, limit)


def control_rates(
    rates: Three, collective: float, gains: Floats, memory: Floats, estimate: Floats, dt: float, motors: Floats
) -> None:
    """Run the rate loops (P, I, and D on the measured rate) and the mixer.

    rates: target body rates, rad/s. collective: share of full thrust. dt: s. motors: written, shares of motors 1 to 4.
    """
    p, q, r = rates[0] - estimate[E_P], rates[1] - estimate[E_Q], rates[2] - estimate[E_R]
    time = gains[FILTER_TIME]
    roll = (
        gains[ROLL_P] * p
        + memory[I_ROLL]
        - gains[ROLL_D] * filtered_derivative(memory, SMOOTH_P, estimate[E_P], time, dt)
    )
    pitch = (
        gains[PITCH_P] * q
        + memory[I_PITCH]
        - gains[PITCH_D] * filtered_derivative(memory, SMOOTH_Q, estimate[E_Q], time, dt)
    )
    yaw = (
        gains[YAW_P] * r + memory[I_YAW] - gains[YAW_D] * filtered_derivative(memory, SMOOTH_R, estimate[E_R], time, dt)
    )
    # in the air the collective rises to make room for roll and pitch; on the ground that would pivot it on a leg
    in_contact, demand = memory[GROUND_CONTACT] > 0.0, absolute(roll) + absolute(pitch)
    cut = select(in_contact, minimum(collective / maximum(demand, 1e-9), 1.0), 1.0)
    mixed = mix(collective, cut * roll, -cut * pitch, -yaw)  # the mixer's axes are front-left-up
    limit, unsaturated = gains[INTEGRAL_MAX], mixed.tilt_scale >= 1.0 and not in_contact
    integrate(memory, I_ROLL, gains[ROLL_I] * p * dt, limit, unsaturated)
    integrate(memory, I_PITCH, gains[PITCH_I] * q * dt, limit, unsaturated)
    integrate(memory, I_YAW, gains[YAW_I] * r * dt, limit, mixed.yaw_cut == 0.0 and not in_contact)
    motors[0], motors[1], motors[2], motors[3] = mixed.motor_1, mixed.motor_2, mixed.motor_3, mixed.motor_4


# position, velocity, thrust ------------------------------------------------------------------------------------------

IDLE_SHARE = 0.02  # of full thrust: armed on the ground
RAMP_RATE = 0.2  # 1/s: throttle ramp until the copter rises
TAKEOFF_ACCELERATION = 0.7  # m/s2 upwards
MOTOR_TIME = 0.03  # s: typical motor lag
RISE_TIME = 0.05  # s
LEARN_TIME = 0.7  # s
VELOCITY_INTEGRAL_MAX = 6.0  # m/s2: maximum I term of the velocity loop, enough for strong wind
APPROACH_DECELERATION = 2.0  # m/s2: deceleration when closing a large position error
CLIMB_ACCELERATION_MAX, DESCENT_ACCELERATION_MAX = 8.0, 6.0  # m/s2
LEARN_TILT_COSINE = 0.985  # cosine of the largest lean at which thrust is learned
LEARN_CLIMB_MAX = 0.6  # m/s: fastest climb at which it is
DESCENT_MIN = 0.1  # m/s: faster descents may end on the ground, where nothing can be learned
SUPPORT_MIN = 2.0  # m/s2: support beyond that of the motors, in a descent, which only the ground can give
LANDED_SPEED = 0.5  # m/s: fastest descent of a copter on the ground
TRACKED_SHARE = 0.8  # share of the target descent rate: a copter that follows it is in the air
RELEASE_TIME = 0.3  # s from touchdown to level, with idle thrust
DECAY_TIME = 0.2  # s: decay of the I terms after that


def control_copter(
    setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float, motors: Floats
) -> None:
    """Run one control period.

    setpoint, gains, memory: rows with the columns above. estimate: a row of Estimate. dt: s since the last period.
    motors: written, shares of full thrust of motors 1 to 4.
    """
    if setpoint[SPOOL] < FLY:
        stop_motors(setpoint, memory, motors)
        return
    extrapolate_setpoint(setpoint, dt)
    if memory[PHASE] == GROUND:
        begin_takeoff(setpoint, memory)
    detect_ground_contact(setpoint, memory, estimate, dt)
    zn, ze, zd = thrust_direction(setpoint, gains, memory, estimate, dt)
    report_attitude_target(memory, zn, ze, zd, estimate[E_YAW])
    collective = collective_thrust(setpoint, gains, memory, estimate, dt)
    control_rates(rate_setpoint(setpoint, gains, estimate, zn, ze, zd), collective, gains, memory, estimate, dt, motors)
    memory[COLLECTIVE] = 0.25 * (motors[0] + motors[1] + motors[2] + motors[3])
    learn_hover_thrust(setpoint, memory, estimate, dt)


def stop_motors(setpoint: Floats, memory: Floats, motors: Floats) -> None:
    """Stop or idle the motors; reset the memory except the learned hover thrust."""
    hover = memory[HOVER]
    memory[:] = 0.0
    memory[HOVER] = hover
    share = select(setpoint[SPOOL] == IDLE, IDLE_SHARE, 0.0)
    memory[COLLECTIVE] = share
    memory[PHASE] = GROUND
    motors[0], motors[1], motors[2], motors[3] = share, share, share, share


def extrapolate_setpoint(setpoint: Floats, dt: float) -> None:
    """Extrapolate the setpoint between two updates."""
    setpoint[NORTH] += setpoint[VN] * dt + 0.5 * setpoint[AN] * dt * dt
    setpoint[EAST] += setpoint[VE] * dt + 0.5 * setpoint[AE] * dt * dt
    setpoint[DOWN] += setpoint[VD] * dt + 0.5 * setpoint[AD] * dt * dt
    setpoint[VN] += setpoint[AN] * dt
    setpoint[VE] += setpoint[AE] * dt
    setpoint[VD] += setpoint[AD] * dt
    setpoint[YAW] += setpoint[YAW_RATE] * dt


def begin_takeoff(setpoint: Floats, memory: Floats) -> None:
    """Start the throttle ramp of a take-off; with THRUST the pilot commands the throttle."""
    memory[PHASE] = select(setpoint[VERTICAL] == THRUST, AIRBORNE, TAKING_OFF)
    memory[RAMP] = IDLE_SHARE
    memory[LAGGED] = IDLE_SHARE
    memory[MEAN_SHARE], memory[MEAN_FORCE] = memory[HOVER], GRAVITY


def detect_ground_contact(setpoint: Floats, memory: Floats, estimate: Floats, dt: float) -> None:
    """Release thrust, lean and I terms of a descending copter that the ground supports; restore them in the air.

    The ground supports a copter whose specific force exceeds that of its motors.

    On the ground position and attitude errors cannot be corrected: a copter that tries to slides, or pivots on a leg.
    """
    descends = memory[PHASE] == AIRBORNE and setpoint[VERTICAL] != THRUST and memory[TARGET_VD] > DESCENT_MIN
    if not descends or estimate[E_VD] > minimum(LANDED_SPEED, TRACKED_SHARE * memory[TARGET_VD]):
        memory[GROUND_CONTACT] = 0.0
        return
    thrust = GRAVITY * memory[COLLECTIVE] / maximum(memory[HOVER], 0.03) * down_axis(estimate)[2]
    ground_support = GRAVITY - estimate[E_AD] - thrust
    step = select(ground_support > SUPPORT_MIN, dt, -dt) / RELEASE_TIME
    memory[GROUND_CONTACT] = clamp(memory[GROUND_CONTACT] + step, 0.0, 1.0)
    if memory[GROUND_CONTACT] == 1.0:
        for term in (I_NORTH, I_EAST, I_ROLL, I_PITCH, I_YAW):
            memory[term] *= 1.0 - minimum(dt / DECAY_TIME, 1.0)


def thrust_direction(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float) -> Three:
    """Return the target direction of the body's down axis: for a position, or without one for a lean."""
    known = estimate[E_POSITION_OK] > 0.5
    if setpoint[HORIZONTAL] != POSITION or memory[PHASE] != AIRBORNE or not known:
        memory[I_NORTH] *= 1.0 - minimum(dt, 1.0)
        memory[I_EAST] *= 1.0 - minimum(dt, 1.0)
        return lean_direction(setpoint, gains, memory, estimate[E_YAW], dt)
    an, ae = horizontal_acceleration(setpoint, gains, memory, estimate, dt)
    control_share = 1.0 - memory[GROUND_CONTACT]
    an, ae = control_share * an, control_share * ae
    size = sqrt(an * an + ae * ae + GRAVITY * GRAVITY)
    return -an / size, -ae / size, GRAVITY / size


def horizontal_acceleration(
    setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float
) -> tuple[float, float]:
    """Return the horizontal acceleration, m/s2 north and east, that follows the setpoint."""
    dn, de = setpoint[NORTH] - estimate[E_NORTH], setpoint[EAST] - estimate[E_EAST]
    distance = sqrt(dn * dn + de * de)
    closing = minimum(approach_speed(distance, gains[POSITION_P], APPROACH_DECELERATION), gains[SPEED_MAX]) / maximum(
        distance, 1e-9
    )
    en = setpoint[VN] + dn * closing - estimate[E_VN]
    ee = setpoint[VE] + de * closing - estimate[E_VE]
    an = setpoint[AN] + gains[VELOCITY_P] * en + memory[I_NORTH]
    ae = setpoint[AE] + gains[VELOCITY_P] * ee + memory[I_EAST]
    largest = GRAVITY * tan(gains[ANGLE_MAX])
    unsaturated = an * an + ae * ae <= largest * largest and memory[GROUND_CONTACT] == 0.0
    integrate(memory, I_NORTH, gains[VELOCITY_I] * en * dt, VELOCITY_INTEGRAL_MAX, unsaturated)
    integrate(memory, I_EAST, gains[VELOCITY_I] * ee * dt, VELOCITY_INTEGRAL_MAX, unsaturated)
    return limited(an, ae, largest)


def down_axis(estimate: Floats) -> Three:
    """Return the body's down axis in north, east, down."""
    return rotate(estimate[E_QX], estimate[E_QY], estimate[E_QZ], estimate[E_QW], 0.0, 0.0, 1.0)


def collective_thrust(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float) -> float:
    """Return the share of full thrust for the setpoint's altitude, climb rate or thrust."""
    if setpoint[VERTICAL] == THRUST:
        memory[TARGET_VD] = 0.0
        return clamp(setpoint[SHARE], IDLE_SHARE, 1.0)
    if memory[PHASE] == TAKING_OFF:
        return ramp_throttle(memory, estimate, dt)
    least, limit = 0.5 * IDLE_SHARE + 0.1 * memory[HOVER], 0.95
    down = vertical_acceleration(setpoint, gains, memory, estimate)
    tilt = maximum(down_axis(estimate)[2], 0.5)
    share = memory[HOVER] * (GRAVITY - down) / (GRAVITY * tilt)
    error = memory[TARGET_VD] - estimate[E_VD]
    in_contact = memory[GROUND_CONTACT] > 0.0
    integrate(
        memory, I_DOWN, gains[CLIMB_I] * error * dt, VELOCITY_INTEGRAL_MAX, least < share < limit and not in_contact
    )
    thrust_limit = select(in_contact, memory[HOVER] * (1.0 - memory[GROUND_CONTACT]), limit)
    return clamp(minimum(share, thrust_limit), least, limit)


def vertical_acceleration(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats) -> float:
    """Return the downward acceleration, m/s2; without a valid altitude, descend gently if the setpoint descends."""
    error = setpoint[DOWN] - estimate[E_DOWN]
    closing = sign(error) * minimum(
        approach_speed(absolute(error), gains[HEIGHT_P], APPROACH_DECELERATION), gains[SPEED_MAX]
    )
    memory[TARGET_VD] = setpoint[VD] + select(setpoint[VERTICAL] == HEIGHT, closing, 0.0)
    if estimate[E_HEIGHT_OK] < 0.5:
        return clamp(0.3 * setpoint[VD], -0.3, 0.3)
    down = setpoint[AD] + gains[CLIMB_P] * (memory[TARGET_VD] - estimate[E_VD]) + memory[I_DOWN]
    return clamp(down, -CLIMB_ACCELERATION_MAX, DESCENT_ACCELERATION_MAX)


def ramp_throttle(memory: Floats, estimate: Floats, dt: float) -> float:
    """Ramp up the throttle until the copter rises, which shows the hover thrust."""
    memory[TARGET_VD] = -DESCENT_MIN
    memory[RAMP] += RAMP_RATE * dt
    memory[LAGGED] += dt / (MOTOR_TIME + RISE_TIME) * (memory[RAMP] - memory[LAGGED])
    memory[RISE] += dt / (RISE_TIME + dt) * (-estimate[E_AD] - memory[RISE])
    if memory[RISE] > TAKEOFF_ACCELERATION or memory[RAMP] >= 0.95:
        memory[PHASE] = AIRBORNE
        memory[HOVER] = clamp(memory[LAGGED] * GRAVITY / (GRAVITY + maximum(memory[RISE], 0.0)), 0.03, 0.9)
        memory[MEAN_SHARE], memory[MEAN_FORCE] = memory[HOVER], GRAVITY
    return float(memory[RAMP])


def learn_hover_thrust(setpoint: Floats, memory: Floats, estimate: Floats, dt: float) -> None:
    """Learn the hover thrust from thrust and specific force, except where the ground may carry weight."""
    zn, ze, zd = down_axis(estimate)
    # drag contributes to the specific force of a copter that leans or climbs
    calm = zd > LEARN_TILT_COSINE and absolute(estimate[E_VD]) < LEARN_CLIMB_MAX
    if memory[PHASE] != AIRBORNE or setpoint[VERTICAL] == THRUST or memory[TARGET_VD] > DESCENT_MIN or not calm:
        return
    force = -(estimate[E_AN] * zn + estimate[E_AE] * ze + (estimate[E_AD] - GRAVITY) * zd)
    memory[LAGGED] += dt / (MOTOR_TIME + dt) * (memory[COLLECTIVE] - memory[LAGGED])
    memory[MEAN_SHARE] += dt / LEARN_TIME * (memory[LAGGED] - memory[MEAN_SHARE])
    memory[MEAN_FORCE] += dt / LEARN_TIME * (force - memory[MEAN_FORCE])
    if memory[MEAN_FORCE] > 0.3 * GRAVITY:
        memory[HOVER] = clamp(GRAVITY * memory[MEAN_SHARE] / memory[MEAN_FORCE], 0.03, 0.9)


def control_copter_row(rows: ControlRows, dt: float) -> None:
    """Run one control period, dt s after the last; while disarmed, motors stop but one that is tested."""
    setpoint, armed, commands = rows.setpoint, rows.status[ARMED] != 0.0, rows.commands
    tested = setpoint[SPOOL] == TEST
    if not armed or tested:
        setpoint[SPOOL] = STOP
    control_copter(setpoint, rows.gains, rows.memory, rows.estimate, dt, commands[1:5])
    if tested and not armed:
        setpoint[SPOOL], commands[0] = TEST, 1.0
        for motor in range(1, 5):
            if setpoint[TEST_MOTOR] == motor:
                commands[motor] = clamp(setpoint[SHARE], 0.0, 1.0)


copter_control = control_kernel(control_copter_row)


ARM_SHARE = 0.5  # a full rate-loop output changes each motor by this fraction, as in ArduPilot's mixer

GAINS = (
    *("PSC_POSXY_P", "PSC_VELXY_P", "PSC_VELXY_I", "PSC_POSZ_P", "PSC_VELZ_P", "PSC_VELZ_I"),
    *("ATC_ANG_RLL_P", "ATC_ANG_PIT_P", "ATC_ANG_YAW_P"),
)
RATE_GAINS = tuple(f"ATC_RAT_{axis}_{term}" for axis in ("RLL", "PIT", "YAW") for term in "PID")


def write_gains(parameters: AutopilotParameters, gains: Floats) -> None:
    """Write the gains (25,) of the compiled control, in the order of the columns above."""
    value = parameters.value
    gains[:GAINS_WIDTH] = (
        *(value(name) for name in GAINS),
        *(ARM_SHARE * value(name) for name in RATE_GAINS),
        1.0 / (2.0 * pi * value("ATC_RAT_RLL_FLTD")),
        value("ATC_INPUT_TC"),
        radians(value("ANGLE_MAX") / 100.0),
        radians(value("ATC_RATE_R_MAX")),
        radians(value("ATC_RATE_Y_MAX")),
        max(value("WPNAV_SPEED") / 100.0, 5.0),
        ARM_SHARE * value("ATC_RAT_RLL_IMAX"),
    )
