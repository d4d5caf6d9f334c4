"""Crossing times, wheels outside, cones and stops, against motions whose times are known."""

from collections.abc import Callable
from math import atan2, cos, hypot, pi, sin, sqrt, tan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.track import timing
from paddock.track.lines import line_blocks
from paddock.track.timing import TimedCourse, TimingLimits, crossing, detect_events, detect_race_events, most_events

DT = 0.01
Motion = Callable[[float], tuple[float, ...]]  # time -> x, y, yaw, vx, vy, yaw rate
NO_LIMITS = TimingLimits(np.inf, np.inf, np.inf, DT)
NOSE, HALF_WIDTH = 1.5, 0.7


def lane(gates: list[list[float]], cones: list[list[float]] | None = None) -> TimedCourse:
    """Return a straight lane along x, 3 m wide, from -50 to 250 m."""
    points = np.column_stack([np.arange(-50.0, 250.5, 0.5), np.zeros(601)])
    along, widths = np.arange(601) * 0.5, np.full(601, 1.5)
    listed = np.array(cones or np.zeros((0, 3)), np.float64)
    blocks = line_blocks(points, False)
    return TimedCourse(np.array(gates), points, blocks, along, widths, widths, False, 50.0, np.zeros((0, 2)), listed)


def gate(x: float, angle: float = 0.0, half: float = 1.5) -> list[float]:
    """Return a gate on the lane, turned by an angle: left end, unit vector to the right, width."""
    ux, uy = sin(angle), -cos(angle)
    return [x - half * ux, -half * uy, ux, uy, 2.0 * half]


def car() -> np.ndarray:
    shape = np.zeros((timing.SHAPE_ROWS, 1))
    shape[timing.NOSE], shape[timing.HALF_LENGTH], shape[timing.HALF_WIDTH] = NOSE, NOSE, HALF_WIDTH
    shape[timing.FRONT], shape[timing.REAR] = 0.8, 0.8
    shape[[timing.FRONT_TRACK, timing.REAR_TRACK]] = 0.6
    return shape


def drive(
    course: TimedCourse,
    motion: Motion,
    ticks: int,
    status: int = timing.RUNNING,
    limits: TimingLimits = NO_LIMITS,
    run: Callable[..., int] = detect_race_events,
) -> tuple[list[tuple[int, int, float]], np.ndarray]:
    """Follow one car; return what is found (kind, number, time), and the table."""
    table, hit = np.zeros((timing.TABLE_ROWS, 1)), np.zeros(len(course.cones), np.uint8)
    table[timing.STATUS], table[timing.POINT] = status, NOSE
    events = np.zeros((most_events(1, len(course.gates), len(course.cones)), timing.EVENT_COLUMNS))
    all_found = []
    for tick in range(ticks + 1):
        x, y, yaw, vx, vy, rate = motion(tick * DT)
        pose = np.array([x, y, 0, 0, 0, sin(yaw / 2), cos(yaw / 2), vx, vy, 0, 0, 0, rate])[:, None]
        count = run(pose, car(), table, course, limits, hit, tick * DT, events)
        all_found += [(int(kind), int(number), (tick - 1 + share) * DT) for kind, _, number, share in events[:count]]
    return all_found, table


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 90.0), st.floats(-0.7, 0.7), st.floats(-0.9, 0.9), st.floats(0.0, 0.01))
def test_uniform_motion(speed: float, angle: float, offset: float, phase: float) -> None:
    """A car at constant speed crosses a gate, square or not, at the time of its formula."""
    at = 0.03 * speed + offset * tan(angle)  # where the gate's line is at the car's offset
    motion = lambda t: (speed * (t - phase) - NOSE, offset, 0.0, speed, 0.0, 0.0)  # noqa: E731
    events, _ = drive(lane([gate(at, angle)]), motion, 12)
    assert [time for kind, _, time in events if kind == timing.CROSSED] == [pytest.approx(0.03 + phase, abs=1e-9)]


