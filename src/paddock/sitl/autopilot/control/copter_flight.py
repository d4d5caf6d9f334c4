"""The copter's compiled control: from a moving setpoint to motor thrusts, once per control period.

    position -> velocity -> acceleration -> direction and size of thrust -> attitude -> body rates -> motors

Nothing is known of the airframe. What share of thrust carries its weight is found when it leaves the ground, by opening
the throttle slowly until it rises, and then learnt on from the specific force that a share gives.
"""

from __future__ import annotations

from paddock.compute.math import absolute, clamp, maximum, minimum, select, sign, sqrt, tan
from paddock.compute.quaternion import rotate
from paddock.compute.routine import routine
from paddock.sitl.autopilot.control.copter_attitude import drive, integrate, leaning, show_lean, wanted_rates
from paddock.sitl.autopilot.control.copter_columns import (
    AD,
    AE,
    AIRBORNE,
    ALONG,
    AN,
    ANGLE_MAX,
    CLIMB_I,
    CLIMB_P,
    COLLECTIVE,
    DOWN,
    E_AD,
    E_AE,
    E_AN,
    E_DOWN,
    E_EAST,
    E_HEIGHT_OK,
    E_NORTH,
    E_POSITION_OK,
    E_QW,
    E_QX,
    E_QY,
    E_QZ,
    E_VD,
    E_VE,
    E_VN,
    E_YAW,
    EAST,
    FLY,
    GROUND,
    HEIGHT,
    HEIGHT_P,
    HORIZONTAL,
    HOVER,
    I_DOWN,
    I_EAST,
    I_NORTH,
    IDLE,
    LAGGED,
    NORTH,
    PHASE,
    POSITION_P,
    RAMP,
    RISE,
    RISING,
    SHARE,
    SINK,
    SLOW_FORCE,
    SLOW_SHARE,
    SPEED_MAX,
    SPOOL,
    THRUST,
    VD,
    VE,
    VELOCITY_I,
    VELOCITY_P,
    VERTICAL,
    VN,
    YAW,
    YAW_RATE,
)
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.parts.quad_control import approach_speed, limited

GRAVITY = 9.80665
IDLE_SHARE = 0.02  # of full thrust: armed on the ground
RAMP_RATE = 0.2  # 1/s: how fast the throttle opens until the craft rises
LIFT_OFF = 0.7  # m/s2 upwards: it rises
MOTOR_TIME = 0.03  # s: about how long motors take
RISE_TIME = 0.05  # s
LEARN_TIME = 0.7  # s
TRIM_MAX = 6.0  # m/s2: largest I term of the velocity loop, enough for a strong wind
APPROACH = 2.0  # m/s2: deceleration that a large position error is closed with
LIFT_MAX, DROP_MAX = 8.0, 6.0  # m/s2
UPRIGHT = 0.985  # cosine of the largest lean in which thrust is learnt
CALM = 0.6  # m/s: fastest climb in which it is
SETTLE = 0.1  # m/s: who wants to sink faster may stand on the ground, where nothing can be learnt


def fly(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float, motors: Floats) -> None:
    """One control period: from setpoint (17,), gains, a row of Estimate and memory to the shares of motors 1 to 4."""
    if setpoint[SPOOL] < FLY:
        rest(setpoint, memory, motors)
        return
    move_on(setpoint, dt)
    if memory[PHASE] == GROUND:
        begin_rise(setpoint, memory)
    zn, ze, zd = direction(setpoint, gains, memory, estimate, dt)
    show_lean(memory, zn, ze, zd, estimate[E_YAW])
    collective = lift(setpoint, gains, memory, estimate, dt)
    drive(wanted_rates(setpoint, gains, estimate, zn, ze, zd), collective, gains, memory, estimate, dt, motors)
    memory[COLLECTIVE] = 0.25 * (motors[0] + motors[1] + motors[2] + motors[3])
    learn(setpoint, memory, estimate, dt)


