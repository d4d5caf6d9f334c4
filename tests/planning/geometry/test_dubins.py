"""Dubins paths with a fixed final heading: known answers, a second solver, symmetries, degenerate poses."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import (
    WORDS,
    all_lengths,
    dubins,
    dubins_lengths,
    length_to,
    shortest,
)
from paddock.planning.geometry.path import ends_at

PI = math.pi
TWO_PI = 2.0 * PI
coordinate = st.floats(-8.0, 8.0)
angle = st.floats(-PI, PI)
pose = st.tuples(coordinate, coordinate, angle)
rounded = st.tuples(*[st.integers(-8000, 8000).map(lambda n: n / 1000.0)] * 3)
"""Poses that coincide or lie ahead of each other exactly or not at all, for comparisons that cannot decide between."""

KNOWN = [
    ((0, 0, PI), 7.330383),
    ((1, 1, PI), 5.777825),
    ((0, 0, PI / 2), 6.408513),
    ((4, 4, PI / 2), 5.813437),
    ((4, 0, PI), 7.652892),
    ((0, -4, PI), PI + 2.0),
    ((0, 2, PI), PI),
    ((-4, 0, 0), TWO_PI + 4.0),
]


def by_search_for_centres(start: tuple[float, ...], goal: tuple[float, ...]) -> float:
    """The shortest of the six words with radius 1, from tangents of circles in the plane: nothing shared with ours."""
    best = math.inf
    for first in (1, -1):
        for last in (1, -1):
            a = complex(start[0], start[1]) + first * 1j * np.exp(1j * start[2])
            b = complex(goal[0], goal[1]) + last * 1j * np.exp(1j * goal[2])
            for heading, middle in tangents(a, b, first, last):
                best = min(best, around(start[2], heading, first) + middle + around(heading, goal[2], last))
            if first == last and abs(b - a) < 1e-9:  # one circle
                best = min(best, around(start[2], goal[2], first))
            elif first == last and abs(b - a) <= 4.0:
                for third in thirds(a, b):
                    leave = float(np.angle(third - a)) + first * PI / 2
                    join = float(np.angle(third - b)) + first * PI / 2
                    turns = around(start[2], leave, first) + around(leave, join, -first)
                    best = min(best, turns + around(join, goal[2], last))
    return best


def around(begin: float, end: float, side: int) -> float:
    """The turn from one heading to another on one side, where almost a full turn is none."""
    turn = (side * (end - begin)) % TWO_PI
    return 0.0 if turn > TWO_PI - 1e-9 else turn


def tangents(a: complex, b: complex, first: int, last: int) -> list[tuple[float, float]]:
    """Heading and length of the straight between two circles."""
    distance = abs(b - a)
    if first == last:
        return [(float(np.angle(b - a)), distance)]
    if distance < 2.0:
        return []
    return [(float(np.angle(b - a)) + first * math.asin(2.0 / distance), math.sqrt(distance**2 - 4.0))]


def thirds(a: complex, b: complex) -> list[complex]:
    """Centres of the circles that touch two others."""
    half = (b - a) / 2.0
    across = 1j * half / abs(half) * math.sqrt(max(4.0 - abs(half) ** 2, 0.0))
    return [a + half + across, a + half - across]


def apart(a: float, b: float) -> float:
    return abs(math.remainder(a - b, TWO_PI))


@pytest.mark.parametrize(("goal", "length"), KNOWN)
def test_known_answers(goal: tuple[float, float, float], length: float) -> None:
    assert dubins((0, 0, 0), goal, 1.0).length == pytest.approx(length, abs=1e-6)
    assert dubins_lengths([(0, 0, 0)], [goal], 1.0)[0, 0] == pytest.approx(length, abs=1e-6)
    assert by_search_for_centres((0, 0, 0), goal) == pytest.approx(length, abs=1e-6)


def test_there_and_back_on_the_spot_is_right_left_right() -> None:
    assert WORDS[shortest(0.0, 0.0, 0.0, 0.0, 0.0, PI, 1.0)[1]] == "RLR"


@given(rounded, rounded)
def test_shortest_of_six_words_equals_a_second_solver(start: tuple[float, ...], goal: tuple[float, ...]) -> None:
    path = dubins(start, goal, 1.0)
    assert same_length_or_at_a_jump(path.length, by_search_for_centres(start, goal), start, goal)
    assert path.length >= math.hypot(goal[0] - start[0], goal[1] - start[1]) - 1e-9


@given(pose, pose, st.floats(0.1, 100.0))
def test_the_path_starts_and_ends_at_its_poses(
    start: tuple[float, ...], goal: tuple[float, ...], radius: float
) -> None:
    path = dubins(start, goal, radius)
    np.testing.assert_allclose(path.end[:2], goal[:2], atol=1e-6)
    assert apart(path.end[3], goal[2]) < 1e-6
    assert path.length == pytest.approx(length_to(*start, *goal, radius)[0], abs=1e-6)
    for first, other in pairwise(path.segments):
        np.testing.assert_allclose(ends_at(first)[:2], (other.x, other.y), atol=1e-6)


def moved(pose: tuple[float, ...], by: tuple[float, ...]) -> tuple[float, float, float]:
    c, s = math.cos(by[2]), math.sin(by[2])
    return by[0] + c * pose[0] - s * pose[1], by[1] + s * pose[0] + c * pose[1], pose[2] + by[2]


def same_length_or_at_a_jump(first: float, other: float, start: tuple[float, ...], goal: tuple[float, ...]) -> bool:
    """Whether two lengths agree; where the length jumps (a turn just vanishes), rounding may take either side."""
    if first == pytest.approx(other, abs=1e-6):
        return True
    nearby = [
        by_search_for_centres(start, (goal[0] + dx, goal[1] + dy, goal[2] + dh))
        for dx in (-1e-8, 0.0, 1e-8)
        for dy in (-1e-8, 0.0, 1e-8)
        for dh in (-1e-8, 0.0, 1e-8)
    ]
    return max(nearby) - min(nearby) > 0.01


@given(rounded, rounded, rounded, st.floats(0.1, 10.0))
def test_moving_turning_and_scaling_change_nothing(
    start: tuple[float, ...], goal: tuple[float, ...], by: tuple[float, ...], scale: float
) -> None:
    length = dubins(start, goal, 1.0).length
    assert same_length_or_at_a_jump(dubins(moved(start, by), moved(goal, by), 1.0).length, length, start, goal)
    larger = [(scale * x, scale * y, heading) for x, y, heading in (start, goal)]
    assert same_length_or_at_a_jump(dubins(*larger, scale).length / scale, length, start, goal)


@given(rounded, rounded)
def test_the_reversed_path_has_the_same_length(start: tuple[float, ...], goal: tuple[float, ...]) -> None:
    there = dubins(start, goal, 1.0).length
    back = dubins((goal[0], goal[1], goal[2] + PI), (start[0], start[1], start[2] + PI), 1.0).length
    assert same_length_or_at_a_jump(there, back, start, goal)


@pytest.mark.parametrize("heading", np.linspace(-PI, PI, 25).tolist())
@pytest.mark.parametrize("radius", [1.0, 80.0])
def test_coincident_straight_and_exact_arcs_have_no_full_turn(heading: float, radius: float) -> None:
    x, y = 1234.5, -987.6
    c, s = math.cos(heading), math.sin(heading)
    for turns in (-1, 0, 1):
        assert dubins((x, y, heading), (x, y, heading + turns * TWO_PI), radius).length == 0.0
    for ahead in (1e-6, 0.01, 1.0, 1e4):
        goal = (x + ahead * c, y + ahead * s, heading)
        assert dubins((x, y, heading), goal, radius).length == pytest.approx(ahead, abs=1e-8)
    for turn in (1e-3, 0.5, PI / 2, PI, 4.0, 6.0):
        for side in (1.0, -1.0):
            there = heading + side * turn
            goal = (x + side * radius * (math.sin(there) - s), y - side * radius * (math.cos(there) - c), there)
            arc = dubins((x, y, heading), goal, radius)
            assert arc.length == pytest.approx(radius * turn, abs=1e-6)
            np.testing.assert_allclose(arc.end[:2], goal[:2], atol=1e-6)


def test_an_s_of_two_arcs() -> None:
    assert dubins((0, 0, 0), (2, 2, 0), 1.0).length == pytest.approx(PI, abs=1e-9)
    assert dubins((0, 0, 0), (160, -160, 0), 80.0).length == pytest.approx(80 * PI, abs=1e-6)


def test_a_radius_of_zero_is_a_straight_line() -> None:
    path = dubins((0, 0, 1), (3, 4, 2), 0)
    assert path.length == 5.0
    assert path.end[:2] == pytest.approx((3.0, 4.0))
    assert dubins((1, 2, 0), (1, 2, 2), 0.0).end == (1.0, 2.0, 0.0, 2.0)
    assert dubins_lengths([(0, 0, 1), (0, 0, 1)], [(3, 4, 2), (0, 0, np.nan)], [0.0, 0.0]).tolist() == [[5, 0], [5, 0]]
    assert length_to(0.0, 0.0, 1.0, 3.0, 4.0, math.nan, 0.0) == (5.0, pytest.approx(math.atan2(4, 3)))


def test_compiled_equals_plain_and_the_matrix_equals_the_path() -> None:
    rng = np.random.default_rng(2)
    starts, goals = rng.uniform(-5, 5, (12, 3)), rng.uniform(-5, 5, (40, 3))
    goals[::3, 2] = np.nan
    radius = rng.uniform(0.2, 3.0, 12)
    radius[4] = 0.0
    lengths = dubins_lengths(starts, goals, radius)
    expected = [[dubins(s, g, r).length for g in goals] for s, r in zip(starts, radius, strict=True)]
    np.testing.assert_allclose(lengths, expected, rtol=1e-9)
    fixed = np.ascontiguousarray(rng.uniform(-5, 5, (3, 40)))
    np.testing.assert_array_equal(all_lengths(starts, radius, fixed, 25), all_lengths.plain(starts, radius, fixed, 25))


def test_empty_and_other_forms_of_input() -> None:
    assert dubins_lengths([], [(0, 0, 0)], 1.0).shape == (0, 1)
    assert dubins_lengths([(0, 0, 0)], np.empty((0, 3)), 1.0).shape == (1, 0)
    assert dubins(np.zeros(3), [4, 0, np.float64(0)], 1).length == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("start", "goal", "radius", "message"),
    [
        ((0, 0), (1, 1, 0), 1.0, r"start is x, y, heading, not \(0, 0\)"),
        ((0, 0, None), (1, 1, 0), 1.0, "start has to be finite, not"),
        ((0, 0, 0), (math.nan, 1, 0), 1.0, r"goal has to be finite \(heading None: any\), not"),
        ((0, 0, 0), (1, 1, math.inf), 1.0, "goal has to be finite"),
        ((0, 0, 0), "abc", 1.0, "goal is x, y, heading, not 'abc'"),
        ((0, 0, 0), (1, 1, 0), -1.0, "radius has to be a number >= 0, not -1.0"),
        ((0, 0, 0), (1, 1, 0), math.nan, "radius has to be a number >= 0, not nan"),
    ],
)
def test_bad_input(start: tuple[float, ...], goal: tuple[float, ...], radius: float, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        dubins(start, goal, radius)


@pytest.mark.parametrize(
    ("starts", "goals", "radius", "message"),
    [
        ([(0, 0)], [(1, 1, 0)], 1.0, r"starts have to be an array \(n, 3\): x, y, heading; not one of shape \(1, 2\)"),
        ([(0, 0, np.nan)], [(1, 1, 0)], 1.0, r"starts\[0\] has to be finite, not \[0.0, 0.0, nan\]"),
        ([(0, 0, 0)], [(1, 1, 0), (np.nan, 1, 0)], 1.0, r"goals\[1\] has to be finite"),
        ([(0, 0, 0)], [("a", 1, 0)], 1.0, r"goals have to be an array \(n, 3\) of numbers"),
        ([(0, 0, 0)], [(1, 1, 0)], [1.0, 2.0], r"one for each of 1 starts, not \(2,\)"),
        ([(0, 0, 0)], [(1, 1, 0)], [-2.0], "radius has to be a number >= 0, not -2.0"),
        ([(0, 0, 0)], [(1, 1, 0)], "wide", "radius has to be a number or 1 of them, not 'wide'"),
    ],
)
def test_bad_arrays(starts: list[object], goals: list[object], radius: object, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        dubins_lengths(starts, goals, radius)  # type: ignore[arg-type]
