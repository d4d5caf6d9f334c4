"""Reeds-Shepp paths: known answers, symmetries, Dubins as a bound, and a numerical optimiser."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares, minimize

from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import dubins_lengths
from paddock.planning.geometry.reeds_shepp import (
    FAMILIES,
    _compiled_lengths,
    reeds_shepp,
    reeds_shepp_lengths,
    shortest_both_ways,
)

PI = math.pi
TWO_PI = 2.0 * PI
coordinate = st.floats(-6.0, 6.0)
angle = st.floats(-PI, PI)
pose = st.tuples(coordinate, coordinate, angle)


def apart(a: float, b: float) -> float:
    return abs(math.remainder(a - b, TWO_PI))


@pytest.mark.parametrize(
    ("goal", "length"),
    [
        ((0, 0, 0), 0.0),
        ((0, 0, PI), PI),  # three arcs of 60 degrees: a turn in three points
        ((-4, 0, 0), 4.0),
        ((4, 0, 0), 4.0),
        ((0, 2, PI), PI),
        ((2, 2, 0), PI),
        ((0, 0, PI / 2), PI / 2),
        ((1, 1, PI / 2), PI / 2),
        ((-1, 1, -PI / 2), PI / 2),
        ((4, 4, PI / 2), 5.813437014),  # forwards all along, as Dubins
    ],
)
def test_known_answers(goal: tuple[float, float, float], length: float) -> None:
    path = reeds_shepp((0, 0, 0), goal, 1.0)
    assert path.length == pytest.approx(length, abs=1e-6)
    np.testing.assert_allclose(path.end[:2], goal[:2], atol=1e-9)
    assert reeds_shepp_lengths([(0, 0, 0)], [goal], 1.0)[0, 0] == pytest.approx(length, abs=1e-6)


@given(pose, pose, st.floats(0.1, 50.0))
def test_the_path_ends_at_the_goal(start: tuple[float, ...], goal: tuple[float, ...], radius: float) -> None:
    path = reeds_shepp(start, goal, radius)
    np.testing.assert_allclose(path.end[:2], goal[:2], atol=1e-7)
    assert apart(path.end[3], goal[2]) < 1e-8
    assert len(path.segments) <= 5
    assert path.length >= math.hypot(goal[0] - start[0], goal[1] - start[1]) - 1e-9
    assert all(segment.gear in (1.0, -1.0) for segment in path.segments)


def moved(pose: tuple[float, ...], by: tuple[float, ...]) -> tuple[float, float, float]:
    c, s = math.cos(by[2]), math.sin(by[2])
    return by[0] + c * pose[0] - s * pose[1], by[1] + s * pose[0] + c * pose[1], pose[2] + by[2]


@given(pose, pose, pose, st.floats(0.1, 10.0))
def test_symmetries(start: tuple[float, ...], goal: tuple[float, ...], by: tuple[float, ...], scale: float) -> None:
    """Its length is continuous, so all of these hold without exception: there is no jump to fall on either side of."""
    length = reeds_shepp(start, goal, 1.0).length
    assert reeds_shepp(goal, start, 1.0).length == pytest.approx(length, abs=1e-6)
    assert reeds_shepp(moved(start, by), moved(goal, by), 1.0).length == pytest.approx(length, abs=1e-6)
    mirrored = [(x, -y, -heading) for x, y, heading in (start, goal)]
    assert reeds_shepp(*mirrored, 1.0).length == pytest.approx(length, abs=1e-6)
    turned_round = [(x, y, heading + PI) for x, y, heading in (start, goal)]
    assert reeds_shepp(*turned_round, 1.0).length == pytest.approx(length, abs=1e-6)
    larger = [(scale * x, scale * y, heading) for x, y, heading in (start, goal)]
    assert reeds_shepp(*larger, scale).length == pytest.approx(scale * length, abs=1e-6 * max(scale, 1.0))


def test_never_longer_than_dubins_either_way() -> None:
    rng = np.random.default_rng(8)
    starts, goals = rng.uniform(-5, 5, (60, 3)), rng.uniform(-5, 5, (70, 3))
    lengths = reeds_shepp_lengths(starts, goals, 1.0)
    assert (lengths <= dubins_lengths(starts, goals, 1.0) + 1e-9).all()
    assert (lengths <= dubins_lengths(goals, starts, 1.0).T + 1e-9).all()
    np.testing.assert_allclose(lengths, reeds_shepp_lengths(goals, starts, 1.0).T, atol=1e-9)


def test_all_families_are_used_and_short_moves_are_short() -> None:
    rng = np.random.default_rng(0)
    used = set()
    for size in (0.3, 2.0, 5.0, 20.0):
        for x, y, phi in rng.uniform(-1, 1, (500, 3)).tolist():
            used.add(shortest_both_ways(size * x, size * y, PI * phi)[1])
    assert used == set(range(len(FAMILIES)))
    for heading in np.linspace(-3, 3, 13).tolist():
        c, s = math.cos(heading), math.sin(heading)
        for way in (1e-6, -1e-6, 1.0, -1.0):
            goal = (5.0 + way * c, 6.0 + way * s, heading)
            assert reeds_shepp((5.0, 6.0, heading), goal, 80.0).length == pytest.approx(abs(way), abs=1e-7)


def endpoint(parts: np.ndarray, kinds: str) -> np.ndarray:
    """Where a word with signed parts ends, by complex numbers."""
    z, heading = 0j, 0.0
    for part, kind in zip(parts, kinds, strict=True):
        if kind == "S":
            z += part * np.exp(1j * heading)
        else:
            side = 1.0 if kind == "L" else -1.0
            z += side * 1j * (np.exp(1j * heading) - np.exp(1j * (heading + side * part)))
            heading += side * part
    return np.array([z.real, z.imag, heading])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_word_of_three_found_by_an_optimiser_is_shorter(seed: int) -> None:
    """All words of three parts, any direction of each, by root finding from many places."""
    rng = np.random.default_rng(seed)
    goal = np.array([*rng.uniform(-2.5, 2.5, 2), rng.uniform(-PI, PI)])
    best = math.inf
    for kinds in ("LSL", "LSR", "RSL", "RSR", "LRL", "RLR"):
        for guess in product((-2.0, -0.7, 0.7, 2.0), repeat=3):

            def miss(parts: np.ndarray, kinds: str = kinds) -> np.ndarray:
                x, y, heading = endpoint(parts, kinds) - goal
                return np.array([x, y, math.remainder(heading, TWO_PI)])

            fit = least_squares(miss, np.array(guess), max_nfev=40)
            if fit.cost < 1e-20:
                best = min(best, float(np.abs(fit.x).sum()))
    assert reeds_shepp((0, 0, 0), goal, 1.0).length <= best + 1e-6


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in range(1, 3))])
def test_no_word_of_five_found_by_an_optimiser_is_shorter(seed: int) -> None:
    """Any word of five parts: two more than needed, which a penalty on the length drives to where it is shortest."""
    rng = np.random.default_rng(10 + seed)
    goal = np.array([*rng.uniform(-2.0, 2.0, 2), rng.uniform(-PI, PI)])
    ours = reeds_shepp((0, 0, 0), goal, 1.0).length
    best = shortest_by_descent(goal, rng)
    assert ours <= best + 1e-6
    assert best <= ours + 0.1  # it came near, so it was a fair try


def shortest_by_descent(goal: np.ndarray, rng: np.random.Generator) -> float:
    best = math.inf
    for kinds in ("LRSLR", "RLSRL", "LRSRL", "RLSLR", "LRLRL", "RLRLR"):
        for _ in range(15):
            signs = rng.choice([-1.0, 1.0], 5)

            def miss(sizes: np.ndarray, kinds: str = kinds, signs: np.ndarray = signs) -> np.ndarray:
                x, y, heading = endpoint(sizes * signs, kinds) - goal
                return np.array([x, y, math.sin(heading / 2.0)])

            fit = minimize(
                np.sum,
                rng.uniform(0.0, 1.5, 5),
                jac=np.ones_like,
                bounds=[(0.0, None)] * 5,
                constraints={"type": "eq", "fun": miss},
                method="SLSQP",
                options={"maxiter": 60},
            )
            if np.abs(miss(fit.x)).max() < 1e-9:
                best = min(best, float(fit.fun))
    return best


def test_compiled_equals_plain() -> None:
    rng = np.random.default_rng(5)
    starts, goals, radius = rng.uniform(-5, 5, (8, 3)), rng.uniform(-5, 5, (9, 3)), rng.uniform(0.5, 3.0, 8)
    radius[2] = 0.0
    lengths = reeds_shepp_lengths(starts, goals, radius)
    np.testing.assert_array_equal(lengths, _compiled_lengths.plain(starts, radius, goals))
    expected = [[reeds_shepp(s, g, r).length for g in goals] for s, r in zip(starts, radius, strict=True)]
    np.testing.assert_allclose(lengths, expected, rtol=1e-9)


def test_bad_input() -> None:
    with pytest.raises(InvalidValueError, match="goal has to be finite, not"):
        reeds_shepp((0, 0, 0), (1, 1, None), 1.0)
    with pytest.raises(InvalidValueError, match="radius has to be a number >= 0, not -1"):
        reeds_shepp((0, 0, 0), (1, 1, 0), -1)
    with pytest.raises(InvalidValueError, match=r"goals\[0\] has to be finite"):
        reeds_shepp_lengths([(0, 0, 0)], [(1, 1, np.nan)], 1.0)