def rest(setpoint: Floats, memory: Floats, motors: Floats) -> None:
    """Motors stopped or idle; everything but what was learnt is forgotten."""
    hover = memory[HOVER]
    memory[:] = 0.0
    memory[HOVER] = hover
    share = select(setpoint[SPOOL] == IDLE, IDLE_SHARE, 0.0)
    memory[COLLECTIVE] = share
    memory[PHASE] = GROUND
    motors[0], motors[1], motors[2], motors[3] = share, share, share, share


def move_on(setpoint: Floats, dt: float) -> None:
    """The setpoint between two updates: it flies on."""
    setpoint[NORTH] += setpoint[VN] * dt + 0.5 * setpoint[AN] * dt * dt
    setpoint[EAST] += setpoint[VE] * dt + 0.5 * setpoint[AE] * dt * dt
    setpoint[DOWN] += setpoint[VD] * dt + 0.5 * setpoint[AD] * dt * dt
    setpoint[VN] += setpoint[AN] * dt
    setpoint[VE] += setpoint[AE] * dt
    setpoint[VD] += setpoint[AD] * dt
    setpoint[YAW] += setpoint[YAW_RATE] * dt


def begin_rise(setpoint: Floats, memory: Floats) -> None:
    """Leave the ground: a pilot's own throttle needs no ramp."""
    memory[PHASE] = select(setpoint[VERTICAL] == THRUST, AIRBORNE, RISING)
    memory[RAMP] = IDLE_SHARE
    memory[LAGGED] = IDLE_SHARE
    memory[SLOW_SHARE], memory[SLOW_FORCE] = memory[HOVER], GRAVITY


def direction(
    setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float
) -> tuple[float, float, float]:
    """Where the belly is to point: along the setpoint's way, or leaning as told; level where position is lost."""
    known = estimate[E_POSITION_OK] > 0.5
    if setpoint[HORIZONTAL] != ALONG or memory[PHASE] != AIRBORNE or not known:
        memory[I_NORTH] *= 1.0 - minimum(dt, 1.0)
        memory[I_EAST] *= 1.0 - minimum(dt, 1.0)
        return leaning(setpoint, gains, memory, estimate[E_YAW], dt)
    an, ae = along(setpoint, gains, memory, estimate, dt)
    size = sqrt(an * an + ae * ae + GRAVITY * GRAVITY)
    return -an / size, -ae / size, GRAVITY / size


def along(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float) -> tuple[float, float]:
    """Horizontal acceleration, m/s2 north and east, that keeps to the setpoint's way."""
    dn, de = setpoint[NORTH] - estimate[E_NORTH], setpoint[EAST] - estimate[E_EAST]
    far = sqrt(dn * dn + de * de)
    closing = minimum(approach_speed(far, gains[POSITION_P], APPROACH), gains[SPEED_MAX]) / maximum(far, 1e-9)
    en = setpoint[VN] + dn * closing - estimate[E_VN]
    ee = setpoint[VE] + de * closing - estimate[E_VE]
    an = setpoint[AN] + gains[VELOCITY_P] * en + memory[I_NORTH]
    ae = setpoint[AE] + gains[VELOCITY_P] * ee + memory[I_EAST]
    largest = GRAVITY * tan(gains[ANGLE_MAX])
    free = an * an + ae * ae <= largest * largest
    integrate(memory, I_NORTH, gains[VELOCITY_I] * en * dt, TRIM_MAX, free)
    integrate(memory, I_EAST, gains[VELOCITY_I] * ee * dt, TRIM_MAX, free)
    return limited(an, ae, largest)


def upright(estimate: Floats) -> tuple[float, float, float]:
    """The body's downward axis in north, east, down."""
    return rotate(estimate[E_QX], estimate[E_QY], estimate[E_QZ], estimate[E_QW], 0.0, 0.0, 1.0)


