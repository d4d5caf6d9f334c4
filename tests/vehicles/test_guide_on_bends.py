"""Guidance on paths: turn rate (feed-forward) and gear, for each model."""

from __future__ import annotations

from math import atan, atan2, cos, hypot, pi, sin
from typing import Any, NamedTuple

import numpy as np
import pytest

from paddock.compute.twin import compiled
from paddock.vehicles.model import Desire, Placement
from paddock.vehicles.models import fixed_wing, quad, rover
from paddock.vehicles.models.car import kinematic
from paddock.vehicles.parts.car import Command as CarCommand
from paddock.vehicles.parts.car import Parameters as CarParameters
from paddock.vehicles.parts.car import guide
from paddock.vehicles.parts.quad import Command as QuadCommand
from paddock.vehicles.parts.quad import Parameters as QuadParameters
from paddock.world.columns import Environment

W = Environment()


def test_an_aircraft_banks_for_the_bend() -> None:
    """On course, the bank is that of a coordinated turn: tan(bank) = v omega / g, right wing down for a right turn."""
    p = fixed_wing.Parameters()
    state = fixed_wing.place(Placement(0.0, 0.0, 100.0, 0.0, 17.5), p, W)
    command = fixed_wing.guide(state, fixed_wing.Command(), p, Desire(17.5, 0.0, 0.0, 50.0, 17.5 / 100.0))
    assert command.bank == pytest.approx(-atan(17.5**2 / (9.80665 * 100.0)))
    assert fixed_wing.guide(state, fixed_wing.Command(), p, Desire(17.5, 0.0, 0.0, 50.0, -0.1)).bank > 0.0


def test_an_aircraft_turns_by_its_heading_through_the_air() -> None:
    """Straight downwind at 25 m/s over the ground the heading turns faster than the track: 25 / 17.5 times."""
    p, windy = fixed_wing.Parameters(), Environment(wind_x=7.5)
    state = fixed_wing.place(Placement(0.0, 0.0, 100.0, 0.0, 17.5), p, windy)
    command = fixed_wing.guide(state, fixed_wing.Command(), p, Desire(25.0, 0.0, 0.0, 50.0, 0.1))
    assert command.bank == pytest.approx(-atan(17.5 * 0.1 * 25.0 / 17.5 / 9.80665))


def test_a_rover_turns_with_the_bend_and_drives_backwards() -> None:
    """The turn rate of the bend is added; with gear -1 the tail leads."""
    p = rover.Parameters()
    state = rover.place(Placement(0.0, 0.0, 0.0, 0.0, 0.0), p, W)
    assert rover.guide(state, rover.Command(), p, Desire(0.5, 0.0, 0.0, 1.0, 0.3)) == pytest.approx((0.5, 0.3))
    assert rover.guide(state, rover.Command(), p, Desire(-0.5, 0.0, 0.0, 1.0, -0.2, -1.0)) == pytest.approx(
        (-0.5, -0.2)
    )


@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_a_car_keeps_to_a_circle(gear: float) -> None:
    """With the tangent and the bend of a circle of 20 m, its centre of gravity stays on it, forwards and backwards."""
    p, radius, speed, dt = CarParameters(), 20.0, 4.0, 0.01
    state = kinematic.place(Placement(radius, 0.0, 0.0, gear * pi / 2, 0.0), p, W)
    command = CarCommand()
    for _ in range(3000):
        angle = atan2(state.y, state.x)
        beside = radius - hypot(state.x, state.y)
        tilt = atan(beside / 4.0)
        wish = Desire(-speed * sin(angle - tilt), speed * cos(angle - tilt), 0.0, 4.0, speed / radius, gear)
        command = guide(state, command, p, wish)
        state = kinematic.step(state, command, p, W, dt)
    assert hypot(state.x, state.y) == pytest.approx(radius, abs=0.3)
    assert state.vx == pytest.approx(gear * speed, rel=0.05)
    assert command.gear == gear


def test_a_quad_asks_for_the_acceleration_inwards() -> None:
    """The velocity loop makes an acceleration of P times the error: v omega, to the left."""
    p = QuadParameters()
    state = quad.place(Placement(0.0, 0.0, 20.0, 0.0, 8.0), p, W)
    command = quad.guide(state, QuadCommand(), p, Desire(8.0, 0.0, 0.0, 5.0, 0.25))
    assert command.vx == 8.0
    assert p.velocity_p * command.vy == pytest.approx(8.0 * 0.25)


@pytest.mark.parametrize("module", [fixed_wing, rover, quad, kinematic])
def test_without_a_bend_nothing_changes(module: Any) -> None:
    """A wish of four numbers is one without a bend, forwards."""
    model = module.MODEL
    p = model.parameters()
    state = model.place(Placement(1.0, 2.0, 20.0, 0.4, 3.0), p, W)
    short, long = Desire(3.0, -2.0, 0.5, 7.0), Desire(3.0, -2.0, 0.5, 7.0, 0.0, 1.0)
    assert short == long
    assert model.guide(state, model.command(), p, short) == model.guide(state, model.command(), p, long)


class Filled(NamedTuple):
    """Two of its fields have defaults."""

    a: float
    b: float = 2.0
    c: float = 3.0


def some(x: float) -> Filled:
    """Leave one out."""
    return Filled(x, 5.0)


def none(x: float) -> Filled:
    """Leave both out, or name one."""
    return Filled(Filled(x).b, c=x)


def test_compiled_code_fills_in_defaults() -> None:
    """As Python does."""
    assert compiled(some)(1.0) == some(1.0) == (1.0, 5.0, 3.0)
    assert compiled(none)(1.0) == none(1.0) == (2.0, 2.0, 1.0)
    assert isinstance(compiled(some, "float32")(np.float32(1.0))[2], float)
