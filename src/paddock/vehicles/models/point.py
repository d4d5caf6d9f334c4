"""Point vehicle: a mass with limited acceleration and speed, for the largest swarms."""

from typing import Annotated, NamedTuple

from paddock.compute.math import maximum, minimum, sincos
from paddock.compute.quaternion import course, length, yaw_quaternion
from paddock.vehicles.model import SPHERE, UNTURNABLE, Body, Bump, Desire, Placement, VehicleModel
from paddock.vehicles.parts.rigid_body import MotionColumns
from paddock.world.columns import Column, Environment, Pose, column_tuple
from paddock.world.ground import surface


@column_tuple
class State(MotionColumns):
    """Position, velocity and heading in the world."""

    yaw: Annotated[float, Column("rad", "heading")]


class Command(NamedTuple):
    """The wanted velocity."""

    vx: Annotated[float, Column("m/s", "wanted velocity east", failsafe=0.0, brake=0.0)] = 0.0
    vy: Annotated[float, Column("m/s", "wanted velocity north", failsafe=0.0, brake=0.0)] = 0.0
    vz: Annotated[float, Column("m/s", "wanted velocity up", failsafe=0.0, brake=0.0)] = 0.0


class Parameters(NamedTuple):
    """Limits."""

    speed_max: Annotated[float, Column("m/s", "top speed", low=1e-3, high=1e4)] = 10.0
    acceleration_max: Annotated[float, Column("m/s2", "largest acceleration", low=1e-3, high=1e4)] = 5.0


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Approach the wanted velocity with at most `acceleration_max`; the position follows by the trapezoidal rule."""
    speed = length(u.vx, u.vy, u.vz)
    scale = minimum(1.0, p.speed_max / maximum(speed, 1e-9))
    dx, dy, dz = u.vx * scale - s.vx, u.vy * scale - s.vy, u.vz * scale - s.vz
    share = minimum(1.0, p.acceleration_max * dt / maximum(length(dx, dy, dz), 1e-9))
    vx, vy, vz = s.vx + share * dx, s.vy + share * dy, s.vz + share * dz
    x, y = s.x + 0.5 * dt * (s.vx + vx), s.y + 0.5 * dt * (s.vy + vy)
    return State(
        x=x,
        y=y,
        z=maximum(s.z + 0.5 * dt * (s.vz + vz), surface(x, y, w).height),
        vx=vx,
        vy=vy,
        vz=vz,
        yaw=course(vx, vy, s.yaw),
    )


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose, level, pointing along the motion."""
    qx, qy, qz, qw = yaw_quaternion(s.yaw)
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, s.vx, s.vy, s.vz, 0.0 * s.x, 0.0 * s.x, 0.0 * s.x)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start at the placement, moving along its heading."""
    sine, cosine = sincos(at.yaw)
    return State(at.x, at.y, at.z, at.speed * cosine, at.speed * sine, 0.0 * at.x, at.yaw)


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Command the wanted velocity."""
    return Command(d.vx, d.vy, d.vz)


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy of a unit mass, J/kg."""
    return 0.5 * (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz)


RADIUS, MASS = 0.15, 1.0  # m, kg: of a point in contact with others


def solid(p: Parameters) -> Body:
    """Return a small sphere."""
    return Body(MASS, UNTURNABLE, UNTURNABLE, UNTURNABLE, RADIUS, RADIUS, RADIUS, 0.0, SPHERE)


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position and velocity."""
    return State(s.x + b.dx, s.y + b.dy, s.z + b.dz, s.vx + b.dvx, s.vy + b.dvy, s.vz + b.dvz, s.yaw)


MODEL = VehicleModel(
    kind="agent",
    summary="Point mass with limited acceleration and speed",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=0.1,
    body=solid,
    bumped=bumped,
)
