"""Lines, racing lines and speed profiles against curves whose curvature and optimum are known."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, hypot, pi, sqrt
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares

Example = Callable[[str], ModuleType]


def circle(radius: float, count: int) -> np.ndarray:
    angle = np.linspace(0.0, 2.0 * pi, count, endpoint=False)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def bend(radius: float, straight: float, step: float = 1.0) -> np.ndarray:
    """Return a straight, a right angle to the left, and another straight."""
    angle = np.linspace(0.0, pi / 2, 200)
    arc = np.column_stack([radius * np.sin(angle), radius * (1.0 - np.cos(angle))])
    way = np.vstack([[[-straight, 0.0]], arc, [[radius, radius + straight]]])
    gaps = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))])
    s = np.arange(0.0, gaps[-1], step)
    return np.column_stack([np.interp(s, gaps, way[:, 0]), np.interp(s, gaps, way[:, 1])])


def test_curvature_of_a_circle_an_ellipse_and_a_straight_line(example: Example) -> None:
    line = example("line")
    round_way = line.line_of(circle(12.0, 120), closed=True)
    assert round_way.curvature == pytest.approx(1.0 / 12.0, rel=1e-3)
    assert round_way.length == pytest.approx(2.0 * pi * 12.0, rel=1e-3)
    assert line.line_of(circle(12.0, 120)[::-1], closed=True).curvature == pytest.approx(-1.0 / 12.0, rel=1e-3)
    t = np.linspace(0.0, 2.0 * pi, 2000, endpoint=False)
    a, b = 20.0, 8.0
    ellipse = line.line_of(np.column_stack([a * np.cos(t), b * np.sin(t)]), closed=True)
    exact = a * b / (a**2 * np.sin(t) ** 2 + b**2 * np.cos(t) ** 2) ** 1.5
    assert ellipse.curvature[:-1] == pytest.approx(exact, rel=2e-3)
    assert line.line_of([[0, 0], [1, 1], [2, 2], [3, 3]]).curvature == pytest.approx(0.0, abs=1e-12)


@given(st.floats(0.0, 2.0 * pi), st.floats(-3.0, 3.0))
def test_closest_point_of_a_circle(angle: float, aside: float) -> None:
    import line

    way = line.line_of(circle(15.0, 600), closed=True)
    along, offset = way.closest((15.0 - aside) * np.cos(angle), (15.0 - aside) * np.sin(angle))
    assert offset == pytest.approx(aside, abs=2e-3)
    assert abs((along / 15.0 - angle + pi) % (2.0 * pi) - pi) < 2e-3


def test_closest_point_stays_on_its_part_of_a_figure_of_eight(example: Example) -> None:
    way = example("driver").skidpad_line(example("car").Car(), 0.6)
    assert way.length == pytest.approx(15.0 + 4.0 * 2.0 * pi * 9.125 + 20.0, rel=0.01)
    for lap in range(4):  # the crossing, once per lap
        near = 15.0 + lap * 2.0 * pi * 9.125
        assert way.closest(0.0, 0.0, near)[0] == pytest.approx(near, abs=1.0)


def test_smoothing_shrinks_a_circle_as_the_formula_says(example: Example) -> None:
    line = example("line")
    points = circle(5.0, 200)
    after = line.smoothed(points, 30.0, closed=True)
    assert np.hypot(*after.T) == pytest.approx(5.0 / (1.0 + 30.0 / 5.0**4), rel=1e-3)


def test_least_curvature_in_a_ring_is_its_outer_edge(example: Example) -> None:
    racing = example("racing_line")
    offset = racing.least_curvature(circle(10.0, 63), np.full(63, 1.0), np.full(63, 1.5))
    assert offset == pytest.approx(-1.5, abs=1e-3)  # the normals point inwards, the car drives to the left


def test_least_curvature_of_a_right_angle_agrees_with_another_solver(example: Example) -> None:
    racing = example("racing_line")
    centre = bend(9.0, 14.0)
    normal = racing.normals(centre, False)
    room = np.full(len(centre), 1.2)
    solution = racing.least_curvature(centre, room, room, closed=False, ends=1e-6)
    inner = slice(2, -2)  # the ends are held

    def residual(free: np.ndarray) -> np.ndarray:
        offset = np.zeros(len(centre))
        offset[inner] = free
        p = centre + offset[:, None] * normal
        d, dd = 0.5 * (p[2:] - p[:-2]), p[2:] - 2.0 * p[1:-1] + p[:-2]
        speed = np.hypot(*d.T)
        return (d[:, 0] * dd[:, 1] - d[:, 1] * dd[:, 0]) / speed**3 * np.sqrt(speed)

    other = least_squares(residual, np.zeros(len(centre) - 4), bounds=(-1.2, 1.2), xtol=1e-10, ftol=1e-12)
    assert float((residual(solution[inner]) ** 2).sum()) == pytest.approx(2.0 * other.cost, rel=0.01)
    assert solution[inner] == pytest.approx(other.x, abs=0.05)
    # it cuts the corner: inside at its middle, outside before and behind
    middle = len(solution) // 2
    assert solution[middle] == pytest.approx(1.2, abs=1e-3)
    assert solution.min() < -0.2


def test_speeds_on_a_circle_follow_from_grip_and_downforce(example: Example) -> None:
    racing, line, car = example("racing_line"), example("line"), example("car").Car()
    way = line.line_of(circle(9.125, 200), closed=True)
    speed = racing.speed_profile(way, car, use=0.8)
    # v^2 / r = 0.8 mu (g + rho ClA v^2 / 2 m)
    lift = 0.5 * 1.225 * (1.6 + 2.1) / 178.0
    exact = sqrt(0.8 * 1.5 * 9.80665 / (1.0 / 9.125 - 0.8 * 1.5 * lift))
    assert speed == pytest.approx(exact, rel=2e-3)
    assert racing.lap_time(way, speed) == pytest.approx(2.0 * pi * 9.125 / exact, rel=3e-3)


def test_speeds_on_a_straight_follow_from_power_and_brakes(example: Example) -> None:
    racing, line, car = example("racing_line"), example("line"), example("car").Car()
    way = line.line_of(np.column_stack([np.arange(0.0, 200.0, 0.25), np.zeros(800)]))
    speed = racing.speed_profile(way, car, use=0.8, top=100.0, start=0.0, end=0.0)
    # at low speed the tyres limit: v' v = a + c v^2 with downforce c, so v^2 = a / c (exp(2 c s) - 1)
    at, c = 0.8 * 1.5 * 9.80665, 0.8 * 1.5 * 0.5 * 1.225 * 3.7 / 178.0
    exact = sqrt(at / c * (exp(2.0 * c * 4.0) - 1.0))
    assert float(np.interp(4.0, way.along, speed)) == pytest.approx(exact, rel=0.01)
    late = way.length - 2.0
    braking = float(np.interp(late, way.along, speed)) ** 2 / (2.0 * 2.0)
    assert braking == pytest.approx(0.8 * 1.5 * 9.80665 + 0.015 * 9.80665, rel=0.05)
    gain = np.diff(speed**2) / (2.0 * np.diff(way.along))
    power = gain * 178.0 * speed[1:]
    assert power.max() < 60e3 * 1.02


@given(st.floats(4.0, 40.0), st.floats(0.3, 0.95))
def test_speeds_never_exceed_the_ellipse(radius: float, use: float) -> None:
    import racing_line
    from car import Car
    from line import line_of

    car = Car()
    way = line_of(bend(radius, 30.0, 0.5))
    speed = racing_line.speed_profile(way, car, use)
    along = np.diff(speed**2) / (2.0 * np.diff(way.along))
    across = np.abs(way.curvature) * speed**2
    for k in range(1, len(speed) - 1):
        grip = use * car.grip(float(min(speed[k], speed[k + 1])))
        most = hypot(max(abs(along[k]) - car.resistance(speed[k + 1]), 0.0), min(across[k], across[k + 1]))
        assert most <= grip * 1.06 + 0.1
