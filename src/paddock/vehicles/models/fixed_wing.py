"""Fixed-wing aircraft: coordinated turns with limited bank, radius and climb; the wind carries it.

Bank is positive with the right wing down, which turns right: the heading (counter-clockwise) then falls.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import (
    asin,
    atan,
    clamp,
    cos,
    exp,
    maximum,
    minimum,
    power,
    select,
    sincos,
    sqrt,
    tan,
    wrap_angle,
)
from paddock.compute.quaternion import course, euler_quaternion
from paddock.vehicles.model import CAPSULE, UNTURNABLE, Body, Bump, Desire, Placement, VehicleModel
from paddock.vehicles.parts.battery import FULL_CELL, BatteryState, drive_power, drive_strength, optional_discharged
from paddock.vehicles.parts.rigid_body import MotionColumns
from paddock.world.columns import Column, Environment, Pose, column_tuple
from paddock.world.ground import is_sloped, surface

LOITER_BANK = 0.35  # rad: bank of a right circle of about 85 m radius at 17.5 m/s, flown instead of stopping
BANK_GAIN = 1.2  # rad of bank per rad of heading error, when guided: well damped with the default roll lag

GRAVITY = 9.80665  # m/s2: gravity assumed when banking for a bend of the path
TAKE_OFF = 0.1  # m/s of climb with which an aircraft on the ground accelerates, when guided
SLOPE_MAX = 0.7  # the steepest climb as a share of the airspeed, beside `climb_max`
BREAKS = 4.0  # m/s: change of the velocity by a touch that breaks it
TORN = -0.5  # charges below it: the battery is torn off, while that of an empty one may be a little below 0
TUMBLING = 0.07  # 1/m: drag over mass and speed squared of a wreck, which falls at about 12 m/s
SLIDING = 0.5  # friction of a wreck on the ground
ROLLING = 0.05  # rolling resistance of the wheels on short grass, share of the weight


@column_tuple
class State(MotionColumns):
    """Position and velocity in the world, motion through the air."""

    yaw: Annotated[float, Column("rad", "heading of the motion through the air")]
    airspeed: Annotated[float, Column("m/s", "speed through the air")]
    bank: Annotated[float, Column("rad", "bank, right wing down")]
    climb: Annotated[float, Column("m/s", "rate of climb through the air")]
    turn_rate: Annotated[float, Column("rad/s", "rate of the heading, left positive")]
    bank_rate: Annotated[float, Column("rad/s", "rate of the bank")]
    pitch_rate: Annotated[float, Column("rad/s", "rate of the path's angle of climb, nose up")]
    charge: Annotated[
        float, Column("", "battery charge, 1 full, 0 empty; -1 torn off: a touch has broken it, it falls")
    ]
    voltage: Annotated[float, Column("V", "battery voltage under load")]
    current: Annotated[float, Column("A", "battery current")]


class Command(NamedTuple):
    """Wanted speed, bank and climb. It cannot stop: failsafe and brake fly a level circle at the last speed."""

    speed: Annotated[float, Column("m/s", "wanted airspeed", low=0.0, high=300.0)] = 17.5
    bank: Annotated[
        float,
        Column("rad", "wanted bank, right wing down", low=-1.5, high=1.5, failsafe=LOITER_BANK, brake=LOITER_BANK),
    ] = 0.0
    climb: Annotated[float, Column("m/s", "wanted climb", low=-100.0, high=100.0, failsafe=0.0, brake=0.0)] = 0.0


class Parameters(NamedTuple):
    """Envelope, lags and electric drive of a small aircraft."""

    speed: Annotated[float, Column("m/s", "cruise airspeed", low=1.0, high=300.0)] = 17.5
    speed_min: Annotated[float, Column("m/s", "slowest airspeed", low=1.0, high=300.0)] = 12.0
    speed_max: Annotated[float, Column("m/s", "fastest airspeed", low=1.0, high=300.0)] = 25.0
    turn_radius: Annotated[float, Column("m", "smallest radius of a turn through the air", low=1.0, high=1e5)] = 80.0
    bank_max: Annotated[float, Column("rad", "largest bank", low=0.01, high=1.4)] = 0.8
    climb_max: Annotated[float, Column("m/s", "fastest climb and descent", low=0.0, high=100.0)] = 4.0
    roll_time: Annotated[float, Column("s", "time constant of the bank", low=0.01, high=100.0)] = 0.4
    speed_time: Annotated[float, Column("s", "time constant of airspeed and climb", low=0.01, high=100.0)] = 1.5
    mass: Annotated[float, Column("kg", "take-off mass", low=1e-3, high=1e4)] = 1.4
    glide_ratio: Annotated[float, Column("", "lift over drag at cruise, the best", low=1.0, high=100.0)] = 10.0
    efficiency: Annotated[float, Column("", "thrust power over electrical power", low=0.01, high=1.0)] = 0.6
    idle_power: Annotated[float, Column("W", "power of the electronics", low=0.0, high=1e5)] = 6.0
    cells: Annotated[float, Column("", "battery cells in series", low=1.0, high=300.0)] = 4.0
    capacity: Annotated[float, Column("mAh", "battery capacity, 0: no battery", low=0.0, high=1e7)] = 4900.0
    cell_resistance: Annotated[float, Column("ohm", "internal resistance of one cell", low=0.0, high=1.0)] = 0.006


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Integrate first-order lags exactly; the air path is an arc with the tick's mean speed and turn rate.

    On the ground it rolls straight ahead and lifts off at its slowest airspeed; slower, it accelerates only to climb,
    and stops otherwise. With a nearly empty battery it climbs less; with an empty one it glides. Broken, it falls.
    """
    rolls = (s.z <= surface(s.x, s.y, w).height) & (s.climb <= 0.0)
    sine_now, cosine_now = sincos(s.yaw)
    ahead = w.wind_x * cosine_now + w.wind_y * sine_now  # m/s of wind along the nose
    slow = rolls & (s.airspeed < p.speed_min)
    goal = select(slow & (u.climb <= 0.0), -ahead, clamp(u.speed, maximum(-ahead, 0.0), p.speed_max))
    airspeed_wanted = select(rolls, goal, limited_speed(u.speed, p))
    along_now = select(slow, s.vx * cosine_now + s.vy * sine_now - ahead, s.airspeed)
    along, along_mean = lag(along_now, airspeed_wanted, p.speed_time, dt)  # negative: slower than a tailwind
    airspeed, airspeed_mean = maximum(along, 0.0), maximum(along_mean, 0.0)
    stays = rolls & (airspeed < p.speed_min)
    spent = (1.0 - drive_strength(s.charge)) * (p.climb_max + airspeed_mean * (1.0 / p.glide_ratio))
    climb_wanted = select(stays, 0.0, minimum(u.climb, p.climb_max - spent))
    climb, climb_mean = lag(s.climb, limited_climb(climb_wanted, airspeed_mean, p), p.speed_time, dt)
    climb, climb_mean = select(rolls, maximum(climb, 0.0), climb), select(rolls, maximum(climb_mean, 0.0), climb_mean)
    climb_missing = limited_climb(climb_wanted, airspeed, p) - climb
    bank_wanted = select(stays, 0.0, clamp(u.bank, -p.bank_max, p.bank_max))
    bank, _ = lag(s.bank, bank_wanted, p.roll_time, dt)
    level = level_speed(airspeed, climb)
    level_mean = level_speed(airspeed_mean, climb_mean)
    turn_rate = coordinated_turn(level, bank, p, w)
    turn = 0.5 * dt * (coordinated_turn(level_speed(s.airspeed, s.climb), s.bank, p, w) + turn_rate)
    turn, turn_rate = select(stays, 0.0, turn), select(stays, 0.0, turn_rate)

    chord = level_mean * dt * (1.0 - turn * turn / 24.0)  # sin(a) / a of half the turn, to fourth order
    sine, cosine = sincos(s.yaw + 0.5 * turn)
    yaw = wrap_angle(s.yaw + turn)
    sine_after, cosine_after = sincos(yaw)
    blown = select(stays, 0.0, 1.0)  # on its wheels it does not drift
    over_ground, over_ground_mean = maximum(along + ahead, 0.0), maximum(along_mean + ahead, 0.0)
    z = s.z + (climb_mean + blown * w.wind_z) * dt
    vz = climb + blown * w.wind_z
    speeds = (
        select(stays, sqrt(s.vx * s.vx + s.vy * s.vy), s.airspeed),
        select(stays, over_ground_mean, airspeed_mean),
        select(stays, over_ground, airspeed),
    )
    battery = _discharged(s, p, w, stays, speeds, airspeed_mean, climb_mean, dt)
    x = s.x + select(stays, over_ground_mean * cosine_now * dt, chord * cosine + w.wind_x * dt)
    y = s.y + select(stays, over_ground_mean * sine_now * dt, chord * sine + w.wind_y * dt)
    vx = select(stays, over_ground * cosine_now, level * cosine_after + w.wind_x)
    vy = select(stays, over_ground * sine_now, level * sine_after + w.wind_y)
    ground = surface(x, y, w)
    follows = is_sloped(ground) & stays  # the wheels stay on the slope
    z = select(follows, ground.height, z)
    rise = select(is_sloped(ground), ground.slope_x * vx + ground.slope_y * vy, 0.0)
    vz = select(follows, rise, vz)
    flown = State(
        *(x, y, maximum(z, ground.height), vx, vy, select(z < ground.height, maximum(vz, rise), vz)),
        *(yaw, airspeed, bank, climb, turn_rate, (bank_wanted - bank) / p.roll_time),
        path_rate(airspeed, climb, airspeed_wanted - airspeed, climb_missing) / p.speed_time,
        *(battery.charge, battery.voltage, battery.current),
    )
    return _unless_broken(s, flown, w, dt)


