"""Paths in wind against integration, against a search over durations, and against hand calculations."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import dubins
from paddock.planning.geometry.path import Path, arc, line
from paddock.planning.geometry.wind import dubins_in_wind, held_turn, over_ground
from paddock.planning.solver.tours import Mover, transit

TWO_PI = 2.0 * math.pi
coordinate = st.floats(-6.0, 6.0)
angle = st.floats(-math.pi, math.pi)
strength = st.floats(0.01, 0.9)


def flown_in_wind(
    x: float, y: float, course: float, gx: float, gy: float, gcourse: float, radius: float, wx: float, wy: float
) -> tuple[float, float]:
    """Metres flown and the course of arrival (NaN: any) as searches compute them; wind in shares of the airspeed."""
    home, limits, ready = (0.0, 0.0, 0.0, 0.0), (math.inf, math.inf), 0.0
    m = Mover(
        x, y, 0.0, course, home[0], home[1], home[2], home[3], 0.0, 1.0, radius, limits[0], limits[1], ready, wx, wy,
        0.0, 0.0, 0.0, radius, 0.0, 0.0,
    )  # fmt: skip
    return transit(m, x, y, 0.0, course, gx, gy, 0.0, gcourse)


def course_at_end(path: Path, wind: tuple[float, float]) -> float:
    heading = path.end[3]
    return math.atan2(math.sin(heading) + wind[1], math.cos(heading) + wind[0])


def integrated(path: Path, speed: float, wind: tuple[float, float]) -> np.ndarray:
    """x, y, heading at the end, from the air velocity and the wind alone."""
    state = np.array([*path.start[:2], path.start[3]])
    for segment in path.segments:
        rate = segment.curvature * speed

        def velocity(_: float, s: np.ndarray, rate: float = rate) -> list[float]:
            return [speed * math.cos(s[2]) + wind[0], speed * math.sin(s[2]) + wind[1], rate]

        span = (0.0, segment.length / speed)
        state = solve_ivp(velocity, span, state, rtol=1e-11, atol=1e-11).y[:, -1]
    return state


WORDS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, ...]]] = {}
"""Turn, middle and turn of each word from a (heading), b (heading at the goal) and d, as Shkel and Lumelsky do."""


def of_word(name: str) -> Callable[..., None]:
    def keep(function: Callable[..., tuple[np.ndarray, ...]]) -> None:
        WORDS[name] = function

    return keep


@of_word("LSL")
def _(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    p = 2 + d**2 - 2 * np.cos(a - b) + 2 * d * (np.sin(a) - np.sin(b))
    way = np.arctan2(np.cos(b) - np.cos(a), d + np.sin(a) - np.sin(b))
    return -a + way, np.sqrt(p), b - way


@of_word("RSR")
def _(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    p = 2 + d**2 - 2 * np.cos(a - b) + 2 * d * (np.sin(b) - np.sin(a))
    way = np.arctan2(np.cos(a) - np.cos(b), d - np.sin(a) + np.sin(b))
    return a - way, np.sqrt(p), -b + way


@of_word("LSR")
def _(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    p = np.sqrt(-2 + d**2 + 2 * np.cos(a - b) + 2 * d * (np.sin(a) + np.sin(b)))
    way = np.arctan2(-np.cos(a) - np.cos(b), d + np.sin(a) + np.sin(b)) - np.arctan2(-2.0, p)
    return -a + way, p, -b + way


@of_word("RSL")
def _(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    p = np.sqrt(-2 + d**2 + 2 * np.cos(a - b) - 2 * d * (np.sin(a) + np.sin(b)))
    way = np.arctan2(np.cos(a) + np.cos(b), d - np.sin(a) - np.sin(b)) - np.arctan2(2.0, p)
    return a - way, p, b - way


@of_word("RLR")
def _(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    p = TWO_PI - np.arccos((6 - d**2 + 2 * np.cos(a - b) + 2 * d * (np.sin(a) - np.sin(b))) / 8)
    t = a - np.arctan2(np.cos(a) - np.cos(b), d - np.sin(a) + np.sin(b)) + p / 2
    return t, p, a - b - t + p


@of_word("LRL")
def _(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, ...]:
    p = TWO_PI - np.arccos((6 - d**2 + 2 * np.cos(a - b) + 2 * d * (np.sin(b) - np.sin(a))) / 8)
    t = -a + np.arctan2(-np.cos(a) + np.cos(b), d + np.sin(a) - np.sin(b)) + p / 2
    return t, p, b - a - t + p


def searched(
    goal: tuple[float, float], heading: float, goal_heading: np.ndarray | float, wind: tuple[float, float], last: float
) -> float:
    """The first duration at which some word (with up to one full turn more) reaches the drifting goal, radius 1."""
    times = np.linspace(1e-6, last, 40_001)
    x, y = goal[0] - wind[0] * times, goal[1] - wind[1] * times
    d, way = np.hypot(x, y), np.arctan2(y, x)
    best = np.inf
    for word in WORDS.values():
        with np.errstate(invalid="ignore"):
            t, p, q = word(heading - way, goal_heading - way, d)
            base = np.mod(t, TWO_PI) + p + np.mod(q, TWO_PI) - times
        for turns in range(2):
            miss = base + turns * TWO_PI
            crossing = np.flatnonzero((miss[:-1] * miss[1:] <= 0) & (np.abs(np.diff(miss)) < 1.0))
            if len(crossing):
                k = crossing[0]
                best = min(best, times[k] + (times[1] - times[0]) * miss[k] / (miss[k] - miss[k + 1]))
    return float(best)


def nose(course: float, wind: tuple[float, float]) -> float:
    return course - math.asin(wind[1] * math.cos(course) - wind[0] * math.sin(course))


@given(coordinate, coordinate, angle, angle, strength, angle)
def test_the_fastest_path_equals_a_search_over_durations(
    x: float, y: float, course: float, goal_course: float, w: float, direction: float
) -> None:
    wind = (w * math.cos(direction), w * math.sin(direction))
    path = dubins_in_wind((0.0, 0.0, course), (x, y, goal_course), 1.0, 1.0, wind)
    fastest = searched((x, y), nose(course, wind), nose(goal_course, wind), wind, path.flown + 0.05)
    assert path.flown <= fastest + 1e-5  # the grid may miss a pair of solutions close together
    assert math.hypot(path.end[0] - x, path.end[1] - y) < 1e-8
    assert abs(math.remainder(course_at_end(path, wind) - goal_course, TWO_PI)) < 1e-8


@settings(max_examples=settings.default.max_examples // 8)
@given(coordinate, coordinate, angle, strength, angle)
def test_a_free_course_is_no_slower_than_any_fixed_one(
    x: float, y: float, course: float, w: float, direction: float
) -> None:
    wind = (w * math.cos(direction), w * math.sin(direction))
    path = dubins_in_wind((0.0, 0.0, course), (x, y, None), 1.0, 1.0, wind)
    assert math.hypot(path.end[0] - x, path.end[1] - y) < 1e-8
    rows = [(0.0, 0.0, course, x, y, c, 1.0, *wind) for c in np.linspace(-math.pi, math.pi, 721)]
    fixed = flown_of_rows(np.array(rows))
    assert path.flown <= fixed.min() + 1e-7
    own = flown_in_wind(0.0, 0.0, course, x, y, course_at_end(path, wind), 1.0, *wind)[0]
    assert own <= path.flown + 1e-6


def _flown_of_rows(rows: np.ndarray) -> np.ndarray:
    out = rows[:, 0].copy()
    for i in parallel_range(len(rows)):
        r = rows[i]
        out[i] = flown_in_wind(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8])[0]
    return out


flown_of_rows = parallel_routine(_flown_of_rows)


def test_compiled_equals_plain() -> None:
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.uniform(-5, 5, (200, 6)), np.ones(200), rng.uniform(-0.6, 0.6, (200, 2))])
    rows[::3, 5] = np.nan
    rows[::7, 7:] = 0.0
    np.testing.assert_allclose(flown_of_rows(rows), _flown_of_rows(rows), rtol=1e-13)


@settings(max_examples=settings.default.max_examples // 4)
@given(coordinate, coordinate, angle, angle, strength, angle)
def test_air_velocity_and_wind_integrate_to_the_goal(
    x: float, y: float, course: float, goal_course: float, w: float, direction: float
) -> None:
    speed = 17.5
    wind = (speed * w * math.cos(direction), speed * w * math.sin(direction))
    path = dubins_in_wind((10.0, -20.0, course), (100.0 * x, 100.0 * y, goal_course), 80.0, speed, wind)
    x_end, y_end, heading = integrated(path, speed, wind)
    assert math.hypot(x_end - 100.0 * x, y_end - 100.0 * y) < 1e-5
    track = math.atan2(speed * math.sin(heading) + wind[1], speed * math.cos(heading) + wind[0])
    assert abs(math.remainder(track - goal_course, TWO_PI)) < 1e-7
    assert path.duration(speed) == pytest.approx(sum(s.length for s in path.segments) / speed)


@settings(max_examples=settings.default.max_examples // 4)
@given(coordinate, coordinate, angle, angle)
def test_a_tiny_wind_and_none(x: float, y: float, course: float, goal_course: float) -> None:
    still = dubins((0.0, 0.0, course), (x, y, goal_course), 1.0)
    calm = dubins_in_wind((0.0, 0.0, course), (x, y, goal_course), 1.0, 20.0, (0.0, 0.0))
    assert calm.flown == still.length
    assert flown_in_wind(0.0, 0.0, course, x, y, goal_course, 1.0, 0.0, 0.0) == (
        pytest.approx(still.length, abs=1e-7),
        goal_course,
    )


def test_a_tiny_wind_hardly_changes_a_path() -> None:
    still = dubins((0.0, 0.0, 0.3), (7.0, -4.0, 2.0), 1.0)
    breath = dubins_in_wind((0.0, 0.0, 0.3), (7.0, -4.0, 2.0), 1.0, 20.0, (1e-6, 1e-6))
    assert breath.flown == pytest.approx(still.length, abs=1e-5)


@pytest.mark.parametrize(("wind", "seconds"), [((5.0, 0.0), 40.0), ((-5.0, 0.0), 1000.0 / 15.0), ((0.0, 12.0), 62.5)])
@pytest.mark.parametrize("course", [0.0, None])
def test_straight_lines_with_against_and_across_the_wind(
    wind: tuple[float, float], seconds: float, course: float | None
) -> None:
    path = dubins_in_wind((0.0, 0.0, 0.0), (1000.0, 0.0, course), 80.0, 20.0, wind)
    assert path.duration(20.0) == pytest.approx(seconds, abs=1e-9)
    assert path.length == pytest.approx(1000.0, abs=1e-9)
    assert over_ground(Path([line(0.0, 0.0, 0.0, 1000.0)]), 20.0, wind).duration(20.0) == pytest.approx(seconds)


def test_a_full_turn_in_the_air_drifts_with_the_wind() -> None:
    """One circle takes 2 pi R / v; flown downwind it ends w T further, with the same course."""
    turn = TWO_PI * 80.0 / 20.0
    path = dubins_in_wind((0.0, 0.0, 0.0), (-10.0 * turn, 0.0, 0.0), 80.0, 20.0, (-10.0, 0.0))
    assert path.duration(20.0) == pytest.approx(turn, rel=1e-9)


def test_a_radius_of_zero_is_a_straight_line() -> None:
    path = dubins_in_wind((0.0, 0.0, 1.0), (30.0, 40.0, None), 0.0, 10.0, (3.0, 4.0))
    assert path.duration(10.0) == pytest.approx(50.0 / 15.0)
    assert path.end[:2] == pytest.approx((30.0, 40.0))
    assert flown_in_wind(0.0, 0.0, 1.0, 30.0, 40.0, math.nan, 0.0, 0.3, 0.4)[0] == pytest.approx(500.0 / 15.0)


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_an_arc_held_over_the_ground_takes_the_time_of_the_wind_triangle(slope: float) -> None:
    speed, wind = 20.0, (6.0, -9.0)
    path = Path([arc(3.0, 4.0, 0.5, 100.0, 4.0, slope=slope)])
    held = over_ground(path, speed, wind)

    def slowness(turn: float) -> float:
        """Seconds for a metre over ground: the level ground speed g solves |g (u, slope) - wind| = speed."""
        u = np.array([math.cos(0.5 + turn), math.sin(0.5 + turn)])
        roots = np.roots([1.0 + slope**2, -2.0 * u @ wind, wind[0] ** 2 + wind[1] ** 2 - speed**2])
        return 1.0 / float(roots.max())

    assert held.duration(speed) == pytest.approx(quad(slowness, 0.0, 4.0)[0] * 100.0, rel=1e-12)
    assert held.length == pytest.approx(path.length, rel=1e-12)
    np.testing.assert_allclose(held.end, path.end, atol=1e-9)
    assert max(s.length for s in held.segments) <= 100.0 * math.radians(5.0) + 1e-9


def test_the_start_itself_has_length_zero() -> None:
    assert flown_in_wind(3.0, 4.0, 0.5, 3.0, 4.0, math.nan, 80.0, 0.5, 0.1)[0] == 0.0
    assert flown_in_wind(3.0, 4.0, 0.5, 3.0, 4.0, 0.5, 80.0, 0.5, 0.1)[0] == 0.0
    ahead = (3.0 + 1e-6 * math.cos(0.5), 4.0 + 1e-6 * math.sin(0.5))
    assert flown_in_wind(3.0, 4.0, 0.5, *ahead, math.nan, 80.0, 0.5, 0.1)[0] < 1e-5
    assert flown_in_wind(3.0, 4.0, 0.5, *ahead, 0.5, 80.0, 0.5, 0.1)[0] < 1e-5


def test_winds_that_cannot_be_flown_in() -> None:
    with pytest.raises(InvalidValueError, match="a wind of 20 m/s cannot be flown against at an airspeed of 20 m/s"):
        dubins_in_wind((0, 0, 0), (1, 1, 0), 1.0, 20.0, (0.0, 20.0))
    with pytest.raises(InvalidValueError, match="a wind of nan m/s"):
        over_ground(Path(), 20.0, (math.nan, 0.0))
    with pytest.raises(InvalidValueError, match=r"wind is \(east, north\) in m/s"):
        dubins_in_wind((0, 0, 0), (1, 1, 0), 1.0, 20.0, (1.0,))
    with pytest.raises(InvalidValueError, match="speed has to be a number > 0, not 0"):
        dubins_in_wind((0, 0, 0), (1, 1, 0), 1.0, 0.0, (0.0, 0.0))
    with pytest.raises(InvalidValueError, match="drifts with the wind"):
        over_ground(dubins_in_wind((0, 0, 0), (9, 1, 0), 1.0, 20.0, (1.0, 2.0)), 20.0, (1.0, 2.0))


@pytest.mark.parametrize("wind", [0.3, 0.65, 0.9])
def test_a_turn_over_the_ground_takes_the_integral_of_its_pace(wind: float) -> None:
    """At an angle x from the wind w, a metre takes (sqrt(1 - w^2 sin^2 x) - w cos x) / (1 - w^2), by small steps."""
    for course, turn in ((0.4, 1.0), (-2.0, 6.2), (3.0, -4.5)):
        x = course + turn * (np.arange(20_000) + 0.5) / 20_000 - 0.7
        pace = (np.sqrt(1.0 - (wind * np.sin(x)) ** 2) - wind * np.cos(x)) / (1.0 - wind**2)
        duration = held_turn(80.0, course, turn, wind * np.cos(0.7), wind * np.sin(0.7))
        assert duration == pytest.approx(80.0 * abs(turn) * pace.mean(), rel=1e-4)
