"""Segments and paths: exact lengths, sampling, parts, drift and pace."""

import ast
import math
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from paddock import planning
from paddock.compute import math as scalar
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import dubins
from paddock.planning.geometry.path import Path, Segment, arc, ends_at, flown_of, joined, line, point_along
from paddock.planning.geometry.reeds_shepp import reeds_shepp
from paddock.planning.geometry.wind import dubins_in_wind, over_ground

PI = math.pi
coordinate = st.floats(-300.0, 300.0)
angle = st.floats(-PI, PI)


LIBM = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "exp", "log", "pow"}
NUMPY = {"sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "exp", "log", "power"}


def test_plans_use_no_functions_that_differ_between_processors() -> None:
    folder = pathlib.Path(planning.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        if file.name == "qgc_missions.py":  # writes files only
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "math":
                assert not LIBM & {name.name for name in node.names}, file
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
                assert node.attr not in NUMPY, f"{file}:{node.lineno}"


def some_path(kind: str, x: float, y: float, heading: float) -> Path:
    goal = (x, y, heading)
    if kind == "drifting":
        return dubins_in_wind((0, 0, 0), goal, 80.0, 20.0, (5.0, -7.0))
    if kind == "both ways":
        return reeds_shepp((0, 0, 0), goal, 80.0)
    path = dubins((0, 0, 0), goal, 80.0)
    return path if kind == "level" else over_ground(path, 20.0, (5.0, -7.0))


kinds = st.sampled_from(["level", "drifting", "both ways", "held"])


def test_lines_and_arcs_end_at_the_analytic_pose() -> None:
    assert ends_at(line(1.0, 2.0, PI / 6, 10.0)) == pytest.approx((1 + 5 * math.sqrt(3), 7.0, 0.0, PI / 6))
    assert ends_at(arc(0.0, 0.0, 0.0, 2.0, PI / 2)) == pytest.approx((2.0, 2.0, 0.0, PI / 2))
    assert ends_at(arc(0.0, 0.0, 0.0, 2.0, -PI)) == pytest.approx((0.0, -4.0, 0.0, -PI))
    assert ends_at(arc(0.0, 0.0, 0.0, 2.0, 2 * PI, z=5.0, slope=0.1)) == pytest.approx(
        (0.0, 0.0, 5.0 + 0.4 * PI, 2 * PI)
    )
    backwards = Segment(0.0, 0.0, 0.0, 0.0, PI, 0.5, gear=-1.0)  # steering left, going back: the nose turns right
    assert ends_at(backwards) == pytest.approx((-2.0, 2.0, 0.0, -PI / 2))


def test_lengths_of_lines_arcs_and_helices() -> None:
    assert Path([line(0, 0, 0, 3.0), arc(3, 0, 0, 2.0, PI)]).length == pytest.approx(3.0 + 2.0 * PI)
    helix = Path([arc(0, 0, 0, 10.0, 4 * PI, slope=0.75)])
    assert helix.length == pytest.approx(40.0 * PI * 1.25)
    assert helix.flown == pytest.approx(helix.length)
    assert helix.duration(10.0) == pytest.approx(5.0 * PI)


def test_a_circle_in_wind_is_as_long_over_ground_as_its_trochoid() -> None:
    circle = Path([Segment(0, 0, 0, 0.3, 20 * PI, 0.1, drift_x=0.3, drift_y=-0.4)])

    def speed(s: float) -> float:
        return math.hypot(math.cos(0.3 + 0.1 * s) + 0.3, math.sin(0.3 + 0.1 * s) - 0.4)

    assert circle.length == pytest.approx(quad(speed, 0.0, 20 * PI, epsabs=1e-11)[0], abs=1e-8)
    assert circle.flown == pytest.approx(20 * PI)
    assert circle.end[:2] == pytest.approx((6 * PI, -8 * PI))


def test_pace_is_metres_along_for_metres_flown() -> None:
    slow = line(0, 0, 0, 30.0)._replace(pace=0.5)
    assert flown_of(slow) == 60.0
    path = Path([slow, line(30, 0, 0, 10.0)])
    assert path.flown == 70.0
    assert path.length == 40.0
    np.testing.assert_allclose(path.at([0.0, 30.0, 60.0, 65.0])[:, 0], [0.0, 15.0, 30.0, 35.0])


@given(kinds, coordinate, coordinate, angle, st.floats(0.5, 50.0))
def test_samples_are_evenly_spaced_with_both_ends(kind: str, x: float, y: float, heading: float, ds: float) -> None:
    path = some_path(kind, x, y, heading)
    points = path.points(ds)
    np.testing.assert_allclose(points[0], path.start, atol=1e-9)
    np.testing.assert_allclose(points[-1], path.end, atol=1e-9)
    assert path.flown / ds - 1e-6 <= len(points) - 1 < path.flown / ds + 1.0 + 1e-6
    np.testing.assert_array_equal(path.sample(ds), points[:, [0, 1, 3]])
    steps = np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1)
    assert (steps <= ds * (1.5 if kind in ("drifting", "held") else 1.0) + 1e-6).all()


@given(kinds, coordinate, coordinate, angle, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_parts_add_up(kind: str, x: float, y: float, heading: float, share: float, other: float) -> None:
    path = some_path(kind, x, y, heading)
    first, second = sorted((share * path.flown, other * path.flown))
    parts = [path.subpath(0.0, first), path.subpath(first, second), path.subpath(second, path.flown)]
    assert sum(part.flown for part in parts) == pytest.approx(path.flown, abs=1e-7)
    assert sum(part.length for part in parts) == pytest.approx(path.length, abs=1e-6)
    np.testing.assert_allclose(parts[1].start[:2], path.at(first)[0, :2], atol=1e-7)
    np.testing.assert_allclose(parts[1].end[:2], path.at(second)[0, :2], atol=1e-7)
    again = joined(parts)
    np.testing.assert_allclose(again.end[:2], path.end[:2], atol=1e-7)
    assert again.flown == pytest.approx(path.flown, abs=1e-7)


@given(coordinate, coordinate, angle)
def test_points_of_arcs_have_the_curvature_of_their_circle(x: float, y: float, heading: float) -> None:
    for segment in dubins((0, 0, 0), (x, y, heading), 80.0).segments:
        if segment.length < 10.0:
            continue
        a, b, c = (np.array(point_along(segment, f * segment.length)[:2]) for f in (0.0, 0.05, 0.1))
        u, v, w = b - a, c - b, c - a
        menger = 2.0 * (u[0] * v[1] - u[1] * v[0]) / math.prod(map(np.linalg.norm, (u, v, w)))
        assert menger == pytest.approx(segment.curvature, abs=1e-6)


@pytest.mark.parametrize("kind", ["level", "drifting", "both ways", "held"])
def test_vectorised_poses_equal_single_ones(kind: str) -> None:
    path = some_path(kind, 200.0, -150.0, 2.0)
    for k, segment in enumerate(path.segments):
        before = float(path.ends[k - 1]) if k else 0.0
        for part in (0.25, 0.9):
            expected = point_along(segment, part * segment.length)
            np.testing.assert_allclose(path.at(before + part * flown_of(segment))[0], expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["level", "drifting", "both ways", "held"])
def test_poses_have_the_same_bits_one_by_one_and_together(kind: str) -> None:
    path = some_path(kind, 200.0, -150.0, 2.0)
    places = np.linspace(0.0, path.flown, 201)
    assert path.at(places).tolist() == [path.at(share)[0].tolist() for share in places]


def test_poses_have_the_bits_of_functions_that_do_not_depend_on_the_cpu() -> None:
    turn = Path([arc(1.0, 2.0, 0.3, 50.0, 2.0)])
    places = np.linspace(1.0, 100.0, 200)
    for flown, (x, y, _, _) in zip(places.tolist(), turn.at(places).tolist(), strict=True):
        half = 0.5 * 0.02 * flown
        chord = flown * (scalar.sin(half) / half)
        assert x == 1.0 + chord * scalar.cos(0.3 + half) and y == 2.0 + chord * scalar.sin(0.3 + half)


def test_positions_are_clipped_to_the_ends() -> None:
    path = Path([line(1.0, 2.0, 0.0, 10.0)])
    np.testing.assert_array_equal(path.at([-5.0, 15.0])[:, 0], [1.0, 11.0])
    assert path.subpath(-3.0, 99.0).length == 10.0
    assert (path.subpath(7.0, 7.0).length, path.subpath(7.0, 7.0).start[0]) == (0.0, 8.0)


def test_a_part_that_ends_before_it_begins_is_refused() -> None:
    path = Path([line(1.0, 2.0, 0.0, 10.0)])
    assert path.subpath(2.0 + 1e-10, 2.0).length == 0.0  # rounding
    with pytest.raises(InvalidValueError, match="not from 2 m to 1 m"):
        path.subpath(2.0, 1.0)


def test_an_empty_path_has_a_pose() -> None:
    path = Path((), (1.0, 2.0, 3.0, 0.5))
    assert path.length == path.flown == 0.0
    assert path.start == path.end == (1.0, 2.0, 3.0, 0.5)
    np.testing.assert_array_equal(path.points(1.0), [[1.0, 2.0, 3.0, 0.5]])
    assert path.table.shape == (0, 11)
    onwards = path + Path([line(1.0, 2.0, 0.5, 4.0)])
    assert onwards.length == 4.0
    assert joined([]).length == 0.0
    assert joined([path, onwards]).start == (1.0, 2.0, 0.0, 0.5)


def test_segments_of_no_length_are_left_out() -> None:
    assert len(Path([line(0, 0, 0, 0.0), line(0, 0, 0, 1.0)]).segments) == 1
    assert repr(Path([line(0, 0, 0, 1.0)])) == "Path(1 segments, 1.000 m)"


def test_bad_sampling() -> None:
    path = Path([line(0, 0, 0, 1e6)])
    for ds in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidValueError, match="a path is sampled every ds > 0 metres, not"):
            path.sample(ds)
    with pytest.raises(InvalidValueError, match="more than 10,000,000 samples"):
        path.sample(1e-3)