def _unless_broken(s: State, flown: State, w: Environment, dt: float) -> State:
    """Return the state after a tick in the air or on wheels, or that of a broken aircraft, which falls."""
    broken, fall = s.charge < TORN, _fallen(s, w, dt)
    return State(
        x=select(broken, fall.x, flown.x),
        y=select(broken, fall.y, flown.y),
        z=select(broken, fall.z, flown.z),
        vx=select(broken, fall.vx, flown.vx),
        vy=select(broken, fall.vy, flown.vy),
        vz=select(broken, fall.vz, flown.vz),
        yaw=select(broken, fall.yaw, flown.yaw),
        airspeed=select(broken, fall.airspeed, flown.airspeed),
        bank=select(broken, fall.bank, flown.bank),
        climb=select(broken, fall.climb, flown.climb),
        turn_rate=select(broken, fall.turn_rate, flown.turn_rate),
        bank_rate=select(broken, fall.bank_rate, flown.bank_rate),
        pitch_rate=select(broken, fall.pitch_rate, flown.pitch_rate),
        charge=select(broken, fall.charge, flown.charge),
        voltage=select(broken, fall.voltage, flown.voltage),
        current=select(broken, fall.current, flown.current),
    )


def _fallen(s: State, w: Environment, dt: float) -> State:
    """Return the state of a wreck after dt: it falls with drag, and slides to a stop on the ground."""
    rx, ry, rz = s.vx - w.wind_x, s.vy - w.wind_y, s.vz - w.wind_z
    slow = 1.0 / (1.0 + dt * TUMBLING * sqrt(rx * rx + ry * ry + rz * rz))
    vx, vy, vz = w.wind_x + rx * slow, w.wind_y + ry * slow, w.wind_z + (rz - dt * w.gravity) * slow
    here = surface(s.x, s.y, w)
    lies = s.z <= here.height
    speed = sqrt(s.vx * s.vx + s.vy * s.vy)
    grip = maximum(1.0 - dt * SLIDING * w.gravity / maximum(speed, 1e-9), 0.0)
    vx, vy = select(lies, s.vx * grip, vx), select(lies, s.vy * grip, vy)
    x, y, z = s.x + dt * vx, s.y + dt * vy, s.z + dt * vz
    ground = surface(x, y, w).height
    lands = z <= ground
    vz = select(lands, select(lies, 0.0, vz), vz)  # at the touchdown it keeps its speed: the engine reports a crash
    return State(
        *(x, y, select(lands, ground, z), vx, vy, vz, s.yaw, sqrt(vx * vx + vy * vy + vz * vz), s.bank, vz),
        *(0.0, 0.0, 0.0, s.charge, 0.0, 0.0),
    )


