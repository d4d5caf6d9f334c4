"""Parts of the tasks for quadrotors: actions as commands, attitude and motion as observations, draws."""

from functools import partial
from typing import Annotated, Any, NamedTuple

from paddock.compute.math import maximum, select, sqrt
from paddock.compute.philox import uniforms
from paddock.compute.quaternion import axes, unrotate
from paddock.envs.task import LearningTask
from paddock.vehicles.parts.quad import ACRO, MOTORS, VELOCITY, Command
from paddock.world.columns import Column, ColumnGroup, Environment, Pose, column_index, column_tuple

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


@column_tuple
class FlightOptions(ColumnGroup):
    """What actions mean."""

    action: Annotated[float, Column("", "what actions mean", choices=ACTIONS)] = 0.0
    sticks: Annotated[float, Column("", "rates: deflection of the sticks at an action of 1", 0.0, 1.0)] = 0.4
    hover: Annotated[float, Column("", "share of full thrust that carries it: set from the vehicle", 0.0, 1.0)] = 0.2


@column_tuple
class FlightAttitude(ColumnGroup):
    """Attitude and rates in body axes."""

    up_x: Annotated[float, Column("", "the world's up direction", -1.1, 1.1)]
    up_y: Annotated[float, Column("", "its part to the left", -1.1, 1.1)]
    up_z: Annotated[float, Column("", "its part up", -1.1, 1.1)]
    wx: Annotated[float, Column("rad/s", "roll rate", -40.0, 40.0)]
    wy: Annotated[float, Column("rad/s", "pitch rate", -40.0, 40.0)]
    wz: Annotated[float, Column("rad/s", "yaw rate", -40.0, 40.0)]


def thrust_share(action: float, hover: float) -> float:
    """Return the share of full thrust: none at -1, what carries the weight at 0, full at 1.

    Equally steep on both sides of 0, so that small random actions carry the weight on average.
    """
    rest = select(action > 0.0, (1.0 - 2.0 * hover) * action * action * action, 0.0)
    return hover * (1.0 + action) + rest


def fly(a: FlightAction, at: Pose, m: Any, o: Any) -> Command:
    """Return the command of an action; the options have those of FlightOptions."""
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


def body_motion(at: Pose) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Return velocity (m/s), the world's up direction and rates (rad/s), each in body axes."""
    vx, vy, vz = unrotate(at.qx, at.qy, at.qz, at.qw, at.vx, at.vy, at.vz)
    up_x, up_y, up_z = unrotate(at.qx, at.qy, at.qz, at.qw, 0.0, 0.0, 1.0)
    return vx, vy, vz, up_x, up_y, up_z, at.wx, at.wy, at.wz


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
"""Return a task for a racing quadrotor, by default with the actions of this module."""
