"""A motor boat with a propeller, a rudder and drag; a keel prevents sideways motion."""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, clamp, sincos, sqrt, wrap_angle
from paddock.compute.quaternion import course, yaw_quaternion
from paddock.vehicles.model import Desire, Placement, VehicleModel
from paddock.world.columns import Column, Environment, Pose


class State(NamedTuple):
    """The state of the boat."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "height of the water")]
    yaw: Annotated[float, Column("rad", "heading")]
    speed: Annotated[float, Column("m/s", "speed through the water")]


class Command(NamedTuple):
    """The inputs of the boat."""

    thrust: Annotated[float, Column("", "propeller, - astern", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0
    rudder: Annotated[float, Column("", "rudder, + to the left", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0


class Parameters(NamedTuple):
    """The parameters of the boat."""

    mass: Annotated[float, Column("kg", "mass", 1.0, 1e6)] = 500.0
    thrust_max: Annotated[float, Column("N", "full thrust", 1.0, 1e6)] = 1000.0
    drag: Annotated[float, Column("N s2/m2", "drag force over speed squared", 0.1, 1e5)] = 40.0
    agility: Annotated[float, Column("rad/m", "turn per metre travelled at full rudder", 0.01, 1.0)] = 0.15


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Return the state after dt seconds; no `if`, no loop, no libm, so that it compiles for whole fleets."""
    force = u.thrust * p.thrust_max - p.drag * s.speed * absolute(s.speed)
    sine, cosine = sincos(s.yaw)
    return State(
        x=s.x + s.speed * cosine * dt,
        y=s.y + s.speed * sine * dt,
        z=w.ground_z,
        yaw=wrap_angle(s.yaw + u.rudder * p.agility * s.speed * dt),
        speed=s.speed + force / p.mass * dt,
    )


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose: position, attitude, velocity (world), angular velocity (body)."""
    sine, cosine = sincos(s.yaw)
    return Pose(s.x, s.y, s.z, *yaw_quaternion(s.yaw), s.speed * cosine, s.speed * sine, 0.0, 0.0, 0.0, 0.0)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Return the initial state at a placement, afloat."""
    return State(at.x, at.y, w.ground_z, at.yaw, at.speed)


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Return the commands for a wanted velocity; every behaviour uses this."""
    wanted = sqrt(d.vx * d.vx + d.vy * d.vy)
    error = wrap_angle(course(d.vx, d.vy, s.yaw) - s.yaw)
    cruise = p.drag * wanted * wanted / p.thrust_max
    return Command(clamp(cruise + 0.5 * (wanted - s.speed), -1.0, 1.0), clamp(2.0 * error, -1.0, 1.0))


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy, J."""
    return 0.5 * p.mass * s.speed * s.speed


MODEL = VehicleModel(
    kind="agent",  # the shape a viewer draws
    summary="Motor boat with a propeller and a rudder",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=0.05,
    telemetry=("speed",),
)