@settings(max_examples=20, deadline=None)
@given(st.floats(-15.0, 15.0), st.floats(5.0, 40.0), st.floats(0.02, 0.2))
def test_constant_acceleration(acceleration: float, speed: float, wanted: float) -> None:
    """The cubic between two ticks is exact for constant acceleration."""
    at = speed * wanted + 0.5 * acceleration * wanted**2
    motion = lambda t: (speed * t + 0.5 * acceleration * t * t - NOSE, 0.1, 0.0, speed + acceleration * t, 0, 0)  # noqa: E731
    events, _ = drive(lane([gate(at)]), motion, 25)
    assert [time for kind, _, time in events if kind == timing.CROSSED] == [pytest.approx(wanted, abs=1e-9)]


def test_circle() -> None:
    """The foremost point of a car on a circle crosses a gate when its own circle does."""
    radius, speed = 9.125, 10.0
    rate = speed / radius

    def motion(t: float) -> tuple[float, ...]:
        a = rate * t - 0.3
        return radius * sin(a), radius * (1 - cos(a)), a, speed * cos(a), speed * sin(a), rate

    events, _ = drive(lane([gate(1.0)]), motion, 60)
    far = hypot(radius, NOSE)  # of the foremost point from the centre (0, radius)
    ahead = atan2(NOSE, radius)
    wanted = (np.arcsin(1.0 / far) - ahead + 0.3) / rate
    assert [time for kind, _, time in events if kind == timing.CROSSED] == [pytest.approx(wanted, abs=1e-9)]


def test_backwards_and_beside() -> None:
    """A gate is crossed forwards only, and by a car of which a part passes between its ends."""
    backwards = lambda t: (1.0 - 10 * t - NOSE, 0, 0, -10, 0, 0)  # noqa: E731
    assert drive(lane([gate(0.0)]), backwards, 20)[0] == []
    for offset, passes in ((1.5 + HALF_WIDTH - 0.01, True), (1.5 + HALF_WIDTH + 0.01, False)):
        beside = lambda t, y=offset: (10 * t - 1 - NOSE, y, 0, 10, 0, 0)  # noqa: E731
        events, _ = drive(lane([gate(0.0)]), beside, 20, status=timing.WAITING)
        assert [kind for kind, _, _ in events] == [timing.CROSSED] * passes


@pytest.mark.parametrize(("offset", "out"), [(2.05, False), (2.15, True), (-2.05, False), (-2.15, True), (0.0, False)])
def test_all_wheels_outside(offset: float, out: bool) -> None:
    """A car is off course when its inner wheels, 0.6 m from its middle, have left the lane of +-1.5 m."""
    events, table = drive(lane([gate(100.0)]), lambda t: (10 * t, offset, 0, 10, 0, 0), 10)
    assert [kind for kind, _, _ in events] == [timing.LEFT_TRACK] * out
    assert table[timing.OUTSIDE, 0] == out


def test_progress() -> None:
    _, table = drive(lane([gate(0.0)]), lambda t: (10 * t - 3.0, 0.2, 0, 10, 0, 0), 100)
    assert table[timing.PROGRESS, 0] == pytest.approx(10.0 - 3.0 + NOSE, abs=1e-9)


@pytest.mark.parametrize(("gap", "hit"), [(0.11, True), (0.119, False)])
def test_cone_at_a_corner(gap: float, hit: bool) -> None:
    """A round base of 0.114 m that overlaps the rectangle of the body counts, once."""
    away = gap / sqrt(2.0)
    course = lane([gate(100.0)], [[NOSE + away, HALF_WIDTH + away, 0.114]])
    events, _ = drive(course, lambda t: (0, 0, 0, 0, 0, 0), 5)
    assert [kind for kind, _, _ in events] == [timing.CONE_TOUCHED] * hit


