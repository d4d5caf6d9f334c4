"""Differential-drive rover: two driven wheels with limited speed and acceleration, no slip.

The defaults are an indoor rover with a wheel base of 0.15 m.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, clamp, cos, exp, maximum, minimum, select, sin, sincos, sqrt, wrap_angle
from paddock.compute.quaternion import course, yaw_quaternion
from paddock.vehicles.model import BOX, UNTURNABLE, Body, Bump, Desire, Placement, VehicleModel
from paddock.vehicles.parts.battery import FULL_CELL, drive_power, drive_strength, optional_discharged
from paddock.world.columns import Column, Environment, Pose
from paddock.world.ground import is_sloped, slope_along, surface

STICTION = 0.002  # m/s and rad/s: below this a rover whose motors rest stops at once
TURN_GAIN = 3.0  # rad/s of turn rate per rad of heading error, when guided


class State(NamedTuple):
    """Pose on the ground, motion, and the surface speed of the two wheels."""

    x: Annotated[float, Column("m", "position east of the middle of the axle")]
    y: Annotated[float, Column("m", "position north of the middle of the axle")]
    z: Annotated[float, Column("m", "position up: the height of the ground")]
    yaw: Annotated[float, Column("rad", "heading")]
    speed: Annotated[float, Column("m/s", "speed along the heading, negative backwards")]
    turn_rate: Annotated[float, Column("rad/s", "turn rate, positive to the left")]
    wheel_left: Annotated[float, Column("m/s", "surface speed of the left wheel")]
    wheel_right: Annotated[float, Column("m/s", "surface speed of the right wheel")]
    charge: Annotated[float, Column("", "battery charge, 1 full, 0 empty")]
    voltage: Annotated[float, Column("V", "battery voltage under load")]
    current: Annotated[float, Column("A", "battery current")]


class Command(NamedTuple):
    """The wanted motion."""

    speed: Annotated[float, Column("m/s", "wanted speed, negative backwards", failsafe=0.0, brake=0.0)] = 0.0
    turn_rate: Annotated[float, Column("rad/s", "wanted turn rate, left positive", failsafe=0.0, brake=0.0)] = 0.0


class Parameters(NamedTuple):
    """Size, limits and drive; the battery moves the mass against the rolling resistance of both wheels."""

    wheel_base: Annotated[float, Column("m", "distance between the wheels", low=1e-3, high=100.0)] = 0.15
    speed_max: Annotated[float, Column("m/s", "top speed, of each wheel too", low=1e-3, high=1e3)] = 1.0
    turn_rate_max: Annotated[float, Column("rad/s", "largest turn rate", low=1e-3, high=1e3)] = 2.0
    acceleration_max: Annotated[float, Column("m/s2", "largest change of speed", low=1e-3, high=1e4)] = 1.0
    turn_acceleration_max: Annotated[float, Column("rad/s2", "largest change of turn rate", low=1e-3, high=1e4)] = 4.0
    mass: Annotated[float, Column("kg", "mass", low=1e-3, high=1e5)] = 1.0
    rolling_resistance: Annotated[float, Column("", "rolling resistance per load", low=0.0, high=1.0)] = 0.03
    efficiency: Annotated[float, Column("", "mechanical over electrical power", low=0.01, high=1.0)] = 0.5
    idle_power: Annotated[float, Column("W", "power of the electronics", low=0.0, high=1e5)] = 6.0
    motor_lag: Annotated[float, Column("s", "time constant of the motors", low=0.0, high=10.0)] = 0.0
    cells: Annotated[float, Column("", "battery cells in series", low=1.0, high=300.0)] = 3.0
    capacity: Annotated[float, Column("mAh", "battery capacity, 0: no battery", low=0.0, high=1e7)] = 1800.0
    cell_resistance: Annotated[float, Column("ohm", "internal resistance of one cell", low=0.0, high=1.0)] = 0.02


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Ramp to the wanted motion and follow an arc with the tick's mean speed and mean turn rate.

    A saturated wheel reduces the forward speed, never the turn rate. Turning faster then reduces the speed, so the turn
    rate changes no faster than `acceleration_max` allows for the speed. A battery that is nearly empty limits the speed
    of the wheels.
    """
    half_base = 0.5 * p.wheel_base
    strength = drive_strength(s.charge)
    turn_limit = minimum(p.turn_rate_max, p.speed_max / half_base * strength)
    turn_wanted = clamp(u.turn_rate, -turn_limit, turn_limit)
    turn_gain_max = minimum(p.turn_acceleration_max, p.acceleration_max / half_base)
    reach = 1.0 - exp(-dt / maximum(p.motor_lag, 1e-6))
    turn_aim = select(p.motor_lag > 0.0, lagged(s.turn_rate, turn_wanted, reach), turn_wanted)
    turn_rate, turn_mean = ramp(s.turn_rate, turn_aim, turn_gain_max * dt)

    room_wanted = p.speed_max * strength - half_base * absolute(turn_wanted)
    wanted = clamp(u.speed, -room_wanted, room_wanted)
    aim = select(p.motor_lag > 0.0, lagged(s.speed, wanted, reach), wanted)
    ramped, ramped_mean = ramp(s.speed, aim, p.acceleration_max * dt)
    room = maximum(p.speed_max - half_base * absolute(turn_rate), 0.0)
    speed = clamp(ramped, -room, room)
    speed_mean = select(absolute(ramped) <= room, ramped_mean, 0.5 * (s.speed + speed))

    half_turn = 0.5 * turn_mean * dt
    chord = speed_mean * dt * sine_ratio(half_turn)
    sine, cosine = sincos(s.yaw + half_turn)
    ground = surface(s.x, s.y, w)
    sloped, (ahead, _) = is_sloped(ground), slope_along(ground, sine, cosine)
    along = 1.0 / sqrt(1.0 + ahead * ahead)  # level metres per metre of the slope
    chord = select(sloped, chord * along, chord)
    left, right = speed - half_base * turn_rate, speed + half_base * turn_rate
    power = _power(s, p, w, left, right, select(sloped, ahead * along, 0.0), dt)
    battery = optional_discharged(s.charge, power, p.cells, p.cell_resistance, p.capacity, dt)
    x, y = s.x + chord * cosine, s.y + chord * sine
    return State(
        x=x,
        y=y,
        z=surface(x, y, w).height,
        yaw=wrap_angle(s.yaw + turn_mean * dt),
        speed=speed,
        turn_rate=turn_rate,
        wheel_left=left,
        wheel_right=right,
        charge=battery.charge,
        voltage=battery.voltage,
        current=battery.current,
    )