def _discharged(
    s: State,
    p: Parameters,
    w: Environment,
    stays: bool,
    speeds: tuple[float, float, float],
    airspeed: float,
    climb: float,
    dt: float,
) -> BatteryState:
    """Return the battery after dt; the drive overcomes drag, climbs and accelerates.

    `speeds` before, during and after dt are those of the work: through the air, on the wheels over the ground. The
    polar has its best glide ratio at cruise speed; induced drag grows with the square of the load factor. Wheels carry
    the weight without it, but resist rolling.
    """
    before, mean, after = speeds
    ratio = airspeed * (1.0 / p.speed)
    induced = 1.0 / (maximum(ratio, p.speed_min / p.speed) * maximum(cos(s.bank), 0.1))
    best = 0.5 * w.gravity / p.glide_ratio
    drag = best * ratio * ratio + select(stays, ROLLING * w.gravity, best * induced * induced)
    gained = 0.5 * (after * after - before * before) * (1.0 / dt)
    mechanical = p.mass * (drag * mean + w.gravity * climb + gained)
    power = drive_power(mechanical * drive_strength(s.charge), p.efficiency, p.idle_power)
    return optional_discharged(s.charge, power, p.cells, p.cell_resistance, p.capacity, dt)


def lag(value: float, target: float, time: float, dt: float) -> tuple[float, float]:
    """Return the value after a first-order lag for `dt`, and its mean over `dt`; both exact."""
    left = exp(-dt / time)
    missing = value - target
    return target + missing * left, target + missing * (1.0 - left) * (time / dt)


