"""Paths with a climb limit: slope, ends, length, and the helices that gain the height exactly."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import climbing, dubins

TWO_PI = 2.0 * math.pi
coordinate = st.floats(-500.0, 500.0)
angle = st.floats(-math.pi, math.pi)


@given(coordinate, coordinate, angle, angle | st.none(), st.floats(-400.0, 400.0), st.floats(0.02, 0.5))
def test_slope_ends_and_length(
    x: float, y: float, heading: float, goal_heading: float | None, rise: float, slope: float
) -> None:
    path = climbing((10.0, 20.0, 100.0, heading), (x, y, 100.0 + rise, goal_heading), 80.0, slope)
    level = dubins((10.0, 20.0, heading), (x, y, goal_heading), 80.0)
    assert all(abs(s.slope) <= slope * (1.0 + 1e-9) for s in path.segments)
    assert all(abs(s.curvature) <= 1.0 / 80.0 + 1e-15 for s in path.segments)
    np.testing.assert_allclose(path.start, (10.0, 20.0, 100.0, heading))
    np.testing.assert_allclose(path.end[:3], (x, y, 100.0 + rise), atol=1e-6)
    if goal_heading is not None:
        assert abs(math.remainder(path.end[3] - goal_heading, TWO_PI)) < 1e-8
    on_the_map = sum(s.length for s in path.segments)
    assert path.length == pytest.approx(math.hypot(on_the_map, rise), abs=1e-6)
    assert path.length >= level.length - 1e-6
    wanted = abs(rise) / slope
    if wanted <= level.length:
        assert path.length == pytest.approx(math.hypot(level.length, rise), abs=1e-6)
    else:
        assert wanted - 1e-6 <= on_the_map <= max(wanted, level.length + TWO_PI * 80.0) + 1e-5


@given(coordinate, coordinate, angle, st.floats(150.0, 400.0))
def test_a_path_is_continuous(x: float, y: float, heading: float, rise: float) -> None:
    path = climbing((0.0, 0.0, 0.0, heading), (x, y, rise, None), 80.0, 0.2)
    points = path.points(1.0)
    steps = np.linalg.norm(np.diff(points[:, :3], axis=0), axis=1)
    assert steps.max() <= 1.0 + 1e-9
    assert np.abs(np.remainder(np.diff(points[:, 3]) + np.pi, TWO_PI) - np.pi).max() <= 1.0 / 80.0 + 1e-6


def test_straight_up_a_helix() -> None:
    """100 m up at a slope of 0.1 takes 1000 m: one turn of 80 m radius is too short, two turns are 1005 m: too long."""
    path = climbing((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 100.0, 0.0), 80.0, 0.1)
    assert len(path.segments) == 1
    assert path.segments[0].length == pytest.approx(1000.0)
    assert path.segments[0].slope == pytest.approx(0.1)
    assert 1.0 / path.segments[0].curvature == pytest.approx(1000.0 / TWO_PI)
    assert path.length == pytest.approx(math.hypot(1000.0, 100.0))
    np.testing.assert_allclose(path.end, (0.0, 0.0, 100.0, TWO_PI), atol=1e-9)


def test_two_turns_then_the_level_path() -> None:
    path = climbing((0.0, 0.0, 0.0, 0.0), (500.0, 0.0, 160.0, 0.0), 80.0, 0.1)
    assert path.segments[0].length == pytest.approx(1100.0)  # 1600 m less the straight 500 m: two turns of 87.5 m
    assert 1.0 / path.segments[0].curvature == pytest.approx(1100.0 / (2.0 * TWO_PI))
    assert sum(s.length for s in path.segments) == pytest.approx(1600.0)


def test_slightly_too_steep_needs_a_longer_arc() -> None:
    path = climbing((0.0, 0.0, 300.0, 0.0), (1000.0, 0.0, 190.0, None), 80.0, 0.1)
    assert sum(s.length for s in path.segments) == pytest.approx(1100.0, abs=1e-6)
    assert path.segments[0].slope == pytest.approx(-0.1)


def test_a_vehicle_that_turns_on_the_spot_climbs_on_a_wide_turn() -> None:
    path = climbing((0.0, 0.0, 0.0, 0.0), (100.0, 0.0, 50.0, None), 0.0, 0.25)
    assert sum(s.length for s in path.segments) == pytest.approx(200.0)
    np.testing.assert_allclose(path.end[:3], (100.0, 0.0, 50.0), atol=1e-9)


def test_start_and_goal_coincide() -> None:
    path = climbing((1.0, 2.0, 3.0, 0.5), (1.0, 2.0, 3.0, 0.5), 80.0, 0.1)
    assert path.length == 0.0
    assert path.end == (1.0, 2.0, 3.0, 0.5)


def test_bad_input() -> None:
    with pytest.raises(InvalidValueError, match="slope has to be a number > 0, not 0"):
        climbing((0, 0, 0, 0), (1, 1, 1, 0), 1.0, 0.0)
    with pytest.raises(InvalidValueError, match="goal is x, y, z, heading, not"):
        climbing((0, 0, 0, 0), (1, 1, 0), 1.0, 0.1)
    with pytest.raises(InvalidValueError, match="start has to be finite, not"):
        climbing((0, 0, 0, None), (1, 1, 1, 0), 1.0, 0.1)