def lift(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats, dt: float) -> float:
    """Share of full thrust for the setpoint's height, climb or thrust."""
    if setpoint[VERTICAL] == THRUST:
        memory[SINK] = 0.0
        return clamp(setpoint[SHARE], IDLE_SHARE, 1.0)
    if memory[PHASE] == RISING:
        return open_throttle(memory, estimate, dt)
    least, most = 0.5 * IDLE_SHARE + 0.1 * memory[HOVER], 0.95
    down = sinking(setpoint, gains, memory, estimate)
    tilt = maximum(upright(estimate)[2], 0.5)
    share = memory[HOVER] * (GRAVITY - down) / (GRAVITY * tilt)
    error = memory[SINK] - estimate[E_VD]
    integrate(memory, I_DOWN, gains[CLIMB_I] * error * dt, TRIM_MAX, least < share < most)
    return clamp(share, least, most)


def sinking(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats) -> float:
    """Downward acceleration, m/s2; with the height lost, a thrust that sinks gently for who wants to sink."""
    error = setpoint[DOWN] - estimate[E_DOWN]
    closing = sign(error) * minimum(approach_speed(absolute(error), gains[HEIGHT_P], APPROACH), gains[SPEED_MAX])
    memory[SINK] = setpoint[VD] + select(setpoint[VERTICAL] == HEIGHT, closing, 0.0)
    if estimate[E_HEIGHT_OK] < 0.5:
        return clamp(0.3 * setpoint[VD], -0.3, 0.3)
    down = setpoint[AD] + gains[CLIMB_P] * (memory[SINK] - estimate[E_VD]) + memory[I_DOWN]
    return clamp(down, -LIFT_MAX, DROP_MAX)


def open_throttle(memory: Floats, estimate: Floats, dt: float) -> float:
    """The share that opens slowly until the craft rises: then it is known what carries the weight."""
    memory[SINK] = -SETTLE
    memory[RAMP] += RAMP_RATE * dt
    memory[LAGGED] += dt / (MOTOR_TIME + RISE_TIME) * (memory[RAMP] - memory[LAGGED])
    memory[RISE] += dt / (RISE_TIME + dt) * (-estimate[E_AD] - memory[RISE])
    if memory[RISE] > LIFT_OFF or memory[RAMP] >= 0.95:
        memory[PHASE] = AIRBORNE
        memory[HOVER] = clamp(memory[LAGGED] * GRAVITY / (GRAVITY + maximum(memory[RISE], 0.0)), 0.03, 0.9)
        memory[SLOW_SHARE], memory[SLOW_FORCE] = memory[HOVER], GRAVITY
    return float(memory[RAMP])


def learn(setpoint: Floats, memory: Floats, estimate: Floats, dt: float) -> None:
    """What carries the weight, from the thrust given and the specific force felt; not where the ground may carry."""
    zn, ze, zd = upright(estimate)
    # drag helps a copter that leans into the wind or climbs: what it feels then is not its thrust alone
    calm = zd > UPRIGHT and absolute(estimate[E_VD]) < CALM
    if memory[PHASE] != AIRBORNE or setpoint[VERTICAL] == THRUST or memory[SINK] > SETTLE or not calm:
        return
    force = -(estimate[E_AN] * zn + estimate[E_AE] * ze + (estimate[E_AD] - GRAVITY) * zd)
    memory[LAGGED] += dt / (MOTOR_TIME + dt) * (memory[COLLECTIVE] - memory[LAGGED])
    memory[SLOW_SHARE] += dt / LEARN_TIME * (memory[LAGGED] - memory[SLOW_SHARE])
    memory[SLOW_FORCE] += dt / LEARN_TIME * (force - memory[SLOW_FORCE])
    if memory[SLOW_FORCE] > 0.3 * GRAVITY:
        memory[HOVER] = clamp(GRAVITY * memory[SLOW_SHARE] / memory[SLOW_FORCE], 0.03, 0.9)


control_period = routine(fly)