def limited_speed(speed: float, p: Parameters) -> float:
    """Return an airspeed inside the envelope, m/s."""
    return maximum(minimum(speed, p.speed_max), p.speed_min)


def limited_climb(climb: float, airspeed: float, p: Parameters) -> float:
    """Return a rate of climb inside the envelope, m/s."""
    most = minimum(p.climb_max, SLOPE_MAX * airspeed)
    return clamp(climb, -most, most)


def level_speed(airspeed: float, climb: float) -> float:
    """Return the horizontal part of the airspeed, m/s."""
    return sqrt(maximum(airspeed * airspeed - climb * climb, 0.0))


def path_rate(airspeed: float, climb: float, airspeed_change: float, climb_change: float) -> float:
    """Return the change of the climb angle asin(climb / airspeed) for small changes of both; rad, upwards."""
    slope = climb / maximum(airspeed, 0.1)
    return (climb_change - slope * airspeed_change) / maximum(level_speed(airspeed, climb), 0.1)


def coordinated_turn(level: float, bank: float, p: Parameters, w: Environment) -> float:
    """Return the turn rate of a coordinated turn (rad/s, left positive), never tighter than `turn_radius`."""
    most = level / p.turn_radius
    return clamp(-w.gravity * tan(bank) / maximum(level, 0.1), -most, most)


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose: banked, the nose along the path through the air."""
    pitch = -asin(s.climb / maximum(s.airspeed, 0.1))  # in FLU a raised nose is a negative pitch
    qx, qy, qz, qw = euler_quaternion(s.bank, pitch, s.yaw)
    sine_bank, cosine_bank = sincos(s.bank)
    sine_pitch, cosine_pitch = sincos(pitch)
    turn = s.turn_rate * cosine_pitch
    wx = s.bank_rate - s.turn_rate * sine_pitch
    wy = turn * sine_bank - s.pitch_rate * cosine_bank
    wz = turn * cosine_bank + s.pitch_rate * sine_bank
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, s.vx, s.vy, s.vz, wx, wy, wz)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start with level wings at the given airspeed; speed 0 means cruise, and on the ground standing."""
    sine, cosine = sincos(at.yaw)
    height = surface(at.x, at.y, w).height
    stands = (at.z <= height) & (at.speed <= 0.0)
    ahead = w.wind_x * cosine + w.wind_y * sine
    flying = limited_speed(select(at.speed > 0.0, at.speed, p.speed), p)
    airspeed = select(stands, maximum(-ahead, 0.0), flying)
    none = 0.0 * at.x
    return State(
        x=at.x,
        y=at.y,
        z=maximum(at.z, height),
        vx=select(stands, none, airspeed * cosine + w.wind_x),
        vy=select(stands, none, airspeed * sine + w.wind_y),
        vz=select(stands, none, w.wind_z),
        yaw=at.yaw,
        airspeed=airspeed,
        bank=none,
        climb=none,
        turn_rate=none,
        bank_rate=none,
        pitch_rate=none,
        charge=1.0,
        voltage=select(p.capacity > 0.0, p.cells * FULL_CELL, 0.0),
        current=none,
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Bank towards the heading whose track over the ground has the wanted direction, and for the bend of the path.

    Circle if the wanted speed is near 0.
    """
    speed = sqrt(d.vx * d.vx + d.vy * d.vy)
    hold = speed < 0.1 * p.speed_min
    east, north = d.vx / maximum(speed, 1e-9), d.vy / maximum(speed, 1e-9)
    sine, cosine = sincos(s.yaw)
    level = level_speed(s.airspeed, s.climb)
    wind_x, wind_y = s.vx - level * cosine, s.vy - level * sine
    sine_drift = (wind_y * east - wind_x * north) / maximum(level, 0.1)  # of the crosswind, to the left of the track
    error = wrap_angle(course(d.vx, d.vy, s.yaw) - asin(sine_drift) - s.yaw)
    # in wind the turn rate of the heading differs from that of the track over the ground
    turn = d.turn * speed / maximum(level * sqrt(maximum(1.0 - sine_drift * sine_drift, 0.01)), 0.1)
    bank = -BANK_GAIN * error - atan(level * turn / GRAVITY)
    through_air = sqrt((d.vx - wind_x) * (d.vx - wind_x) + (d.vy - wind_y) * (d.vy - wind_y))
    return Command(
        speed=select(hold, p.speed, limited_speed(through_air, p)),
        bank=select(hold, minimum(LOITER_BANK, p.bank_max), clamp(bank, -p.bank_max, p.bank_max)),
        climb=select(s.airspeed < p.speed_min, maximum(d.vz, TAKE_OFF), limited_climb(d.vz, s.airspeed, p)),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy through the air and the potential energy above the ground for a unit mass, J/kg."""
    return 0.5 * s.airspeed * s.airspeed + w.gravity * (s.z - surface(s.x, s.y, w).height)


def solid(p: Parameters) -> Body:
    """Return a capsule along the wing, whose span follows from the mass as it does for small aircraft."""
    span = 1.3 * power(p.mass, 1.0 / 3.0)  # m: 1.5 m at 1.4 kg
    none = UNTURNABLE + 0.0 * span
    return Body(p.mass, none, none, none, 0.04 * span, 0.5 * span, 0.04 * span, 0.04 * span, CAPSULE)


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position and velocity; airspeed, heading and climb follow, and the autopilot keeps the wings stable.

    A hard touch breaks it.
    """
    sine, cosine = sincos(s.yaw)
    level = level_speed(s.airspeed, s.climb)
    vx, vy = level * cosine + b.dvx, level * sine + b.dvy
    climb = s.climb + b.dvz
    hard = b.dvx * b.dvx + b.dvy * b.dvy + b.dvz * b.dvz >= BREAKS * BREAKS
    charge = select(hard, -1.0, s.charge)
    return s._replace(
        x=s.x + b.dx, y=s.y + b.dy, z=s.z + b.dz, vx=s.vx + b.dvx, vy=s.vy + b.dvy, vz=s.vz + b.dvz,
        yaw=select(charge < TORN, s.yaw, course(vx, vy, s.yaw)),
        airspeed=sqrt(vx * vx + vy * vy + climb * climb), climb=climb, charge=charge,
    )  # fmt: skip


MODEL = VehicleModel(
    kind="aircraft",
    summary="Fixed wing: coordinated turns with limited bank, radius and climb",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,  # of the battery's current; 2 of the motion
    dt_max=0.05,
    crash_sink=2.5,
    telemetry=("airspeed", "bank", "climb", "charge", "voltage", "current"),
    battery="capacity",
    body=solid,
    bumped=bumped,
)
