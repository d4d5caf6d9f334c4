"""Human: pure pursuit with the reaction time and the inaccuracy of a person."""

from typing import Annotated

from paddock.behaviour.rule import Floats, Rule, Urge
from paddock.behaviour.rules.pure_pursuit import Memory as Progress
from paddock.behaviour.rules.pure_pursuit import Options as LineOptions
from paddock.behaviour.rules.pure_pursuit import desire as pursue_line
from paddock.behaviour.rules.pure_pursuit import prepare_path, route
from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.compute.philox import normals
from paddock.vehicles.model import Desire
from paddock.vehicles.parts.car import Command
from paddock.world.columns import Column, Pose, column_tuple

SAMPLES = 8  # of the delay
TREMBLE = 0.4  # s: how long an error of the hands or feet lasts
NOISE = 31  # purpose of the draws


@column_tuple
class Options(LineOptions):
    """Line and speeds as in pure_pursuit; reaction and errors."""

    lookahead = 6.0
    lookahead_time = 1.0
    lateral = 4.0
    accelerate = 2.0
    brake = 3.0
    reaction: Annotated[float, Column("s", "from what it sees to hands and feet", 0.0, 3.0)] = 0.25
    steer_noise: Annotated[float, Column("rad", "standard deviation of the road-wheel angle", 0.0, 0.5)] = 0.004
    pedal_noise: Annotated[float, Column("", "standard deviation of the pedals", 0.0, 0.5)] = 0.02


@column_tuple
class Memory(Progress):
    """Progress, the inputs of the last `reaction` seconds (youngest first), and the present errors."""

    stream: Annotated[float, Column("", "random number of the vehicle; 0: not drawn yet")] = 0.0
    decisions: Annotated[float, Column("", "number of decisions")] = 0.0
    clock: Annotated[float, Column("s", "age of the youngest inputs")] = 0.0
    steer_error: Annotated[float, Column("rad", "error of the steering")] = 0.0
    pedal_error: Annotated[float, Column("", "error of the pedals")] = 0.0
    steer_1: Annotated[float, Column("rad", "steering")] = 0.0
    steer_2: Annotated[float, Column("rad", "steering")] = 0.0
    steer_3: Annotated[float, Column("rad", "steering")] = 0.0
    steer_4: Annotated[float, Column("rad", "steering")] = 0.0
    steer_5: Annotated[float, Column("rad", "steering")] = 0.0
    steer_6: Annotated[float, Column("rad", "steering")] = 0.0
    steer_7: Annotated[float, Column("rad", "steering")] = 0.0
    steer_8: Annotated[float, Column("rad", "steering")] = 0.0
    pedal_1: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_2: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_3: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_4: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_5: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_6: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_7: Annotated[float, Column("", "throttle minus brake")] = 0.0
    pedal_8: Annotated[float, Column("", "throttle minus brake")] = 0.0


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Follow the line, and draw the errors of hands and feet."""
    desire, progress = pursue_line(me, Progress(m.segment, m.laps), o, urge, target, path, dt)
    steer, pedal = normals(int(clamp(m.stream, 0.0, 1e15)), 0, NOISE, int(clamp(m.decisions, 0.0, 1e12)))
    keep = clamp(1.0 - dt / TREMBLE, 0.0, 1.0)
    fresh = sqrt(1.0 - keep * keep)
    return desire, Memory(
        *(progress.segment, progress.laps, m.stream, m.decisions + 1.0, m.clock),
        keep * m.steer_error + fresh * o.steer_noise * steer,
        keep * m.pedal_error + fresh * o.pedal_noise * pedal,
        *(m.steer_1, m.steer_2, m.steer_3, m.steer_4, m.steer_5, m.steer_6, m.steer_7, m.steer_8),
        *(m.pedal_1, m.pedal_2, m.pedal_3, m.pedal_4, m.pedal_5, m.pedal_6, m.pedal_7, m.pedal_8),
    )


def inputs(guided: Command, me: Pose, m: Memory, o: Options, path: Floats, dt: float) -> tuple[Command, Memory]:
    """Give the inputs of `reaction` seconds ago, with errors; the delay line moves every eighth of the reaction."""
    steer, pedal = guided.steer, guided.throttle - guided.brake
    moves = m.clock + dt >= o.reaction * (1.0 / SAMPLES) - 1e-9
    none = o.reaction < maximum(dt, 1e-6)
    after = Memory(
        *(m.segment, m.laps, m.stream, m.decisions, select(moves, 0.0, m.clock + dt), m.steer_error, m.pedal_error),
        select(moves, steer, m.steer_1),
        select(moves, m.steer_1, m.steer_2),
        select(moves, m.steer_2, m.steer_3),
        select(moves, m.steer_3, m.steer_4),
        select(moves, m.steer_4, m.steer_5),
        select(moves, m.steer_5, m.steer_6),
        select(moves, m.steer_6, m.steer_7),
        select(moves, m.steer_7, m.steer_8),
        select(moves, pedal, m.pedal_1),
        select(moves, m.pedal_1, m.pedal_2),
        select(moves, m.pedal_2, m.pedal_3),
        select(moves, m.pedal_3, m.pedal_4),
        select(moves, m.pedal_4, m.pedal_5),
        select(moves, m.pedal_5, m.pedal_6),
        select(moves, m.pedal_6, m.pedal_7),
        select(moves, m.pedal_7, m.pedal_8),
    )
    late = select(none, pedal, after.pedal_8)
    # the error of the foot needs a pressed pedal: a standing car stays
    foot = late + select((late > 0.01) | (late < -0.01), m.pedal_error, 0.0)
    wheel = select(none, steer, after.steer_8) + m.steer_error
    return Command(wheel, clamp(foot, 0.0, 1.0), clamp(-foot, 0.0, 1.0), guided.gear, guided.handbrake), after


RULE = Rule(
    "Drive along a path like a person: with a reaction time, and errors of hands and feet",
    Options,
    desire,
    Memory,
    needs_path=True,
    prepare_path=prepare_path,
    route=route,
    inputs=inputs,
    command=Command,
)
