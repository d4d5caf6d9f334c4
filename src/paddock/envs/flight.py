"""Parts of the tasks for quadrotors: actions as commands, attitude and motion as observations, draws."""

from functools import partial
from typing import Annotated, Any, NamedTuple

from paddock.compute.math import maximum, select, sqrt
from paddock.compute.philox import uniforms
from paddock.compute.quaternion import axes, unrotate
from paddock.envs.task import LearningTask
from paddock.vehicles.parts.quad import ACRO, MOTORS, VELOCITY, Command
from paddock.world.columns import Column, Environment, Pose, column_index

ACTIONS = ("rates", "motors", "velocity")
"""What four actions mean: body rates and thrust, the thrust of each motor, or a velocity (the fourth turns)."""
RATES, MOTOR, VELOCITIES = 0.0, 1.0, 2.0
SPEED = 5.0  # m/s: velocity of an action of 1


class FlightAction(NamedTuple):
    """Four numbers: see the option `action`."""

    roll: Annotated[float, Column("", "rates: roll, + right; motors: front right; velocity: forward", -1.0, 1.0)]
    pitch: Annotated[float, Column("", "rates: pitch, + forward; motors: rear left; velocity: left", -1.0, 1.0)]
    yaw: Annotated[float, Column("", "rates: yaw, + left; motors: front left; velocity: turn", -1.0, 1.0)]
    thrust: Annotated[float, Column("", "0 hovers, 1 is full; motors: rear right; velocity: up", -1.0, 1.0)]


class FlightMotion(NamedTuple):
    """Velocity and the world's up direction in body axes."""

    vx: float
    vy: float
    vz: float
    up_x: float
    up_y: float
    up_z: float


def thrust_share(action: float, hover: float) -> float:
    """Return the share of full thrust: none at -1, what carries the weight at 0, full at 1.

    Equally steep on both sides of 0, so that small random actions carry the weight on average.
    """
    rest = select(action > 0.0, (1.0 - 2.0 * hover) * action * action * action, 0.0)
    return hover * (1.0 + action) + rest


def fly(a: FlightAction, at: Pose, m: Any, o: Any) -> Command:
    """Return the command of an action.

    Of the options, `action` is its index in ACTIONS, `sticks` the deflection of the sticks at an action of 1, `hover`
    the share of full thrust that carries the weight.
    """
    form, sticks, hover = o.action, o.sticks, o.hover
    # level axes of the heading, for velocities
    (fx, fy, _), _, _ = axes(at.qx, at.qy, at.qz, at.qw)
    size = 1.0 / sqrt(maximum(fx * fx + fy * fy, 1e-9))
    cosine, sine = fx * size, fy * size
    return Command(
        armed=1.0,
        mode=select(form == RATES, ACRO, select(form == MOTOR, MOTORS, VELOCITY)),
        roll=sticks * a.roll,
        pitch=sticks * a.pitch,
        yaw=sticks * a.yaw,
        throttle=thrust_share(a.thrust, hover),
        x=0.0,
        y=0.0,
        z=0.0,
        heading=0.0,
        vx=SPEED * (a.roll * cosine - a.pitch * sine),
        vy=SPEED * (a.roll * sine + a.pitch * cosine),
        vz=SPEED * a.thrust,
        motor_1=thrust_share(a.roll, hover),
        motor_2=thrust_share(a.pitch, hover),
        motor_3=thrust_share(a.yaw, hover),
        motor_4=thrust_share(a.thrust, hover),
    )


def body_motion(at: Pose) -> FlightMotion:
    """Return velocity and up direction in body axes."""
    vx, vy, vz = unrotate(at.qx, at.qy, at.qz, at.qw, at.vx, at.vy, at.vz)
    return FlightMotion(vx, vy, vz, *unrotate(at.qx, at.qy, at.qz, at.qw, 0.0, 0.0, 1.0))


def spread_draws(seed: int, agent: int, purpose: int, episode: int) -> tuple[float, float]:
    """Return two independent numbers between -1 and 1."""
    u, v = uniforms(seed, agent, purpose, episode)
    return 2.0 * u - 1.0, 2.0 * v - 1.0


def hover_share(batch: Any) -> float:
    """Return the share of full thrust that carries the quadrotor of a batch, without the spread of its parameters."""
    index, values = column_index(batch.model.parameters), batch.program.parameters.values
    gravity = batch.world.environment[column_index(Environment)["gravity"]]
    return float(values[index["mass"]] * gravity / (4.0 * values[index["thrust_max"]]))


flight_task = partial(LearningTask, model="quad", preset="race", action=FlightAction, act=fly)
"""Return a task for a racing quadrotor; its options have `action`, `sticks` and `hover`."""
