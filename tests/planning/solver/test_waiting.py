"""Waiting for windows: before departure, in circles, and reasons why it is impossible."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from paddock.planning.geometry.shapes import PointShape
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.routes import Plan

HOME = (0.0, 0.0, 100.0, 0.0)
WING = Vehicle("wing", HOME, HOME, 17.5, 80.0)
FLYING = replace(WING, under_way=True)
CIRCLE = 2.0 * pi * 80.0


def planned(vehicle: Vehicle, opens: float, closes: float, wind: tuple[float, float] = (0.0, 0.0)) -> Plan:
    """One point 150 m ahead."""
    task = Task("p", PointShape(150.0, 0.0), opens=opens, closes=closes)
    return solve(Problem((vehicle,), (task,), wind=wind), "greedy")


@pytest.mark.parametrize("wind", [(0.0, 0.0), (3.5, 0.0)])
def test_a_vehicle_before_departure_departs_later(wind: tuple[float, float]) -> None:
    legs = planned(WING, 100.0, 105.0, wind).routes[0].legs
    assert [leg.kind for leg in legs] == ["wait", "transit", "coverage", "return"]
    there = 150.0 / (17.5 + wind[0])  # s
    assert (legs[0].flown, legs[0].begins, legs[0].ends) == pytest.approx((0.0, 0.0, 100.0 - there))
    assert legs[0].path.start == legs[0].path.end == HOME
    assert legs[2].begins == pytest.approx(100.0)


def test_circles_are_widened_to_end_in_time() -> None:
    """1600 m until 100 s: three circles of 502.7 m and 92 m more, so three of 533.3 m."""
    plan = planned(FLYING, 100.0, 105.0)
    wait = plan.routes[0].legs[1]
    assert wait.kind == "wait"
    assert (wait.flown, wait.ends) == pytest.approx((1600.0, 100.0))
    assert [part.length for part in wait.path.segments] == pytest.approx([1600.0 / 3.0] * 3)
    assert [1.0 / part.curvature for part in wait.path.segments] == pytest.approx([1600.0 / (6.0 * pi)] * 3)
    assert wait.path.end[:2] == pytest.approx((150.0, 0.0))
    assert Costs(plan.problem).tour(0, [0])[0] == pytest.approx(plan.routes[0].flown)


def test_a_short_wait_is_a_whole_circle() -> None:
    wait = planned(FLYING, 30.0, 60.0).routes[0].legs[1]
    assert (wait.flown, wait.ends) == pytest.approx((CIRCLE, (150.0 + CIRCLE) / 17.5))


def test_circles_held_in_wind_end_in_time() -> None:
    wait = planned(FLYING, 100.0, 100.5, (3.5, 0.0)).routes[0].legs[1]
    assert (wait.ends, wait.flown) == pytest.approx((100.0, 17.5 * (100.0 - 150.0 / 21.0)))
    assert wait.path.flown == pytest.approx(wait.flown)
    np.testing.assert_allclose(wait.path.end[:2], (150.0, 0.0), atol=1e-6)
    radii = [1.0 / part.curvature for part in wait.path.segments]
    assert max(radii) == pytest.approx(min(radii)) and min(radii) >= 80.0 * (21.0 / 17.5) ** 2


def test_a_window_shorter_than_a_circle_is_the_reason() -> None:
    (undone,) = planned(FLYING, 30.0, 35.0).undone
    assert undone.reason == (
        "wing is there at 9 s, too early for its window from 30 to 35 s, and it can only wait in circles of 29 s"
    )
    (undone,) = planned(FLYING, 1.0, 8.0).undone
    assert undone.reason == "no vehicle can be there before its window closes at 8 s"
