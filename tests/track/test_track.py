"""The track object against circles, ellipses and shapely; ordering of cones; what is not a track."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely import LinearRing, LineString, Point

from paddock import track
from paddock.errors import InvalidValueError, UnknownNameError
from paddock.track import TrackShapeError
from paddock.track.formula_student import problems
from paddock.track.lines import locate_places

Floats = NDArray[np.float64]


def ring(radius: float, count: int, clockwise: bool = False) -> Floats:
    angle = np.arange(count) * (2.0 * np.pi / count) * (-1.0 if clockwise else 1.0)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def circle(radius: float = 30.0, width: float = 4.0, shuffled: int | None = None) -> track.Track:
    """Return a circle driven to the left: blue cones inside."""
    cones = np.concatenate([ring(radius - 0.5 * width, 48), ring(radius + 0.5 * width, 48)])
    colours = np.array([0] * 48 + [1] * 48)
    order = np.arange(96) if shuffled is None else np.random.default_rng(shuffled).permutation(96)
    return track.from_cones(cones[order], colours[order], (radius, 0.0, 0.5 * np.pi), "circle")


@pytest.mark.parametrize(
    "extra", [(18, 0.35), (22, 0.35), (18, 1.5), (22, 1.9), (18, 0.35, 22, 0.35), (18, 0.35, 18, -0.35)]
)
def test_extra_cones_of_a_start_line_do_not_bend_a_circle(extra: tuple[float, ...]) -> None:
    """36 cones on each side of a circle of 20 m, and others on the same circles: radius, m along it."""
    more = [(r * np.cos(along / r), r * np.sin(along / r)) for r, along in zip(extra[::2], extra[1::2], strict=True)]
    cones = np.concatenate([ring(18.0, 36), ring(22.0, 36), more])
    colours = [*["blue"] * 36, *["yellow"] * 36, *["big_orange"] * len(more)]
    t = track.from_cones(cones, colours, (20.0, 0.0, 0.5 * np.pi))
    assert len(t.cones) == 72 + len(more)
    radii = 1.0 / np.abs(t.curvature)
    assert radii.min() > 19.2 and radii.max() < 20.9  # 19.4 to 20.5 m without them
    np.testing.assert_allclose(np.hypot(*t.centre.T), 20.0, atol=0.01)


def test_a_circle_has_the_numbers_of_a_circle() -> None:
    t = circle()
    assert t.closed and t.name == "circle" and len(t.gates) == 3
    assert t.length == pytest.approx(2.0 * np.pi * 30.0, rel=1e-3)
    np.testing.assert_allclose(np.hypot(*t.centre.T), 30.0, atol=0.02)
    np.testing.assert_allclose(t.curvature, 1.0 / 30.0, rtol=0.02)
    np.testing.assert_allclose(t.left_width, 2.0, atol=0.02)
    np.testing.assert_allclose(t.right_width, 2.0, atol=0.02)
    np.testing.assert_allclose(np.diff(t.along), t.length / len(t.centre), rtol=1e-3)  # evenly spaced
    assert t.centre[0] == pytest.approx((30.0, 0.0), abs=0.3)
    np.testing.assert_allclose(np.hypot(*t.left.T), 28.0, atol=0.01)
    tangent = np.arctan2(t.centre[:, 0], -t.centre[:, 1])
    np.testing.assert_allclose(np.cos(t.heading_at(t.along) - tangent), 1.0, atol=2e-4)
    gates = [gate.along for gate in t.gates]
    np.testing.assert_allclose(np.diff(gates), t.length / 3.0, atol=1e-6)
    for array in (t.cones, t.centre, t.along, t.heading, t.curvature, t.left, t.left_width):
        assert not array.flags.writeable
    assert repr(t) == f"<Track 'circle': closed, {t.length:.1f} m, 96 cones>"


def test_driven_to_the_right_blue_is_outside() -> None:
    cones = np.concatenate([ring(32.0, 48), ring(28.0, 48)])
    t = track.from_cones(cones, ["blue"] * 48 + ["yellow"] * 48, (30.0, 0.0, -0.5 * np.pi), "right")
    np.testing.assert_allclose(t.curvature, -1.0 / 30.0, rtol=0.02)
    np.testing.assert_allclose(np.hypot(*t.left.T), 32.0, atol=0.01)
    assert problems(t) == ["lap of 188 m, 200 to 500 m are allowed"]


def test_yellow_on_the_left_is_driven_and_reported() -> None:
    cones = np.concatenate([ring(32.0, 48), ring(28.0, 48)])
    t = track.from_cones(cones, ["yellow"] * 48 + ["blue"] * 48, (30.0, 0.0, -0.5 * np.pi), "swapped")
    np.testing.assert_allclose(np.hypot(*t.left.T), 32.0, atol=0.01)
    assert "48 yellow cones on the left, where blue ones belong: swap the colours" in problems(t)


@pytest.mark.parametrize("name", ["autocross", "speedway", "acceleration", "skidpad"])
def test_locate_is_the_nearest_point(name: str) -> None:
    t = track.load(name)
    rng = np.random.default_rng(5)
    low, high = t.cones.min(axis=0) - 30.0, t.cones.max(axis=0) + 30.0
    places = rng.uniform(low, high, (400, 2))
    along, offset = t.locate(*places.T)
    line = LinearRing(t.centre) if t.closed else LineString(t.centre)
    for (x, y), s, d in zip(places, along, offset, strict=True):
        assert abs(d) == pytest.approx(line.distance(Point(x, y)), abs=1e-9)
        nearest = line.interpolate(s)
        assert nearest.distance(Point(x, y)) == pytest.approx(abs(d), abs=1e-6)
    plain = locate_places.plain(*map(np.ascontiguousarray, places[:40].T), t.centre, t._blocks, t.closed)
    assert (locate_places(*map(np.ascontiguousarray, places[:40].T), t.centre, t._blocks, t.closed) == plain).all()


@settings(max_examples=50, deadline=None)
@given(st.floats(-500.0, 900.0), st.floats(-1.5, 1.5))
def test_positions_on_the_track_and_back(along: float, offset: float) -> None:
    t = track.load("trackdrive")
    x, y = t.point_at(along, offset)
    s, d = t.locate(x, y)
    gap = abs((s - along + 0.5 * t.length) % t.length - 0.5 * t.length)
    assert gap < 0.25 and d == pytest.approx(offset, abs=0.05)


def test_arrays_numbers_and_known_positions() -> None:
    t = track.load("skidpad")
    s, d = t.locate(0.0, 0.0)
    assert np.ndim(s) == 0 and abs(d) < 0.01
    lap = 2.0 * np.pi * 9.125
    for k, near in enumerate([15.0, 15.0 + lap, 15.0 + 2 * lap, 15.0 + 3 * lap, 15.0 + 4 * lap]):
        s, _ = t.locate(0.0, 0.0, near=near)  # the crossing is passed five times
        assert s == pytest.approx(near, abs=0.1), k
    s, d = t.locate(np.zeros((3, 2)), np.ones((3, 2)))
    assert s.shape == d.shape == (3, 2)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_the_cones_in_the_file_does_not_matter(seed: int) -> None:
    t, course = circle(shuffled=seed), circle()
    assert t.closed and t.length == pytest.approx(course.length, rel=1e-6)
    assert t.cones[t.left_cones[0]] == pytest.approx(course.cones[course.left_cones[0]])


def test_noisy_and_missing_cones_are_ordered() -> None:
    rng = np.random.default_rng(1)
    for seed in range(12):
        made = track.generate(seed)
        order = rng.permutation(len(made.cones))
        noisy = made.cones[order] + rng.normal(0.0, 0.12, made.cones.shape)
        t = track.from_cones(noisy, made.colours[order], made.start, "noisy")
        assert t.closed and t.length == pytest.approx(made.length, abs=5.0)
        kept = np.flatnonzero(made.colours < 2)
        kept = np.union1d(np.delete(kept, rng.choice(len(kept), 3, replace=False)), np.flatnonzero(made.colours >= 2))
        t = track.from_cones(made.cones[kept], made.colours[kept], made.start, "fewer")
        assert t.closed and t.length == pytest.approx(made.length, abs=5.0)


def lemniscate() -> tuple[Floats, list[str]]:
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    line = 60.0 * np.column_stack([np.cos(angle), np.sin(angle) * np.cos(angle)]) / (1.0 + np.sin(angle) ** 2)[:, None]
    ahead = np.roll(line, -1, axis=0) - np.roll(line, 1, axis=0)
    side = np.column_stack([-ahead[:, 1], ahead[:, 0]]) / np.linalg.norm(ahead, axis=1)[:, None]
    return np.concatenate([line + 2.0 * side, line - 2.0 * side]), ["blue"] * 120 + ["yellow"] * 120


def test_what_is_not_a_track_is_refused_with_the_place() -> None:
    course = track.load("autocross")
    cones, colours = course.cones, course.colours
    with pytest.raises(TrackShapeError, match=r"eight: the track crosses itself near the blue cone") as crossing:
        track.from_cones(*lemniscate(), (60.0, 0.0, 0.5 * np.pi), "eight")
    x, y = str(crossing.value).partition(" at (")[2].partition(")")[0].split(",")
    assert np.hypot(float(x), float(y)) < 6.0  # the curve crosses itself at the origin
    for colour, side in ((0, "left"), (1, "right")):
        stray = (
            rf"x: the {('blue', 'yellow')[colour]} cone 289 at \(-9, 63\) is not on the {side} boundary, .* remove it$"
        )
        with pytest.raises(TrackShapeError, match=stray):
            track.from_cones(np.vstack([cones, (-9.0, 63.0)]), np.append(colours, colour), course.start, "x")
    with pytest.raises(TrackShapeError, match="one: the right boundary has 0 cones: a track has two boundaries"):
        track.from_cones(cones[colours != 1], colours[colours != 1], course.start, "one")
    with pytest.raises(TrackShapeError, match=r"the start pose .* does not face the track"):
        track.from_cones(cones, colours, (900.0, 0.0, 0.0), "far")
    hole = np.delete(np.arange(len(cones)), slice(40, 55))
    with pytest.raises(TrackShapeError, match=r"the left boundary has a gap of .* m after the blue cone 40 at \("):
        track.from_cones(cones[hole], colours[hole], course.start, "hole")
    with pytest.raises(TrackShapeError, match="stand at one place"):
        track.from_cones(np.concatenate([cones, cones[:1]]), np.append(colours, colours[0]), course.start, "twice")
    with pytest.raises(TrackShapeError, match=r"no start pose: add a car_start to the file, or give start="):
        track.building.from_file(replace(course.source, start=None), "x")
    with pytest.raises(TrackShapeError, match="all cones stand on one line"):
        track.from_cones([[0, 0], [5, 0], [10, 0], [15, 0]], [0, 0, 1, 1], (0, 0, 0), "line")
    with pytest.raises(InvalidValueError, match="unknown colour 'bleu' of a cone; did you mean 'blue'"):
        track.from_cones([[0.0, 0.0]], ["bleu"], (0, 0, 0))
    with pytest.raises(InvalidValueError, match=r"cones must be finite numbers of the shape \(n, 2\)"):
        track.from_cones([[0.0, np.nan]], ["blue"], (0, 0, 0))
    for start in ("abc", "123", None, 5, [1, 2], [1, 2, None], [1, 2, np.inf]):
        with pytest.raises(InvalidValueError, match=r"a start pose is \(x, y, yaw\) in m and rad, not "):
            track.from_cones(cones, colours, start)
    with pytest.raises(InvalidValueError, match="cones must be rows of numbers, not 'abc'"):
        track.from_cones("abc", colours, course.start)
    with pytest.raises(InvalidValueError, match="covariances must be rows of numbers"):
        track.from_cones(cones, colours, course.start, covariances=[["x"]])
    with pytest.raises(track.TrackFileError, match="did you mean 'autocross'"):
        track.load("autocros")
    with pytest.raises(UnknownNameError, match="unknown track format 'xml'; valid: cones, csv, csv4, lanes"):
        track.load("trackdrive", format="xml")
    with pytest.raises(track.TrackFileError, match="a track of the catalog has no format: leave out format='csv'"):
        track.load("trackdrive", format="csv")
    with pytest.raises(InvalidValueError, match="the width of a track must be 3 to 8 m, not 'x'"):
        track.generate(1, width="x")  # type: ignore[arg-type]
    for length in (5, "ab", (1, "x"), (1, 2, 3), None):
        with pytest.raises(InvalidValueError, match="the length of a lap is a pair of numbers, from and to, in m, not"):
            track.generate(1, length=length)  # type: ignore[arg-type]


def test_a_start_pose_off_the_track_is_a_problem() -> None:
    course = track.load("trackdrive")
    assert not problems(course)
    (problem,) = problems(track.load("trackdrive", start=(10, 9.95, 0.3)))  # beside a straight along y = 0, 3.5 m wide
    assert problem == "start pose at (10.0, 9.9), 8.2 m outside the track"


def test_a_skidpad_is_known_by_its_circles() -> None:
    """Also with more gates than its own; a track with one gate is not one."""
    pad = track.load("skidpad")
    assert not problems(replace(pad, gates=(*pad.gates, replace(pad.gates[0], name="more"))))
    park = track.load("park")
    assert any("cones 7.99 m apart" in course for course in problems(replace(park, gates=park.gates[:1])))


@pytest.mark.parametrize("format", ["csv", "csv4", "cones", "lanes"])
def test_a_track_survives_every_format(format: str) -> None:
    course = track.generate(4)
    again = track.parse(track.dump(course, format), "generated 4")
    assert again.closed and again.start == course.start
    assert {(*p, c) for p, c in zip(again.cones.tolist(), again.colours.tolist(), strict=True)} == {
        (*p, c) for p, c in zip(course.cones.tolist(), course.colours.tolist(), strict=True)
    }
    np.testing.assert_allclose(again.centre, course.centre, atol=1e-6)
    swapped = track.parse(track.dump(course, format, swap_colours=True), "x", swap_colours=True)
    np.testing.assert_allclose(swapped.centre, course.centre, atol=1e-6)


def test_covariances_and_boundary_points_without_cones() -> None:
    spread = np.tile([0.01, 0.02, 0.003], (96, 1))
    t = circle()
    course = track.from_cones(t.cones, t.colours, t.start, "c", spread)
    assert course.covariances is not None and (course.covariances == spread).all()
    again = track.parse(track.dump(course), "c")
    assert again.covariances is not None and (again.covariances == spread).all()
    assert t.covariances is None
    text = track.dump(t, "lanes").replace("class: blue", "class: invisible", 1)
    hidden = track.parse(text, "hidden")
    assert len(hidden.cones) == 95 and len(hidden.left_cones) == 47 and hidden.length == pytest.approx(t.length)


def test_a_start_grid() -> None:
    t = track.load("speedway")
    poses = t.grid(20, gap=8.0, lanes=2)
    assert poses.shape == (20, 3)
    along, offset = t.locate(*poses[:, :2].T)
    at, _ = t.locate(*t.start[:2])
    np.testing.assert_allclose((at - along + 1.0) % t.length - 1.0, np.repeat(np.arange(10) * 8.0, 2), atol=0.1)
    np.testing.assert_allclose(offset[::2], 3.5, atol=0.1)  # the left lane of a track that is 14 m wide
    np.testing.assert_allclose(offset[1::2], -3.5, atol=0.1)
    np.testing.assert_allclose(np.cos(poses[:, 2] - t.heading_at(along)), 1.0, atol=1e-3)
    assert (t.grid(1)[0] == t.start).all()
    assert (t.grid(3, first=2)[0] == t.grid(5)[2]).all()
    sprint = track.load("acceleration").grid(3, gap=6.0)  # the first point of the line is 4.7 m behind the start
    np.testing.assert_allclose(sprint, [[-0.3, 0, 0], [-6.3, 0, 0], [-12.3, 0, 0]], atol=1e-6)
    with pytest.raises(InvalidValueError, match="300 cars in rows of 1, 8 m apart, take 2392 m"):
        t.grid(300)
