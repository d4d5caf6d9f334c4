"""Dubins paths with a free final heading: a turn and a straight, or two turns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.planning.geometry.dubins import dubins, dubins_lengths, length_to

PI = math.pi
HEADINGS = np.linspace(-PI, PI, 3600, endpoint=False)
angle = st.floats(-PI, PI)


@given(st.floats(-3.5, 3.5), st.floats(-3.5, 3.5), angle)
def test_free_is_the_best_of_all_fixed_headings(x: float, y: float, heading: float) -> None:
    path = dubins((0.0, 0.0, heading), (x, y, None), 1.0)
    goals = np.column_stack([np.full(3600, x), np.full(3600, y), HEADINGS])
    best = dubins_lengths([(0.0, 0.0, heading)], goals, 1.0).min()
    assert path.length <= best + 1e-9
    own = dubins_lengths([(0.0, 0.0, heading)], [(x, y, path.end[3])], 1.0)[0, 0]
    assert own <= path.length + 1e-6  # that heading may just miss a shorter word, but never needs more
    np.testing.assert_allclose(path.end[:2], (x, y), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_free_equals_the_best_of_3600_headings_within_the_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for x, y in rng.uniform(-4.0, 4.0, (20, 2)).tolist():
        goals = np.column_stack([np.full(3600, x), np.full(3600, y), HEADINGS])
        best = dubins_lengths([(0.0, 0.0, 0.0)], goals, 1.0).min()
        assert dubins((0.0, 0.0, 0.0), (x, y, None), 1.0).length == pytest.approx(best, abs=2e-2)


def test_lengths_known_by_geometry() -> None:
    assert dubins((0, 0, 0), (5, 0, None), 1.0).length == pytest.approx(5.0)
    assert dubins((0, 0, 0), (0, 2, None), 1.0).length == pytest.approx(PI)  # half a circle
    assert dubins((0, 0, 0), (1, 5, None), 1.0).length == pytest.approx(PI / 2 + 4.0)
    assert dubins((0, 0, 0), (-1, 5, None), 1.0).length == pytest.approx(free_by_tangent(-1.0, 5.0))


def free_by_tangent(x: float, y: float) -> float:
    """LS to a point, from the triangle of centre, tangent point and goal."""
    distance = math.hypot(x, y - 1.0)
    turn = math.atan2(y - 1.0, x) + PI / 2 - math.acos(1.0 / distance)
    return turn + math.sqrt(distance**2 - 1.0)


def test_a_point_inside_a_turn_circle_needs_two_turns() -> None:
    """The centre of the left circle: the triangle of the right circle's centre (2), the second's (1) and the goal."""
    path = dubins((0, 0, 0), (0, 1, None), 1.0)
    sides = [segment.curvature for segment in path.segments]
    assert sides in ([-1.0, 1.0], [1.0, -1.0])
    first = math.acos((2**2 + 2**2 - 1**2) / (2 * 2 * 2))
    second = math.acos((2**2 + 1**2 - 2**2) / (2 * 2 * 1))
    assert path.length == pytest.approx(first + 2 * PI - second, abs=1e-12)
    assert path.end[:2] == pytest.approx((0.0, 1.0), abs=1e-12)


def test_the_start_itself_has_length_zero() -> None:
    assert dubins((3, 4, 1), (3, 4, None), 80.0).length == 0.0
    assert length_to(3.0, 4.0, 1.0, 3.0, 4.0, math.nan, 80.0) == (0.0, 1.0)


@given(st.floats(-300, 300), st.floats(-300, 300), angle)
def test_the_arrival_heading_is_that_of_the_path(x: float, y: float, heading: float) -> None:
    path = dubins((5.0, 6.0, heading), (x, y, None), 80.0)
    length, arrival = length_to(5.0, 6.0, heading, x, y, math.nan, 80.0)
    assert length == pytest.approx(path.length, abs=1e-9)
    assert abs(math.remainder(arrival - path.end[3], 2 * PI)) < 1e-9


NEAR = (0.0, 1e-13, 5.4e-10, 9.9e-10, 1e-9, 1.01e-9, 2e-9, 1e-8, 1e-6)


@pytest.mark.parametrize("y", [sign * y for y in NEAR for sign in (1.0, -1.0)])
def test_a_goal_next_to_the_start_needs_no_more_than_with_a_fixed_heading(y: float) -> None:
    """At x = 0, y = 5.4e-10 the free path was a full circle although a heading of 0 takes 0 m."""
    headings = [*HEADINGS[::50], 0.0, 1e-9, -1e-9, 1e-6, -1e-6]
    for x in (sign * x for x in NEAR for sign in (1.0, -1.0)):
        best = dubins_lengths([(0.0, 0.0, 0.0)], [(x, y, heading) for heading in headings], 1.0).min()
        assert dubins((0.0, 0.0, 0.0), (x, y, None), 1.0).length <= best + 1e-9
        assert dubins_lengths([(0.0, 0.0, 0.0)], [(x, y, np.nan)], 1.0)[0, 0] <= best + 1e-9


@pytest.mark.parametrize("turn", [1e-3, 0.5, 2.0, PI, 6.0])
@pytest.mark.parametrize("inside", [0.0, 4e-10, 6e-10, 9.9e-10])
def test_a_goal_on_a_turn_circle_within_rounding(turn: float, inside: float) -> None:
    x, y = (1.0 - inside) * math.sin(turn), 1.0 - (1.0 - inside) * math.cos(turn)
    fixed = dubins_lengths([(0.0, 0.0, 0.0)], [(x, y, turn)], 1.0)[0, 0]
    assert fixed == pytest.approx(turn, abs=1e-6)
    assert dubins((0.0, 0.0, 0.0), (x, y, None), 1.0).length <= fixed + 1e-9


def test_mixed_goals_keep_their_order() -> None:
    goals = np.array([(3.0, 1.0, np.nan), (2.0, 2.0, 1.0), (0.5, -0.5, np.nan), (4.0, 0.0, 0.0)])
    lengths = dubins_lengths([(0, 0, 0), (1, 1, 2)], goals, 1.0)
    for i, start in enumerate([(0, 0, 0), (1, 1, 2)]):
        for j, goal in enumerate(goals):
            assert lengths[i, j] == pytest.approx(dubins_lengths([start], [goal], 1.0)[0, 0], abs=0)