def test_stops() -> None:
    braking = lambda t: (10 * t - 5 * t * t if t < 1 else 5.0, 0, 0, max(10 - 10 * t, 0), 0, 0)  # noqa: E731
    limits = TimingLimits(4.0, np.inf, np.inf, DT)
    events, _ = drive(lane([gate(100.0)]), braking, 120, timing.FINISHED, limits)
    assert events[0][0] == timing.TOO_FAR
    assert events[0][2] == pytest.approx(1.0 - sqrt(0.2), abs=DT)  # 10 t - 5 t^2 = 4
    events, table = drive(lane([gate(100.0)]), braking, 120, timing.FINISHED, TimingLimits(6.0, np.inf, np.inf, DT))
    assert events[0][0] == timing.AT_REST
    assert table[timing.AFTER, 0] == pytest.approx(5.0, abs=1e-3)


def test_time_limits() -> None:
    still = lambda t: (-5.0, 0, 0, 0, 0, 0)  # noqa: E731
    for status, limits in (
        (timing.RUNNING, TimingLimits(9, 0.1, 9, DT)),
        (timing.WAITING, TimingLimits(9, 9, 0.1, DT)),
    ):
        events, _ = drive(lane([gate(0.0)]), still, 15, status, limits)
        assert events[0] == (timing.LATE, 0, pytest.approx(0.11))


def test_broken_car() -> None:
    events, _ = drive(lane([gate(0.0)]), lambda t: (np.nan, 0, 0, 0, 0, 0), 1)
    assert [kind for kind, _, _ in events] == [timing.BROKEN] * 2


def test_turns_about_the_circles() -> None:
    """A lap to the right turns by -2 pi about the right centre, and by nothing about the left one."""
    points = np.column_stack([np.arange(-30.0, 30.5, 0.5), np.zeros(121)])
    circles = np.array([[0.0, 9.125], [0.0, -9.125]])
    along, widths = np.arange(121) * 0.5, np.full(121, 1.5)
    course = TimedCourse(
        np.array([gate(0.0)]), points, line_blocks(points, False), along, widths, widths, False, 30.0, circles,
        np.zeros((0, 3)),
    )  # fmt: skip
    motion = lambda t: (9.125 * sin(t), -9.125 * (1 - cos(t)), -t, 9 * cos(t), -9 * sin(t), -1.0)  # noqa: E731
    _, table = drive(course, motion, round(200 * pi), status=timing.WAITING)
    assert table[timing.RIGHT_TURN, 0] == pytest.approx(-2 * pi, abs=0.01)
    assert table[timing.LEFT_TURN, 0] == pytest.approx(0.0, abs=0.01)


def test_compiled_as_plain() -> None:
    """The compiled routine gives the bits of the Python function."""
    course = lane([gate(3.0, 0.2)], [[2.0, 1.0, 0.1]])
    motion = lambda t: (8 * t + t * t, 0.3 * sin(t), 0.1 * t, 8 + 2 * t, 0.3 * cos(t), 0.1)  # noqa: E731
    compiled, table = drive(course, motion, 60)
    two, other = drive(course, motion, 60, run=detect_events)
    assert compiled == two
    assert table.tobytes() == other.tobytes()


@given(st.floats(-1e3, -1e-9), st.floats(0.0, 1e3), st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_a_crossing_is_a_root(d0: float, d1: float, v0: float, v1: float) -> None:
    """Whatever the velocities, the share lies in the tick and the cubic changes its sign there."""
    s = crossing(d0, d1, v0, v1)
    assert 0.0 <= s <= 1.0
    cubic = lambda s: ((2 * (d0 - d1) + v0 + v1) * s + 3 * (d1 - d0) - 2 * v0 - v1) * s * s + v0 * s + d0  # noqa: E731
    assert abs(cubic(s)) <= 1e-9 * (abs(d0) + abs(d1) + abs(v0) + abs(v1))