def _power(s: State, p: Parameters, w: Environment, left: float, right: float, rise: float, dt: float) -> float:
    """Return the electrical power, W, that brings the wheels to the speeds `left` and `right` (m/s) within dt.

    `rise` is the sine of the slope ahead.
    """
    gained = left * left + right * right - s.wheel_left * s.wheel_left - s.wheel_right * s.wheel_right
    rolling = p.rolling_resistance * w.gravity * 0.5 * (absolute(left) + absolute(right))
    level = 0.25 * gained * (1.0 / dt) + rolling
    climbing = w.gravity * rise * 0.5 * (left + right)
    return drive_power(p.mass * select(rise != 0.0, level + climbing, level), p.efficiency, p.idle_power)


def lagged(value: float, target: float, reach: float) -> float:
    """Return a value that has moved a share `reach` of the way to a target; 0 if it has nearly stopped."""
    stops = (target == 0.0) & (absolute(value) < STICTION)
    return select(stops, 0.0, value + reach * (target - value))


def ramp(value: float, target: float, most: float) -> tuple[float, float]:
    """Return the value moved towards a target by at most `most`, and its exact mean over the tick."""
    missing = target - value
    change = clamp(missing, -most, most)
    share = minimum(absolute(missing) / most, 1.0)
    return value + change, value + change * (1.0 - 0.5 * share)


def sine_ratio(x: float) -> float:
    """Return sin(x) / x, 1 at 0: the chord of an arc relative to its length."""
    small = absolute(x) < 1e-3
    return select(small, 1.0 - x * x / 6.0 * (1.0 - x * x / 20.0), sin(x) / select(small, 1.0, x))


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose, level on the ground, moving along its heading."""
    qx, qy, qz, qw = yaw_quaternion(s.yaw)
    sine, cosine = sincos(s.yaw)
    none = 0.0 * s.x
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, s.speed * cosine, s.speed * sine, none, none, none, s.turn_rate)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground, driving straight ahead, at most at top speed."""
    speed = clamp(at.speed, -p.speed_max, p.speed_max)
    full = select(p.capacity > 0.0, p.cells * FULL_CELL, 0.0)
    height = surface(at.x, at.y, w).height
    return State(at.x, at.y, height, at.yaw, speed, 0.0 * at.x, speed, speed, 1.0, full, 0.0 * at.x)


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Turn the nose (backwards: the tail) towards the wanted velocity, and with the bend of the path.

    The speed falls with the heading error; without a wanted velocity it stands still.
    """
    speed = sqrt(d.vx * d.vx + d.vy * d.vy)
    error = wrap_angle(course(d.gear * d.vx, d.gear * d.vy, s.yaw) - s.yaw)
    turn_rate = clamp(TURN_GAIN * error + d.turn, -p.turn_rate_max, p.turn_rate_max)
    return Command(speed=d.gear * (speed * maximum(cos(error), 0.0)), turn_rate=turn_rate)


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy for a unit mass on the wheels, J/kg."""
    return 0.25 * (s.wheel_left * s.wheel_left + s.wheel_right * s.wheel_right)


def solid(p: Parameters) -> Body:
    """Return a flat box over the wheels; its mass is evenly distributed."""
    length, width, height = 0.5 * p.wheel_base, 0.55 * p.wheel_base, 0.3 * p.wheel_base
    inertia = p.mass / 3.0 * (length * length + width * width)
    flat = UNTURNABLE + 0.0 * inertia
    return Body(p.mass, flat, flat, inertia, length, width, height, height, BOX, planar=1.0)


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change speed and turn rate; wheels without slip take up the impulse across them."""
    sine, cosine = sincos(s.yaw)
    speed, turn_rate = s.speed + b.dvx * cosine + b.dvy * sine, s.turn_rate + b.dwz
    half_base = 0.5 * p.wheel_base
    left, right = speed - half_base * turn_rate, speed + half_base * turn_rate
    return State(s.x + b.dx, s.y + b.dy, s.z, s.yaw, speed, turn_rate, left, right, s.charge, s.voltage, s.current)


MODEL = VehicleModel(
    kind="rover",
    summary="Differential drive: two wheels with limited speed and acceleration",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,  # of the battery's current; 2 of the motion while it accelerates in a turn, else the motion is exact
    dt_max=0.1,
    rides=True,
    telemetry=("wheel_left", "wheel_right", "charge", "voltage", "current"),
    battery="capacity",
    body=solid,
    bumped=bumped,
)
