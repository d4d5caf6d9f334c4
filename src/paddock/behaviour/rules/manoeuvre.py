"""Manoeuvre: hold a speed straight ahead, then give a step, ramp or sine of the steering, or press a pedal."""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import Floats, Rule, Urge
from paddock.compute.math import PI, clamp, select, sin
from paddock.compute.quaternion import axes
from paddock.vehicles.model import Desire
from paddock.vehicles.parts.car import Command
from paddock.world.columns import Column, Pose

SHAPES = ("step", "ramp", "sine", "sine_with_dwell")
STEP, RAMP, SINE, DWELL = range(4)


class Options(NamedTuple):
    """What to steer and when; which pedals."""

    speed: Annotated[float, Column("m/s", "speed to hold", 0.0, 1e3)] = 20.0
    shape: Annotated[float, Column("", "steering over time", 0.0, 3.0, choices=SHAPES)] = 0.0
    steer: Annotated[float, Column("rad", "road-wheel angle of the step or the sine", -1.5, 1.5)] = 0.0
    start: Annotated[float, Column("s", "when the manoeuvre begins", 0.0, 1e6)] = 1.0
    rise: Annotated[float, Column("s", "duration of the step; a ramp takes this long to `steer`", 0.001, 1e5)] = 0.1
    frequency: Annotated[float, Column("Hz", "of a sine", 0.01, 100.0)] = 0.7
    cycles: Annotated[float, Column("", "periods of a sine", 0.0, 1e5)] = 1.0
    dwell: Annotated[float, Column("s", "hold at the second peak of sine_with_dwell", 0.0, 100.0)] = 0.5
    throttle: Annotated[
        float, Column("", "pedal from the start of the manoeuvre; -1: hold the speed", -1.0, 1.0)
    ] = -1.0
    brake: Annotated[float, Column("", "pedal from the start of the manoeuvre", 0.0, 1.0)] = 0.0
    gear: Annotated[float, Column("", "from the start of the manoeuvre: 1 forward, 0 neutral", 0.0, 1.0)] = 1.0


class Memory(NamedTuple):
    """The clock."""

    time: Annotated[float, Column("s", "since the first decision")] = 0.0


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Go on in the direction of the heading at the speed."""
    (ahead_x, ahead_y, _), _, _ = axes(me.qx, me.qy, me.qz, me.qw)
    return Desire(o.speed * ahead_x, o.speed * ahead_y, 0.0 * o.speed, 10.0), Memory(m.time + dt)


def sine_with_dwell(t: float, frequency: float, dwell: float) -> float:
    """Return a sine of one period that holds its second peak (at 3/4 of the period) for `dwell` seconds."""
    peak = 0.75 / frequency
    running = select(t < peak, t, select(t < peak + dwell, peak, t - dwell))
    return select(running < 1.0 / frequency, sin(2.0 * PI * frequency * running), 0.0)


def steering(t: float, o: Options) -> float:
    """Return the road-wheel angle (rad) at a time (s) of the manoeuvre."""
    since = select(t > 0.0, t, 0.0)
    step = clamp(since / o.rise, 0.0, 1.0)
    sine = select(since * o.frequency < o.cycles, sin(2.0 * PI * o.frequency * since), 0.0)
    dwell = sine_with_dwell(since, o.frequency, o.dwell)
    shape = select(o.shape < STEP + 0.5, step, select(o.shape < RAMP + 0.5, since / o.rise, sine))
    angle = o.steer * select(o.shape > SINE + 0.5, dwell, shape)
    return clamp(angle, -1.5, 1.5)


def inputs(guided: Command, me: Pose, m: Memory, o: Options, path: Floats, dt: float) -> tuple[Command, Memory]:
    """Steer by the clock; the pedals hold the speed, or are pressed from the start of the manoeuvre."""
    t = m.time - o.start
    begun, pressed = t >= 0.0, o.throttle >= 0.0
    own = begun & (pressed | (o.brake > 0.0) | (o.gear < 0.5))
    pedal = select(pressed, o.throttle, 0.0)
    return (
        Command(
            steer=steering(t, o),
            throttle=select(own, pedal, guided.throttle),
            brake=select(own, o.brake, guided.brake),
            gear=select(begun & (o.gear < 0.5), 0.0, 1.0),
            handbrake=0.0 * t,
        ),
        m,
    )


RULE = Rule(
    "Drive a manoeuvre: a step, ramp or sine of the steering at a speed, or pedals",
    Options,
    desire,
    Memory,
    inputs=inputs,
    command=Command,
)
