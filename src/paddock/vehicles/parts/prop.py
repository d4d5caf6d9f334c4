"""Props, which are not driven: cones and crates that vehicles knock over, throw and push.

A rigid body in free fall with air drag; the contact stage holds it above the ground and lets others touch it. At rest
it falls asleep: it then costs nothing, and moves again when something hits it.
"""

from collections.abc import Callable
from typing import Annotated, NamedTuple

from paddock.compute.math import maximum, select, sqrt
from paddock.compute.quaternion import rotate, turned, yaw_quaternion
from paddock.vehicles.model import Body, Bump, Desire, Placement, VehicleModel
from paddock.vehicles.parts.rigid_body import RigidBodyColumns, rigid_bumped, rigid_pose
from paddock.world.columns import Column, Environment, column_tuple
from paddock.world.ground import surface

QUIET_SPEED, QUIET_RATE = 0.03, 0.1  # m/s, rad/s: slower counts as rest
SLEEP_AFTER = 0.5  # s of rest
TUMBLING = 1.5  # 1/s: rate at which air and the give of its material slow a rotation
FOLLOWING = 2.0  # 1/s: force over mass per missing speed, when guided


@column_tuple
class State(RigidBodyColumns):
    """Centre of mass and attitude of a rigid body."""

    rest: Annotated[float, Column("s", "time at rest; asleep after 0.5 s")]


class Command(NamedTuple):
    """A force from outside, such as a pull or a gust."""

    force_x: Annotated[float, Column("N", "force east on the centre of mass", failsafe=0.0, brake=0.0)] = 0.0
    force_y: Annotated[float, Column("N", "force north", failsafe=0.0, brake=0.0)] = 0.0
    force_z: Annotated[float, Column("N", "force up", failsafe=0.0, brake=0.0)] = 0.0


class Parameters(NamedTuple):
    """Size and mass; the defaults are a road cone of 0.75 m."""

    mass: Annotated[float, Column("kg", "mass", low=1e-3, high=1e6)] = 3.5
    length: Annotated[float, Column("m", "size forward", low=0.01, high=100.0)] = 0.36
    width: Annotated[float, Column("m", "size to the left", low=0.01, high=100.0)] = 0.36
    height: Annotated[float, Column("m", "size up", low=0.01, high=100.0)] = 0.75
    balance: Annotated[float, Column("", "height of the centre of mass over the base, share", low=0.05, high=0.95)] = (
        0.25
    )
    drag: Annotated[float, Column("N s2/m2", "drag force over speed squared", low=0.0, high=100.0)] = 0.08


class Inertia(NamedTuple):
    """Moments of inertia about the body axes, kg m2."""

    x: float
    y: float
    z: float


def inertia(p: Parameters) -> Inertia:
    """Return the moments of a box of even density; the base of a cone makes up for its pointed top."""
    share = p.mass * (1.0 / 12.0)
    return Inertia(
        share * (p.width * p.width + p.height * p.height),
        share * (p.length * p.length + p.height * p.height),
        share * (p.length * p.length + p.width * p.width),
    )


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Fall and turn freely; sleep after half a second of rest, until a force or a touch."""
    i = inertia(p)
    pulled = (u.force_x != 0.0) | (u.force_y != 0.0) | (u.force_z != 0.0)
    quiet = (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz < QUIET_SPEED * QUIET_SPEED) & (
        s.wx * s.wx + s.wy * s.wy + s.wz * s.wz < QUIET_RATE * QUIET_RATE
    )
    rest = select(quiet, select(pulled, 0.0, s.rest + dt), 0.0)
    asleep = rest >= SLEEP_AFTER
    per = dt / p.mass
    rx, ry, rz = s.vx - w.wind_x, s.vy - w.wind_y, s.vz - w.wind_z
    slow = 1.0 / (1.0 + per * p.drag * sqrt(rx * rx + ry * ry + rz * rz))  # never reverses the motion
    vx = w.wind_x + (rx + per * u.force_x) * slow
    vy = w.wind_y + (ry + per * u.force_y) * slow
    vz = w.wind_z + (rz + per * u.force_z - dt * w.gravity) * slow
    # each rate uses those already advanced: with the old ones a tumbling body would gain energy
    keep = 1.0 / (1.0 + TUMBLING * dt)
    wx = keep * (s.wx + dt / i.x * (i.y - i.z) * s.wy * s.wz)
    wy = keep * (s.wy + dt / i.y * (i.z - i.x) * s.wz * wx)
    wz = keep * (s.wz + dt / i.z * (i.x - i.y) * wx * wy)
    qx, qy, qz, qw = turned(s.qx, s.qy, s.qz, s.qw, wx, wy, wz, dt)
    return State(
        select(asleep, s.x, s.x + dt * vx),
        select(asleep, s.y, s.y + dt * vy),
        select(asleep, s.z, s.z + dt * vz),
        select(asleep, 0.0, vx),
        select(asleep, 0.0, vy),
        select(asleep, 0.0, vz),
        select(asleep, s.qx, qx),
        select(asleep, s.qy, qy),
        select(asleep, s.qz, qz),
        select(asleep, s.qw, qw),
        select(asleep, 0.0, wx),
        select(asleep, 0.0, wy),
        select(asleep, 0.0, wz),
        rest,
    )


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Stand on the ground, or with the centre of mass at a greater height."""
    qx, qy, qz, qw = yaw_quaternion(at.yaw)
    zero = 0.0 * at.x
    vx, vy, vz = rotate(qx, qy, qz, qw, at.speed, zero, zero)
    z = maximum(at.z, surface(at.x, at.y, w).height + p.balance * p.height)
    return State(at.x, at.y, z, vx, vy, vz, qx, qy, qz, qw, zero, zero, zero, zero)


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Pull it towards the wanted velocity, and hold it up."""
    gain = FOLLOWING * p.mass
    return Command(gain * (d.vx - s.vx), gain * (d.vy - s.vy), gain * (d.vz - s.vz) + p.mass * 9.80665)


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic (linear and rotational) and potential energy, J."""
    i = inertia(p)
    linear = p.mass * (0.5 * (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz) + w.gravity * (s.z - w.ground_z))
    return linear + 0.5 * (i.x * s.wx * s.wx + i.y * s.wy * s.wy + i.z * s.wz * s.wz)


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position, velocity and rates; a touch wakes it, and what it leans on keeps it awake while that moves."""
    after: State = rigid_bumped(s, p, b)
    return after._replace(rest=select((s.rest >= SLEEP_AFTER) | (b.restless > 0.5), 0.0, s.rest))


def solid(p: Parameters, shape: float) -> Body:
    """Return the body of a prop of a shape; the ground holds it."""
    i = inertia(p)
    half_height, ahead = 0.5 * p.height, 0.0 * p.height
    centre = (0.5 - p.balance) * p.height
    return Body(*(p.mass, i.x, i.y, i.z, 0.5 * p.length, 0.5 * p.width, half_height, centre, shape, ahead), falls=1.0)


def prop_model(kind: str, summary: str, body: Callable[..., Body]) -> VehicleModel:
    """Return the model of a prop with a body."""
    return VehicleModel(
        kind=kind,
        summary=summary,
        state=State,
        command=Command,
        parameters=Parameters,
        step=step,
        pose=rigid_pose,
        place=place,
        guide=guide,
        energy=energy,
        order=1,
        dt_max=0.05,
        body=body,
        bumped=bumped,
    )
